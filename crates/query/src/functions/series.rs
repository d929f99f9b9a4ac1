//! generate_series of numbers. Series of timestamps are with the functions of dates and times.

use crate::budget;
use crate::error::{Result, SqlError, SqlState};
use crate::functions::args::{Args, invalid_parameter};
use crate::functions::define::set;
use crate::functions::numeric::exact;
use crate::functions::{Env, Function, Site};
use crate::types::numeric::Numeric;
use crate::types::{Datum, Type as T};

/// The functions.
pub(super) static FUNCTIONS: &[Function] = &[
    set("generate_series", &[T::INT4, T::INT4], T::INT4, integers),
    set("generate_series", &[T::INT4, T::INT4, T::INT4], T::INT4, integers),
    set("generate_series", &[T::INT8, T::INT8], T::INT8, integers),
    set("generate_series", &[T::INT8, T::INT8, T::INT8], T::INT8, integers),
    set("generate_series", &[T::NUMERIC, T::NUMERIC], T::NUMERIC, numerics),
    set("generate_series", &[T::NUMERIC, T::NUMERIC, T::NUMERIC], T::NUMERIC, numerics),
];

type Rows = Vec<Vec<Datum>>;

/// The longest series: all of its rows are made at once.
pub(super) const LONGEST: usize = 10_000_000;

/// What it takes to make a row, in units of [`crate::budget`].
const ROW_WORK: usize = 20;

/// Refuses series that would fill the memory, and those of a statement that is to stop.
pub(super) fn within_memory(rows: usize) -> Result<()> {
    budget::step(ROW_WORK)?;
    if rows > LONGEST {
        let message = format!("a series of more than {LONGEST} rows is not supported by Skew");
        return Err(SqlError::new(SqlState::OUT_OF_MEMORY, message));
    }
    Ok(())
}

/// The same before anything is made, by about how many rows there will be.
pub(super) fn about_within_memory(rows: f64) -> Result<()> {
    within_memory(if rows > 2.0 * LONGEST as f64 { usize::MAX } else { 0 })
}

/// `22023`
pub(super) fn zero_step() -> SqlError {
    invalid_parameter("step size cannot equal zero")
}

fn integers(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Rows> {
    let (first, last) = (args.int(0)?, args.int(1)?);
    let step = if args.len() > 2 { args.int(2)? } else { 1 };
    if step == 0 {
        return Err(zero_step());
    }
    let inside = |value: &i64| if step > 0 { *value <= last } else { *value >= last };
    let values = std::iter::successors(Some(first), |value| value.checked_add(step)).take_while(inside);
    let mut rows = Vec::new();
    for value in values {
        budget::push(&mut rows, vec![Datum::Int(value)])?;
        within_memory(rows.len())?;
    }
    Ok(rows)
}

fn numerics(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Rows> {
    for (index, name) in ["start", "stop", "step size"].iter().enumerate().take(args.len()) {
        let value = args.numeric(index)?;
        let what = if value.is_nan() { "NaN" } else { "infinity" };
        if !value.is_finite() {
            let value = if index == 2 { "size" } else { "value" };
            let name = name.trim_end_matches(" size");
            return Err(invalid_parameter(format!("{name} {value} cannot be {what}")));
        }
    }
    let one = Numeric::from(1);
    let step = if args.len() > 2 { args.numeric(2)? } else { &one };
    if step.is_zero() {
        return Err(zero_step());
    }
    let (mut value, last) = (args.numeric(0)?.clone(), args.numeric(1)?);
    about_within_memory((last.to_f64_lossy() - value.to_f64_lossy()) / step.to_f64_lossy())?;
    let mut rows = Vec::new();
    while if step.is_negative() { value >= *last } else { value <= *last } {
        let next = value.add(step)?;
        budget::push(&mut rows, vec![exact(std::mem::replace(&mut value, next))])?;
        within_memory(rows.len())?;
    }
    Ok(rows)
}
