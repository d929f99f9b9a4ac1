//! Programs on an ellipse, a thin line where two of them meet, the cycle in thick arrows.
//!
//! All curves are known before the first label is placed, so that a label avoids lines, crossings, programs and other
//! labels. Where that is impossible, the ellipse grows until it is not.

use skew_model::robust::{DependencyKind, RobustCycle, RobustReport};

use crate::layout::{FONT, SMALL, chars};
use crate::markup::escape;
use crate::robust::lines::{Line, Step, lines, steps};
use crate::robust::words::program;
use crate::route::n;
use crate::svg::markers;

const HIGH: f64 = 36.0;
/// How far a thick arrow bends away from the thin line.
const BEND: f64 = 46.0;
/// The pieces of a curve, for labels that avoid it.
const PIECES: u32 = 40;
/// How much larger the ellipse becomes while labels have no room; only the first is tried with many lines.
const SCALES: [f64; 5] = [1.0, 1.2, 1.45, 1.75, 2.1];
const MAX_LINES_TO_SCALE: usize = 60;
/// What it costs a label to hide a program or a label, and to hide a line.
const HIDES_TEXT: f64 = 10_000.0;
const HIDES_LINE: f64 = 100.0;

type Point = (f64, f64);
/// Left, top, right, bottom.
type Area = (f64, f64, f64, f64);

/// A drawing: its size and its elements.
pub(super) struct Drawing {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) body: String,
}

struct Node {
    program: usize,
    at: Point,
    wide: f64,
    /// Away from the middle.
    out: Point,
}

/// A curve as its points, with the text on it.
struct Curve {
    points: Vec<Point>,
    path: String,
}

struct Canvas {
    nodes: Vec<Node>,
    taken: Vec<Area>,
    curves: Vec<Curve>,
    /// Labels that hide something.
    hiding: usize,
}

/// Draws programs, what they meet at (`with_lines`), and a cycle. `id` keeps its names apart from other drawings'.
pub(super) fn drawing(
    report: &RobustReport,
    programs: &[usize],
    cycle: Option<&RobustCycle>,
    with_lines: bool,
    id: &str,
) -> Drawing {
    let thick = cycle.map(|cycle| steps(report, cycle)).unwrap_or_default();
    let mut thin = if with_lines { lines(report, programs) } else { Vec::new() };
    // A thick loop says what the thin one would.
    let is_said = |line: &Line| thick.iter().any(|step| step.from == line.one && step.to == line.one);
    thin.retain(|line| line.one != line.other || !is_said(line));
    let scales = if thick.len() + thin.len() > MAX_LINES_TO_SCALE { &SCALES[..1] } else { &SCALES[..] };
    let mut best: Option<(usize, Drawing)> = None;
    for &scale in scales {
        let (hiding, drawing) = draw(report, programs, &thick, &thin, scale, id);
        if best.as_ref().is_none_or(|(least, _)| hiding < *least) {
            best = Some((hiding, drawing));
        }
        if hiding == 0 {
            break;
        }
    }
    best.expect("there is a scale").1
}

/// A drawing at this scale, and how many of its labels hide something.
fn draw(
    report: &RobustReport,
    programs: &[usize],
    thick: &[Step],
    thin: &[Line],
    scale: f64,
    id: &str,
) -> (usize, Drawing) {
    let nodes = place(report, programs, scale);
    let taken = nodes.iter().map(area_of).collect();
    let mut canvas = Canvas { nodes, taken, curves: Vec::new(), hiding: 0 };
    let bends = !thin.is_empty();
    let mut add = |from: usize, to: usize, bend: f64| {
        let curve = canvas.curve(from, to, bend)?;
        canvas.curves.push(curve);
        Some(canvas.curves.len() - 1)
    };
    let mut arrows = Vec::new();
    for step in thick {
        let is_double = thick.iter().any(|other| (other.from, other.to) == (step.to, step.from));
        let bend = if is_double || bends { BEND } else { BEND / 3.0 };
        arrows.extend(add(step.from, step.to, bend).map(|curve| (step, curve)));
    }
    let mut others = Vec::new();
    for line in thin {
        others.extend(add(line.one, line.other, 0.0).map(|curve| (line, curve)));
    }
    let (mut above, mut below, mut labels) = (String::new(), String::new(), String::new());
    for (step, curve) in arrows {
        let (arrow, label) = canvas.step(step, curve, id);
        above.push_str(&arrow);
        labels.push_str(&label);
    }
    for (line, curve) in others {
        let (arrow, label) = canvas.line(line, curve, id);
        below.push_str(&arrow);
        labels.push_str(&label);
    }
    let nodes: String = canvas.nodes.iter().map(|node| draw_node(report, node, thick)).collect();
    let area = canvas.area();
    let key = key(thin, thick, area);
    let (width, height) = (area.2 - area.0 + 40.0, area.3 - area.1 + 40.0 + key.1);
    let body = format!(
        "{}<g transform=\"translate({} {})\">{below}{above}{nodes}{labels}{}</g>",
        markers(id),
        n(20.0 - area.0),
        n(20.0 - area.1),
        key.0
    );
    (canvas.hiding, Drawing { width: width.max(key.2), height, body })
}

