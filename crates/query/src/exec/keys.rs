//! Values as keys: compared, hashed, sorted by the rules of their type.

use crate::types::encode;
use crate::types::{Datum, Type};

pub(crate) use crate::types::compare::compare;

/// Appends bytes that are equal for equal values, NULLs included.
pub(crate) fn append(key: &mut Vec<u8>, value: &Datum, ty: Type) {
    encode::hash_key(key, value, ty);
}

/// Appends bytes whose order is that of the values.
pub(crate) fn append_sorted(key: &mut Vec<u8>, value: &Datum, ty: Type, descending: bool, nulls_first: bool) {
    encode::encode(key, value, ty, descending, nulls_first);
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
