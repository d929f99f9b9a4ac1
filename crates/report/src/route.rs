//! The paths of arrows and the places of their labels, once boxes, ports and tracks are known.

use crate::arrows::Arrow;
use crate::layout::Layout;
use crate::ports::{Side, Way};
use crate::tracks::{HEAD, label_width};

type Point = (f64, f64);

/// The height of a label.
const LABEL: f64 = 18.0;
/// The radius of a corner.
const ROUND: f64 = 8.0;

/// An arrow with its path.
pub(crate) struct Route {
    /// The arrow, as a number.
    pub(crate) arrow: usize,
    /// The `d` of its path.
    pub(crate) path: String,
    /// Where the label stands, if it has one.
    pub(crate) label: Option<Label>,
}

/// The place of a label: its middle and its size.
pub(crate) struct Label {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// The paths of all arrows whose ends are drawn.
pub(crate) fn routes(layout: &Layout, arrows: &[Arrow]) -> Vec<Route> {
    let route = |(index, arrow): (usize, &Arrow)| {
        let (path, left, y) = match layout.ports.ways[index]? {
            Way::Down => down(layout, arrow)?,
            Way::Across { .. } => across(layout, index, arrow)?,
        };
        let width = label_width(arrow);
        let label = Label { x: left + width / 2.0, y, width, height: LABEL };
        Some(Route { arrow: index, path, label: (width > 0.0).then_some(label) })
    };
    arrows.iter().enumerate().filter_map(route).collect()
}

/// Straight down a lane: the path, and where the label beside it begins.
fn down(layout: &Layout, arrow: &Arrow) -> Option<(String, f64, f64)> {
    let (from, to) = (layout.of(arrow.from)?, layout.of(arrow.to)?);
    let x = layout.lanes[from.lane].x + layout.lanes[from.lane].width / 2.0;
    let path = format!("M{x} {}L{x} {}", n(from.bottom()), n(to.y), x = n(x));
    Some((path, x + 7.0, from.bottom() + 18.0))
}

/// Out of one box, up or down in a track, into the other box. The label stands on the straight line beside the box that
/// is further right, or beside the start if both boxes are in one lane.
fn across(layout: &Layout, index: usize, arrow: &Arrow) -> Option<(String, f64, f64)> {
    let Some(Way::Across { from, to }) = layout.ports.ways[index] else { return None };
    let edge = |lane: usize, side: Side| match side {
        Side::Left => layout.lanes[lane].x,
        Side::Right => layout.lanes[lane].x + layout.lanes[lane].width,
    };
    let (first, last) = (layout.of(from.txn)?.lane, layout.of(to.txn)?.lane);
    let start = (edge(first, from.side), layout.port_y(from)?);
    let end = (edge(last, to.side), layout.port_y(to)?);
    let path = corners(start, layout.tracks[index], end);
    let width = label_width(arrow);
    let (left, y) = if first == last {
        (start.0 + 8.0, start.1)
    } else {
        let (x, y) = if first < last { end } else { start };
        (x - HEAD - width, y)
    };
    Some((path, left, y))
}

/// Two corners, rounded.
fn corners(start: Point, x: f64, end: Point) -> String {
    let down = (end.1 - start.1).signum();
    let round = ROUND.min((end.1 - start.1).abs() / 2.0);
    let (out, back) = ((x - start.0).signum(), (end.0 - x).signum());
    format!(
        "M{} {}L{} {}Q{} {} {} {}L{} {}Q{} {} {} {}L{} {}",
        n(start.0),
        n(start.1),
        n(x - out * round),
        n(start.1),
        n(x),
        n(start.1),
        n(x),
        n(start.1 + down * round),
        n(x),
        n(end.1 - down * round),
        n(x),
        n(end.1),
        n(x + back * round),
        n(end.1),
        n(end.0),
        n(end.1)
    )
}

/// A number for a picture: one decimal at most.
pub(crate) fn n(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}
