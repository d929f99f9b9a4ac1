//! The fields of a text that are dates, or digits that may be anything.

use super::{Bad, Order, Reader, Want, read_fraction, read_offset, seen};
use crate::datetime::calendar::{self, Civil, DAY};
use crate::datetime::token::{Field, Look};
use crate::datetime::words::{self, Word};
use crate::datetime::zone::{self, Place};

impl Reader<'_> {
    pub(super) fn date_field(&mut self, text: &str, at: usize, fields: &[Field]) -> Result<(), Bad> {
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
    pub(super) fn date(&mut self, text: &str) -> Result<(), Bad> {
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
    pub(super) fn decide(&mut self, text: &str, text_month: bool, before: u32) -> Result<u32, Bad> {
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

    pub(super) fn number(&mut self, text: &str) -> Result<(), Bad> {
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
    pub(super) fn number_field(&mut self, text: &str, before: u32) -> Result<u32, Bad> {
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

    pub(super) fn julian_day(&mut self, text: &str) -> Result<(), Bad> {
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

    pub(super) fn validate_date(&mut self) -> Result<(), Bad> {
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
