//! The table of invariants that were tried on a PostgreSQL, with applications beside the project.

use std::path::PathBuf;

/// A row of the table of truths.
#[derive(Debug)]
pub struct Truth {
    /// The application.
    pub app: String,
    /// What is broken, as exploration words it.
    pub broken: String,
    /// `RC`, or `audit RR, transfer RC`.
    pub level: String,
    /// Whether the level allows it to be broken.
    pub violated: bool,
    /// The calls that violate it.
    pub calls: Option<String>,
}

/// The folder of the table and its applications, if it is there.
pub fn folder() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let beside = ["../shared", "../../shared"].map(|shared| root.join(shared).join("oracles/invariants"));
    beside.into_iter().find(|folder| folder.is_dir())
}

/// The rows of the table.
pub fn truths(text: &str) -> Vec<Truth> {
    let mut truths = Vec::new();
    for line in text.lines().filter(|line| line.contains("**holds**") || line.contains("**violated**")) {
        let line = line.replace("\\|", "\u{1}");
        let cells: Vec<String> = line.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect();
        let [_, app, invariant, level, truth, reason, ..] = cells.as_slice() else { continue };
        // The conditions of TPC-C, further down, are about another file.
        if !truth.starts_with("**") {
            continue;
        }
        let name = invariant.trim_end_matches(" (monotone)").trim_matches('`');
        let broken = match invariant.as_str() {
            _ if invariant.starts_with("ASSERT") => invariant.clone(),
            _ if invariant.ends_with("(monotone)") => format!("{name}() goes down"),
            _ => format!("{name}()"),
        };
        let violated = truth == "**violated**";
        let calls = violated.then(|| reason.split('`').nth(1).unwrap_or_default().to_owned());
        truths.push(Truth { app: app.clone(), broken, level: level.clone(), violated, calls });
    }
    truths
}

/// The calls that violate an invariant at a level of the definitions, by application.
pub fn definitions(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for line in text.lines().filter(|line| line.contains("violated: `")) {
        let app = line.split('|').nth(1).unwrap_or_default().trim().to_owned();
        let parts = line.split("violated: `").skip(1);
        let witnesses = parts.filter_map(|part| part.split('`').next()).map(|calls| calls.replace("\\|", "|"));
        found.extend(witnesses.map(|calls| (app.clone(), calls)));
    }
    found
}

/// The calls of a witness, without their sessions.
pub fn single_calls(calls: &str) -> impl Iterator<Item = String> + '_ {
    let sessions = calls.split('|').map(|session| session.split_once(':').map_or(session, |(_, calls)| calls));
    sessions.flat_map(|calls| calls.split(';')).map(|call| call.trim().to_owned())
}
