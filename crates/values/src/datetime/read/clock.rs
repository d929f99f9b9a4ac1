//! Times of day, fractions of seconds and offsets from UTC.

use super::Bad;
use crate::datetime::calendar::{Civil, HOUR, MINUTE, SECOND};

/// Offsets are less than sixteen hours.
const MAX_OFFSET_HOURS: i64 = 15;

/// `.25` → microseconds, rounded.
pub(in crate::datetime) fn read_fraction(text: &str) -> Result<i64, Bad> {
    let digits = text.strip_prefix('.').ok_or(Bad::Format)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Bad::Format);
    }
    if digits.is_empty() {
        return Ok(0);
    }
    let value: f64 = format!("0.{digits}").parse().map_err(|_| Bad::Format)?;
    Ok((value * 1e6).round_ties_even() as i64)
}

/// `hh:mm[:ss[.ffffff]]`; a fraction may follow the minutes if those are seconds (`mm:ss.fff`), as in intervals.
pub(in crate::datetime) fn read_clock(text: &str) -> Result<(i64, i64, i64, i64), Bad> {
    let (clock, micros) = match text.find('.') {
        Some(at) => (&text[..at], read_fraction(&text[at..])?),
        None => (text, 0),
    };
    let number = |part: &str| {
        if part.is_empty() {
            return Ok(0);
        }
        part.parse::<i64>().map_err(|_| Bad::Field)
    };
    let parts: Vec<i64> = clock.split(':').map(number).collect::<Result<_, _>>()?;
    Ok(match parts[..] {
        [minute, second] if text.contains('.') => (0, minute, second, micros),
        [hour, minute] => (hour, minute, 0, micros),
        [hour, minute, second] => (hour, minute, second, micros),
        _ => return Err(Bad::Format),
    })
}

/// `+hh[:mm[:ss]]`, `-hhmm`: seconds east of UTC.
pub(in crate::datetime) fn read_offset(text: &str) -> Result<i32, Bad> {
    let (sign, digits) = match text.split_at_checked(1) {
        Some(("+", digits)) => (1, digits),
        Some(("-", digits)) => (-1, digits),
        _ => return Err(Bad::Format),
    };
    let number = |part: &str| part.parse::<i64>().map_err(|_| Bad::Displacement);
    let parts: Vec<&str> = digits.split(':').collect();
    if parts.iter().any(|part| part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit())) {
        return Err(Bad::Format);
    }
    let (hour, minute, second) = match parts[..] {
        [whole] if whole.len() > 2 => (number(whole)? / 100, number(whole)? % 100, 0),
        [hour] => (number(hour)?, 0, 0),
        [hour, minute] => (number(hour)?, number(minute)?, 0),
        [hour, minute, second] => (number(hour)?, number(minute)?, number(second)?),
        _ => return Err(Bad::Format),
    };
    if hour > MAX_OFFSET_HOURS || minute > 59 || second > 59 {
        return Err(Bad::Displacement);
    }
    Ok((sign * (hour * 3600 + minute * 60 + second)) as i32)
}

/// Microseconds since midnight, seconds of 60 and hours of 24 included.
pub(in crate::datetime) fn time_of(civil: &Civil) -> i64 {
    civil.hour * HOUR + civil.minute * MINUTE + civil.second * SECOND + civil.micros
}
