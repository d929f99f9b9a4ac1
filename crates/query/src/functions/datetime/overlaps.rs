//! `(start, end) OVERLAPS (start, end)`, where an end can also be a length.

use std::cmp::Ordering;

use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::datetime::{session_zone, timetz};
use crate::functions::define::f;
use crate::functions::{Env, Function, Site};
use crate::types::compare::compare;
use crate::types::datetime::arithmetic::{time_plus, timestamp_plus, timestamptz_plus};
use crate::types::{Datum, Type as T};

macro_rules! overlaps {
    ($($ty:ident,)*) => {
        &[$(
            f("overlaps", &[T::$ty, T::$ty, T::$ty, T::$ty], T::BOOL, overlap).with_nulls(),
            f("overlaps", &[T::$ty, T::INTERVAL, T::$ty, T::INTERVAL], T::BOOL, overlap).with_nulls(),
            f("overlaps", &[T::$ty, T::$ty, T::$ty, T::INTERVAL], T::BOOL, overlap).with_nulls(),
            f("overlaps", &[T::$ty, T::INTERVAL, T::$ty, T::$ty], T::BOOL, overlap).with_nulls(),
        )*]
    };
}

/// The functions of timestamps and times.
pub(in crate::functions) static FUNCTIONS: &[Function] = overlaps! { TIMESTAMP, TIME, };

/// Those that depend on the connection's time zone, and those of times with one.
pub(in crate::functions) static ZONED: &[Function] = &[
    f("overlaps", &[T::TIMESTAMPTZ, T::TIMESTAMPTZ, T::TIMESTAMPTZ, T::TIMESTAMPTZ], T::BOOL, overlap).with_nulls(),
    f("overlaps", &[T::TIMESTAMPTZ, T::INTERVAL, T::TIMESTAMPTZ, T::INTERVAL], T::BOOL, overlap).with_nulls().stable(),
    f("overlaps", &[T::TIMESTAMPTZ, T::TIMESTAMPTZ, T::TIMESTAMPTZ, T::INTERVAL], T::BOOL, overlap)
        .with_nulls()
        .stable(),
    f("overlaps", &[T::TIMESTAMPTZ, T::INTERVAL, T::TIMESTAMPTZ, T::TIMESTAMPTZ], T::BOOL, overlap)
        .with_nulls()
        .stable(),
    f("overlaps", &[T::TIMETZ, T::TIMETZ, T::TIMETZ, T::TIMETZ], T::BOOL, overlap).with_nulls(),
];

/// The end of a span that is given by its length.
fn end(env: &dyn Env, args: &[Datum], start: usize, site: &Site<'_>) -> Result<Datum> {
    let Datum::Interval(length) = args.at(start + 1) else { return Ok(args.at(start + 1).clone()) };
    Ok(match (args.at(start), site.args[start].ty) {
        (Datum::Timestamp(micros), T::TIMESTAMPTZ) => {
            Datum::Timestamp(timestamptz_plus(*micros, length, &session_zone(env))?)
        }
        (Datum::Timestamp(micros), _) => Datum::Timestamp(timestamp_plus(*micros, length)?),
        (Datum::Time(micros), _) => Datum::Time(time_plus(*micros, length)),
        (Datum::TimeTz(..), _) => {
            let (micros, west) = timetz(args, start)?;
            Datum::TimeTz(time_plus(micros, length), west)
        }
        _ => Datum::Null,
    })
}

fn overlap(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let ty = site.args[0].ty;
    let first = ordered(args.at(0).clone(), end(env, args, 0, site)?, ty);
    let second = ordered(args.at(2).clone(), end(env, args, 2, site)?, ty);
    let (Some(first), Some(second)) = (first, second) else { return Ok(Datum::Null) };
    let ((start_1, end_1), (start_2, end_2)) = (first, second);
    // The span that starts later must start before the other ends. An end that is not known leaves it open, unless it
    // does not matter.
    let (later, end_of_earlier, end_of_later) = match compare(&start_1, &start_2, ty) {
        Ordering::Greater => (start_1, end_2, end_1),
        Ordering::Less => (start_2, end_1, end_2),
        Ordering::Equal => {
            let known = !end_1.is_null() && !end_2.is_null();
            return Ok(if known { Datum::Bool(true) } else { Datum::Null });
        }
    };
    if end_of_earlier.is_null() {
        return Ok(Datum::Null);
    }
    if compare(&later, &end_of_earlier, ty) == Ordering::Less {
        return Ok(Datum::Bool(true));
    }
    Ok(if end_of_later.is_null() { Datum::Null } else { Datum::Bool(false) })
}

/// Start and end the right way round; one end may be unknown, then the other one is the start.
fn ordered(start: Datum, end: Datum, ty: T) -> Option<(Datum, Datum)> {
    match (start.is_null(), end.is_null()) {
        (true, true) => None,
        (true, false) => Some((end, start)),
        (false, true) => Some((start, end)),
        (false, false) if compare(&start, &end, ty) == Ordering::Greater => Some((end, start)),
        _ => Some((start, end)),
    }
}
