//! What Skew does with `--choice postgres`, statement by statement, as a PostgreSQL 15 did with the same scripts.
//!
//! A line of a script is a session's statement. What comes back is written under it, who waits, and who goes on.

use std::fmt::Write;

use skew_sql::session::{ChoiceKind, Options};

use crate::sessions::Sessions;

const ACCOUNTS: &[&str] =
    &["CREATE TABLE acct (id int PRIMARY KEY, v int NOT NULL)", "INSERT INTO acct VALUES (1, 10), (2, 20), (3, 30)"];

/// Runs the lines that begin with a session's number, and compares with the others. What happened is within its levels.
fn check(setup: &[&str], script: &str) {
    let options = Options { choice: ChoiceKind::Postgres, ..Options::default() };
    let mut sessions = Sessions::open(options, 3, "");
    for statement in setup {
        let answer = sessions.control(statement);
        assert!(!answer.starts_with("ERROR"), "{statement}: {answer}");
    }
    let mut told = String::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let Some((session, sql)) = line.split_once(": ").filter(|(session, _)| session.len() == 1) else { continue };
        let session: usize = session.parse().expect("a session's number");
        writeln!(told, "{line}").expect("a text");
        let answers = sessions.step(session, sql);
        for (who, answer) in &answers {
            let is_tag = answer.starts_with(char::is_uppercase) && !answer.starts_with("ERROR");
            match *who == session {
                true if is_tag || answer.is_empty() => {}
                true => writeln!(told, "{answer}").expect("a text"),
                false => writeln!(told, "T{who} {answer}").expect("a text"),
            }
        }
        if answers.iter().all(|(who, _)| *who != session) {
            writeln!(told, "waits").expect("a text");
        }
    }
    let lines = |text: &str| {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned);
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(lines(&told), lines(script));
    assert_eq!(sessions.complaint(), None);
    sessions.end();
}

#[test]
fn a_key_that_somebody_has_deleted_since_the_snapshot_can_be_inserted_again() {
    check(
        ACCOUNTS,
        "1: BEGIN ISOLATION LEVEL REPEATABLE READ
         1: SELECT v FROM acct WHERE id = 3
            30
         2: DELETE FROM acct WHERE id = 3
         1: INSERT INTO acct VALUES (3, 15)
         1: SELECT id, v FROM acct WHERE id > 1 ORDER BY id, v
            2|20 3|15 3|30
         1: UPDATE acct SET v = 0 WHERE id = 3
            ERROR 40001",
    );
}

#[test]
fn who_waits_for_a_deleted_row_does_not_get_the_one_that_took_its_key() {
    check(
        ACCOUNTS,
        "1: BEGIN
         1: DELETE FROM acct WHERE id = 1
         1: INSERT INTO acct VALUES (1, 99)
         2: UPDATE acct SET v = v + 1 WHERE id = 1 RETURNING v
            waits
         1: COMMIT
            T2
         2: SELECT v FROM acct WHERE id = 1
            99",
    );
}

#[test]
fn a_row_that_was_locked_for_update_and_changed_counts_as_one_with_another_key() {
    check(
        ACCOUNTS,
        "1: BEGIN
         1: SELECT v FROM acct WHERE id = 1 FOR UPDATE
            10
         2: BEGIN ISOLATION LEVEL REPEATABLE READ
         2: SELECT v FROM acct WHERE id = 1 FOR KEY SHARE
            waits
         1: UPDATE acct SET v = 11 WHERE id = 1
         1: COMMIT
            T2 ERROR 40001
         2: ROLLBACK
         2: BEGIN ISOLATION LEVEL REPEATABLE READ
         2: SELECT v FROM acct WHERE id = 2
            20
         1: UPDATE acct SET v = 12 WHERE id = 1
         2: SELECT v FROM acct WHERE id = 1 FOR KEY SHARE
            11",
    );
}

#[test]
fn who_has_waited_for_a_table_sees_what_was_done_to_it_at_read_committed() {
    check(
        ACCOUNTS,
        "1: BEGIN
         1: LOCK TABLE acct IN ACCESS EXCLUSIVE MODE
         2: SELECT v FROM acct WHERE id = 1
            waits
         3: BEGIN ISOLATION LEVEL REPEATABLE READ
         3: SELECT v FROM acct WHERE id = 1
            waits
         1: UPDATE acct SET v = 11 WHERE id = 1
         1: COMMIT
            T2 11
            T3 10",
    );
}

#[test]
fn who_has_waited_for_a_table_finds_it_as_it_has_become() {
    check(
        ACCOUNTS,
        "1: BEGIN
         1: ALTER TABLE acct RENAME COLUMN v TO w
         2: SELECT v FROM acct WHERE id = 1
            waits
         1: COMMIT
            T2 ERROR 42703
         1: BEGIN
         1: DROP TABLE acct
         2: SELECT w FROM acct WHERE id = 1
            waits
         1: COMMIT
            T2 ERROR 42P01",
    );
}

const FUNCTIONS: &[&str] = &[
    "CREATE TABLE t (id int PRIMARY KEY, v int)",
    "INSERT INTO t VALUES (1, 0), (2, 0), (3, 0)",
    "CREATE FUNCTION hold(i int) RETURNS bool LANGUAGE plpgsql AS $$
     BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN true; END $$",
    "CREATE FUNCTION newest(i int) RETURNS int LANGUAGE plpgsql AS $$
     BEGIN RETURN (SELECT v FROM t WHERE id = i); END $$",
];

/// The statement waits in the first call of a function, somebody changes all rows, and it goes on.
fn check_snapshot(statement: &str, answer: &str) {
    let script = format!(
        "1: SELECT pg_advisory_lock(7)
         2: {statement}
            waits
         1: UPDATE t SET v = 5
         1: SELECT pg_advisory_unlock(7)
            t
            T2 {answer}"
    );
    check(FUNCTIONS, &script);
}

#[test]
fn a_statement_keeps_its_snapshot_whatever_the_statements_of_its_functions_see() {
    check_snapshot("SELECT id, v, newest(id) FROM t WHERE hold(id) ORDER BY id", "1|0|5 2|0|5 3|0|5");
    check_snapshot(
        "SELECT a.id, b.v FROM t a CROSS JOIN LATERAL (SELECT v FROM t WHERE id = a.id AND hold(a.id)) b ORDER BY 1",
        "1|0 2|0 3|0",
    );
    check_snapshot("SELECT id, v FROM t WHERE hold(id) AND v = 0 ORDER BY id", "1|0 2|0 3|0");
    check_snapshot(
        "SELECT id, (SELECT sum(v) FROM t u WHERE u.id <= t.id), newest(id) FROM t WHERE hold(id) ORDER BY id",
        "1|0|5 2|0|5 3|0|5",
    );
}

#[test]
fn rows_that_changed_while_a_function_ran_are_looked_at_again_under_their_locks() {
    check_snapshot("UPDATE t SET v = v + 1 WHERE hold(id) AND v = 0 RETURNING id, v", "");
    check_snapshot("DELETE FROM t WHERE id = 1 AND hold(1) AND v = 0 RETURNING id, v", "");
}
