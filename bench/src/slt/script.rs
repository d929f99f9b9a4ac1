//! Test files → cases: what to send and what should come back, for a database that counts as PostgreSQL.
//!
//! The format is sqllogictest's: records of a head line, SQL, and the expected lines behind `----`, with an empty line
//! between records. An expected error may have any message: the files quote other databases' words.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What the files' `skipif` and `onlyif` call PostgreSQL.
const LABELS: [&str; 2] = ["postgresql", "postgres"];

/// What stands between a statement and its result.
const RESULT: &str = "----";

/// One record that is run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Case {
    /// `file:line`, the file relative to where the suite starts.
    pub(super) place: String,
    pub(super) sql: String,
    pub(super) expectation: Expectation,
}

/// What a record demands.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Expectation {
    /// It runs.
    Success,
    /// It changes so many rows.
    Count(u64),
    /// It fails.
    Failure,
    /// It gives these lines.
    Rows(Demand),
}

/// The result that a query should have.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Demand {
    /// A letter a column: I integer, R with a fraction, T text, and others.
    pub(super) types: Vec<char>,
    pub(super) sort: Sort,
    pub(super) lines: Vec<String>,
}

/// What is sorted before the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Nothing,
    Rows,
    Values,
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
    let text = String::from_utf8_lossy(&fs::read(path)?).into_owned();
    let mut include = |file: &str, cases: &mut Vec<Case>| {
        let beside = Path::new(name).with_file_name(file);
        cases.extend(self::cases(&path.with_file_name(file), &beside.to_string_lossy())?);
        Ok(())
    };
    parse(&text, name, &mut cases, &mut include)?;
    Ok(cases)
}

fn parse(
    text: &str,
    name: &str,
    cases: &mut Vec<Case>,
    include: &mut dyn FnMut(&str, &mut Vec<Case>) -> io::Result<()>,
) -> io::Result<()> {
    let mut lines = Lines { lines: text.lines().collect(), at: 0 };
    let mut runs = true;
    while let Some(line) = lines.next() {
        let number = lines.at;
        let words: Vec<&str> = line.split_whitespace().collect();
        let expectation = match words.as_slice() {
            [] | ["hash-threshold" | "subtest" | "control", ..] => continue,
            [word, ..] if word.starts_with('#') => continue,
            ["skipif", label, ..] => {
                runs &= !LABELS.contains(label);
                continue;
            }
            ["onlyif", label, ..] => {
                runs &= LABELS.contains(label);
                continue;
            }
            ["halt"] if runs => return Ok(()),
            ["halt"] => {
                runs = true;
                continue;
            }
            ["include", file] => {
                include(file, cases)?;
                continue;
            }
            ["statement", "ok"] => Expectation::Success,
            ["statement", "count", count] => Expectation::Count(count.parse().map_err(io::Error::other)?),
            ["statement" | "query", "error", ..] => Expectation::Failure,
            ["query", types, rest @ ..] => {
                let sort = match rest.first() {
                    Some(&"rowsort") => Sort::Rows,
                    Some(&"valuesort") => Sort::Values,
                    _ => Sort::Nothing,
                };
                Expectation::Rows(Demand { types: types.chars().collect(), sort, lines: Vec::new() })
            }
            _ => return Err(io::Error::other(format!("{name}:{number}: `{line}` is not understood"))),
        };
        let (sql, result) = lines.body();
        let case = Case { place: format!("{name}:{number}"), sql, expectation: expectation.with(result) };
        if std::mem::replace(&mut runs, true) {
            cases.push(case);
        }
    }
    Ok(())
}

impl Expectation {
    fn with(mut self, result: Vec<String>) -> Expectation {
        if let Expectation::Rows(demand) = &mut self {
            demand.lines = result;
        }
        self
    }
}

/// Lines, and how many have been read.
struct Lines<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let line = self.lines.get(self.at).copied()?;
        self.at += 1;
        Some(line)
    }

    /// The rest of a record: its SQL, and the lines behind `----`.
    fn body(&mut self) -> (String, Vec<String>) {
        let mut sql = Vec::new();
        let mut result = None;
        while let Some(line) = self.next() {
            match &mut result {
                _ if line.is_empty() => break,
                None if line == RESULT => result = Some(Vec::new()),
                None => sql.push(line),
                Some(lines) => lines.push(line.to_owned()),
            }
        }
        (sql.join("\n"), result.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::{Case, Demand, Expectation, Sort, parse};

    fn cases(text: &str) -> Vec<Case> {
        let mut cases = Vec::new();
        parse(text, "f", &mut cases, &mut |_, _| Ok(())).expect("the text is a test file");
        cases
    }

    #[test]
    fn records_have_sql_and_results() {
        let found = cases("# a remark\nquery IT rowsort label-1\nSELECT\n1, 'a'\n----\n1\na\n\nstatement error\nx\n");
        assert_eq!(found[0].place, "f:2");
        assert_eq!(found[0].sql, "SELECT\n1, 'a'");
        let demand = Demand { types: vec!['I', 'T'], sort: Sort::Rows, lines: vec!["1".into(), "a".into()] };
        assert_eq!(found[0].expectation, Expectation::Rows(demand));
        assert_eq!(found[1].expectation, Expectation::Failure);
    }

    #[test]
    fn conditions_are_about_the_next_record_only() {
        let found = cases("onlyif mysql # why\nstatement ok\na\n\nskipif mysql\nstatement ok\nb\n\nstatement ok\nc");
        assert_eq!(found.iter().map(|case| case.sql.as_str()).collect::<Vec<_>>(), ["b", "c"]);
    }

    #[test]
    fn a_halt_counts_only_for_its_database() {
        assert_eq!(cases("onlyif mssql\nhalt\n\nstatement ok\nx").len(), 1);
        assert_eq!(cases("skipif sqlite\nhalt\n\nstatement ok\nx").len(), 0);
    }
}
