//! Text → a number, by a template.

use crate::error::{Result, SqlError, SqlState};
use crate::functions::number::template::{Item, Template};
use crate::types::numeric::Numeric;

/// Reads a number. Every place of the template takes what belongs there; other characters take one character each.
pub(super) fn read(text: &str, template: &Template) -> Result<Numeric> {
    if template.scientific {
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "\"EEEE\" not supported for input"));
    }
    if template.roman {
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "\"RN\" not supported for input"));
    }
    let mut reader = Reader {
        rest: text.chars().collect(),
        at: 0,
        negative: false,
        signed: false,
        digits: String::new(),
        point: false,
        after: 0,
        template,
    };
    for item in &template.items {
        if reader.at >= reader.rest.len() {
            break;
        }
        reader.take(item);
    }
    reader.trailing_sign();
    if !reader.digits.contains(|c: char| c.is_ascii_digit()) {
        let shown = if reader.digits.is_empty() { " " } else { &reader.digits };
        let message = format!("invalid input syntax for type numeric: \"{shown}\"");
        return Err(SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, message));
    }
    let sign = if reader.negative { "-" } else { "" };
    let value = Numeric::parse(&format!("{sign}{}", reader.digits))?;
    if template.shift > 0 {
        return value.divide(&Numeric::from(10).power(&Numeric::from(template.shift as i64))?);
    }
    Ok(value)
}

struct Reader<'a> {
    rest: Vec<char>,
    at: usize,
    negative: bool,
    signed: bool,
    digits: String,
    point: bool,
    after: usize,
    template: &'a Template,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn take(&mut self, item: &Item) {
        match item {
            Item::Digit { .. } | Item::Point => self.place(),
            Item::Group => {
                if self.peek() == Some(',') {
                    self.at += 1;
                }
            }
            Item::Currency => {
                if self.peek() == Some('$') || self.peek() == Some(' ') {
                    self.at += 1;
                }
            }
            Item::Minus | Item::Plus | Item::Sign => self.explicit_sign(),
            Item::Ordinal { .. } => {
                self.at = (self.at + 2).min(self.rest.len());
            }
            Item::Roman { .. } => {}
            Item::Literal(_) => self.at += 1,
        }
    }

    fn explicit_sign(&mut self) {
        match self.peek() {
            Some('-') => {
                self.negative = true;
                self.at += 1;
            }
            Some('+') => self.at += 1,
            _ => {}
        }
    }

    /// A digit or the point, with the sign before it if it was not seen yet.
    fn place(&mut self) {
        while self.peek() == Some(' ') {
            self.at += 1;
        }
        if !self.signed && self.digits.is_empty() {
            match self.peek() {
                Some('-') => {
                    self.negative = true;
                    self.signed = true;
                    self.at += 1;
                }
                Some('<') if self.template.brackets => {
                    self.negative = true;
                    self.signed = true;
                    self.at += 1;
                }
                Some('+') => {
                    self.signed = true;
                    self.at += 1;
                }
                _ => {}
            }
        }
        match self.peek() {
            Some(digit) if digit.is_ascii_digit() => {
                if self.point && self.after >= self.template.after {
                    return;
                }
                self.after += usize::from(self.point);
                self.digits.push(digit);
                self.at += 1;
            }
            Some('.') if !self.point && self.template.has_point => {
                self.point = true;
                self.digits.push('.');
                self.at += 1;
            }
            _ => {}
        }
    }

    fn trailing_sign(&mut self) {
        if !self.signed && self.peek() == Some('-') {
            self.negative = true;
        }
    }
}
