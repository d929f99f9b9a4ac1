//! `skew test` on clients of psql: what it prints as a fix was tried, complete, and is the right one for the kind of race.

use serde_json::Value;

use crate::campaign::has_psql;
use crate::cause::two_clients;

/// The changes that passed, as `fix | sql; sql`, and those that failed.
struct Advice {
    tried: Vec<(String, String)>,
    failed: Vec<String>,
    out: String,
}

/// What is advised for two clients of which each runs a script.
fn advice(name: &str, setup: &str, clients: [&str; 2], check: (&str, &str)) -> Advice {
    let (done, results, _shop) = two_clients(name, setup, clients, check, &["-n", "30", "--tries", "12"]);
    assert_eq!(done.code, 1, "{}{}", done.out, done.err);
    let why = &results["failure"]["why"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let tried = list(&why["tried"]).into_iter().map(|fix| {
        let sql: Vec<String> = list(&fix["sql"]).iter().map(text).collect();
        assert!(fix["runs"].is_u64() != fix["explored"].is_u64(), "{fix}");
        (text(&fix["fix"]), sql.join("; "))
    });
    let failed = list(&why["failed"]).iter().map(|fix| text(&fix["fix"])).collect();
    Advice { tried: tried.collect(), failed, out: done.out }
}

impl Advice {
    fn sql(&self) -> Vec<&str> {
        self.tried.iter().map(|(_, sql)| sql.as_str()).collect()
    }
}

const STOCK: &str = "CREATE TABLE \"Item\" (id int PRIMARY KEY, stock int NOT NULL);\nINSERT INTO \"Item\" VALUES (1, 1);\n\
                     CREATE TABLE sale (id serial PRIMARY KEY, item int NOT NULL);\n";

/// Sells if there is something left, with the UPDATE that is given.
fn buy(update: &str) -> String {
    format!(
        "BEGIN;\nSELECT stock, stock > 0 AS some FROM \"Item\" WHERE id = 1 \\gset\n\\if :some\n{update}\n\
         INSERT INTO sale (item) VALUES (1);\n\\endif\nCOMMIT;\n"
    )
}

#[test]
fn a_check_before_a_decrement_belongs_into_the_update() {
    if !has_psql() {
        return;
    }
    let own = buy("UPDATE \"Item\" SET stock = :stock - 1 WHERE id = 1;");
    let found = advice("guard", STOCK, [&own, &own], ("SELECT count(*) FROM sale", "1"));
    assert_eq!(
        found.sql()[..2],
        [
            "UPDATE \"Item\" SET stock = stock - 1 WHERE id = 1 AND stock >= 1",
            "SELECT stock, stock > 0 AS some FROM \"Item\" WHERE id = 1 FOR UPDATE",
        ],
        "{}",
        found.out
    );
    assert!(found.out.contains("look at its row count"), "{}", found.out);
    assert!(found.out.contains("(explored: none of "), "{}", found.out);
    assert!(found.out.contains("(tried: 12 runs passed)"), "{}", found.out);
}

#[test]
fn arithmetic_in_the_update_is_no_fix_for_a_check_before_it() {
    if !has_psql() {
        return;
    }
    let own = buy("UPDATE \"Item\" SET stock = stock - 1 WHERE id = 1;");
    let found = advice("bound", STOCK, [&own, &own], ("SELECT count(*) FROM sale", "1"));
    assert_eq!(found.sql()[0], "UPDATE \"Item\" SET stock = stock - 1 WHERE id = 1 AND stock >= 1", "{}", found.out);
    assert!(
        found.sql().iter().all(|sql| *sql != "UPDATE \"Item\" SET stock = stock - 1 WHERE id = 1"),
        "{}",
        found.out
    );
}

const PAGE: &str = "CREATE TABLE page (id int PRIMARY KEY, views int NOT NULL, title text NOT NULL);\n\
                    INSERT INTO page VALUES (1, 10, 'skew');\n";

#[test]
fn a_counter_is_computed_in_the_update() {
    if !has_psql() {
        return;
    }
    let count = |more: u32| {
        format!(
            "BEGIN;\nSELECT id, title, views FROM page WHERE id = 1 \\gset\n\
             UPDATE page SET title = :'title', views = :views + {more} WHERE id = :id;\nCOMMIT;\n"
        )
    };
    let found = advice("counter", PAGE, [&count(2), &count(3)], ("SELECT views FROM page", "15"));
    let expected =
        ["2", "3"].map(|more| format!("UPDATE page SET title = 'skew', views = views + {more} WHERE id = 1"));
    assert!(expected.iter().any(|sql| found.sql()[0].starts_with(sql.as_str())), "{}", found.out);
}

#[test]
fn states_are_never_computed_with() {
    if !has_psql() {
        return;
    }
    let setup = "CREATE TABLE orders (id int PRIMARY KEY, state int NOT NULL);\nINSERT INTO orders VALUES (1, 1);\n\
                 CREATE TABLE parcel (id serial PRIMARY KEY, orders int NOT NULL);\n";
    let ship = "BEGIN;\nSELECT state = 1 AS is_new FROM orders WHERE id = 1 \\gset\n\\if :is_new\n\
                UPDATE orders SET state = 2 WHERE id = 1;\nINSERT INTO parcel (orders) VALUES (1);\n\\endif\nCOMMIT;\n";
    let found = advice("states", setup, [ship, ship], ("SELECT count(*) FROM parcel", "1"));
    assert!(found.sql().iter().all(|sql| !sql.contains("state + ") && !sql.contains("state - ")), "{}", found.out);
    assert!(found.sql().contains(&"SELECT state = 1 AS is_new FROM orders WHERE id = 1 FOR UPDATE"), "{}", found.out);
}

#[test]
fn a_row_that_is_looked_for_and_inserted_is_unique() {
    if !has_psql() {
        return;
    }
    let setup = "CREATE TABLE login (id serial PRIMARY KEY, name text NOT NULL);\n";
    let sign_up = "BEGIN;\nSELECT NOT EXISTS (SELECT 1 FROM login WHERE name = 'ada') AS is_free \\gset\n\\if :is_free\n\
                   INSERT INTO login (name) VALUES ('ada');\n\\endif\nCOMMIT;\n";
    let found = advice("unique", setup, [sign_up, sign_up], ("SELECT count(*) FROM login", "1"));
    assert_eq!(
        found.sql()[0],
        "CREATE UNIQUE INDEX ON login (name); INSERT INTO login (name) VALUES ('ada') ON CONFLICT (name) DO NOTHING",
        "{}",
        found.out
    );
}

#[test]
fn a_unique_index_is_no_fix_where_several_rows_are_right() {
    if !has_psql() {
        return;
    }
    let setup = "CREATE TABLE room (id int PRIMARY KEY, seats int NOT NULL);\nINSERT INTO room VALUES (1, 2);\n\
                 CREATE TABLE booking (id serial PRIMARY KEY, room int NOT NULL REFERENCES room);\n\
                 INSERT INTO booking (room) VALUES (1);\n";
    let book = "BEGIN;\nSELECT seats FROM room WHERE id = 1 \\gset\n\
                SELECT count(*) < :seats AS is_free FROM booking WHERE room = 1 \\gset\n\\if :is_free\n\
                INSERT INTO booking (room) VALUES (1);\n\\endif\nCOMMIT;\n";
    let found = advice("seats", setup, [book, book], ("SELECT count(*) FROM booking", "2"));
    assert!(found.sql().iter().all(|sql| !sql.contains("UNIQUE")), "{}", found.out);
    assert!(found.sql()[0].starts_with("SELECT 1 FROM room WHERE id = 1 FOR UPDATE; "), "{}", found.out);
    assert!(found.failed.iter().any(|words| words.contains("REPEATABLE READ")), "{}", found.out);
}

#[test]
fn a_job_is_taken_with_skip_locked_or_by_its_state() {
    if !has_psql() {
        return;
    }
    let setup = "CREATE TABLE job (id int PRIMARY KEY, state text NOT NULL);\n\
                 INSERT INTO job VALUES (1, 'new'), (2, 'new');\nCREATE TABLE done (job int NOT NULL);\n";
    let claim = "BEGIN;\nSELECT id FROM job WHERE state = 'new' ORDER BY id LIMIT 1 \\gset\n\
                 UPDATE job SET state = 'taken' WHERE id = :id;\nINSERT INTO done VALUES (:id);\nCOMMIT;\n";
    let found = advice("claim", setup, [claim, claim], ("SELECT count(DISTINCT job) FROM done", "2"));
    let sql = found.sql();
    assert_eq!(
        sql[0], "SELECT id FROM job WHERE state = 'new' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED",
        "{}",
        found.out
    );
    assert!(
        sql.contains(&"UPDATE job SET state = 'taken' WHERE id = 1 AND state = 'new'"),
        "{:?}\n{}",
        found.failed,
        found.out
    );
}
