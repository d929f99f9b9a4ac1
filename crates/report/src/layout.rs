//! Where the boxes of a picture stand: a lane per session, time downwards, a box per transaction, a cell per operation.
//!
//! Boxes are placed one after the other, in an order that sessions and reads allow, each a little lower than the one
//! before it and low enough that its arrows keep clear of boxes and of each other. Below all others there is always such
//! a place, because nothing runs there yet.
//!
//! Between two lanes is a gutter. From left to right it has labels of arrows that return to the left lane, tracks in
//! which arrows run up and down, and labels of arrows that meet the right lane. So no line crosses a label: a label
//! stands on the straight end of its own arrow, the ends of others are a slot away, and what runs past a lane keeps clear
//! of the boxes there.

use skew_model::{EdgeKind, History, OpId, Status, TxnId};

use crate::arrows::{Arrow, Source, source};
use crate::clean::{clean, count, shorten, wrap};
use crate::lanes::{lane_order, placing_order};
use crate::ports::{Port, Ports, Side, Way};

pub(crate) const FONT: f64 = 14.0;
pub(crate) const SMALL: f64 = 12.0;
pub(crate) const CELL: f64 = 28.0;
pub(crate) const MARGIN: f64 = 20.0;
/// What a sentence needs above and below a narrow picture.
pub(crate) const MIN_WIDTH: f64 = 480.0;
const PAD: f64 = 12.0;
/// Between two transactions of a session.
const SESSION_GAP: f64 = 44.0;
const LANE_HEAD: f64 = 30.0;
/// Lines that run side by side are at least this far apart.
const LINE_GAP: f64 = 8.0;
/// Lines that run past a box keep so far away from it.
const BOX_GAP: f64 = 14.0;
/// What an arrow to the next transaction of a session needs below its box for its label.
const DOWN_LABEL: f64 = 30.0;
const MAX_CELLS: usize = 14;
const MAX_CHARS: usize = 34;
/// With more boxes than this, no box is placed beside another.
const MAX_BESIDE: usize = 60;

/// The width of this many characters of the monospace font.
pub(crate) fn chars(text: &str, size: f64) -> f64 {
    crate::clean::columns(text) as f64 * size * 0.62
}

/// A transaction in a picture.
pub(crate) struct TxnBox {
    pub(crate) id: TxnId,
    pub(crate) lane: usize,
    pub(crate) y: f64,
    pub(crate) head: String,
    pub(crate) title: String,
    /// The height of the row with the name.
    pub(crate) head_height: f64,
    pub(crate) cells: Vec<Cell>,
    /// What has to stay free below it.
    below: f64,
}

/// An operation in a picture.
pub(crate) struct Cell {
    /// The operation; `None` stands for those that are left out.
    pub(crate) op: Option<OpId>,
    pub(crate) text: String,
    pub(crate) title: String,
    /// What is said beside it in grey.
    pub(crate) tag: &'static str,
    /// Its top, within the box.
    pub(crate) y: f64,
    pub(crate) height: f64,
}

/// A session in a picture.
pub(crate) struct Lane {
    pub(crate) name: String,
    pub(crate) x: f64,
    pub(crate) width: f64,
}

/// Where an arrow runs straight past other lanes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Run {
    /// At the height where it starts.
    AtFrom,
    /// At the height where it ends.
    AtTo,
}

/// A horizontal line in a gutter, which is known by the lane to its left.
struct Line {
    gutter: usize,
    y: f64,
    port: Port,
}

/// A horizontal line that passes all lanes between two.
struct Pass {
    low: usize,
    high: usize,
    y: f64,
}

/// The places of everything but the arrows.
pub(crate) struct Layout {
    pub(crate) boxes: Vec<TxnBox>,
    pub(crate) lanes: Vec<Lane>,
    pub(crate) ports: Ports,
    /// Where each arrow passes other lanes; meaningless for neighbours.
    pub(crate) runs: Vec<Run>,
    /// Where each arrow runs up or down.
    pub(crate) tracks: Vec<f64>,
    /// The initial values that matter, in lines.
    pub(crate) initial: Vec<String>,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    lines: Vec<Line>,
    passes: Vec<Pass>,
}

impl TxnBox {
    pub(crate) fn height(&self) -> f64 {
        self.cells.iter().map(|cell| cell.height).sum::<f64>() + self.head_height
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.y + self.height()
    }

    /// The middle of the cell of an operation, within the box; of the head for none.
    fn row_offset(&self, op: Option<OpId>) -> f64 {
        let cell = op.and_then(|op| self.cells.iter().find(|cell| cell.op == Some(op)));
        cell.map_or(self.head_height / 2.0, |cell| cell.y + cell.height / 2.0)
    }

    /// Whether a line at this height would come too close.
    fn blocks(&self, y: f64) -> bool {
        y > self.y - BOX_GAP && y < self.bottom() + self.below + BOX_GAP
    }

