//! Text → dates and times: which field is which, by its looks, its words, and what has been seen before it.
//!
//! The rules are PostgreSQL's (its appendix "Date/Time Input Interpretation"): a field of more than two digits at the
//! beginning is a year, otherwise `DateStyle` says what the order of numbers is.

mod clock;
mod date;
mod word;

use super::calendar::Civil;
use super::token::{self, Field, Look};
use super::words::{self, Word};
use super::zone::Place;
use crate::Env;
use crate::error::{Result, SqlError, SqlState};

pub(super) use clock::{read_clock, time_of};
use clock::{read_fraction, read_offset};

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
}
