//! Functions and operators of texts and bytes.

pub(super) mod basic;
pub(super) mod bytes;
pub(super) mod join;
pub(super) mod pad;
pub(super) mod pieces;

use crate::budget;
use crate::error::{Result, SqlError, SqlState};

/// The largest value that a function makes, in bytes. PostgreSQL's is four times as large; everything here is in memory,
/// and a value may be there several times.
const LARGEST: usize = 256 << 20;

/// From this many bytes on, other statements go on while a text is made.
const LONG: usize = 1 << 20;

/// `54000`
fn too_large() -> SqlError {
    SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "requested length too large")
}

/// Refuses values that are too large, before or while they are made.
pub(crate) fn fits(bytes: usize) -> Result<()> {
    if bytes > LARGEST { Err(too_large()) } else { budget::fits(2 * bytes) }
}

/// `22011`
pub(super) fn negative_substring() -> SqlError {
    SqlError::new(SqlState::SUBSTRING_ERROR, "negative substring length not allowed")
}
