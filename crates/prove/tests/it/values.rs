//! Recorded values, compared as the database compares them.

use std::cmp::Ordering;

use skew_sql::session::trace::Recorded;

/// A whole number: `None` within is NULL, `None` is anything else.
pub fn number(value: &Recorded) -> Option<Option<i128>> {
    match value {
        Recorded::Null => Some(None),
        Recorded::Value(text) => text.parse().ok().map(Some),
    }
}

/// Whether two texts are the same value: numbers can be written in several ways.
pub fn is_same(one: &Recorded, other: &Recorded) -> bool {
    one == other || order(one, other) == Some(Ordering::Equal)
}

/// How two values compare; nothing where one is NULL.
pub fn order(one: &Recorded, other: &Recorded) -> Option<Ordering> {
    let (Recorded::Value(one), Recorded::Value(other)) = (one, other) else { return None };
    if let (Ok(one), Ok(other)) = (one.parse::<i128>(), other.parse::<i128>()) {
        return Some(one.cmp(&other));
    }
    if let (Ok(one), Ok(other)) = (one.parse::<f64>(), other.parse::<f64>()) {
        return one.partial_cmp(&other);
    }
    let truth = |text: &str| match text {
        "t" | "true" => Some(true),
        "f" | "false" => Some(false),
        _ => None,
    };
    match truth(one).zip(truth(other)) {
        Some((one, other)) => Some(one.cmp(&other)),
        // Texts of a fixed length are equal whatever spaces end them.
        None => Some(one.trim_end_matches(' ').cmp(other.trim_end_matches(' '))),
    }
}
