//! Functions of floats: roots, powers, logarithms, trigonometry, random numbers.

use std::f64::consts::PI;

use crate::error::{Result, SqlError, SqlState};
use crate::functions::args::{Args, invalid_parameter};
use crate::functions::arithmetic::{fit, float_result};
use crate::functions::define::f;
use crate::functions::numeric::bucket_error;
use crate::functions::{Env, Function, Site};
use crate::types::{Datum, Type as T};

/// The operators.
pub(super) static OPERATORS: &[Function] = &[
    f("^", &[T::FLOAT8, T::FLOAT8], T::FLOAT8, power),
    f("|/", &[T::FLOAT8], T::FLOAT8, square_root),
    f("||/", &[T::FLOAT8], T::FLOAT8, cube_root),
];

/// The functions.
pub(super) static FUNCTIONS: &[Function] = &[
    f("sqrt", &[T::FLOAT8], T::FLOAT8, square_root),
    f("dsqrt", &[T::FLOAT8], T::FLOAT8, square_root),
    f("cbrt", &[T::FLOAT8], T::FLOAT8, cube_root),
    f("pow", &[T::FLOAT8, T::FLOAT8], T::FLOAT8, power),
    f("power", &[T::FLOAT8, T::FLOAT8], T::FLOAT8, power),
    f("dpow", &[T::FLOAT8, T::FLOAT8], T::FLOAT8, power),
    f("exp", &[T::FLOAT8], T::FLOAT8, exponential),
    f("ln", &[T::FLOAT8], T::FLOAT8, natural_logarithm),
    f("log", &[T::FLOAT8], T::FLOAT8, common_logarithm),
    f("log10", &[T::FLOAT8], T::FLOAT8, common_logarithm),
    f("round", &[T::FLOAT8], T::FLOAT8, round),
    f("trunc", &[T::FLOAT8], T::FLOAT8, truncate),
    f("ceil", &[T::FLOAT8], T::FLOAT8, ceil),
    f("ceiling", &[T::FLOAT8], T::FLOAT8, ceil),
    f("floor", &[T::FLOAT8], T::FLOAT8, floor),
    f("sign", &[T::FLOAT8], T::FLOAT8, sign),
    f("pi", &[], T::FLOAT8, pi),
    f("degrees", &[T::FLOAT8], T::FLOAT8, degrees),
    f("radians", &[T::FLOAT8], T::FLOAT8, radians),
    f("sin", &[T::FLOAT8], T::FLOAT8, sine),
    f("cos", &[T::FLOAT8], T::FLOAT8, cosine),
    f("tan", &[T::FLOAT8], T::FLOAT8, tangent),
    f("cot", &[T::FLOAT8], T::FLOAT8, cotangent),
    f("asin", &[T::FLOAT8], T::FLOAT8, arc_sine),
    f("acos", &[T::FLOAT8], T::FLOAT8, arc_cosine),
    f("atan", &[T::FLOAT8], T::FLOAT8, arc_tangent),
    f("atan2", &[T::FLOAT8, T::FLOAT8], T::FLOAT8, arc_tangent_of_two),
    f("sinh", &[T::FLOAT8], T::FLOAT8, hyperbolic_sine),
    f("cosh", &[T::FLOAT8], T::FLOAT8, hyperbolic_cosine),
    f("tanh", &[T::FLOAT8], T::FLOAT8, hyperbolic_tangent),
    f("asinh", &[T::FLOAT8], T::FLOAT8, inverse_hyperbolic_sine),
    f("acosh", &[T::FLOAT8], T::FLOAT8, inverse_hyperbolic_cosine),
    f("atanh", &[T::FLOAT8], T::FLOAT8, inverse_hyperbolic_tangent),
    f("random", &[], T::FLOAT8, random).volatile(),
    f("setseed", &[T::FLOAT8], T::VOID, set_seed).volatile(),
    f("width_bucket", &[T::FLOAT8, T::FLOAT8, T::FLOAT8, T::INT4], T::INT4, width_bucket),
];

