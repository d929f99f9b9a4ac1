//! Pictures and pages, read back as XML.
mod common;

use std::path::Path;

use roxmltree::{Document, ParsingOptions};
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

#[test]
fn a_picture_of_its_own_knows_the_dark() {
    for (name, picture) in pictures() {
        let document = parse(&picture);
        let style = document.descendants().find(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "style")));
        let style = style.and_then(|node| node.text()).expect("a style");
        assert!(style.contains("@media (prefers-color-scheme:dark)"), "{name}");
        // Whatever is drawn takes its colour from there.
        for node in document.descendants() {
            assert!(!node.has_attribute("fill") && !node.has_attribute("stroke"), "{name}: {:?}", node.tag_name());
        }
    }
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
