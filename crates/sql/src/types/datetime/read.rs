//! Text → dates and times: which field is which, by its looks, its words, and what has been seen before it.
//!
//! The rules are PostgreSQL's (its appendix "Date/Time Input Interpretation"): a field of more than two digits at the
//! beginning is a year, otherwise `DateStyle` says what the order of numbers is.

use super::calendar::{self, Civil, DAY, HOUR, MINUTE, SECOND};
use super::token::{self, Field, Look};
use super::words::{self, Word};
use super::zone::{self, Place};
use crate::error::{Result, SqlError, SqlState};
use crate::functions::Env;

/// Offsets are less than sixteen hours.
const MAX_OFFSET_HOURS: i64 = 15;

/// Why a text is not a date or time.
#[derive(Debug)]
pub(super) enum Bad {
    Format,
    /// A field is out of range.
    Field,
    /// A month or day is: perhaps the order of fields is another one.
    MonthDay,
    Interval,
    /// All parts are within range, but their sum is not.
    WholeInterval,
    Displacement,
    Zone(String),
}

impl Bad {
    /// The error, for a text that should have been of this type.
    pub(super) fn error(self, type_name: &str, text: &str) -> SqlError {
        let overflow = || {
            SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("date/time field value out of range: \"{text}\""))
        };
        match self {
            Bad::Format => SqlError::new(
                SqlState::INVALID_DATETIME_FORMAT,
                format!("invalid input syntax for type {type_name}: \"{text}\""),
            ),
            Bad::Field => overflow(),
            Bad::MonthDay => overflow().hint("Perhaps you need a different \"datestyle\" setting."),
            Bad::Interval => SqlError::new(
                SqlState::INTERVAL_FIELD_OVERFLOW,
                format!("interval field value out of range: \"{text}\""),
            ),
            Bad::WholeInterval => super::read_interval::out_of_range(),
            Bad::Displacement => {
                SqlError::with_code("22009", format!("time zone displacement out of range: \"{text}\""))
            }
            Bad::Zone(name) => {
                SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("time zone \"{name}\" not recognized"))
            }
        }
    }
}

/// The order of the numbers of a date.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    YearMonthDay,
    DayMonthYear,
    MonthDayYear,
}

impl Order {
    pub(super) fn of_style(date_style: &str) -> Order {
        match date_style {
            style if style.ends_with("YMD") => Order::YearMonthDay,
            style if style.ends_with("DMY") => Order::DayMonthYear,
            _ => Order::MonthDayYear,
        }
    }
}

/// What was read.
#[derive(Clone, Debug)]
pub(super) enum Moment {
    /// A date and perhaps a time, by the clock of the place (if it names one).
    Point {
        civil: Civil,
        place: Option<Place>,
    },
    Epoch,
    Infinity,
    MinusInfinity,
}

/// Which fields have been seen.
mod seen {
    pub const YEAR: u32 = 1;
    pub const MONTH: u32 = 1 << 1;
    pub const DAY: u32 = 1 << 2;
    pub const DATE: u32 = YEAR | MONTH | DAY;
    pub const TIME: u32 = 1 << 3;
    pub const ZONE: u32 = 1 << 4;
    pub const HALF: u32 = 1 << 5;
    pub const ERA: u32 = 1 << 6;
    pub const WEEKDAY: u32 = 1 << 7;
    pub const SUMMER: u32 = 1 << 8;
    pub const DAY_OF_YEAR: u32 = 1 << 9;
    pub const SPECIAL: u32 = 1 << 10;
}

/// What is to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Want {
    Date,
    Time,
}

/// Reads a date (with or without a time), or a time (with or without a date).
pub(super) fn read(text: &str, want: Want, env: &dyn Env) -> Result<Moment, Bad> {
    let settings = env.settings();
    let fields = token::fields(text, words::is_known).ok_or(Bad::Format)?;
    let mut reader = Reader {
        want,
        order: Order::of_style(&settings.date_style),
        env,
        seen: 0,
        civil: Civil { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0, micros: 0 },
        day_of_year: 0,
        two_digits: false,
        text_month: false,
        julian: false,
        before_christ: false,
        afternoon: None,
        place: None,
        summer: false,
        special: None,
        prefix: None,
    };
    for (at, field) in fields.iter().enumerate() {
        reader.field(field, at, &fields)?;
    }
    reader.finish()
}

