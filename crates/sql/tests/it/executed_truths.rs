//! Small applications, explored at PostgreSQL's levels: the final states and what is broken are those that PostgreSQL 15
//! reached when every interleaving of the statements was executed there.
//!
//! `truths/truths.txt` has a block for each client: the application, the level and the calls; then what is broken by one of the
//! interleavings, and the final states of all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use skew_sql::app::App;
use skew_sql::explore::{Client, Explored, Limits, explore_interleaved};
use skew_sql::session::transaction::Isolation;
use skew_sql::session::{ChoiceKind, Client as Connected, Database, Options};
use skew_store::Recency;

const LIMITS: Limits = Limits { runs: 100_000, time: Duration::from_secs(120) };

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/truths")
}

fn load(name: &str) -> (Database, App) {
    let text = std::fs::read_to_string(folder().join(format!("{name}.sql"))).expect("the application");
    let options = Options { recency: Recency::Commit, choice: ChoiceKind::Postgres, ..Options::default() };
    let database = Database::new(options);
    let mut connection = database.connect(Connected::new("postgres", "explore"));
    for sql in connection.split(&text).expect("statements") {
        let statement = connection.prepare(&sql, &[]).expect("a statement");
        connection.execute(&statement, &[]).expect("it runs");
        connection.sync().expect("it commits");
    }
    drop(connection);
    database.checkpoint().expect("no other transaction is running");
    let app = App::of(&database.catalog()).expect("levels have names");
    (database, app)
}

fn isolation(word: &str) -> Isolation {
    match word {
        "rc" => Isolation::ReadCommitted,
        "rr" => Isolation::RepeatableRead,
        "ser" => Isolation::Serializable,
        other => panic!("{other} is no level"),
    }
}

/// The tables of a state, each with its rows in the order of their text.
fn in_order(tables: impl Iterator<Item = impl AsRef<str>>) -> BTreeSet<String> {
    let table = |text: &str| {
        let (name, rows) = text.split_once(':').expect("a table and its rows");
        let mut rows: Vec<&str> = rows.split_inclusive(')').map(str::trim).filter(|row| !row.is_empty()).collect();
        rows.sort_unstable();
        format!("{name}: {}", rows.join(" "))
    };
    tables.map(|text| table(text.as_ref())).collect()
}

fn found(explored: &Explored) -> (BTreeSet<String>, BTreeSet<BTreeSet<String>>) {
    let broken = explored.behaviours.iter().flat_map(|behaviour| behaviour.broken.iter().cloned()).collect();
    (broken, explored.behaviours.iter().map(|behaviour| in_order(behaviour.state.iter())).collect())
}

#[test]
fn small_applications_end_as_they_do_on_postgresql() {
    let text = std::fs::read_to_string(folder().join("truths.txt")).expect("the truths");
    let mut loaded: BTreeMap<&str, (Database, App)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for block in text.split("\n\n").map(str::trim).filter(|block| !block.is_empty()) {
        let mut lines = block.lines();
        let mut head = lines.next().expect("a client").splitn(3, ' ');
        let (name, level, client) =
            (head.next().expect("a name"), head.next().expect("a level"), head.next().expect("calls"));
        let rows: Vec<&str> = lines.map(str::trim).collect();
        let broken: BTreeSet<String> =
            rows.iter().filter_map(|row| row.strip_prefix("broken ")).map(str::to_owned).collect();
        let states: BTreeSet<_> = rows
            .iter()
            .filter_map(|row| row.strip_prefix("state "))
            .map(|row| in_order(row.split(';').map(str::trim)))
            .collect();
        let (database, app) = loaded.entry(name).or_insert_with(|| load(name));
        let calls = Client::parse(client).expect("a client");
        let explored = explore_interleaved(database, app, &calls, isolation(level), LIMITS).expect("explored");
        assert_eq!(explored.limit, None, "{name} at {level}: {client}");
        let got = found(&explored);
        if got != (broken.clone(), states.clone()) {
            wrong.push(format!("{name} at {level}: {client}\nPostgreSQL {broken:?} {states:?}\nSkew {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