    /// The width that its texts need.
    pub(crate) fn wanted_width(&self) -> f64 {
        let cell = |cell: &Cell| {
            let tag = if cell.tag.is_empty() { 0.0 } else { chars(cell.tag, SMALL) + PAD };
            chars(&cell.text, FONT) + tag
        };
        self.cells.iter().map(cell).fold(chars(&self.head, FONT), f64::max) + 2.0 * PAD
    }
}

impl Layout {
    pub(crate) fn of(&self, id: TxnId) -> Option<&TxnBox> {
        self.boxes.iter().find(|one| one.id == id)
    }

    /// The height at which an arrow meets a box.
    pub(crate) fn port_y(&self, port: Port) -> Option<f64> {
        Some(self.port_y_at(self.of(port.txn)?, port))
    }

    fn port_y_at(&self, one: &TxnBox, port: Port) -> f64 {
        one.y + one.row_offset(port.op) + self.ports.offset(port)
    }

    /// Whether a line has room in a gutter.
    fn is_free(&self, gutter: usize, y: f64, port: Port) -> bool {
        let meets = |line: &Line| line.gutter == gutter && line.port != port && (line.y - y).abs() < LINE_GAP;
        !self.lines.iter().any(meets)
    }

    /// Whether a line at this height meets no box in the lanes strictly between two.
    fn is_clear(&self, low: usize, high: usize, y: f64) -> bool {
        !self.boxes.iter().any(|one| one.lane > low && one.lane < high && one.blocks(y))
    }

    /// Tries the last box where it stands: keeps the lines that this makes and says so, or keeps none.
    fn fits(&mut self) -> bool {
        let Some(one) = self.boxes.last() else { return true };
        let (id, lane) = (one.id, one.lane);
        if self.passes.iter().any(|pass| pass.low < lane && lane < pass.high && one.blocks(pass.y)) {
            return false;
        }
        let mut lines: Vec<Line> = Vec::new();
        for port in self.ports.of(id) {
            let y = self.port_y_at(one, port);
            // The left side of the first lane has no ports, because no lane is further left.
            let gutter = if port.side == Side::Right { lane } else { lane - 1 };
            if !self.is_free(gutter, y, port) {
                return false;
            }
            lines.push(Line { gutter, y, port });
        }
        let marks = (self.lines.len(), self.passes.len());
        self.lines.extend(lines);
        for index in 0..self.runs.len() {
            if !self.run(index, id) {
                self.lines.truncate(marks.0);
                self.passes.truncate(marks.1);
                return false;
            }
        }
        true
    }

    /// Leads an arrow that this box completes past the lanes between its ends; false if boxes or lines are in its way.
    fn run(&mut self, index: usize, id: TxnId) -> bool {
        let Some(Way::Across { from, to }) = self.ports.ways[index] else { return true };
        if from.txn != id && to.txn != id {
            return true;
        }
        let (Some(first), Some(last)) = (self.of(from.txn), self.of(to.txn)) else { return true };
        let (low, high) = (first.lane.min(last.lane), first.lane.max(last.lane));
        if high - low < 2 {
            return true;
        }
        let ends = [
            (Run::AtFrom, from, first.lane, self.port_y_at(first, from)),
            (Run::AtTo, to, last.lane, self.port_y_at(last, to)),
        ];
        for (run, port, lane, y) in ends {
            // In the gutter beside its own box the line is there already.
            let gutters = if lane == low { low + 1..high } else { low..high - 1 };
            if self.is_clear(low, high, y) && gutters.clone().all(|gutter| self.is_free(gutter, y, port)) {
                self.lines.extend(gutters.map(|gutter| Line { gutter, y, port }));
                self.passes.push(Pass { low, high, y });
                self.runs[index] = run;
                return true;
            }
        }
        false
    }
}

/// Places these transactions.
pub(crate) fn layout(history: &History, txns: &[TxnId], arrows: &[Arrow]) -> Layout {
    let sessions = lane_order(history, txns);
    let order = placing_order(history, txns, arrows);
    let ports = Ports::new(history, &sessions, &order, arrows);
    let ends: Vec<OpId> = arrows.iter().flat_map(|arrow| [arrow.from_op, arrow.to_op]).flatten().collect();
    let lanes = sessions.iter().map(|session| Lane {
        name: shorten(&clean(&history.session_name(*session)), MAX_CHARS),
        x: 0.0,
        width: 0.0,
    });
    let mut layout = Layout {
        boxes: Vec::new(),
        lanes: lanes.collect(),
        ports,
        runs: vec![Run::AtFrom; arrows.len()],
        tracks: vec![0.0; arrows.len()],
        initial: Vec::new(),
        top: MARGIN + LANE_HEAD,
        width: 0.0,
        height: 0.0,
        lines: Vec::new(),
        passes: Vec::new(),
    };
    for id in order {
        let (head, title) = head(history, id);
        let head_height = CELL.max(layout.ports.height(id, None));
        let mut cells = cells(history, id, &ends);
        let mut y = head_height;
        for cell in &mut cells {
            (cell.y, cell.height) = (y, CELL.max(cell.op.map_or(0.0, |op| layout.ports.height(id, Some(op)))));
            y += cell.height;
        }
        let is_down = |(way, arrow): (&Option<Way>, &Arrow)| *way == Some(Way::Down) && arrow.from == id;
        let below = if layout.ports.ways.iter().zip(arrows).any(is_down) { DOWN_LABEL } else { 0.0 };
        let lane = sessions.iter().position(|session| *session == history.txn(id).session).unwrap_or(0);
        place(&mut layout, TxnBox { id, lane, y: 0.0, head, title, head_height, cells, below }, arrows);
    }
    crate::tracks::stretch(&mut layout, arrows);
    add_initial(&mut layout, initial_values(history, txns));
    layout
}

