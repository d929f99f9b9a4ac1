//! Where the boxes of a picture stand: a lane a session, time downwards, a box a transaction, a cell an operation.
//!
//! Boxes are placed one after the other, in an order that sessions and reads allow, each a little lower than the one
//! before it and low enough that no arrow has to run through a box. Below all others there is always such a place.

use skew_model::{EdgeKind, History, OpId, Status, TxnId};

use crate::arrows::{Arrow, Source, source};
use crate::clean::{clean, count, shorten};
use crate::lanes::{lane_order, placing_order};

pub(crate) const FONT: f64 = 14.0;
pub(crate) const SMALL: f64 = 12.0;
pub(crate) const CELL: f64 = 28.0;
const PAD: f64 = 12.0;
const MARGIN: f64 = 20.0;
const SESSION_GAP: f64 = 44.0;
const LANE_HEAD: f64 = 30.0;
const MOST_CELLS: usize = 14;
const MOST_CHARS: usize = 34;

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
    pub(crate) cells: Vec<Cell>,
}

/// An operation in a picture.
pub(crate) struct Cell {
    /// The operation; `None` stands for those that are left out.
    pub(crate) op: Option<OpId>,
    pub(crate) text: String,
    pub(crate) title: String,
    /// What is said beside it in grey.
    pub(crate) tag: &'static str,
}

/// A session in a picture.
pub(crate) struct Lane {
    pub(crate) name: String,
    pub(crate) x: f64,
    pub(crate) width: f64,
}

/// The places of everything but the arrows.
pub(crate) struct Layout {
    pub(crate) boxes: Vec<TxnBox>,
    pub(crate) lanes: Vec<Lane>,
    /// The initial values that matter.
    pub(crate) initial: Option<String>,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl TxnBox {
    pub(crate) fn height(&self) -> f64 {
        CELL * (1 + self.cells.len()) as f64
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.y + self.height()
    }

    /// The middle of the cell of an operation; of the head for none.
    pub(crate) fn row(&self, op: Option<OpId>) -> f64 {
        self.y + self.row_offset(op)
    }

    fn row_offset(&self, op: Option<OpId>) -> f64 {
        let cell = op.and_then(|op| self.cells.iter().position(|cell| cell.op == Some(op)));
        CELL * (cell.map_or(0, |cell| cell + 1) as f64 + 0.5)
    }
}

impl Layout {
    pub(crate) fn of(&self, id: TxnId) -> Option<&TxnBox> {
        self.boxes.iter().find(|one| one.id == id)
    }

    /// Whether a straight run at this height passes the lanes strictly between two lanes without meeting a box.
    pub(crate) fn clear(&self, a: usize, b: usize, y: f64) -> bool {
        let (low, high) = (a.min(b), a.max(b));
        let meets = |one: &TxnBox| one.lane > low && one.lane < high && y > one.y - 12.0 && y < one.bottom() + 12.0;
        !self.boxes.iter().any(meets)
    }

    /// The free strip to the right of a lane; `None` stands for the left margin.
    pub(crate) fn gutter(&self, lane: usize) -> (f64, f64) {
        let start = self.lanes[lane].x + self.lanes[lane].width;
        (start, self.lanes.get(lane + 1).map_or(self.width - MARGIN, |next| next.x))
    }
}

/// Places these transactions.
pub(crate) fn layout(history: &History, txns: &[TxnId], arrows: &[Arrow]) -> Layout {
    let sessions = lane_order(history, txns, arrows);
    let ends: Vec<OpId> = arrows.iter().flat_map(|arrow| [arrow.from_op, arrow.to_op]).flatten().collect();
    let lane_of = |id: TxnId| sessions.iter().position(|session| *session == history.txn(id).session).unwrap_or(0);
    let initial = initial_strip(history, txns);
    let top = MARGIN + LANE_HEAD + if initial.is_some() { CELL + 6.0 } else { 0.0 };
    let lanes = sessions.iter().map(|session| Lane {
        name: shorten(&clean(&history.session_name(*session)), MOST_CHARS),
        x: 0.0,
        width: 0.0,
    });
    let mut layout = Layout { boxes: Vec::new(), lanes: lanes.collect(), initial, top, width: 0.0, height: 0.0 };
    for id in placing_order(history, txns, arrows) {
        let cells = cells(history, id, &ends);
        let (head, title) = head(history, id);
        let one = TxnBox { id, lane: lane_of(id), y: 0.0, head, title, cells };
        place(&mut layout, one, arrows);
    }
    stretch(&mut layout, arrows);
    layout
}

fn place(layout: &mut Layout, mut one: TxnBox, arrows: &[Arrow]) {
    let count = layout.boxes.len();
    let lowest = layout.boxes.iter().map(TxnBox::bottom).fold(layout.top - SESSION_GAP, f64::max) + SESSION_GAP;
    let mut y = layout.top;
    for other in &layout.boxes {
        y = y.max(if other.lane == one.lane { other.bottom() + SESSION_GAP } else { other.y + CELL });
    }
    for arrow in arrows.iter().filter(|arrow| arrow.to == one.id && matches!(arrow.kind, EdgeKind::Wr(_))) {
        if let Some(writer) = layout.of(arrow.from) {
            y = y.max(writer.row(arrow.from_op) + CELL - one.row_offset(arrow.to_op));
        }
    }
    // A few pixels more each time: runs of different boxes never lie on one line.
    one.y = (y + 3.0 * (count % 4) as f64).min(lowest.max(y));
    layout.boxes.push(one);
    let free = |layout: &Layout| arrows.iter().all(|arrow| run(layout, arrow).is_some());
    while !free(layout) && count < 60 && layout.boxes[count].y < lowest {
        layout.boxes[count].y += CELL / 2.0;
    }
    if count >= 60 {
        layout.boxes[count].y = lowest;
    }
}

/// Where an arrow runs straight past other lanes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Run {
    /// At the height where it starts.
    AtFrom,
    /// At the height where it ends.
    AtTo,
}

