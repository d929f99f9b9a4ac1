//! Two answers to one statement → what is different between them.
//!
//! Numbers of objects that users made differ between servers, as do sizes and transaction numbers: they are left out.

use crate::wire::{Answer, Outcome, Rows};

use super::statement;

/// SQLSTATE of what a database does not support.
const NOT_SUPPORTED: &str = "0A000";

/// Objects that users made have numbers from here on.
const FIRST_USER_OID: u64 = 16384;

/// Types of columns with numbers of objects: oid and its array.
const OID_TYPES: [u32; 2] = [26, 1028];

/// Columns that say how a server stores something.
const STORAGE_COLUMNS: [&str; 14] = [
    "relpages",
    "reltuples",
    "relallvisible",
    "relfilenode",
    "relfrozenxid",
    "tfrozenxid",
    "relminmxid",
    "tminmxid",
    "toastpages",
    "xmin",
    "ctid",
    "datfrozenxid",
    "datminmxid",
    "toid",
];

/// How a server's answer stands to PostgreSQL's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// The same rows, or the same error.
    Same,
    /// Refused with 0A000.
    Refused,
    /// Different, but something that the statement names was refused or different before.
    Consequence,
    /// An error where PostgreSQL answers.
    Error,
    /// An answer where PostgreSQL gives an error.
    Answer,
    /// Another SQLSTATE.
    Code,
    /// Other names or types of columns or parameters.
    Columns,
    /// Other rows.
    Rows,
    /// Only rows about PostgreSQL's own tables, types and functions are missing.
    SystemRows,
    /// The same rows in another order, with ORDER BY.
    Order,
    /// Another command tag.
    Tag,
    /// The connection broke.
    Lost,
}

/// What differs, for people.
pub(super) struct Difference {
    pub(super) verdict: Verdict,
    pub(super) expected: String,
    pub(super) seen: String,
}

/// Compares a server's answer with PostgreSQL's.
pub(super) fn compare(sql: &str, expected: &Answer, seen: &Answer) -> Difference {
    let plain = |verdict| Difference { verdict, expected: summary(expected), seen: summary(seen) };
    match (expected.outcome(), seen.outcome()) {
        (_, Outcome::Lost(_)) => plain(Verdict::Lost),
        (_, Outcome::Failed(error)) if error.code == NOT_SUPPORTED => match expected.code() {
            Some(NOT_SUPPORTED) => plain(Verdict::Same),
            _ => plain(Verdict::Refused),
        },
        (Outcome::Failed(expected), Outcome::Failed(seen)) if expected.code == seen.code => plain(Verdict::Same),
        (Outcome::Failed(_), Outcome::Failed(_)) => plain(Verdict::Code),
        (Outcome::Done(_), Outcome::Failed(_)) => plain(Verdict::Error),
        (Outcome::Failed(_) | Outcome::Lost(_), Outcome::Done(_)) => plain(Verdict::Answer),
        (Outcome::Lost(_), Outcome::Failed(_)) => plain(Verdict::Code),
        (Outcome::Done(_), Outcome::Done(_)) if own_types(&expected.parameters) != own_types(&seen.parameters) => {
            parameters(expected, seen)
        }
        (Outcome::Done(left), Outcome::Done(right)) => compare_results(sql, left, right),
    }
}

fn parameters(expected: &Answer, seen: &Answer) -> Difference {
    let text = |answer: &Answer| format!("parameters of types {:?}", answer.parameters);
    Difference { verdict: Verdict::Columns, expected: text(expected), seen: text(seen) }
}

/// Types that users made have other numbers on every server.
fn own_types(types: &[u32]) -> Vec<u32> {
    types.iter().map(|oid| if u64::from(*oid) >= FIRST_USER_OID { 0 } else { *oid }).collect()
}

/// What can be said without a PostgreSQL: whether it was answered.
pub(super) fn alone(seen: &Answer) -> Difference {
    let verdict = match seen.outcome() {
        Outcome::Done(_) => Verdict::Same,
        Outcome::Failed(error) if error.code == NOT_SUPPORTED => Verdict::Refused,
        Outcome::Failed(_) => Verdict::Error,
        Outcome::Lost(_) => Verdict::Lost,
    };
    Difference { verdict, expected: String::new(), seen: summary(seen) }
}

