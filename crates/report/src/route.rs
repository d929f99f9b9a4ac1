//! The ways of the arrows: straight past the lanes between, then a curve in the strip beside the lane where they
//! end (or start), which holds no boxes. And places for their labels that hide neither text nor each other.

use crate::arrows::{Arrow, Role};
use crate::clean::shorten;
use crate::layout::{CELL, Layout, Run, SMALL, chars, run};

type Point = (f64, f64);

/// An arrow with its way.
pub(crate) struct Route {
    /// The arrow, as a number.
    pub(crate) arrow: usize,
    /// The `d` of its path.
    pub(crate) path: String,
    /// Where the label stands: its middle, its width and its height.
    pub(crate) label: (f64, f64, f64, f64),
    points: Vec<Point>,
}

/// What the label of an arrow says.
pub(crate) fn label_text(arrow: &Arrow) -> String {
    let label = match arrow.label.split_once('(') {
        Some((letters, key)) => format!("{letters}({})", shorten(key.trim_end_matches(')'), 18)),
        None => arrow.label.clone(),
    };
    match arrow.role {
        Role::Cycle(number) if number > 0 => format!("{number} {label}"),
        _ => label,
    }
}

/// The ways of all arrows whose ends are drawn; those of the cycle first.
pub(crate) fn routes(layout: &Layout, arrows: &[Arrow]) -> Vec<Route> {
    let mut routes: Vec<Route> = Vec::new();
    for (index, arrow) in arrows.iter().enumerate() {
        if let Some((path, points)) = way(layout, arrows, index, arrow) {
            routes.push(Route { arrow: index, path, label: (0.0, 0.0, 0.0, 0.0), points });
        }
    }
    for index in 0..routes.len() {
        let size = (chars(&label_text(&arrows[routes[index].arrow]), SMALL) + 10.0, 18.0);
        routes[index].label = label_place(layout, &routes, index, size);
    }
    routes
}

fn way(layout: &Layout, arrows: &[Arrow], index: usize, arrow: &Arrow) -> Option<(String, Vec<Point>)> {
    let (from, to) = (layout.of(arrow.from)?, layout.of(arrow.to)?);
    let (from_lane, to_lane) = (&layout.lanes[from.lane], &layout.lanes[to.lane]);
    let (y1, y2) = (port(layout, arrows, index, true)?, port(layout, arrows, index, false)?);
    if from.lane == to.lane {
        let between = |one: &crate::layout::TxnBox| one.lane == from.lane && one.y > from.y && one.y < to.y;
        if arrow.from_op.is_none() && arrow.to_op.is_none() && to.y > from.y && !layout.boxes.iter().any(between) {
            let x = from_lane.x + from_lane.width / 2.0;
            return Some(line(&[(x, from.bottom()), (x, to.y)]));
        }
        let (right, end) = layout.gutter(from.lane);
        let out = right + (end - right) * 0.85;
        return Some(curve((right, y1), (right, y1), (out, y1), (out, y2), (right, y2)));
    }
    let rightwards = to.lane > from.lane;
    let (x1, x2) =
        if rightwards { (from_lane.x + from_lane.width, to_lane.x) } else { (from_lane.x, to_lane.x + to_lane.width) };
    let run = run(layout, arrow).unwrap_or(Run::AtFrom);
    // The strip of the curve: beside the end, or beside the start.
    let (near, far) = match (run, rightwards) {
        (Run::AtFrom, true) => layout.gutter(to.lane - 1),
        (Run::AtFrom, false) => swap(layout.gutter(to.lane)),
        (Run::AtTo, true) => layout.gutter(from.lane),
        (Run::AtTo, false) => swap(layout.gutter(from.lane - 1)),
    };
    let half = (near + far) / 2.0;
    let curved = ((near, y1), (half, y1), (half, y2), (far, y2));
    let (mut d, mut points) = curve(curved.0, curved.0, curved.1, curved.2, curved.3);
    if run == Run::AtFrom {
        let rest = d.split_once('C').map_or("", |(_, rest)| rest).to_owned();
        d = format!("M{} {}L{} {}C{rest}", n(x1), n(y1), n(near), n(y1));
        points.splice(0..0, straight((x1, y1), (near, y1)));
    } else {
        d.push_str(&format!("L{} {}", n(x2), n(y2)));
        points.extend(straight((far, y2), (x2, y2)));
    }
    Some((d, points))
}

fn swap((a, b): (f64, f64)) -> (f64, f64) {
    (b, a)
}

