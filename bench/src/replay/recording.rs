//! Files of recorded statements → lists of them, with the schema that each list needs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What stands between two statements.
const SEPARATOR: &str = "--;;--";

/// What starts a part of a file with statements of several clients.
const SECTION: &str = "-- ==== ";

/// Catalog queries of these clients are about tables that another one made.
const SCHEMA_OF: [(&str, &str); 1] = [("pg_dump", "psql")];

/// Statements that belong to one database.
pub(super) struct Recording {
    pub(super) name: String,
    /// Statements that make the tables, run before, compared elsewhere.
    pub(super) schema: Vec<String>,
    pub(super) statements: Vec<String>,
}

/// Reads files, `.gz` too. A file with sections gives a recording for each, with the schema from the client's own file
/// beside it.
pub(super) fn load(paths: &[PathBuf]) -> io::Result<Vec<Recording>> {
    let mut recordings = Vec::new();
    for path in paths {
        let name = stem(path);
        let sections = sections(&read(path)?);
        if let [(None, statements)] = sections.as_slice() {
            let schema = match SCHEMA_OF.iter().find(|(client, _)| *client == name) {
                Some((_, other)) => schema(path, other)?,
                None => Vec::new(),
            };
            recordings.push(Recording { name, schema, statements: statements.clone() });
            continue;
        }
        for (client, statements) in sections {
            let client = client.unwrap_or_default();
            let maker = SCHEMA_OF.iter().find(|(name, _)| *name == client).map_or(client.as_str(), |(_, maker)| maker);
            let schema = schema(path, maker)?;
            recordings.push(Recording { name: format!("{name}/{client}"), schema, statements });
        }
    }
    Ok(recordings)
}

/// The statements of a client that define something, from its file in the same folder.
fn schema(beside: &Path, client: &str) -> io::Result<Vec<String>> {
    for ending in ["sql", "sql.gz"] {
        let path = beside.with_file_name(format!("{client}.{ending}"));
        if path.exists() {
            let statements = sections(&read(&path)?).into_iter().flat_map(|(_, statements)| statements);
            return Ok(statements.filter(|sql| defines(sql)).collect());
        }
    }
    Ok(Vec::new())
}

fn defines(sql: &str) -> bool {
    let mut words = sql.split_whitespace().map(str::to_ascii_lowercase);
    match (words.next().as_deref(), words.next().as_deref()) {
        (Some("create"), second) => second != Some("database"),
        (Some("alter" | "comment"), _) => !sql.to_ascii_lowercase().contains(" drop "),
        _ => false,
    }
}

fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.split('.').next().unwrap_or_default().to_owned()
}

fn read(path: &Path) -> io::Result<String> {
    let bytes = match path.extension().is_some_and(|extension| extension == "gz") {
        true => Command::new("gzip").arg("-dc").arg(path).output()?.stdout,
        false => fs::read(path)?,
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn sections(text: &str) -> Vec<(Option<String>, Vec<String>)> {
    let mut sections: Vec<(Option<String>, Vec<String>)> = Vec::new();
    let mut statement = String::new();
    let finish = |statement: &mut String, sections: &mut Vec<(Option<String>, Vec<String>)>| {
        let sql = std::mem::take(statement).trim().to_owned();
        if sql.is_empty() {
            return;
        }
        if sections.is_empty() {
            sections.push((None, Vec::new()));
        }
        if let Some((_, statements)) = sections.last_mut() {
            statements.push(sql);
        }
    };
    for line in text.lines() {
        if line == SEPARATOR {
            finish(&mut statement, &mut sections);
        } else if let Some(heading) = line.strip_prefix(SECTION) {
            finish(&mut statement, &mut sections);
            let client = heading.split(' ').next().unwrap_or_default();
            sections.push((Some(client.to_owned()), Vec::new()));
        } else {
            statement.push_str(line);
            statement.push('\n');
        }
    }
    finish(&mut statement, &mut sections);
    sections
}

#[cfg(test)]
mod tests {
    use super::sections;

    #[test]
    fn a_file_is_split_at_its_separators_and_sections() {
        let plain = sections("a\nb\n--;;--\nc\n--;;--\n");
        assert_eq!(plain, [(None, vec!["a\nb".to_owned(), "c".to_owned()])]);
        let parts = sections("-- ==== x (2)\na\n--;;--\nb\n-- ==== y (1)\nc");
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[1], (Some("y".to_owned()), vec!["c".to_owned()]));
    }
}
