//! Intervals as text, in the styles of `IntervalStyle`.

use std::fmt::Write;

use super::calendar::clock;
use super::show::push_fraction;
use crate::Env;
use crate::Interval;

/// Shows an interval.
pub fn show_interval(out: &mut String, interval: &Interval, env: &dyn Env) {
    let parts = Parts::of(interval);
    match env.settings().interval_style.as_str() {
        "iso_8601" => iso_8601(out, &parts),
        "sql_standard" => sql_standard(out, &parts),
        "postgres_verbose" => verbose(out, &parts),
        _ => postgres(out, &parts),
    }
}

/// An interval by its parts. The time's parts all have its sign.
struct Parts {
    years: i64,
    months: i64,
    days: i64,
    negative_time: bool,
    hours: i64,
    minutes: i64,
    seconds: i64,
    micros: i64,
}

impl Parts {
    fn of(interval: &Interval) -> Parts {
        let time = interval.micros.unsigned_abs();
        // The hours of the longest interval still fit.
        let hours = (time / super::calendar::HOUR as u64) as i64;
        let (_, minutes, seconds, micros) = clock((time % super::calendar::HOUR as u64) as i64);
        Parts {
            years: i64::from(interval.months) / 12,
            months: i64::from(interval.months) % 12,
            days: interval.days.into(),
            negative_time: interval.micros < 0,
            hours,
            minutes,
            seconds,
            micros,
        }
    }

    fn has_time(&self) -> bool {
        self.hours != 0 || self.minutes != 0 || self.seconds != 0 || self.micros != 0
    }
}

/// `1 year 2 mons -3 days +04:05:06`: after something negative, a plus is shown.
fn postgres(out: &mut String, parts: &Parts) {
    let mut empty = true;
    let mut after_negative = false;
    for (value, unit) in [(parts.years, "year"), (parts.months, "mon"), (parts.days, "day")] {
        if value == 0 {
            continue;
        }
        let space = if empty { "" } else { " " };
        let sign = if after_negative && value > 0 { "+" } else { "" };
        let plural = if value == 1 { "" } else { "s" };
        let _ = write!(out, "{space}{sign}{value} {unit}{plural}");
        after_negative = value < 0;
        empty = false;
    }
    if empty || parts.has_time() {
        let space = if empty { "" } else { " " };
        let sign = if parts.negative_time {
            "-"
        } else if after_negative {
            "+"
        } else {
            ""
        };
        let _ = write!(out, "{space}{sign}{:02}:{:02}:{:02}", parts.hours, parts.minutes, parts.seconds);
        push_fraction(out, parts.micros);
    }
}

/// `@ 1 year 2 mons 3 days 4 hours 5 mins 6 secs ago`: the first part is shown as positive.
fn verbose(out: &mut String, parts: &Parts) {
    let time_sign = if parts.negative_time { -1 } else { 1 };
    let units = [
        (parts.years, "year"),
        (parts.months, "mon"),
        (parts.days, "day"),
        (parts.hours * time_sign, "hour"),
        (parts.minutes * time_sign, "min"),
    ];
    out.push('@');
    let mut ago = None;
    for (value, unit) in units {
        if value == 0 {
            continue;
        }
        let value = if *ago.get_or_insert(value < 0) { -value } else { value };
        let _ = write!(out, " {value} {unit}{}", if value == 1 { "" } else { "s" });
    }
    if parts.seconds != 0 || parts.micros != 0 {
        let negative = parts.negative_time != *ago.get_or_insert(parts.negative_time);
        let _ = write!(out, " {}{}", if negative { "-" } else { "" }, parts.seconds);
        push_fraction(out, parts.micros);
        let one = parts.seconds == 1 && parts.micros == 0;
        out.push_str(if one && !negative { " sec" } else { " secs" });
    }
    match ago {
        None => out.push_str(" 0"),
        Some(true) => out.push_str(" ago"),
        Some(false) => {}
    }
}

/// `P1Y2M3DT4H5M6S`
fn iso_8601(out: &mut String, parts: &Parts) {
    if parts.years == 0 && parts.months == 0 && parts.days == 0 && !parts.has_time() {
        return out.push_str("PT0S");
    }
    out.push('P');
    for (value, unit) in [(parts.years, 'Y'), (parts.months, 'M'), (parts.days, 'D')] {
        if value != 0 {
            let _ = write!(out, "{value}{unit}");
        }
    }
    if !parts.has_time() {
        return;
    }
    out.push('T');
    let sign = if parts.negative_time { "-" } else { "" };
    for (value, unit) in [(parts.hours, 'H'), (parts.minutes, 'M')] {
        if value != 0 {
            let _ = write!(out, "{sign}{value}{unit}");
        }
    }
    if parts.seconds != 0 || parts.micros != 0 {
        let _ = write!(out, "{sign}{}", parts.seconds);
        push_fraction(out, parts.micros);
        out.push('S');
    }
}

/// `1-2`, `3 4:05:06`, `+1-2 -3 +4:05:06`: the standard has no intervals with both months and days, or with two signs; for
/// those all signs are shown.
fn sql_standard(out: &mut String, parts: &Parts) {
    let values = [parts.years, parts.months, parts.days];
    let time_negative = parts.negative_time && parts.has_time();
    let negative = values.iter().any(|value| *value < 0) || time_negative;
    let positive = values.iter().any(|value| *value > 0) || (parts.has_time() && !parts.negative_time);
    let has_months = parts.years != 0 || parts.months != 0;
    let has_day = parts.days != 0 || parts.has_time();
    let mixed = (negative && positive) || (has_months && has_day);
    if !negative && !positive {
        return out.push('0');
    }
    let clock = |out: &mut String| {
        let _ = write!(out, "{}:{:02}:{:02}", parts.hours, parts.minutes, parts.seconds);
        push_fraction(out, parts.micros);
    };
    if mixed {
        let sign = |negative: bool| if negative { '-' } else { '+' };
        let _ = write!(
            out,
            "{}{}-{} {}{} {}",
            sign(parts.years < 0 || parts.months < 0),
            parts.years.abs(),
            parts.months.abs(),
            sign(parts.days < 0),
            parts.days.abs(),
            sign(time_negative),
        );
        return clock(out);
    }
    if negative {
        out.push('-');
    }
    if has_months {
        let _ = write!(out, "{}-{}", parts.years.abs(), parts.months.abs());
        return;
    }
    if parts.days != 0 {
        let _ = write!(out, "{} ", parts.days.abs());
    }
    clock(out);
}
