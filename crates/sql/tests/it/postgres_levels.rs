//! Small applications in every interleaving at PostgreSQL's levels. What is expected was seen on a PostgreSQL.

use std::collections::BTreeSet;
use std::time::Duration;

use skew_sql::app::App;
use skew_sql::explore::{Client, Explored, Limits, explore_interleaved};
use skew_sql::session::transaction::Isolation::{self, ReadCommitted, RepeatableRead, Serializable};
use skew_sql::session::{ChoiceKind, Client as Connected, Database, Options};
use skew_store::Recency;

const LIMITS: Limits = Limits { runs: 100_000, time: Duration::from_secs(120) };

fn explored(text: &str, client: &str, isolation: Isolation) -> Explored {
    let options = Options { recency: Recency::Commit, choice: ChoiceKind::Postgres, ..Options::default() };
    let database = Database::new(options);
    let mut connection = database.connect(Connected::new("postgres", "explore"));
    for sql in connection.split(text).expect("statements") {
        let statement = connection.prepare(&sql, &[]).expect("a statement");
        connection.execute(&statement, &[]).expect("it runs");
        connection.sync().expect("it commits");
    }
    drop(connection);
    database.checkpoint().expect("no other transaction is running");
    let app = App::of(&database.catalog()).expect("levels have names");
    let client = Client::parse(client).expect("a client");
    let explored = explore_interleaved(&database, &app, &client, isolation, LIMITS).expect("explored");
    assert_eq!(explored.limit, None);
    explored
}

/// The final states, and what was refused.
fn outcomes(explored: &Explored) -> Vec<String> {
    let outcome = |state: &[String], failed: &[String]| {
        let codes: Vec<&str> = failed.iter().filter_map(|text| text.split(": ").nth(2)?.split(' ').next()).collect();
        format!("{} {}", state.join("; "), codes.join(" ")).trim().to_owned()
    };
    let all = explored.behaviours.iter().map(|one| outcome(&one.state, &one.failed));
    all.collect::<BTreeSet<_>>().into_iter().collect()
}

