//! `= <> < <= > >=` of every type that has an order, and of types that only have equality.

use std::cmp::Ordering;

use crate::error::Result;
use crate::functions::define::f;
use crate::functions::{Env, Function, Site};
use crate::types::compare::compare;
use crate::types::{Datum, Type as T};

macro_rules! comparisons {
    ($($left:ident $right:ident,)*) => {
        &[$(
            f("=", &[T::$left, T::$right], T::BOOL, equal),
            f("<>", &[T::$left, T::$right], T::BOOL, not_equal),
            f("<", &[T::$left, T::$right], T::BOOL, less),
            f("<=", &[T::$left, T::$right], T::BOOL, less_or_equal),
            f(">", &[T::$left, T::$right], T::BOOL, greater),
            f(">=", &[T::$left, T::$right], T::BOOL, greater_or_equal),
        )*]
    };
}

/// The operators. Text types have one form for all: they are compared as they are, char(n) without its padding.
pub(super) static OPERATORS: &[Function] = comparisons! {
    BOOL BOOL, CHAR_INTERNAL CHAR_INTERNAL, NAME NAME, NAME TEXT, TEXT NAME, TEXT TEXT, BPCHAR BPCHAR,
    INT2 INT2, INT2 INT4, INT2 INT8, INT4 INT2, INT4 INT4, INT4 INT8, INT8 INT2, INT8 INT4, INT8 INT8,
    OID OID, FLOAT4 FLOAT4, FLOAT4 FLOAT8, FLOAT8 FLOAT4, FLOAT8 FLOAT8, NUMERIC NUMERIC, MONEY MONEY,
    BYTEA BYTEA, UUID UUID, JSONB JSONB, INET INET, MACADDR MACADDR, BIT BIT, VARBIT VARBIT, PG_LSN PG_LSN, TID TID,
    DATE DATE, TIME TIME, TIMETZ TIMETZ, TIMESTAMP TIMESTAMP, TIMESTAMPTZ TIMESTAMPTZ, INTERVAL INTERVAL,
    ANYARRAY ANYARRAY, ANYENUM ANYENUM, RECORD RECORD, OIDVECTOR OIDVECTOR, TSVECTOR TSVECTOR,
};

/// Texts compared by their bytes, whatever the collation.
pub(super) static PATTERN_ORDER: &[Function] = &[
    f("~<~", &[T::TEXT, T::TEXT], T::BOOL, less),
    f("~<=~", &[T::TEXT, T::TEXT], T::BOOL, less_or_equal),
    f("~>~", &[T::TEXT, T::TEXT], T::BOOL, greater),
    f("~>=~", &[T::TEXT, T::TEXT], T::BOOL, greater_or_equal),
    f("~<~", &[T::BPCHAR, T::BPCHAR], T::BOOL, less),
    f("~<=~", &[T::BPCHAR, T::BPCHAR], T::BOOL, less_or_equal),
    f("~>~", &[T::BPCHAR, T::BPCHAR], T::BOOL, greater),
    f("~>=~", &[T::BPCHAR, T::BPCHAR], T::BOOL, greater_or_equal),
];

/// Types that can only be equal or not.
pub(super) static EQUALITY: &[Function] = &[
    f("=", &[T::XID, T::XID], T::BOOL, equal),
    f("=", &[T::XID, T::INT4], T::BOOL, equal),
    f("=", &[T::CID, T::CID], T::BOOL, equal),
    f("<>", &[T::XID, T::XID], T::BOOL, not_equal),
    f("<>", &[T::XID, T::INT4], T::BOOL, not_equal),
    f("=", &[T::ACLITEM, T::ACLITEM], T::BOOL, equal),
];

pub(super) fn equal(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(order(args, site) == Ordering::Equal))
}

pub(super) fn not_equal(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(order(args, site) != Ordering::Equal))
}

pub(super) fn less(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(order(args, site) == Ordering::Less))
}

pub(super) fn less_or_equal(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(order(args, site) != Ordering::Greater))
}

pub(super) fn greater(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(order(args, site) == Ordering::Greater))
}

pub(super) fn greater_or_equal(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(order(args, site) != Ordering::Less))
}

fn order(args: &[Datum], site: &Site<'_>) -> Ordering {
    compare(&args[0], &args[1], site.args[0].ty)
}
