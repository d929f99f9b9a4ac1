//! What functions that read and then write come to when two of them run at once, level by level, and what the history
//! says about it.
//!
//! Both calls read, then wait for the same advisory lock inside of the function, then write: so they overlap whatever the
//! threads do.

use std::sync::Arc;
use std::thread;

use skew_check::check;
use skew_formats::Format;
use skew_model::Level;
use skew_sql::error::SqlError;
use skew_sql::session::{Client, Connection, Database, Options, Outcome};
use skew_sql::types::Datum;

const SCHEMA: &[&str] = &[
    "CREATE TABLE account (id int PRIMARY KEY, balance int)",
    "INSERT INTO account VALUES (1, 100)",
    "CREATE TABLE doctor (name text PRIMARY KEY, on_call bool)",
    "INSERT INTO doctor VALUES ('ann', true), ('bob', true)",
    "CREATE FUNCTION deposit(amount int) RETURNS int LANGUAGE plpgsql AS $$
     DECLARE b int;
     BEGIN
       SELECT balance INTO b FROM account WHERE id = 1;
       PERFORM pg_advisory_xact_lock_shared(7);
       UPDATE account SET balance = b + amount WHERE id = 1;
       RETURN b;
     END $$",
    "CREATE FUNCTION leave(who text) RETURNS bigint LANGUAGE plpgsql AS $$
     DECLARE n bigint := (SELECT count(*) FROM doctor WHERE on_call);
     BEGIN
       PERFORM pg_advisory_xact_lock_shared(7);
       IF n > 1 THEN UPDATE doctor SET on_call = false WHERE name = who; END IF;
       RETURN n;
     END $$",
];

struct Ran {
    /// What each call came to: nothing, or an error's state.
    ended: Vec<Option<String>>,
    /// The answer to the question afterwards.
    answer: Vec<Vec<Datum>>,
    history: skew_model::History,
}