fn broken(text: &str, client: &str, isolation: Isolation) -> Vec<String> {
    let explored = explored(text, client, isolation);
    let all = explored.behaviours.into_iter().flat_map(|one| one.broken);
    all.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Orders of `pick` where `replace` has deleted the row and inserted it again.
const SHELF: &str = "
    CREATE TABLE shelf (id int PRIMARY KEY, n int NOT NULL);
    CREATE TABLE missed (id int PRIMARY KEY);
    INSERT INTO shelf VALUES (1, 5);
    CREATE PROCEDURE replace() LANGUAGE plpgsql AS $$ BEGIN
      DELETE FROM shelf WHERE id = 1; INSERT INTO shelf VALUES (1, 50); END $$;
    CREATE PROCEDURE pick() LANGUAGE plpgsql AS $$ BEGIN
      UPDATE shelf SET n = n - 1 WHERE id = 1;
      IF NOT FOUND THEN INSERT INTO missed VALUES (1); END IF; END $$;";

/// The statement that has waited for the deleter does not go on with the new row, which is not in its snapshot.
#[test]
fn an_update_that_waited_for_a_delete_and_insert_of_its_key_finds_nothing() {
    let found = outcomes(&explored(SHELF, "a: replace() | b: pick()", ReadCommitted));
    assert_eq!(found, ["missed: (1); shelf: (1, 50)", "missed: ; shelf: (1, 49)", "missed: ; shelf: (1, 50)"]);
    let found = outcomes(&explored(SHELF, "a: replace() | b: pick()", RepeatableRead));
    let refused = ["missed: ; shelf: (1, 4) 40001", "missed: ; shelf: (1, 50) 40001"];
    assert_eq!(found, [refused[0], "missed: ; shelf: (1, 49)", "missed: ; shelf: (1, 50)", refused[1]]);
}

/// Followers are kept in both directions.
const FOLLOWERS: &str = "
    CREATE TABLE link (kind text, a int, b int, PRIMARY KEY (kind, a, b));
    INSERT INTO link VALUES ('follows', 1, 2), ('followed', 2, 1);
    CREATE PROCEDURE follow(x int, y int) LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO link VALUES ('follows', x, y) ON CONFLICT DO NOTHING;
      INSERT INTO link VALUES ('followed', y, x) ON CONFLICT DO NOTHING; END $$;
    CREATE PROCEDURE leave(x int, y int) LANGUAGE plpgsql AS $$ BEGIN
      DELETE FROM link WHERE kind = 'follows' AND a = x AND b = y;
      DELETE FROM link WHERE kind = 'followed' AND a = y AND b = x; END $$;
    CREATE FUNCTION both_ways() RETURNS boolean LANGUAGE sql AS $$
      SELECT count(*) FILTER (WHERE kind = 'follows') = count(*) FILTER (WHERE kind = 'followed') FROM link $$;
    COMMENT ON FUNCTION both_ways IS '@invariant';";

/// The row that is in the way of ON CONFLICT DO NOTHING is not locked: it can be deleted before the transaction commits. At
/// SERIALIZABLE, too: PostgreSQL looks at that row without a snapshot, which is no read for it.
#[test]
fn on_conflict_do_nothing_does_not_hold_the_key() {
    for isolation in [ReadCommitted, RepeatableRead, Serializable] {
        assert_eq!(broken(FOLLOWERS, "a: follow(1, 2) | b: leave(1, 2)", isolation), ["both_ways()"]);
    }
}

const STOCK: &str = "
    CREATE TABLE part (id int PRIMARY KEY, n int NOT NULL);
    INSERT INTO part VALUES (1, 3), (2, 3);
    CREATE PROCEDURE use_if_enough(k int) LANGUAGE plpgsql AS $$ DECLARE total int; BEGIN
      SELECT sum(n) INTO total FROM part;
      IF total >= 6 THEN UPDATE part SET n = n - 3 WHERE id = k; END IF; END $$;
    CREATE PROCEDURE use_slowly(k int) LANGUAGE plpgsql AS $$ DECLARE m int; BEGIN
      SELECT n INTO m FROM part WHERE id = k; UPDATE part SET n = m - 1 WHERE id = k; END $$;
    CREATE PROCEDURE swap(k int, l int) LANGUAGE plpgsql AS $$ BEGIN
      UPDATE part SET n = n - 1 WHERE id = k; UPDATE part SET n = n + 1 WHERE id = l; END $$;
    CREATE PROCEDURE count_twice() LANGUAGE plpgsql AS $$ DECLARE m int; BEGIN
      SELECT sum(n) INTO m FROM part; ASSERT m = (SELECT sum(n) FROM part), 'both counts agree'; END $$;
    CREATE FUNCTION three_left() RETURNS boolean LANGUAGE sql AS $$ SELECT sum(n) >= 3 FROM part $$;
    COMMENT ON FUNCTION three_left IS '@invariant';
    CREATE FUNCTION used() RETURNS bigint LANGUAGE sql AS $$ SELECT 6 - sum(n) FROM part $$;
    COMMENT ON FUNCTION used IS '@monotone';";

#[test]
fn write_skew_needs_a_level_below_serializable() {
    for (isolation, expected) in [(ReadCommitted, 1), (RepeatableRead, 1), (Serializable, 0)] {
        assert_eq!(broken(STOCK, "a: use_if_enough(1) | b: use_if_enough(2)", isolation).len(), expected);
    }
}

#[test]
fn an_update_is_lost_at_read_committed_and_refused_at_repeatable_read() {
    let found = outcomes(&explored(STOCK, "a: use_slowly(1) | b: use_slowly(1)", ReadCommitted));
    assert_eq!(found, ["part: (1, 1) (2, 3)", "part: (1, 2) (2, 3)"]);
    let found = outcomes(&explored(STOCK, "a: use_slowly(1) | b: use_slowly(1)", RepeatableRead));
    assert_eq!(found, ["part: (1, 1) (2, 3)", "part: (1, 2) (2, 3) 40001"]);
}

#[test]
fn waiting_for_each_other_is_a_deadlock() {
    let found = outcomes(&explored(STOCK, "a: swap(1, 2) | b: swap(2, 1)", ReadCommitted));
    assert_eq!(found, ["part: (1, 2) (2, 4) 40P01", "part: (1, 3) (2, 3)", "part: (1, 4) (2, 2) 40P01"]);
}

/// What is committed between two statements of a procedure is seen at READ COMMITTED, and not at REPEATABLE READ; nor is
/// what is committed between CALL and the first statement.
#[test]
fn snapshots_are_taken_by_statement_or_by_call() {
    let client = "a: use_slowly(1) | b: count_twice()";
    assert_eq!(broken(STOCK, client, ReadCommitted), ["ASSERT “both counts agree”"]);
    assert!(broken(STOCK, client, RepeatableRead).is_empty());
    let mixed = format!("{STOCK} COMMENT ON PROCEDURE count_twice IS '@isolation repeatable read';");
    assert!(broken(&mixed, client, ReadCommitted).is_empty());
    let found = explored(STOCK, "a: use_if_enough(1) | b: use_if_enough(2)", RepeatableRead);
    assert!(found.behaviours.iter().any(|one| !one.broken.is_empty() && one.order.len() > 4));
}

/// A relative update takes back what another one has used, and nothing is lost; the value goes down all the same.
#[test]
fn a_monotone_value_is_compared_from_commit_to_commit() {
    let give_back = format!(
        "{STOCK} CREATE PROCEDURE give_back(k int) LANGUAGE sql AS $$ UPDATE part SET n = n + 1 WHERE id = k $$;"
    );
    let client = "a: use_slowly(1); give_back(1)";
    assert_eq!(broken(&give_back, client, Serializable), ["used() goes down"]);
    assert!(broken(&give_back, "a: use_slowly(1) | b: use_slowly(2)", Serializable).is_empty());
}

/// Other transactions go on between the statements of a procedure in SQL, too.
#[test]
fn statements_of_sql_procedures_are_interleaved() {
    let books = "
        CREATE TABLE book (id int PRIMARY KEY, n int NOT NULL); INSERT INTO book VALUES (1, 0), (2, 0);
        CREATE TABLE seen (s bigint);
        CREATE PROCEDURE write_both() LANGUAGE sql AS $$ UPDATE book SET n = 1 $$;
        CREATE PROCEDURE read_both() LANGUAGE sql AS $$
          INSERT INTO seen SELECT n FROM book WHERE id = 1; INSERT INTO seen SELECT n FROM book WHERE id = 2 $$;";
    let states = |isolation| {
        let explored = explored(books, "a: write_both() | b: read_both()", isolation);
        explored
            .behaviours
            .iter()
            .map(|one| one.state[1].clone())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>()
    };
    assert_eq!(states(ReadCommitted), ["seen: (0) (0)", "seen: (0) (1)", "seen: (1) (1)"]);
    assert_eq!(states(RepeatableRead), ["seen: (0) (0)", "seen: (1) (1)"]);
}

#[test]
fn a_limit_is_told_of_interleavings_too() {
    let database = Database::new(Options { choice: ChoiceKind::Postgres, ..Options::default() });
    database.checkpoint().expect("no other transaction is running");
    let client = Client::parse("a: SELECT 1 | b: SELECT 1").expect("a client");
    let limits = Limits { runs: 1, ..LIMITS };
    let explored = explore_interleaved(&database, &App::default(), &client, ReadCommitted, limits).expect("explored");
    assert_eq!((explored.runs, explored.limit.as_deref()), (1, Some("1 runs")));
}
