//! The drawing of programs in the page of an application's robustness, judged by what is drawn.
#[path = "common/geometry.rs"]
mod geometry;

use geometry::{Rect, has_class, number, offset, points};
use roxmltree::{Document, Node, ParsingOptions};
use skew_model::robust::{
    Dependency, DependencyKind, LevelAnswer, PossibleCycle, RobustCycle, RobustEdge, RobustProgram, RobustReport,
    RobustVerdict,
};
use skew_report::robust_page;

const NAMES: [&str; 7] =
    ["balance", "write_check", "amalgamate", "transact_saving", "deposit_checking", "open", "close_the_account"];

/// Programs that all read and write what every other one does, and a cycle through the first three.
fn report(count: usize) -> RobustReport {
    let program = |name: &&str| RobustProgram { name: (*name).to_owned(), ways: 1, ..RobustProgram::default() };
    let about = "checking.balance".to_owned();
    let kind = DependencyKind::ReadWrite;
    let pairs = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
    let edge = |(from, to)| RobustEdge { from, to, kind, about: about.clone(), statements: None };
    let cycle = RobustCycle { line: String::new(), edges: [(0, 1), (1, 2), (2, 0)].map(edge).into() };
    let possible = vec![PossibleCycle { cycle, reason: "a limit".to_owned() }];
    RobustReport {
        file: "bank.sql".to_owned(),
        programs: NAMES.iter().take(count).map(program).collect(),
        dependencies: pairs
            .map(|(from, to)| Dependency { from, to, kind, about: about.clone(), statements: Vec::new() })
            .collect(),
        levels: vec![LevelAnswer {
            level: "si".to_owned(),
            verdict: RobustVerdict::Possible,
            argument: None,
            why: String::new(),
            found: Vec::new(),
            possible,
            untried: 0,
        }],
        ..RobustReport::default()
    }
}

fn rect(node: Node) -> Rect {
    let (x, y) = offset(node);
    let (left, top) = (x + number(node, "x"), y + number(node, "y"));
    let what = node.next_sibling().and_then(|text| text.text()).unwrap_or_default().to_owned();
    Rect { left, top, right: left + number(node, "width"), bottom: top + number(node, "height"), what }
}

fn title<'a>(node: &Node<'a, 'a>) -> &'a str {
    node.children().find(|child| child.tag_name().name() == "title").and_then(|title| title.text()).unwrap_or_default()
}

#[test]
fn labels_hide_no_line_no_program_and_no_other_label() {
    for count in 3..=6 {
        let page = robust_page(&report(count), &[]);
        let options = ParsingOptions { allow_dtd: true, ..Default::default() };
        let document = Document::parse_with_options(&page, options).expect("well-formed");
        let pictures = document.descendants().filter(|node| node.tag_name().name() == "svg");
        for picture in pictures {
            let all = |class: &'static str| picture.descendants().filter(move |node| has_class(node, class));
            let labels: Vec<Node> = all("plate").collect();
            let boxes: Vec<Rect> = all("box").map(rect).collect();
            for (at, label) in labels.iter().enumerate() {
                let area = rect(*label);
                let own = title(&label.parent().expect("a group"));
                let others = labels[at + 1..].iter().map(|other| rect(*other)).chain(boxes.iter().cloned());
                for other in others {
                    assert!(!area.meets(&other), "{count} programs: {area:?} and {other:?}");
                }
                // A line is known by what it says: that of its own label says the same.
                for line in all("reach").filter(|line| title(&line.parent().expect("a group")) != own) {
                    let (x, y) = offset(line);
                    let way = points(line.attribute("d").expect("a path"));
                    let hidden = way.iter().any(|point| area.holds((point.0 + x, point.1 + y)));
                    assert!(!hidden, "{count} programs: {area:?} hides a line");
                }
            }
        }
    }
}

/// Writes the pages for people to look at: `cargo test -p skew-report -- --ignored`.
#[test]
#[ignore = "writes files"]
fn write_the_pages() {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    for count in 3..=NAMES.len() {
        std::fs::write(dir.join(format!("robust-{count}.html")), robust_page(&report(count), &[]))
            .expect("a writable directory");
    }
}
