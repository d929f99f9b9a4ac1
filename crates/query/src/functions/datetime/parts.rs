//! Parts of dates and times: extract, date_part, date_trunc, date_bin, age, justify_….

use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::datetime::{session_zone, timetz};
use crate::functions::define::f;
use crate::functions::numeric::exact;
use crate::functions::{Env, Function, Site};
use crate::types::datetime::arithmetic::{age, date_bin, justify_days, justify_hours, justify_interval, to_local};
use crate::types::datetime::calendar::DAY;
use crate::types::datetime::extract::{Source, extract, trunc_interval, trunc_timestamp, trunc_timestamptz};
use crate::types::datetime::make::timestamp_of_date;
use crate::types::datetime::zone::{self, Zone};
use crate::types::{Datum, Interval, Type as T};

/// The functions.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    f("extract", &[T::TEXT, T::DATE], T::NUMERIC, extract_exact),
    f("extract", &[T::TEXT, T::TIME], T::NUMERIC, extract_exact),
    f("extract", &[T::TEXT, T::TIMETZ], T::NUMERIC, extract_exact),
    f("extract", &[T::TEXT, T::TIMESTAMP], T::NUMERIC, extract_exact),
    f("extract", &[T::TEXT, T::TIMESTAMPTZ], T::NUMERIC, extract_exact).stable(),
    f("extract", &[T::TEXT, T::INTERVAL], T::NUMERIC, extract_exact),
    f("date_part", &[T::TEXT, T::DATE], T::FLOAT8, date_part),
    f("date_part", &[T::TEXT, T::TIME], T::FLOAT8, date_part),
    f("date_part", &[T::TEXT, T::TIMETZ], T::FLOAT8, date_part),
    f("date_part", &[T::TEXT, T::TIMESTAMP], T::FLOAT8, date_part),
    f("date_part", &[T::TEXT, T::TIMESTAMPTZ], T::FLOAT8, date_part).stable(),
    f("date_part", &[T::TEXT, T::INTERVAL], T::FLOAT8, date_part),
    f("date_trunc", &[T::TEXT, T::TIMESTAMP], T::TIMESTAMP, truncate_timestamp),
    f("date_trunc", &[T::TEXT, T::TIMESTAMPTZ], T::TIMESTAMPTZ, truncate_instant).stable(),
    f("date_trunc", &[T::TEXT, T::TIMESTAMPTZ, T::TEXT], T::TIMESTAMPTZ, truncate_instant).stable(),
    f("date_trunc", &[T::TEXT, T::INTERVAL], T::INTERVAL, truncate_interval),
    f("date_bin", &[T::INTERVAL, T::TIMESTAMP, T::TIMESTAMP], T::TIMESTAMP, bin),
    f("date_bin", &[T::INTERVAL, T::TIMESTAMPTZ, T::TIMESTAMPTZ], T::TIMESTAMPTZ, bin),
    f("age", &[T::TIMESTAMP, T::TIMESTAMP], T::INTERVAL, age_of_timestamps),
    f("age", &[T::TIMESTAMP], T::INTERVAL, age_of_timestamp).stable(),
    f("age", &[T::TIMESTAMPTZ, T::TIMESTAMPTZ], T::INTERVAL, age_of_instants),
    f("age", &[T::TIMESTAMPTZ], T::INTERVAL, age_of_instant).stable(),
    f("isfinite", &[T::DATE], T::BOOL, is_finite),
    f("isfinite", &[T::TIMESTAMP], T::BOOL, is_finite),
    f("isfinite", &[T::TIMESTAMPTZ], T::BOOL, is_finite),
    f("isfinite", &[T::INTERVAL], T::BOOL, is_finite),
    f("justify_hours", &[T::INTERVAL], T::INTERVAL, |_, args, _| justified(args, justify_hours)),
    f("justify_days", &[T::INTERVAL], T::INTERVAL, |_, args, _| justified(args, justify_days)),
    f("justify_interval", &[T::INTERVAL], T::INTERVAL, |_, args, _| justified(args, justify_interval)),
];

