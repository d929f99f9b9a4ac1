//! `+ - * /` of dates, times, timestamps and intervals.

use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::datetime::{session_zone, timetz};
use crate::functions::define::f;
use crate::functions::{Env, Function, Site};
use crate::types::datetime::arithmetic::{
    date_minus, date_plus, interval_divided, interval_minus, interval_plus, interval_times, negate, time_minus,
    time_plus, timestamp_minus, timestamp_plus, timestamptz_plus,
};
use crate::types::datetime::calendar::{self, SECOND};
use crate::types::datetime::make::timestamp_of_date;
use crate::types::{Datum, Interval, Type as T};

/// The operators.
pub(in crate::functions) static OPERATORS: &[Function] = &[
    f("+", &[T::DATE, T::INT4], T::DATE, |_, args, _| moved_date(args, 0, 1, 1)),
    f("+", &[T::INT4, T::DATE], T::DATE, |_, args, _| moved_date(args, 1, 0, 1)),
    f("-", &[T::DATE, T::INT4], T::DATE, |_, args, _| moved_date(args, 0, 1, -1)),
    f("-", &[T::DATE, T::DATE], T::INT4, dates_apart),
    f("+", &[T::DATE, T::INTERVAL], T::TIMESTAMP, |_, args, _| date_and_interval(args, 0, 1, Ok)),
    f("+", &[T::INTERVAL, T::DATE], T::TIMESTAMP, |_, args, _| date_and_interval(args, 1, 0, Ok)),
    f("-", &[T::DATE, T::INTERVAL], T::TIMESTAMP, |_, args, _| date_and_interval(args, 0, 1, |span| negate(&span))),
    f("+", &[T::DATE, T::TIME], T::TIMESTAMP, |_, args, _| date_and_time(args, 0, 1)),
    f("+", &[T::TIME, T::DATE], T::TIMESTAMP, |_, args, _| date_and_time(args, 1, 0)),
    f("+", &[T::DATE, T::TIMETZ], T::TIMESTAMPTZ, |_, args, _| date_and_timetz(args, 0, 1)),
    f("+", &[T::TIMETZ, T::DATE], T::TIMESTAMPTZ, |_, args, _| date_and_timetz(args, 1, 0)),
    f("+", &[T::TIMESTAMP, T::INTERVAL], T::TIMESTAMP, |_, args, _| moved_timestamp(args, 0, 1, Ok)),
    f("+", &[T::INTERVAL, T::TIMESTAMP], T::TIMESTAMP, |_, args, _| moved_timestamp(args, 1, 0, Ok)),
    f("-", &[T::TIMESTAMP, T::INTERVAL], T::TIMESTAMP, |_, args, _| moved_timestamp(args, 0, 1, |span| negate(&span))),
    f("-", &[T::TIMESTAMP, T::TIMESTAMP], T::INTERVAL, timestamps_apart),
    f("+", &[T::TIMESTAMPTZ, T::INTERVAL], T::TIMESTAMPTZ, |env, args, _| moved_instant(env, args, 0, 1, Ok)).stable(),
    f("+", &[T::INTERVAL, T::TIMESTAMPTZ], T::TIMESTAMPTZ, |env, args, _| moved_instant(env, args, 1, 0, Ok)).stable(),
    f("-", &[T::TIMESTAMPTZ, T::INTERVAL], T::TIMESTAMPTZ, |env, args, _| {
        moved_instant(env, args, 0, 1, |span| negate(&span))
    })
    .stable(),
    f("-", &[T::TIMESTAMPTZ, T::TIMESTAMPTZ], T::INTERVAL, timestamps_apart),
    f("+", &[T::TIME, T::INTERVAL], T::TIME, |_, args, _| moved_time(args, 0, 1, time_plus)),
    f("+", &[T::INTERVAL, T::TIME], T::TIME, |_, args, _| moved_time(args, 1, 0, time_plus)),
    f("-", &[T::TIME, T::INTERVAL], T::TIME, |_, args, _| moved_time(args, 0, 1, time_minus)),
    f("-", &[T::TIME, T::TIME], T::INTERVAL, times_apart),
    f("+", &[T::TIMETZ, T::INTERVAL], T::TIMETZ, |_, args, _| moved_timetz(args, 0, 1, time_plus)),
    f("+", &[T::INTERVAL, T::TIMETZ], T::TIMETZ, |_, args, _| moved_timetz(args, 1, 0, time_plus)),
    f("-", &[T::TIMETZ, T::INTERVAL], T::TIMETZ, |_, args, _| moved_timetz(args, 0, 1, time_minus)),
    f("+", &[T::INTERVAL, T::INTERVAL], T::INTERVAL, add_intervals),
    f("-", &[T::INTERVAL, T::INTERVAL], T::INTERVAL, subtract_intervals),
    f("-", &[T::INTERVAL], T::INTERVAL, negate_interval),
    f("*", &[T::INTERVAL, T::FLOAT8], T::INTERVAL, |_, args, _| multiplied(args, 0, 1)),
    f("*", &[T::FLOAT8, T::INTERVAL], T::INTERVAL, |_, args, _| multiplied(args, 1, 0)),
    f("/", &[T::INTERVAL, T::FLOAT8], T::INTERVAL, divided),
];

