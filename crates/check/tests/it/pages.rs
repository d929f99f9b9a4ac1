//! The pages of anomalies and levels: every history on them is checked at every level.

use skew_check::{Checker, Options};
use skew_formats::Format;
use skew_model::{History, Level, Scope, anomaly, level, topic};

/// A history on a page, and the strongest levels that the page says it satisfies.
struct Block {
    history: History,
    satisfies: Vec<Level>,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let format = match line {
            "```hist" => Format::Hist,
            "```edn" => Format::Elle,
            _ => continue,
        };
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let said = lines.find(|line| !line.is_empty()).unwrap_or_default();
        let list =
            said.strip_prefix("Satisfies: ").unwrap_or_else(|| panic!("no `Satisfies:` after\n{}", text.join("\n")));
        let satisfies = match list {
            "nothing" => Vec::new(),
            list => list.split(", ").map(|word| word.parse().expect("a level")).collect(),
        };
        let history = skew_formats::read(format, "page", text.join("\n").as_bytes()).expect("a history");
        blocks.push(Block { history, satisfies });
    }
    blocks
}

fn verify(block: &Block, page: &str) {
    let checker = Checker::new(&block.history, Options::default());
    // Pages that say nothing of databases' own levels are about the definitions.
    let is_own = |level: &Level| level.definition().target.is_some();
    let tells_of_databases = block.satisfies.iter().any(is_own);
    for level in Level::all().filter(|level| tells_of_databases || !is_own(level)) {
        let expected = match level {
            Level::Sser if !block.history.has_times() => continue,
            level => block.satisfies.iter().any(|held| held.implies(level)),
        };
        assert_eq!(checker.holds(Scope::Level(level)), Some(expected), "{page} at {level}\n{}", block.history);
    }
}

#[test]
fn every_anomaly_page_shows_its_anomaly() {
    for definition in anomaly::DEFINITIONS {
        let blocks = blocks(definition.page);
        assert!(!blocks.is_empty(), "the page of {} has no history", definition.id);
        for block in &blocks {
            verify(block, definition.id);
        }
        let checker = Checker::new(&blocks[0].history, Options::default());
        for verdict in checker.ladder(|_| ()) {
            if let Some(violation) = verdict.violation() {
                assert_eq!(violation.anomaly.id(), definition.id, "at {}\n{}", verdict.scope, blocks[0].history);
            }
        }
    }
}

#[test]
fn every_level_page_is_right() {
    for definition in level::DEFINITIONS {
        let blocks = blocks(definition.page);
        assert!(!blocks.is_empty(), "the page of {} has no history", definition.id);
        for block in &blocks {
            verify(block, definition.id);
        }
    }
}

#[test]
fn every_topic_page_is_right() {
    for topic in topic::TOPICS {
        let blocks = blocks(topic.page);
        assert!(!blocks.is_empty(), "the page of {} has no history", topic.id);
        for block in &blocks {
            verify(block, topic.id);
        }
    }
}
