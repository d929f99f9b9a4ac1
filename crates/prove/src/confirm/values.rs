//! What parameters may be: values as text, the most promising ones first.

use std::collections::BTreeSet;

use skew_sql::catalog::{Catalog, Oid, UserTypeKind};
use skew_sql::types::{Type, Typed, kind, quote};

use super::rows::Rows;

/// So many values of a column are tried.
const OF_A_COLUMN: usize = 3;
/// So many values that no row has are tried.
const NEW: usize = 2;
/// What is added to the largest number: more than any sum of numbers that are there, in small applications.
const MUCH: i128 = 1_000;

/// What is known about a value: it is compared with a column, or becomes one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Hint {
    pub(super) table: Oid,
    pub(super) column: usize,
    pub(super) wanted: Wanted,
}

/// A value that may be tried: NULL, or a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Candidate {
    pub(super) value: Option<String>,
    /// How little it promises.
    pub(super) cost: u32,
}

/// What NULL costs where nothing speaks for it.
const NULL_COST: u32 = 9;

impl Candidate {
    pub(super) fn new(value: impl Into<String>, cost: u32) -> Candidate {
        Candidate { value: Some(value.into()), cost }
    }

    /// NULL, where a way needs it or where nothing speaks for it.
    pub(super) fn null(is_needed: bool) -> Candidate {
        Candidate { value: None, cost: if is_needed { 0 } else { NULL_COST } }
    }
}

/// Whether some row is to have it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Wanted {
    /// A row has it.
    There,
    /// No row has it.
    New,
}

/// Values for something of this type about which so much is known.
pub(super) fn candidates(ty: Type, hints: &BTreeSet<Hint>, rows: &Rows, catalog: &Catalog) -> Vec<Candidate> {
    let priced = |values: Vec<String>, first: u32, step: u32| {
        let costs = (0_u32..).map(move |at| first + at * step);
        values.into_iter().zip(costs).map(|(value, cost)| Candidate::new(value, cost)).collect::<Vec<_>>()
    };
    if hints.is_empty() {
        // Elements of arrays are more often keys than amounts.
        let step = if kind::element(ty, catalog).is_some() { 2 } else { 3 };
        return priced(of_type(ty, rows, catalog), 0, step);
    }
    let mut there: Vec<(usize, &str)> = Vec::new();
    for value in hints.iter().flat_map(|hint| rows.values(hint.table, hint.column)) {
        match there.iter_mut().find(|(_, known)| *known == value) {
            Some((count, _)) => *count += 1,
            None => there.push((1, value)),
        }
    }
    // What several tables have connects their rows.
    there.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let there = there.into_iter().map(|(_, value)| value.to_owned()).filter(|value| can_be_said(value));
    let there: Vec<String> = there.take(OF_A_COLUMN).collect();
    let taken: BTreeSet<&str> = hints.iter().flat_map(|hint| rows.values(hint.table, hint.column)).collect();
    let new = new_values(ty, &taken, catalog);
    let (there, new) = match hints.iter().any(|hint| hint.wanted == Wanted::There) {
        true => (priced(there, 0, 2), priced(new.into_iter().take(1).collect(), 7, 0)),
        false => (priced(there.into_iter().take(1).collect(), 5, 0), priced(new, 0, 1)),
    };
    let mut values: Vec<Candidate> = there.into_iter().chain(new).collect();
    values.sort_by_key(|candidate| candidate.cost);
    values
}

/// As it is written in a call.
pub(super) fn literal(value: Option<&str>, ty: Type, catalog: &Catalog) -> String {
    let Some(value) = value else { return "NULL".to_owned() };
    let base = kind::base(Typed::from(ty), catalog).ty;
    let is_plain = [Type::INT4, Type::INT8, Type::NUMERIC, Type::FLOAT8, Type::BOOL].contains(&base);
    match base == Type::BOOL {
        true => if value.starts_with('t') { "true" } else { "false" }.to_owned(),
        false if is_plain && value.bytes().all(|byte| b"0123456789.-".contains(&byte)) => value.to_owned(),
        false => quote::literal(value),
    }
}

/// A value for a row that is made up; `None`: NULL is all that is known.
pub(super) fn made_up(ty: Type, number: usize, catalog: &Catalog) -> Option<String> {
    let values = match kind::category(ty, catalog) {
        'N' => vec![(number + 1).to_string()],
        _ => of_type(ty, &Rows::default(), catalog),
    };
    values.get(number).or(values.first()).cloned()
}

/// A value for a row that is made up, which no other row has.
pub(super) fn new_value(ty: Type, taken: &BTreeSet<&str>, catalog: &Catalog) -> Option<String> {
    new_values(ty, taken, catalog).into_iter().next()
}