/// Asks the part of the second argument that the first one names.
fn part(
    env: &dyn Env,
    args: &[Datum],
    ty: T,
    date_is_timestamp: bool,
) -> Result<Option<crate::types::numeric::Numeric>> {
    let name = args.text(0)?;
    let zone = session_zone(env);
    let interval;
    let source = match (args.at(1), ty) {
        (Datum::Date(days), _) if date_is_timestamp => Source::Timestamp(timestamp_of_date(*days, 0)?),
        (Datum::Date(days), _) => Source::Date(*days),
        (Datum::Time(micros), _) => Source::Time(*micros),
        (Datum::Timestamp(micros), T::TIMESTAMPTZ) => Source::TimestampTz(*micros, &zone),
        (Datum::Timestamp(micros), _) => Source::Timestamp(*micros),
        (Datum::Interval(span), _) => {
            interval = *span;
            Source::Interval(&interval)
        }
        _ => {
            let (micros, west) = timetz(args, 1)?;
            Source::TimeTz(micros, west)
        }
    };
    extract(name, source)
}

fn extract_exact(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    Ok(part(env, args, site.args[1].ty, false)?.map_or(Datum::Null, exact))
}

/// The same as a float; a date has the time of its midnight.
fn date_part(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let part = part(env, args, site.args[1].ty, true)?;
    Ok(part.map_or(Datum::Null, |part| Datum::Float(part.to_f64_lossy())))
}

fn truncate_timestamp(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    trunc_timestamp(args.text(0)?, args.timestamp(1)?).map(Datum::Timestamp)
}

fn truncate_instant(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let zone = if args.len() > 2 { zone_named(args.text(2)?)? } else { session_zone(env) };
    trunc_timestamptz(args.text(0)?, args.timestamp(1)?, &zone).map(Datum::Timestamp)
}

/// The zone with this name; an offset is a zone without summer.
fn zone_named(name: &str) -> Result<std::sync::Arc<Zone>> {
    Ok(match zone::place(name)? {
        zone::Place::Zone(zone) | zone::Place::Abbreviated(zone, _) => zone,
        zone::Place::Offset(east) => zone::of_setting(&zone::offset_name(east)),
    })
}

fn truncate_interval(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    trunc_interval(args.text(0)?, &args.interval(1)?).map(Datum::Interval)
}

fn bin(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    date_bin(&args.interval(0)?, args.timestamp(1)?, args.timestamp(2)?).map(Datum::Timestamp)
}

fn age_of_timestamps(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    age(args.timestamp(0)?, args.timestamp(1)?).map(Datum::Interval)
}

/// Today's midnight, on the clock of the connection.
fn today(env: &dyn Env) -> i64 {
    let local = to_local(env.transaction_time(), &session_zone(env));
    local - local.rem_euclid(DAY)
}

fn age_of_timestamp(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    age(today(env), args.timestamp(0)?).map(Datum::Interval)
}

/// A local time; infinity stays.
fn local(instant: i64, zone: &Zone) -> i64 {
    if instant == i64::MAX || instant == i64::MIN { instant } else { to_local(instant, zone) }
}

fn age_of_instants(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let zone = session_zone(env);
    age(local(args.timestamp(0)?, &zone), local(args.timestamp(1)?, &zone)).map(Datum::Interval)
}

fn age_of_instant(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let zone = session_zone(env);
    age(today(env), local(args.timestamp(0)?, &zone)).map(Datum::Interval)
}

fn is_finite(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(match args.at(0) {
        Datum::Date(days) => *days != i32::MAX && *days != i32::MIN,
        Datum::Timestamp(micros) => *micros != i64::MAX && *micros != i64::MIN,
        _ => true,
    }))
}

fn justified(args: &[Datum], justify: fn(&Interval) -> Result<Interval>) -> Result<Datum> {
    justify(&args.interval(0)?).map(Datum::Interval)
}