fn place(report: &RobustReport, programs: &[usize], scale: f64) -> Vec<Node> {
    let count = programs.len();
    let widest = programs.iter().map(|at| wide(report, *at)).fold(80.0, f64::max);
    let (across, down) = match count {
        0 | 1 => (0.0, 0.0),
        2 => (widest / 2.0 + 130.0, 0.0),
        _ => ((widest * 0.75 + 60.0 + count as f64 * 42.0).max(190.0), 90.0 + count as f64 * 34.0),
    };
    let start = if count == 2 { std::f64::consts::PI } else { -std::f64::consts::FRAC_PI_2 };
    let mut nodes = Vec::new();
    for (place, &program) in programs.iter().enumerate() {
        let angle = start + std::f64::consts::TAU * place as f64 / count as f64;
        let out = if count < 3 { (0.0, -1.0) } else { (angle.cos(), angle.sin()) };
        let at = (scale * across * angle.cos(), scale * down * angle.sin());
        nodes.push(Node { program, at, wide: wide(report, program), out });
    }
    nodes
}

fn wide(report: &RobustReport, number: usize) -> f64 {
    chars(program(report, number), FONT) + 28.0
}

fn area_of(node: &Node) -> Area {
    let (x, y) = node.at;
    (x - node.wide / 2.0 - 4.0, y - HIGH / 2.0 - 4.0, x + node.wide / 2.0 + 4.0, y + HIGH / 2.0 + 4.0)
}

impl Canvas {
    fn node(&self, program: usize) -> Option<&Node> {
        self.nodes.iter().find(|node| node.program == program)
    }

    /// A way from one program to another; a loop if they are the same.
    fn curve(&self, from: usize, to: usize, bend: f64) -> Option<Curve> {
        let (one, other) = (self.node(from)?, self.node(to)?);
        if from == to {
            return Some(looped(one, if bend > 0.0 { 64.0 } else { 44.0 }));
        }
        let (dx, dy) = (other.at.0 - one.at.0, other.at.1 - one.at.1);
        let long = dx.hypot(dy).max(1.0);
        let middle = (
            (one.at.0 + other.at.0) / 2.0 - dy / long * bend * 2.0,
            (one.at.1 + other.at.1) / 2.0 + dx / long * bend * 2.0,
        );
        let (start, end) = (edge_of(one, middle), edge_of(other, middle));
        let points =
            (0..=PIECES).map(|step| quadratic(start, middle, end, f64::from(step) / f64::from(PIECES))).collect();
        let path = format!("M{} {}Q{} {} {} {}", n(start.0), n(start.1), n(middle.0), n(middle.1), n(end.0), n(end.1));
        Some(Curve { points, path })
    }

    /// A place on a curve or beside it for a text, where it hides nothing, or as little as possible.
    fn label(&mut self, text: &str, own: usize) -> Area {
        let (wide, high) = (chars(text, SMALL) + 10.0, 18.0);
        let points = &self.curves[own].points;
        let middle = points.len() / 2;
        let mut best = (f64::INFINITY, (0.0, 0.0, 0.0, 0.0));
        for at in points.len() / 8..points.len() - points.len() / 8 {
            let (before, (x, y), after) = (points[at - 1], points[at], points[at + 1]);
            let (dx, dy) = (after.0 - before.0, after.1 - before.1);
            let long = dx.hypot(dy).max(0.1);
            let (across, down) = (-dy / long, dx / long);
            // On its line, or so far beside it that it touches the line.
            let beside = across.abs() * wide / 2.0 + down.abs() * high / 2.0 + 5.0;
            for aside in [0.0, beside, -beside] {
                let (x, y) = (x + across * aside, y + down * aside);
                let area = (x - wide / 2.0, y - high / 2.0, x + wide / 2.0, y + high / 2.0);
                let far = at.abs_diff(middle) as f64 + aside.abs() / 8.0;
                let cost = self.hidden(area, own) + far;
                if cost < best.0 {
                    best = (cost, area);
                }
            }
        }
        let (cost, area) = best;
        if cost >= HIDES_LINE {
            self.hiding += 1;
        }
        self.taken.push((area.0 - 3.0, area.1 - 3.0, area.2 + 3.0, area.3 + 3.0));
        area
    }

