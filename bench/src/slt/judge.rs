//! A case and an answer → a verdict, beside what a real PostgreSQL answers.
//!
//! The rule. A record is *passed* if the answer is what the file demands. The files come from other databases, so a real
//! PostgreSQL differs from some of them; where it does, its own answer (recorded, see `reference`) counts as passed too:
//! the same rows, or an error where PostgreSQL gives an error. 0A000 is *not supported*. Everything else is *failed*.
//! The order of rows is compared only if the statement has an ORDER BY.

use md5::{Digest, Md5};

use super::format::Suite;
use super::script::{Case, Demand, Expectation, Sort};
use crate::wire::{Answer, Outcome, Rows};

/// SQLSTATE of what a database does not support.
const NOT_SUPPORTED: &str = "0A000";

/// How a record ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// As the file demands.
    Passed,
    /// Not as the file demands, but as PostgreSQL answers.
    PassedAsPostgres,
    /// 0A000.
    NotSupported,
    /// Neither, after a statement of the same file was refused, which may be the reason.
    FailedAfterRefusal,
    /// Neither.
    Failed,
}

/// What came back, in the words in which it is compared and recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// `ok`, `rows` with a hash, `error` with its code, `lost`.
    pub(super) summary: String,
    /// For people.
    pub(super) text: String,
}

/// The judgement of one record.
pub(super) struct Judgement {
    pub(super) verdict: Verdict,
    pub(super) seen: Seen,
}

/// Compares an answer with the file and with PostgreSQL's recorded answer, which is there only where it differs.
pub(super) fn judge(case: &Case, suite: Suite, answer: &Answer, postgres: Option<&str>, refused: bool) -> Judgement {
    let seen = describe(case, suite, answer);
    let verdict = if satisfies(case, suite, answer) {
        Verdict::Passed
    } else if postgres.is_some_and(|own| same(own, &seen.summary)) {
        Verdict::PassedAsPostgres
    } else if answer.code() == Some(NOT_SUPPORTED) {
        Verdict::NotSupported
    } else if refused {
        Verdict::FailedAfterRefusal
    } else {
        Verdict::Failed
    };
    Judgement { verdict, seen }
}

fn same(own: &str, seen: &str) -> bool {
    own == seen || (own.starts_with("error") && seen.starts_with("error"))
}

fn satisfies(case: &Case, suite: Suite, answer: &Answer) -> bool {
    match (&case.expectation, answer.outcome()) {
        (_, Outcome::Lost(_)) => false,
        (Expectation::Failure, outcome) => matches!(outcome, Outcome::Failed(_)),
        (_, Outcome::Failed(_)) => false,
        (Expectation::Success, Outcome::Done(_)) => true,
        (Expectation::Count(count), Outcome::Done(results)) => results.last().and_then(changed) == Some(*count),
        (Expectation::Rows(demand), Outcome::Done(results)) => {
            lines_match(demand, lines(demand, suite, results), !ordered(&case.sql))
        }
    }
}

/// The last word of `UPDATE 3` and `INSERT 0 3`.
fn changed(rows: &Rows) -> Option<u64> {
    rows.tag.rsplit(' ').next()?.parse().ok()
}

fn ordered(sql: &str) -> bool {
    sql.to_ascii_lowercase().split_whitespace().collect::<Vec<_>>().windows(2).any(|words| words == ["order", "by"])
}

/// The last result as lines: one a value for SQLite's files, one a row otherwise.
fn lines(demand: &Demand, suite: Suite, results: &[Rows]) -> Vec<String> {
    let Some(rows) = results.last() else { return Vec::new() };
    let mut rows = suite.write(rows, &demand.types);
    match demand.sort {
        Sort::Rows => rows.sort_unstable(),
        Sort::Values => {
            rows = rows.into_iter().flatten().map(|value| vec![value]).collect();
            rows.sort_unstable();
        }
        Sort::Nothing => {}
    }
    match suite {
        Suite::Sqlite => rows.into_iter().flatten().collect(),
        Suite::RisingLight | Suite::DataFusion => rows.iter().map(|row| squeeze(&row.join(" "))).collect(),
    }
}

fn squeeze(line: &str) -> String {
    line.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

fn lines_match(demand: &Demand, mut seen: Vec<String>, any_order: bool) -> bool {
    if let [only] = demand.lines.as_slice()
        && let Some((count, hash)) = only.split_once(" values hashing to ")
    {
        return count == seen.len().to_string() && hash.trim() == digest(&seen);
    }
    let mut expected: Vec<String> = demand.lines.iter().map(|line| squeeze(line)).collect();
    for line in &mut seen {
        *line = squeeze(line);
    }
    if any_order && demand.sort != Sort::Values && expected != seen {
        expected.sort_unstable();
        seen.sort_unstable();
    }
    expected == seen
}

/// The hash that SQLite's runner writes for long results.
fn digest(lines: &[String]) -> String {
    let mut hash = Md5::new();
    for line in lines {
        hash.update(line.as_bytes());
        hash.update(b"\n");
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn describe(case: &Case, suite: Suite, answer: &Answer) -> Seen {
    match answer.outcome() {
        Outcome::Lost(why) => Seen { summary: "lost".to_owned(), text: format!("the connection broke: {why}") },
        Outcome::Failed(error) => Seen { summary: format!("error {}", error.code), text: error.to_string() },
        Outcome::Done(results) => match &case.expectation {
            Expectation::Rows(demand) => {
                let shown = lines(demand, suite, results);
                let mut compared = shown.clone();
                if !ordered(&case.sql) {
                    compared.sort_unstable();
                }
                Seen {
                    summary: format!("rows {} {}", compared.len(), &digest(&compared)[..12]),
                    text: shown.join("\n"),
                }
            }
            _ => {
                let tag = results.last().map_or("", |rows| rows.tag.as_str());
                Seen { summary: "ok".to_owned(), text: format!("ok ({tag})") }
            }
        },
    }
}

/// What the file demands, for people.
pub(super) fn demanded(case: &Case) -> String {
    match &case.expectation {
        Expectation::Success => "ok".to_owned(),
        Expectation::Count(count) => format!("{count} rows changed"),
        Expectation::Failure => "an error".to_owned(),
        Expectation::Rows(demand) => demand.lines.join("\n"),
    }
}
