//! Intervals as ISO 8601 writes them: `P1Y2M3DT4H5M6S`, `P0001-02-03T04:05:06`.

use super::read::Bad;
use super::read_interval::{Number, Sum, Unit};
use crate::Interval;

pub(super) fn read(text: &str) -> Result<Interval, Bad> {
    let mut rest = text.strip_prefix('P').filter(|rest| !rest.is_empty()).ok_or(Bad::Format)?;
    let mut sum = Sum::default();
    let mut in_time = false;
    let mut any = false;
    while !rest.is_empty() {
        if let Some(time) = rest.strip_prefix('T') {
            if in_time {
                return Err(Bad::Format);
            }
            in_time = true;
            any = true;
            rest = time;
            continue;
        }
        let width = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number = take_number(&mut rest)?;
        any = true;
        let designator = rest.chars().next();
        let unit = match (designator, in_time) {
            (Some('Y'), false) => Unit::Year,
            (Some('M'), false) => Unit::Month,
            (Some('W'), false) => Unit::Week,
            (Some('D'), false) => Unit::Day,
            (Some('H'), true) => Unit::Hour,
            (Some('M'), true) => Unit::Minute,
            (Some('S'), true) => Unit::Second,
            // The alternative format: a date with hyphens, a time with colons.
            (Some('-'), false) => {
                alternative(number, &mut rest, '-', [Unit::Year, Unit::Month, Unit::Day], &mut sum)?;
                continue;
            }
            (Some(':'), true) => {
                alternative(number, &mut rest, ':', [Unit::Hour, Unit::Minute, Unit::Second], &mut sum)?;
                continue;
            }
            (None | Some('T'), false) => {
                basic_date(number, width, &mut sum)?;
                continue;
            }
            (None, true) => {
                basic_time(number, width, &mut sum)?;
                continue;
            }
            _ => return Err(Bad::Format),
        };
        sum.add(number, unit)?;
        rest = &rest[1..];
    }
    if any { sum.interval() } else { Err(Bad::Format) }
}

fn take_number(rest: &mut &str) -> Result<Number, Bad> {
    let negative = rest.starts_with('-');
    let digits = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let end = digits.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(digits.len());
    let number = Number::floating(&digits[..end], negative)?;
    *rest = &digits[end..];
    Ok(number)
}

fn alternative(first: Number, rest: &mut &str, separator: char, units: [Unit; 3], sum: &mut Sum) -> Result<(), Bad> {
    sum.add(first, units[0])?;
    for unit in &units[1..] {
        let Some(after) = rest.strip_prefix(separator) else { break };
        *rest = after;
        sum.add(take_number(rest)?, *unit)?;
    }
    if rest.is_empty() || rest.starts_with('T') { Ok(()) } else { Err(Bad::Format) }
}

/// `YYYYMMDD`, or years.
fn basic_date(number: Number, width: usize, sum: &mut Sum) -> Result<(), Bad> {
    let value = number.whole;
    if width != 8 {
        return sum.add(number, Unit::Year);
    }
    for (part, unit) in [(value / 10_000, Unit::Year), (value / 100 % 100, Unit::Month), (value % 100, Unit::Day)] {
        sum.add(Number { whole: part, fraction: 0.0 }, unit)?;
    }
    Ok(())
}

/// `HHMMSS`, or hours.
fn basic_time(number: Number, width: usize, sum: &mut Sum) -> Result<(), Bad> {
    let value = number.whole;
    if width != 6 {
        return sum.add(number, Unit::Hour);
    }
    sum.add(Number { whole: value / 10_000, fraction: 0.0 }, Unit::Hour)?;
    sum.add(Number { whole: value / 100 % 100, fraction: 0.0 }, Unit::Minute)?;
    sum.add(Number { whole: value % 100, fraction: number.fraction }, Unit::Second)
}