struct Reader<'a> {
    want: Want,
    order: Order,
    env: &'a dyn Env,
    seen: u32,
    civil: Civil,
    day_of_year: i64,
    two_digits: bool,
    text_month: bool,
    julian: bool,
    before_christ: bool,
    afternoon: Option<bool>,
    place: Option<Place>,
    summer: bool,
    special: Option<Moment>,
    /// A word that says what the next field is.
    prefix: Option<Word>,
}

impl Reader<'_> {
    fn note(&mut self, mask: u32) -> Result<(), Bad> {
        if self.seen & mask != 0 {
            return Err(Bad::Format);
        }
        self.seen |= mask;
        Ok(())
    }

    fn has(&self, mask: u32) -> bool {
        self.seen & mask == mask
    }

    fn field(&mut self, field: &Field, at: usize, fields: &[Field]) -> Result<(), Bad> {
        match field.look {
            Look::Date => self.date_field(&field.text, at, fields),
            Look::Time => {
                match self.prefix.take() {
                    None | Some(Word::Time) => {}
                    Some(_) => return Err(Bad::Format),
                }
                self.clock(&field.text)
            }
            Look::Signed => {
                let offset = read_offset(&field.text)?;
                self.note(seen::ZONE)?;
                self.place = Some(Place::Offset(offset));
                Ok(())
            }
            Look::Number => match self.prefix.take() {
                Some(Word::Julian) => self.julian_day(&field.text),
                Some(Word::Time) => {
                    let mask = self.number_field(&field.text, self.seen | seen::DATE)?;
                    if mask != seen::TIME { Err(Bad::Format) } else { self.note(mask) }
                }
                Some(_) => Err(Bad::Format),
                None => self.number(&field.text),
            },
            Look::Word | Look::SignedWord => self.word(&field.text, at, fields),
        }
    }

    fn date_field(&mut self, text: &str, at: usize, fields: &[Field]) -> Result<(), Bad> {
        let numeric = text.as_bytes()[0].is_ascii_digit();
        // A time may have a date before it, but nothing else that looks like one.
        let date_allowed = self.want == Want::Date || (at == 0 && fields.len() >= 2 && has_time_after(fields));
        if self.prefix.is_none() && !self.has(seen::MONTH | seen::DAY) && date_allowed {
            return self.date(text);
        }
        // A date is there already: this is a zone's name, or a time that a zone's offset follows (`040506-08`).
        if !numeric && self.prefix.is_none() {
            let found = zone::find(text).ok_or_else(|| Bad::Zone(text.to_owned()))?;
            self.note(seen::ZONE)?;
            self.place = Some(Place::Zone(found));
            return Ok(());
        }
        let split = text.find('-').ok_or(Bad::Format)?;
        let offset = read_offset(&text[split..])?;
        match self.prefix.take() {
            None | Some(Word::Time) => {}
            Some(Word::Julian) => {
                self.julian_day(&text[..split])?;
                self.place = Some(Place::Offset(offset));
                return self.note(seen::ZONE);
            }
            Some(_) => return Err(Bad::Format),
        }
        let mask = self.number_field(&text[..split], self.seen | seen::DATE)?;
        if mask != seen::TIME {
            return Err(Bad::Format);
        }
        self.note(seen::TIME | seen::ZONE)?;
        self.place = Some(Place::Offset(offset));
        Ok(())
    }

    /// A date of up to three parts.
    fn date(&mut self, text: &str) -> Result<(), Bad> {
        let parts = text.split(|char: char| !char.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
        let mut parts: Vec<&str> = parts.collect();
        if parts.len() > 3 {
            return Err(Bad::Format);
        }
        let mut seen_here = 0;
        let mut text_month = false;
        parts = split_letters(parts);
        // Names of months first: they decide what the numbers are.
        let mut numbers = Vec::new();
        for part in parts {
            if part.as_bytes()[0].is_ascii_alphabetic() {
                match words::lookup(part) {
                    Some(Word::Month(month)) => {
                        self.civil.month = month;
                        if seen_here & seen::MONTH != 0 {
                            return Err(Bad::Format);
                        }
                        seen_here |= seen::MONTH;
                        text_month = true;
                    }
                    Some(Word::Filler) => {}
                    _ => return Err(Bad::Format),
                }
            } else {
                numbers.push(part);
            }
        }
        for number in numbers {
            let mask = self.decide(number, text_month, seen_here | self.seen & seen::DATE)?;
            if seen_here & mask != 0 {
                return Err(Bad::Format);
            }
            seen_here |= mask;
        }
        // All of a date, and nothing but a zone before it.
        if (self.seen | seen_here) & !(seen::DAY_OF_YEAR | seen::ZONE) != seen::DATE {
            return Err(Bad::Format);
        }
        self.note(seen_here)
    }

    /// What a number is, by what has been seen before it.
    fn decide(&mut self, text: &str, text_month: bool, before: u32) -> Result<u32, Bad> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Err(Bad::Format);
        }
        let value: i64 = text[..digits].parse::<i32>().map_err(|_| Bad::Field)?.into();
        if digits < text.len() {
            if text.as_bytes()[digits] != b'.' {
                return Err(Bad::Format);
            }
            if digits > 2 {
                return self.number_field(text, before | seen::DATE);
            }
            self.civil.micros = read_fraction(&text[digits..])?;
            if !before & seen::DATE == 0 {
                return Err(Bad::Format);
            }
        }
        if digits == 3 && before & seen::DATE == seen::YEAR && (1..=366).contains(&value) {
            self.day_of_year = value;
            return Ok(seen::DAY_OF_YEAR | seen::MONTH | seen::DAY);
        }
        let mask = match before & seen::DATE {
            0 if digits >= 3 || self.order == Order::YearMonthDay => seen::YEAR,
            0 if self.order == Order::DayMonthYear => seen::DAY,
            0 => seen::MONTH,
            seen::YEAR | seen::DAY => seen::MONTH,
            seen::MONTH if text_month && (digits >= 3 || self.order == Order::YearMonthDay) => seen::YEAR,
            seen::MONTH => seen::DAY,
            mask if mask == seen::YEAR | seen::MONTH => {
                if text_month && digits >= 3 && self.two_digits {
                    // What was taken for a year was the day.
                    self.civil.day = self.civil.year;
                    self.civil.year = value;
                    self.two_digits = false;
                    return Ok(seen::DAY);
                }
                seen::DAY
            }
            mask if mask == seen::MONTH | seen::DAY => seen::YEAR,
            seen::DATE => return self.number_field(text, before),
            _ => return Err(Bad::Format),
        };
        match mask {
            seen::YEAR => {
                self.civil.year = value;
                self.two_digits = digits <= 2;
            }
            seen::MONTH => self.civil.month = value,
            _ => self.civil.day = value,
        }
        Ok(mask)
    }

    fn number(&mut self, text: &str) -> Result<(), Bad> {
        let point = text.find('.');
        let has_date = self.seen & seen::DATE != 0;
        let mask = match point {
            Some(_) if !has_date && self.want == Want::Date => return self.date(text),
            Some(at) if at > 2 => self.number_field(text, self.seen)?,
            _ if self.want == Want::Time && point.is_none() && text.len() > 2 && text.len() != 4 && text.len() != 6 => {
                return Err(Bad::Format);
            }
            _ if self.want == Want::Time && !has_date => self.number_field(text, self.seen | seen::DATE)?,
            _ if text.len() >= 6 && (!has_date || self.seen & seen::TIME == 0) => self.number_field(text, self.seen)?,
            _ => self.decide(text, self.text_month, self.seen)?,
        };
        self.note(mask)
    }

    /// Digits that run together: a date, or a time.
    fn number_field(&mut self, text: &str, before: u32) -> Result<u32, Bad> {
        let (digits, fraction) = match text.find('.') {
            Some(at) => (&text[..at], Some(&text[at..])),
            None => (text, None),
        };
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Bad::Format);
        }
        let part = |from: usize, to: usize| digits[from..to].parse::<i32>().map(i64::from).map_err(|_| Bad::Field);
        let length = digits.len();
        if let Some(fraction) = fraction {
            self.civil.micros = read_fraction(fraction)?;
        } else if before & seen::DATE != seen::DATE && length >= 6 {
            self.civil.day = part(length - 2, length)?;
            self.civil.month = part(length - 4, length - 2)?;
            self.civil.year = part(0, length - 4)?;
            self.two_digits = length == 6;
            return Ok(seen::DATE);
        }
        if before & seen::TIME == 0 && matches!(length, 4 | 6) {
            self.civil.hour = part(0, 2)?;
            self.civil.minute = part(2, 4)?;
            self.civil.second = if length == 6 { part(4, 6)? } else { 0 };
            return Ok(seen::TIME);
        }
        Err(Bad::Format)
    }

    fn clock(&mut self, text: &str) -> Result<(), Bad> {
        let (hour, minute, second, micros) = read_clock(text)?;
        self.civil = Civil { hour, minute, second, micros, ..self.civil };
        self.check_clock()?;
        self.note(seen::TIME)
    }

    fn check_clock(&self) -> Result<(), Bad> {
        let Civil { hour, minute, second, micros, .. } = self.civil;
        let end_of_day = hour == 24 && (minute, second, micros) != (0, 0, 0);
        if !(0..=24).contains(&hour) || !(0..=59).contains(&minute) || !(0..=60).contains(&second) || end_of_day {
            return Err(Bad::Field);
        }
        Ok(())
    }

    fn julian_day(&mut self, text: &str) -> Result<(), Bad> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let day: i64 = whole.parse::<i32>().map_err(|_| Bad::Field)?.into();
        (self.civil.year, self.civil.month, self.civil.day) = calendar::from_days(day - calendar::EPOCH_JULIAN);
        self.julian = true;
        let mut mask = seen::DATE;
        if !fraction.is_empty() {
            let part: f64 = format!("0.{fraction}").parse().map_err(|_| Bad::Format)?;
            let (hour, minute, second, micros) = calendar::clock((part * DAY as f64) as i64);
            self.civil = Civil { hour, minute, second, micros, ..self.civil };
            mask |= seen::TIME;
        }
        self.note(mask)
    }

    fn word(&mut self, text: &str, at: usize, fields: &[Field]) -> Result<(), Bad> {
        if self.prefix.is_some() {
            return Err(Bad::Format);
        }
        if let Some(place) = zone::abbreviated(text) {
            self.note(seen::ZONE)?;
            self.place = Some(place);
            return Ok(());
        }
        let Some(word) = words::lookup(text) else {
            let found = zone::find(text).ok_or(Bad::Format)?;
            self.note(seen::ZONE)?;
            self.place = Some(Place::Zone(found));
            return Ok(());
        };
        match word {
            Word::Filler => Ok(()),
            Word::Month(month) => {
                let swapped = self.has(seen::MONTH) && !self.text_month && self.seen & seen::DAY == 0;
                if swapped && (1..=31).contains(&self.civil.month) {
                    self.civil.day = self.civil.month;
                    self.note(seen::DAY)?;
                } else {
                    self.note(seen::MONTH)?;
                }
                self.civil.month = month;
                self.text_month = true;
                Ok(())
            }
            Word::Weekday => self.note(seen::WEEKDAY),
            Word::Morning | Word::Afternoon => {
                self.afternoon = Some(word == Word::Afternoon);
                self.note(seen::HALF)
            }
            Word::BeforeChrist | Word::AnnoDomini => {
                self.before_christ = word == Word::BeforeChrist;
                self.note(seen::ERA)
            }
            Word::Summer => {
                self.summer = true;
                self.note(seen::SUMMER)
            }
            Word::Julian | Word::Time => self.announce(word, at, fields),
            Word::Unit => Err(Bad::Format),
            _ => self.special(word),
        }
    }

    /// A word that says what the next field is.
    fn announce(&mut self, word: Word, at: usize, fields: &[Field]) -> Result<(), Bad> {
        if word == Word::Time {
            let follows = fields.get(at + 1).map(|next| next.look);
            let valid = matches!(follows, Some(Look::Number | Look::Time | Look::Date));
            if !valid || (self.want == Want::Date && !self.has(seen::DATE)) {
                return Err(Bad::Format);
            }
        }
        self.prefix = Some(word);
        Ok(())
    }

    fn special(&mut self, word: Word) -> Result<(), Bad> {
        let zone = zone::of_setting(&self.env.settings().time_zone);
        let now = self.env.transaction_time();
        let local = now + i64::from(zone.at(now.div_euclid(SECOND)).offset) * SECOND;
        let today = local.div_euclid(DAY);
        match word {
            Word::Now => {
                self.note(seen::DATE | seen::TIME | seen::ZONE)?;
                self.civil = Civil::of(local);
                self.place = Some(Place::Offset(zone.at(now.div_euclid(SECOND)).offset));
                self.julian = true;
            }
            Word::Today | Word::Tomorrow | Word::Yesterday => {
                self.note(seen::DATE)?;
                let day = today + if word == Word::Tomorrow { 1 } else { -i64::from(word == Word::Yesterday) };
                (self.civil.year, self.civil.month, self.civil.day) = calendar::from_days(day);
                self.julian = true;
            }
            Word::AllBalls => {
                self.note(seen::TIME | seen::ZONE)?;
                self.place = Some(Place::Offset(0));
            }
            _ => {
                if self.want == Want::Time {
                    return Err(Bad::Format);
                }
                self.note(seen::SPECIAL)?;
                self.special = Some(match word {
                    Word::Epoch => Moment::Epoch,
                    Word::Infinity => Moment::Infinity,
                    _ => Moment::MinusInfinity,
                });
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Moment, Bad> {
        if self.prefix.is_some_and(|prefix| prefix != Word::Julian) {
            return Err(Bad::Format);
        }
        if let Some(special) = self.special {
            return Ok(special);
        }
        if self.seen & (seen::DATE | seen::DAY_OF_YEAR) != 0 {
            self.validate_date()?;
        }
        self.half_of_day()?;
        let complete = match self.want {
            Want::Date => self.has(seen::DATE),
            Want::Time => self.has(seen::TIME),
        };
        if !complete {
            return Err(Bad::Format);
        }
        if self.summer {
            match &mut self.place {
                Some(Place::Offset(east)) => *east += 3600,
                _ => return Err(Bad::Format),
            }
        }
        if self.want == Want::Time {
            self.check_clock()?;
            // Without a date nobody knows which offset a zone has, unless it has only one.
            if let (Some(Place::Zone(zone)), false) = (&self.place, self.has(seen::DATE)) {
                self.place = Some(Place::Offset(zone.fixed_offset().ok_or(Bad::Format)?));
            }
        }
        Ok(Moment::Point { civil: self.civil, place: self.place })
    }

    fn half_of_day(&mut self) -> Result<(), Bad> {
        let Some(afternoon) = self.afternoon else { return Ok(()) };
        if self.civil.hour > 12 {
            return Err(Bad::Field);
        }
        match (afternoon, self.civil.hour) {
            (false, 12) => self.civil.hour = 0,
            (true, 0..12) => self.civil.hour += 12,
            _ => {}
        }
        Ok(())
    }

    fn validate_date(&mut self) -> Result<(), Bad> {
        if self.seen & seen::YEAR != 0 && !self.julian {
            let year = &mut self.civil.year;
            if self.before_christ {
                if *year <= 0 {
                    return Err(Bad::Field);
                }
                *year = 1 - *year;
            } else if self.two_digits {
                *year += match *year {
                    ..0 => return Err(Bad::Field),
                    0..70 => 2000,
                    70..100 => 1900,
                    _ => 0,
                };
            } else if *year <= 0 {
                return Err(Bad::Field);
            }
        }
        if self.seen & seen::DAY_OF_YEAR != 0 {
            let start = calendar::to_days(self.civil.year, 1, 1);
            (self.civil.year, self.civil.month, self.civil.day) = calendar::from_days(start + self.day_of_year - 1);
        }
        let Civil { year, month, day, .. } = self.civil;
        if self.seen & seen::MONTH != 0 && !(1..=12).contains(&month) {
            return Err(Bad::MonthDay);
        }
        if self.seen & seen::DAY != 0 && !(1..=31).contains(&day) {
            return Err(Bad::MonthDay);
        }
        if self.has(seen::DATE) && day > calendar::days_in_month(year, month) {
            return Err(Bad::Field);
        }
        Ok(())
    }
}

/// Whether a date at the beginning can be the date of a time.
fn has_time_after(fields: &[Field]) -> bool {
    fields[1].look == Look::Time || fields.last().is_some_and(|last| last.look == Look::Date)
}

/// `08jan` is a number and a month.
fn split_letters(parts: Vec<&str>) -> Vec<&str> {
    parts
        .into_iter()
        .flat_map(|part| {
            let first_digit = part.as_bytes()[0].is_ascii_digit();
            let border = part.bytes().position(|byte| byte.is_ascii_digit() != first_digit).unwrap_or(part.len());
            let (head, tail) = part.split_at(border);
            [Some(head), Some(tail).filter(|tail| !tail.is_empty())]
        })
        .flatten()
        .collect()
}

/// `.25` → microseconds, rounded.
pub(super) fn read_fraction(text: &str) -> Result<i64, Bad> {
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
pub(super) fn read_clock(text: &str) -> Result<(i64, i64, i64, i64), Bad> {
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
pub(super) fn read_offset(text: &str) -> Result<i32, Bad> {
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
pub(super) fn time_of(civil: &Civil) -> i64 {
    civil.hour * HOUR + civil.minute * MINUTE + civil.second * SECOND + civil.micros
}
