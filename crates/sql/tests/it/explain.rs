//! EXPLAIN in the formats that programs read, for every kind of statement that has a plan.

use skew_sql::session::{Client, Connection, Database, Options, Outcome};
use skew_sql::types::Datum;

fn connection() -> Connection {
    let mut connection = Database::new(Options::default()).connect(Client::new("tester", "test"));
    for sql in [
        "CREATE TABLE a (id int PRIMARY KEY, v text)",
        "CREATE TABLE b (id int PRIMARY KEY, a int)",
        "PREPARE p(int) AS SELECT * FROM a WHERE id = $1",
    ] {
        run(&mut connection, sql).expect("it is made");
    }
    connection
}

/// The only column of the answer, or the error's state.
fn run(connection: &mut Connection, sql: &str) -> Result<String, String> {
    let outcome = connection.prepare(sql, &[]).and_then(|statement| connection.execute(&statement, &[]));
    let ended = connection.sync();
    let outcome = outcome.and_then(|outcome| ended.map(|()| outcome)).map_err(|error| error.fields().code.clone())?;
    let Outcome::Rows { rows, .. } = outcome else { return Ok(String::new()) };
    let lines = rows.into_iter().map(|row| match &row[0] {
        Datum::Text(line) => line.to_string(),
        other => format!("{other:?}"),
    });
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

const STATEMENTS: &[&str] = &[
    "SELECT a.v, b.id FROM a LEFT JOIN b ON b.a = a.id",
    "SELECT v, count(*) FROM a GROUP BY v ORDER BY 2 LIMIT 3",
    "VALUES (1), (2)",
    "SELECT 1 UNION SELECT 2",
    "WITH x AS (SELECT 1) SELECT * FROM x",
    "INSERT INTO a VALUES (1, 'x') RETURNING id",
    "UPDATE a SET v = 'y' WHERE id = 1",
    "DELETE FROM a USING b WHERE b.a = a.id",
    "MERGE INTO a USING b ON b.a = a.id WHEN MATCHED THEN DO NOTHING",
    "EXECUTE p(1)",
    "DECLARE c CURSOR FOR SELECT 1",
    "CREATE TABLE made AS SELECT 1 AS one",
    "CREATE MATERIALIZED VIEW kept AS SELECT 1 AS one",
];

#[test]
fn every_format_has_every_plan() {
    let mut connection = connection();
    for statement in STATEMENTS {
        for (format, first, last) in [
            ("JSON", "[\n  {\n    \"Plan\": {\n      \"Node Type\": \"", "\n  }\n]"),
            (
                "XML",
                "<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n  <Query>\n    <Plan>\n",
                "\n</explain>",
            ),
            ("YAML", "- Plan: \n    Node Type: \"", ""),
            ("TEXT", "", ""),
        ] {
            let answer = run(&mut connection, &format!("EXPLAIN (FORMAT {format}, COSTS OFF) {statement}"));
            let answer = answer.unwrap_or_else(|state| panic!("{statement}: {state}"));
            assert!(answer.starts_with(first) && answer.ends_with(last), "{statement}:\n{answer}");
            assert!(!answer.is_empty(), "{statement} has no plan");
        }
    }
    // Nothing has run.
    assert_eq!(run(&mut connection, "SELECT count(*)::text FROM a").as_deref(), Ok("0"));
    assert_eq!(run(&mut connection, "SELECT * FROM made"), Err("42P01".to_owned()));
}

#[test]
fn json_is_json_and_shows_the_joins() {
    let mut connection = connection();
    let plan = run(&mut connection, &format!("EXPLAIN (FORMAT JSON) {}", STATEMENTS[0])).expect("a plan");
    let sql = format!("SELECT '{}'::json #>> '{{0,Plan,Join Type}}'", plan.replace('\'', "''"));
    assert_eq!(run(&mut connection, &sql).as_deref(), Ok("Left"));
}

#[test]
fn yaml_indents_what_is_below() {
    let mut connection = connection();
    let plan = run(&mut connection, &format!("EXPLAIN (FORMAT YAML) {}", STATEMENTS[0])).expect("a plan");
    let expected = "- Plan: \n    Node Type: \"Nested Loop\"\n    Join Type: \"Left\"\n    Output: \n      - \"a.v\"\n      - \"b.id\"\n    Plans: \n      - Node Type: \"Result\"\n        Parent Relationship: \"Outer\"\n        Output: \n          - \"a.v\"\n      - Node Type: \"Result\"\n        Parent Relationship: \"Inner\"\n        Output: \n          - \"b.id\"";
    assert_eq!(plan, expected);
}

#[test]
fn analyze_runs_the_statement() {
    let mut connection = connection();
    run(&mut connection, "EXPLAIN (ANALYZE, FORMAT JSON) INSERT INTO a VALUES (1, 'x')").expect("it runs");
    run(&mut connection, "EXPLAIN ANALYZE EXECUTE p(1)").expect("it runs");
    run(&mut connection, "EXPLAIN ANALYZE CREATE TABLE made AS SELECT 1 AS one").expect("it runs");
    assert_eq!(
        run(&mut connection, "SELECT (count(*) + (SELECT count(*) FROM made))::text FROM a").as_deref(),
        Ok("2")
    );
}

#[test]
fn options_are_checked() {
    let mut connection = connection();
    for (options, state) in [
        ("FORMAT nosuch", "22023"),
        ("nosuch", "42601"),
        ("WAL", "22023"),
        ("TIMING", "22023"),
        ("COSTS maybe", "42601"),
    ] {
        assert_eq!(run(&mut connection, &format!("EXPLAIN ({options}) SELECT 1")), Err(state.to_owned()), "{options}");
    }
    for options in ["COSTS OFF, VERBOSE, BUFFERS, SETTINGS, SUMMARY off", "ANALYZE, TIMING off, WAL, SUMMARY"] {
        assert!(run(&mut connection, &format!("EXPLAIN ({options}) SELECT 1")).is_ok(), "{options}");
    }
}
