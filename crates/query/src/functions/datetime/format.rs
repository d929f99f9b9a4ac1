//! Dates and times by templates: to_char, to_timestamp, to_date.

use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::datetime::session_zone;
use crate::functions::define::f;
use crate::functions::{Env, Function, Site};
use crate::types::datetime::arithmetic::to_local;
use crate::types::datetime::calendar::SECOND;
use crate::types::datetime::format::{interval_to_char, timestamp_to_char, to_date, to_timestamp};
use crate::types::{Datum, Type as T};

/// The functions.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    f("to_char", &[T::TIMESTAMP, T::TEXT], T::TEXT, show_timestamp).stable(),
    f("to_char", &[T::TIMESTAMPTZ, T::TEXT], T::TEXT, show_instant).stable(),
    f("to_char", &[T::INTERVAL, T::TEXT], T::TEXT, show_interval).stable(),
    f("to_timestamp", &[T::TEXT, T::TEXT], T::TIMESTAMPTZ, read_timestamp).stable(),
    f("to_date", &[T::TEXT, T::TEXT], T::DATE, read_date).stable(),
];

/// Neither an infinite time nor an empty template shows anything.
fn shows_nothing(args: &[Datum]) -> Result<bool> {
    Ok(matches!(args.at(0), Datum::Timestamp(i64::MAX | i64::MIN)) || args.text(1)?.is_empty())
}

fn show_timestamp(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    if shows_nothing(args)? {
        return Ok(Datum::Null);
    }
    timestamp_to_char(args.timestamp(0)?, None, args.text(1)?).map(Datum::text)
}

fn show_instant(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    if shows_nothing(args)? {
        return Ok(Datum::Null);
    }
    let (instant, zone) = (args.timestamp(0)?, session_zone(env));
    let kind = zone.at(instant.div_euclid(SECOND));
    timestamp_to_char(to_local(instant, &zone), Some((kind.offset, &kind.abbreviation)), args.text(1)?).map(Datum::text)
}

fn show_interval(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    if shows_nothing(args)? {
        return Ok(Datum::Null);
    }
    interval_to_char(&args.interval(0)?, args.text(1)?).map(Datum::text)
}

fn read_timestamp(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    to_timestamp(args.text(0)?, args.text(1)?, env).map(Datum::Timestamp)
}

fn read_date(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    to_date(args.text(0)?, args.text(1)?).map(Datum::Date)
}
