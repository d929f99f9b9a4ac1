//! A constraint that looks at other rows orders two transactions, and every history says so: otherwise a run that no serial
//! order explains would count as serializable.

use std::time::Duration;

use skew_check::check;
use skew_model::Level;
use skew_sql::app::App;
use skew_sql::explore::{Client, Limits, explore};
use skew_sql::session::{Client as Connected, Database, Options};
use skew_store::Recency;

const LIMITS: Limits = Limits { runs: 10_000, time: Duration::from_secs(600) };

/// `first` makes the constraint of `second` satisfied, and then changes `cfg`, which `second` has read before.
fn app(schema: &str, first: &str, second: &str) -> String {
    format!(
        "{schema};
         CREATE TABLE cfg (k int PRIMARY KEY, v int NOT NULL);
         CREATE TABLE log (k int PRIMARY KEY, v int NOT NULL);
         INSERT INTO cfg VALUES (1, 0);
         CREATE PROCEDURE first() LANGUAGE plpgsql AS $$
         BEGIN {first}; UPDATE cfg SET v = 1 WHERE k = 1; END $$;
         CREATE PROCEDURE second() LANGUAGE plpgsql AS $$
         DECLARE x int;
         BEGIN SELECT v INTO x FROM cfg WHERE k = 1; {second}; INSERT INTO log VALUES (1, x); END $$"
    )
}

/// How many histories of the two calls there are, and how many of them no serial order explains.
fn histories(text: &str, level: Level) -> (usize, usize) {
    let database = Database::new(Options { recency: Recency::None, ..Options::default() });
    let mut connection = database.connect(Connected::new("postgres", "lookups"));
    for sql in connection.split(text).expect("statements") {
        let statement = connection.prepare(&sql, &[]).expect("a statement");
        connection.execute(&statement, &[]).expect("runs");
        connection.sync().expect("commits");
    }
    drop(connection);
    database.checkpoint().expect("no other session is connected");
    let app = App::of(&database.catalog()).expect("levels have names");
    let client = Client::parse("first() | second()").expect("a client");
    let explored = explore(&database, &app, &client, level, LIMITS).expect("explored");
    assert!(explored.limit.is_none());
    (explored.histories, explored.all.iter().filter(|history| !check(history, Level::Ser).holds()).count())
}

/// A schema with rows, what `first` does, what `second` does.
const CASES: &[(&str, &str, &str, &str)] = &[
    (
        "a unique key is free again",
        "CREATE TABLE person (id int PRIMARY KEY, email text UNIQUE); INSERT INTO person VALUES (1, 'a')",
        "DELETE FROM person WHERE id = 1",
        "INSERT INTO person VALUES (2, 'a')",
    ),
    (
        "a unique key is free because its row has another one",
        "CREATE TABLE person (id int PRIMARY KEY, email text UNIQUE); INSERT INTO person VALUES (1, 'a'), (2, 'b')",
        "UPDATE person SET email = 'c' WHERE id = 1",
        "UPDATE person SET email = 'a' WHERE id = 2",
    ),
    (
        "a key of an expression is free again",
        "CREATE TABLE person (id int PRIMARY KEY, email text);
         CREATE UNIQUE INDEX ON person (lower(email)); INSERT INTO person VALUES (1, 'A')",
        "DELETE FROM person WHERE id = 1",
        "INSERT INTO person VALUES (2, 'a')",
    ),
    (
        "a row leaves a partial index",
        "CREATE TABLE person (id int PRIMARY KEY, email text, gone boolean NOT NULL);
         CREATE UNIQUE INDEX ON person (email) WHERE NOT gone; INSERT INTO person VALUES (1, 'a', false)",
        "UPDATE person SET gone = true WHERE id = 1",
        "INSERT INTO person VALUES (2, 'a', false)",
    ),
    (
        "a parent has come",
        "CREATE TABLE parent (id int PRIMARY KEY); CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent)",
        "INSERT INTO parent VALUES (1)",
        "INSERT INTO child VALUES (1, 1)",
    ),
    (
        "a parent has come for a row that was there",
        "CREATE TABLE parent (id int PRIMARY KEY); CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent);
         INSERT INTO child VALUES (1, NULL)",
        "INSERT INTO parent VALUES (1)",
        "UPDATE child SET p = 1 WHERE id = 1",
    ),
    (
        "a parent has come before a deferred constraint looks",
        "CREATE TABLE parent (id int PRIMARY KEY);
         CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)",
        "INSERT INTO parent VALUES (1)",
        "INSERT INTO child VALUES (1, 1)",
    ),
    (
        "a parent has another key",
        "CREATE TABLE parent (id int PRIMARY KEY, code int UNIQUE);
         CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent (code)); INSERT INTO parent VALUES (1, 5)",
        "UPDATE parent SET code = 7 WHERE id = 1",
        "INSERT INTO child VALUES (1, 7)",
    ),
    (
        "a child has gone, without an index",
        "CREATE TABLE parent (id int PRIMARY KEY); CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent);
         INSERT INTO parent VALUES (1); INSERT INTO child VALUES (1, 1)",
        "DELETE FROM child WHERE id = 1",
        "DELETE FROM parent WHERE id = 1",
    ),
    (
        "a child has gone, with an index",
        "CREATE TABLE parent (id int PRIMARY KEY); CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent);
         CREATE INDEX ON child (p); INSERT INTO parent VALUES (1); INSERT INTO child VALUES (1, 1)",
        "DELETE FROM child WHERE id = 1",
        "DELETE FROM parent WHERE id = 1",
    ),
    (
        "a child refers to another parent",
        "CREATE TABLE parent (id int PRIMARY KEY); CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent);
         INSERT INTO parent VALUES (1), (2); INSERT INTO child VALUES (1, 1)",
        "UPDATE child SET p = 2 WHERE id = 1",
        "DELETE FROM parent WHERE id = 1",
    ),
];

#[test]
fn what_a_constraint_looked_up_orders_the_two_transactions() {
    for (name, schema, first, second) in CASES {
        for level in [Level::Cc, Level::Mvrc, Level::Si] {
            let (all, not_serializable) = histories(&app(schema, first, second), level);
            assert!(not_serializable > 0, "{name} at {level}: all {all} histories count as serializable");
        }
        let (_, not_serializable) = histories(&app(schema, first, second), Level::Ser);
        assert_eq!(not_serializable, 0, "{name}");
    }
}

#[test]
fn rows_that_never_referred_to_a_key_order_nothing() {
    // `first` changes a row that refers to another parent: the deletion does not depend on it, index or no index.
    for index in ["SELECT 1", "CREATE INDEX ON child (p)"] {
        let schema = format!(
            "CREATE TABLE parent (id int PRIMARY KEY);
             CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent);
             INSERT INTO parent VALUES (1), (2), (3); INSERT INTO child VALUES (1, 2); {index}"
        );
        let change = "UPDATE child SET p = 3 WHERE id = 1";
        for level in [Level::Cc, Level::Mvrc, Level::Si] {
            let (_, not_serializable) = histories(&app(&schema, change, "DELETE FROM parent WHERE id = 1"), level);
            assert_eq!(not_serializable, 0, "{index} at {level}");
        }
    }
}
