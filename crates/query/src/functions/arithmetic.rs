//! `+ - * / %` and bit operators of the integers and floats.
//!
//! All integers are one kind of value: what differs by type is the range of the result.

use crate::error::{Result, SqlError, SqlState};
use crate::functions::args::{Args, division_by_zero, out_of_range};
use crate::functions::define::f;
use crate::functions::{Env, Function, Site};
use crate::types::{Datum, Type as T};

macro_rules! integers {
    ($($left:ident $right:ident $result:ident,)*) => {
        &[$(
            f("+", &[T::$left, T::$right], T::$result, add),
            f("-", &[T::$left, T::$right], T::$result, subtract),
            f("*", &[T::$left, T::$right], T::$result, multiply),
            f("/", &[T::$left, T::$right], T::$result, divide),
        )*]
    };
}

/// The four basic operations, with PostgreSQL's mixed forms.
pub(super) static INTEGERS: &[Function] = integers! {
    INT2 INT2 INT2, INT2 INT4 INT4, INT2 INT8 INT8,
    INT4 INT2 INT4, INT4 INT4 INT4, INT4 INT8 INT8,
    INT8 INT2 INT8, INT8 INT4 INT8, INT8 INT8 INT8,
};

macro_rules! same_integers {
    ($($ty:ident,)*) => {
        &[$(
            f("%", &[T::$ty, T::$ty], T::$ty, modulo),
            f("&", &[T::$ty, T::$ty], T::$ty, bit_and),
            f("|", &[T::$ty, T::$ty], T::$ty, bit_or),
            f("#", &[T::$ty, T::$ty], T::$ty, bit_xor),
            f("~", &[T::$ty], T::$ty, bit_not),
            f("<<", &[T::$ty, T::INT4], T::$ty, shift_left),
            f(">>", &[T::$ty, T::INT4], T::$ty, shift_right),
            f("+", &[T::$ty], T::$ty, same),
            f("-", &[T::$ty], T::$ty, negate),
            f("@", &[T::$ty], T::$ty, absolute),
        )*]
    };
}

/// Operations on integers of one type.
pub(super) static SAME_INTEGERS: &[Function] = same_integers! { INT2, INT4, INT8, };

macro_rules! floats {
    ($($left:ident $right:ident $result:ident,)*) => {
        &[$(
            f("+", &[T::$left, T::$right], T::$result, add_float),
            f("-", &[T::$left, T::$right], T::$result, subtract_float),
            f("*", &[T::$left, T::$right], T::$result, multiply_float),
            f("/", &[T::$left, T::$right], T::$result, divide_float),
        )*]
    };
}

/// Operations on floats.
pub(super) static FLOATS: &[Function] = floats! {
    FLOAT4 FLOAT4 FLOAT4, FLOAT4 FLOAT8 FLOAT8, FLOAT8 FLOAT4 FLOAT8, FLOAT8 FLOAT8 FLOAT8,
};

/// Operations on one float.
pub(super) static FLOAT_SIGNS: &[Function] = &[
    f("+", &[T::FLOAT4], T::FLOAT4, same),
    f("-", &[T::FLOAT4], T::FLOAT4, negate_float),
    f("@", &[T::FLOAT4], T::FLOAT4, absolute_float),
    f("+", &[T::FLOAT8], T::FLOAT8, same),
    f("-", &[T::FLOAT8], T::FLOAT8, negate_float),
    f("@", &[T::FLOAT8], T::FLOAT8, absolute_float),
];

/// The functions with the same meaning.
pub(super) static FUNCTIONS: &[Function] = &[
    f("abs", &[T::INT2], T::INT2, absolute),
    f("abs", &[T::INT4], T::INT4, absolute),
    f("abs", &[T::INT8], T::INT8, absolute),
    f("abs", &[T::FLOAT4], T::FLOAT4, absolute_float),
    f("abs", &[T::FLOAT8], T::FLOAT8, absolute_float),
    f("mod", &[T::INT2, T::INT2], T::INT2, modulo),
    f("mod", &[T::INT4, T::INT4], T::INT4, modulo),
    f("mod", &[T::INT8, T::INT8], T::INT8, modulo),
    f("gcd", &[T::INT4, T::INT4], T::INT4, greatest_common_divisor),
    f("gcd", &[T::INT8, T::INT8], T::INT8, greatest_common_divisor),
    f("lcm", &[T::INT4, T::INT4], T::INT4, least_common_multiple),
    f("lcm", &[T::INT8, T::INT8], T::INT8, least_common_multiple),
];

