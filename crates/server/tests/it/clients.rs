//! Real drivers and frameworks, each with a program of its own under `tests/clients`. `install.sh` there gets what they
//! need; a test whose driver is missing is skipped.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::target::Target;

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

/// Something that `install.sh` has installed.
fn installed(path: &str) -> Option<PathBuf> {
    let folder =
        std::env::var_os("SKEW_CLIENTS").map_or_else(|| programs().join("../../../../target/clients"), PathBuf::from);
    let path = folder.join(path);
    let what = format!("{} (crates/server/tests/clients/install.sh gets it)", path.display());
    skew_testing::available(&what, path.exists()).then_some(path)
}

#[track_caller]
fn passes(command: &mut Command) {
    let output = output_within(Duration::from_secs(300), command.current_dir(programs()));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
}

/// What a program says, which is stopped if it takes too long: one that waits forever says where, too.
fn output_within(time: Duration, command: &mut Command) -> Output {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let pid = child.id().to_string();
    let (done, waits) = mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        if waits.recv_timeout(time) == Err(mpsc::RecvTimeoutError::Timeout) {
            let _ = Command::new("kill").arg(&pid).status();
        }
    });
    let output = child.wait_with_output().expect("the program ends");
    drop(done);
    watch.join().expect("no panic");
    output
}

fn python(program: &str) {
    if let Some(python) = installed("python/bin/python") {
        passes(Target::new().command(python).arg(program));
    }
}

#[test]
fn psycopg_works() {
    python("psycopg_client.py");
}

#[test]
fn sqlalchemy_works() {
    python("sqlalchemy_client.py");
}

#[test]
fn django_works() {
    python("django_client.py");
}

#[test]
fn node_postgres_works() {
    if let Some(modules) = installed("node/node_modules") {
        passes(Target::new().command("node").env("NODE_PATH", modules).arg("node_client.js"));
    }
}

#[test]
fn sequelize_works() {
    if let Some(modules) = installed("sequelize/node_modules") {
        passes(Target::new().command("node").env("NODE_PATH", modules).arg("sequelize_client.js"));
    }
}

#[test]
fn spring_boot_with_hibernate_and_liquibase_works() {
    if let Some(program) = installed("spring/shop.jar") {
        passes(Target::new().command("java").arg("-jar").arg(program));
    }
}

#[test]
fn jdbc_works() {
    if let Some(driver) = installed("jdbc/postgresql.jar") {
        passes(Target::new().command("java").arg("-cp").arg(driver).arg("JdbcClient.java"));
    }
}

#[test]
fn sqlx_works() {
    if let Some(program) = installed("sqlx/debug/skew-sqlx-client") {
        passes(&mut Target::new().command(program));
    }
}
