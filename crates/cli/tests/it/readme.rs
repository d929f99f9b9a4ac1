//! What the README shows is what happens. `SKEW_BLESS=1` writes the README, and its picture, anew.

use std::fmt::Write as _;

use skew_check::{Checker, Options};
use skew_formats::Format;
use skew_model::{Level, Scope, anomaly};

use crate::run::{root, skew};

#[track_caller]
fn current(file: &str, expected: &str) {
    let path = root().join(file);
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    if found != expected && std::env::var_os("SKEW_BLESS").is_some() {
        std::fs::write(&path, expected).expect("the file can be written");
    } else {
        assert!(found == expected, "{file} is old; write it anew: SKEW_BLESS=1 cargo test -p skew-cli");
    }
}

#[test]
fn the_readme_is_current() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("a README");
    let with_output = with_output(&readme);
    let (before, rest) = with_output.split_once("<!-- matrix -->\n").expect("a place for the matrix");
    let (_, after) = rest.split_once("<!-- end of matrix -->").expect("its end");
    current("README.md", &format!("{before}<!-- matrix -->\n{}<!-- end of matrix -->{after}", matrix()));
}

#[test]
fn the_picture_is_current() {
    let done = skew(&["check", "--level", "ser", "--format", "svg", "examples/histories/on-call.hist"]);
    assert_eq!(done.code, 1);
    roxmltree::Document::parse(&done.out).expect("a picture is well-formed XML");
    current("docs/write-skew.svg", &done.out);
}

#[test]
fn the_map_shows_what_is_there() {
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("a map");
    let map = map.split("```").nth(1).expect("the map is the first block");
    let shown: Vec<&str> = map.lines().filter_map(|line| line.split_whitespace().next()?.strip_suffix('/')).collect();
    for folder in [root(), root().join("crates")] {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let name = entry.file_name().into_string().expect("a name in UTF-8");
            let hidden = name.starts_with('.') || name == "target";
            let is_shown = hidden || !entry.path().is_dir() || shown.contains(&name.as_str());
            assert!(is_shown, "{name}/ is not on the map in ARCHITECTURE.md");
        }
    }
    for name in shown.iter().filter(|&&name| name != "pages") {
        let there = root().join(name).is_dir() || root().join("crates").join(name).is_dir();
        assert!(there, "{name}/ is on the map in ARCHITECTURE.md but not there");
    }
}

/// The README with the output of every `console` block that starts with `$ skew`.
fn with_output(readme: &str) -> String {
    let mut text = String::new();
    let mut lines = readme.lines();
    while let Some(line) = lines.next() {
        let _ = writeln!(text, "{line}");
        if line != "```console" {
            continue;
        }
        let command = lines.next().expect("a command");
        let done = skew(&words(command.strip_prefix("$ skew ").expect("a skew command")));
        assert_eq!(done.err, "", "{command}");
        let _ = writeln!(text, "{command}\n{}```", done.out);
        lines.by_ref().take_while(|line| *line != "```").for_each(drop);
    }
    text
}

/// The words of a command; what is between quotes is one of them.
fn words(command: &str) -> Vec<&str> {
    let pieces = command.split('\'').enumerate();
    pieces.flat_map(|(at, piece)| if at % 2 == 1 { vec![piece] } else { piece.split_whitespace().collect() }).collect()
}

/// Which levels allow the smallest history of each anomaly.
fn matrix() -> String {
    let levels: Vec<Level> = Level::ALL.into_iter().filter(|&level| level != Level::Sser).collect();
    let mut table = String::from("| anomaly |");
    for level in &levels {
        let _ = write!(table, " {level} |");
    }
    table.push_str("\n| --- |");
    levels.iter().for_each(|_| table.push_str(" --- |"));
    table.push('\n');
    for definition in anomaly::DEFINITIONS {
        let (format, rest) = match definition.page.split_once("```hist\n") {
            Some((_, rest)) => (Format::Hist, rest),
            None => (Format::Elle, definition.page.split_once("```edn\n").expect("a history on the page").1),
        };
        let text = rest.split("```").next().unwrap_or_default();
        let history = skew_formats::read(format, definition.id, text.as_bytes()).expect("a history");
        let checker = Checker::new(&history, Options::default());
        let _ = write!(table, "| {} |", definition.id);
        for &level in &levels {
            let allowed = checker.holds(Scope::Level(level)).expect("small histories are decided");
            table.push_str(if allowed { " + |" } else { " - |" });
        }
        table.push('\n');
    }
    table
}