/// A result of the processor, refused if it left the range of floats.
pub(super) fn checked(value: f64, finite: bool) -> Result<Datum> {
    float_result(value, T::FLOAT8, finite, true)
}

/// `22003`
pub(super) fn input_out_of_range() -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "input is out of range")
}

fn power_error(message: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_ARGUMENT_FOR_POWER_FUNCTION, message)
}

fn square_root(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let value = args.float(0)?;
    if value < 0.0 {
        return Err(power_error("cannot take square root of a negative number"));
    }
    Ok(Datum::Float(value.sqrt()))
}

fn cube_root(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Float(glibc_cbrt(args.float(0)?)))
}

/// The cube root as the C library computes it that PostgreSQL 15 runs on (glibc before 2.41): the last digit is often another
/// one than that of the nearest number.
fn glibc_cbrt(value: f64) -> f64 {
    const FACTORS: [f64; 5] = [0.6299605249474365, 0.7937005259840997, 1.0, 1.2599210498948732, 1.5874010519681996];
    if value == 0.0 || !value.is_finite() {
        return value + value;
    }
    let (mantissa, exponent) = mantissa_and_exponent(value.abs());
    let x = mantissa;
    let inner = (1.8346927748361308 - (0.7849323449766392 - 0.14526389938548637 * x) * x) * x;
    let start = 0.35489576504391984
        + ((1.508191937815849 - ((2.114994941673713 - ((2.4469312256353444 - inner) * x)) * x)) * x);
    let cube = start * start * start;
    let root = start * (cube + 2.0 * x) / (2.0 * cube + x) * FACTORS[(2 + exponent % 3) as usize];
    let root = root * 2f64.powi(exponent / 3);
    if value > 0.0 { root } else { -root }
}

/// A mantissa from 0.5 up to 1, and the exponent of two.
fn mantissa_and_exponent(value: f64) -> (f64, i32) {
    let (value, shift) = if value < f64::MIN_POSITIVE { (value * 2f64.powi(64), 64) } else { (value, 0) };
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1022;
    (f64::from_bits((bits & !(0x7ff << 52)) | (1022 << 52)), exponent - shift)
}

fn power(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (base, exponent) = (args.float(0)?, args.float(1)?);
    if base == 0.0 && exponent < 0.0 {
        return Err(power_error("zero raised to a negative power is undefined"));
    }
    if base < 0.0 && exponent.is_finite() && exponent.fract() != 0.0 {
        return Err(power_error("a negative number raised to a non-integer power yields a complex result"));
    }
    let value = base.powf(exponent);
    let finite = base.is_finite() && exponent.is_finite();
    float_result(value, T::FLOAT8, finite, !finite || base == 0.0)
}

fn exponential(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let value = args.float(0)?;
    float_result(value.exp(), T::FLOAT8, value.is_finite(), !value.is_finite())
}

fn logarithm(args: &[Datum], of: fn(f64) -> f64) -> Result<Datum> {
    let refused = |message: &str| Err(SqlError::new(SqlState::INVALID_ARGUMENT_FOR_LOG, message));
    match args.float(0)? {
        0.0 => refused("cannot take logarithm of zero"),
        value if value < 0.0 => refused("cannot take logarithm of a negative number"),
        value => checked(of(value), value.is_finite()),
    }
}

fn natural_logarithm(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    logarithm(args, f64::ln)
}

fn common_logarithm(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    logarithm(args, f64::log10)
}

/// Halves go to the even neighbour.
fn round(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Float(args.float(0)?.round_ties_even()))
}

fn truncate(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Float(args.float(0)?.trunc()))
}

fn ceil(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Float(args.float(0)?.ceil()))
}

fn floor(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Float(args.float(0)?.floor()))
}

fn sign(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let value = args.float(0)?;
    let sign = if value > 0.0 {
        1.0
    } else if value < 0.0 {
        -1.0
    } else {
        0.0
    };
    Ok(Datum::Float(sign))
}

fn pi(_: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Float(PI))
}

const RADIANS_PER_DEGREE: f64 = 0.017_453_292_519_943_295;

