//! What is in an array, and how it is shaped.

use crate::budget;
use crate::error::{Result, SqlError, SqlState};
use crate::functions::args::Args;
use crate::functions::array::same;
use crate::functions::define::{f, set};
use crate::functions::kinds::{ANYCOMPATIBLE, ANYCOMPATIBLEARRAY};
use crate::functions::{Env, Function, Site};
use crate::types::compare::compare;
use crate::types::{ArrayValue, Datum, Type as T};

/// The operators.
pub(in crate::functions) static OPERATORS: &[Function] = &[
    f("@>", &[T::ANYARRAY, T::ANYARRAY], T::BOOL, contains),
    f("<@", &[T::ANYARRAY, T::ANYARRAY], T::BOOL, contained),
    f("&&", &[T::ANYARRAY, T::ANYARRAY], T::BOOL, overlaps),
];

/// The functions.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    f("arraycontains", &[T::ANYARRAY, T::ANYARRAY], T::BOOL, contains),
    f("arraycontained", &[T::ANYARRAY, T::ANYARRAY], T::BOOL, contained),
    f("arrayoverlap", &[T::ANYARRAY, T::ANYARRAY], T::BOOL, overlaps),
    f("array_dims", &[T::ANYARRAY], T::TEXT, dims),
    f("array_ndims", &[T::ANYARRAY], T::INT4, ndims),
    f("array_length", &[T::ANYARRAY, T::INT4], T::INT4, length),
    f("array_lower", &[T::ANYARRAY, T::INT4], T::INT4, lower),
    f("array_upper", &[T::ANYARRAY, T::INT4], T::INT4, upper),
    f("cardinality", &[T::ANYARRAY], T::INT4, cardinality),
    f("array_position", &[ANYCOMPATIBLEARRAY, ANYCOMPATIBLE], T::INT4, position).with_nulls(),
    f("array_position", &[ANYCOMPATIBLEARRAY, ANYCOMPATIBLE, T::INT4], T::INT4, position).with_nulls(),
    f("array_positions", &[ANYCOMPATIBLEARRAY, ANYCOMPATIBLE], T::INT4_ARRAY, positions).with_nulls(),
    f("width_bucket", &[ANYCOMPATIBLE, ANYCOMPATIBLEARRAY], T::INT4, width_bucket),
    set("unnest", &[T::ANYARRAY], T::ANYELEMENT, unnest),
    set("generate_subscripts", &[T::ANYARRAY, T::INT4], T::INT4, subscripts),
    set("generate_subscripts", &[T::ANYARRAY, T::INT4, T::BOOL], T::INT4, subscripts),
];

/// NULLs are never found.
fn holds(array: &ArrayValue, item: &Datum) -> bool {
    !item.is_null() && array.items.iter().any(|known| !known.is_null() && same(known, item, array.element))
}

fn contains(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (all, some) = (args.array(0)?, args.array(1)?);
    Ok(Datum::Bool(some.items.iter().all(|item| holds(all, item))))
}

fn contained(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (some, all) = (args.array(0)?, args.array(1)?);
    Ok(Datum::Bool(some.items.iter().all(|item| holds(all, item))))
}

fn overlaps(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (left, right) = (args.array(0)?, args.array(1)?);
    Ok(Datum::Bool(left.items.iter().any(|item| holds(right, item))))
}

fn dims(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let array = args.array(0)?;
    if array.dimensions.is_empty() {
        return Ok(Datum::Null);
    }
    let bounds = array.dimensions.iter().map(|(length, low)| format!("[{low}:{}]", low + *length as i32 - 1));
    Ok(Datum::text(bounds.collect::<String>()))
}

fn ndims(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let count = args.array(0)?.dimensions.len();
    Ok(if count == 0 { Datum::Null } else { Datum::Int(count as i64) })
}

/// A dimension, counted from one.
fn dimension(args: &[Datum]) -> Result<Option<(usize, i32)>> {
    let Ok(number) = usize::try_from(args.int(1)? - 1) else { return Ok(None) };
    Ok(args.array(0)?.dimensions.get(number).copied())
}

fn length(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(dimension(args)?.map_or(Datum::Null, |(length, _)| Datum::Int(length as i64)))
}

fn lower(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(dimension(args)?.map_or(Datum::Null, |(_, low)| Datum::Int(low.into())))
}

fn upper(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(dimension(args)?.map_or(Datum::Null, |(length, low)| Datum::Int(i64::from(low) + length as i64 - 1)))
}

fn cardinality(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(args.array(0)?.items.len() as i64))
}

/// The array that is searched, and its first subscript.
fn searched(args: &[Datum]) -> Result<Option<(&ArrayValue, i64)>> {
    if args.at(0).is_null() {
        return Ok(None);
    }
    let array = args.array(0)?;
    match array.dimensions.as_slice() {
        [] => Ok(None),
        [(_, low)] => Ok(Some((array, i64::from(*low)))),
        _ => Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "searching for elements in multidimensional arrays is not supported",
        )),
    }
}

fn position(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let Some((array, low)) = searched(args)? else { return Ok(Datum::Null) };
    let start = match args.get(2) {
        None => low,
        Some(Datum::Null) => {
            return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "initial position must not be null"));
        }
        Some(_) => args.int(2)?,
    };
    let skipped = usize::try_from(start - low).unwrap_or(0);
    let found = array.items.iter().skip(skipped).position(|item| same(item, args.at(1), array.element));
    Ok(found.map_or(Datum::Null, |at| Datum::Int((at + skipped) as i64 + low)))
}

fn positions(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    if args.at(0).is_null() {
        return Ok(Datum::Null);
    }
    let Some((array, low)) = searched(args)? else { return Ok(Datum::array(T::INT4, Vec::new())) };
    let found = array.items.iter().enumerate().filter(|(_, item)| same(item, args.at(1), array.element));
    Ok(Datum::array(T::INT4, found.map(|(at, _)| Datum::Int(at as i64 + low)).collect()))
}

/// How many thresholds are not above the value; they are sorted.
fn width_bucket(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let thresholds = args.array(1)?;
    if thresholds.dimensions.len() > 1 {
        return Err(SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, "thresholds must be one-dimensional array"));
    }
    if thresholds.items.iter().any(Datum::is_null) {
        return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "thresholds array must not contain NULLs"));
    }
    let below = |item: &Datum| compare(item, &args[0], site.args[0].ty).is_le();
    Ok(Datum::Int(thresholds.items.partition_point(below) as i64))
}

fn unnest(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Vec<Vec<Datum>>> {
    budget::collect(args.array(0)?.items.iter().map(|item| vec![item.clone()]))
}

fn subscripts(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Vec<Vec<Datum>>> {
    let Some((length, low)) = dimension(args)? else { return Ok(Vec::new()) };
    let numbers = (0..length as i64).map(|at| vec![Datum::Int(at + i64::from(low))]);
    let backwards = args.len() > 2 && args.bool(2)?;
    Ok(if backwards { numbers.rev().collect() } else { numbers.collect() })
}
