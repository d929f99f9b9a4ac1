//! Rows of system tables by column name.

use std::sync::Arc;

use crate::catalog::Oid;
use crate::system::{Kind, SystemTable, nothing};
use crate::types::{ArrayValue, Datum, Type};

/// The rows of a table, being made.
pub(super) struct Filler {
    table: &'static SystemTable,
    pub(super) rows: Vec<Arc<[Datum]>>,
}

impl Filler {
    pub(super) fn new(table: &'static SystemTable) -> Filler {
        Filler { table, rows: Vec::new() }
    }

    /// Adds a row: these columns, and what is not said is NULL in a view, in a table zero, false or empty for types that
    /// are seldom NULL there.
    pub(super) fn row(&mut self, values: &[(&str, Datum)]) {
        let quiet = self.table.kind == Kind::View;
        let mut row: Vec<Datum> =
            self.table.columns.iter().map(|(_, ty)| if quiet { Datum::Null } else { nothing(*ty) }).collect();
        for (name, value) in values {
            if let Some(at) = self.table.columns.iter().position(|(column, _)| column == name) {
                row[at] = value.clone();
            }
        }
        self.rows.push(row.into());
    }
}

pub(super) fn oid(oid: Oid) -> Datum {
    Datum::Int(oid.into())
}

pub(super) fn int(number: impl TryInto<i64>) -> Datum {
    Datum::Int(number.try_into().unwrap_or(i64::MAX))
}

pub(super) fn yes(truth: bool) -> Datum {
    Datum::Bool(truth)
}

/// `YES` or `NO`, as `information_schema` says it.
pub(super) fn yes_no(truth: bool) -> Datum {
    Datum::text(if truth { "YES" } else { "NO" })
}

/// A one-dimensional array.
pub(super) fn array(element: Type, items: Vec<Datum>) -> Datum {
    let dimensions = if items.is_empty() { Vec::new() } else { vec![(items.len(), 1)] };
    Datum::Array(ArrayValue { element, dimensions, items }.into())
}

/// An `int2vector` or `oidvector`: counts from zero.
pub(super) fn vector(element: Type, items: Vec<Datum>) -> Datum {
    let dimensions = if items.is_empty() { Vec::new() } else { vec![(items.len(), 0)] };
    Datum::Array(ArrayValue { element, dimensions, items }.into())
}

pub(super) fn text(text: impl AsRef<str>) -> Datum {
    Datum::text(text)
}
