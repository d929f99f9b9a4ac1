//! `extract` and `date_trunc`.

use super::arithmetic::{from_local, timestamp_out_of_range, to_local};
use super::calendar::{self, Civil, DAY, HOUR, MINUTE, SECOND, to_days};
use super::read_interval::Unit;
use super::units::Part;
use super::zone::Zone;
use crate::Interval;
use crate::error::{Result, SqlError, SqlState};
use crate::numeric::Numeric;

/// A point of which parts are asked.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// A date.
    Date(i32),
    /// A timestamp without a time zone.
    Timestamp(i64),
    /// A timestamp with the time zone in which it is looked at.
    TimestampTz(i64, &'a Zone),
    /// A time.
    Time(i64),
    /// A time, and seconds west of UTC.
    TimeTz(i64, i32),
    /// An interval.
    Interval(&'a Interval),
}

impl Source<'_> {
    fn type_name(&self) -> &'static str {
        match self {
            Source::Date(_) => "date",
            Source::Timestamp(_) => "timestamp without time zone",
            Source::TimestampTz(..) => "timestamp with time zone",
            Source::Time(_) => "time without time zone",
            Source::TimeTz(..) => "time with time zone",
            Source::Interval(_) => "interval",
        }
    }

    fn unsupported(&self, name: &str) -> SqlError {
        let name = name.to_ascii_lowercase();
        SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            format!("unit \"{name}\" not supported for type {}", self.type_name()),
        )
    }

    fn unrecognized(&self, name: &str) -> SqlError {
        let name = name.to_ascii_lowercase();
        SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            format!("unit \"{name}\" not recognized for type {}", self.type_name()),
        )
    }
}

/// `extract(part FROM source)`; `None` is NULL (the month of infinity).
pub fn extract(name: &str, source: Source<'_>) -> Result<Option<Numeric>> {
    let part = Part::named(name).ok_or_else(|| source.unrecognized(name))?;
    match source {
        Source::Date(days) => {
            let of_day = !matches!(part, Part::Unit(unit) if (unit as u8) < Unit::Day as u8);
            if !of_day || matches!(part, Part::Timezone | Part::TimezoneHour | Part::TimezoneMinute) {
                return Err(source.unsupported(name));
            }
            if let Some(answer) = of_infinity(part, i64::from(days), i32::MIN.into(), i32::MAX.into()) {
                return answer.ok_or_else(|| source.unsupported(name));
            }
            let value = match part {
                // A date's Julian day is whole.
                Part::Julian => Some(Numeric::from(i64::from(days) + calendar::EPOCH_JULIAN)),
                Part::Epoch => Some(Numeric::from((i64::from(days) + UNIX_DAYS) * 86_400)),
                _ => of_point(part, i64::from(days) * DAY, None),
            };
            value.map(Some).ok_or_else(|| source.unsupported(name))
        }
        Source::Timestamp(micros) => {
            if let Some(answer) = of_infinity(part, micros, i64::MIN, i64::MAX) {
                return answer.ok_or_else(|| source.unsupported(name));
            }
            of_point(part, micros, None).map(Some).ok_or_else(|| source.unsupported(name))
        }
        Source::TimestampTz(micros, zone) => {
            if let Some(answer) = of_infinity(part, micros, i64::MIN, i64::MAX) {
                return answer.ok_or_else(|| source.unsupported(name));
            }
            if part == Part::Epoch {
                return Ok(Some(epoch(micros)));
            }
            let offset = zone.at(micros.div_euclid(SECOND)).offset;
            of_point(part, to_local(micros, zone), Some(offset)).map(Some).ok_or_else(|| source.unsupported(name))
        }
        Source::Time(micros) => of_clock(part, micros, None).map(Some).ok_or_else(|| source.unsupported(name)),
        Source::TimeTz(micros, west) => {
            of_clock(part, micros, Some(-west)).map(Some).ok_or_else(|| source.unsupported(name))
        }
        Source::Interval(interval) => of_interval(part, interval).map(Some).ok_or_else(|| source.unsupported(name)),
    }
}

/// Days from 1970 to 2000.
const UNIX_DAYS: i64 = 10_957;

fn whole(value: i64) -> Numeric {
    Numeric::from(value)
}

fn epoch(micros: i64) -> Numeric {
    Numeric::scaled(i128::from(micros) + i128::from(UNIX_DAYS) * i128::from(DAY), 6)
}

