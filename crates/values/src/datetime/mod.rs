//! Dates, times, timestamps, intervals: reading, showing, computing with them.

pub mod arithmetic;
pub mod calendar;
pub mod cast;
pub mod extract;
pub mod format;
pub mod make;
mod read;
mod read_interval;
mod read_iso;
mod show;
mod show_interval;
mod token;
mod units;
mod words;
pub mod zone;

use calendar::{DAY, SECOND};
use read::{Bad, Moment, Want};
use zone::Place;

use crate::Env;
use crate::Interval;
use crate::error::{Result, SqlError, SqlState};

pub use show::{show_date, show_iso_8601, show_iso_date, show_time, show_timestamp, show_timestamptz, show_timetz};
pub use show_interval::show_interval;

/// 1970-01-01.
const UNIX_EPOCH_DAYS: i64 = -10_957;

fn out_of_range(what: &str, text: &str) -> SqlError {
    SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("{what} out of range: \"{text}\""))
}

/// Reads a date.
pub fn parse_date(text: &str, env: &dyn Env) -> Result<i32> {
    match read::read(text, Want::Date, env).map_err(|bad| bad.error("date", text))? {
        Moment::Infinity => Ok(i32::MAX),
        Moment::MinusInfinity => Ok(i32::MIN),
        Moment::Epoch => Ok(UNIX_EPOCH_DAYS as i32),
        Moment::Point { civil, .. } => {
            let days = civil.days();
            match (calendar::FIRST_DATE..calendar::END_DATE).contains(&days) {
                true => Ok(days as i32),
                false => Err(out_of_range("date", text)),
            }
        }
    }
}

/// Reads a time. A zone is understood, and forgotten.
pub fn parse_time(text: &str, modifier: i32, env: &dyn Env) -> Result<i64> {
    match read::read(text, Want::Time, env) {
        Ok(Moment::Point { civil, .. }) => Ok(arithmetic::round_micros(read::time_of(&civil), modifier)),
        Ok(_) => Err(Bad::Format.error("time", text)),
        Err(bad) => Err(bad.error("time", text)),
    }
}

/// Reads a time with a zone, the connection's if it names none: microseconds, and seconds west of UTC.
pub fn parse_timetz(text: &str, modifier: i32, env: &dyn Env) -> Result<(i64, i32)> {
    let name = "time with time zone";
    match read::read(text, Want::Time, env) {
        Ok(Moment::Point { civil, place }) => {
            let east = match place {
                None => cast::current_offset(env),
                Some(Place::Offset(east)) => east,
                Some(place) => {
                    let seconds = civil.days() * (DAY / SECOND) + civil.time() / SECOND;
                    place.offset_of_local(seconds)
                }
            };
            Ok((arithmetic::round_micros(read::time_of(&civil), modifier), -east))
        }
        Ok(_) => Err(Bad::Format.error(name, text)),
        Err(bad) => Err(bad.error(name, text)),
    }
}

/// Reads a timestamp. A zone is understood, and forgotten.
pub fn parse_timestamp(text: &str, modifier: i32, env: &dyn Env) -> Result<i64> {
    match read::read(text, Want::Date, env).map_err(|bad| bad.error("timestamp", text))? {
        Moment::Infinity => Ok(i64::MAX),
        Moment::MinusInfinity => Ok(i64::MIN),
        Moment::Epoch => Ok(UNIX_EPOCH_DAYS * DAY),
        Moment::Point { civil, .. } => {
            let micros = civil.micros().ok_or_else(|| out_of_range("timestamp", text))?;
            Ok(arithmetic::round_micros(micros, modifier))
        }
    }
}

/// Reads a timestamp with a zone, the connection's if it names none.
pub fn parse_timestamptz(text: &str, modifier: i32, env: &dyn Env) -> Result<i64> {
    match read::read(text, Want::Date, env).map_err(|bad| bad.error("timestamp with time zone", text))? {
        Moment::Infinity => Ok(i64::MAX),
        Moment::MinusInfinity => Ok(i64::MIN),
        Moment::Epoch => Ok(UNIX_EPOCH_DAYS * DAY),
        Moment::Point { civil, place } => {
            let seconds = civil.days() * (DAY / SECOND) + civil.time() / SECOND;
            let east = match place {
                Some(place) => place.offset_of_local(seconds),
                None => zone::of_setting(&env.settings().time_zone).offset_of_local(seconds),
            };
            let time = i128::from(civil.days()) * i128::from(DAY) + i128::from(civil.time());
            let instant = calendar::in_range(time - i128::from(east) * i128::from(SECOND));
            Ok(arithmetic::round_micros(instant.ok_or_else(|| out_of_range("timestamp", text))?, modifier))
        }
    }
}

/// Reads an interval.
pub fn parse_interval(text: &str, modifier: i32, env: &dyn Env) -> Result<Interval> {
    let (wanted, _) = crate::modifier::unpack_interval(modifier);
    let sql_standard = env.settings().interval_style == "sql_standard";
    let interval = read_interval::read(text, wanted, sql_standard)?;
    Ok(cast::fit_interval(interval, modifier))
}

/// A date that came over the wire, if there is such a date.
pub fn checked_date(days: i32) -> Result<i32> {
    let infinite = days == i32::MAX || days == i32::MIN;
    match infinite || (calendar::FIRST_DATE..calendar::END_DATE).contains(&i64::from(days)) {
        true => Ok(days),
        false => Err(arithmetic::date_out_of_range()),
    }
}

/// A time that came over the wire, if there is such a time.
pub fn checked_time(micros: i64) -> Result<i64> {
    match (0..=DAY).contains(&micros) {
        true => Ok(micros),
        false => Err(SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "time out of range")),
    }
}

/// An offset that came over the wire, if it is less than sixteen hours.
pub fn checked_zone(west: i32) -> Result<i32> {
    match west.unsigned_abs() < 16 * 3600 {
        true => Ok(west),
        false => Err(SqlError::with_code("22009", "time zone displacement out of range")),
    }
}

/// A timestamp that came over the wire, if there is such a timestamp.
pub fn checked_timestamp(micros: i64) -> Result<i64> {
    let infinite = micros == i64::MAX || micros == i64::MIN;
    match infinite || calendar::in_range(micros.into()).is_some() {
        true => Ok(micros),
        false => Err(arithmetic::timestamp_out_of_range()),
    }
}