fn compare_results(sql: &str, expected: &[Rows], seen: &[Rows]) -> Difference {
    let difference = |verdict, expected: String, seen: String| Difference { verdict, expected, seen };
    if expected.len() != seen.len() {
        return difference(Verdict::Rows, format!("{} results", expected.len()), format!("{} results", seen.len()));
    }
    for (left, right) in expected.iter().zip(seen) {
        let (columns, other) = (columns(left), columns(right));
        if columns != other {
            return difference(Verdict::Columns, columns.join(", "), other.join(", "));
        }
        if statement::is_volatile(sql) {
            continue;
        }
        let (mut rows, mut other) = (plain_rows(left), plain_rows(right));
        if rows != other {
            let in_order = (rows.join("\n"), other.join("\n"));
            rows.sort_unstable();
            other.sort_unstable();
            let clocks = |rows: &[String]| rows.iter().map(|row| without_clocks(row)).collect::<Vec<_>>();
            if rows != other && clocks(&rows) != clocks(&other) {
                let (missing, extra) = (without(&rows, &other), without(&other, &rows));
                let system = extra.is_empty() && missing.iter().all(|row| is_about_the_system(row));
                return difference(
                    if system { Verdict::SystemRows } else { Verdict::Rows },
                    format!("{} rows, only here:\n{}", rows.len(), missing.join("\n")),
                    format!("{} rows, only here:\n{}", other.len(), extra.join("\n")),
                );
            }
            if statement::is_ordered(sql) && rows == other {
                return difference(Verdict::Order, in_order.0, in_order.1);
            }
        }
        if left.tag != right.tag {
            return difference(Verdict::Tag, left.tag.clone(), right.tag.clone());
        }
    }
    difference(Verdict::Same, String::new(), String::new())
}

/// The sorted rows of one side that the other side does not have.
fn without(rows: &[String], other: &[String]) -> Vec<String> {
    rows.iter().filter(|row| other.binary_search(row).is_err()).cloned().collect()
}

/// Whether a row has the number of one of PostgreSQL's own objects that no catalog names, or one of their names.
fn is_about_the_system(row: &str) -> bool {
    row.split(" | ").any(|value| {
        let number = value.parse::<u64>().is_ok_and(|oid| (1000..FIRST_USER_OID).contains(&oid));
        number || ["pg_", "_pg_", "information_schema"].iter().any(|prefix| value.starts_with(prefix))
    })
}

fn columns(rows: &Rows) -> Vec<String> {
    let of_user = |type_oid: u32| u64::from(type_oid) >= FIRST_USER_OID;
    rows.columns
        .iter()
        .map(|column| match of_user(column.type_oid) {
            true => format!("{} own type", column.name),
            false => format!("{} {}", column.name, column.type_oid),
        })
        .collect()
}

fn plain_rows(rows: &Rows) -> Vec<String> {
    let row = |row: &Vec<Option<String>>| {
        let values = row.iter().enumerate().map(|(at, value)| {
            let column = rows.columns.get(at);
            match value {
                None => "NULL".to_owned(),
                Some(_) if column.is_some_and(|c| STORAGE_COLUMNS.contains(&c.name.as_str())) => "~".to_owned(),
                Some(text) if column.is_some_and(|c| OID_TYPES.contains(&c.type_oid)) => plain_oids(text),
                Some(text) => text.clone(),
            }
        });
        values.collect::<Vec<_>>().join(" | ")
    };
    rows.values.iter().map(row).collect()
}

/// Numbers of users' objects become one word; those of the system are the same everywhere.
fn plain_oids(text: &str) -> String {
    let plain = |number: &str| match number.parse::<u64>() {
        Ok(oid) if oid >= FIRST_USER_OID => "own".to_owned(),
        _ => number.to_owned(),
    };
    let parts: Vec<String> = text.split(',').map(|part| plain(part.trim_matches(['{', '}']))).collect();
    parts.join(",")
}

/// Times with microseconds were read from a clock, which the two servers do not share.
fn without_clocks(row: &str) -> String {
    let values = row.split(" | ").map(|value| {
        let digits = value.split_once('.').map_or(0, |(_, rest)| rest.bytes().take_while(u8::is_ascii_digit).count());
        if value.starts_with("20") && value.as_bytes().get(4) == Some(&b'-') && digits >= 4 { "a time" } else { value }
    });
    values.collect::<Vec<_>>().join(" | ")
}

fn summary(answer: &Answer) -> String {
    match answer.outcome() {
        Outcome::Lost(why) => format!("the connection broke: {why}"),
        Outcome::Failed(error) => error.to_string(),
        Outcome::Done(results) => {
            let tags: Vec<&str> = results.iter().map(|rows| rows.tag.as_str()).collect();
            let rows: Vec<String> = results.iter().flat_map(plain_rows).take(5).collect();
            format!("{}\n{}", tags.join("; "), rows.join("\n")).trim_end().to_owned()
        }
    }
}
