//! Constraints are about rows, whatever the level conflicts about: no interleaving of writers of different columns breaks
//! one, at any level; and what the writers did is within their levels with the order that the constraints gave them.
//!
//! `SKEW_RANDOM=20000 cargo test -p skew-sql --test it constraints` for as many runs of each kind.

use std::collections::BTreeSet;
use std::time::Duration;

use skew_check::check;
use skew_model::{Level, Outcome};
use skew_sql::app::App;
use skew_sql::explore::{Client, Limits, explore};
use skew_sql::session::{ChoiceKind, Client as Connected, Database, Granularity, Options};
use skew_store::Recency;
use skew_testing::constraints::{KINDS, Kind, filled_in};

use crate::sessions::{Sessions, answer};
use skew_testing::Dice;

const LEVELS: [Level; 9] =
    [Level::Ru, Level::Rc, Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si, Level::Ser];

fn runs(few: u64) -> u64 {
    std::env::var("SKEW_RANDOM").ok().and_then(|runs| runs.parse().ok()).unwrap_or(few)
}

fn options(seed: u64, dice: &mut Dice) -> Options {
    Options {
        recency: dice.pick(&[Recency::None, Recency::Commit]),
        choice: dice.pick(&[ChoiceKind::Random, ChoiceKind::Old, ChoiceKind::Fresh, ChoiceKind::Postgres]),
        seed,
        granularity: dice.pick(&[Granularity::Cell, Granularity::Cell, Granularity::Cell, Granularity::Row]),
        ..Options::default()
    }
}

/// Runs sessions with random transactions to their end; how many committed.
fn writers(
    sessions: &mut Sessions,
    kind: &Kind,
    count: usize,
    dice: &mut Dice,
    level: &dyn Fn(&mut Dice) -> Level,
) -> (usize, String) {
    let mut left: Vec<Vec<String>> = Vec::new();
    for _ in 0..count {
        let mut statements = Vec::new();
        for _ in 0..1 + dice.roll(2) {
            statements.push("BEGIN".to_owned());
            for _ in 0..1 + dice.roll(3) {
                statements.push(filled_in(dice.pick(kind.statements), |below| dice.roll(below)));
            }
            statements.push(if dice.roll(12) == 0 { "ROLLBACK" } else { "COMMIT" }.to_owned());
        }
        statements.reverse();
        left.push(statements);
    }
    let (mut committed, mut text) = (0, String::new());
    loop {
        let ready: Vec<usize> = (0..count).filter(|&at| sessions.is_free(at + 1) && !left[at].is_empty()).collect();
        if ready.is_empty() {
            break;
        }
        let session = ready[dice.roll(ready.len())];
        let sql = left[session].pop().expect("a session that is ready has a statement");
        if sql == "BEGIN" {
            let level = level(dice);
            sessions.control(&format!("SELECT skew.isolation('{level}')"));
            text.push_str(&format!("T{} @{level}\n", session + 1));
        }
        let back = sessions.step(session + 1, &sql);
        text.push_str(&format!("T{} {sql} -> {back:?}\n", session + 1));
        committed += back.iter().filter(|(_, answer)| answer == "COMMIT").count();
    }
    sessions.end();
    (committed, text)
}

fn is_kept(kind: &Kind, seed: u64, count: usize, level: &dyn Fn(&mut Dice) -> Level) -> usize {
    let mut dice = Dice(seed);
    let options = options(seed, &mut dice);
    let mut sessions = Sessions::open(options.clone(), count, kind.setup);
    let (committed, text) = writers(&mut sessions, kind, count, &mut dice, level);
    let complaint = sessions.complaint();
    sessions.control("SELECT skew.checking(true)");
    let broken = sessions.control(kind.broken);
    assert_eq!(broken, "", "{}, seed {seed}, {options:?}\n{text}", kind.name);
    if let Some(complaint) = complaint {
        panic!("{}, seed {seed}, {options:?}\n{text}{complaint}", kind.name);
    }
    committed
}

#[test]
fn no_level_breaks_a_constraint() {
    for kind in &KINDS {
        for level in LEVELS {
            let committed: usize = (0..runs(12)).map(|seed| is_kept(kind, seed, 3, &|_| level)).sum();
            assert!(committed > 0, "{} at {level}: nothing committed", kind.name);
        }
    }
}

