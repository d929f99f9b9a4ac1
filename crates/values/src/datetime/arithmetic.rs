//! Sums and differences of dates, times and intervals.

use super::calendar::{self, Civil, DAY, SECOND, days_in_month, to_days};
use super::read_interval::out_of_range as interval_out_of_range;
use super::zone::{Place, Zone};
use crate::Interval;
use crate::error::{Result, SqlError, SqlState};

/// The date or timestamp before all others, and after all others.
fn is_infinite(micros: i64) -> bool {
    micros == i64::MAX || micros == i64::MIN
}

/// `timestamp out of range`
pub fn timestamp_out_of_range() -> SqlError {
    SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "timestamp out of range")
}

/// `date out of range`
pub fn date_out_of_range() -> SqlError {
    SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "date out of range")
}

/// A local time and so many months: the day is the last of the month if that has fewer.
fn add_months(local: i64, months: i32) -> Option<i64> {
    if months == 0 {
        return Some(local);
    }
    let civil = Civil::of(local);
    let total = civil.year * 12 + civil.month - 1 + i64::from(months);
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
    let day = civil.day.min(days_in_month(year, month));
    calendar::timestamp(to_days(year, month, day), civil.time())
}

/// `timestamp + interval`: months, then days, then the time.
pub fn timestamp_plus(timestamp: i64, interval: &Interval) -> Result<i64> {
    if is_infinite(timestamp) {
        return Ok(timestamp);
    }
    let sum = add_months(timestamp, interval.months)
        .and_then(|local| calendar::in_range(i128::from(local) + i128::from(interval.days) * i128::from(DAY)))
        .and_then(|local| calendar::in_range(i128::from(local) + i128::from(interval.micros)));
    sum.ok_or_else(timestamp_out_of_range)
}

/// `timestamptz + interval`: months and days by the clock of the zone, so that a day may have 23 or 25 hours.
pub fn timestamptz_plus(timestamp: i64, interval: &Interval, zone: &Zone) -> Result<i64> {
    if is_infinite(timestamp) {
        return Ok(timestamp);
    }
    let mut instant = timestamp;
    if interval.months != 0 || interval.days != 0 {
        let local = to_local(instant, zone);
        let date = Interval { micros: 0, ..*interval };
        instant = from_local(timestamp_plus(local, &date)?, zone).ok_or_else(timestamp_out_of_range)?;
    }
    calendar::in_range(i128::from(instant) + i128::from(interval.micros)).ok_or_else(timestamp_out_of_range)
}

/// The clock of a zone at an instant.
pub fn to_local(instant: i64, zone: &Zone) -> i64 {
    if is_infinite(instant) {
        return instant;
    }
    instant.saturating_add(i64::from(zone.at(instant.div_euclid(SECOND)).offset) * SECOND)
}

/// The instant at which the clock of a zone shows this; `None` if it is out of range.
pub fn from_local(local: i64, zone: &Zone) -> Option<i64> {
    if is_infinite(local) {
        return Some(local);
    }
    let offset = zone.offset_of_local(local.div_euclid(SECOND));
    calendar::in_range(i128::from(local) - i128::from(offset) * i128::from(SECOND))
}

/// `timestamp AT TIME ZONE place`: the instant.
pub fn timestamp_at(local: i64, place: &Place) -> Result<i64> {
    if is_infinite(local) {
        return Ok(local);
    }
    let offset = place.offset_of_local(local.div_euclid(SECOND));
    calendar::in_range(i128::from(local) - i128::from(offset) * i128::from(SECOND)).ok_or_else(timestamp_out_of_range)
}

/// `timestamptz AT TIME ZONE place`: the clock there.
pub fn timestamptz_at(instant: i64, place: &Place) -> Result<i64> {
    if is_infinite(instant) {
        return Ok(instant);
    }
    let offset = place.offset_at(instant.div_euclid(SECOND));
    calendar::in_range(i128::from(instant) + i128::from(offset) * i128::from(SECOND)).ok_or_else(timestamp_out_of_range)
}

/// `timetz AT TIME ZONE place`, where the place has the offset that it has at `now`.
pub fn timetz_at((micros, west): (i64, i32), place: &Place, now: i64) -> (i64, i32) {
    let east = place.offset_at(now.div_euclid(SECOND));
    let time = micros + (i64::from(west) + i64::from(east)) * SECOND;
    (time.rem_euclid(DAY), east.saturating_neg())
}

/// The place that an interval names as an offset from UTC: `AT TIME ZONE INTERVAL '-08:00'`.
pub fn offset_of_interval(interval: &Interval) -> Result<Place> {
    if interval.months != 0 || interval.days != 0 {
        return Err(SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            "interval time zone must not include months or days",
        ));
    }
    Ok(Place::Offset((interval.micros / SECOND) as i32))
}

