//! Text → intervals: `1 year 2 mons`, `1-2 3 04:05:06`, `P1Y2M3DT4H5M6S`.

use super::calendar::{DAY, HOUR, MINUTE, SECOND};
use super::read::{Bad, read_clock};
use super::token::{self, Look};
use super::words;
use crate::Interval;
use crate::error::{Result, SqlError, SqlState};
use crate::modifier::fields;

/// The units that a number can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unit {
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
    Decade,
    Century,
    Millennium,
}

/// Reads an interval. The fields that its type names say what a number without a unit is.
pub(super) fn read(text: &str, wanted: Option<i32>, sql_standard: bool) -> Result<Interval> {
    let interval = match read_fields(text, wanted, sql_standard) {
        Err(Bad::Format) => super::read_iso::read(text),
        other => other,
    };
    interval.map_err(|bad| match bad {
        Bad::Field => Bad::Interval.error("interval", text),
        bad => bad.error("interval", text),
    })
}

fn read_fields(text: &str, wanted: Option<i32>, sql_standard: bool) -> Result<Interval, Bad> {
    let parts = token::fields(text, words::is_known).ok_or(Bad::Format)?;
    let parts: Vec<_> = parts.iter().map(|part| (part.look, part.text.as_str())).collect();
    // In the SQL standard's style, one leading sign is everything's.
    let all_negative = sql_standard
        && parts.first().is_some_and(|(_, text)| text.starts_with('-'))
        && !parts[1..].iter().any(|(_, text)| text.starts_with(['-', '+']));
    let mut sum = Sum::default();
    let mut seen = 0u32;
    let mut unit = None;
    let mut ago = false;
    for (look, text) in parts.into_iter().rev() {
        let mask = match look {
            Look::Time => {
                sum.clock(text, wanted, all_negative)?;
                unit = Some(Unit::Day);
                CLOCK
            }
            Look::Signed if text.contains(':') => {
                sum.clock(&text[1..], wanted, text.starts_with('-'))?;
                unit = Some(Unit::Day);
                CLOCK
            }
            Look::Signed | Look::Number | Look::Date => {
                let (number, kind) = Number::read(text, unit.unwrap_or_else(|| last_unit(wanted)))?;
                let number = if all_negative && !text.starts_with('-') { number.negated() } else { number };
                sum.add(number, kind)?;
                unit = Some(kind);
                mask(kind, number.fraction != 0.0)
            }
            Look::Word | Look::SignedWord if text == "ago" => {
                ago = true;
                0
            }
            Look::Word | Look::SignedWord if matches!(text, "at" | "on") => 0,
            Look::Word | Look::SignedWord => {
                unit = Some(named(text).ok_or(Bad::Format)?);
                0
            }
        };
        if seen & mask != 0 {
            return Err(Bad::Format);
        }
        seen |= mask;
    }
    if seen == 0 {
        return Err(Bad::Format);
    }
    let interval = sum.interval()?;
    if ago { super::arithmetic::negate_checked(&interval).ok_or(Bad::Field) } else { Ok(interval) }
}

/// The unit of a number at the end that has none.
fn last_unit(wanted: Option<i32>) -> Unit {
    match wanted {
        Some(fields::YEAR) => Unit::Year,
        Some(bits) if bits & fields::MONTH != 0 => Unit::Month,
        Some(fields::DAY) => Unit::Day,
        Some(bits) if bits & fields::SECOND != 0 => Unit::Second,
        Some(bits) if bits & fields::MINUTE != 0 => Unit::Minute,
        Some(bits) if bits & fields::HOUR != 0 => Unit::Hour,
        _ => Unit::Second,
    }
}

const CLOCK: u32 = 1 << Unit::Hour as u32 | 1 << Unit::Minute as u32 | SECONDS;
const SECONDS: u32 = 1 << Unit::Second as u32 | 1 << Unit::Millisecond as u32 | 1 << Unit::Microsecond as u32;