    /// What a label would hide here.
    fn hidden(&self, area: Area, own: usize) -> f64 {
        let texts = self.taken.iter().filter(|other| overlap(area, **other) > 0.0).count();
        let (left, top, right, bottom) = (area.0 - 3.0, area.1 - 3.0, area.2 + 3.0, area.3 + 3.0);
        let is_inside = |(x, y): &Point| *x > left && *x < right && *y > top && *y < bottom;
        let others = self.curves.iter().enumerate().filter(|(curve, _)| *curve != own);
        let lines = others.filter(|(_, curve)| is_met(&curve.points, is_inside)).count();
        texts as f64 * HIDES_TEXT + lines as f64 * HIDES_LINE
    }

    fn step(&mut self, step: &Step, curve: usize, id: &str) -> (String, String) {
        let area = self.label(&step.label, curve);
        let (kind, title) = (step.kind.letters(), &step.title);
        let arrow = format!(
            "<g class=\"arrow main {kind}\" data-edge=\"{id}-{}\" tabindex=\"0\"><title>{title}</title>\
             <path class=\"reach\" d=\"{path}\"/><path class=\"line\" d=\"{path}\" marker-end=\"url(#{id}-main)\"/></g>",
            step.number,
            path = self.curves[curve].path
        );
        (arrow, on_plate("arrow main", &step.label, title, area))
    }

    fn line(&mut self, line: &Line, curve: usize, id: &str) -> (String, String) {
        let area = self.label(&line.label, curve);
        let kind = if line.one_reads || line.other_reads { "rw" } else { "ww" };
        let start = if line.other_reads && line.one != line.other {
            format!(" marker-start=\"url(#{id}-grey)\"")
        } else {
            String::new()
        };
        let end = if line.one_reads { format!(" marker-end=\"url(#{id}-grey)\"") } else { String::new() };
        let arrow = format!(
            "<g class=\"arrow grey {kind}\"><title>{title}</title><path class=\"reach\" d=\"{path}\"/>\
             <path class=\"line\" d=\"{path}\"{start}{end}/></g>",
            title = line.title,
            path = self.curves[curve].path,
        );
        (arrow, on_plate("arrow grey", &line.label, &line.title, area))
    }

    /// What everything takes.
    fn area(&self) -> Area {
        let points =
            self.curves.iter().flat_map(|curve| &curve.points).map(|(x, y)| (x - 3.0, y - 3.0, x + 3.0, y + 3.0));
        self.taken.iter().copied().chain(points).fold((0.0, 0.0, 0.0, 0.0), |all: Area, one| {
            (all.0.min(one.0), all.1.min(one.1), all.2.max(one.2), all.3.max(one.3))
        })
    }
}

/// Whether a curve has a point like this; a piece is longer than a label is high, so the middle of it is looked at too.
fn is_met(points: &[Point], is_inside: impl Fn(&Point) -> bool) -> bool {
    let half = |pair: &[Point]| ((pair[0].0 + pair[1].0) / 2.0, (pair[0].1 + pair[1].1) / 2.0);
    points.iter().any(&is_inside) || points.windows(2).map(half).any(|point| is_inside(&point))
}

fn on_plate(class: &str, text: &str, title: &str, area: Area) -> String {
    format!(
        "<g class=\"{class}\"><title>{title}</title><rect class=\"plate\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" \
         rx=\"4\"/><text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text></g>",
        n(area.0),
        n(area.1),
        n(area.2 - area.0),
        n(area.3 - area.1),
        n((area.0 + area.2) / 2.0),
        n((area.1 + area.3) / 2.0 + 4.2),
        escape(text)
    )
}

fn overlap(one: Area, other: Area) -> f64 {
    let wide = (one.2.min(other.2) - one.0.max(other.0)).max(0.0);
    let high = (one.3.min(other.3) - one.1.max(other.1)).max(0.0);
    wide * high
}

fn quadratic(start: Point, middle: Point, end: Point, t: f64) -> Point {
    let at = |a: f64, b: f64, c: f64| (1.0 - t) * (1.0 - t) * a + 2.0 * t * (1.0 - t) * b + t * t * c;
    (at(start.0, middle.0, end.0), at(start.1, middle.1, end.1))
}