/// What the parts of infinity are: those that only grow are infinite, the others are NULL. `None`: it is finite;
/// `Some(None)`: there is no such part.
#[allow(clippy::option_option)]
fn of_infinity(part: Part, value: i64, least: i64, most: i64) -> Option<Option<Option<Numeric>>> {
    let infinity = match value {
        _ if value == least => Numeric::NEGATIVE_INFINITY,
        _ if value == most => Numeric::INFINITY,
        _ => return None,
    };
    Some(match part {
        Part::Unit(Unit::Year | Unit::Decade | Unit::Century | Unit::Millennium)
        | Part::Julian
        | Part::IsoYear
        | Part::Epoch => Some(Some(infinity)),
        _ => Some(None),
    })
}

/// A part of a local time; `None` if it has no such part.
fn of_point(part: Part, local: i64, offset: Option<i32>) -> Option<Numeric> {
    let civil = Civil::of(local);
    let days = civil.days();
    let Civil { year, month, .. } = civil;
    Some(match part {
        Part::Unit(Unit::Day) => whole(civil.day),
        Part::Unit(Unit::Month) => whole(month),
        Part::Quarter => whole((month - 1) / 3 + 1),
        Part::Unit(Unit::Week) => whole(calendar::iso_week(days).1),
        Part::Unit(Unit::Year) => whole(if year > 0 { year } else { year - 1 }),
        Part::IsoYear => {
            let year = calendar::iso_week(days).0;
            whole(if year > 0 { year } else { year - 1 })
        }
        Part::Unit(Unit::Decade) => whole(year.div_euclid(10)),
        Part::Unit(Unit::Century) => whole(period(year, 100)),
        Part::Unit(Unit::Millennium) => whole(period(year, 1000)),
        Part::Julian => {
            let rest = whole(local.rem_euclid(DAY)).divide(&whole(DAY)).ok()?;
            whole(days + calendar::EPOCH_JULIAN).add(&rest).ok()?
        }
        Part::DayOfWeek => whole(calendar::weekday(days)),
        Part::IsoDayOfWeek => whole((calendar::weekday(days) + 6) % 7 + 1),
        Part::DayOfYear => whole(calendar::day_of_year(days)),
        Part::Epoch => epoch(local),
        Part::Timezone | Part::TimezoneHour | Part::TimezoneMinute => zone_part(part, offset?)?,
        Part::Unit(_) => of_clock(part, local.rem_euclid(DAY), None)?,
    })
}

fn zone_part(part: Part, offset: i32) -> Option<Numeric> {
    let offset = i64::from(offset);
    match part {
        Part::Timezone => Some(whole(offset)),
        Part::TimezoneHour => Some(whole(offset / 3600)),
        Part::TimezoneMinute => Some(whole(offset / 60 % 60)),
        _ => None,
    }
}

/// Centuries and millennia are counted from one, and before Christ from minus one.
fn period(year: i64, years: i64) -> i64 {
    if year > 0 { (year + years - 1) / years } else { -((years - 1 - (year - 1)) / years) }
}

fn of_clock(part: Part, micros: i64, offset: Option<i32>) -> Option<Numeric> {
    Some(match part {
        Part::Unit(Unit::Microsecond) => whole(micros % MINUTE),
        Part::Unit(Unit::Millisecond) => Numeric::scaled((micros % MINUTE).into(), 3),
        Part::Unit(Unit::Second) => Numeric::scaled((micros % MINUTE).into(), 6),
        Part::Unit(Unit::Minute) => whole(micros / MINUTE % 60),
        Part::Unit(Unit::Hour) => whole(micros / HOUR),
        Part::Epoch => {
            let utc = i64::from(offset.unwrap_or(0)) * SECOND;
            Numeric::scaled((micros - utc).into(), 6)
        }
        _ => return zone_part(part, offset?),
    })
}

fn of_interval(part: Part, interval: &Interval) -> Option<Numeric> {
    let (years, months) = (i64::from(interval.months / 12), i64::from(interval.months % 12));
    Some(match part {
        Part::Unit(Unit::Microsecond) => whole(interval.micros % MINUTE),
        Part::Unit(Unit::Millisecond) => Numeric::scaled((interval.micros % MINUTE).into(), 3),
        Part::Unit(Unit::Second) => Numeric::scaled((interval.micros % MINUTE).into(), 6),
        Part::Unit(Unit::Minute) => whole(interval.micros / MINUTE % 60),
        Part::Unit(Unit::Hour) => whole(interval.micros / HOUR),
        Part::Unit(Unit::Day) => whole(interval.days.into()),
        Part::Unit(Unit::Month) => whole(months),
        Part::Quarter => whole(months / 3 + 1),
        Part::Unit(Unit::Year) => whole(years),
        Part::Unit(Unit::Decade) => whole(years / 10),
        Part::Unit(Unit::Century) => whole(years / 100),
        Part::Unit(Unit::Millennium) => whole(years / 1000),
        Part::Epoch => {
            // A year has 365.25 days here, a month 30.
            let quarters = years * 1461 + months * 120 + i64::from(interval.days) * 4;
            let micros = i128::from(quarters) * i128::from(DAY / 4) + i128::from(interval.micros);
            Numeric::scaled(micros, 6)
        }
        _ => return None,
    })
}

