//! Functions and operators of json and jsonb.
//!
//! A set of rows whose columns are named in the query, `json_to_recordset(x) AS t(a int, b text)`, is bound as a call of
//! `json_populate_recordset` whose first argument is a record of that shape, all of whose fields are NULL
//! ([`populate::with_columns`]).

pub(super) mod access;
pub(super) mod aggregates;
pub(super) mod build;
pub(super) mod change;
pub(super) mod convert;
pub(super) mod path;
pub(crate) mod populate;
pub(super) mod sets;

use crate::error::{Result, SqlError, SqlState};
use crate::functions::args::Args;
use crate::types::json::Json;
use crate::types::{ArrayValue, Datum};

/// A jsonb as a value.
fn jsonb(json: Json) -> Datum {
    Datum::Jsonb(json.into())
}

/// A jsonb, or NULL for none.
fn maybe_jsonb(json: Option<&Json>) -> Datum {
    json.map_or(Datum::Null, |json| jsonb(json.clone()))
}

/// A text, or NULL for none.
fn maybe_text(text: Option<impl AsRef<str>>) -> Datum {
    text.map_or(Datum::Null, Datum::text)
}

/// The texts of an array; `None` if one of them is NULL.
fn texts(array: &ArrayValue) -> Option<Vec<&str>> {
    array.items.iter().map(|item| if let Datum::Text(text) = item { Some(&**text) } else { None }).collect()
}

/// A path: NULLs in it find nothing.
fn path(args: &[Datum], index: usize) -> Result<Option<Vec<&str>>> {
    Ok(texts(args.array(index)?))
}

/// `22023`
fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}
