//! `= <> < <= > >=` of every type that has an order.

use std::cmp::Ordering;

use crate::error::Result;
use crate::functions::define::f;
use crate::functions::{Env, Function, Site};
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

/// The operators.
pub(super) static OPERATORS: &[Function] = comparisons! {
    BOOL BOOL, CHAR_INTERNAL CHAR_INTERNAL, NAME NAME, NAME TEXT, TEXT NAME, TEXT TEXT, BPCHAR BPCHAR,
    INT2 INT2, INT2 INT4, INT2 INT8, INT4 INT2, INT4 INT4, INT4 INT8, INT8 INT2, INT8 INT4, INT8 INT8,
};

fn equal(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(order(args, site)? == Ordering::Equal))
}

fn not_equal(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(order(args, site)? != Ordering::Equal))
}

fn less(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(order(args, site)? == Ordering::Less))
}

fn less_or_equal(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(order(args, site)? != Ordering::Greater))
}

fn greater(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(order(args, site)? == Ordering::Greater))
}

fn greater_or_equal(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(order(args, site)? != Ordering::Less))
}

fn order(args: &[Datum], site: &Site<'_>) -> Result<Ordering> {
    let _ = site;
    Ok(match (&args[0], &args[1]) {
        (Datum::Int(a), Datum::Int(b)) => a.cmp(b),
        (Datum::Text(a), Datum::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Datum::Bool(a), Datum::Bool(b)) => a.cmp(b),
        _ => return Err(crate::error::SqlError::unsupported("this comparison")),
    })
}
