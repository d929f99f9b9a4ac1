//! Order and equality of values, as the btree operator classes have them.
//!
//! Both values are of one type and not NULL (where NULLs go is for the caller to say). Text is compared by its bytes
//! (collation "C").

use std::cmp::Ordering;

use crate::scalar::string::unpadded;
use crate::{ArrayValue, Datum, Interval, RecordValue, Type};

/// Which of two values of a type comes first.
pub fn compare(left: &Datum, right: &Datum, ty: Type) -> Ordering {
    match (left, right) {
        (Datum::Int(left), Datum::Int(right)) => left.cmp(right),
        (Datum::Text(left), Datum::Text(right)) => compare_text(left, right, ty),
        (Datum::Bool(left), Datum::Bool(right)) => left.cmp(right),
        (Datum::Float(left), Datum::Float(right)) => compare_floats(*left, *right),
        (Datum::Numeric(left), Datum::Numeric(right)) => left.cmp(right),
        (Datum::Bytes(left), Datum::Bytes(right)) => left.cmp(right),
        (Datum::Date(left), Datum::Date(right)) => left.cmp(right),
        (Datum::Time(left), Datum::Time(right)) => left.cmp(right),
        (Datum::Timestamp(left), Datum::Timestamp(right)) => left.cmp(right),
        (Datum::TimeTz(left, left_zone), Datum::TimeTz(right, right_zone)) => {
            timetz_key(*left, *left_zone).cmp(&timetz_key(*right, *right_zone))
        }
        (Datum::Interval(left), Datum::Interval(right)) => interval_key(left).cmp(&interval_key(right)),
        (Datum::Uuid(left), Datum::Uuid(right)) => left.cmp(right),
        (Datum::Jsonb(left), Datum::Jsonb(right)) => left.cmp(right),
        (Datum::Array(left), Datum::Array(right)) => compare_arrays(left, right),
        (Datum::Record(left), Datum::Record(right)) => compare_records(left, right),
        (Datum::Enum(left), Datum::Enum(right)) => left.order.total_cmp(&right.order),
        _ => rank(left).cmp(&rank(right)),
    }
}

/// Whether two values of a type are equal.
pub fn equal(left: &Datum, right: &Datum, ty: Type) -> bool {
    compare(left, right, ty) == Ordering::Equal
}

/// Floats in PostgreSQL's order: NaN is equal to itself and larger than all.
pub fn compare_floats(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| left.is_nan().cmp(&right.is_nan()))
}

/// Whether values of this type can be ordered; json, for one, cannot.
pub fn is_ordered(ty: Type) -> bool {
    !matches!(ty, Type::JSON | Type::XML | Type::ACLITEM)
}

/// Two values, or none: NULL is equal to NULL and larger than all (inside of arrays and records).
fn compare_nullable(left: &Datum, right: &Datum, ty: Type) -> Ordering {
    match (left.is_null(), right.is_null()) {
        (false, false) => compare(left, right, ty),
        (left, right) => left.cmp(&right),
    }
}

fn compare_text(left: &str, right: &str, ty: Type) -> Ordering {
    match ty {
        Type::BPCHAR => unpadded(left).cmp(unpadded(right)),
        Type::CITEXT => left.to_lowercase().cmp(&right.to_lowercase()),
        Type::INET | Type::CIDR => crate::network::compare(left, right),
        Type::PG_LSN => crate::names::lsn_key(left).cmp(&crate::names::lsn_key(right)),
        Type::TID => crate::names::tid_key(left).cmp(&crate::names::tid_key(right)),
        _ => left.cmp(right),
    }
}

/// Items one by one, then the number of items, then the shape.
fn compare_arrays(left: &ArrayValue, right: &ArrayValue) -> Ordering {
    for (left_item, right_item) in left.items.iter().zip(&right.items) {
        let order = compare_nullable(left_item, right_item, left.element);
        if order != Ordering::Equal {
            return order;
        }
    }
    let shape = |array: &ArrayValue| (array.items.len(), array.dimensions.len());
    shape(left).cmp(&shape(right)).then_with(|| left.dimensions.cmp(&right.dimensions))
}

fn compare_records(left: &RecordValue, right: &RecordValue) -> Ordering {
    let types = left.shape.fields.iter().map(|(_, typed)| typed.ty);
    for ((left_field, right_field), ty) in left.fields.iter().zip(&right.fields).zip(types) {
        let order = compare_nullable(left_field, right_field, ty);
        if order != Ordering::Equal {
            return order;
        }
    }
    left.fields.len().cmp(&right.fields.len())
}

/// Months count as thirty days, days as 24 hours.
pub fn interval_key(interval: &Interval) -> i128 {
    const DAY: i128 = 86_400_000_000;
    i128::from(interval.micros) + (i128::from(interval.months) * 30 + i128::from(interval.days)) * DAY
}

/// The time in UTC, and then the zone, so that equal means the same in all.
pub fn timetz_key(micros: i64, zone: i32) -> (i64, i32) {
    (micros + i64::from(zone) * 1_000_000, zone)
}

/// Where values of different forms stand. They only meet when a type is not what it claims to be.
fn rank(datum: &Datum) -> u8 {
    match datum {
        Datum::Null => 255,
        Datum::Bool(_) => 0,
        Datum::Int(_) => 1,
        Datum::Float(_) => 2,
        Datum::Numeric(_) => 3,
        Datum::Text(_) => 4,
        Datum::Bytes(_) => 5,
        Datum::Date(_) => 6,
        Datum::Time(_) => 7,
        Datum::TimeTz(..) => 8,
        Datum::Timestamp(_) => 9,
        Datum::Interval(_) => 10,
        Datum::Uuid(_) => 11,
        Datum::Jsonb(_) => 12,
        Datum::Array(_) => 13,
        Datum::Record(_) => 14,
        Datum::Enum(_) => 15,
    }
}
