//! Rules of zones as POSIX writes them: `EST5EDT,M3.2.0,M11.1.0`.

use super::Kind;
use crate::datetime::calendar;

/// When clocks change if a rule has daylight saving time but does not say.
const DEFAULT_CHANGES: &str = ",M3.2.0,M11.1.0";
const DAY: i64 = 86_400;

/// What is in force in each year.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub standard: Kind,
    summer: Option<Summer>,
}

#[derive(Clone, Debug)]
struct Summer {
    kind: Kind,
    begins: Change,
    ends: Change,
}

/// A day of the year, and the seconds of that day (of the clock as it was before).
#[derive(Clone, Copy, Debug)]
struct Change {
    day: Day,
    seconds: i64,
}

#[derive(Clone, Copy, Debug)]
enum Day {
    /// From 1 to 365; February 29 is never counted.
    Julian(i64),
    /// From 0 to 365.
    OfYear(i64),
    /// The weekday (0 is Sunday) of this week (5 is the last) of the month.
    OfMonth { month: i64, week: i64, weekday: i64 },
}

impl Rule {
    pub fn parse(text: &str) -> Option<Rule> {
        let mut rest = text;
        let name = take_name(&mut rest)?;
        let standard = Kind { offset: -take_seconds(&mut rest)? as i32, summer: false, abbreviation: name };
        if rest.is_empty() {
            return Some(Rule { standard, summer: None });
        }
        let name = take_name(&mut rest).filter(|name| !name.is_empty())?;
        let offset = match rest.bytes().next() {
            None | Some(b',') => standard.offset + 3600,
            Some(_) => -take_seconds(&mut rest)? as i32,
        };
        let kind = Kind { offset, summer: true, abbreviation: name };
        let mut changes = if rest.is_empty() { DEFAULT_CHANGES } else { rest };
        let begins = take_change(&mut changes)?;
        let ends = take_change(&mut changes)?;
        changes.is_empty().then_some(Rule { standard, summer: Some(Summer { kind, begins, ends }) })
    }

    pub fn has_summer(&self) -> bool {
        self.summer.is_some()
    }

    /// What is in force at a time in seconds since 1970: what the last change before it brought.
    pub fn at(&self, unix: i64) -> &Kind {
        let Some(summer) = &self.summer else { return &self.standard };
        let year = year_of(unix);
        let near = (year - 1..=year + 1).flat_map(|year| self.changes_of(summer, year));
        let passed = near.filter(|(at, _)| *at <= unix);
        passed.max_by_key(|(at, _)| *at).map_or(&self.standard, |(_, kind)| kind)
    }

    /// The next change after a time.
    pub fn next(&self, unix: i64) -> Option<(i64, &Kind)> {
        let summer = self.summer.as_ref()?;
        let year = year_of(unix);
        let near = (year - 1..=year + 2).flat_map(|year| self.changes_of(summer, year));
        near.filter(|(at, _)| *at > unix).min_by_key(|(at, _)| *at)
    }

    pub fn named(&self, name: &str) -> Option<&Kind> {
        let kinds = [Some(&self.standard), self.summer.as_ref().map(|summer| &summer.kind)];
        kinds.into_iter().flatten().find(|kind| kind.abbreviation.eq_ignore_ascii_case(name))
    }

    fn changes_of<'a>(&'a self, summer: &'a Summer, year: i64) -> [(i64, &'a Kind); 2] {
        let begin = summer.begins.local(year) - i64::from(self.standard.offset);
        let end = summer.ends.local(year) - i64::from(summer.kind.offset);
        [(begin, &summer.kind), (end, &self.standard)]
    }
}

fn year_of(unix: i64) -> i64 {
    calendar::from_days(unix.div_euclid(DAY) - super::UNIX_EPOCH / DAY).0
}

impl Change {
    /// When it is in this year, by the clock as it was before, in seconds since 1970.
    fn local(self, year: i64) -> i64 {
        let first = calendar::to_days(year, 1, 1) + super::UNIX_EPOCH / DAY;
        let day = match self.day {
            Day::Julian(day) => first + day - 1 + i64::from(day >= 60 && calendar::is_leap(year)),
            Day::OfYear(day) => first + day,
            Day::OfMonth { month, week, weekday } => {
                let start = calendar::to_days(year, month, 1) + super::UNIX_EPOCH / DAY;
                // 1970-01-01 was a Thursday.
                let ahead = (weekday - (start + 4)).rem_euclid(7);
                let mut day = ahead + (week - 1) * 7;
                while day >= calendar::days_in_month(year, month) {
                    day -= 7;
                }
                start + day
            }
        };
        day * DAY + self.seconds
    }
}

/// What is not part of an offset, or anything in angle brackets. PostgreSQL also takes no name at all (`+05`).
fn take_name(rest: &mut &str) -> Option<String> {
    if let Some(inner) = rest.strip_prefix('<') {
        let (name, after) = inner.split_once('>')?;
        *rest = after;
        return Some(name.to_owned());
    }
    let end = rest.find(|char: char| char.is_ascii_digit() || matches!(char, ',' | '-' | '+')).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    *rest = after;
    Some(name.to_owned())
}

/// `[+-]hh[:mm[:ss]]`
fn take_seconds(rest: &mut &str) -> Option<i64> {
    let sign = match rest.bytes().next()? {
        b'-' => -1,
        _ => 1,
    };
    *rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let mut seconds = take_number(rest, 167)? * 3600;
    for unit in [60, 1] {
        let Some(after) = rest.strip_prefix(':') else { break };
        *rest = after;
        seconds += take_number(rest, 59)? * unit;
    }
    Some(sign * seconds)
}

fn take_number(rest: &mut &str, most: i64) -> Option<i64> {
    let length = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, after) = rest.split_at(length);
    *rest = after;
    number.parse().ok().filter(|number| *number <= most)
}

/// `,M3.2.0/2`, `,J60`, `,59`
fn take_change(rest: &mut &str) -> Option<Change> {
    *rest = rest.strip_prefix(',')?;
    let day = if let Some(after) = rest.strip_prefix('M') {
        *rest = after;
        let mut part = |most| {
            let number = take_number(rest, most)?;
            *rest = rest.strip_prefix('.').unwrap_or(rest);
            Some(number)
        };
        let (month, week, weekday) = (part(12)?, part(5)?, part(6)?);
        if month == 0 || week == 0 {
            return None;
        }
        Day::OfMonth { month, week, weekday }
    } else if let Some(after) = rest.strip_prefix('J') {
        *rest = after;
        Day::Julian(take_number(rest, 365)?)
    } else {
        Day::OfYear(take_number(rest, 365)?)
    };
    let seconds = match rest.strip_prefix('/') {
        Some(after) => {
            *rest = after;
            take_seconds(rest)?
        }
        None => 2 * 3600,
    };
    Some(Change { day, seconds })
}
