//! Runs that are recorded: what statements did, under names that people know.

use skew_model::Key;
use skew_sql::session::recording::{Recording, RunPlan};
use skew_sql::session::{Client, Connection, Database, Options};

fn run() -> Database {
    let database = Database::new(Options::default());
    database.checkpoint().expect("nothing runs");
    database.begin_run(&RunPlan { seed: 1, stale: None }).expect("nothing runs");
    database
}

fn connect(database: &Database) -> Connection {
    database.connect(Client::new("tester", "test"))
}

/// Executes statements; the SQLSTATE of the one that fails.
fn execute(connection: &mut Connection, script: &str) -> Result<(), String> {
    for sql in script.split_inclusive(';') {
        let done = connection.prepare(sql, &[]).and_then(|statement| connection.execute(&statement, &[]));
        done.and_then(|_| connection.sync()).map_err(|error| error.fields().code.clone())?;
    }
    Ok(())
}

fn keys(recording: &Recording) -> Vec<String> {
    let history = &recording.history;
    let mut keys: Vec<String> = (0..history.key_count() as u32).map(|key| history.key_name(Key(key))).collect();
    keys.sort();
    keys
}

#[test]
fn rows_of_tables_that_were_emptied_or_dropped_have_names_of_their_own() {
    let database = run();
    let script = "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 1); TRUNCATE t;
        INSERT INTO t VALUES (1, 2); CREATE TABLE u (id int PRIMARY KEY); INSERT INTO u VALUES (7); DROP TABLE u";
    execute(&mut connect(&database), script).expect("all of it is supported");
    assert_eq!(keys(&database.recording()), ["t[1]", "t[1].n", "t~1[1]", "t~1[1].n", "u[7]"]);
}

#[test]
fn the_end_of_a_transaction_belongs_to_it() {
    let database = run();
    let mut connection = connect(&database);
    execute(&mut connection, "CREATE TABLE t (n int); BEGIN; INSERT INTO t VALUES (1); COMMIT").expect("supported");
    let recording = database.recording();
    let txn_of = |word: &str| {
        let found = recording.statements.iter().find(|statement| statement.text.contains(word));
        found.expect("it was executed").txn
    };
    assert!(txn_of("INSERT").is_some());
    assert_eq!(txn_of("COMMIT"), txn_of("INSERT"));
}

const BEGIN: &str = "BEGIN ISOLATION LEVEL SERIALIZABLE";

#[test]
fn a_serializable_transaction_that_found_a_key_free_starts_again_instead_of_meeting_a_duplicate() {
    let database = run();
    let (mut one, mut other) = (connect(&database), connect(&database));
    let look = format!("{BEGIN}; SELECT * FROM t WHERE name = 'x'");
    execute(&mut one, &format!("CREATE TABLE t (id serial PRIMARY KEY, name text UNIQUE); {look}")).expect("supported");
    execute(&mut other, &look).expect("nobody is in the way");
    let insert = "INSERT INTO t (name) VALUES ('x')";
    execute(&mut one, &format!("{insert}; COMMIT")).expect("nobody is in the way");
    assert_eq!(execute(&mut other, insert), Err("40001".to_owned()));
}

#[test]
fn a_serializable_transaction_that_has_not_looked_meets_the_duplicate() {
    let database = run();
    let (mut one, mut other) = (connect(&database), connect(&database));
    let insert = "INSERT INTO t (name) VALUES ('x')";
    execute(&mut one, &format!("CREATE TABLE t (id serial PRIMARY KEY, name text UNIQUE); {BEGIN}; {insert}; COMMIT"))
        .expect("nobody is in the way");
    assert_eq!(execute(&mut other, &format!("{BEGIN}; {insert}")), Err("23505".to_owned()));
}

/// Who asks for the first row in an order has not looked at what comes after it, and has looked at what comes before.
#[test]
fn rows_behind_the_first_one_are_not_looked_at() {
    let of_reader = |asked: &str| {
        let database = run();
        let (mut reader, mut writer) = (connect(&database), connect(&database));
        execute(&mut reader, "CREATE TABLE t (a int, b int, PRIMARY KEY (a, b)); INSERT INTO t VALUES (1, 5), (1, 6)")
            .expect("supported");
        execute(&mut reader, &format!("BEGIN; {asked}")).expect("supported");
        execute(&mut writer, "INSERT INTO t VALUES (1, 3); INSERT INTO t VALUES (1, 8)").expect("nobody is in the way");
        execute(&mut reader, "COMMIT").expect("nobody is in the way");
        let history = database.recording().history;
        let is_reader = |id: &skew_model::TxnId| {
            let ops = history.ops(*id);
            !ops.is_empty() && ops.iter().all(|op| op.kind() == skew_model::OpKind::Read)
        };
        let id = history.txn_ids().find(is_reader).expect("it has read");
        let mut keys: Vec<String> = history.ops(id).iter().map(|op| history.key_name(op.key())).collect();
        keys.sort();
        keys.dedup();
        keys
    };
    let before = ["t[1,3]", "t[1,5]"];
    assert_eq!(of_reader("SELECT min(b) FROM t WHERE a = 1"), before);
    assert_eq!(of_reader("SELECT b FROM t WHERE a = 1 ORDER BY b LIMIT 1"), before);
    assert_eq!(of_reader("SELECT max(b) FROM t WHERE a = 1"), ["t[1,6]", "t[1,8]"]);
    let all = ["t[1,3]", "t[1,5]", "t[1,6]", "t[1,8]"];
    assert_eq!(of_reader("SELECT b FROM t WHERE a = 1 ORDER BY b"), all);
    // Another limit each time.
    let lateral =
        "SELECT x.b FROM (VALUES (1), (NULL)) v (n), LATERAL (SELECT b FROM t WHERE a = 1 ORDER BY b LIMIT n) x";
    assert_eq!(of_reader(lateral), all);
}
