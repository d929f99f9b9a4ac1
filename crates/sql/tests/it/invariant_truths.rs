//! Small applications whose invariants were tried on a PostgreSQL: what was violated there, exploration at PostgreSQL's levels
//! shows with the same calls; what holds there, no exploration breaks. The applications are beside the project.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use skew_sql::app::App;
use skew_sql::explore::{Client, Limits, explore_interleaved};
use skew_sql::session::transaction::Isolation;
use skew_sql::session::{ChoiceKind, Client as Connected, Database, Options};
use skew_store::Recency;
use skew_testing::truths::{Truth, definitions, folder, single_calls, truths};

/// A row that the table gives as holding, after random runs, and that PostgreSQL 15 breaks in one interleaving of
/// `befriend(1, 3) | unfriend(1, 3)`: ON CONFLICT DO NOTHING, two DELETEs, COMMIT, the second INSERT.
const BROKEN_AFTER_ALL: (&str, &str) = ("friends_symmetric", "SER");

const LIMITS: Limits = Limits { runs: 100_000, time: Duration::from_secs(120) };

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
        program.level = program.isolation.map(Isolation::level);
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
        let is_known = (app.as_str(), level.as_str()) == BROKEN_AFTER_ALL;
        let held: Vec<&Truth> = truths.iter().filter(|truth| !truth.violated && !is_known).collect();
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
