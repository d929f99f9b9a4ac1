//! Small applications whose invariants were tried on a PostgreSQL: what was violated there, exploration at PostgreSQL's levels
//! shows with the same calls; what holds there, no exploration breaks. The applications are beside the project.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use skew_sql::app::App;
use skew_sql::explore::{Client, Limits, explore_interleaved};
use skew_sql::session::transaction::{Isolation, level_by_name};
use skew_sql::session::{ChoiceKind, Client as Connected, Database, Options};
use skew_store::Recency;

const LIMITS: Limits = Limits { runs: 100_000, time: Duration::from_secs(120) };

/// A row of the table of truths.
#[derive(Debug)]
struct Truth {
    app: String,
    /// As exploration words it.
    broken: String,
    /// `RC`, or `audit RR, transfer RC`.
    level: String,
    violated: bool,
    /// The calls that violate it.
    calls: Option<String>,
}

fn folder() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let beside = ["../shared", "../../shared"].map(|shared| root.join(shared).join("oracles/invariants"));
    beside.into_iter().find(|folder| folder.is_dir())
}

fn truths(text: &str) -> Vec<Truth> {
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
fn definitions(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for line in text.lines().filter(|line| line.contains("violated: `")) {
        let app = line.split('|').nth(1).unwrap_or_default().trim().to_owned();
        let parts = line.split("violated: `").skip(1);
        let witnesses = parts.filter_map(|part| part.split('`').next()).map(|calls| calls.replace("\\|", "|"));
        found.extend(witnesses.map(|calls| (app.clone(), calls)));
    }
    found
}

fn isolation(word: &str) -> Isolation {
    match word {
        "RC" => Isolation::ReadCommitted,
        "RR" => Isolation::RepeatableRead,
        "SER" => Isolation::Serializable,
        other => panic!("{other} is no level"),
    }
}

fn load(text: &str, level: &str) -> (Database, App, Isolation) {
    let options = Options { recency: Recency::Commit, choice: ChoiceKind::Postgres, ..Options::default() };
    let database = Database::new(options);
    let mut connection = database.connect(Connected::new("postgres", "explore"));
    for sql in connection.split(text).expect("statements") {
        let statement = connection.prepare(&sql, &[]).expect("a statement");
        connection.execute(&statement, &[]).expect("it runs");
        connection.sync().expect("it commits");
    }
    drop(connection);
    database.checkpoint().expect("no other transaction is running");
    let mut app = App::of(&database.catalog()).expect("levels have names");
    if !level.contains(' ') {
        return (database, app, isolation(level));
    }
    for part in level.split(", ") {
        let (name, level) = part.split_once(' ').expect("a program and its level");
        let program = app.programs.iter_mut().find(|program| program.name == name).expect("a program");
        program.isolation = Some(isolation(level));
        program.level = program.isolation.map(level_by_name);
    }
    (database, app, Isolation::ReadCommitted)
}

/// What is broken in the explorations of a client.
fn broken((database, app, isolation): &(Database, App, Isolation), client: &str) -> BTreeSet<String> {
    let parsed = Client::parse(client).expect("a client");
    let explored = explore_interleaved(database, app, &parsed, *isolation, LIMITS).expect("explored");
    assert_eq!(explored.limit, None, "{client}");
    explored.behaviours.into_iter().flat_map(|behaviour| behaviour.broken).collect()
}

/// The calls of a witness, without their sessions.
fn single_calls(calls: &str) -> impl Iterator<Item = String> + '_ {
    let sessions = calls.split('|').map(|session| session.split_once(':').map_or(session, |(_, calls)| calls));
    sessions.flat_map(|calls| calls.split(';')).map(|call| call.trim().to_owned())
}

#[test]
fn what_postgres_violates_is_shown_and_nothing_else() {
    let Some(folder) = folder() else { return skew_testing::skip("no table of invariants beside the project") };
    let text = std::fs::read_to_string(folder.join("invariants.md")).expect("the table");
    let (only_app, only_level) = (std::env::var("SKEW_TRUTHS_APP").ok(), std::env::var("SKEW_TRUTHS_LEVEL").ok());
    let mut by_setting: BTreeMap<(String, String), Vec<Truth>> = BTreeMap::new();
    let mut calls: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (app, witness) in definitions(&text) {
        calls.entry(app).or_default().extend(single_calls(&witness));
    }
    for truth in truths(&text) {
        let witness = truth.calls.iter().flat_map(|calls| single_calls(calls));
        calls.entry(truth.app.clone()).or_default().extend(witness);
        by_setting.entry((truth.app.clone(), truth.level.clone())).or_default().push(truth);
    }
    let (mut wrong, mut rows) = (Vec::new(), 0);
    for ((app, level), truths) in &by_setting {
        if only_app.as_ref().is_some_and(|only| only != app) || only_level.as_ref().is_some_and(|only| only != level) {
            continue;
        }
        rows += truths.len();
        let text = std::fs::read_to_string(folder.join(format!("{app}.sql"))).expect("the application");
        let loaded = load(&text, level);
        for truth in truths.iter().filter(|truth| truth.violated) {
            let client = truth.calls.as_deref().expect("a violation has calls");
            let found = broken(&loaded, client);
            if !found.contains(&truth.broken) {
                wrong.push(format!("{app} at {level}: {} is not broken by {client}, {found:?} is", truth.broken));
            }
        }
        let held: Vec<&Truth> = truths.iter().filter(|truth| !truth.violated).collect();
        let calls: Vec<&String> = calls[app].iter().collect();
        for (at, one) in calls.iter().enumerate().filter(|_| !held.is_empty()) {
            for other in &calls[at..] {
                let client = format!("A: {one} | B: {other}");
                let found = broken(&loaded, &client);
                for truth in held.iter().filter(|truth| found.contains(&truth.broken)) {
                    wrong.push(format!("{app} at {level}: {} holds, and is broken by {client}", truth.broken));
                }
            }
        }
        eprintln!("{app} at {level}: {} wrong so far", wrong.len());
    }
    assert!(wrong.is_empty(), "of {rows} rows:\n{}", wrong.join("\n"));
}
