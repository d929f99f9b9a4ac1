//! Every driver's own way of closing ends under `skew test`. A pool that waits for an answer that never comes would hang the
//! command, which PostgreSQL does not do. `crates/server/tests/clients/install.sh` gets the drivers; a test whose driver is
//! missing is skipped.

use std::path::{Path, PathBuf};

use crate::run::{root, skew};

fn programs() -> PathBuf {
    root().join("crates/server/tests/clients/closing")
}

/// Where `install.sh` installs.
fn clients() -> PathBuf {
    std::env::var_os("SKEW_CLIENTS").map_or_else(|| root().join("target/clients"), PathBuf::from)
}

/// Something that `install.sh` has installed.
fn installed(path: &str) -> Option<PathBuf> {
    let path = clients().join(path);
    let what = format!("{} (crates/server/tests/clients/install.sh gets it)", path.display());
    skew_testing::available(&what, path.exists()).then_some(path)
}

/// Runs the command under `skew test`: all runs end in time and pass.
#[track_caller]
fn ends(command: &[&Path], kind: &str) {
    let mut arguments = vec!["test", "-i", "read-committed", "-n", "3", "--seed", "1", "--timeout", "30", "--"];
    arguments.extend(command.iter().map(|word| word.to_str().expect("paths in UTF-8")));
    arguments.push(kind);
    let done = skew(&arguments);
    assert_eq!(done.code, 0, "{kind}:\n{}{}", done.out, done.err);
}

#[test]
fn every_python_driver_closes() {
    let Some(python) = installed("pools/bin/python") else { return };
    let kinds = [
        "asyncpg_pool",
        "asyncpg_connection",
        "psycopg_pool",
        "psycopg_async_pool",
        "psycopg2_pool",
        "sqlalchemy_dispose",
        "sqlalchemy_async_dispose",
    ];
    for kind in kinds {
        ends(&[&python, &programs().join("closing.py")], kind);
    }
}

#[test]
fn every_node_driver_closes() {
    let Some(modules) = installed("postgresjs/node_modules") else { return };
    let search = format!("NODE_PATH={}", modules.display());
    for kind in ["pool_end", "client_end", "postgresjs_end"] {
        ends(&[Path::new("env"), Path::new(&search), Path::new("node"), &programs().join("closing.js")], kind);
    }
}

#[test]
fn every_go_driver_closes() {
    // Not every machine that runs these tests has Go.
    let program = clients().join("closing-go");
    if !program.exists() {
        return skew_testing::skip("no Go drivers");
    }
    for kind in ["pgx_pool", "lib_pq", "pgx_stdlib"] {
        ends(&[&program], kind);
    }
}

#[test]
fn jdbc_connections_and_hikaris_pool_close() {
    let Some(folder) = installed("hikari").filter(|folder| folder.join("postgresql.jar").exists()) else { return };
    let jars = folder.join("*");
    for kind in ["connection", "pool"] {
        ends(&[Path::new("java"), Path::new("-cp"), &jars, &programs().join("Closing.java")], kind);
    }
}
