//! Dates and times → text, by a template.

use std::fmt::Write;

use super::template::{self, Case, Field, MONTHS, Piece, ROMAN, WEEKDAYS};
use crate::Interval;
use crate::datetime::calendar::{self, Civil, clock};
use crate::error::{Result, SqlError, SqlState};

/// What is shown: a point in time, or a span.
struct Shown<'a> {
    civil: Civil,
    days: i64,
    interval: bool,
    /// Seconds east of UTC, and the zone's abbreviation.
    zone: Option<(i32, &'a str)>,
}

/// `to_char(timestamp, template)`: a local time, with the zone's offset and abbreviation if it has one.
pub fn timestamp_to_char(local: i64, zone: Option<(i32, &str)>, template: &str) -> Result<String> {
    let civil = Civil::of(local);
    render(&Shown { civil, days: civil.days(), interval: false, zone }, template)
}

/// `to_char(interval, template)`
pub fn interval_to_char(interval: &Interval, template: &str) -> Result<String> {
    let (hour, minute, second, micros) = clock(interval.micros);
    let civil = Civil {
        year: i64::from(interval.months / 12),
        month: i64::from(interval.months % 12),
        day: interval.days.into(),
        hour,
        minute,
        second,
        micros,
    };
    render(&Shown { civil, days: civil.days(), interval: true, zone: None }, template)
}

fn render(shown: &Shown<'_>, template: &str) -> Result<String> {
    let mut out = String::new();
    for piece in template::parse(template) {
        match piece {
            Piece::Literal(char) | Piece::Separator(char) => out.push(char),
            Piece::Field { field, case, fill, ordinal, .. } => {
                let start = out.len();
                shown.field(&mut out, field, case, fill)?;
                if let Some(case) = ordinal
                    && out.len() > start
                {
                    let ending = ordinal_ending(&out[start..]);
                    out.push_str(&case.apply(ending));
                }
            }
        }
    }
    Ok(out)
}

fn ordinal_ending(number: &str) -> &'static str {
    let digits = number.as_bytes();
    let last = digits[digits.len() - 1];
    let teens = digits.len() > 1 && digits[digits.len() - 2] == b'1';
    match last {
        b'1' if !teens => "st",
        b'2' if !teens => "nd",
        b'3' if !teens => "rd",
        _ => "th",
    }
}

/// Adds a number with this many digits at least, one more place if it is negative.
fn number(out: &mut String, value: i64, width: usize, fill: bool) {
    let width = if fill { 0 } else { width + usize::from(value < 0) };
    let _ = write!(out, "{value:0width$}");
}

fn name(out: &mut String, text: &str, case: Case, width: usize, fill: bool) {
    let text = case.apply(text);
    let width = if fill { 0 } else { width };
    let _ = write!(out, "{text:width$}");
}