/// How an arrow can keep clear of the boxes; `None` when it cannot.
pub(crate) fn run(layout: &Layout, arrow: &Arrow) -> Option<Run> {
    let (Some(from), Some(to)) = (layout.of(arrow.from), layout.of(arrow.to)) else { return Some(Run::AtFrom) };
    if layout.clear(from.lane, to.lane, from.row(arrow.from_op)) {
        return Some(Run::AtFrom);
    }
    layout.clear(from.lane, to.lane, to.row(arrow.to_op)).then_some(Run::AtTo)
}

/// Gives lanes their widths, and the strips between them room for the labels.
fn stretch(layout: &mut Layout, arrows: &[Arrow]) {
    let label = arrows.iter().map(|arrow| chars(&crate::route::label_text(arrow), SMALL)).fold(0.0, f64::max);
    // Few lanes leave room for wide curves; many had better fit the page.
    let roomy = if layout.lanes.len() < 4 { 40.0 } else { 0.0 };
    let mut x = MARGIN;
    for index in 0..layout.lanes.len() {
        let boxes = layout.boxes.iter().filter(|one| one.lane == index);
        let wide = boxes.map(TxnBox::wanted_width).fold(chars(&layout.lanes[index].name, FONT), f64::max);
        layout.lanes[index].x = x;
        layout.lanes[index].width = wide.max(104.0);
        let passing = arrows.iter().filter(|arrow| passes(layout, arrow, index)).count();
        let last = index + 1 == layout.lanes.len();
        x += layout.lanes[index].width
            + match passing {
                0 if last => 0.0,
                0 => 48.0,
                passing => (label + 70.0).max(124.0) + roomy + 8.0 * (passing.min(8) as f64 - 1.0),
            };
    }
    let strip =
        layout.initial.as_ref().map_or(0.0, |values| chars(&format!("initial state  {values}"), FONT) + 2.0 * PAD);
    layout.width = x.max(MARGIN + strip) + MARGIN;
    layout.height = layout.boxes.iter().map(TxnBox::bottom).fold(layout.top, f64::max) + MARGIN + 6.0;
}

/// Whether an arrow needs room to the right of a lane.
fn passes(layout: &Layout, arrow: &Arrow, lane: usize) -> bool {
    let (Some(from), Some(to)) = (layout.of(arrow.from), layout.of(arrow.to)) else { return false };
    let (low, high) = (from.lane.min(to.lane), from.lane.max(to.lane));
    if low == high { low == lane } else { low <= lane && lane < high }
}

impl TxnBox {
    fn wanted_width(&self) -> f64 {
        let cell = |cell: &Cell| {
            let tag = if cell.tag.is_empty() { 0.0 } else { chars(cell.tag, SMALL) + PAD };
            chars(&cell.text, FONT) + tag
        };
        self.cells.iter().map(cell).fold(chars(&self.head, FONT), f64::max) + 2.0 * PAD
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
    (shorten(&head, MOST_CHARS), format!("{head}, session {session}{line}"))
}

fn cells(history: &History, id: TxnId, ends: &[OpId]) -> Vec<Cell> {
    let ids: Vec<OpId> = history.op_ids(id).map(OpId).collect();
    let mut spare = MOST_CELLS.saturating_sub(ids.iter().filter(|op| ends.contains(op)).count());
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
        cells.push(Cell { op: Some(op), text: shorten(&text, MOST_CHARS), title: text, tag });
    }
    if left_out > 0 {
        let text = format!("… {} more", count(left_out, "operation"));
        cells.push(Cell { op: None, title: text.clone(), text, tag: "" });
    }
    cells
}

/// `x=0  y=0`: the initial values that these transactions read.
fn initial_strip(history: &History, txns: &[TxnId]) -> Option<String> {
    let ops = txns.iter().flat_map(|id| history.op_ids(*id)).map(OpId);
    let mut reads: Vec<OpId> = ops.filter(|op| matches!(source(history, *op), Source::Initial)).collect();
    reads.sort_by_key(|op| history.op(*op).key());
    let mut values: Vec<String> = reads.iter().map(|op| crate::words::pair(history, *op)).collect();
    values.dedup();
    let all = values.len();
    values.truncate(12);
    if all > values.len() {
        values.push(format!("… {} more", all - values.len()));
    }
    let values: Vec<String> = values.iter().map(|value| shorten(value, MOST_CHARS / 2)).collect();
    (!values.is_empty()).then(|| values.join("  "))
}
