//! What the README and the pages of `docs/` show is what happens. `SKEW_BLESS=1` writes them, and the picture, anew.

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

/// The README and every page of `docs/`, by their paths from the root.
fn pages() -> Vec<String> {
    let folder = std::fs::read_dir(root().join("docs")).expect("a folder of pages");
    let names = folder.flatten().map(|entry| entry.file_name().into_string().expect("a name in UTF-8"));
    let mut pages: Vec<String> =
        names.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}")).collect();
    pages.push("README.md".to_owned());
    pages.sort();
    pages
}

#[test]
fn what_pages_show_is_current() {
    let mut matrices = 0;
    for page in pages() {
        let text = std::fs::read_to_string(root().join(&page)).expect("a page");
        let mut shown = with_output(&text);
        if let Some((before, rest)) = shown.split_once("<!-- matrix -->\n") {
            let (_, after) = rest.split_once("<!-- end of matrix -->").expect("the end of the matrix");
            shown = format!("{before}<!-- matrix -->\n{}<!-- end of matrix -->{after}", matrix());
            matrices += 1;
        }
        current(&page, &shown);
    }
    assert_eq!(matrices, 1, "the table of levels and anomalies has its place on one page");
}

#[test]
fn links_of_pages_lead_somewhere() {
    for page in pages() {
        let path = root().join(&page);
        let text = std::fs::read_to_string(&path).expect("a page");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            let file = link.split('#').next().unwrap_or_default();
            let is_elsewhere = file.is_empty() || link.starts_with("https://");
            assert!(is_elsewhere || path.with_file_name(file).exists(), "{page}: {link} leads nowhere");
        }
    }
}

#[test]
fn the_readme_fits_two_screens() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("a README");
    assert!(readme.lines().count() <= 120, "what a first reader does not need belongs to docs/");
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

/// A page with the output of every `console` block that starts with `$ skew`.
fn with_output(page: &str) -> String {
    let mut text = String::new();
    let mut lines = page.lines();
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
    let levels: Vec<Level> = Level::all().filter(|&level| level != Level::Sser).collect();
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
