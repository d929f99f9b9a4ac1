//! Expressions and their answers: every file in `expressions/` is a test.
//!
//! A line that begins at the margin is an expression (or a whole SELECT); the indented lines below it are its rows. `!`
//! begins a statement that is run for its effect, `#` a comment. The answers are those of PostgreSQL 15: with
//! `SKEW_ORACLE="psql -h … -U …"` (a server that nobody needs: its schema `public` is dropped) and `--test-threads=1` the
//! files are written anew with what that server says.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use skew_sql::error::{Result, SqlError};
use skew_sql::session::{Client, Connection, Database, Format, Options, Outcome};

/// What stands in a file.
#[derive(Clone, PartialEq, Debug)]
enum Entry {
    /// A comment or an empty line, as it is.
    Other(String),
    /// A statement that is run for its effect.
    Run(String),
    /// An expression, and its answer.
    Ask(String, Vec<String>),
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/expressions")
}

fn read(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for line in text.lines() {
        if let Some(answer) = line.strip_prefix("  ") {
            match entries.last_mut() {
                Some(Entry::Ask(_, answers)) => answers.push(answer.to_owned()),
                _ => panic!("an answer without a question: {line}"),
            }
        } else if line.is_empty() || line.starts_with('#') {
            entries.push(Entry::Other(line.to_owned()));
        } else if let Some(statement) = line.strip_prefix("! ") {
            entries.push(Entry::Run(statement.to_owned()));
        } else {
            entries.push(Entry::Ask(line.to_owned(), Vec::new()));
        }
    }
    entries
}

/// The statement that an expression is asked by.
fn statement(question: &str) -> String {
    let first = question.split_whitespace().next().unwrap_or("").to_ascii_lowercase();
    match first.as_str() {
        "select" | "with" | "values" | "show" => question.to_owned(),
        _ => format!("SELECT {question}"),
    }
}

/// One line a row; the lines of a value and the empty text are marked, because the file has lines too.
fn shown(rows: Vec<String>) -> Vec<String> {
    if rows.is_empty() {
        return vec!["(no rows)".to_owned()];
    }
    let shown = |row: String| if row.is_empty() { "(empty)".to_owned() } else { row.replace('\n', "␤") };
    rows.into_iter().map(shown).collect()
}

struct Skew(Connection);

impl Skew {
    fn new() -> Skew {
        Skew(Database::new(Options::default()).connect(Client::new("postgres", "postgres")))
    }

    fn run(&mut self, sql: &str) -> Result<Vec<String>> {
        // What psql sends ends with a semicolon, and errors may name it.
        let prepared = self.0.prepare(&format!("{sql};"), &[])?;
        let Outcome::Rows { columns, rows, .. } = self.0.execute(&prepared, &[])? else { return Ok(Vec::new()) };
        let mut shown = Vec::new();
        for row in rows {
            let mut fields = Vec::new();
            for (value, column) in row.iter().zip(columns.iter()) {
                let mut out = Vec::new();
                self.0.write_value(&mut out, value, column.typed.ty, Format::Text)?;
                let text = String::from_utf8(out).expect("values are shown in UTF-8");
                fields.push(if value.is_null() { "NULL".to_owned() } else { text });
            }
            shown.push(fields.join("|"));
        }
        Ok(shown)
    }

    fn answer(&mut self, sql: &str) -> Vec<String> {
        let answer = self.run(sql).and_then(|rows| self.0.sync().map(|()| rows));
        answer.map_or_else(|error| self.failed(&error), shown)
    }

    fn failed(&mut self, error: &SqlError) -> Vec<String> {
        self.0.fail();
        let _ = self.0.sync();
        vec![format!("ERROR {}: {}", error.fields().code, error.fields().message)]
    }
}

fn check(path: &Path) -> Vec<String> {
    let mut skew = Skew::new();
    let mut wrong = Vec::new();
    for entry in read(&std::fs::read_to_string(path).expect("the file is there")) {
        match entry {
            Entry::Other(_) => {}
            Entry::Run(sql) => {
                let answer = skew.answer(&sql);
                if answer[0].starts_with("ERROR") {
                    wrong.push(format!("{sql}\n  {}", answer[0]));
                }
            }
            Entry::Ask(question, expected) => {
                let answer = skew.answer(&statement(&question));
                if answer != expected {
                    wrong.push(format!(
                        "{question}\n  PostgreSQL: {}\n  Skew:       {}",
                        expected.join(" / "),
                        answer.join(" / ")
                    ));
                }
            }
        }
    }
    wrong
}

