//! Values as keys: compared, hashed, sorted by the rules of their type.

use std::cmp::Ordering;

use crate::types::{Datum, Type};

/// How two values that are not NULL compare.
pub(crate) fn compare(left: &Datum, right: &Datum, ty: Type) -> Ordering {
    let _ = ty;
    match (left, right) {
        (Datum::Int(left), Datum::Int(right)) => left.cmp(right),
        (Datum::Text(left), Datum::Text(right)) => left.cmp(right),
        (Datum::Bool(left), Datum::Bool(right)) => left.cmp(right),
        (Datum::Float(left), Datum::Float(right)) => left.total_cmp(right),
        _ => Ordering::Equal,
    }
}

/// Appends bytes that are equal for equal values, NULLs included.
pub(crate) fn append(key: &mut Vec<u8>, value: &Datum, ty: Type) {
    append_sorted(key, value, ty, false, false);
}

/// Appends bytes whose order is that of the values.
pub(crate) fn append_sorted(key: &mut Vec<u8>, value: &Datum, ty: Type, descending: bool, nulls_first: bool) {
    let _ = ty;
    let start = key.len();
    if value.is_null() {
        key.push(if nulls_first { 0 } else { 2 });
        return;
    }
    key.push(1);
    match value {
        Datum::Int(value) => key.extend_from_slice(&(value ^ i64::MIN).to_be_bytes()),
        Datum::Text(value) => {
            key.extend_from_slice(value.as_bytes());
            key.push(0);
        }
        Datum::Bool(value) => key.push(u8::from(*value)),
        _ => {}
    }
    if descending {
        key[start + 1..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

/// The key of a row's values.
pub(crate) fn of_row(row: &[Datum], types: &[Type]) -> Vec<u8> {
    let mut key = Vec::with_capacity(row.len() * 9);
    row.iter().zip(types).for_each(|(value, ty)| append(&mut key, value, *ty));
    key
}

/// The type by which values of two types are hashed, if `=` between them means equality by that type.
pub(crate) fn shared_equality(left: Type, right: Type) -> Option<Type> {
    let integer = |ty| matches!(ty, Type::INT2 | Type::INT4 | Type::INT8 | Type::OID);
    if integer(left) && integer(right) {
        return Some(Type::INT8);
    }
    (left == right).then_some(left)
}
