//! The picture of a violation: session lanes, a box a transaction, arrows between operations.

use skew_model::{Explanation, History, OpId, TxnId, Violation};

use crate::arrows::{Arrow, Role, arrows, struck};
use crate::cases::cases;
use crate::clean::wrap;
use crate::layout::{CELL, FONT, Layout, MIN_WIDTH, SMALL, TxnBox, chars, initial_height, layout};
use crate::markup::escape;
use crate::route::{Route, n, routes};
use crate::tracks::label_text;
use crate::words::headline;

const STYLE: &str = include_str!("picture.css");
const COLOURS: &str = include_str!("colours.css");
const MAX_TXNS: usize = 40;
const MAX_CASES: usize = 4;

/// One drawn case: its size and its elements.
pub(crate) struct Picture {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// The elements, without the `svg` around them.
    pub(crate) body: String,
    /// The arrows, numbered as `data-edge` does.
    pub(crate) arrows: Vec<Arrow>,
}

/// A violation as a picture of its own, dark where the reader prefers dark.
pub fn svg(violation: &Violation) -> String {
    let all = cases(&violation.explanation);
    let mut body = String::new();
    let (mut width, mut y) = (MIN_WIDTH, 16.0);
    let mut captions = vec![headline(violation)];
    for (number, case) in all.iter().take(MAX_CASES).enumerate() {
        let picture = picture(violation, case.leaf, &format!("p{number}"));
        captions.extend(case.words(&violation.history));
        width = width.max(picture.width);
        for caption in captions.drain(..) {
            for line in wrap(&caption, ((width - 40.0) / (FONT * 0.62)) as usize) {
                y += 20.0;
                body.push_str(&format!("<text class=\"caption\" x=\"20\" y=\"{}\">{}</text>", n(y), escape(&line)));
            }
            y += 4.0;
        }
        body.push_str(&format!("<g transform=\"translate(0 {})\">{}</g>", n(y), picture.body));
        y += picture.height;
    }
    if all.len() > MAX_CASES {
        y += 20.0;
        let more = format!("and {} more cases, each of which fails", all.len() - MAX_CASES);
        body.push_str(&format!("<text class=\"caption\" x=\"20\" y=\"{}\">{more}</text>", n(y)));
    }
    let height = y + 12.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" role=\"img\" aria-label=\"{label}\" \
         width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\"><title>{label}</title><style>{COLOURS}{STYLE}</style>\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>{body}</svg>\n",
        label = escape(&headline(violation)),
        w = n(width),
        h = n(height),
    )
}

/// Draws one cycle or finding. `prefix` keeps the names of its arrows apart from those of other pictures.
pub(crate) fn picture(violation: &Violation, leaf: &Explanation, prefix: &str) -> Picture {
    let history = &violation.history;
    let arrows = arrows(history, leaf);
    let (txns, note) = drawn(history, &arrows, leaf);
    let layout = layout(history, &txns, &arrows);
    let routes = routes(&layout, &arrows);
    let struck = struck(&arrows, leaf);
    let mut body = markers(prefix);
    body.push_str(&lanes(&layout));
    for one in &layout.boxes {
        let is_main = |arrow: &Arrow| matches!(arrow.role, Role::Cycle(_)) && [arrow.from, arrow.to].contains(&one.id);
        body.push_str(&draw_box(&layout, one, &struck, arrows.iter().any(is_main)));
    }
    // Grey first, the cycle on top, labels above all lines.
    for main in [false, true] {
        for route in routes.iter().filter(|route| main == matches!(arrows[route.arrow].role, Role::Cycle(_))) {
            body.push_str(&draw_arrow(&arrows[route.arrow], route, prefix));
        }
    }
    let mut height = layout.height;
    let (words, wide) = legend(&arrows, &routes, leaf, note, layout.width.max(MIN_WIDTH), &mut height);
    body.push_str(&words);
    Picture { width: layout.width.max(wide), height, body, arrows }
}

