//! When two values of a cell are the same.

use crate::catalog::Table;
use crate::types::{Datum, compare};

/// Whether two cells hold the same: nothing, or values that nothing can tell apart.
pub(crate) fn is_same(one: Option<&Datum>, two: Option<&Datum>) -> bool {
    match (one, two) {
        (None, None) => true,
        (Some(one), Some(two)) => one.is_identical(two),
        _ => false,
    }
}

/// Whether two values of a column are equal.
pub(crate) fn equal(table: &Table, position: usize, one: &Datum, two: &Datum) -> bool {
    match (one.is_null(), two.is_null()) {
        (true, true) => true,
        (false, false) => compare::equal(one, two, table.columns[position].typed.ty),
        _ => false,
    }
}