#[test]
fn no_mixture_of_levels_breaks_a_constraint() {
    for kind in &KINDS {
        for seed in 0..runs(40) {
            is_kept(kind, 5_000 + seed, 4, &|dice| dice.pick(&LEVELS));
        }
    }
}

#[test]
fn sixteen_sessions_break_no_constraint() {
    for kind in &KINDS {
        for (at, level) in LEVELS.into_iter().enumerate() {
            let seeds = 9_000 + 1_000 * at as u64..;
            let committed: usize = seeds.take(runs(1) as usize).map(|seed| is_kept(kind, seed, 16, &|_| level)).sum();
            assert!(committed > 0, "{} at {level}: nothing committed", kind.name);
        }
    }
}

/// A place that a running transaction has filled and emptied again is its own: what another one inserts there would be
/// hidden from its unique keys.
#[test]
fn a_place_that_a_running_transaction_emptied_is_held() {
    let setup = "CREATE TABLE t (id int PRIMARY KEY, a int, b int);
                 CREATE UNIQUE INDEX one ON t ((a + b));
                 INSERT INTO t VALUES (1, 1, 1), (2, 2, 2)";
    for level in LEVELS {
        let options = Options { recency: Recency::None, level: Some(level), ..Options::default() };
        let mut sessions = Sessions::open(options, 2, setup);
        for sql in ["BEGIN", "INSERT INTO t VALUES (3, 1, 2)", "DELETE FROM t WHERE id = 3"] {
            sessions.step(1, sql);
        }
        sessions.step(2, "BEGIN");
        let inserted = sessions.step(2, "INSERT INTO t VALUES (3, 1, 2)");
        assert_eq!(inserted, [], "{level}: the place is held");
        let updated = sessions.step(1, "UPDATE t SET a = 2 WHERE id = 1");
        assert_eq!(updated, [(1, "UPDATE 1".to_owned())], "{level}");
        let ended = sessions.step(1, "COMMIT");
        let second = ended.iter().find(|(session, _)| *session == 2).map(|(_, answer)| answer.as_str());
        assert!(matches!(second, Some("ERROR 23505" | "ERROR 40001")), "{level}: {ended:?}");
        sessions.end();
    }
}

/// An UPDATE that has waited for a DELETE finds no row. A row that takes the key afterwards is no conflict: at PostgreSQL's
/// READ COMMITTED the transaction commits.
#[test]
fn a_row_that_takes_the_place_of_a_deleted_one_is_no_conflict_at_mvrc() {
    let setup = "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 1)";
    for sql in
        ["UPDATE t SET n = 5 WHERE id = 1", "DELETE FROM t WHERE id = 1", "SELECT n FROM t WHERE id = 1 FOR UPDATE"]
    {
        let options = Options { level: Some(Level::Mvrc), ..Options::default() };
        let mut sessions = Sessions::open(options, 3, setup);
        sessions.step(2, "BEGIN");
        sessions.step(2, "DELETE FROM t WHERE id = 1");
        sessions.step(1, "BEGIN");
        assert_eq!(sessions.step(1, sql), [], "{sql} waits");
        sessions.step(2, "COMMIT");
        assert_eq!(sessions.step(3, "INSERT INTO t VALUES (1, 3)"), [(3, "INSERT 0 1".to_owned())]);
        assert_eq!(sessions.step(1, "COMMIT"), [(1, "COMMIT".to_owned())], "{sql}");
        assert_eq!(sessions.complaint(), None);
        sessions.end();
    }
}

/// At `ru` a row is seen whose insertion is rolled back later; it has the values that were seen.
#[test]
fn a_row_that_was_never_committed_keeps_its_values() {
    let tables = [
        "CREATE TABLE t (id int PRIMARY KEY, a int, b int NOT NULL, CHECK (a + b >= 0))",
        "CREATE TABLE t (id int PRIMARY KEY DEFERRABLE, a int, b int NOT NULL, CHECK (a + b >= 0))",
    ];
    let granularities = [Granularity::Cell, Granularity::Row];
    let mut waited = 0;
    for (seed, table) in (0..20).flat_map(|seed| tables.map(|table| (seed, table))) {
        let granularity = granularities[seed as usize % 2];
        let options = Options { level: Some(Level::Ru), seed, granularity, ..Options::default() };
        let mut sessions = Sessions::open(options, 2, &format!("{table}; INSERT INTO t VALUES (1, 1, 1)"));
        sessions.step(1, "BEGIN");
        sessions.step(1, "INSERT INTO t VALUES (3, 1, 2)");
        if sessions.step(2, "UPDATE t SET a = 5 WHERE id = 3").is_empty() {
            waited += 1;
            let ended = sessions.step(1, "ROLLBACK");
            let update = ended.iter().find(|(session, _)| *session == 2).map(|(_, answer)| answer.as_str());
            assert!(matches!(update, Some("UPDATE 0" | "UPDATE 1")), "{table}, seed {seed}: {ended:?}");
        }
        sessions.end();
    }
    assert!(waited > 0, "no update has seen the row");
}

