//! Functions and operators of arrays.

pub(super) mod change;
pub(super) mod look;
pub(super) mod strings;

use crate::budget;
use crate::types::Datum;
use crate::types::Type;
use crate::types::compare::equal;

/// What it takes to compare two items, in units of [`crate::budget`].
const COMPARISON: usize = 10;

/// Whether two items are the same; NULL is the same as NULL.
fn same(left: &Datum, right: &Datum, ty: Type) -> bool {
    if budget::is_over(COMPARISON) {
        return false;
    }
    match (left.is_null(), right.is_null()) {
        (false, false) => equal(left, right, ty),
        (left, right) => left == right,
    }
}