fn cubic(points: [Point; 4], t: f64) -> Point {
    let s = 1.0 - t;
    let at = |a: f64, b: f64, c: f64, d: f64| s * s * s * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t * t * t * d;
    let [a, b, c, d] = points;
    (at(a.0, b.0, c.0, d.0), at(a.1, b.1, c.1, d.1))
}

/// Where a line from the middle of a node to a point leaves the node.
fn edge_of(node: &Node, towards: Point) -> Point {
    let (dx, dy) = (towards.0 - node.at.0, towards.1 - node.at.1);
    let across = if dx == 0.0 { f64::INFINITY } else { (node.wide / 2.0 + 3.0) / dx.abs() };
    let down = if dy == 0.0 { f64::INFINITY } else { (HIGH / 2.0 + 3.0) / dy.abs() };
    let part = across.min(down).min(1.0);
    (node.at.0 + dx * part, node.at.1 + dy * part)
}

/// From a program to another transaction of it: out of the drawing and back.
fn looped(node: &Node, far: f64) -> Curve {
    let (x, y) = node.at;
    let side = if node.out.1 > 0.35 { 1.0 } else { -1.0 };
    let base = y + side * (HIGH / 2.0 + 2.0);
    let spread = (node.wide / 2.0 - 12.0).min(46.0);
    let top = base + side * far * 1.25;
    let points = [(x - spread, base), (x - spread * 1.2, top), (x + spread * 1.2, top), (x + spread, base)];
    let [a, b, c, d] = points;
    let path = format!("M{} {}C{} {} {} {} {} {}", n(a.0), n(a.1), n(b.0), n(b.1), n(c.0), n(c.1), n(d.0), n(d.1));
    let points = (0..=PIECES).map(|step| cubic(points, f64::from(step) / f64::from(PIECES))).collect();
    Curve { points, path }
}

fn draw_node(report: &RobustReport, node: &Node, thick: &[Step]) -> String {
    let known = &report.programs[node.program];
    let is_hit = thick.iter().any(|step| step.from == node.program);
    let mut title = format!("{}({})", known.name, known.parameters.join(", "));
    if let Some(level) = &known.level {
        title.push_str(&format!(", always at {level}"));
    }
    if known.is_marked {
        title.push_str(", serializable");
    }
    let (x, y) = node.at;
    format!(
        "<g class=\"program{}\"><title>{}</title><rect class=\"box\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"8\"/>\
         <text class=\"name\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text></g>",
        if is_hit { " hit" } else { "" },
        escape(&title),
        n(x - node.wide / 2.0),
        n(y - HIGH / 2.0),
        n(node.wide),
        n(HIGH),
        n(x),
        n(y + 5.0),
        escape(&known.name)
    )
}

/// What lines and arrows mean, with the height and the width that it needs.
fn key(thin: &[Line], thick: &[Step], area: Area) -> (String, f64, f64) {
    let mut words: Vec<(&str, &str, String)> = Vec::new();
    for kind in DependencyKind::ALL {
        if thick.iter().any(|step| step.kind == kind) {
            let meaning = match kind {
                DependencyKind::Session => "earlier to later in one session",
                DependencyKind::Constraint => "satisfies a constraint there",
                DependencyKind::WriteRead => "written here, read there",
                DependencyKind::WriteWrite => "written here, overwritten there",
                DependencyKind::ReadWrite => "read here, overwritten there",
            };
            words.push(("main", kind.letters(), format!("{}  {meaning}", kind.letters())));
        }
    }
    if thin.iter().any(|line| line.one_reads || line.other_reads) {
        words.push(("grey", "rw", "what one reads the other may overwrite, at the end with the arrow".to_owned()));
    }
    if thin.iter().any(|line| !line.one_reads && !line.other_reads) {
        words.push(("grey", "ww", "both may write it".to_owned()));
    }
    let (mut out, mut high, mut wide) = (String::new(), 0.0, 0.0_f64);
    for (class, kind, text) in &words {
        high += 20.0;
        let y = area.3 + 16.0 + high;
        out.push_str(&format!(
            "<g class=\"arrow {class} {kind}\"><path class=\"line\" d=\"M{} {y}h42\"/></g><text class=\"note\" x=\"{}\" \
             y=\"{}\">{}</text>",
            n(area.0),
            n(area.0 + 52.0),
            n(y + 4.0),
            escape(text),
            y = n(y)
        ));
        wide = wide.max(92.0 + chars(text, SMALL));
    }
    (out, if words.is_empty() { 0.0 } else { high + 16.0 }, wide)
}
