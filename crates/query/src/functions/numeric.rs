//! Operators and functions of exact numbers.

use crate::error::{Result, SqlError, SqlState};
use crate::functions::args::{Args, out_of_range};
use crate::functions::define::f;
use crate::functions::{Env, Function, Site};
use crate::types::numeric::Numeric;
use crate::types::{Datum, Type as T};

/// The operators.
pub(super) static OPERATORS: &[Function] = &[
    f("+", &[T::NUMERIC, T::NUMERIC], T::NUMERIC, add),
    f("-", &[T::NUMERIC, T::NUMERIC], T::NUMERIC, subtract),
    f("*", &[T::NUMERIC, T::NUMERIC], T::NUMERIC, multiply),
    f("/", &[T::NUMERIC, T::NUMERIC], T::NUMERIC, divide),
    f("%", &[T::NUMERIC, T::NUMERIC], T::NUMERIC, modulo),
    f("^", &[T::NUMERIC, T::NUMERIC], T::NUMERIC, power),
    f("+", &[T::NUMERIC], T::NUMERIC, same),
    f("-", &[T::NUMERIC], T::NUMERIC, negate),
    f("@", &[T::NUMERIC], T::NUMERIC, absolute),
];

/// The functions.
pub(super) static FUNCTIONS: &[Function] = &[
    f("abs", &[T::NUMERIC], T::NUMERIC, absolute),
    f("sign", &[T::NUMERIC], T::NUMERIC, sign),
    f("mod", &[T::NUMERIC, T::NUMERIC], T::NUMERIC, modulo),
    f("div", &[T::NUMERIC, T::NUMERIC], T::NUMERIC, divide_whole),
    f("round", &[T::NUMERIC], T::NUMERIC, round),
    f("round", &[T::NUMERIC, T::INT4], T::NUMERIC, round),
    f("trunc", &[T::NUMERIC], T::NUMERIC, truncate),
    f("trunc", &[T::NUMERIC, T::INT4], T::NUMERIC, truncate),
    f("ceil", &[T::NUMERIC], T::NUMERIC, ceil),
    f("ceiling", &[T::NUMERIC], T::NUMERIC, ceil),
    f("floor", &[T::NUMERIC], T::NUMERIC, floor),
    f("sqrt", &[T::NUMERIC], T::NUMERIC, sqrt),
    f("exp", &[T::NUMERIC], T::NUMERIC, exp),
    f("ln", &[T::NUMERIC], T::NUMERIC, ln),
    f("log", &[T::NUMERIC], T::NUMERIC, log_ten),
    f("log10", &[T::NUMERIC], T::NUMERIC, log_ten),
    f("log", &[T::NUMERIC, T::NUMERIC], T::NUMERIC, log),
    f("pow", &[T::NUMERIC, T::NUMERIC], T::NUMERIC, power),
    f("power", &[T::NUMERIC, T::NUMERIC], T::NUMERIC, power),
    f("factorial", &[T::INT8], T::NUMERIC, factorial),
    f("gcd", &[T::NUMERIC, T::NUMERIC], T::NUMERIC, gcd),
    f("lcm", &[T::NUMERIC, T::NUMERIC], T::NUMERIC, lcm),
    f("scale", &[T::NUMERIC], T::INT4, scale),
    f("min_scale", &[T::NUMERIC], T::INT4, min_scale),
    f("trim_scale", &[T::NUMERIC], T::NUMERIC, trim_scale),
    f("width_bucket", &[T::NUMERIC, T::NUMERIC, T::NUMERIC, T::INT4], T::INT4, width_bucket),
];

/// A numeric as a value.
pub(super) fn exact(value: Numeric) -> Datum {
    Datum::Numeric(value.into())
}

fn add(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.numeric(0)?.add(args.numeric(1)?).map(exact)
}

fn subtract(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.numeric(0)?.subtract(args.numeric(1)?).map(exact)
}

fn multiply(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.numeric(0)?.multiply(args.numeric(1)?).map(exact)
}

fn divide(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.numeric(0)?.divide(args.numeric(1)?).map(exact)
}

fn modulo(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.numeric(0)?.modulo(args.numeric(1)?).map(exact)
}

fn divide_whole(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.numeric(0)?.divide_whole(args.numeric(1)?).map(exact)
}

fn power(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.numeric(0)?.power(args.numeric(1)?).map(exact)
}

fn same(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(args.at(0).clone())
}

fn negate(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(exact(args.numeric(0)?.negate()))
}

fn absolute(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(exact(args.numeric(0)?.abs()))
}

fn sign(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(exact(args.numeric(0)?.sign()))
}

/// The number of digits, none unless they are given.
fn digits(args: &[Datum]) -> Result<i64> {
    if args.len() > 1 { args.int(1) } else { Ok(0) }
}

fn round(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.numeric(0)?.round(digits(args)?).map(exact)
}

fn truncate(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.numeric(0)?.truncate(digits(args)?).map(exact)
}

fn ceil(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.numeric(0)?.ceil().map(exact)
}

fn floor(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.numeric(0)?.floor().map(exact)
}

fn sqrt(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.numeric(0)?.sqrt().map(exact)
}

fn exp(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.numeric(0)?.exp().map(exact)
}

fn ln(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.numeric(0)?.ln().map(exact)
}

fn log_ten(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.numeric(0)?.log(&Numeric::from(10)).map(exact)
}

fn log(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.numeric(1)?.log(args.numeric(0)?).map(exact)
}

fn factorial(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Numeric::factorial(args.int(0)?).map(exact)
}

fn gcd(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.numeric(0)?.gcd(args.numeric(1)?).map(exact)
}

fn lcm(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.numeric(0)?.lcm(args.numeric(1)?).map(exact)
}

fn scale(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(args.numeric(0)?.scale().map_or(Datum::Null, |scale| Datum::Int(scale as i64)))
}

fn min_scale(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(args.numeric(0)?.min_scale().map_or(Datum::Null, |scale| Datum::Int(scale as i64)))
}

fn trim_scale(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.numeric(0)?.trim_scale().map(exact)
}

fn width_bucket(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (value, low, high, count) = (args.numeric(0)?, args.numeric(1)?, args.numeric(2)?, args.int(3)?);
    if count <= 0 {
        return Err(bucket_error("count must be greater than zero"));
    }
    if value.is_nan() || low.is_nan() || high.is_nan() {
        return Err(bucket_error("operand, lower bound, and upper bound cannot be NaN"));
    }
    if !low.is_finite() || !high.is_finite() {
        return Err(bucket_error("lower and upper bounds must be finite"));
    }
    if low == high {
        return Err(bucket_error("lower bound cannot equal upper bound"));
    }
    let (below, above) = if low < high { (value < low, value >= high) } else { (value > low, value <= high) };
    if below {
        return Ok(Datum::Int(0));
    }
    if above {
        return super::arithmetic::fit(i128::from(count) + 1, T::INT4);
    }
    // The quotient is rounded as that of `/` is, so that a value just below a bound counts as having reached it.
    let offset = value.subtract(low)?.multiply(&Numeric::from(count))?;
    let quotient = offset.divide(&high.subtract(low)?)?;
    if quotient >= Numeric::from(count) {
        return Ok(Datum::Int(count));
    }
    let bucket = quotient.floor()?.to_i64_exact().ok_or_else(|| out_of_range("integer"))?;
    Ok(Datum::Int(bucket + 1))
}

/// `2201G`
pub(super) fn bucket_error(message: &str) -> SqlError {
    SqlError::new(SqlState("2201G"), message)
}
