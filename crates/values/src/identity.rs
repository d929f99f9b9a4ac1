//! Identity of values: whether two values are the same in everything that an operator, a function or the output shows.
//!
//! SQL's `=` is coarser (1.0 = 1.00, equal texts of a collation), and some types have none. A value that was read twice
//! from one version of a row is always identical to itself.

use std::sync::Arc;

use crate::Datum;
use crate::json::Json;
use crate::numeric::Numeric;

impl Datum {
    /// Whether the values are the same in every respect.
    pub fn is_identical(&self, other: &Datum) -> bool {
        match (self, other) {
            (Datum::Null, Datum::Null) => true,
            (Datum::Bool(one), Datum::Bool(two)) => one == two,
            (Datum::Int(one), Datum::Int(two)) => one == two,
            (Datum::Float(one), Datum::Float(two)) => one.to_bits() == two.to_bits(),
            (Datum::Numeric(one), Datum::Numeric(two)) => Arc::ptr_eq(one, two) || same_number(one, two),
            (Datum::Text(one), Datum::Text(two)) => one == two,
            (Datum::Bytes(one), Datum::Bytes(two)) => one == two,
            (Datum::Date(one), Datum::Date(two)) => one == two,
            (Datum::Time(one), Datum::Time(two)) | (Datum::Timestamp(one), Datum::Timestamp(two)) => one == two,
            (Datum::TimeTz(one, zone), Datum::TimeTz(two, other)) => one == two && zone == other,
            (Datum::Interval(one), Datum::Interval(two)) => one == two,
            (Datum::Uuid(one), Datum::Uuid(two)) => one == two,
            (Datum::Jsonb(one), Datum::Jsonb(two)) => Arc::ptr_eq(one, two) || same_json(one, two),
            (Datum::Array(one), Datum::Array(two)) => {
                Arc::ptr_eq(one, two) || one.dimensions == two.dimensions && same_items(&one.items, &two.items)
            }
            (Datum::Record(one), Datum::Record(two)) => Arc::ptr_eq(one, two) || same_items(&one.fields, &two.fields),
            (Datum::Enum(one), Datum::Enum(two)) => one.ty == two.ty && one.order == two.order,
            // Values of one column have one form.
            _ => false,
        }
    }
}

fn same_items(one: &[Datum], two: &[Datum]) -> bool {
    one.len() == two.len() && one.iter().zip(two).all(|(one, two)| one.is_identical(two))
}

fn same_number(one: &Numeric, two: &Numeric) -> bool {
    one == two && one.scale() == two.scale()
}

fn same_json(one: &Json, two: &Json) -> bool {
    match (one, two) {
        (Json::Number(one), Json::Number(two)) => same_number(one, two),
        (Json::Array(one), Json::Array(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(one, two)| same_json(one, two))
        }
        (Json::Object(one), Json::Object(two)) => {
            one.len() == two.len()
                && one.iter().zip(two).all(|((key, one), (other, two))| key == other && same_json(one, two))
        }
        (one, two) => one == two,
    }
}
