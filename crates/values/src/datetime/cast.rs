//! Conversions among dates, times, timestamps and intervals, and their modifiers.

use super::arithmetic::{from_local, round_micros, timestamp_out_of_range, to_local};
use super::calendar::{DAY, HOUR, MINUTE, SECOND};
use super::make::timestamp_of_date;
use super::zone;
use crate::Env;
use crate::error::Result;
use crate::modifier::{fields, unpack_interval};
use crate::{Datum, Interval, Type, Typed};

/// The conversion; `None` where there is none but through text.
pub fn known(value: &Datum, from: Type, to: Type, env: &dyn Env) -> Option<Result<Datum>> {
    let zone = || zone::of_setting(&env.settings().time_zone);
    let instant = |local: i64| from_local(local, &zone()).map(Datum::Timestamp).ok_or_else(timestamp_out_of_range);
    Some(match (value, to) {
        (Datum::Date(days), Type::TIMESTAMP) => timestamp_of_date(*days, 0).map(Datum::Timestamp),
        (Datum::Date(days), Type::TIMESTAMPTZ) => timestamp_of_date(*days, 0).and_then(instant),
        (Datum::Timestamp(micros), _) => {
            let local = if from == Type::TIMESTAMPTZ { to_local(*micros, &zone()) } else { *micros };
            match to {
                Type::DATE => Ok(Datum::Date(date_of(local))),
                Type::TIME if is_infinite(local) => Ok(Datum::Null),
                Type::TIME => Ok(Datum::Time(local.rem_euclid(DAY))),
                Type::TIMESTAMP if from == Type::TIMESTAMPTZ => Ok(Datum::Timestamp(local)),
                Type::TIMESTAMPTZ if from == Type::TIMESTAMP => instant(*micros),
                Type::TIMETZ if from == Type::TIMESTAMPTZ && is_infinite(local) => Ok(Datum::Null),
                Type::TIMETZ if from == Type::TIMESTAMPTZ => {
                    let offset = zone().at(micros.div_euclid(SECOND)).offset;
                    Ok(Datum::TimeTz(local.rem_euclid(DAY), -offset))
                }
                _ => return None,
            }
        }
        (Datum::Time(micros), Type::INTERVAL) => Ok(Datum::Interval(Interval { months: 0, days: 0, micros: *micros })),
        (Datum::Time(micros), Type::TIMETZ) => Ok(Datum::TimeTz(*micros, -current_offset(env))),
        (Datum::TimeTz(micros, _), Type::TIME) => Ok(Datum::Time(*micros)),
        (Datum::Interval(interval), Type::TIME) => Ok(Datum::Time(interval.micros.rem_euclid(DAY))),
        _ => return None,
    })
}

fn is_infinite(micros: i64) -> bool {
    micros == i64::MAX || micros == i64::MIN
}

/// The date of a local time.
pub(super) fn date_of(local: i64) -> i32 {
    match local {
        i64::MAX => i32::MAX,
        i64::MIN => i32::MIN,
        _ => local.div_euclid(DAY) as i32,
    }
}

/// Seconds east of UTC, now.
pub(super) fn current_offset(env: &dyn Env) -> i32 {
    let zone = zone::of_setting(&env.settings().time_zone);
    zone.at(env.transaction_time().div_euclid(SECOND)).offset
}

/// Obeys a modifier.
pub fn constrain(value: Datum, to: Typed) -> Result<Datum> {
    Ok(match value {
        Datum::Time(micros) => Datum::Time(round_micros(micros, to.modifier)),
        Datum::TimeTz(micros, west) => Datum::TimeTz(round_micros(micros, to.modifier), west),
        Datum::Timestamp(micros) if !is_infinite(micros) => Datum::Timestamp(round_micros(micros, to.modifier)),
        Datum::Interval(interval) => Datum::Interval(fit_interval(interval, to.modifier)),
        other => other,
    })
}

/// Without what is right of the last field that the modifier names, and rounded to its precision.
pub(super) fn fit_interval(interval: Interval, modifier: i32) -> Interval {
    let (wanted, precision) = unpack_interval(modifier);
    let mut fitted = interval;
    if let Some(wanted) = wanted {
        let last = |bits: i32| wanted & bits != 0;
        if last(fields::SECOND) {
        } else if last(fields::MINUTE) {
            fitted.micros = interval.micros / MINUTE * MINUTE;
        } else if last(fields::HOUR) {
            fitted.micros = interval.micros / HOUR * HOUR;
        } else if last(fields::DAY) {
            fitted.micros = 0;
        } else {
            fitted.micros = 0;
            fitted.days = 0;
            if !last(fields::MONTH) {
                fitted.months = interval.months / 12 * 12;
            }
        }
    }
    if let Some(precision) = precision {
        fitted.micros = round_micros(fitted.micros, precision as i32);
    }
    fitted
}
