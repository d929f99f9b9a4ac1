//! The application files of `examples/apps`: each loads, every procedure runs through its branches, and Skew and PostgreSQL
//! answer alike.
//!
//! `examples/apps/calls/NAME.txt` is blocks with blank lines between them: a statement, a line `=>`, what PostgreSQL answers
//! to it: notices, then rows with `|` between values or a command's tag, or an error. The file is compared with a PostgreSQL
//! of the test's own; `SKEW_BLESS=1` writes its answers into the file.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use skew_sql::app::App;
use skew_sql::session::{Client, Connection, Database, Options};

use crate::plpgsql::answer;

/// A statement and the answer that is expected.
struct Block {
    statement: String,
    expected: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn app_file(name: &str) -> PathBuf {
    root().join("examples/apps").join(format!("{name}.sql"))
}

fn calls_file(name: &str) -> PathBuf {
    root().join("examples/apps/calls").join(format!("{name}.txt"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The applications, by name.
fn apps() -> Vec<String> {
    let files = std::fs::read_dir(root().join("examples/apps")).expect("the folder");
    let files = files.map(|file| file.expect("a file").path());
    let files = files.filter(|file| file.extension().is_some_and(|extension| extension == "sql"));
    let stem = |file: PathBuf| file.file_stem().expect("a name").to_string_lossy().into_owned();
    let names: BTreeSet<String> = files.map(stem).collect();
    names.into_iter().collect()
}

fn blocks(name: &str) -> Vec<Block> {
    let text = read(&calls_file(name));
    let blocks = text.split("\n\n").map(str::trim).filter(|block| !block.is_empty());
    let parts = blocks.map(|block| block.split_once("\n=>").expect("a statement and `=>`"));
    parts
        .map(|(statement, answer)| Block { statement: statement.to_owned(), expected: answer.trim().to_owned() })
        .collect()
}

fn connect(database: &Database) -> Connection {
    database.connect(Client::new("postgres", "apps"))
}

/// A database with the application in it.
pub(crate) fn load(name: &str, options: Options) -> Database {
    let database = Database::new(options);
    let mut connection = connect(&database);
    for sql in connection.split(&read(&app_file(name))).unwrap_or_else(|error| panic!("{name}: {error}")) {
        let done = connection.prepare(&sql, &[]).and_then(|statement| connection.execute(&statement, &[]));
        done.and_then(|_| connection.sync()).unwrap_or_else(|error| panic!("{name}: {error} in\n{sql}"));
    }
    drop(connection);
    database
}

/// An answer without the lines that say where in a body it happened.
fn without_context(answer: &str) -> String {
    let lines = answer.lines().filter(|line| !line.starts_with("  context: "));
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[test]
fn every_procedure_answers_as_in_postgresql() {
    let mut wrong = String::new();
    for name in apps() {
        let database = load(&name, Options::default());
        let mut connection = connect(&database);
        for block in blocks(&name) {
            let answer = without_context(&answer(&mut connection, &block.statement));
            if answer != block.expected {
                let Block { statement, expected } = block;
                let _ = writeln!(wrong, "{name}: {statement}\nexpected:\n{expected}\nbut was:\n{answer}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_procedure_of_every_application_is_called() {
    for name in apps() {
        let app = App::of(&load(&name, Options::default()).catalog()).expect("levels have names");
        let statements: Vec<String> = blocks(&name).into_iter().map(|block| block.statement).collect();
        for program in &app.programs {
            let call = format!("CALL {}(", program.name);
            let is_called = statements.iter().any(|statement| statement.starts_with(&call));
            assert!(is_called, "{name}: nothing calls {}", program.name);
        }
        for function in app.invariants.iter().chain(&app.monotone) {
            let is_asked = statements.iter().any(|statement| statement.contains(function));
            assert!(is_asked, "{name}: nothing asks for {function}");
        }
    }
}

#[test]
fn postgresql_loads_the_same_files_and_answers_so() {
    let apps = apps();
    let Some(output) = in_postgresql(&script(&apps)) else { return };
    let mut parts = output.split(MARK).map(str::trim_start).skip(1);
    let mut wrong = String::new();
    for name in &apps {
        let loaded = parts.next().expect("what loading says");
        assert!(!loaded.contains("ERROR"), "{name}: {loaded}");
        let mut written = Vec::new();
        for block in blocks(name) {
            let answer = without_context(&as_ours(parts.next().expect("an answer")));
            written.push(format!("{}\n=>\n{answer}", block.statement).trim_end().to_owned());
            if answer != block.expected {
                let Block { statement, expected } = block;
                let _ = writeln!(wrong, "{name}: {statement}\nexpected:\n{expected}\nbut PostgreSQL says:\n{answer}\n");
            }
        }
        if std::env::var_os("SKEW_BLESS").is_some() {
            std::fs::write(calls_file(name), written.join("\n\n") + "\n").expect("the file can be written");
        }
    }
    assert!(wrong.is_empty() || std::env::var_os("SKEW_BLESS").is_some(), "{wrong}");
}

/// What psql prints before an application is loaded and before each statement.
const MARK: &str = "===next===\n";

fn script(apps: &[String]) -> String {
    let mut script =
        "\\set VERBOSITY verbose\n\\pset null NULL\n\\pset format unaligned\n\\pset tuples_only on\n".to_owned();
    for name in apps {
        let _ = write!(script, "\\echo {MARK}SET client_min_messages = error;\nDROP SCHEMA public CASCADE;\n");
        script += "CREATE SCHEMA public;\nSET client_min_messages = notice;\n";
        let _ = writeln!(script, "\\i {}", app_file(name).display());
        for block in blocks(name) {
            let _ = writeln!(script, "\\echo {MARK}{};", block.statement);
        }
    }
    script
}

/// What psql prints for a script in a PostgreSQL that is there for this test only; `None` if there is no PostgreSQL.
fn in_postgresql(script: &str) -> Option<String> {
    let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let servers = Path::new("/usr/lib/postgresql");
    if !skew_testing::available("PostgreSQL", is_there("psql") && (servers.exists() || is_there("pg_config"))) {
        return None;
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("apps.sql");
    std::fs::write(&file, script).expect("the folder for tests can be written");
    let port = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port").port();
    // One pipe for both, so that errors stand where they happened.
    let psql = format!("exec psql -X -h 127.0.0.1 -p {port} -U postgres -d postgres < '{}' 2>&1", file.display());
    let output = Command::new(root().join("bench/with-postgres.sh"))
        .args([&port.to_string(), "sh", "-c", &psql])
        .env("PGTZ", "UTC")
        .env_remove("PGOPTIONS")
        .output()
        .expect("the script starts");
    assert!(output.status.success(), "PostgreSQL does not start: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("text"))
}

/// What psql prints at `VERBOSITY verbose`, in the words of our answers.
fn as_ours(printed: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut is_place = false;
    for line in printed.lines() {
        let message =
            ["ERROR", "NOTICE", "WARNING"].iter().find(|severity| line.starts_with(&format!("{severity}:  ")));
        if let Some(severity) = message {
            is_place = false;
            lines.push(format!("{severity} {}", line[severity.len() + 1..].trim_start()));
        } else if let Some(detail) = line.strip_prefix("DETAIL:  ") {
            lines.push(format!("  detail: {detail}"));
        } else if let Some(hint) = line.strip_prefix("HINT:  ") {
            lines.push(format!("  hint: {hint}"));
        } else if ["CONTEXT:  ", "SCHEMA NAME:  ", "QUERY:  "].iter().any(|field| line.starts_with(field)) {
            // Its text may go on in the next lines; the place in PostgreSQL's source comes last.
            is_place = true;
        } else if line.starts_with("LOCATION:  ") {
            is_place = false;
        } else if !is_place {
            lines.push(line.to_owned());
        }
    }
    lines.join("\n")
}
