//! Runs `plpgsql/*.txt`: statements, and what PostgreSQL 15 answers to them and says meanwhile.
//!
//! A file is blocks with blank lines between them: a statement, a line `=>`, the answer. An answer is the messages that came
//! (`NOTICE state: text`), then rows with `|` between values, or a command's tag, or `ERROR state: message` and its fields
//! below. `plpgsql/answers.py` asks a PostgreSQL for the answers.

use std::fmt::Write;
use std::path::Path;

use skew_sql::error::SqlError;
use skew_sql::session::{Client, Connection, Database, Format, Message, Options, Outcome};

#[test]
fn bodies_run_as_in_postgresql() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/plpgsql");
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).expect("the folder").map(|file| file.expect("a file").path()).collect();
    files.sort();
    let mut wrong = String::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "txt")) {
        let text = std::fs::read_to_string(file).expect("a text");
        let name = file.file_name().expect("a name").to_string_lossy();
        check_file(&name, &text, &mut wrong);
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn check_file(name: &str, text: &str, wrong: &mut String) {
    let mut connection = Database::new(Options::default()).connect(Client::new("tester", "test"));
    for block in text.split("\n\n").map(|block| block.trim_matches('\n')).filter(|block| !block.is_empty()) {
        let lines = block.lines().filter(|line| !line.starts_with("# "));
        let block = lines.collect::<Vec<_>>().join("\n");
        let Some((sql, expected)) = block.split_once("\n=>") else { continue };
        let answer = answer(&mut connection, sql);
        if answer.trim() != expected.trim() {
            let _ = writeln!(wrong, "{name}:\n{sql}\nexpected:{expected}\nbut was:\n{answer}\n");
        }
    }
}

pub(crate) fn answer(connection: &mut Connection, sql: &str) -> String {
    let result = connection.prepare(sql, &[]).and_then(|statement| connection.execute(&statement, &[]));
    let shown = result.and_then(|outcome| show(connection, outcome));
    let ended = connection.sync();
    let mut text = String::new();
    for message in connection.messages() {
        if let Message::Notice(severity, notice) = message {
            let _ = writeln!(text, "{}", told(severity, &notice, false));
        }
    }
    match shown.and_then(|rows| ended.map(|()| rows)) {
        Ok(rows) => text.push_str(&rows),
        Err(error) => text.push_str(&told("ERROR", &error, true)),
    }
    text
}

fn told(severity: &str, message: &SqlError, with_context: bool) -> String {
    let fields = message.fields();
    let mut text = format!("{severity} {}: {}", fields.code, fields.message);
    let context = fields.context.as_deref().filter(|_| with_context);
    let lines = |name: &'static str, field: Option<&str>| {
        let lines: Vec<String> =
            field.into_iter().flat_map(str::lines).map(|line| format!("\n  {name}: {line}")).collect();
        lines.concat()
    };
    text.push_str(&lines("detail", fields.detail.as_deref()));
    text.push_str(&lines("hint", fields.hint.as_deref()));
    text.push_str(&lines("context", context));
    text
}

fn show(connection: &mut Connection, outcome: Outcome) -> Result<String, SqlError> {
    let (columns, rows, tag) = match outcome {
        Outcome::Rows { columns, rows, tag } => (columns, rows, tag),
        Outcome::Done(tag) => return Ok(tag),
        other => return Ok(format!("{other:?}")),
    };
    let mut text = String::new();
    for row in rows {
        let mut values = Vec::new();
        for (value, column) in row.iter().zip(columns.iter()) {
            let mut bytes = Vec::new();
            match value.is_null() {
                true => bytes.extend_from_slice(b"NULL"),
                false => connection.write_value(&mut bytes, value, column.typed.ty, Format::Text)?,
            }
            values.push(String::from_utf8_lossy(&bytes).into_owned());
        }
        text.push_str(&values.join("|"));
        text.push('\n');
    }
    // As psql shows it: the tag of a change comes after its rows.
    if ["INSERT", "UPDATE", "DELETE", "MERGE"].iter().any(|word| tag.starts_with(word)) {
        text.push_str(&tag);
    }
    Ok(text)
}
