//! Any text as SQL, over a small schema: parsed, bound, and if that succeeds executed for a moment. No panic, no hang.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use skew_sql::session::{Client, Connection, Database, Options};

const SCHEMA: &str = "
    CREATE TABLE t (id int PRIMARY KEY, n int, name text, price numeric(8,2), at timestamptz, tags text[], data jsonb);
    INSERT INTO t VALUES (1, 10, 'a', 1.5, '2024-02-29', '{x,y}', '{\"k\": [1, null]}'), (2, NULL, NULL, NULL, NULL, NULL, NULL);
    CREATE TABLE u (id serial PRIMARY KEY, t int REFERENCES t);
    CREATE FUNCTION f(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN IF n > 0 THEN RETURN n; END IF; RETURN -n; END $$;
    CREATE VIEW v AS SELECT id, n FROM t WHERE n > 1";

fn run(connection: &mut Connection, sql: &str) {
    let Ok(statements) = connection.split(sql) else { return };
    for statement in statements {
        match connection.prepare(&statement, &[]) {
            Ok(prepared) if prepared.parameters.is_empty() => {
                if connection.execute(&prepared, &[]).is_err() {
                    break;
                }
            }
            Ok(_) => {}
            Err(_) => {
                connection.fail();
                break;
            }
        }
    }
    let _ = connection.sync();
}

thread_local! {
    static CONNECTION: RefCell<(Connection, usize)> = RefCell::new((connect(), 0));
}

fn connect() -> Connection {
    let mut client = Client::new("postgres", "postgres");
    client.settings.push(("statement_timeout".to_owned(), "200".to_owned()));
    let mut connection = Database::new(Options::default()).connect(client);
    run(&mut connection, SCHEMA);
    connection
}

fuzz_target!(|sql: &str| {
    CONNECTION.with_borrow_mut(|(connection, count)| {
        run(connection, sql);
        run(connection, "ROLLBACK");
        *count += 1;
        // What was changed and is still there does not pile up.
        if *count % 200 == 0 {
            *connection = connect();
        }
    });
});