/// `timestamp - timestamp`: days and time.
pub fn timestamp_minus(left: i64, right: i64) -> Result<Interval> {
    if is_infinite(left) || is_infinite(right) {
        return Err(SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "cannot subtract infinite timestamps"));
    }
    let micros = left.checked_sub(right).ok_or_else(interval_out_of_range)?;
    justify_hours(&Interval { months: 0, days: 0, micros })
}

/// `date + integer`
pub fn date_plus(days: i32, more: i64) -> Result<i32> {
    if days == i32::MAX || days == i32::MIN {
        return Ok(days);
    }
    let sum = i64::from(days).checked_add(more).filter(|sum| (calendar::FIRST_DATE..calendar::END_DATE).contains(sum));
    sum.map(|sum| sum as i32).ok_or_else(date_out_of_range)
}

/// `date - date`
pub fn date_minus(left: i32, right: i32) -> Result<i64> {
    let infinite = |days| days == i32::MAX || days == i32::MIN;
    if infinite(left) || infinite(right) {
        return Err(SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "cannot subtract infinite dates"));
    }
    Ok(i64::from(left) - i64::from(right))
}

/// `time + interval`: around the clock. As in PostgreSQL, a sum beyond 64 bits wraps round before that.
pub fn time_plus(micros: i64, interval: &Interval) -> i64 {
    micros.wrapping_add(interval.micros).rem_euclid(DAY)
}

/// `time - interval`, in the same way: the smallest interval has no negative one.
pub fn time_minus(micros: i64, interval: &Interval) -> i64 {
    micros.wrapping_sub(interval.micros).rem_euclid(DAY)
}

/// `interval + interval`
pub fn interval_plus(left: &Interval, right: &Interval) -> Result<Interval> {
    let sum = || {
        Some(Interval {
            months: left.months.checked_add(right.months)?,
            days: left.days.checked_add(right.days)?,
            micros: left.micros.checked_add(right.micros)?,
        })
    };
    sum().ok_or_else(interval_out_of_range)
}

/// `- interval`
pub fn negate(interval: &Interval) -> Result<Interval> {
    negate_checked(interval).ok_or_else(interval_out_of_range)
}

pub(super) fn negate_checked(interval: &Interval) -> Option<Interval> {
    Some(Interval {
        months: interval.months.checked_neg()?,
        days: interval.days.checked_neg()?,
        micros: interval.micros.checked_neg()?,
    })
}

/// `interval - interval`
pub fn interval_minus(left: &Interval, right: &Interval) -> Result<Interval> {
    let difference = || {
        Some(Interval {
            months: left.months.checked_sub(right.months)?,
            days: left.days.checked_sub(right.days)?,
            micros: left.micros.checked_sub(right.micros)?,
        })
    };
    difference().ok_or_else(interval_out_of_range)
}

/// `interval * float8`
pub fn interval_times(interval: &Interval, factor: f64) -> Result<Interval> {
    scaled(interval, |value| value * factor)
}

/// `interval / float8`
pub fn interval_divided(interval: &Interval, divisor: f64) -> Result<Interval> {
    if divisor == 0.0 {
        return Err(SqlError::new(SqlState::DIVISION_BY_ZERO, "division by zero"));
    }
    scaled(interval, |value| value / divisor)
}

/// Fractions of months become days, fractions of days become time.
fn scaled(interval: &Interval, scale: impl Fn(f64) -> f64) -> Result<Interval> {
    const DAY_SECONDS: f64 = 86_400.0;
    // Rounded to microseconds, so that the errors of binary fractions do not show.
    let rounded = |value: f64| (value * 1e6).round_ties_even() / 1e6;
    let whole = |value: f64| -> Result<i32> {
        let fits = value >= f64::from(i32::MIN) && value <= f64::from(i32::MAX);
        if fits { Ok(value as i32) } else { Err(interval_out_of_range()) }
    };
    let (exact_months, exact_days) = (scale(interval.months.into()), scale(interval.days.into()));
    let months = whole(exact_months)?;
    let mut days = whole(exact_days)?;
    let from_months = rounded((exact_months - f64::from(months)) * 30.0);
    let mut seconds = rounded((exact_days - f64::from(days) + from_months - from_months.trunc()) * DAY_SECONDS);
    let add = |days: i32, more: f64| days.checked_add(more as i32).ok_or_else(interval_out_of_range);
    if seconds.abs() >= DAY_SECONDS {
        let more = (seconds / DAY_SECONDS).trunc();
        days = add(days, more)?;
        seconds -= more * DAY_SECONDS;
    }
    days = add(days, from_months)?;
    let micros = (scale(interval.micros as f64) + seconds * 1e6).round_ties_even();
    if !(micros >= i64::MIN as f64 && micros < i64::MAX as f64) {
        return Err(interval_out_of_range());
    }
    Ok(Interval { months, days, micros: micros as i64 })
}

