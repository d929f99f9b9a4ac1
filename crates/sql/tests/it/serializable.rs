//! What a serializable transaction is told with `--choice postgres` when it has to start again, as PostgreSQL 15 words it.

use skew_sql::session::{ChoiceKind, Client, Connection, Database, Options};

use crate::sessions::answer;

const WITHOUT_BEGIN: [&str; 2] = ["COMMIT", "ROLLBACK"];

/// Runs each session's statements, `1: SELECT …`, one after the other. The first error: its session, message, detail, hint.
fn first_error(script: &str) -> Option<String> {
    let database = Database::new(Options { choice: ChoiceKind::Postgres, ..Options::default() });
    let connect = |name: &str| database.connect(Client::new(name, "serializable"));
    let mut control = connect("control");
    for sql in ["CREATE TABLE t (id int PRIMARY KEY, n int)", "INSERT INTO t SELECT i, 0 FROM generate_series(1, 4) i"]
    {
        assert!(!answer(&mut control, sql).starts_with("ERROR"));
    }
    let mut sessions: Vec<(Connection, bool)> = (1..=3).map(|at| (connect(&format!("s{at}")), false)).collect();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (session, sql) = line.split_once(": ").expect("a session and its statement");
        let session: usize = session.parse().expect("a session's number");
        let (connection, has_begun) = &mut sessions[session - 1];
        if !std::mem::replace(has_begun, true) && !WITHOUT_BEGIN.contains(&sql) {
            assert_eq!(answer(connection, "BEGIN ISOLATION LEVEL SERIALIZABLE"), "BEGIN");
        }
        let done = connection.prepare(sql, &[]).and_then(|statement| connection.execute(&statement, &[]));
        let done = done.and_then(|_| connection.sync());
        if let Err(error) = done {
            let fields = error.fields();
            let (detail, hint) = (fields.detail.as_deref(), fields.hint.as_deref());
            return Some(format!(
                "{session}: {} {}\nDETAIL: {}\nHINT: {}",
                fields.code,
                fields.message,
                detail.unwrap_or_default(),
                hint.unwrap_or_default()
            ));
        }
    }
    None
}

#[track_caller]
fn refused(script: &str, session: usize, reason: &str) {
    let expected = format!(
        "{session}: 40001 could not serialize access due to read/write dependencies among transactions\n\
         DETAIL: Reason code: Canceled on {reason}.\n\
         HINT: The transaction might succeed if retried."
    );
    assert_eq!(first_error(script), Some(expected), "{script}");
}

/// s1 reads what s2 changes, s2 reads what s3 changes, and s3 commits first.
#[test]
fn a_pivot_is_told_where_it_is_found() {
    let until_doomed = "
        1: SELECT n FROM t WHERE id = 1
        2: SELECT n FROM t WHERE id = 2
        2: UPDATE t SET n = 1 WHERE id = 1
        3: UPDATE t SET n = 1 WHERE id = 2
        3: COMMIT
    ";
    let after = |last: &str| format!("{until_doomed}\n{last}");
    refused(&after("2: COMMIT"), 2, "identification as a pivot, during commit attempt");
    refused(&after("2: SELECT n FROM t WHERE id = 3"), 2, "identification as a pivot, during conflict out checking");
    refused(&after("2: INSERT INTO t VALUES (5, 0)"), 2, "identification as a pivot, during conflict in checking");
    refused(
        "1: SELECT n FROM t WHERE id = 1
         2: SELECT n FROM t WHERE id = 2
         3: UPDATE t SET n = 1 WHERE id = 2
         3: COMMIT
         2: UPDATE t SET n = 1 WHERE id = 1",
        2,
        "identification as a pivot, during write",
    );
}

/// The pivot has committed: the transaction that reads what it overwrote ends.
#[test]
fn a_reader_behind_a_pivot_that_has_committed_is_refused() {
    let answer = first_error(
        "1: SELECT n FROM t WHERE id = 4
         2: SELECT n FROM t WHERE id = 2
         3: UPDATE t SET n = 1 WHERE id = 2
         3: COMMIT
         2: UPDATE t SET n = 1 WHERE id = 1
         2: COMMIT
         1: UPDATE t SET n = 1 WHERE id = 3
         1: SELECT n FROM t WHERE id = 1",
    )
    .expect("refused");
    assert!(answer.starts_with("1: 40001"), "{answer}");
    let detail = answer.lines().nth(1).expect("a detail");
    let (before, after) = ("DETAIL: Reason code: Canceled on conflict out to pivot ", ", during read.");
    let number = detail.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    assert!(number.is_some_and(|number| number.parse::<u32>().is_ok()), "{detail}");
}

/// Without the commit of s3 first, the same dependencies are harmless.
#[test]
fn dependencies_whose_last_transaction_commits_later_are_allowed() {
    let order = "
        1: SELECT n FROM t WHERE id = 1
        2: SELECT n FROM t WHERE id = 2
        2: UPDATE t SET n = 1 WHERE id = 1
        3: UPDATE t SET n = 1 WHERE id = 2
    ";
    assert_eq!(first_error(&format!("{order}\n1: COMMIT\n3: COMMIT\n2: COMMIT")), None);
    assert_eq!(first_error(&format!("{order}\n2: COMMIT\n3: COMMIT\n1: COMMIT")), None);
}
