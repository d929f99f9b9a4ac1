//! A connection to a small database, for targets that run SQL.

use std::cell::RefCell;

use skew_sql::session::{Client, Connection, Database, Format, Options, Outcome};
use skew_sql::types::Datum;

const SCHEMA: &str = "
    CREATE TYPE mood AS ENUM ('sad', 'ok');
    CREATE TABLE t (id int PRIMARY KEY, n int, name text, price numeric(8,2), at timestamptz, tags text[], data jsonb);
    INSERT INTO t VALUES (1, 10, 'a', 1.5, '2024-02-29', '{x,y}', '{\"k\": [1, null]}'), (2, NULL, NULL, NULL, NULL, NULL, NULL);
    CREATE TABLE u (id serial PRIMARY KEY, t int REFERENCES t, mood mood DEFAULT 'ok', UNIQUE (t, mood));
    INSERT INTO u (t) VALUES (1);
    CREATE INDEX u_t ON u (t) WHERE t > 0;
    CREATE FUNCTION f(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN IF n > 0 THEN RETURN n; END IF; RETURN -n; END $$;
    CREATE FUNCTION s(n int) RETURNS SETOF t LANGUAGE sql AS $$ SELECT * FROM t WHERE t.id <= n $$;
    CREATE VIEW v AS SELECT id, n FROM t WHERE n > 1";

/// Runs the statements of a text until one fails; those with parameters get NULLs. What comes back is written in both
/// formats.
pub fn run(connection: &mut Connection, sql: &str) {
    if execute(connection, sql).is_err() {
        connection.fail();
    }
    let _ = connection.sync();
    connection.messages();
}

fn execute(connection: &mut Connection, sql: &str) -> skew_sql::error::Result<()> {
    for statement in connection.split(sql)? {
        let prepared = connection.prepare(&statement, &[])?;
        let parameters = vec![Datum::Null; prepared.parameters.len()];
        match connection.execute(&prepared, &parameters)? {
            Outcome::Rows { columns, rows, .. } => {
                let mut bytes = Vec::new();
                for (value, column) in rows.iter().flat_map(|row| row.iter().zip(columns.iter())) {
                    for format in [Format::Text, Format::Binary] {
                        bytes.clear();
                        if !value.is_null() {
                            connection.write_value(&mut bytes, value, column.typed.ty, format)?;
                        }
                    }
                }
            }
            Outcome::CopyIn { .. } => {
                connection.copy_data(b"1\t2\n\\N\t\\.\n")?;
                connection.copy_done(None)?;
            }
            _ => {}
        }
    }
    Ok(())
}

thread_local! {
    static CONNECTION: RefCell<(Connection, usize)> = RefCell::new((connect(), 0));
}

fn connect() -> Connection {
    let mut client = Client::new("postgres", "postgres");
    client.settings.push(("statement_timeout".to_owned(), "200".to_owned()));
    let options = Options { memory: 32 << 20, ..Options::default() };
    let mut connection = Database::new(options).connect(client);
    run(&mut connection, SCHEMA);
    connection
}

/// A connection with the small schema, and with what earlier inputs have left of it.
pub fn with_connection(act: impl FnOnce(&mut Connection)) {
    CONNECTION.with_borrow_mut(|(connection, count)| {
        act(connection);
        run(connection, "ROLLBACK");
        *count += 1;
        // What was changed and is still there does not pile up.
        if *count % 100 == 0 {
            *connection = connect();
        }
    });
}
