//! Any text as SQL, over a small schema: parsed, bound, and if that succeeds executed for a moment. No panic, no hang.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../small_database.rs"]
mod small_database;

fuzz_target!(|sql: &str| {
    small_database::with_connection(|connection| small_database::run(connection, sql));
});
