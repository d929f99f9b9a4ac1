//! `make_date` and its like: dates and times of their parts.

use super::arithmetic::{date_out_of_range, timestamp_out_of_range};
use super::calendar::{self, DAY, HOUR, MINUTE, SECOND, days_in_month, to_days};
use super::read_interval::out_of_range as interval_out_of_range;
use crate::Interval;
use crate::error::{Result, SqlError, SqlState};

fn overflow(message: String) -> SqlError {
    SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, message)
}

/// `make_date`; a negative year is before Christ.
pub fn make_date(year: i64, month: i64, day: i64) -> Result<i32> {
    let astronomical = if year < 0 { year + 1 } else { year };
    let invalid = || overflow(format!("date field value out of range: {astronomical}-{month:02}-{day:02}"));
    if year == 0 || !(1..=12).contains(&month) {
        return Err(invalid());
    }
    if !(1..=days_in_month(astronomical, month)).contains(&day) {
        return Err(invalid());
    }
    let days = to_days(astronomical, month, day);
    if !(calendar::FIRST_DATE..calendar::END_DATE).contains(&days) {
        return Err(overflow(format!("date out of range: {year}-{month:02}-{day:02}")));
    }
    i32::try_from(days).map_err(|_| date_out_of_range())
}

/// `make_time`
pub fn make_time(hour: i64, minute: i64, second: f64) -> Result<i64> {
    let micros = (second * 1e6).round_ties_even();
    let valid = (0..=24).contains(&hour)
        && (0..=59).contains(&minute)
        && (0.0..=60e6).contains(&micros)
        && (hour < 24 || (minute == 0 && micros == 0.0));
    if !valid {
        let mut shown = String::new();
        crate::scalar::float::general(&mut shown, second, 6);
        let shown = if second < 10.0 { format!("0{shown}") } else { shown };
        return Err(overflow(format!("time field value out of range: {hour}:{minute:02}:{shown}")));
    }
    Ok(hour * HOUR + minute * MINUTE + micros as i64)
}

/// `make_timestamp`
pub fn make_timestamp(date: (i64, i64, i64), time: (i64, i64, f64)) -> Result<i64> {
    let days = make_date(date.0, date.1, date.2)?;
    let micros = make_time(time.0, time.1, time.2)?;
    calendar::timestamp(days.into(), micros).ok_or_else(timestamp_out_of_range)
}

/// `make_interval`
pub fn make_interval(
    (years, months, weeks, days): (i64, i64, i64, i64),
    (hours, minutes, seconds): (i64, i64, f64),
) -> Result<Interval> {
    let fit = |value: Option<i64>| value.and_then(|value| i32::try_from(value).ok()).ok_or_else(interval_out_of_range);
    if !seconds.is_finite() {
        return Err(interval_out_of_range());
    }
    let months = fit(years.checked_mul(12).and_then(|total| total.checked_add(months)))?;
    let days = fit(weeks.checked_mul(7).and_then(|total| total.checked_add(days)))?;
    let whole = i128::from(hours) * i128::from(HOUR) + i128::from(minutes) * i128::from(MINUTE);
    let fraction = (seconds * SECOND as f64).round_ties_even() as i128;
    let micros = whole.checked_add(fraction).and_then(|micros| i64::try_from(micros).ok());
    let micros = micros.ok_or_else(interval_out_of_range)?;
    Ok(Interval { months, days, micros })
}

/// `to_timestamp(float8)`: of seconds since 1970.
pub fn timestamp_of_epoch(seconds: f64) -> Result<i64> {
    const UNIX_MICROS: f64 = 946_684_800e6;
    if seconds.is_nan() {
        return Err(overflow("timestamp cannot be NaN".to_owned()));
    }
    if seconds.is_infinite() {
        return Ok(if seconds < 0.0 { i64::MIN } else { i64::MAX });
    }
    let micros = ((seconds * 1e6) - UNIX_MICROS).round_ties_even();
    let exact = (micros.abs() < 9.3e18).then_some(micros as i128).and_then(calendar::in_range);
    exact.ok_or_else(|| {
        let mut shown = String::new();
        crate::scalar::float::general(&mut shown, seconds, 6);
        overflow(format!("timestamp out of range: \"{shown}\""))
    })
}

/// A timestamp of a date: `date::timestamp`, `date + time`.
pub fn timestamp_of_date(days: i32, time: i64) -> Result<i64> {
    match days {
        i32::MAX => Ok(i64::MAX),
        i32::MIN => Ok(i64::MIN),
        _ => calendar::in_range(i128::from(days) * i128::from(DAY) + i128::from(time))
            .ok_or_else(|| overflow("date out of range for timestamp".to_owned())),
    }
}
