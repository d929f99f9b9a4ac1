//! Operators of money, which is a number of cents.

use crate::error::{Result, SqlError, SqlState};
use crate::functions::args::{Args, division_by_zero};
use crate::functions::define::f;
use crate::functions::{Env, Function, Site};
use crate::types::{Datum, Type as T};

/// The operators.
pub(super) static OPERATORS: &[Function] = &[
    f("+", &[T::MONEY, T::MONEY], T::MONEY, |_, args, _| whole(args.int(0)?.checked_add(args.int(1)?))),
    f("-", &[T::MONEY, T::MONEY], T::MONEY, |_, args, _| whole(args.int(0)?.checked_sub(args.int(1)?))),
    f("/", &[T::MONEY, T::MONEY], T::FLOAT8, ratio),
    f("*", &[T::MONEY, T::INT2], T::MONEY, times),
    f("*", &[T::MONEY, T::INT4], T::MONEY, times),
    f("*", &[T::MONEY, T::INT8], T::MONEY, times),
    f("*", &[T::INT2, T::MONEY], T::MONEY, times),
    f("*", &[T::INT4, T::MONEY], T::MONEY, times),
    f("*", &[T::INT8, T::MONEY], T::MONEY, times),
    f("*", &[T::MONEY, T::FLOAT4], T::MONEY, |_, args, _| rounded(args.int(0)? as f64 * args.float(1)?)),
    f("*", &[T::MONEY, T::FLOAT8], T::MONEY, |_, args, _| rounded(args.int(0)? as f64 * args.float(1)?)),
    f("*", &[T::FLOAT4, T::MONEY], T::MONEY, |_, args, _| rounded(args.float(0)? * args.int(1)? as f64)),
    f("*", &[T::FLOAT8, T::MONEY], T::MONEY, |_, args, _| rounded(args.float(0)? * args.int(1)? as f64)),
    f("/", &[T::MONEY, T::INT2], T::MONEY, divide),
    f("/", &[T::MONEY, T::INT4], T::MONEY, divide),
    f("/", &[T::MONEY, T::INT8], T::MONEY, divide),
    f("/", &[T::MONEY, T::FLOAT4], T::MONEY, divide_float),
    f("/", &[T::MONEY, T::FLOAT8], T::MONEY, divide_float),
];

fn out_of_range() -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "money out of range")
}

fn whole(cents: Option<i64>) -> Result<Datum> {
    cents.map(Datum::Int).ok_or_else(out_of_range)
}

fn rounded(cents: f64) -> Result<Datum> {
    let cents = cents.round_ties_even();
    if cents.is_nan() || cents < i64::MIN as f64 || cents >= i64::MAX as f64 {
        return Err(out_of_range());
    }
    Ok(Datum::Int(cents as i64))
}

fn ratio(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    match args.int(1)? {
        0 => Err(division_by_zero()),
        divisor => Ok(Datum::Float(args.int(0)? as f64 / divisor as f64)),
    }
}

fn times(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    whole(args.int(0)?.checked_mul(args.int(1)?))
}

fn divide(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    match args.int(1)? {
        0 => Err(division_by_zero()),
        divisor => whole(args.int(0)?.checked_div(divisor)),
    }
}

fn divide_float(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    match args.float(1)? {
        0.0 => Err(division_by_zero()),
        divisor => rounded(args.int(0)? as f64 / divisor),
    }
}