/// Values that say nothing about rows: amounts, thresholds, names.
fn of_type(ty: Type, rows: &Rows, catalog: &Catalog) -> Vec<String> {
    let texts = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
    let base = kind::base(Typed::from(ty), catalog).ty;
    if let Some(element) = kind::element(base, catalog) {
        return arrays(element, rows, catalog);
    }
    match kind::category(base, catalog) {
        'N' => {
            let most = largest(rows);
            let mut values = vec![1, most.saturating_mul(10).saturating_add(MUCH), most, 0, -1];
            let mut seen = BTreeSet::new();
            values.retain(|value| seen.insert(*value));
            values.into_iter().map(|value| value.to_string()).collect()
        }
        'B' => texts(&["true", "false"]),
        'E' => match catalog.user_type(base).map(|user| &user.kind) {
            Some(UserTypeKind::Enum(labels)) => labels.iter().map(|(.., label)| label.to_string()).collect(),
            _ => Vec::new(),
        },
        'D' if base == Type::TIME || base == Type::TIMETZ => texts(&["12:00:00", "13:00:00"]),
        'D' => texts(&["2024-01-01", "2024-01-02"]),
        'T' => texts(&["1 day", "1 hour"]),
        'S' => {
            let mut values = texts(&["a"]);
            values.extend(inner_words(rows));
            values.push("b".to_owned());
            values
        }
        _ if base == Type::UUID => new_values(base, &BTreeSet::new(), catalog),
        _ if base == Type::JSON || base == Type::JSONB => texts(&["{}"]),
        _ => texts(&["1"]),
    }
}

fn arrays(element: Type, rows: &Rows, catalog: &Catalog) -> Vec<String> {
    let mut values = match kind::category(element, catalog) {
        'N' => vec!["1".to_owned(), "2".to_owned()],
        // Names are more often those of rows than numbers are.
        'S' => text_keys(rows),
        _ => Vec::new(),
    };
    values.extend(of_type(element, &Rows::default(), catalog));
    let one = |value: &String| format!("{{{value}}}");
    match &values[..] {
        [] => vec!["{}".to_owned()],
        [only] => vec![one(only), "{}".to_owned()],
        [first, second, ..] => vec![one(first), one(second), format!("{{{first},{second}}}"), "{}".to_owned()],
    }
}

/// Texts that rows have in their first columns, where keys stand.
fn text_keys(rows: &Rows) -> Vec<String> {
    let firsts = rows.tables.values().flatten().filter_map(|row| row.first()?.as_deref());
    let is_word = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    let mut texts: Vec<String> = Vec::new();
    for text in firsts.filter(is_word) {
        if texts.len() < NEW && !texts.iter().any(|known| known == text) {
            texts.push(text.to_owned());
        }
    }
    texts
}

/// Words within arrays and JSON: what is looked for there is not compared with a column.
fn inner_words(rows: &Rows) -> Vec<String> {
    let cells = rows.tables.values().flatten().flatten().flatten();
    let inner = cells.filter(|cell| cell.starts_with(['{', '[']));
    let words = inner.flat_map(|cell| cell.split(|letter: char| !letter.is_alphanumeric() && letter != '_'));
    let mut found: Vec<String> = Vec::new();
    for word in words.filter(|word| word.starts_with(char::is_alphabetic)) {
        if found.len() < NEW && !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
    }
    found
}

/// Values that no row has.
fn new_values(ty: Type, taken: &BTreeSet<&str>, catalog: &Catalog) -> Vec<String> {
    let base = kind::base(Typed::from(ty), catalog).ty;
    let free = |value: &String| !taken.contains(value.as_str());
    match kind::category(base, catalog) {
        'N' => {
            let most = taken.iter().filter_map(|value| whole(value)).max().unwrap_or(0).max(0);
            (1..=NEW as i128).map(|by| most.saturating_add(by).to_string()).collect()
        }
        'S' => (1..).map(|number| format!("new{number}")).filter(free).take(NEW).collect(),
        'D' if base != Type::TIME && base != Type::TIMETZ => {
            (1..=28).map(|day| format!("2030-01-{day:02}")).filter(free).take(NEW).collect()
        }
        _ if base == Type::UUID => {
            let uuids = (1..).map(|number| format!("00000000-0000-0000-0000-{number:012}"));
            uuids.filter(free).take(NEW).collect()
        }
        _ => of_type(ty, &Rows::default(), catalog).into_iter().filter(free).take(NEW).collect(),
    }
}

/// The largest number in any row.
fn largest(rows: &Rows) -> i128 {
    let cells = rows.tables.values().flatten().flatten().flatten();
    cells.filter_map(|cell| whole(cell)).filter(|number| *number <= i128::from(i32::MAX / 100)).max().unwrap_or(100)
}

fn whole(text: &str) -> Option<i128> {
    text.split('.').next()?.parse().ok()
}

/// Whether a client can be written with it: what separates calls and sessions cannot stand in it.
fn can_be_said(value: &str) -> bool {
    !value.contains([';', '|'])
}
