//! Arrays made of arrays.

use std::sync::Arc;

use crate::budget;
use crate::error::{Result, SqlError, SqlState};
use crate::functions::args::{Args, out_of_range};
use crate::functions::array::same;
use crate::functions::define::f;
use crate::functions::kinds::{ANYCOMPATIBLE, ANYCOMPATIBLEARRAY};
use crate::functions::text::fits;
use crate::functions::{Env, Function, Site};
use crate::types::array::{MAX_DIMENSIONS, MAX_ITEMS};
use crate::types::{ArrayValue, Datum, Type as T};

/// The operators.
pub(in crate::functions) static OPERATORS: &[Function] = &[
    f("||", &[ANYCOMPATIBLEARRAY, ANYCOMPATIBLEARRAY], ANYCOMPATIBLEARRAY, concatenate).with_nulls(),
    f("||", &[ANYCOMPATIBLEARRAY, ANYCOMPATIBLE], ANYCOMPATIBLEARRAY, append).with_nulls(),
    f("||", &[ANYCOMPATIBLE, ANYCOMPATIBLEARRAY], ANYCOMPATIBLEARRAY, prepend).with_nulls(),
];

/// The functions.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    f("array_cat", &[ANYCOMPATIBLEARRAY, ANYCOMPATIBLEARRAY], ANYCOMPATIBLEARRAY, concatenate).with_nulls(),
    f("array_append", &[ANYCOMPATIBLEARRAY, ANYCOMPATIBLE], ANYCOMPATIBLEARRAY, append).with_nulls(),
    f("array_prepend", &[ANYCOMPATIBLE, ANYCOMPATIBLEARRAY], ANYCOMPATIBLEARRAY, prepend).with_nulls(),
    f("array_remove", &[ANYCOMPATIBLEARRAY, ANYCOMPATIBLE], ANYCOMPATIBLEARRAY, remove).with_nulls(),
    f("array_replace", &[ANYCOMPATIBLEARRAY, ANYCOMPATIBLE, ANYCOMPATIBLE], ANYCOMPATIBLEARRAY, replace).with_nulls(),
    f("array_fill", &[T::ANYELEMENT, T::INT4_ARRAY], T::ANYARRAY, fill).with_nulls(),
    f("array_fill", &[T::ANYELEMENT, T::INT4_ARRAY, T::INT4_ARRAY], T::ANYARRAY, fill).with_nulls(),
    f("trim_array", &[T::ANYARRAY, T::INT4], T::ANYARRAY, trim),
];

fn value(element: T, dimensions: Vec<(usize, i32)>, items: Vec<Datum>) -> Result<Datum> {
    if items.len() > MAX_ITEMS {
        let message = format!("array size exceeds the maximum allowed ({MAX_ITEMS})");
        return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
    }
    fits(items.iter().map(Datum::weight).sum())?;
    let dimensions = if items.is_empty() { Vec::new() } else { dimensions };
    Ok(Datum::Array(Arc::new(ArrayValue { element, dimensions, items })))
}

fn subscript_error(message: &str) -> SqlError {
    SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message)
}

/// Arrays of as many dimensions one after the other; an array with one dimension less is one more item of the other.
fn concatenate(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (left, right) = match (args.at(0), args.at(1)) {
        (Datum::Null, other) | (other, Datum::Null) => return Ok(other.clone()),
        _ => (args.array(0)?, args.array(1)?),
    };
    if left.items.is_empty() {
        return Ok(args[1].clone());
    }
    if right.items.is_empty() {
        return Ok(args[0].clone());
    }
    let incompatible = |detail: &str| subscript_error("cannot concatenate incompatible arrays").detail(detail);
    let (many, more) = (left.dimensions.as_slice(), right.dimensions.as_slice());
    let mut dimensions;
    if many.len() == more.len() {
        if many[1..] != more[1..] {
            return Err(incompatible("Arrays with differing element dimensions are not compatible for concatenation."));
        }
        dimensions = many.to_vec();
        dimensions[0].0 += more[0].0;
    } else if many.len() + 1 == more.len() || many.len() == more.len() + 1 {
        let (outer, inner) = if many.len() > more.len() { (many, more) } else { (more, many) };
        if outer[1..] != *inner {
            return Err(incompatible("Arrays with differing dimensions are not compatible for concatenation."));
        }
        dimensions = outer.to_vec();
        dimensions[0].0 += 1;
    } else {
        let detail =
            format!("Arrays of {} and {} dimensions are not compatible for concatenation.", many.len(), more.len());
        return Err(incompatible(&detail));
    }
    fits((left.items.len() + right.items.len()) * size_of::<Datum>())?;
    value(left.element, dimensions, budget::collect(left.items.iter().chain(&right.items).cloned())?)
}

