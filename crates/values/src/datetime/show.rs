//! Dates, times and timestamps as text, in the styles of `DateStyle`.

use std::fmt::Write;

use super::calendar::{self, Civil, DAY, SECOND};
use super::zone;
use crate::Env;

/// How dates look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Style {
    Iso,
    Sql,
    German,
    Postgres,
}

fn style(env: &dyn Env) -> (Style, bool) {
    let text = env.settings().date_style.as_str();
    let day_first = text.ends_with("DMY");
    let style = match text.split(',').next() {
        Some("SQL") => Style::Sql,
        Some("German") => Style::German,
        Some("Postgres") => Style::Postgres,
        _ => Style::Iso,
    };
    (style, day_first)
}

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/// Shows a date.
pub fn show_date(out: &mut String, days: i32, env: &dyn Env) {
    match days {
        i32::MAX => return out.push_str("infinity"),
        i32::MIN => return out.push_str("-infinity"),
        _ => {}
    }
    let (year, month, day) = calendar::from_days(days.into());
    push_date(out, year, month, day, style(env));
    push_era(out, year);
}

/// Shows a date as XML and JSON have it, whatever DateStyle is.
pub fn show_iso_date(out: &mut String, days: i32) {
    match days {
        i32::MAX => return out.push_str("infinity"),
        i32::MIN => return out.push_str("-infinity"),
        _ => {}
    }
    let (year, month, day) = calendar::from_days(days.into());
    push_iso_date(out, shown_year(year), month, day);
    push_era(out, year);
}

/// Shows a time.
pub fn show_time(out: &mut String, micros: i64) {
    push_clock(out, micros);
}

/// Shows a time with its zone, which is in seconds west of UTC.
pub fn show_timetz(out: &mut String, micros: i64, west: i32) {
    push_clock(out, micros);
    push_offset(out, -west);
}

/// Shows a timestamp.
pub fn show_timestamp(out: &mut String, micros: i64, env: &dyn Env) {
    match micros {
        i64::MAX => out.push_str("infinity"),
        i64::MIN => out.push_str("-infinity"),
        _ => push_timestamp(out, micros, None, env),
    }
}

/// Shows a timestamp in the connection's time zone.
pub fn show_timestamptz(out: &mut String, micros: i64, env: &dyn Env) {
    match micros {
        i64::MAX => return out.push_str("infinity"),
        i64::MIN => return out.push_str("-infinity"),
        _ => {}
    }
    let zone = zone::of_setting(&env.settings().time_zone);
    let kind = zone.at(micros.div_euclid(SECOND));
    let local = micros.saturating_add(i64::from(kind.offset) * SECOND);
    push_timestamp(out, local, Some((kind.offset, &kind.abbreviation)), env);
}

fn push_timestamp(out: &mut String, local: i64, zone: Option<(i32, &str)>, env: &dyn Env) {
    let (style, day_first) = style(env);
    let (days, time) = (local.div_euclid(DAY), local.rem_euclid(DAY));
    let (year, month, day) = calendar::from_days(days);
    if style == Style::Postgres {
        let weekday = WEEKDAYS[calendar::weekday(days) as usize];
        let name = MONTHS[(month - 1) as usize];
        let _ = match day_first {
            true => write!(out, "{weekday} {day:02} {name} "),
            false => write!(out, "{weekday} {name} {day:02} "),
        };
        push_clock(out, time);
        let _ = write!(out, " {:04}", shown_year(year));
    } else {
        push_date(out, year, month, day, (style, day_first));
        out.push(' ');
        push_clock(out, time);
    }
    if let Some((offset, abbreviation)) = zone {
        match style {
            Style::Iso => push_offset(out, offset),
            _ => {
                let _ = write!(out, " {abbreviation}");
            }
        }
    }
    push_era(out, year);
}

fn push_date(out: &mut String, year: i64, month: i64, day: i64, (style, day_first): (Style, bool)) {
    let year = shown_year(year);
    let _ = match (style, day_first) {
        (Style::Iso, _) => {
            return push_iso_date(out, year, month, day);
        }
        (Style::Sql, true) => write!(out, "{day:02}/{month:02}/{year:04}"),
        (Style::Sql, false) => write!(out, "{month:02}/{day:02}/{year:04}"),
        (Style::German, _) => write!(out, "{day:02}.{month:02}.{year:04}"),
        (Style::Postgres, true) => write!(out, "{day:02}-{month:02}-{year:04}"),
        (Style::Postgres, false) => write!(out, "{month:02}-{day:02}-{year:04}"),
    };
}

fn push_iso_date(out: &mut String, year: i64, month: i64, day: i64) {
    if year < 10_000 {
        push_two(out, year / 100);
        push_two(out, year % 100);
    } else {
        let _ = write!(out, "{year}");
    }
    out.push('-');
    push_two(out, month);
    out.push('-');
    push_two(out, day);
}

/// The year as people count: there is no year 0.
fn shown_year(year: i64) -> i64 {
    if year > 0 { year } else { 1 - year }
}

fn push_era(out: &mut String, year: i64) {
    if year <= 0 {
        out.push_str(" BC");
    }
}

/// Two digits: this is where the time goes when many timestamps are shown.
fn push_two(out: &mut String, value: i64) {
    out.push((b'0' + (value / 10 % 10) as u8) as char);
    out.push((b'0' + (value % 10) as u8) as char);
}

fn push_clock(out: &mut String, micros: i64) {
    let (hour, minute, second, micros) = calendar::clock(micros);
    push_two(out, hour);
    out.push(':');
    push_two(out, minute);
    out.push(':');
    push_two(out, second);
    push_fraction(out, micros);
}

/// Microseconds after a point, without zeros at the end.
pub(super) fn push_fraction(out: &mut String, micros: i64) {
    if micros != 0 {
        let digits = format!("{micros:06}");
        out.push('.');
        out.push_str(digits.trim_end_matches('0'));
    }
}

/// Seconds east of UTC: `+05:30`.
pub(super) fn push_offset(out: &mut String, east: i32) {
    out.push(if east < 0 { '-' } else { '+' });
    let seconds = i64::from(east.abs());
    push_two(out, seconds / 3600);
    if seconds % 3600 != 0 {
        out.push(':');
        push_two(out, seconds / 60 % 60);
    }
    if seconds % 60 != 0 {
        out.push(':');
        push_two(out, seconds % 60);
    }
}

/// A timestamp as XML and JSON have it: `2000-01-01T00:00:00`, with the zone's offset if there is one.
pub fn show_iso_8601(out: &mut String, local: i64, offset: Option<i32>) {
    match local {
        i64::MAX => return out.push_str("infinity"),
        i64::MIN => return out.push_str("-infinity"),
        _ => {}
    }
    let civil = Civil::of(local);
    push_iso_date(out, shown_year(civil.year), civil.month, civil.day);
    out.push('T');
    push_clock(out, local.rem_euclid(DAY));
    if let Some(east) = offset {
        out.push(if east < 0 { '-' } else { '+' });
        let seconds = i64::from(east.abs());
        push_two(out, seconds / 3600);
        out.push(':');
        push_two(out, seconds / 60 % 60);
    }
    push_era(out, civil.year);
}
