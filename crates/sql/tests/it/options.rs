//! `--granularity row`, `--constraints weak` and `--recency`: what they change.

use skew_model::Level;
use skew_sql::session::{Constraints, Granularity, Options};
use skew_store::Recency;

use crate::sessions::Sessions;

const SETUP: &str = "
    CREATE TABLE t (id int PRIMARY KEY, v int, w int, k int UNIQUE);
    CREATE TABLE parent (id int PRIMARY KEY);
    CREATE TABLE child (id int PRIMARY KEY, pid int REFERENCES parent);
    INSERT INTO t VALUES (1, 10, 10, 1), (2, 20, 20, 2);
    INSERT INTO parent VALUES (1)";

fn options(level: Level) -> Options {
    Options { level: Some(level), recency: Recency::None, ..Options::default() }
}

/// Runs statements `1: …`, with answers in place of the numbers' statements, and checks the history.
fn run(sessions: &mut Sessions, script: &[(usize, &str)]) -> Vec<String> {
    let mut answers = Vec::new();
    for (session, sql) in script {
        let back = sessions.step(*session, sql);
        answers.extend(back.into_iter().map(|(session, answer)| format!("T{session} {answer}")));
    }
    assert_eq!(sessions.complaint(), None);
    answers
}

/// In how many of so many runs a script ends so.
fn count(options: Options, script: &[(usize, &str)], ends: impl Fn(&[String]) -> bool) -> usize {
    let mut sessions = Sessions::open(options, 2, SETUP);
    let runs = (0..200).filter(|&seed| {
        sessions.reset(seed);
        let answers = run(&mut sessions, script);
        ends(&answers)
    });
    runs.count()
}

/// Two transactions that write different columns of one row.
const TWO_COLUMNS: [(usize, &str); 7] = [
    (1, "BEGIN"),
    (2, "BEGIN"),
    (1, "UPDATE t SET v = 11 WHERE id = 1"),
    (2, "UPDATE t SET w = 12 WHERE id = 1"),
    (1, "COMMIT"),
    (2, "COMMIT"),
    (1, "SELECT v, w FROM t WHERE id = 1"),
];

#[test]
fn columns_of_one_row_are_keys_of_their_own_unless_the_row_is_one() {
    let both = |answers: &[String]| answers[4..6] == ["T1 COMMIT", "T2 COMMIT"];
    let by_cell = count(options(Level::Si), &TWO_COLUMNS, both);
    let by_row = count(Options { granularity: Granularity::Row, ..options(Level::Si) }, &TWO_COLUMNS, both);
    assert_eq!((by_cell > 0, by_row), (true, 0), "by cell {by_cell}, by row {by_row}");
}

#[test]
fn a_row_that_is_one_key_is_read_as_one() {
    let script = [(2, "UPDATE t SET v = 11, w = 11 WHERE id = 1"), (1, "SELECT v, w FROM t WHERE id = 1")];
    let torn = |answers: &[String]| ["T1 10|11", "T1 11|10"].contains(&answers[1].as_str());
    let by_cell = count(options(Level::Rc), &script, torn);
    let by_row = count(Options { granularity: Granularity::Row, ..options(Level::Rc) }, &script, torn);
    assert_eq!((by_cell > 0, by_row), (true, 0), "by cell {by_cell}, by row {by_row}");
}

#[test]
fn every_statement_works_on_rows_that_are_one_key() {
    let options = Options { granularity: Granularity::Row, ..Options::default() };
    let mut sessions = Sessions::open(options, 1, SETUP);
    let script = [
        (1, "INSERT INTO t VALUES (3, 30, 30, 3) RETURNING id, v"),
        (1, "UPDATE t SET v = v + 1 WHERE id > 1 RETURNING id, v"),
        (1, "UPDATE t SET id = 4 WHERE id = 3"),
        (1, "INSERT INTO t VALUES (4, 0, 0, 4) ON CONFLICT (id) DO UPDATE SET w = t.w + 1 RETURNING w"),
        (1, "INSERT INTO t VALUES (5, 0, 0, 1)"),
        (1, "DELETE FROM t WHERE v = 21"),
        (1, "SELECT id, v, w, k FROM t ORDER BY id"),
        (1, "ALTER TABLE t ADD COLUMN z int DEFAULT 7"),
        (1, "ALTER TABLE t ADD COLUMN g int GENERATED ALWAYS AS (v + w) STORED"),
        (1, "SELECT id, z, g FROM t WHERE k = 3"),
    ];
    let answers = run(&mut sessions, &script);
    let expected = [
        "T1 3|30",
        "T1 2|21 3|31",
        "T1 UPDATE 1",
        "T1 31",
        "T1 ERROR 23505",
        "T1 DELETE 1",
        "T1 1|10|10|1 4|31|31|3",
        "T1 ALTER TABLE",
        "T1 ALTER TABLE",
        "T1 4|7|62",
    ];
    assert_eq!(answers, expected);
}

#[test]
fn constraints_across_rows_hold_unless_they_are_weak() {
    let duplicate = [
        (1, "BEGIN"),
        (2, "BEGIN"),
        (1, "UPDATE t SET k = 7 WHERE id = 1"),
        (1, "COMMIT"),
        (2, "UPDATE t SET k = 7 WHERE id = 2"),
        (2, "COMMIT"),
    ];
    let orphan = [(1, "INSERT INTO child VALUES (1, 1)"), (2, "DELETE FROM parent WHERE id = 1")];
    let twice = |answers: &[String]| answers.last().is_some_and(|last| last == "T2 COMMIT");
    let gone = |answers: &[String]| answers[1] == "T2 DELETE 1";
    for (constraints, expected) in [(Constraints::Strong, (0, 0)), (Constraints::Weak, (200, 200))] {
        let weak = || Options { constraints, ..options(Level::Cc) };
        let seen = (count(weak(), &duplicate, twice), count(weak(), &orphan, gone));
        assert_eq!(seen, expected, "{constraints:?}");
    }
}

/// From `ra` up: `ru` and `rc` do not ask what a transaction knows of the past.
#[test]
fn what_was_committed_before_is_seen_unless_recency_is_none() {
    let script = [(1, "UPDATE t SET v = 11 WHERE id = 1"), (2, "SELECT v FROM t WHERE id = 1")];
    let stale = |answers: &[String]| answers[1] == "T2 10";
    for level in [Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si, Level::Ser] {
        let none = count(options(level), &script, stale);
        let commit = count(Options { recency: Recency::Commit, ..options(level) }, &script, stale);
        assert_eq!((none > 0, commit), (true, 0), "{level}: {none} stale without recency, {commit} with it");
    }
}

#[test]
fn overlapping_transactions_are_as_weak_with_recency_as_without() {
    let skew = [
        (1, "BEGIN ISOLATION LEVEL REPEATABLE READ"),
        (2, "BEGIN ISOLATION LEVEL REPEATABLE READ"),
        (1, "SELECT sum(v) FROM t"),
        (2, "SELECT sum(v) FROM t"),
        (1, "UPDATE t SET v = 0 WHERE id = 1"),
        (2, "UPDATE t SET v = 0 WHERE id = 2"),
        (1, "COMMIT"),
        (2, "COMMIT"),
    ];
    let both = |answers: &[String]| answers.ends_with(&["T1 COMMIT".to_owned(), "T2 COMMIT".to_owned()]);
    assert_eq!(count(Options::default(), &skew, both), 200);
}
