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

use crate::sessions::{Sessions, answer};
use crate::soundness::Dice;

const LEVELS: [Level; 9] =
    [Level::Ru, Level::Rc, Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si, Level::Ser];

/// One kind of constraint: a schema, statements of its writers, and a query for rows that break it. `{k}` is a small key,
/// `{v}` a small number, `{n}` one that may be negative.
struct Kind {
    name: &'static str,
    setup: &'static str,
    statements: &'static [&'static str],
    broken: &'static str,
}

const KINDS: [Kind; 11] = [
    Kind {
        name: "CHECK of two columns",
        setup: "CREATE TABLE t (id int PRIMARY KEY, a int, b int, CHECK (a + b >= 0));
                INSERT INTO t VALUES (1, 0, 0), (2, 5, 5)",
        statements: &[
            "UPDATE t SET a = {n} WHERE id = {k}",
            "UPDATE t SET b = {n} WHERE id = {k}",
            "UPDATE t SET a = a - {v} WHERE id = {k}",
            "DELETE FROM t WHERE id = {k}",
            "INSERT INTO t VALUES ({k}, {n}, {v})",
            "SELECT a, b FROM t WHERE id = {k}",
        ],
        broken: "SELECT * FROM t WHERE a + b < 0",
    },
    Kind {
        name: "UNIQUE (a, b)",
        setup: "CREATE TABLE t (id int PRIMARY KEY, a int, b int, UNIQUE (a, b));
                INSERT INTO t VALUES (1, 1, 1), (2, 2, 2)",
        statements: &[
            "UPDATE t SET a = {v} WHERE id = {k}",
            "UPDATE t SET b = {v} WHERE id = {k}",
            "DELETE FROM t WHERE id = {k}",
            "INSERT INTO t VALUES ({k}, {v}, {v})",
            "INSERT INTO t VALUES ({k}, {v}, {v}) ON CONFLICT (a, b) DO NOTHING",
            "SELECT id FROM t WHERE a = {v} AND b = {v}",
        ],
        broken: "SELECT a, b FROM t GROUP BY a, b HAVING count(*) > 1",
    },
    Kind {
        name: "UNIQUE (a), rows without a key",
        setup: "CREATE TABLE t (id int, a int UNIQUE); INSERT INTO t VALUES (1, 1), (2, 2)",
        statements: &[
            "UPDATE t SET a = {v} WHERE id = {k}",
            "UPDATE t SET a = NULL WHERE id = {k}",
            "DELETE FROM t WHERE a = {v}",
            "INSERT INTO t VALUES ({k}, {v})",
        ],
        broken: "SELECT a FROM t WHERE a IS NOT NULL GROUP BY a HAVING count(*) > 1",
    },
    Kind {
        name: "partial UNIQUE",
        setup: "CREATE TABLE t (id int PRIMARY KEY, a int, active boolean);
                CREATE UNIQUE INDEX one ON t (a) WHERE active;
                INSERT INTO t VALUES (1, 1, true), (2, 1, false), (3, 2, false)",
        statements: &[
            "UPDATE t SET a = {v} WHERE id = {k}",
            "UPDATE t SET active = true WHERE id = {k}",
            "UPDATE t SET active = NOT active WHERE id = {k}",
            "DELETE FROM t WHERE id = {k}",
            "INSERT INTO t VALUES ({k}, {v}, true)",
        ],
        broken: "SELECT a FROM t WHERE active GROUP BY a HAVING count(*) > 1",
    },
    Kind {
        name: "UNIQUE of an expression",
        setup: "CREATE TABLE t (id int PRIMARY KEY, a int, b int);
                CREATE UNIQUE INDEX one ON t ((a + b));
                INSERT INTO t VALUES (1, 1, 1), (2, 2, 2)",
        statements: &[
            "UPDATE t SET a = {v} WHERE id = {k}",
            "UPDATE t SET b = {v} WHERE id = {k}",
            "DELETE FROM t WHERE id = {k}",
            "INSERT INTO t VALUES ({k}, {v}, {v})",
        ],
        broken: "SELECT a + b FROM t GROUP BY a + b HAVING count(*) > 1",
    },
    Kind {
        name: "FOREIGN KEY of two columns",
        setup: "CREATE TABLE p (x int, y int, PRIMARY KEY (x, y));
                CREATE TABLE t (id int PRIMARY KEY, a int, b int, FOREIGN KEY (a, b) REFERENCES p);
                INSERT INTO p VALUES (1, 1), (2, 2), (1, 2);
                INSERT INTO t VALUES (1, 1, 1), (2, 2, 2)",
        statements: &[
            "UPDATE t SET a = {v} WHERE id = {k}",
            "UPDATE t SET b = {v} WHERE id = {k}",
            "DELETE FROM t WHERE id = {k}",
            "INSERT INTO t VALUES ({k}, {v}, {v})",
            "DELETE FROM p WHERE x = {v} AND y = {v}",
            "INSERT INTO p VALUES ({v}, {v})",
            "UPDATE p SET x = {v} WHERE y = {v}",
        ],
        broken: "SELECT * FROM t WHERE a IS NOT NULL AND b IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM p WHERE x = a AND y = b)",
    },
    Kind {
        name: "FOREIGN KEY of a key that is not the primary one",
        setup: "CREATE TABLE p (id int PRIMARY KEY, x int, y int, UNIQUE (x, y));
                CREATE TABLE t (id int PRIMARY KEY, a int, b int,
                                FOREIGN KEY (a, b) REFERENCES p (x, y) ON UPDATE CASCADE ON DELETE CASCADE);
                INSERT INTO p VALUES (1, 1, 1), (2, 2, 2), (3, 1, 2);
                INSERT INTO t VALUES (1, 1, 1), (2, 2, 2)",
        statements: &[
            "UPDATE t SET a = {v} WHERE id = {k}",
            "UPDATE t SET b = {v} WHERE id = {k}",
            "INSERT INTO t VALUES ({k}, {v}, {v})",
            "DELETE FROM p WHERE id = {k}",
            "UPDATE p SET x = {v} WHERE id = {k}",
            "UPDATE p SET y = {v} WHERE id = {k}",
        ],
        broken: "SELECT id FROM t WHERE a IS NOT NULL AND b IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM p WHERE x = a AND y = b)
                 UNION ALL SELECT x FROM p GROUP BY x, y HAVING count(*) > 1",
    },
    Kind {
        name: "ON DELETE SET NULL",
        setup: "CREATE TABLE p (id int PRIMARY KEY, n int);
                CREATE TABLE t (id int PRIMARY KEY, a int REFERENCES p ON DELETE SET NULL);
                INSERT INTO p VALUES (1, 0), (2, 0);
                INSERT INTO t VALUES (1, 1), (2, 2)",
        statements: &[
            "UPDATE t SET a = {v} WHERE id = {k}",
            "INSERT INTO t VALUES ({k}, {v})",
            "DELETE FROM t WHERE id = {k}",
            "DELETE FROM p WHERE id = {v}",
            "DELETE FROM p",
            "INSERT INTO p VALUES ({v}, 0)",
            "UPDATE p SET n = n + 1 WHERE id = {v}",
        ],
        broken: "SELECT * FROM t WHERE a IS NOT NULL AND NOT EXISTS (SELECT 1 FROM p WHERE p.id = a)",
    },
    Kind {
        name: "ON DELETE SET DEFAULT",
        setup: "CREATE TABLE p (id int PRIMARY KEY, n int);
                CREATE TABLE t (id int PRIMARY KEY, a int DEFAULT 1 REFERENCES p ON DELETE SET DEFAULT);
                INSERT INTO p VALUES (1, 0), (2, 0);
                INSERT INTO t VALUES (1, 1), (2, 2)",
        statements: &[
            "UPDATE t SET a = {v} WHERE id = {k}",
            "INSERT INTO t VALUES ({k}, {v})",
            "DELETE FROM t WHERE id = {k}",
            "DELETE FROM p WHERE id = {v}",
            "INSERT INTO p VALUES ({v}, 0)",
        ],
        broken: "SELECT * FROM t WHERE a IS NOT NULL AND NOT EXISTS (SELECT 1 FROM p WHERE p.id = a)",
    },
    Kind {
        name: "generated column",
        setup: "CREATE TABLE t (id int PRIMARY KEY, a int, b int, g int GENERATED ALWAYS AS (a * a + b) STORED);
                INSERT INTO t VALUES (1, 0, 0), (2, 5, 5)",
        statements: &[
            "UPDATE t SET a = {n} WHERE id = {k}",
            "UPDATE t SET b = {n} WHERE id = {k}",
            "UPDATE t SET b = b + 1 WHERE id = {k}",
            "DELETE FROM t WHERE id = {k}",
            "INSERT INTO t VALUES ({k}, {n}, {v})",
            "SELECT g FROM t WHERE id = {k}",
        ],
        broken: "SELECT * FROM t WHERE g <> a * a + b",
    },
    Kind {
        name: "deferred constraints",
        setup: "CREATE TABLE p (id int PRIMARY KEY, n int);
                CREATE TABLE t (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, a int, b int,
                                UNIQUE (a, b) DEFERRABLE INITIALLY DEFERRED,
                                FOREIGN KEY (b) REFERENCES p DEFERRABLE INITIALLY DEFERRED);
                INSERT INTO p VALUES (1, 0), (2, 0);
                INSERT INTO t VALUES (1, 1, 1), (2, 2, 2)",
        statements: &[
            "UPDATE t SET a = {v} WHERE id = {k}",
            "UPDATE t SET b = {v} WHERE id = {k}",
            "UPDATE t SET id = {k} WHERE id = {k}",
            "INSERT INTO t VALUES ({k}, {v}, {v})",
            "DELETE FROM t WHERE id = {k}",
            "DELETE FROM p WHERE id = {v}",
            "INSERT INTO p VALUES ({v}, 0)",
        ],
        broken: "SELECT id FROM t GROUP BY id HAVING count(*) > 1
                 UNION ALL SELECT a FROM t GROUP BY a, b HAVING count(*) > 1
                 UNION ALL SELECT id FROM t WHERE b IS NOT NULL AND NOT EXISTS (SELECT 1 FROM p WHERE p.id = b)",
    },
];

fn filled_in(template: &str, dice: &mut Dice) -> String {
    let mut text = template.to_owned();
    while let Some(at) = text.find('{') {
        let number: i64 = match &text[at..at + 3] {
            "{k}" => 1 + dice.roll(3) as i64,
            "{v}" => 1 + dice.roll(2) as i64,
            _ => dice.roll(7) as i64 - 3,
        };
        text.replace_range(at..at + 3, &number.to_string());
    }
    text
}

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
                statements.push(filled_in(dice.pick(kind.statements), dice));
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
        for seed in 0..runs(3) {
            let level = LEVELS[seed as usize % LEVELS.len()];
            is_kept(kind, 9_000 + seed, 16, &|_| level);
        }
    }
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