/// Each unit can be given once; a fraction of a second is also its milliseconds and microseconds.
fn mask(unit: Unit, fraction: bool) -> u32 {
    match unit {
        Unit::Second if fraction => SECONDS,
        _ => 1 << unit as u32,
    }
}

/// The unit with this name or abbreviation.
pub(super) fn named(word: &str) -> Option<Unit> {
    // PostgreSQL looks at the first ten letters only.
    let word = word.get(..10).unwrap_or(word);
    Some(match word {
        "us" | "usec" | "usecs" | "usecond" | "useconds" | "microsecon" => Unit::Microsecond,
        "ms" | "msec" | "msecs" | "msecond" | "mseconds" | "millisecon" => Unit::Millisecond,
        "s" | "sec" | "secs" | "second" | "seconds" => Unit::Second,
        "m" | "min" | "mins" | "minute" | "minutes" => Unit::Minute,
        "h" | "hr" | "hrs" | "hour" | "hours" => Unit::Hour,
        "d" | "day" | "days" => Unit::Day,
        "w" | "week" | "weeks" => Unit::Week,
        "mon" | "mons" | "month" | "months" => Unit::Month,
        "y" | "yr" | "yrs" | "year" | "years" => Unit::Year,
        "dec" | "decs" | "decade" | "decades" => Unit::Decade,
        "c" | "cent" | "century" | "centuries" => Unit::Century,
        "mil" | "mils" | "millennia" | "millennium" => Unit::Millennium,
        _ => return None,
    })
}

/// A number, whole and fraction, both with its sign.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    pub whole: i64,
    pub fraction: f64,
}

impl Number {
    /// `1`, `-1.5`; `1-2` is years and months, whatever its unit.
    fn read(text: &str, unit: Unit) -> Result<(Number, Unit), Bad> {
        let negative = text.starts_with('-');
        let digits = text.trim_start_matches(['+', '-']);
        if let Some((years, months)) = digits.split_once('-') {
            let number = |part: &str| part.parse::<i64>().map_err(|_| Bad::Format);
            let (years, months) = (number(years)?, number(months)?);
            if months >= 12 {
                return Err(Bad::Field);
            }
            let total = years.checked_mul(12).and_then(|total| total.checked_add(months)).ok_or(Bad::Field)?;
            return Ok((Number { whole: if negative { -total } else { total }, fraction: 0.0 }, Unit::Month));
        }
        Ok((Number::decimal(digits, negative)?, unit))
    }

    /// Digits with or without a point.
    pub(super) fn decimal(digits: &str, negative: bool) -> Result<Number, Bad> {
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let numeric = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if !numeric(whole) || !numeric(fraction) || (whole.is_empty() && fraction.is_empty()) {
            return Err(Bad::Format);
        }
        let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| Bad::Field)? };
        let fraction: f64 = format!("0.{fraction}0").parse().map_err(|_| Bad::Format)?;
        let number = Number { whole, fraction };
        Ok(if negative { number.negated() } else { number })
    }

    /// The same, by way of a float: PostgreSQL reads ISO 8601 so, and its rounding errors can be seen.
    pub(super) fn floating(digits: &str, negative: bool) -> Result<Number, Bad> {
        Number::decimal(digits, negative)?;
        let value: f64 = digits.parse().map_err(|_| Bad::Format)?;
        let whole = value.floor();
        let number = Number { whole: whole as i64, fraction: value - whole };
        Ok(if negative { number.negated() } else { number })
    }

    fn negated(self) -> Number {
        Number { whole: -self.whole, fraction: -self.fraction }
    }
}

/// What the fields add up to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    months: i32,
    years: i32,
    days: i32,
    micros: i64,
}