/// The transactions to draw, and a note when that is not all of them.
fn drawn(history: &History, arrows: &[Arrow], leaf: &Explanation) -> (Vec<TxnId>, Option<String>) {
    let all: Vec<TxnId> = history.txn_ids().collect();
    if all.len() <= MAX_TXNS {
        return (all, None);
    }
    let main = arrows.iter().filter(|arrow| matches!(arrow.role, Role::Cycle(_)));
    let mut txns: Vec<TxnId> = main.flat_map(|arrow| [arrow.from, arrow.to]).collect();
    if let Explanation::Finding(finding) = leaf {
        txns.extend([finding.op, finding.other].into_iter().flatten().map(|op| history.txn_of(op)));
    }
    txns.sort();
    txns.dedup();
    let note = format!("{} of {} transactions are drawn: those of the cycle", txns.len(), all.len());
    (txns, Some(note))
}

/// The heads of arrows, under names that begin with the prefix.
pub(crate) fn markers(prefix: &str) -> String {
    let marker = |name: &str, size: f64| {
        format!(
            "<marker id=\"{prefix}-{name}\" class=\"head {name}\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" \
             markerWidth=\"{size}\" markerHeight=\"{size}\" markerUnits=\"userSpaceOnUse\" \
             orient=\"auto-start-reverse\"><path d=\"M0 0L10 5L0 10z\"/></marker>"
        )
    };
    format!("<defs>{}{}</defs>", marker("main", 13.0), marker("grey", 9.0))
}

fn lanes(layout: &Layout) -> String {
    let mut out = String::new();
    if !layout.initial.is_empty() {
        let widest = layout.initial.iter().map(|line| chars(line, FONT) + 24.0).fold(0.0, f64::max);
        out.push_str(&format!(
            "<g class=\"initial\"><rect x=\"20\" y=\"12\" width=\"{}\" height=\"{}\" rx=\"5\"/>",
            n(widest.max(layout.width - 40.0)),
            n(initial_height(layout.initial.len())),
        ));
        for (at, line) in layout.initial.iter().enumerate() {
            let y = 12.0 + CELL / 2.0 + 5.0 + 20.0 * at as f64;
            out.push_str(&format!("<text x=\"32\" y=\"{}\">{}</text>", n(y), escape(line)));
        }
        out.push_str("</g>");
    }
    for (index, lane) in layout.lanes.iter().enumerate() {
        let x = lane.x + lane.width / 2.0;
        let end =
            layout.boxes.iter().filter(|one| one.lane == index).map(|one| one.bottom()).fold(layout.top, f64::max);
        out.push_str(&format!(
            "<g class=\"lane\"><line x1=\"{x}\" y1=\"{y}\" x2=\"{x}\" y2=\"{end}\"/>\
             <text x=\"{x}\" y=\"{text}\" text-anchor=\"middle\">{name}</text></g>",
            x = n(x),
            y = n(layout.top - 8.0),
            end = n(end),
            text = n(layout.top - 14.0),
            name = escape(&lane.name)
        ));
    }
    out
}

fn draw_box(layout: &Layout, one: &TxnBox, struck: &[OpId], is_main: bool) -> String {
    let lane = &layout.lanes[one.lane];
    let mut out = format!(
        "<g class=\"txn{}\" transform=\"translate({} {})\"><title>{}</title>\
         <rect class=\"box\" width=\"{}\" height=\"{}\" rx=\"6\"/>\
         <text class=\"name\" x=\"12\" y=\"{}\">{}</text>",
        if is_main { " main" } else { "" },
        n(lane.x),
        n(one.y),
        escape(&one.title),
        n(lane.width),
        n(one.height()),
        n(one.head_height / 2.0 + 5.0),
        escape(&one.head)
    );
    for (index, cell) in one.cells.iter().enumerate() {
        let hit = if cell.op.is_some_and(|op| struck.contains(&op)) { " hit" } else { "" };
        let last = index + 1 == one.cells.len();
        let base = cell.y + cell.height / 2.0 + 5.0;
        out.push_str(&format!(
            "<g class=\"cell{hit}\"><title>{}</title><path d=\"{}\"/><text x=\"12\" y=\"{}\">{}</text>",
            escape(&cell.title),
            cell_path(lane.width, cell.y, cell.y + cell.height, last),
            n(base),
            escape(&cell.text)
        ));
        if !cell.tag.is_empty() {
            out.push_str(&format!(
                "<text class=\"tag\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
                n(lane.width - 10.0),
                n(base - 0.5),
                cell.tag
            ));
        }
        out.push_str("</g>");
    }
    // The frame again, above the cells: they cover half of its width.
    out.push_str(&format!(
        "<rect class=\"rim\" width=\"{}\" height=\"{}\" rx=\"6\"/></g>",
        n(lane.width),
        n(one.height())
    ));
    out
}