/// `justify_hours`: 24 hours are a day.
pub fn justify_hours(interval: &Interval) -> Result<Interval> {
    let whole = interval.micros / DAY;
    let mut days = i64::from(interval.days) + whole;
    let mut micros = interval.micros % DAY;
    if days > 0 && micros < 0 {
        micros += DAY;
        days -= 1;
    } else if days < 0 && micros > 0 {
        micros -= DAY;
        days += 1;
    }
    let days = i32::try_from(days).map_err(|_| interval_out_of_range())?;
    Ok(Interval { months: interval.months, days, micros })
}

/// `justify_days`: 30 days are a month.
pub fn justify_days(interval: &Interval) -> Result<Interval> {
    let mut months = i64::from(interval.months) + i64::from(interval.days / 30);
    let mut days = interval.days % 30;
    if months > 0 && days < 0 {
        days += 30;
        months -= 1;
    } else if months < 0 && days > 0 {
        days -= 30;
        months += 1;
    }
    let months = i32::try_from(months).map_err(|_| interval_out_of_range())?;
    Ok(Interval { months, days, micros: interval.micros })
}

/// `justify_interval`: both, and all parts have one sign.
pub fn justify_interval(interval: &Interval) -> Result<Interval> {
    let days = i64::from(interval.days) + interval.micros / DAY;
    let mut micros = interval.micros % DAY;
    let mut months = i64::from(interval.months) + days / 30;
    let mut days = days % 30;
    if months > 0 && (days < 0 || (days == 0 && micros < 0)) {
        days += 30;
        months -= 1;
    } else if months < 0 && (days > 0 || (days == 0 && micros > 0)) {
        days -= 30;
        months += 1;
    }
    if days > 0 && micros < 0 {
        micros += DAY;
        days -= 1;
    } else if days < 0 && micros > 0 {
        micros -= DAY;
        days += 1;
    }
    let months = i32::try_from(months).map_err(|_| interval_out_of_range())?;
    Ok(Interval { months, days: days as i32, micros })
}

/// `age`: years, months, days and time from the right to the left one, both by the clock of one place.
pub fn age(left: i64, right: i64) -> Result<Interval> {
    if is_infinite(left) || is_infinite(right) {
        return Err(timestamp_out_of_range());
    }
    let negative = left < right;
    let (late, early) = if negative { (right, left) } else { (left, right) };
    let (late, early) = (Civil::of(late), Civil::of(early));
    let mut micros = late.time() - early.time();
    let mut days = late.day - early.day;
    let mut months = (late.year - early.year) * 12 + late.month - early.month;
    if micros < 0 {
        micros += DAY;
        days -= 1;
    }
    while days < 0 {
        days += days_in_month(early.year, early.month);
        months -= 1;
    }
    let interval = Interval { months: months as i32, days: days as i32, micros };
    if negative { negate(&interval) } else { Ok(interval) }
}

/// `date_bin`: the beginning of the stride, counted from the origin, that a timestamp is in.
pub fn date_bin(stride: &Interval, timestamp: i64, origin: i64) -> Result<i64> {
    if is_infinite(timestamp) {
        return Ok(timestamp);
    }
    if is_infinite(origin) {
        return Err(SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "origin out of range"));
    }
    if stride.months != 0 {
        return Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "timestamps cannot be binned into intervals containing months or years",
        ));
    }
    // What PostgreSQL holds in 64 bits has to fit, though the result would.
    let interval_out_of_range = || SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "interval out of range");
    let step = i64::from(stride.days).checked_mul(DAY).and_then(|days| days.checked_add(stride.micros));
    let step = step.ok_or_else(interval_out_of_range)?;
    if step <= 0 {
        return Err(SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "stride must be greater than zero"));
    }
    let apart = timestamp.checked_sub(origin).ok_or_else(interval_out_of_range)?;
    let binned = i128::from(origin) + i128::from(apart).div_euclid(step.into()) * i128::from(step);
    calendar::in_range(binned).ok_or_else(timestamp_out_of_range)
}

/// Rounded to so many digits of a second's fraction.
pub fn round_micros(micros: i64, precision: i32) -> i64 {
    if !(0..6).contains(&precision) {
        return micros;
    }
    let unit = 10i64.pow(6 - precision as u32);
    let half = unit / 2;
    if micros >= 0 {
        micros.saturating_add(half) / unit * unit
    } else {
        -(micros.saturating_neg().saturating_add(half) / unit * unit)
    }
}