/// A row of two numbers, as tiny as it gets: what every transaction does is to set one of them.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Set {
    row: usize,
    column: usize,
    value: i64,
}

type Rows = [[i64; 2]; 2];

/// What a constraint allows, and the error where it does not.
struct Allowed {
    constraint: &'static str,
    code: &'static str,
    holds: fn(&Rows) -> bool,
}

const ALLOWED: [Allowed; 3] = [
    Allowed { constraint: "CHECK (a + b >= 0)", code: "23514", holds: |rows| rows.iter().all(|[a, b]| a + b >= 0) },
    Allowed { constraint: "UNIQUE (a, b)", code: "23505", holds: |rows| rows[0] != rows[1] },
    Allowed {
        constraint: "CHECK (a <= b + 1), UNIQUE (b)",
        code: "23",
        holds: |rows| rows.iter().all(|[a, b]| *a <= b + 1) && rows[0][1] != rows[1][1],
    },
];

/// What comes of the transactions, by definition: they commit in some order, and a constraint is evaluated on the state that
/// those before left.
fn outcomes(sets: &[Set], allowed: &Allowed, start: Rows) -> BTreeSet<(Vec<usize>, Rows)> {
    fn extend(
        left: &[usize],
        sets: &[Set],
        allowed: &Allowed,
        so_far: (Vec<usize>, Rows),
        all: &mut BTreeSet<(Vec<usize>, Rows)>,
    ) {
        if left.is_empty() {
            let (mut failed, rows) = so_far;
            failed.sort_unstable();
            all.insert((failed, rows));
            return;
        }
        for &next in left {
            let (mut failed, mut rows) = so_far.clone();
            rows[sets[next].row][sets[next].column] = sets[next].value;
            if !(allowed.holds)(&rows) {
                rows = so_far.1;
                failed.push(next);
            }
            let rest: Vec<usize> = left.iter().copied().filter(|&other| other != next).collect();
            extend(&rest, sets, allowed, (failed, rows), all);
        }
    }
    let mut all = BTreeSet::new();
    let left: Vec<usize> = (0..sets.len()).collect();
    extend(&left, sets, allowed, (Vec::new(), start), &mut all);
    all
}

#[test]
fn exploration_finds_what_constraints_allow_by_definition_and_nothing_else() {
    let start: Rows = [[0, 0], [1, 2]];
    let limits = Limits { runs: 10_000, time: Duration::from_secs(600) };
    for allowed in &ALLOWED {
        let setup = format!(
            "CREATE TABLE t (id int PRIMARY KEY, a int, b int, {}); INSERT INTO t VALUES (0, 0, 0), (1, 1, 2)",
            allowed.constraint
        );
        for seed in 0..runs(8) {
            let mut dice = Dice(seed);
            let sets: Vec<Set> = (0..2 + dice.roll(2))
                .map(|_| Set { row: dice.roll(2), column: dice.roll(2), value: dice.roll(5) as i64 - 2 })
                .collect();
            let calls: Vec<String> = sets
                .iter()
                .enumerate()
                .map(|(at, set)| {
                    let column = ["a", "b"][set.column];
                    format!("s{at}: UPDATE t SET {column} = {} WHERE id = {}", set.value, set.row)
                })
                .collect();
            let expected = outcomes(&sets, allowed, start);
            for level in LEVELS {
                let (database, app) = load(&setup);
                let client = Client::parse(&calls.join(" | ")).expect("a client");
                let explored = explore(&database, &app, &client, level, limits).expect("explored");
                assert!(explored.limit.is_none() || level == Level::Ru, "{level}: {:?}", explored.limit);
                let found = explored.behaviours.iter().map(|behaviour| {
                    let failed: Vec<usize> = (0..sets.len())
                        .filter(|at| {
                            let failed = behaviour.failed.iter().find(|failed| failed.starts_with(&format!("s{at}:")));
                            failed
                                .inspect(|error| assert!(error.contains(&format!(": {}", allowed.code)), "{error}"))
                                .is_some()
                        })
                        .collect();
                    (failed, rows_of(&behaviour.state))
                });
                let found: BTreeSet<(Vec<usize>, Rows)> = found.collect();
                assert_eq!(found, expected, "{} at {level}, {calls:?}", allowed.constraint);
                for history in &explored.all {
                    assert!(!matches!(check(history, level).outcome, Outcome::Violated(_)), "{level}\n{history}");
                }
            }
        }
    }
}