/// Runs two calls at once at a level, then asks.
fn run(level: Level, calls: [&'static str; 2], question: &str) -> Ran {
    let database = Arc::new(Database::new(Options { level: Some(level), ..Options::default() }));
    let mut main = database.connect(Client::new("tester", "test"));
    for statement in SCHEMA {
        ask(&mut main, statement).expect(statement);
    }
    ask(&mut main, "SELECT skew.checkpoint()").expect("a checkpoint");
    ask(&mut main, "SELECT pg_advisory_lock(7)").expect("a lock that is free");
    let running = calls.map(|call| {
        let database = Arc::clone(&database);
        thread::spawn(move || {
            let mut connection = database.connect(Client::new("tester", "test"));
            ask(&mut connection, call).err().map(|error| error.fields().code.clone())
        })
    });
    while ask(&mut main, "SELECT 1 FROM pg_locks WHERE NOT granted").expect("locks").len() < 2 {
        thread::yield_now();
    }
    ask(&mut main, "SELECT pg_advisory_unlock(7)").expect("a lock that is held");
    let ended = running.map(|thread| thread.join().expect("no panic")).to_vec();
    let told = ask(&mut main, "SELECT skew.history()").expect("a history");
    let [Datum::Text(told)] = &told[0][..] else { panic!("a text") };
    let history = skew_formats::read(Format::Hist, "run.hist", told.as_bytes()).expect("a history that can be read");
    Ran { ended, answer: ask(&mut main, question).expect("an answer"), history }
}

fn ask(connection: &mut Connection, sql: &str) -> Result<Vec<Vec<Datum>>, SqlError> {
    let result = connection.prepare(sql, &[]).and_then(|statement| connection.execute(&statement, &[]));
    connection.sync().and(result).map(|outcome| match outcome {
        Outcome::Rows { rows, .. } => rows,
        _ => Vec::new(),
    })
}

fn deposits(level: Level) -> Ran {
    run(level, ["SELECT deposit(10)", "SELECT deposit(20)"], "SELECT balance FROM account")
}

fn leaves(level: Level) -> Ran {
    run(level, ["SELECT leave('ann')", "SELECT leave('bob')"], "SELECT count(*) FROM doctor WHERE on_call")
}

fn number(ran: &Ran) -> i64 {
    let [Datum::Int(number)] = &ran.answer[0][..] else { panic!("a number") };
    *number
}

fn refused(ran: &Ran) -> usize {
    assert!(ran.ended.iter().flatten().all(|state| state == "40001"), "{:?}", ran.ended);
    ran.ended.iter().flatten().count()
}

#[test]
fn functions_lose_an_update_at_mvrc() {
    let ran = deposits(Level::Mvrc);
    assert_eq!(refused(&ran), 0);
    assert!([110, 120].contains(&number(&ran)), "one of the deposits is lost");
    assert!(check(&ran.history, Level::Mvrc).holds(), "{}", ran.history);
    assert!(check(&ran.history, Level::Si).violated(), "{}", ran.history);
}

#[test]
fn functions_lose_no_update_at_si_and_ser() {
    for level in [Level::Si, Level::Ser] {
        let ran = deposits(level);
        assert_eq!(refused(&ran), 1, "{level:?}");
        assert!([110, 120].contains(&number(&ran)));
        assert!(check(&ran.history, Level::Ser).holds(), "{}", ran.history);
    }
}

#[test]
fn functions_have_write_skew_at_mvrc_and_si() {
    for level in [Level::Mvrc, Level::Si] {
        let ran = leaves(level);
        assert_eq!((refused(&ran), number(&ran)), (0, 0), "{level:?}");
        assert!(check(&ran.history, level).holds(), "{}", ran.history);
        assert!(check(&ran.history, Level::Ser).violated(), "{}", ran.history);
    }
}

#[test]
fn functions_have_no_write_skew_at_ser() {
    let ran = leaves(Level::Ser);
    assert!(refused(&ran) >= 1);
    assert!(number(&ran) >= 1);
    assert!(check(&ran.history, Level::Ser).holds(), "{}", ran.history);
}

#[test]
fn a_statement_does_not_see_what_its_functions_write() {
    let database = Database::new(Options::default());
    let mut connection = database.connect(Client::new("tester", "test"));
    let mut run = |sql: &str| ask(&mut connection, sql).expect(sql);
    run("CREATE TABLE t (id int PRIMARY KEY, v int)");
    run("INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)");
    run("CREATE FUNCTION bump() RETURNS int LANGUAGE plpgsql AS $$
         BEGIN UPDATE t SET v = v + 10; INSERT INTO t SELECT max(id) + 1, 0 FROM t; RETURN 0; END $$");
    let shown = |rows: Vec<Vec<Datum>>| -> Vec<i64> {
        rows.iter().map(|row| if let Datum::Int(value) = row[0] { value } else { -1 }).collect()
    };
    assert_eq!(shown(run("SELECT v, bump() FROM t ORDER BY id")), [1, 2, 3]);
    assert_eq!(shown(run("SELECT v FROM t ORDER BY id")), [31, 32, 33, 20, 10, 0]);
    assert_eq!(shown(run("SELECT v FROM t WHERE bump() = 0 AND id < 3 ORDER BY id")), [31, 32]);
}

#[test]
fn a_function_that_calls_itself_without_end_is_stopped() {
    let database = Database::new(Options::default());
    let mut connection = database.connect(Client::new("tester", "test"));
    let mut run = |sql: &str| ask(&mut connection, sql).map_err(|error| error.fields().code.clone());
    run("CREATE FUNCTION endless(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN endless(n + 1); END $$")
        .expect("a function");
    run("CREATE FUNCTION by_query(n int) RETURNS int LANGUAGE plpgsql AS $$
         DECLARE x int; BEGIN SELECT by_query(n + 1) INTO x FROM (VALUES (1)) AS v; RETURN x; END $$")
    .expect("a function");
    run("CREATE FUNCTION by_sql(n int) RETURNS int LANGUAGE sql AS $$ SELECT endless($1) $$").expect("a function");
    for call in ["endless(1)", "by_query(1)", "by_sql(1)"] {
        assert_eq!(run(&format!("SELECT {call}")).err().as_deref(), Some("54001"), "{call}");
    }
    assert!(run("SELECT 1").is_ok());
}

#[test]
fn an_endless_loop_ends_with_the_statement_timeout() {
    let database = Database::new(Options::default());
    let mut connection = database.connect(Client::new("tester", "test"));
    ask(&mut connection, "SET statement_timeout = 50").expect("a setting");
    for body in ["LOOP NULL; END LOOP;", "WHILE true LOOP PERFORM 1; END LOOP;"] {
        let sql = format!("DO $$ BEGIN {body} EXCEPTION WHEN OTHERS THEN RAISE NOTICE 'never'; END $$");
        let error = ask(&mut connection, &sql).expect_err("it does not end");
        assert_eq!(error.fields().code, "57014");
    }
}

#[test]
fn a_program_has_its_sql_bound_before_it_runs() {
    use skew_sql::ir::Plan;
    use skew_sql::plpgsql::bound::{Over, Rows, StatementKind};
    let database = Database::new(Options::default());
    let mut connection = database.connect(Client::new("tester", "test"));
    let mut run = |sql: &str| ask(&mut connection, sql).expect(sql);
    run("CREATE TABLE t (id int PRIMARY KEY, v int)");
    run("CREATE PROCEDURE bump(lowest int) LANGUAGE plpgsql AS $$
         DECLARE r record;
         BEGIN
           FOR r IN SELECT id, v FROM t WHERE v >= lowest LOOP
             IF r.v > 0 THEN UPDATE t SET v = r.v + 1 WHERE id = r.id; END IF;
           END LOOP;
           EXECUTE 'DELETE FROM t';
         END $$");
    let program = connection.program("bump").expect("a program");
    let [looped, dynamic] = &program.block.body[..] else { panic!("two statements") };
    assert_eq!((looped.line, dynamic.line), (4, 7));
    let StatementKind::Loop(looped) = &looped.kind else { panic!("a loop") };
    let Over::Rows { rows: Rows::Query(query), .. } = &looped.over else { panic!("a query") };
    assert_eq!(query.bound().expect("it is bound").query.columns.len(), 2);
    let StatementKind::If { branches, .. } = &looped.body[0].kind else { panic!("an IF") };
    let (condition, body) = &branches[0];
    assert!(condition.bound().is_some(), "the record has the shape of the query");
    let StatementKind::Sql { sql, .. } = &body[0].kind else { panic!("SQL") };
    assert!(matches!(sql.bound().expect("it is bound").query.plan, Plan::Change(_)));
}
