//! What time it is, and where.

use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::datetime::{session_zone, timetz};
use crate::functions::define::f;
use crate::functions::{Env, Function, Site};
use crate::types::datetime::arithmetic::{offset_of_interval, timestamp_at, timestamptz_at, timetz_at, to_local};
use crate::types::datetime::calendar::SECOND;
use crate::types::datetime::format::timestamp_to_char;
use crate::types::datetime::zone::{Place, place};
use crate::types::{Datum, Type as T};

/// The functions.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    f("now", &[], T::TIMESTAMPTZ, now).stable(),
    f("transaction_timestamp", &[], T::TIMESTAMPTZ, now).stable(),
    f("statement_timestamp", &[], T::TIMESTAMPTZ, statement).stable(),
    f("clock_timestamp", &[], T::TIMESTAMPTZ, clock).volatile(),
    f("timeofday", &[], T::TEXT, time_of_day).volatile(),
    f("timezone", &[T::TEXT, T::TIMESTAMP], T::TIMESTAMPTZ, |_, args, _| timestamp_in(args, named(args)?)),
    f("timezone", &[T::INTERVAL, T::TIMESTAMP], T::TIMESTAMPTZ, |_, args, _| timestamp_in(args, offset(args)?)),
    f("timezone", &[T::TEXT, T::TIMESTAMPTZ], T::TIMESTAMP, |_, args, _| instant_in(args, named(args)?)),
    f("timezone", &[T::INTERVAL, T::TIMESTAMPTZ], T::TIMESTAMP, |_, args, _| instant_in(args, offset(args)?)),
    f("timezone", &[T::TEXT, T::TIMETZ], T::TIMETZ, |env, args, _| time_in(env, args, named(args)?)).stable(),
    f("timezone", &[T::INTERVAL, T::TIMETZ], T::TIMETZ, |env, args, _| time_in(env, args, offset(args)?)),
];

/// How values that SQL has a notation of its own for stay as they were written, in what the schema keeps: `CURRENT_DATE`,
/// `TRIM(BOTH FROM x)`. Each is a call with the value itself.
pub(in crate::functions) static WRITTEN: &[Function] = &[
    f("current_date", &[T::ANY], T::DATE, written).stable(),
    f("current_timestamp", &[T::ANY], T::TIMESTAMPTZ, written).stable(),
    f("current_time", &[T::ANY], T::TIMETZ, written).stable(),
    f("localtimestamp", &[T::ANY], T::TIMESTAMP, written).stable(),
    f("localtime", &[T::ANY], T::TIME, written).stable(),
    f("current_user", &[T::ANY], T::NAME, written).stable(),
    f("current_role", &[T::ANY], T::NAME, written).stable(),
    f("user", &[T::ANY], T::NAME, written).stable(),
    f("session_user", &[T::ANY], T::NAME, written).stable(),
    f("current_catalog", &[T::ANY], T::NAME, written).stable(),
    f("current_schema", &[T::ANY], T::NAME, written).stable(),
    f("timezone", &[T::ANY], T::ANY, written),
    f("extract", &[T::ANY], T::ANY, written),
    f("position", &[T::ANY], T::ANY, written),
    f("substring", &[T::ANY], T::ANY, written),
    f("btrim", &[T::ANY], T::ANY, written),
    f("ltrim", &[T::ANY], T::ANY, written),
    f("rtrim", &[T::ANY], T::ANY, written),
    f("overlay", &[T::ANY], T::ANY, written),
];

fn written(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(args.at(0).clone())
}

fn now(env: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Timestamp(env.transaction_time()))
}

fn statement(env: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Timestamp(env.statement_time()))
}

fn clock(env: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Timestamp(env.clock_time()))
}

fn time_of_day(env: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (now, zone) = (env.clock_time(), session_zone(env));
    let shown = timestamp_to_char(to_local(now, &zone), None, "Dy Mon DD HH24:MI:SS.US YYYY")?;
    Ok(Datum::text(format!("{shown} {}", zone.at(now.div_euclid(SECOND)).abbreviation)))
}

fn named(args: &[Datum]) -> Result<Place> {
    place(args.text(0)?)
}

fn offset(args: &[Datum]) -> Result<Place> {
    offset_of_interval(&args.interval(0)?)
}

fn timestamp_in(args: &[Datum], place: Place) -> Result<Datum> {
    timestamp_at(args.timestamp(1)?, &place).map(Datum::Timestamp)
}

fn instant_in(args: &[Datum], place: Place) -> Result<Datum> {
    timestamptz_at(args.timestamp(1)?, &place).map(Datum::Timestamp)
}

fn time_in(env: &dyn Env, args: &[Datum], place: Place) -> Result<Datum> {
    let (micros, west) = timetz_at(timetz(args, 1)?, &place, env.transaction_time());
    Ok(Datum::TimeTz(micros, west))
}
