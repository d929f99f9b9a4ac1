//! Trigonometry in degrees, exact where the result is: `sind(30)` is 0.5.
//!
//! An angle is brought into the first quadrant; there the curves are scaled so that they go through the exact points.

use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::define::f;
use crate::functions::math::{checked, input_out_of_range};
use crate::functions::{Env, Function, Site};
use crate::types::{Datum, Type as T};

/// The functions.
pub(super) static FUNCTIONS: &[Function] = &[
    f("sind", &[T::FLOAT8], T::FLOAT8, sine),
    f("cosd", &[T::FLOAT8], T::FLOAT8, cosine),
    f("tand", &[T::FLOAT8], T::FLOAT8, tangent),
    f("cotd", &[T::FLOAT8], T::FLOAT8, cotangent),
    f("asind", &[T::FLOAT8], T::FLOAT8, arc_sine),
    f("acosd", &[T::FLOAT8], T::FLOAT8, arc_cosine),
    f("atand", &[T::FLOAT8], T::FLOAT8, arc_tangent),
    f("atan2d", &[T::FLOAT8, T::FLOAT8], T::FLOAT8, arc_tangent_of_two),
];

/// Sine between 0 and 90 degrees.
fn sine_first(degrees: f64) -> f64 {
    if degrees <= 30.0 { small_sine(degrees) } else { small_cosine(90.0 - degrees) }
}

fn cosine_first(degrees: f64) -> f64 {
    if degrees <= 60.0 { small_cosine(degrees) } else { small_sine(90.0 - degrees) }
}

fn small_sine(degrees: f64) -> f64 {
    degrees.to_radians().sin() / 30f64.to_radians().sin() / 2.0
}

fn small_cosine(degrees: f64) -> f64 {
    1.0 - (1.0 - degrees.to_radians().cos()) / (1.0 - 60f64.to_radians().cos()) / 2.0
}

/// The angle of the first quadrant, and the signs of sine and cosine.
fn quadrant(degrees: f64) -> (f64, f64, f64) {
    let mut angle = degrees % 360.0;
    let (mut sine, mut cosine) = (1.0, 1.0);
    if angle < 0.0 {
        angle = -angle;
        sine = -sine;
    }
    if angle > 180.0 {
        angle = 360.0 - angle;
        sine = -sine;
    }
    if angle > 90.0 {
        angle = 180.0 - angle;
        cosine = -cosine;
    }
    (angle, sine, cosine)
}

fn finite(args: &[Datum]) -> Result<f64> {
    let value = args.float(0)?;
    if value.is_infinite() { Err(input_out_of_range()) } else { Ok(value) }
}

fn sine(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (angle, sign, _) = quadrant(finite(args)?);
    Ok(Datum::Float(sign * sine_first(angle)))
}

fn cosine(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (angle, _, sign) = quadrant(finite(args)?);
    Ok(Datum::Float(sign * cosine_first(angle)))
}

fn tangent(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (angle, sine, cosine) = quadrant(finite(args)?);
    let at_45 = sine_first(45.0) / cosine_first(45.0);
    let value = sine * cosine * (sine_first(angle) / cosine_first(angle) / at_45);
    Ok(Datum::Float(if value == 0.0 { 0.0 } else { value }))
}

fn cotangent(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (angle, sine, cosine) = quadrant(finite(args)?);
    let at_45 = cosine_first(45.0) / sine_first(45.0);
    let value = sine * cosine * (cosine_first(angle) / sine_first(angle) / at_45);
    Ok(Datum::Float(if value == 0.0 { 0.0 } else { value }))
}

/// Arc sine of a number between 0 and 1.
fn arc_sine_first(value: f64) -> f64 {
    if value <= 0.5 { value.asin() / 0.5f64.asin() * 30.0 } else { 90.0 - value.acos() / 0.5f64.acos() * 60.0 }
}

fn arc_cosine_first(value: f64) -> f64 {
    if value <= 0.5 { 90.0 - value.asin() / 0.5f64.asin() * 30.0 } else { value.acos() / 0.5f64.acos() * 60.0 }
}

fn unit(args: &[Datum]) -> Result<f64> {
    let value = args.float(0)?;
    if (-1.0..=1.0).contains(&value) || value.is_nan() { Ok(value) } else { Err(input_out_of_range()) }
}

fn arc_sine(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let value = unit(args)?;
    Ok(Datum::Float(if value >= 0.0 { arc_sine_first(value) } else { -arc_sine_first(-value) }))
}

fn arc_cosine(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let value = unit(args)?;
    Ok(Datum::Float(if value >= 0.0 { arc_cosine_first(value) } else { 90.0 + arc_sine_first(-value) }))
}

fn arc_tangent(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    checked(args.float(0)?.atan() / 1f64.atan() * 45.0, true)
}

fn arc_tangent_of_two(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    checked(args.float(0)?.atan2(args.float(1)?) / 1f64.atan() * 45.0, true)
}