fn degrees(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let value = args.float(0)?;
    checked(value / RADIANS_PER_DEGREE, value.is_finite())
}

fn radians(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let value = args.float(0)?;
    let radians = value * RADIANS_PER_DEGREE;
    if radians == 0.0 && value != 0.0 {
        return Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: underflow"));
    }
    Ok(Datum::Float(radians))
}

/// A function of angles: infinite ones have no value.
fn of_angle(args: &[Datum], of: fn(f64) -> f64) -> Result<Datum> {
    let value = args.float(0)?;
    if value.is_infinite() {
        return Err(input_out_of_range());
    }
    Ok(Datum::Float(of(value)))
}

fn sine(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    of_angle(args, f64::sin)
}

fn cosine(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    of_angle(args, f64::cos)
}

fn tangent(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    of_angle(args, f64::tan)
}

fn cotangent(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    of_angle(args, |value| 1.0 / value.tan())
}

/// A function of numbers between these bounds.
fn within(args: &[Datum], low: f64, high: f64, of: fn(f64) -> f64) -> Result<Datum> {
    let value = args.float(0)?;
    if value < low || value > high {
        return Err(input_out_of_range());
    }
    Ok(Datum::Float(of(value)))
}

fn arc_sine(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    within(args, -1.0, 1.0, f64::asin)
}

fn arc_cosine(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    within(args, -1.0, 1.0, f64::acos)
}

fn arc_tangent(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Float(args.float(0)?.atan()))
}

fn arc_tangent_of_two(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Float(args.float(0)?.atan2(args.float(1)?)))
}

fn hyperbolic_sine(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Float(args.float(0)?.sinh()))
}

fn hyperbolic_cosine(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Float(args.float(0)?.cosh()))
}

fn hyperbolic_tangent(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Float(args.float(0)?.tanh()))
}

fn inverse_hyperbolic_sine(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Float(area(args.float(0)?, f64::asinh)))
}

fn inverse_hyperbolic_cosine(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    within(args, 1.0, f64::INFINITY, |value| area(value, f64::acosh))
}

/// The inverse of a hyperbolic function, which grows as the logarithm of twice its argument. That is what it comes to where
/// the square of the argument is too large for a float.
fn area(value: f64, of: fn(f64) -> f64) -> f64 {
    if value.abs() < 1e150 || value.is_infinite() {
        return of(value);
    }
    (value.abs().ln() + std::f64::consts::LN_2).copysign(value)
}

fn inverse_hyperbolic_tangent(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    within(args, -1.0, 1.0, f64::atanh)
}

/// A number from 0 up to 1, from the database's seed.
fn random(env: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Float((env.random_bits() >> 11) as f64 / (1u64 << 53) as f64))
}

/// Randomness is the database's seed's; the argument is only checked.
fn set_seed(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let seed = args.float(0)?;
    if !(-1.0..=1.0).contains(&seed) {
        return Err(invalid_parameter(format!("setseed parameter {seed} is out of allowed range [-1,1]")));
    }
    Ok(Datum::text(""))
}

fn width_bucket(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (value, low, high, count) = (args.float(0)?, args.float(1)?, args.float(2)?, args.int(3)?);
    if count <= 0 {
        return Err(bucket_error("count must be greater than zero"));
    }
    if value.is_nan() || low.is_nan() || high.is_nan() {
        return Err(bucket_error("operand, lower bound, and upper bound cannot be NaN"));
    }
    if low.is_infinite() || high.is_infinite() {
        return Err(bucket_error("lower and upper bounds must be finite"));
    }
    if low == high {
        return Err(bucket_error("lower bound cannot equal upper bound"));
    }
    let ascending = low < high;
    let (below, above) = if ascending { (value < low, value >= high) } else { (value > low, value <= high) };
    if below {
        return Ok(Datum::Int(0));
    }
    if above {
        return fit(i128::from(count) + 1, T::INT4);
    }
    let share = (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
    Ok(Datum::Int(((share * count as f64) as i64).min(count - 1) + 1))
}
