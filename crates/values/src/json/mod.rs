//! JSON: `jsonb` as a tree whose numbers are exact, `json` as the text that it was (see [`raw`]).

pub mod access;
mod assign;
mod order;
mod parse;
pub mod path;
pub mod raw;
mod show;

use std::sync::Arc;

use crate::error::{Result, SqlError, SqlState};
use crate::numeric::Numeric;
use crate::scalar::integer;
use crate::sort::sort_by;
use crate::{Datum, Type};

pub use show::quote;

/// How deep values may be nested: deeper ones would exhaust the stack.
pub const MAX_DEPTH: usize = 1024;

/// What it takes to read or write a value, in units of [`crate::budget`], beside its bytes.
const VALUE_WORK: usize = 20;

/// A JSON value. The keys of an object are in jsonb's order, each once.
#[derive(Clone, Debug)]
pub enum Json {
    /// `null`
    Null,
    /// `true` and `false`
    Bool(bool),
    /// A number, never NaN or infinite.
    Number(Numeric),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// About how many bytes of memory it takes.
    pub fn weight(&self) -> usize {
        size_of::<Json>()
            + match self {
                Json::String(text) => text.len(),
                Json::Array(items) => items.iter().map(Json::weight).sum(),
                Json::Object(entries) => {
                    entries.iter().map(|(key, value)| size_of::<String>() + key.len() + value.weight()).sum()
                }
                Json::Number(_) => 16,
                Json::Null | Json::Bool(_) => 0,
            }
    }

    /// Whether it is nested no deeper than so many levels.
    pub fn is_within(&self, levels: usize) -> bool {
        match self {
            Json::Array(items) => levels > 0 && items.iter().all(|item| item.is_within(levels - 1)),
            Json::Object(entries) => levels > 0 && entries.iter().all(|(_, value)| value.is_within(levels - 1)),
            _ => true,
        }
    }

    /// Whether it has more than so many parts, or a long text; it looks no further than that.
    pub fn is_large(&self, most: usize) -> bool {
        fn goes_on(json: &Json, left: &mut usize) -> bool {
            let Some(rest) = left.checked_sub(1) else { return false };
            *left = rest;
            match json {
                Json::String(text) => {
                    *left = left.saturating_sub(text.len() / 32);
                    true
                }
                Json::Array(items) => items.iter().all(|item| goes_on(item, left)),
                Json::Object(entries) => entries.iter().all(|(_, value)| goes_on(value, left)),
                Json::Number(_) | Json::Null | Json::Bool(_) => true,
            }
        }
        let mut left = most;
        !goes_on(self, &mut left)
    }

    /// Reads a value, as `jsonb` does: whitespace and duplicate keys (but the last of each) are forgotten.
    pub fn parse(text: &str) -> Result<Json> {
        parse::parse(text)
    }

    /// Checks that a text is a value, as `json` does.
    pub fn validate(text: &str) -> Result<()> {
        parse::validate(text)
    }

    /// An object. Keys are sorted, and the last of equal keys stays.
    pub fn object(entries: Vec<(String, Json)>) -> Json {
        // The sort is stable, so the last of equal keys is the last of its run.
        let compare = |left: &(String, Json), right: &(String, Json)| order::compare_keys(&left.0, &right.0);
        let Ok(entries) = sort_by(entries, |(key, _)| key.len(), compare) else { return Json::Null };
        let mut unique: Vec<(String, Json)> = Vec::with_capacity(entries.len());
        for entry in entries {
            match unique.last_mut() {
                Some(last) if last.0 == entry.0 => *last = entry,
                _ => unique.push(entry),
            }
        }
        Json::Object(unique)
    }

    /// A number.
    pub fn number(value: i64) -> Json {
        Json::Number(Numeric::from(value))
    }

    /// What `jsonb_typeof` says.
    pub fn type_name(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "boolean",
            Json::Number(_) => "number",
            Json::String(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }

    /// Whether it is neither an array nor an object.
    pub fn is_scalar(&self) -> bool {
        !matches!(self, Json::Array(_) | Json::Object(_))
    }

    /// What `->>` gives: a string as it is, anything else as JSON, nothing for null.
    pub fn to_text(&self) -> Option<String> {
        match self {
            Json::Null => None,
            Json::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    }
}

/// Conversions of a jsonb to other types; `None` where there is none but through text.
pub fn cast(json: &Json, to: Type) -> Option<Result<Datum>> {
    let wrong = |wanted: &str| {
        let kind = match json {
            Json::Null => "null",
            Json::Bool(_) => "boolean",
            Json::Number(_) => "numeric",
            Json::String(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        };
        Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("cannot cast jsonb {kind} to type {wanted}")))
    };
    let name = match to {
        Type::BOOL => "boolean",
        Type::NUMERIC => "numeric",
        Type::FLOAT4 => "real",
        Type::FLOAT8 => "double precision",
        Type::INT2 | Type::INT4 | Type::INT8 => integer::range(to).2,
        _ => return None,
    };
    Some(match (json, to) {
        (Json::Bool(value), Type::BOOL) => Ok(Datum::Bool(*value)),
        (Json::Number(number), Type::NUMERIC) => Ok(Datum::Numeric(Arc::new(number.clone()))),
        (Json::Number(number), Type::FLOAT8) => number.to_f64().map(Datum::Float),
        (Json::Number(number), Type::FLOAT4) => number.to_f32().map(Datum::Float),
        (Json::Number(number), Type::INT2 | Type::INT4 | Type::INT8) => {
            let (least, most, name) = integer::range(to);
            number.to_integer(least, most, name).map(Datum::Int)
        }
        _ => wrong(name),
    })
}
