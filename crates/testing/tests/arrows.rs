//! The direction of the arrows: which crate uses which, and which room of a crate uses which.
//!
//! The order is declared here once; `Cargo.toml` files, `use` lines and the map in ARCHITECTURE.md are compared with it.
//! An arrow that points up is an error. Those that still do are listed by name, and the list can only become shorter.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates, each above everything that it uses.
const CRATES: &[&str] = &[
    "model", "testing", "check", "formats", "report", "store", "syntax", "values", "query", "sql", "skew", "server",
    "prove", "campaign", "fixture", "cli",
];

/// A crate with rooms.
struct Rooms {
    of: &'static str,
    /// Each room above everything that it uses.
    order: &'static [&'static str],
    /// Arrows that point up and have to go.
    upward: &'static [(&'static str, &'static str)],
}

const ROOMS: &[Rooms] = &[
    Rooms {
        of: "query",
        order: &["system", "catalog", "functions", "ir", "deparse", "bind", "plan", "exec"],
        upward: &[],
    },
    Rooms {
        of: "sql",
        order: &[
            "client",
            "cursor",
            "settings",
            "storage",
            "plpgsql",
            "change",
            "schema",
            "introspection",
            "session",
            "script",
            "app",
            "explore",
        ],
        upward: &[("storage", "session")],
    },
    Rooms { of: "syntax", order: &["error", "budget", "sort", "quote", "parse", "plpgsql"], upward: &[] },
    Rooms {
        of: "campaign",
        order: &[
            "process", "trouble", "arena", "coverage", "cells", "number", "trees", "trace", "predict", "evidence",
            "story", "split", "explain", "live", "repeats", "cause", "fix", "shrink", "runs", "baseline", "replay",
        ],
        upward: &[],
    },
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The crates of the workspace that a crate uses, those of its tests left out.
fn dependencies(of: &str) -> BTreeSet<String> {
    let manifest = read(&root().join("crates").join(of).join("Cargo.toml"));
    let mut used = BTreeSet::new();
    let mut section = "";
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        }
        let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
        if section == "[dependencies]"
            && let Some(name) = name.strip_prefix("skew-")
        {
            used.insert(name.to_owned());
        }
    }
    used
}

#[test]
fn every_crate_has_its_place_and_uses_only_those_below_it() {
    let found: BTreeSet<String> = fs::read_dir(root().join("crates"))
        .expect("the workspace has crates")
        .map(|entry| entry.expect("a folder").file_name().to_string_lossy().into_owned())
        .filter(|name| root().join("crates").join(name).join("Cargo.toml").exists())
        .collect();
    let declared: BTreeSet<String> = CRATES.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(found, declared, "every crate stands in the order, and nothing else does");
    for (place, name) in CRATES.iter().enumerate() {
        for used in dependencies(name) {
            let below = CRATES[..place].contains(&used.as_str());
            assert!(below, "{name} uses {used}, which does not stand below it");
        }
    }
}

/// The lines `name → used, used` of the map.
fn map() -> BTreeMap<String, BTreeSet<String>> {
    let text = read(&root().join("ARCHITECTURE.md"));
    let start = text.find("Arrows point to what is used:").expect("the map has its arrows");
    let block = text[start..].split("```").nth(1).expect("the arrows are a block of text");
    let mut arrows = BTreeMap::new();
    for line in block.lines().skip(1).filter(|line| !line.trim().is_empty()) {
        let (name, used) = line.split_once('→').unwrap_or_else(|| panic!("no arrow in {line:?}"));
        let used = used.split(',').map(|used| used.trim().to_owned()).filter(|used| !used.is_empty()).collect();
        arrows.insert(name.trim().to_owned(), used);
    }
    arrows
}

#[test]
fn the_map_in_the_architecture_is_the_workspace() {
    let map = map();
    for name in CRATES {
        let drawn = map.get(*name).cloned().unwrap_or_else(|| panic!("{name} is not on the map"));
        assert_eq!(drawn, dependencies(name), "what {name} uses, on the map and in its Cargo.toml");
    }
    assert_eq!(map.len(), CRATES.len(), "the map has crates that do not exist");
}

/// The files of a folder and those below it; unit tests in files of their own are left out.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("a file").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            files(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// The names after `crate::` in a file, outside of comments and unit tests.
fn rooms_used(text: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for line in text.lines().take_while(|line| *line != "mod tests {").map(str::trim) {
        if line.starts_with("//") {
            continue;
        }
        for (at, path) in line.match_indices("crate::") {
            let is_whole = !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let rest = &line[at + path.len()..];
            let items: Vec<&str> = match rest.strip_prefix('{') {
                Some(list) => list.split('}').next().unwrap_or_default().split(',').collect(),
                None => vec![rest],
            };
            for item in items.into_iter().filter(|_| is_whole) {
                let name: String = item.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                used.insert(name);
            }
        }
    }
    used
}

#[test]
fn rooms_use_only_rooms_below_them() {
    for Rooms { of, order, upward } in ROOMS {
        let source = root().join("crates").join(of).join("src");
        let mut found = Vec::new();
        files(&source, &mut found);
        let mut seen = BTreeSet::new();
        for path in found {
            let within = path.strip_prefix(&source).expect("it is in the folder");
            let first = within.iter().next().unwrap_or_default().to_string_lossy();
            let room = first.strip_suffix(".rs").unwrap_or(&first);
            if matches!(room, "lib" | "main") {
                continue;
            }
            let place = order.iter().position(|name| *name == room);
            let place = place.unwrap_or_else(|| panic!("{of}: the room {room} has no place in the order"));
            for used in rooms_used(&read(&path)) {
                let Some(other) = order.iter().position(|name| *name == used) else { continue };
                let arrow = (order[place], order[other]);
                if other > place {
                    let known = upward.contains(&arrow);
                    assert!(known, "{of}: {} uses {used}, which stands above {room}", within.display());
                    seen.insert(arrow);
                }
            }
        }
        for arrow in *upward {
            assert!(seen.contains(arrow), "{of}: {} no longer uses {}: take it off the list", arrow.0, arrow.1);
        }
    }
}

#[test]
fn lists_and_comments_are_read_as_rust_reads_them() {
    let text = "use crate::{bind::Binder, plan};\n// crate::session\nlet a = crate::types::quote(crate::ir::x);\n\
                other_crate::no\n#[cfg(test)]\nmod tests {\nuse crate::never;\n";
    let used: Vec<String> = rooms_used(text).into_iter().collect();
    assert_eq!(used, ["bind", "ir", "plan", "types"]);
}
