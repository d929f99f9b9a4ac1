//! generate_series of timestamps.

use std::cmp::Ordering;

use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::datetime::session_zone;
use crate::functions::define::set;
use crate::functions::series::{about_within_memory, within_memory, zero_step};
use crate::functions::{Env, Function, Site};
use crate::types::compare::interval_key;
use crate::types::datetime::arithmetic::{timestamp_plus, timestamptz_plus};
use crate::types::{Datum, Type as T};

/// The functions.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    set("generate_series", &[T::TIMESTAMP, T::TIMESTAMP, T::INTERVAL], T::TIMESTAMP, timestamps),
    set("generate_series", &[T::TIMESTAMPTZ, T::TIMESTAMPTZ, T::INTERVAL], T::TIMESTAMPTZ, instants).stable(),
];

type Rows = Vec<Vec<Datum>>;

fn timestamps(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Rows> {
    let step = args.interval(2)?;
    series(args, |at| timestamp_plus(at, &step))
}

fn instants(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Rows> {
    let (step, zone) = (args.interval(2)?, session_zone(env));
    series(args, |at| timestamptz_plus(at, &step, &zone))
}

fn series(args: &[Datum], next: impl Fn(i64) -> Result<i64>) -> Result<Rows> {
    let (mut at, last) = (args.timestamp(0)?, args.timestamp(1)?);
    let direction = interval_key(&args.interval(2)?).cmp(&0);
    if direction == Ordering::Equal {
        return Err(zero_step());
    }
    about_within_memory((last as f64 - at as f64) / interval_key(&args.interval(2)?) as f64)?;
    let mut rows = Vec::new();
    while if direction == Ordering::Greater { at <= last } else { at >= last } {
        rows.push(vec![Datum::Timestamp(at)]);
        within_memory(rows.len())?;
        at = next(at)?;
    }
    Ok(rows)
}
