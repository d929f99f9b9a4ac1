//! How functions look at their arguments. The binder has seen to it that they are of the right types.

use std::sync::Arc;

use crate::error::{Result, SqlError, SqlState};
use crate::functions::define::Scalar;
use crate::functions::{Env, Site};
use crate::types::json::Json;
use crate::types::numeric::Numeric;
use crate::types::{ArrayValue, Datum, Interval, Typed};

/// The arguments of a call, by place.
pub(crate) trait Args {
    fn at(&self, index: usize) -> &Datum;

    fn bool(&self, index: usize) -> Result<bool> {
        match self.at(index) {
            Datum::Bool(value) => Ok(*value),
            other => mistyped("boolean", other),
        }
    }

    fn int(&self, index: usize) -> Result<i64> {
        match self.at(index) {
            Datum::Int(value) => Ok(*value),
            other => mistyped("integer", other),
        }
    }

    /// An int4, or anything else that fits.
    fn int4(&self, index: usize) -> Result<i32> {
        let value = self.int(index)?;
        i32::try_from(value).map_err(|_| SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "integer out of range"))
    }

    fn float(&self, index: usize) -> Result<f64> {
        match self.at(index) {
            Datum::Float(value) => Ok(*value),
            other => mistyped("double precision", other),
        }
    }

    fn numeric(&self, index: usize) -> Result<&Numeric> {
        match self.at(index) {
            Datum::Numeric(value) => Ok(value),
            other => mistyped("numeric", other),
        }
    }

    fn text(&self, index: usize) -> Result<&str> {
        match self.at(index) {
            Datum::Text(value) => Ok(value),
            other => mistyped("text", other),
        }
    }

    fn bytes(&self, index: usize) -> Result<&[u8]> {
        match self.at(index) {
            Datum::Bytes(value) => Ok(value),
            other => mistyped("bytea", other),
        }
    }

    fn date(&self, index: usize) -> Result<i32> {
        match self.at(index) {
            Datum::Date(value) => Ok(*value),
            other => mistyped("date", other),
        }
    }

    fn time(&self, index: usize) -> Result<i64> {
        match self.at(index) {
            Datum::Time(value) => Ok(*value),
            other => mistyped("time", other),
        }
    }

    fn timestamp(&self, index: usize) -> Result<i64> {
        match self.at(index) {
            Datum::Timestamp(value) => Ok(*value),
            other => mistyped("timestamp", other),
        }
    }

    fn interval(&self, index: usize) -> Result<Interval> {
        match self.at(index) {
            Datum::Interval(value) => Ok(*value),
            other => mistyped("interval", other),
        }
    }

    fn jsonb(&self, index: usize) -> Result<&Arc<Json>> {
        match self.at(index) {
            Datum::Jsonb(value) => Ok(value),
            other => mistyped("jsonb", other),
        }
    }

    fn array(&self, index: usize) -> Result<&Arc<ArrayValue>> {
        match self.at(index) {
            Datum::Array(value) => Ok(value),
            other => mistyped("array", other),
        }
    }
}

impl Args for [Datum] {
    /// An argument that was left out is NULL.
    fn at(&self, index: usize) -> &Datum {
        self.get(index).unwrap_or(&Datum::Null)
    }
}

/// A value that is not of the type that the binder promised: our own mistake, told rather than panicked over.
fn mistyped<T>(wanted: &str, got: &Datum) -> Result<T> {
    let message = match got {
        Datum::Null => format!("unexpected NULL where a {wanted} was expected"),
        _ => format!("a value is not of type {wanted} as it was bound"),
    };
    Err(SqlError::new(SqlState::INTERNAL_ERROR, message))
}

/// Calls a function that takes any number of arguments with the items of the array that is its last one.
pub(crate) fn spread(env: &mut dyn Env, args: &[Datum], site: &Site<'_>, body: Scalar) -> Result<Datum> {
    let fixed = args.len().saturating_sub(1);
    let array = args.array(fixed)?;
    let values: Vec<Datum> = args[..fixed].iter().chain(&array.items).cloned().collect();
    let item = std::iter::repeat_n(Typed::from(array.element), array.items.len());
    let types: Vec<Typed> = site.args[..fixed].iter().copied().chain(item).collect();
    body(env, &values, &Site { args: &types, returns: site.returns })
}

/// `22003` with PostgreSQL's words: `integer out of range`.
pub(crate) fn out_of_range(what: &str) -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("{what} out of range"))
}

/// `22023`
pub(crate) fn invalid_parameter(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

/// `22012`
pub(crate) fn division_by_zero() -> SqlError {
    SqlError::new(SqlState::DIVISION_BY_ZERO, "division by zero")
}
