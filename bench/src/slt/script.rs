//! Test files → cases: what to send and what should come back, for a database that counts as PostgreSQL.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sqllogictest::{Condition, DefaultColumnType, ExpectedError, QueryExpect, Record, SortMode, StatementExpect};

/// What the files' `skipif` and `onlyif` call PostgreSQL.
const LABELS: [&str; 2] = ["postgresql", "postgres"];

/// One record that is run.
pub(super) struct Case {
    /// `file:line`, the file relative to where the suite starts.
    pub(super) place: String,
    pub(super) sql: String,
    pub(super) expectation: Expectation,
}

/// What a record demands.
pub(super) enum Expectation {
    /// It runs.
    Success,
    /// It changes so many rows.
    Count(u64),
    /// It fails, with a message that matches.
    Failure(ExpectedError),
    /// It gives these lines.
    Rows(Demand),
}

/// The result that a query should have.
pub(super) struct Demand {
    pub(super) types: Vec<DefaultColumnType>,
    pub(super) sort: Option<SortMode>,
    pub(super) lines: Vec<String>,
}

/// The files under the paths that are tests of their own; those that start with `_` are only included by others.
pub(super) fn files(paths: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            walk(path, &mut found)?;
        } else {
            found.push(path.clone());
        }
    }
    found.sort();
    Ok(found)
}

fn walk(directory: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            walk(&path, found)?;
        } else if !name.starts_with('_') && (name.ends_with(".test") || name.ends_with(".slt")) {
            found.push(path);
        }
    }
    Ok(())
}

/// The cases of a file, in order. `name` is what places call it.
pub(super) fn cases(path: &Path, name: &str) -> io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    read(path, name, &mut cases)?;
    Ok(cases)
}

fn read(path: &Path, name: &str, cases: &mut Vec<Case>) -> io::Result<()> {
    let text = prepare(&String::from_utf8_lossy(&fs::read(path)?));
    let records = sqllogictest::parse_with_name::<DefaultColumnType>(&text, name)
        .map_err(|error| io::Error::other(error.to_string()))?;
    for record in records {
        match record {
            Record::Statement { loc, conditions, sql, expected, .. } if runs(&conditions) => {
                let expectation = match expected {
                    StatementExpect::Ok => Expectation::Success,
                    StatementExpect::Count(count) => Expectation::Count(count),
                    StatementExpect::Error(error) => Expectation::Failure(error),
                };
                cases.push(Case { place: format!("{name}:{}", loc.line()), sql, expectation });
            }
            Record::Query { loc, conditions, sql, expected, .. } if runs(&conditions) => {
                let expectation = match expected {
                    QueryExpect::Error(error) => Expectation::Failure(error),
                    QueryExpect::Results { types, sort_mode, results, .. } => {
                        Expectation::Rows(Demand { types, sort: sort_mode, lines: results })
                    }
                };
                cases.push(Case { place: format!("{name}:{}", loc.line()), sql, expectation });
            }
            Record::Include { filename, .. } => {
                let folder = Path::new(name).parent().unwrap_or(Path::new(""));
                read(&path.with_file_name(&filename), &folder.join(&filename).to_string_lossy(), cases)?;
            }
            Record::Halt { .. } => break,
            Record::System { loc, .. } | Record::Let { loc, .. } => {
                return Err(io::Error::other(format!("{loc}: this runner has no shell and no variables")));
            }
            _ => {}
        }
    }
    Ok(())
}

fn runs(conditions: &[Condition]) -> bool {
    conditions.iter().all(|condition| match condition {
        Condition::OnlyIf { label } => LABELS.contains(&label.as_str()),
        Condition::SkipIf { label } => !LABELS.contains(&label.as_str()),
    })
}

/// SQLite's files write remarks behind conditions, and conditions before `halt`; the parser knows neither.
fn prepare(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    while at < lines.len() {
        let words: Vec<&str> = lines[at].split_whitespace().take(2).collect();
        if let [word @ ("skipif" | "onlyif"), label] = words[..] {
            lines[at] = lines[at].split('#').next().unwrap_or_default().trim_end();
            if lines.get(at + 1).is_some_and(|next| next.trim() == "halt") {
                if LABELS.contains(&label) == (word == "onlyif") {
                    lines.truncate(at);
                    break;
                }
                lines[at] = "";
                lines[at + 1] = "";
            }
        }
        at += 1;
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::prepare;

    #[test]
    fn a_halt_counts_only_for_its_database() {
        assert_eq!(prepare("onlyif mssql # no\nhalt\nstatement ok\nx"), "\n\nstatement ok\nx");
        assert_eq!(prepare("a\nskipif sqlite\nhalt\nb"), "a");
        assert_eq!(prepare("skipif mysql # why\nquery I"), "skipif mysql\nquery I");
    }
}
