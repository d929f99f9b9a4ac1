//! Dates and times made of numbers.

use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::datetime::session_zone;
use crate::functions::define::f;
use crate::functions::{Constant, Env, Function, Site};
use crate::types::datetime::arithmetic::timestamp_at;
use crate::types::datetime::make::{make_date, make_interval, make_time, make_timestamp, timestamp_of_epoch};
use crate::types::datetime::zone::{Place, signed_place};
use crate::types::{Datum, Type as T};

const MOMENT: &[&str] = &["year", "month", "mday", "hour", "min", "sec", "timezone"];

/// The functions.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    f("make_date", &[T::INT4, T::INT4, T::INT4], T::DATE, date).named(&["year", "month", "day"]),
    f("make_time", &[T::INT4, T::INT4, T::FLOAT8], T::TIME, time).named(&["hour", "min", "sec"]),
    f("make_timestamp", &[T::INT4, T::INT4, T::INT4, T::INT4, T::INT4, T::FLOAT8], T::TIMESTAMP, timestamp)
        .named(&["year", "month", "mday", "hour", "min", "sec"]),
    f("make_timestamptz", &[T::INT4, T::INT4, T::INT4, T::INT4, T::INT4, T::FLOAT8], T::TIMESTAMPTZ, instant)
        .named(&["year", "month", "mday", "hour", "min", "sec"])
        .stable(),
    f("make_timestamptz", &[T::INT4, T::INT4, T::INT4, T::INT4, T::INT4, T::FLOAT8, T::TEXT], T::TIMESTAMPTZ, instant)
        .named(MOMENT)
        .stable(),
    f("make_interval", &[T::INT4, T::INT4, T::INT4, T::INT4, T::INT4, T::INT4, T::FLOAT8], T::INTERVAL, interval)
        .named(&["years", "months", "weeks", "days", "hours", "mins", "secs"])
        .defaults(&[
            Constant::Int(0),
            Constant::Int(0),
            Constant::Int(0),
            Constant::Int(0),
            Constant::Int(0),
            Constant::Int(0),
            Constant::Float(0.0),
        ]),
    f("to_timestamp", &[T::FLOAT8], T::TIMESTAMPTZ, of_epoch),
];

fn date(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    make_date(args.int(0)?, args.int(1)?, args.int(2)?).map(Datum::Date)
}

fn time(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    make_time(args.int(0)?, args.int(1)?, args.float(2)?).map(Datum::Time)
}

fn local(args: &[Datum]) -> Result<i64> {
    make_timestamp((args.int(0)?, args.int(1)?, args.int(2)?), (args.int(3)?, args.int(4)?, args.float(5)?))
}

fn timestamp(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    local(args).map(Datum::Timestamp)
}

fn instant(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let local = local(args)?;
    let place = if args.len() > 6 { signed_place(args.text(6)?)? } else { Place::Zone(session_zone(env)) };
    timestamp_at(local, &place).map(Datum::Timestamp)
}

fn interval(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let date = (args.int(0)?, args.int(1)?, args.int(2)?, args.int(3)?);
    make_interval(date, (args.int(4)?, args.int(5)?, args.float(6)?)).map(Datum::Interval)
}

fn of_epoch(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    timestamp_of_epoch(args.float(0)?).map(Datum::Timestamp)
}