/// Asks the real thing: all questions of a file in one session, divided by marks.
fn ask_oracle(oracle: &str, path: &Path) {
    let entries = read(&std::fs::read_to_string(path).expect("the file is there"));
    let mut script = String::from("\\set VERBOSITY verbose\n\\pset null NULL\nSET client_min_messages = error;\n");
    script.push_str("SET timezone = 'UTC';\nDROP SCHEMA public CASCADE; CREATE SCHEMA public;\n");
    for entry in &entries {
        match entry {
            Entry::Other(_) => {}
            Entry::Run(sql) => writeln!(script, "{sql};").expect("a text can be written to"),
            Entry::Ask(question, _) => {
                writeln!(script, "\\echo \u{1}\n{};", statement(question)).expect("a text can be written to");
            }
        }
    }
    let command = format!("{oracle} -X -q -A -t -R \u{2} 2>&1");
    let mut child = Command::new("sh")
        .args(["-c", &command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the oracle runs");
    let mut input = child.stdin.take().expect("the input is piped");
    let writer = std::thread::spawn(move || {
        std::io::Write::write_all(&mut input, script.as_bytes()).expect("the oracle reads");
    });
    let output = child.wait_with_output().expect("the oracle ends");
    writer.join().expect("the script was written");
    let output = String::from_utf8(output.stdout).expect("the oracle speaks UTF-8");
    let mut answers = output.split("\u{1}\n").skip(1);
    let mut text = String::new();
    for entry in entries {
        match entry {
            Entry::Other(line) => writeln!(text, "{line}"),
            Entry::Run(sql) => writeln!(text, "! {sql}"),
            Entry::Ask(question, _) => {
                let answer = oracle_answer(answers.next().expect("an answer for every question"));
                writeln!(text, "{question}\n  {}", answer.join("\n  "))
            }
        }
        .expect("a text can be written to");
    }
    std::fs::write(path, text).expect("the file can be written");
}

fn oracle_answer(output: &str) -> Vec<String> {
    if let Some(error) = output.strip_prefix("ERROR:  ") {
        return vec![format!("ERROR {}", error.lines().next().unwrap_or(""))];
    }
    if output.is_empty() {
        return shown(Vec::new());
    }
    let rows = output.strip_suffix('\n').unwrap_or(output);
    shown(rows.split('\u{2}').map(str::to_owned).collect())
}

fn file(name: &str) {
    let path = folder().join(name);
    if let Ok(oracle) = std::env::var("SKEW_ORACLE") {
        ask_oracle(&oracle, &path);
    }
    let wrong = check(&path);
    assert!(wrong.is_empty(), "{} answers differ in {name}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_postgresql_has_and_skew_has_not_is_refused_as_such() {
    let mut skew = Skew::new();
    for (question, answer) in [
        ("to_tsvector('x')", "ERROR 0A000: the function to_tsvector(unknown) is not supported by Skew"),
        ("ts_rank('x', 'y')", "ERROR 0A000: the function ts_rank(unknown, unknown) is not supported by Skew"),
        ("int4eq(1, 2)", "ERROR 0A000: the function int4eq(integer, integer) is not supported by Skew"),
        ("int4eq(1, true)", "ERROR 42883: function int4eq(integer, boolean) does not exist"),
        ("to_tsvector(1, 2, 3)", "ERROR 42883: function to_tsvector(integer, integer, integer) does not exist"),
    ] {
        assert_eq!(skew.answer(&statement(question)), [answer], "{question}");
    }
}

macro_rules! files {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            file(concat!(stringify!($name), ".txt"));
        })*

        #[test]
        fn every_file_is_a_test() {
            let known = [$(concat!(stringify!($name), ".txt")),*];
            for entry in std::fs::read_dir(folder()).expect("the folder is there") {
                let name = entry.expect("its entries can be read").file_name();
                assert!(known.iter().any(|known| name == *known), "{name:?} is in no test");
            }
        }
    };
}

files! { text patterns numbers comparisons json arrays datetime formatting overloads edges others aggregates catalogs definitions }
