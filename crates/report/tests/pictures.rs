//! Pictures and pages, read back as XML.
mod common;

use std::path::Path;

use roxmltree::{Document, Node, ParsingOptions};
use skew_report::{html, svg};

#[track_caller]
fn parse(text: &str) -> Document<'_> {
    match Document::parse_with_options(text, ParsingOptions { allow_dtd: true, ..Default::default() }) {
        Ok(document) => document,
        Err(error) => panic!("not well-formed: {error}\n{text}"),
    }
}

fn pictures() -> Vec<(&'static str, String)> {
    let violation = |sample: &common::Sample| sample.verdicts.iter().find_map(|one| one.violation()).cloned();
    let draw = |sample| svg(&violation(sample).expect("every sample has a violation"));
    common::samples().iter().map(|(name, sample)| (*name, draw(sample))).collect()
}

fn number(node: Node, name: &str) -> f64 {
    node.attribute(name).and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

fn offset(node: Node) -> (f64, f64) {
    node.ancestors().filter_map(|node| node.attribute("transform")).fold((0.0, 0.0), |(x, y), text| {
        let inside = text.trim_start_matches("translate(").trim_end_matches(')');
        let mut numbers = inside.split(' ').filter_map(|number| number.parse::<f64>().ok());
        (x + numbers.next().unwrap_or(0.0), y + numbers.next().unwrap_or(0.0))
    })
}

#[derive(Debug)]
struct Rect {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

fn rects(document: &Document, class: &str) -> Vec<Rect> {
    let found = document.descendants().filter(|node| node.attribute("class") == Some(class));
    found
        .map(|node| {
            let (x, y) = offset(node);
            let (left, top) = (x + number(node, "x"), y + number(node, "y"));
            Rect { left, top, right: left + number(node, "width"), bottom: top + number(node, "height") }
        })
        .collect()
}

fn overlap(a: &Rect, b: &Rect) -> bool {
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

#[test]
fn pictures_and_pages_are_well_formed_and_load_nothing() {
    for (name, sample) in common::samples() {
        let page = sample.report(|report| html(std::slice::from_ref(report)));
        let document = parse(&page);
        assert!(document.descendants().any(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "svg"))), "{name}");
        for node in document.descendants() {
            for attribute in node.attributes() {
                let local = attribute.value().starts_with('#');
                assert!(!matches!(attribute.name(), "src" | "href") || local, "{name} loads {}", attribute.value());
            }
        }
    }
    for (name, picture) in pictures() {
        let document = parse(&picture);
        assert_eq!(document.root_element().attribute("role"), Some("img"), "{name}");
        assert!(document.root_element().attribute("aria-label").is_some_and(|label| !label.is_empty()), "{name}");
    }
}

#[test]
fn boxes_and_labels_never_overlap() {
    for (name, picture) in pictures() {
        let document = parse(&picture);
        let (boxes, labels) = (rects(&document, "box"), rects(&document, "plate"));
        let (width, height) = (number(document.root_element(), "width"), number(document.root_element(), "height"));
        let all: Vec<&Rect> = boxes.iter().chain(&labels).collect();
        for (index, a) in all.iter().enumerate() {
            for b in &all[index + 1..] {
                assert!(!overlap(a, b), "{name}: {a:?} and {b:?}");
            }
            assert!(
                a.left >= 0.0 && a.top >= 0.0 && a.right <= width && a.bottom <= height,
                "{name}: {a:?} is outside"
            );
        }
    }
}

#[test]
fn text_fits_its_box() {
    for (name, picture) in pictures() {
        let document = parse(&picture);
        for one in document.descendants().filter(|node| node.attribute("class") == Some("txn")) {
            let width = one.children().find_map(|node| node.attribute("width")).and_then(|text| text.parse().ok());
            let width: f64 = width.expect("a box has a width");
            let texts = one.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "text")));
            for text in texts.filter(|text| text.attribute("class") != Some("tag")) {
                let chars = text.text().unwrap_or_default().chars().count() as f64;
                assert!(12.0 + chars * 14.0 * 0.62 <= width, "{name}: {:?} in {width}", text.text());
            }
        }
    }
}

#[test]
fn no_arrow_runs_through_a_box() {
    for (name, picture) in pictures() {
        let document = parse(&picture);
        let boxes = rects(&document, "box");
        for line in document.descendants().filter(|node| node.attribute("class") == Some("line")) {
            let Some(path) = line.attribute("d").filter(|_| line.attribute("marker-end").is_some()) else { continue };
            let (_, down) = offset(line);
            for (x, y) in points(path) {
                let inside = |one: &&Rect| {
                    x > one.left + 1.0 && x < one.right - 1.0 && y + down > one.top + 1.0 && y + down < one.bottom - 1.0
                };
                assert!(!boxes.iter().any(|one| inside(&one)), "{name}: {path} runs through a box at {x} {y}");
            }
        }
    }
}

/// Points along a path of `M`, `L` and `C`.
fn points(path: &str) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut rest = path;
    while let Some(letter) = rest.chars().next() {
        let end = rest[1..].find(char::is_alphabetic).map_or(rest.len(), |end| end + 1);
        let numbers: Vec<f64> = rest[1..end].split(' ').filter_map(|number| number.parse().ok()).collect();
        let last = points.last().copied().unwrap_or_default();
        for step in 1..=20 {
            let (t, u) = (f64::from(step) / 20.0, 1.0 - f64::from(step) / 20.0);
            let at = |start: f64, of: usize| match letter {
                'C' => {
                    u * u * u * start
                        + 3.0 * u * u * t * numbers[of]
                        + 3.0 * u * t * t * numbers[of + 2]
                        + t * t * t * numbers[of + 4]
                }
                'L' => u * start + t * numbers[of],
                _ => numbers[of],
            };
            points.push((at(last.0, 0), at(last.1, 1)));
        }
        rest = &rest[end..];
    }
    points
}

#[test]
fn untrusted_names_stay_text() {
    let page = common::hostile().report(|report| html(std::slice::from_ref(report)));
    assert_eq!(page.matches("<script>").count(), 1, "only our own script");
    assert!(!page.contains("<img") && !page.contains("<b>&") && !page.contains('\u{1b}'));
}

#[test]
fn every_arrow_of_the_cycle_has_its_sentence() {
    let page = common::long_fork().report(|report| html(std::slice::from_ref(report)));
    let document = parse(&page);
    let names = |tag: &str| -> Vec<String> {
        let with =
            document.descendants().filter(|node| node.tag_name().name() == tag && node.has_attribute("tabindex"));
        let mut names: Vec<String> = with.filter_map(|node| node.attribute("data-edge")).map(str::to_owned).collect();
        names.sort();
        names
    };
    assert_eq!(names("g").len(), 4);
    assert_eq!(names("g"), names("li"));
}

/// Writes the gallery for people to look at: `cargo test -p skew-report -- --ignored`.
#[test]
#[ignore = "writes files"]
fn write_the_gallery() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (name, picture) in pictures() {
        std::fs::write(dir.join(format!("{name}.svg")), picture).expect("a writable directory");
    }
    for (name, sample) in common::samples() {
        let page = sample.report(|report| html(std::slice::from_ref(report)));
        std::fs::write(dir.join(format!("{name}.html")), page).expect("a writable directory");
    }
}