/// `t: (0, -1, 2) (1, 1, 2)`
fn rows_of(state: &[String]) -> Rows {
    let mut rows = [[0; 2]; 2];
    let text = state.iter().find_map(|table| table.strip_prefix("t: ")).expect("the table is there");
    for row in text.split(['(', ')']).filter(|row| row.contains(',')) {
        let numbers: Vec<i64> = row.split(", ").map(|number| number.parse().expect("a number")).collect();
        rows[numbers[0] as usize] = [numbers[1], numbers[2]];
    }
    rows
}

fn load(setup: &str) -> (Database, App) {
    let database = Database::new(Options { recency: Recency::None, ..Options::default() });
    let mut connection = database.connect(Connected::new("postgres", "explore"));
    for sql in setup.split(';') {
        assert!(!answer(&mut connection, sql).starts_with("ERROR"), "{sql}");
    }
    drop(connection);
    database.checkpoint().expect("no other session is there");
    let app = App::of(&database.catalog()).expect("levels have names");
    (database, app)
}

/// Where PostgreSQL's answer is known: a row's own constraints, one after the other.
#[test]
fn constraints_answer_as_postgresql_does() {
    let steps = [
        ("CREATE TABLE p (id int PRIMARY KEY)", "CREATE TABLE"),
        ("CREATE TABLE c (id int, a int DEFAULT 1 REFERENCES p ON DELETE SET DEFAULT)", "CREATE TABLE"),
        ("INSERT INTO p VALUES (1), (2)", "INSERT 0 2"),
        ("INSERT INTO c VALUES (1, 1), (2, 2)", "INSERT 0 2"),
        // The default is the key that goes.
        ("DELETE FROM p WHERE id = 1", "ERROR 23503"),
        ("DELETE FROM p WHERE id = 2", "DELETE 1"),
        ("SELECT a FROM c ORDER BY id", "1 1"),
        ("DELETE FROM c", "DELETE 2"),
        ("INSERT INTO p VALUES (2)", "INSERT 0 1"),
        ("INSERT INTO c VALUES (3, 2)", "INSERT 0 1"),
        ("DELETE FROM p WHERE id = 1", "DELETE 1"),
        // The new parent is not there.
        ("DELETE FROM p WHERE id = 2", "ERROR 23503"),
        // Rows with one key stand beside each other until the commit.
        ("CREATE TABLE d (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, v int)", "CREATE TABLE"),
        ("INSERT INTO d VALUES (1, 1), (2, 2)", "INSERT 0 2"),
        ("BEGIN", "BEGIN"),
        ("INSERT INTO d VALUES (1, 3)", "INSERT 0 1"),
        ("SELECT v FROM d WHERE id = 1 ORDER BY v", "1 3"),
        ("DELETE FROM d WHERE v = 1", "DELETE 1"),
        ("COMMIT", "COMMIT"),
        ("SELECT id, v FROM d ORDER BY id", "1|3 2|2"),
        ("BEGIN", "BEGIN"),
        ("INSERT INTO d VALUES (2, 4)", "INSERT 0 1"),
        ("COMMIT", "ERROR 23505"),
        ("UPDATE d SET id = 3 - id", "UPDATE 2"),
        ("SELECT id, v FROM d ORDER BY id", "1|2 2|3"),
    ];
    let database = Database::new(Options::default());
    let mut connection = database.connect(Connected::new("postgres", "constraints"));
    for (sql, expected) in steps {
        assert_eq!(answer(&mut connection, sql), expected, "{sql}");
    }
}