fn place(layout: &mut Layout, mut one: TxnBox, arrows: &[Arrow]) {
    let bottom = layout.boxes.iter().map(|other| other.bottom() + other.below).fold(f64::MIN, f64::max);
    let lowest = layout.top.max(bottom + SESSION_GAP);
    let mut y = layout.top;
    for other in &layout.boxes {
        y = y.max(if other.lane == one.lane { other.bottom() + SESSION_GAP } else { other.y + CELL });
    }
    for arrow in arrows.iter().filter(|arrow| arrow.to == one.id && matches!(arrow.kind, EdgeKind::Wr(_))) {
        if let Some(writer) = layout.of(arrow.from) {
            y = y.max(writer.y + writer.row_offset(arrow.from_op) + CELL - one.row_offset(arrow.to_op));
        }
    }
    let is_late = layout.boxes.len() >= MAX_BESIDE;
    one.y = if is_late { lowest.max(y) } else { y };
    layout.boxes.push(one);
    while !layout.fits() {
        let Some(one) = layout.boxes.last_mut() else { return };
        one.y += LINE_GAP / 2.0;
    }
}

fn head(history: &History, id: TxnId) -> (String, String) {
    let txn = history.txn(id);
    let mut head = clean(&history.txn_name(id));
    if let Some(level) = txn.level {
        head.push_str(&format!(" @{level}"));
    }
    match txn.status {
        Status::Committed => {}
        Status::Aborted => head.push_str(" rolled back"),
        Status::Indeterminate => head.push_str(" maybe committed"),
    }
    let line = if txn.line == 0 { String::new() } else { format!(", line {}", txn.line) };
    let session = clean(&history.session_name(txn.session));
    (shorten(&head, MAX_CHARS), format!("{head}, session {session}{line}"))
}

fn cells(history: &History, id: TxnId, ends: &[OpId]) -> Vec<Cell> {
    let ids: Vec<OpId> = history.op_ids(id).map(OpId).collect();
    let mut spare = MAX_CELLS.saturating_sub(ids.iter().filter(|op| ends.contains(op)).count());
    let mut cells = Vec::new();
    let mut left_out = 0;
    for op in ids {
        if !ends.contains(&op) {
            if spare == 0 {
                left_out += 1;
                continue;
            }
            spare -= 1;
        }
        let text = clean(&history.op_text(op));
        let tag = if matches!(source(history, op), Source::Initial) { "initial" } else { "" };
        cells.push(Cell { op: Some(op), text: shorten(&text, MAX_CHARS), title: text, tag, y: 0.0, height: 0.0 });
    }
    if left_out > 0 {
        let text = format!("… {} more", count(left_out, "operation"));
        cells.push(Cell { op: None, title: text.clone(), text, tag: "", y: 0.0, height: 0.0 });
    }
    cells
}

/// `x=0`, `y=0`: the initial values that these transactions read.
fn initial_values(history: &History, txns: &[TxnId]) -> Vec<String> {
    let ops = txns.iter().flat_map(|id| history.op_ids(*id)).map(OpId);
    let mut reads: Vec<OpId> = ops.filter(|op| matches!(source(history, *op), Source::Initial)).collect();
    reads.sort_by_key(|op| history.op(*op).key());
    let mut values: Vec<String> = reads.iter().map(|op| crate::words::pair(history, *op)).collect();
    values.dedup();
    let all = values.len();
    values.truncate(12);
    let mut values: Vec<String> = values.iter().map(|value| shorten(value, MAX_CHARS / 2)).collect();
    if all > values.len() {
        values.push(format!("… {} more", all - values.len()));
    }
    values
}

/// Makes room at the top for the initial values, as wide as the lanes below.
fn add_initial(layout: &mut Layout, values: Vec<String>) {
    if values.is_empty() {
        return;
    }
    let columns = (layout.width.max(MIN_WIDTH) - 2.0 * MARGIN - 2.0 * PAD) / chars("x", FONT);
    // A value never breaks: its own spaces are no places to break at.
    let values: Vec<String> = values.iter().map(|value| value.replace(' ', "\u{a0}")).collect();
    let words = format!("initial\u{a0}state\u{a0} {}", values.join("\u{a0} "));
    layout.initial = wrap(&words, columns as usize);
    let high = initial_height(layout.initial.len()) + 6.0;
    layout.top += high;
    layout.height += high;
    for one in &mut layout.boxes {
        one.y += high;
    }
}

/// How high the strip of initial values is.
pub(crate) fn initial_height(lines: usize) -> f64 {
    CELL + (lines as f64 - 1.0) * 20.0
}