/// `date_trunc(part, timestamp)`
pub fn trunc_timestamp(name: &str, local: i64) -> Result<i64> {
    let source = Source::Timestamp(local);
    if local == i64::MAX || local == i64::MIN {
        return Ok(local);
    }
    let part = Part::to_truncate(name).ok_or_else(|| source.unrecognized(name))?;
    let truncated = trunc_local(part, local).ok_or_else(|| source.unsupported(name))?;
    truncated.ok_or_else(timestamp_out_of_range)
}

/// `date_trunc(part, timestamptz)`: by the clock of a zone.
pub fn trunc_timestamptz(name: &str, instant: i64, zone: &Zone) -> Result<i64> {
    let source = Source::TimestampTz(instant, zone);
    if instant == i64::MAX || instant == i64::MIN {
        return Ok(instant);
    }
    let part = Part::to_truncate(name).ok_or_else(|| source.unrecognized(name))?;
    let local = to_local(instant, zone);
    let truncated = trunc_local(part, local).ok_or_else(|| source.unsupported(name))?;
    let truncated = truncated.ok_or_else(timestamp_out_of_range)?;
    // Within a day the offset stays what it is; a day's beginning may have another one.
    let of_clock = matches!(part, Part::Unit(unit) if (unit as u8) < Unit::Day as u8);
    let result = if of_clock { Some(instant - (local - truncated)) } else { from_local(truncated, zone) };
    result.ok_or_else(timestamp_out_of_range)
}

/// `None` if there is no such part, `Some(None)` if the result is out of range.
#[allow(clippy::option_option)]
fn trunc_local(part: Part, local: i64) -> Option<Option<i64>> {
    let Civil { year, month, .. } = Civil::of(local);
    let days = local.div_euclid(DAY);
    let at = |year, month| Some(calendar::timestamp(to_days(year, month, 1), 0));
    let multiple = |unit: i64| Some(Some(local - local.rem_euclid(unit)));
    match part {
        Part::Unit(unit) => match unit {
            Unit::Microsecond => multiple(1),
            Unit::Millisecond => multiple(1000),
            Unit::Second => multiple(SECOND),
            Unit::Minute => multiple(MINUTE),
            Unit::Hour => multiple(HOUR),
            Unit::Day => multiple(DAY),
            Unit::Week => {
                let (year, week) = calendar::iso_week(days);
                Some(calendar::timestamp(calendar::iso_week_start(year, week), 0))
            }
            Unit::Month => at(year, month),
            Unit::Year => at(year, 1),
            Unit::Decade => at(year.div_euclid(10) * 10, 1),
            Unit::Century => at(first_of_period(year, 100), 1),
            Unit::Millennium => at(first_of_period(year, 1000), 1),
        },
        Part::Quarter => at(year, (month - 1) / 3 * 3 + 1),
        _ => None,
    }
}

/// The first year of a century or millennium: 2001, not 2000.
fn first_of_period(year: i64, years: i64) -> i64 {
    (year - 1).div_euclid(years) * years + 1
}

/// `date_trunc(part, interval)`
pub fn trunc_interval(name: &str, interval: &Interval) -> Result<Interval> {
    let source = Source::Interval(interval);
    let part = Part::to_truncate(name).ok_or_else(|| source.unrecognized(name))?;
    let months = |unit: i32| Ok(Interval { months: interval.months / unit * unit, days: 0, micros: 0 });
    let micros = |unit: i64| Ok(Interval { micros: interval.micros / unit * unit, ..*interval });
    match part {
        Part::Unit(unit) => match unit {
            Unit::Microsecond => Ok(*interval),
            Unit::Millisecond => micros(1000),
            Unit::Second => micros(SECOND),
            Unit::Minute => micros(MINUTE),
            Unit::Hour => micros(HOUR),
            Unit::Day => Ok(Interval { micros: 0, ..*interval }),
            Unit::Month => months(1),
            Unit::Year => months(12),
            Unit::Decade => months(120),
            Unit::Century => months(1200),
            Unit::Millennium => months(12_000),
            Unit::Week => Err(source.unsupported(name).detail("Months usually have fractional weeks.")),
        },
        Part::Quarter => months(3),
        _ => Err(source.unsupported(name)),
    }
}
