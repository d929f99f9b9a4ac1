//! Runs `queries/*.txt` and `schema/*.txt`: statements and the answers that PostgreSQL 15 gives to them.
//!
//! A file is blocks with blank lines between them: a statement, a line `=>`, the answer. An answer is rows with `|` between
//! values, or a command's tag, or `ERROR state: message` (in `schema` with its details). `queries/answers.py` asks a PostgreSQL
//! for the answers.

use std::fmt::Write;
use std::path::Path;

use skew_sql::error::SqlError;
use skew_sql::session::{Client, Connection, Database, Format, Options, Outcome};

#[test]
fn queries_are_answered_as_postgresql_answers_them() {
    check_folder("queries", Errors::Short);
}

#[test]
fn objects_depend_on_each_other_as_in_postgresql() {
    check_folder("schema", Errors::Detailed);
}

/// How much of an error is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Errors {
    Short,
    Detailed,
}

fn check_folder(folder: &str, errors: Errors) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(folder);
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).expect("the folder").map(|file| file.expect("a file").path()).collect();
    files.sort();
    let mut wrong = String::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "txt")) {
        let text = std::fs::read_to_string(file).expect("a text");
        let name = file.file_name().expect("a name").to_string_lossy();
        check_file(&name, &text, errors, &mut wrong);
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn check_file(name: &str, text: &str, errors: Errors, wrong: &mut String) {
    let mut connection = Database::new(Options::default()).connect(Client::new("tester", "test"));
    for block in text.split("\n\n").map(|block| block.trim_matches('\n')).filter(|block| !block.is_empty()) {
        let lines = block.lines().filter(|line| !line.starts_with('#'));
        let block = lines.collect::<Vec<_>>().join("\n");
        let Some((sql, expected)) = block.split_once("\n=>") else { continue };
        let answer = answer(&mut connection, sql, errors);
        if answer.trim() != expected.trim() {
            let _ = writeln!(wrong, "{name}:\n{sql}\nexpected:{expected}\nbut was:\n{answer}\n");
        }
    }
}

fn answer(connection: &mut Connection, sql: &str, errors: Errors) -> String {
    let result = connection.prepare(sql, &[]).and_then(|statement| connection.execute(&statement, &[]));
    let shown = result.and_then(|outcome| show(connection, outcome));
    let ended = connection.sync();
    match shown.and_then(|text| ended.map(|()| text)) {
        Ok(text) => text,
        Err(error) => {
            let fields = error.fields();
            let mut text = format!("ERROR {}: {}", fields.code, fields.message);
            let more = [("DETAIL", &fields.detail), ("HINT", &fields.hint)];
            for (word, part) in more.into_iter().filter(|_| errors == Errors::Detailed) {
                if let Some(part) = part {
                    let _ = write!(text, "\n{word}:  {part}");
                }
            }
            text
        }
    }
}

fn show(connection: &mut Connection, outcome: Outcome) -> Result<String, SqlError> {
    let (columns, rows) = match outcome {
        Outcome::Rows { columns, rows, .. } => (columns, rows),
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
    Ok(text)
}
