//! Functions and operators of texts and bytes.

pub(super) mod basic;
pub(super) mod bytes;
pub(super) mod join;
pub(super) mod pad;
pub(super) mod pieces;

use crate::error::{SqlError, SqlState};

/// PostgreSQL's largest value.
const LARGEST: usize = 0x3fff_ffff;

/// `54000`
fn too_large() -> SqlError {
    SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "requested length too large")
}

/// `22011`
pub(super) fn negative_substring() -> SqlError {
    SqlError::new(SqlState::SUBSTRING_ERROR, "negative substring length not allowed")
}