/// The array that something is added to; NULL is an empty one.
fn one_dimension(datum: &Datum, element: T) -> Result<(Vec<Datum>, i32, T)> {
    match datum {
        Datum::Array(array) => match array.dimensions.as_slice() {
            [] => Ok((Vec::new(), 1, array.element)),
            [(_, low)] => Ok((budget::collect(array.items.iter().cloned())?, *low, array.element)),
            _ => Err(SqlError::new(SqlState::DATA_EXCEPTION, "argument must be empty or one-dimensional array")),
        },
        _ => Ok((Vec::new(), 1, element)),
    }
}

fn append(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let (mut items, low, element) = one_dimension(args.at(0), site.args[1].ty)?;
    low.checked_add(items.len() as i32).ok_or_else(|| out_of_range("integer"))?;
    items.push(args.at(1).clone());
    value(element, vec![(items.len(), low)], items)
}

fn prepend(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let (mut items, low, element) = one_dimension(args.at(1), site.args[0].ty)?;
    items.insert(0, args.at(0).clone());
    value(element, vec![(items.len(), low)], items)
}

fn remove(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    if args.at(0).is_null() {
        return Ok(Datum::Null);
    }
    let array = args.array(0)?;
    if array.dimensions.len() > 1 {
        return Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "removing elements from multidimensional arrays is not supported",
        ));
    }
    let low = array.dimensions.first().map_or(1, |(_, low)| *low);
    let kept = array.items.iter().filter(|item| !same(item, args.at(1), array.element));
    let kept = budget::collect(kept.cloned())?;
    value(array.element, vec![(kept.len(), low)], kept)
}

fn replace(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    if args.at(0).is_null() {
        return Ok(Datum::Null);
    }
    let array = args.array(0)?;
    let replaced = |item: &Datum| if same(item, args.at(1), array.element) { args.at(2) } else { item }.clone();
    value(array.element, array.dimensions.clone(), budget::collect(array.items.iter().map(replaced))?)
}

/// The numbers of an array of lengths or bounds.
fn numbers(datum: &Datum) -> Result<Vec<i64>> {
    let Datum::Array(array) = datum else {
        return Err(SqlError::new(
            SqlState::NULL_VALUE_NOT_ALLOWED,
            "dimension array or low bound array cannot be null",
        ));
    };
    if array.dimensions.len() > 1 {
        return Err(
            subscript_error("wrong number of array subscripts").detail("Dimension array must be one dimensional.")
        );
    }
    let number = |item: &Datum| match item {
        Datum::Int(number) => Ok(*number),
        _ => Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "dimension values cannot be null")),
    };
    array.items.iter().map(number).collect()
}

fn fill(_: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let lengths = numbers(args.at(1))?;
    let lows = match args.get(2) {
        Some(lows) => numbers(lows)?,
        None => vec![1; lengths.len()],
    };
    if lengths.len() != lows.len() {
        return Err(subscript_error("wrong number of array subscripts")
            .detail("Low bound array has different size than dimensions array."));
    }
    if lengths.len() > MAX_DIMENSIONS {
        return Err(crate::types::array::too_many_dimensions(lengths.len()));
    }
    let mut count = 1usize;
    for length in &lengths {
        let length = usize::try_from(*length).unwrap_or(usize::MAX);
        count = count.saturating_mul(length);
    }
    if count > MAX_ITEMS {
        let message = format!("array size exceeds the maximum allowed ({MAX_ITEMS})");
        return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
    }
    if lengths.is_empty() {
        count = 0;
    }
    fits(count.saturating_mul(args.at(0).weight()))?;
    let dimensions = lengths.iter().zip(&lows).map(|(length, low)| (*length as usize, *low as i32)).collect();
    value(site.args[0].ty, dimensions, budget::collect(std::iter::repeat_n(args.at(0), count).cloned())?)
}

fn trim(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (array, count) = (args.array(0)?, args.int(1)?);
    let length = array.dimensions.first().map_or(0, |(length, _)| *length);
    let Some(count) = usize::try_from(count).ok().filter(|count| *count <= length) else {
        let message = format!("number of elements to trim must be between 0 and {length}");
        return Err(SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message));
    };
    if length == 0 {
        return Ok(args[0].clone());
    }
    let mut dimensions = array.dimensions.clone();
    let width = array.items.len() / length;
    dimensions[0].0 = length - count;
    // A slice counts from one.
    dimensions.iter_mut().for_each(|(_, low)| *low = 1);
    value(array.element, dimensions, budget::collect(array.items[..(length - count) * width].iter().cloned())?)
}
