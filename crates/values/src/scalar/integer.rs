//! Integers as text.

use super::{invalid_syntax, trim};
use crate::Type;
use crate::error::{Result, SqlError, SqlState};

/// The least and the largest value of an integer type, and its SQL name.
pub fn range(ty: Type) -> (i64, i64, &'static str) {
    match ty {
        Type::INT2 => (i16::MIN.into(), i16::MAX.into(), "smallint"),
        Type::INT4 => (i32::MIN.into(), i32::MAX.into(), "integer"),
        Type::INT8 => (i64::MIN, i64::MAX, "bigint"),
        _ => (0, u32::MAX.into(), "oid"),
    }
}

/// The value, if it fits the type.
pub fn fit(value: i64, ty: Type) -> Result<i64> {
    let (least, most, name) = range(ty);
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("{name} out of range")))
}

/// Reads an int2, int4 or int8.
pub fn parse(text: &str, ty: Type) -> Result<i64> {
    let (least, most, name) = range(ty);
    let trimmed = trim(text);
    let digits = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(invalid_syntax(name, text));
    }
    match trimmed.parse() {
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        _ => Err(out_of_range(text, name)),
    }
}

/// Reads an oid: what C's `strtoul` takes, so that -1 is the largest one.
pub fn parse_oid(text: &str) -> Result<i64> {
    let trimmed = trim(text);
    let digits = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(invalid_syntax("oid", text));
    }
    let value: i64 = trimmed.parse().map_err(|_| out_of_range(text, "oid"))?;
    match value {
        0..=0xFFFF_FFFF => Ok(value),
        _ if value >= i64::from(i32::MIN) && value < 0 => Ok(i64::from(value as u32)),
        _ => Err(out_of_range(text, "oid")),
    }
}

/// Reads an xid8: 64 bits without a sign.
pub fn parse_xid8(text: &str) -> Result<i64> {
    let trimmed = trim(text);
    if trimmed.is_empty() || !trimmed.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(invalid_syntax("xid8", text));
    }
    trimmed.parse::<u64>().map(|value| value as i64).map_err(|_| out_of_range(text, "xid8"))
}

pub(super) fn out_of_range(text: &str, name: &str) -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("value \"{text}\" is out of range for type {name}"))
}