impl Sum {
    pub(super) fn add(&mut self, number: Number, unit: Unit) -> Result<(), Bad> {
        let Number { whole, fraction } = number;
        match unit {
            Unit::Microsecond => self.add_time(number, 1),
            Unit::Millisecond => self.add_time(number, 1000),
            Unit::Second => self.add_time(number, SECOND),
            Unit::Minute => self.add_time(number, MINUTE),
            Unit::Hour => self.add_time(number, HOUR),
            Unit::Day => {
                self.add_days(whole, 1)?;
                self.add_fraction(fraction, DAY)
            }
            Unit::Week => {
                self.add_days(whole, 7)?;
                self.add_days_fraction(fraction, 7)
            }
            Unit::Month => {
                self.months = checked(self.months, whole, 1)?;
                self.add_days_fraction(fraction, 30)
            }
            Unit::Year => self.add_years(number, 1),
            Unit::Decade => self.add_years(number, 10),
            Unit::Century => self.add_years(number, 100),
            Unit::Millennium => self.add_years(number, 1000),
        }
    }

    fn add_micros(&mut self, whole: i64, scale: i64) -> Result<(), Bad> {
        let micros = whole.checked_mul(scale).and_then(|micros| self.micros.checked_add(micros));
        self.micros = micros.ok_or(Bad::Field)?;
        Ok(())
    }

    fn add_time(&mut self, number: Number, scale: i64) -> Result<(), Bad> {
        self.add_micros(number.whole, scale)?;
        self.add_fraction(number.fraction, scale)
    }

    /// Part of a unit of so many microseconds, rounded, halves towards zero.
    fn add_fraction(&mut self, fraction: f64, scale: i64) -> Result<(), Bad> {
        let exact = fraction * scale as f64;
        let rest = exact.fract();
        let away = if rest.abs() > 0.5 { rest.signum() as i64 } else { 0 };
        self.add_micros(exact as i64 + away, 1)
    }

    fn add_days(&mut self, whole: i64, scale: i64) -> Result<(), Bad> {
        self.days = checked(self.days, whole, scale)?;
        Ok(())
    }

    /// Part of a unit of so many days: whole days, and the rest as time.
    fn add_days_fraction(&mut self, fraction: f64, scale: i64) -> Result<(), Bad> {
        let days = fraction * scale as f64;
        self.add_days(days as i64, 1)?;
        self.add_fraction(days - days.trunc(), DAY)
    }

    fn add_years(&mut self, number: Number, scale: i64) -> Result<(), Bad> {
        self.years = checked(self.years, number.whole, scale)?;
        let months = (number.fraction * scale as f64 * 12.0).round_ties_even();
        self.months = checked(self.months, months as i64, 1)?;
        Ok(())
    }

    fn clock(&mut self, text: &str, wanted: Option<i32>, negative: bool) -> Result<(), Bad> {
        let (mut hour, mut minute, mut second, micros) = read_clock(text)?;
        if wanted == Some(fields::MINUTE | fields::SECOND) && text.matches(':').count() == 1 && !text.contains('.') {
            (hour, minute, second) = (0, hour, minute);
        }
        if !(0..60).contains(&minute) || !(0..=60).contains(&second) {
            return Err(Bad::Field);
        }
        let rest = minute * MINUTE + second * SECOND + micros;
        let total = hour.checked_mul(HOUR).and_then(|hours| hours.checked_add(rest)).ok_or(Bad::Field)?;
        self.add_micros(if negative { -total } else { total }, 1)
    }

    pub(super) fn interval(self) -> Result<Interval, Bad> {
        let months =
            self.years.checked_mul(12).and_then(|months| months.checked_add(self.months)).ok_or(Bad::WholeInterval)?;
        Ok(Interval { months, days: self.days, micros: self.micros })
    }
}

fn checked(sum: i32, whole: i64, scale: i64) -> Result<i32, Bad> {
    let more = whole.checked_mul(scale).and_then(|more| i32::try_from(more).ok());
    more.and_then(|more| sum.checked_add(more)).ok_or(Bad::Field)
}

/// `interval out of range`
pub fn out_of_range() -> SqlError {
    SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "interval out of range")
}