/// What is done with an interval before it is added: nothing, or it is negated.
type Turn = fn(Interval) -> Result<Interval>;

fn moved_date(args: &[Datum], date: usize, days: usize, sign: i64) -> Result<Datum> {
    date_plus(args.date(date)?, sign * args.int(days)?).map(Datum::Date)
}

fn dates_apart(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    date_minus(args.date(0)?, args.date(1)?).map(Datum::Int)
}

fn date_and_interval(args: &[Datum], date: usize, span: usize, turn: Turn) -> Result<Datum> {
    let midnight = timestamp_of_date(args.date(date)?, 0)?;
    timestamp_plus(midnight, &turn(args.interval(span)?)?).map(Datum::Timestamp)
}

fn date_and_time(args: &[Datum], date: usize, time: usize) -> Result<Datum> {
    timestamp_of_date(args.date(date)?, args.time(time)?).map(Datum::Timestamp)
}

fn date_and_timetz(args: &[Datum], date: usize, time: usize) -> Result<Datum> {
    let (micros, west) = timetz(args, time)?;
    let local = timestamp_of_date(args.date(date)?, micros)?;
    if local == i64::MAX || local == i64::MIN {
        return Ok(Datum::Timestamp(local));
    }
    let instant = calendar::in_range(i128::from(local) + i128::from(west) * i128::from(SECOND));
    instant.map(Datum::Timestamp).ok_or_else(crate::types::datetime::arithmetic::timestamp_out_of_range)
}

fn moved_timestamp(args: &[Datum], timestamp: usize, span: usize, turn: Turn) -> Result<Datum> {
    timestamp_plus(args.timestamp(timestamp)?, &turn(args.interval(span)?)?).map(Datum::Timestamp)
}

fn moved_instant(env: &dyn Env, args: &[Datum], timestamp: usize, span: usize, turn: Turn) -> Result<Datum> {
    let span = turn(args.interval(span)?)?;
    timestamptz_plus(args.timestamp(timestamp)?, &span, &session_zone(env)).map(Datum::Timestamp)
}

fn timestamps_apart(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    timestamp_minus(args.timestamp(0)?, args.timestamp(1)?).map(Datum::Interval)
}

fn moved_time(args: &[Datum], time: usize, span: usize, go: fn(i64, &Interval) -> i64) -> Result<Datum> {
    Ok(Datum::Time(go(args.time(time)?, &args.interval(span)?)))
}

fn moved_timetz(args: &[Datum], time: usize, span: usize, go: fn(i64, &Interval) -> i64) -> Result<Datum> {
    let (micros, west) = timetz(args, time)?;
    Ok(Datum::TimeTz(go(micros, &args.interval(span)?), west))
}

fn times_apart(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Interval(Interval { micros: args.time(0)? - args.time(1)?, ..Interval::default() }))
}

fn add_intervals(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    interval_plus(&args.interval(0)?, &args.interval(1)?).map(Datum::Interval)
}

fn subtract_intervals(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    interval_minus(&args.interval(0)?, &args.interval(1)?).map(Datum::Interval)
}

fn negate_interval(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    negate(&args.interval(0)?).map(Datum::Interval)
}

fn multiplied(args: &[Datum], span: usize, factor: usize) -> Result<Datum> {
    interval_times(&args.interval(span)?, args.float(factor)?).map(Datum::Interval)
}

fn divided(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    interval_divided(&args.interval(0)?, args.float(1)?).map(Datum::Interval)
}
