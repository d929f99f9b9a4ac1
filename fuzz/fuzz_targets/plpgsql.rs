//! Any text as the body of a block, of a function and of a trigger: no panic, no hang.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../small_database.rs"]
mod small_database;
use small_database::run;

fuzz_target!(|body: &str| {
    if body.contains("$fuzz$") {
        return;
    }
    small_database::with_connection(|connection| {
        run(connection, &format!("DO $fuzz${body}$fuzz$"));
        run(connection, "ROLLBACK");
        let function = format!("FUNCTION g(a int, b text) RETURNS text LANGUAGE plpgsql AS $fuzz${body}$fuzz$");
        run(connection, &format!("BEGIN; CREATE {function}; SELECT g(1, 'x'); SELECT g(id, name) FROM t"));
        run(connection, "ROLLBACK");
        let trigger = format!("FUNCTION h() RETURNS trigger LANGUAGE plpgsql AS $fuzz${body}$fuzz$");
        let made = "CREATE TRIGGER h BEFORE INSERT OR UPDATE OR DELETE ON u FOR EACH ROW EXECUTE FUNCTION h()";
        let used = "INSERT INTO u (t) VALUES (1); UPDATE u SET t = 2; DELETE FROM u";
        run(connection, &format!("BEGIN; CREATE {trigger}; {made}; {used}"));
    });
});
