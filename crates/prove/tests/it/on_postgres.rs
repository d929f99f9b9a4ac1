//! Anomalies of snapshot isolation on a PostgreSQL of the test's own: its REPEATABLE READ lets them through, its
//! SERIALIZABLE refuses them.

use std::fmt::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use skew_model::Level;

use crate::confirm::{OVERDRAFT, READ_ONLY, found};
use crate::example;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

#[test]
fn a_write_skew_is_two_sessions() {
    let (found, _) = found(OVERDRAFT, Level::Si, "withdraw withdraw; 1 rw 2 account; 2 rw 1 account");
    let expected = "\
BEGIN ISOLATION LEVEL REPEATABLE READ; -- T1
BEGIN ISOLATION LEVEL REPEATABLE READ; -- T2
SELECT 'sees what is committed now'; -- T2
CALL withdraw(2, 1); -- T1
COMMIT; -- T1
CALL withdraw(1, 1); -- T2
COMMIT; -- T2
";
    let script = found.postgres_script().expect("snapshots are enough");
    assert_eq!(script, expected);
    shows(OVERDRAFT, &script);
}

#[test]
fn a_read_only_anomaly_is_three_sessions() {
    let app = example("smallbank.sql");
    let (found, _) = found(&app, Level::Si, READ_ONLY);
    shows(&app, &found.postgres_script().expect("snapshots are enough"));
}

#[test]
fn what_looks_again_within_a_call_is_no_script() {
    let text = "withdraw withdraw; 1 rw 2 account; 2 rw 1 account; 1.acct = 2.acct";
    let (found, _) = found(&example("withdraw.sql"), Level::Mvrc, text);
    let expected = "PostgreSQL cannot be made to look at another state within a call, as mvrc does";
    assert_eq!(found.postgres_script().expect_err("it cannot be told"), expected);
}

/// PostgreSQL does what a script says, and refuses it at SERIALIZABLE.
#[track_caller]
fn shows(app: &str, script: &str) {
    let Some(answers) = in_postgresql(app, script) else { return };
    assert!(!answers.contains("ERROR"), "{script}{answers}");
    let serializable = script.replace("REPEATABLE READ", "SERIALIZABLE");
    let answers = in_postgresql(app, &serializable).expect("there was one");
    assert!(answers.contains("could not serialize access"), "{serializable}{answers}");
}

/// What PostgreSQL answers to a script of several sessions; `None` where there is none.
fn in_postgresql(app: &str, script: &str) -> Option<String> {
    let has_postgresql = Command::new("sh")
        .args(["-c", "ls -d /usr/lib/postgresql/*/bin >/dev/null 2>&1 || command -v pg_config >/dev/null"])
        .status();
    if !has_postgresql.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no PostgreSQL");
        return None;
    }
    let port = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
    let folder = std::env::temp_dir().join(format!("skew-on-postgres-{port}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("app.sql"), app).expect("the application is written");
    std::fs::write(folder.join("run.sh"), shell(port, script)).expect("the script is written");
    let output = Command::new(root().join("bench/with-postgres.sh"))
        .arg(port.to_string())
        .args(["timeout", "60", "bash", "run.sh"])
        .current_dir(&folder)
        .output()
        .expect("bash runs");
    let answers = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{answers}");
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
    Some(answers)
}

/// Gives each line to the psql that it names, and waits until it is done.
fn shell(port: u16, script: &str) -> String {
    let psql = format!("psql -X -h 127.0.0.1 -p {port} -U postgres");
    let mut out = format!("set -e\n{psql} -q -f app.sql >/dev/null\n");
    for session in 1..=3 {
        let pipe = session + 10;
        let _ = writeln!(out, "mkfifo in{session}\n{psql} <in{session} 2>&1 &\nexec {pipe}>in{session}");
    }
    for (number, line) in script.lines().enumerate() {
        let (statement, session) = line.split_once(" -- T").expect("every line has a session");
        let pipe = session.parse::<usize>().expect("a number") + 10;
        let _ = writeln!(out, "cat >&{pipe} <<'END'\n{statement}\n\\! touch done{number}\nEND");
        let _ = writeln!(out, "while [ ! -e done{number} ]; do sleep 0.01; done");
    }
    out + "exec 11>&- 12>&- 13>&-\nwait\n"
}