/// The height at which an arrow meets its box: arrows that share a side of a cell spread over it.
fn port(layout: &Layout, arrows: &[Arrow], index: usize, start: bool) -> Option<f64> {
    struct End {
        arrow: usize,
        start: bool,
        other: f64,
    }
    let end = |arrow: &Arrow, start: bool| if start { (arrow.from, arrow.from_op) } else { (arrow.to, arrow.to_op) };
    let side = |arrow: &Arrow, start: bool| {
        let (here, there) = (layout.of(end(arrow, start).0)?, layout.of(end(arrow, !start).0)?);
        Some(there.lane >= here.lane)
    };
    let (id, op) = end(&arrows[index], start);
    let mine = side(&arrows[index], start)?;
    let mut ends = Vec::new();
    for (number, arrow) in arrows.iter().enumerate() {
        for at_start in [true, false] {
            if end(arrow, at_start) == (id, op) && side(arrow, at_start) == Some(mine) {
                let (other, other_op) = end(arrow, !at_start);
                ends.push(End { arrow: number, start: at_start, other: layout.of(other)?.row(other_op) });
            }
        }
    }
    ends.sort_by(|a, b| a.other.total_cmp(&b.other).then(a.arrow.cmp(&b.arrow)));
    let place = ends.iter().position(|end| end.arrow == index && end.start == start)? as f64;
    let step = (CELL * 0.6 / ends.len() as f64).min(9.0);
    Some(layout.of(id)?.row(op) + (place - (ends.len() as f64 - 1.0) / 2.0) * step)
}

fn line(points: &[Point; 2]) -> (String, Vec<Point>) {
    let [a, b] = *points;
    (format!("M{} {}L{} {}", n(a.0), n(a.1), n(b.0), n(b.1)), straight(a, b))
}

fn straight(a: Point, b: Point) -> Vec<Point> {
    (0..=20).map(|step| f64::from(step) / 20.0).map(|t| (a.0 + (b.0 - a.0) * t, a.1 + (b.1 - a.1) * t)).collect()
}

fn curve(start: Point, a: Point, b: Point, c: Point, end: Point) -> (String, Vec<Point>) {
    let d =
        format!("M{} {}C{} {} {} {} {} {}", n(start.0), n(start.1), n(b.0), n(b.1), n(c.0), n(c.1), n(end.0), n(end.1));
    let at = |t: f64, pick: fn(Point) -> f64| {
        let u = 1.0 - t;
        u * u * u * pick(a) + 3.0 * u * u * t * pick(b) + 3.0 * u * t * t * pick(c) + t * t * t * pick(end)
    };
    let points = (0..=80).map(|step| f64::from(step) / 80.0).map(|t| (at(t, |p| p.0), at(t, |p| p.1))).collect();
    (d, points)
}

/// A number for a picture: one decimal at most.
pub(crate) fn n(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

fn label_place(layout: &Layout, routes: &[Route], index: usize, size: (f64, f64)) -> (f64, f64, f64, f64) {
    let points = &routes[index].points;
    if let [first, .., last] = points.as_slice()
        && points.iter().all(|point| point.0 == first.0)
    {
        // Straight down: beside the line, which is short.
        return (first.0 + size.0 / 2.0 + 5.0, (first.1 + last.1) / 2.0, size.0, size.1);
    }
    let mut best = (f64::MAX, (0.0, 0.0));
    let beside = size.0 / 2.0 + 7.0;
    let near = size.0 / 3.0;
    let offsets = [
        (0.0, -15.0),
        (0.0, 15.0),
        (beside, 0.0),
        (-beside, 0.0),
        (near, -15.0),
        (near, 15.0),
        (-near, -15.0),
        (-near, 15.0),
        (0.0, 0.0),
    ];
    for (order, share) in [50, 42, 58, 34, 66, 26, 74, 18, 82, 10, 90].into_iter().enumerate() {
        let Some(&(x, y)) = points.get((points.len() - 1) * share / 100) else { continue };
        for (right, down) in offsets {
            let middle = (x + right, y + down);
            let cost = cost(layout, routes, index, middle, size) + order as f64;
            if cost < best.0 {
                best = (cost, middle);
            }
        }
    }
    (best.1.0, best.1.1, size.0, size.1)
}

/// What it costs to put a label here: text that it would hide costs most, then heads of arrows, then lines.
fn cost(layout: &Layout, routes: &[Route], index: usize, (x, y): Point, (wide, high): (f64, f64)) -> f64 {
    let meets = |left: f64, right: f64, top: f64, bottom: f64| {
        x - wide / 2.0 < right + 2.0
            && x + wide / 2.0 > left - 2.0
            && y - high / 2.0 < bottom + 2.0
            && y + high / 2.0 > top - 2.0
    };
    let mut cost = 0.0;
    for one in &layout.boxes {
        let lane = &layout.lanes[one.lane];
        if meets(lane.x, lane.x + lane.width, one.y, one.bottom()) {
            cost += 1000.0;
        }
    }
    if meets(0.0, layout.width, 0.0, layout.top - 6.0) {
        cost += 1000.0;
    }
    for route in &routes[..index] {
        let (x, y, wide, high) = route.label;
        if meets(x - wide / 2.0, x + wide / 2.0, y - high / 2.0, y + high / 2.0) {
            cost += 1000.0;
        }
    }
    for (other, route) in routes.iter().enumerate() {
        if route.points.iter().any(|(x, y)| meets(*x, *x, *y, *y)) {
            cost += if other == index { 16.0 } else { 25.0 };
        }
        if route.points.last().is_some_and(|(x, y)| meets(x - 14.0, x + 14.0, y - 4.0, y + 4.0)) {
            cost += 100.0;
        }
    }
    cost
}