impl Shown<'_> {
    /// The year as people count.
    fn year(&self, year: i64) -> i64 {
        if self.interval || year > 0 { year } else { 1 - year }
    }

    fn field(&self, out: &mut String, field: Field, case: Case, fill: bool) -> Result<()> {
        if self.interval && needs_calendar(field) {
            return Err(SqlError::new(
                SqlState::INVALID_DATETIME_FORMAT,
                "invalid format specification for an interval value",
            )
            .hint("Intervals are not tied to specific calendar dates."));
        }
        let civil = &self.civil;
        match field {
            Field::Exact => {}
            Field::Half { dots } => {
                let afternoon = civil.hour % 24 >= 12;
                out.push_str(&case.apply(match (afternoon, dots) {
                    (true, true) => "P.M.",
                    (true, false) => "PM",
                    (false, true) => "A.M.",
                    (false, false) => "AM",
                }));
            }
            Field::Hour12 => {
                let hour = civil.hour % 12;
                number(out, if hour == 0 { 12 } else { hour }, 2, fill);
            }
            Field::Hour24 => number(out, civil.hour, 2, fill),
            Field::Minute => number(out, civil.minute, 2, fill),
            Field::Second => number(out, civil.second, 2, fill),
            Field::Milliseconds => number(out, civil.micros / 1000, 3, false),
            Field::Microseconds => number(out, civil.micros, 6, false),
            Field::Fraction(digits) => number(out, civil.micros / 10i64.pow(6 - digits), digits as usize, false),
            Field::SecondsOfDay => {
                let _ = write!(out, "{}", civil.hour * 3600 + civil.minute * 60 + civil.second);
            }
            Field::ZoneName => {
                let (_, abbreviation) = self.zone.unwrap_or((0, ""));
                let lower = case == Case::Lower;
                out.push_str(&if lower { abbreviation.to_ascii_lowercase() } else { abbreviation.to_owned() });
            }
            Field::Offset | Field::ZoneHour | Field::ZoneMinute => self.offset(out, field, fill),
            Field::Era { dots } => {
                out.push_str(&case.apply(match (civil.year <= 0, dots) {
                    (true, true) => "B.C.",
                    (true, false) => "BC",
                    (false, true) => "A.D.",
                    (false, false) => "AD",
                }));
            }
            Field::MonthName | Field::MonthShort | Field::RomanMonth => self.month(out, field, case, fill),
            Field::MonthNumber => number(out, civil.month, 2, fill),
            Field::Day => name(out, WEEKDAYS[calendar::weekday(self.days) as usize], case, 9, fill),
            Field::DayShort => name(out, &WEEKDAYS[calendar::weekday(self.days) as usize][..3], case, 0, fill),
            Field::DayOfYear => {
                // An interval's years and months have 360 and 30 days here.
                let day = match self.interval {
                    true => civil.year * 360 + civil.month * 30 + civil.day,
                    false => calendar::day_of_year(self.days),
                };
                number(out, day, 3, fill);
            }
            Field::IsoDayOfYear => {
                let (year, _) = calendar::iso_week(self.days);
                number(out, self.days - calendar::iso_week_start(year, 1) + 1, 3, fill);
            }
            Field::DayOfMonth => number(out, civil.day, 2, fill),
            Field::DayOfWeek => number(out, calendar::weekday(self.days) + 1, 1, fill),
            Field::IsoDayOfWeek => number(out, (calendar::weekday(self.days) + 6) % 7 + 1, 1, fill),
            Field::WeekOfYear => {
                let day = match self.interval {
                    true => civil.year * 360 + civil.month * 30 + civil.day,
                    false => calendar::day_of_year(self.days),
                };
                number(out, (day - 1) / 7 + 1, 2, fill);
            }
            Field::IsoWeek => number(out, calendar::iso_week(self.days).1, 2, fill),
            Field::WeekOfMonth => number(out, (civil.day - 1) / 7 + 1, 1, fill),
            Field::Quarter => {
                if civil.month != 0 {
                    number(out, (civil.month - 1) / 3 + 1, 1, fill);
                }
            }
            Field::Century => {
                let century = match civil.year {
                    year if self.interval => year / 100,
                    year if year > 0 => (year - 1) / 100 + 1,
                    year => year / 100 - 1,
                };
                number(out, century, if century.abs() <= 99 { 2 } else { 0 }, fill);
            }
            Field::YearWithComma => {
                let year = self.year(civil.year);
                let _ = write!(out, "{},{:03}", year / 1000, year % 1000);
            }
            Field::Year(digits) => last_digits(out, self.year(civil.year), digits, fill),
            Field::IsoYear(digits) => {
                last_digits(out, self.year(calendar::iso_week(self.days).0), digits, fill);
            }
            Field::Julian => {
                let _ = write!(out, "{}", self.days + calendar::EPOCH_JULIAN);
            }
        }
        Ok(())
    }

    fn month(&self, out: &mut String, field: Field, case: Case, fill: bool) {
        let month = self.civil.month;
        if field == Field::RomanMonth {
            // An interval of whole years has the last month, one of minus a month too; one of nothing has none.
            if month == 0 && self.civil.year == 0 {
                return;
            }
            let at = match month {
                0 if self.civil.year < 0 => 0,
                0 => 11,
                ..0 => 12 + month,
                _ => month - 1,
            };
            return name(out, ROMAN[at as usize], case, 4, fill);
        }
        let Some(full) = usize::try_from(month - 1).ok().and_then(|at| MONTHS.get(at)) else { return };
        match field {
            Field::MonthName => name(out, full, case, 9, fill),
            _ => name(out, &full[..3], case, 0, fill),
        }
    }

    fn offset(&self, out: &mut String, field: Field, fill: bool) {
        let (east, _) = self.zone.unwrap_or((0, ""));
        let seconds = i64::from(east.abs());
        if field == Field::ZoneMinute {
            return number(out, seconds / 60 % 60, 2, false);
        }
        out.push(if east < 0 { '-' } else { '+' });
        number(out, seconds / 3600, 2, fill && field == Field::Offset);
        if field == Field::Offset && seconds % 3600 != 0 {
            let _ = write!(out, ":{:02}", seconds / 60 % 60);
            if seconds % 60 != 0 {
                let _ = write!(out, ":{:02}", seconds % 60);
            }
        }
    }
}

fn last_digits(out: &mut String, year: i64, digits: u32, fill: bool) {
    let part = if digits == 4 { year } else { year % 10i64.pow(digits) };
    number(out, part, digits as usize, fill);
}

/// What an interval does not have.
fn needs_calendar(field: Field) -> bool {
    matches!(
        field,
        Field::ZoneName
            | Field::ZoneHour
            | Field::ZoneMinute
            | Field::Offset
            | Field::Era { .. }
            | Field::MonthName
            | Field::MonthShort
            | Field::Day
            | Field::DayShort
            | Field::DayOfWeek
            | Field::IsoDayOfWeek
    )
}