/// A cell; the last one follows the round corners of its box.
fn cell_path(width: f64, top: f64, bottom: f64, last: bool) -> String {
    let (w, turn) = (n(width), n(bottom - 6.0));
    let (top, bottom) = (n(top), n(bottom));
    if !last {
        return format!("M0 {top}H{w}V{bottom}H0z");
    }
    format!("M0 {top}H{w}V{turn}Q{w} {bottom} {} {bottom}H6Q0 {bottom} 0 {turn}z", n(width - 6.0))
}

fn draw_arrow(arrow: &Arrow, route: &Route, prefix: &str) -> String {
    let (main, focus) = match arrow.role {
        Role::Cycle(_) => ("main", " tabindex=\"0\" role=\"img\""),
        Role::Reason | Role::Context => ("grey", ""),
    };
    // Where the cycle crosses other lines, they are interrupted.
    let halo = if main == "main" { format!("<path class=\"halo\" d=\"{}\"/>", route.path) } else { String::new() };
    let mut out = format!(
        "<g class=\"arrow {main} {kind}\" data-edge=\"{prefix}-{index}\"{focus}><title>{title}</title>\
         <path class=\"reach\" d=\"{path}\"/>{halo}\
         <path class=\"line\" d=\"{path}\" marker-end=\"url(#{prefix}-{main})\"/>",
        kind = arrow.kind.letters(),
        index = route.arrow,
        title = escape(&arrow.title),
        path = route.path,
    );
    if let (Some(label), Some(text)) = (&route.label, label_text(arrow)) {
        out.push_str(&format!(
            "<rect class=\"plate\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            n(label.x - label.width / 2.0),
            n(label.y - label.height / 2.0),
            n(label.width),
            n(label.height),
            n(label.x),
            n(label.y + 4.2),
            escape(&text),
        ));
    }
    out.push_str("</g>");
    out
}

/// What the arrows mean, below the picture; returns it with the width that it needs.
fn legend(
    arrows: &[Arrow],
    routes: &[Route],
    leaf: &Explanation,
    note: Option<String>,
    width: f64,
    y: &mut f64,
) -> (String, f64) {
    let mut out = String::new();
    let mut wide: f64 = 0.0;
    let meanings = [
        ("so", "earlier to later in one session"),
        ("rt", "ended before the other began"),
        ("wr", "written here, read there"),
        ("ww", "older version to newer version"),
        ("rw", "read here, overwritten there"),
        ("constraint", "a constraint looked at it before, or after, it was written"),
    ];
    for (letters, meaning) in meanings {
        if !routes.iter().any(|route| arrows[route.arrow].kind.letters() == letters) {
            continue;
        }
        *y += 20.0;
        let words = format!("{letters}  {meaning}");
        out.push_str(&format!(
            "<g class=\"key {letters}\"><path class=\"line\" d=\"M20 {at}H62\"/><text x=\"72\" y=\"{y}\">{words}</text></g>",
            at = n(*y - 4.0),
            y = n(*y)
        ));
        wide = wide.max(72.0 + chars(&words, SMALL) + 20.0);
    }
    let cycle = matches!(leaf, Explanation::Cycle(_));
    let about =
        cycle.then(|| "Each arrow says: this one comes before that one. The thick ones form a cycle.".to_owned());
    for text in about.into_iter().chain(note) {
        *y += 4.0;
        for line in wrap(&text, ((width - 40.0) / (SMALL * 0.62)) as usize) {
            *y += 18.0;
            out.push_str(&format!("<text class=\"note\" x=\"20\" y=\"{}\">{}</text>", n(*y), escape(&line)));
            wide = wide.max(40.0 + chars(&line, SMALL));
        }
    }
    *y += 16.0;
    (out, wide)
}
