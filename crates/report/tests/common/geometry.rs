//! The geometry of a drawn picture, read back from its SVG alone: boxes, labels, lanes and the lines of arrows.
#![allow(dead_code, reason = "each test binary uses its part")]

use roxmltree::{Document, Node};

/// The width of a character of the monospace font, per pixel of its size: the widest of the fonts that are named.
const WIDE: f64 = 0.62;

#[derive(Clone, Debug)]
pub struct Rect {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
    /// What it is, for a message.
    pub what: String,
}

impl Rect {
    pub fn meets(&self, other: &Rect) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }

    pub fn holds(&self, (x, y): Point) -> bool {
        self.left < x && x < self.right && self.top < y && y < self.bottom
    }
}

pub type Point = (f64, f64);

/// An arrow: its name, its way as points a pixel or two apart, and its label.
pub struct Drawn {
    pub name: String,
    pub is_main: bool,
    pub points: Vec<Point>,
    pub label: Option<Rect>,
}

/// All that a picture shows.
pub struct Scene {
    pub width: f64,
    pub height: f64,
    pub boxes: Vec<Rect>,
    pub lanes: Vec<Rect>,
    pub arrows: Vec<Drawn>,
    /// Every text, as wide as it may become.
    pub texts: Vec<Rect>,
    /// The names of lanes from left to right.
    pub names: Vec<String>,
}

pub fn number(node: Node, name: &str) -> f64 {
    node.attribute(name).and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

pub fn offset(node: Node) -> Point {
    node.ancestors().filter_map(|node| node.attribute("transform")).fold((0.0, 0.0), |(x, y), text| {
        let inside = text.trim_start_matches("translate(").trim_end_matches(')');
        let mut numbers = inside.split(' ').filter_map(|number| number.parse::<f64>().ok());
        (x + numbers.next().unwrap_or(0.0), y + numbers.next().unwrap_or(0.0))
    })
}

pub fn has_class(node: &Node, class: &str) -> bool {
    node.attribute("class").is_some_and(|classes| classes.split(' ').any(|one| one == class))
}

fn rect(node: Node, what: String) -> Rect {
    let (x, y) = offset(node);
    let (left, top) = (x + number(node, "x"), y + number(node, "y"));
    Rect { left, top, right: left + number(node, "width"), bottom: top + number(node, "height"), what }
}

/// Columns as a terminal counts them: wide scripts take two, accents none.
fn columns(text: &str) -> f64 {
    let column = |c: char| match c as u32 {
        0x300..=0x36f => 0.0,
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xff00..=0xff60 | 0x1f300..=0x1faff => 2.0,
        _ => 1.0,
    };
    text.chars().map(column).sum()
}

fn text_rect(node: Node) -> Rect {
    let (x, y) = offset(node);
    let (x, y) = (x + number(node, "x"), y + number(node, "y"));
    let words = node.text().unwrap_or_default().to_owned();
    let is_small = has_class(&node, "tag")
        || has_class(&node, "note")
        || node.parent().is_some_and(|parent| has_class(&parent, "arrow") || has_class(&parent, "key"));
    let size = if is_small { 12.0 } else { 14.0 };
    let width = columns(&words) * size * WIDE;
    let left = match node.attribute("text-anchor") {
        Some("middle") => x - width / 2.0,
        Some("end") => x - width,
        _ => x,
    };
    Rect { left, top: y - size * 0.8, right: left + width, bottom: y + size * 0.25, what: words }
}

/// Points along a path of `M`, `L`, `Q` and `C`, at most two pixels apart.
pub fn points(path: &str) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    let mut rest = path;
    while let Some(letter) = rest.chars().next() {
        let end = rest[1..].find(char::is_alphabetic).map_or(rest.len(), |end| end + 1);
        let numbers: Vec<f64> = rest[1..end].split(' ').filter_map(|number| number.parse().ok()).collect();
        let corners: Vec<Point> = numbers.chunks(2).map(|pair| (pair[0], pair[1])).collect();
        let start = points.last().copied().unwrap_or(corners[0]);
        let goal = corners[corners.len() - 1];
        let steps = (((goal.0 - start.0).abs() + (goal.1 - start.1).abs()) / 2.0).ceil().max(1.0) as usize;
        for step in 1..=steps {
            let t = step as f64 / steps as f64;
            let at = |pick: fn(&Point) -> f64| bezier(pick(&start), &corners, pick, t);
            points.push(if letter == 'M' { goal } else { (at(|point| point.0), at(|point| point.1)) });
        }
        rest = &rest[end..];
    }
    points
}

/// A Bézier curve of any degree, by de Casteljau's algorithm.
fn bezier(start: f64, corners: &[Point], pick: fn(&Point) -> f64, t: f64) -> f64 {
    let mut values: Vec<f64> = std::iter::once(start).chain(corners.iter().map(pick)).collect();
    while values.len() > 1 {
        values = values.windows(2).map(|pair| pair[0] + (pair[1] - pair[0]) * t).collect();
    }
    values[0]
}

fn drawn(node: Node) -> Drawn {
    let (x, y) = offset(node);
    let child = |class: &str| node.children().find(|child| has_class(child, class));
    let path = child("line").and_then(|line| line.attribute("d")).unwrap_or_default();
    let name = node.children().find(|child| child.has_tag_name(("http://www.w3.org/2000/svg", "title")));
    Drawn {
        name: name.and_then(|title| title.text()).unwrap_or_default().to_owned(),
        is_main: has_class(&node, "main"),
        points: points(path).into_iter().map(|(left, top)| (left + x, top + y)).collect(),
        label: child("plate").map(|plate| rect(plate, "label".to_owned())),
    }
}

/// Reads a picture.
pub fn scene(document: &Document) -> Scene {
    let root = document.root_element();
    let all = |class: &'static str| document.descendants().filter(move |node| has_class(node, class));
    let svg = |node: &Node, tag: &'static str| node.has_tag_name(("http://www.w3.org/2000/svg", tag));
    let lane = |node: Node| {
        let line = node.children().find(|child| svg(child, "line")).expect("a lane has a line");
        let (x, y) = offset(line);
        let at = x + number(line, "x1");
        let what = "lane".to_owned();
        Rect { left: at - 0.5, top: y + number(line, "y1"), right: at + 0.5, bottom: y + number(line, "y2"), what }
    };
    let name = |node: Node| {
        let text = node.descendants().find(Node::is_text).and_then(|text| text.text());
        text.unwrap_or_default().to_owned()
    };
    Scene {
        width: number(root, "width"),
        height: number(root, "height"),
        boxes: all("box").map(|node| rect(node, "box".to_owned())).collect(),
        lanes: all("lane").map(lane).collect(),
        arrows: all("arrow").filter(|node| node.has_attribute("data-edge")).map(drawn).collect(),
        texts: document.descendants().filter(|node| svg(node, "text")).map(text_rect).collect(),
        names: all("lane").map(name).collect(),
    }
}