/// An integer of this type, if it is in its range.
pub(crate) fn fit(value: i128, ty: T) -> Result<Datum> {
    let (name, fits) = match ty {
        T::INT2 => ("smallint", i16::try_from(value).is_ok()),
        T::INT4 => ("integer", i32::try_from(value).is_ok()),
        _ => ("bigint", i64::try_from(value).is_ok()),
    };
    if fits { Ok(Datum::Int(value as i64)) } else { Err(out_of_range(name)) }
}

fn add(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    fit(i128::from(args.int(0)?) + i128::from(args.int(1)?), site.returns.ty)
}

fn subtract(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    fit(i128::from(args.int(0)?) - i128::from(args.int(1)?), site.returns.ty)
}

fn multiply(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    fit(i128::from(args.int(0)?) * i128::from(args.int(1)?), site.returns.ty)
}

fn divide(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let divisor = args.int(1)?;
    if divisor == 0 {
        return Err(division_by_zero());
    }
    fit(i128::from(args.int(0)?) / i128::from(divisor), site.returns.ty)
}

fn modulo(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let divisor = args.int(1)?;
    if divisor == 0 {
        return Err(division_by_zero());
    }
    Ok(Datum::Int(args.int(0)?.wrapping_rem(divisor)))
}

fn same(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(args.at(0).clone())
}

fn negate(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    fit(-i128::from(args.int(0)?), site.returns.ty)
}

fn absolute(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    fit(i128::from(args.int(0)?).abs(), site.returns.ty)
}

fn bit_and(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(args.int(0)? & args.int(1)?))
}

fn bit_or(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(args.int(0)? | args.int(1)?))
}

fn bit_xor(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(args.int(0)? ^ args.int(1)?))
}

fn bit_not(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(!args.int(0)?))
}

/// Shifts wrap their distance as the processor does, and drop what leaves the type.
fn shift_left(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let (value, distance) = (args.int(0)?, args.int(1)?);
    Ok(Datum::Int(match site.returns.ty {
        T::INT2 => i64::from((value as i32).wrapping_shl(distance as u32) as i16),
        T::INT4 => i64::from((value as i32).wrapping_shl(distance as u32)),
        _ => value.wrapping_shl(distance as u32),
    }))
}

fn shift_right(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let (value, distance) = (args.int(0)?, args.int(1)?);
    Ok(Datum::Int(match site.returns.ty {
        T::INT2 | T::INT4 => i64::from((value as i32).wrapping_shr(distance as u32)),
        _ => value.wrapping_shr(distance as u32),
    }))
}

fn greatest_common_divisor(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    fit(gcd(args.int(0)?.into(), args.int(1)?.into()), site.returns.ty)
}

fn least_common_multiple(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let (a, b) = (i128::from(args.int(0)?), i128::from(args.int(1)?));
    if a == 0 || b == 0 {
        return Ok(Datum::Int(0));
    }
    fit((a / gcd(a, b) * b).abs(), site.returns.ty)
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn float_error(what: &str) -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("value out of range: {what}"))
}

/// A float of this type: rounded to it, and refused if finite operands left its range. `zero_allowed`: the exact result
/// may be zero, so a zero is no underflow.
pub(crate) fn float_result(value: f64, ty: T, finite: bool, zero_allowed: bool) -> Result<Datum> {
    let value = if ty == T::FLOAT4 { f64::from(value as f32) } else { value };
    if value.is_infinite() && finite {
        return Err(float_error("overflow"));
    }
    if value == 0.0 && !zero_allowed {
        return Err(float_error("underflow"));
    }
    Ok(Datum::Float(value))
}

fn add_float(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let (a, b) = (args.float(0)?, args.float(1)?);
    float_result(a + b, site.returns.ty, a.is_finite() && b.is_finite(), true)
}

fn subtract_float(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let (a, b) = (args.float(0)?, args.float(1)?);
    float_result(a - b, site.returns.ty, a.is_finite() && b.is_finite(), true)
}

fn multiply_float(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let (a, b) = (args.float(0)?, args.float(1)?);
    float_result(a * b, site.returns.ty, a.is_finite() && b.is_finite(), a == 0.0 || b == 0.0)
}

fn divide_float(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let (a, b) = (args.float(0)?, args.float(1)?);
    if b == 0.0 && !a.is_nan() {
        return Err(division_by_zero());
    }
    float_result(a / b, site.returns.ty, a.is_finite(), a == 0.0 || b.is_infinite())
}

fn negate_float(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Float(-args.float(0)?))
}

fn absolute_float(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Float(args.float(0)?.abs()))
}
