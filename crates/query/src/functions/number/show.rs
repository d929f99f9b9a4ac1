//! A number → text, by a template.
//!
//! The places of a template are its digits and its point. The digits of the number stand right-aligned before the point;
//! places before them are blank (nothing with `FM`) or zeros from the first `0` on. The sign is written before the first
//! place that is not blank.

use crate::error::{Result, SqlError, SqlState};
use crate::functions::number::roman::roman;
use crate::functions::number::template::{Anchor, Item, Template};
use crate::types::numeric::Numeric;

/// More digits than any float has.
const MAX_FLOAT_DIGITS: usize = 1_100;

/// Shows a float with the digits that its type is sure of.
pub(super) fn show_float(value: f64, template: &Template, sure: usize) -> Result<String> {
    if template.scientific && value.is_finite() {
        return Ok(scientific_float(value, template.after));
    }
    let exact = Numeric::from_f64(value);
    if template.roman || template.scientific || template.shift > 0 {
        return show(&exact, template);
    }
    let whole = if value.is_infinite() { "Infinity".len() } else { format!("{:.0}", value.abs()).len() };
    let after = sure.saturating_sub(whole).min(template.after);
    let rounded = if value.is_finite() { Numeric::parse(&format!("{value:.after$}"))? } else { exact };
    // Of a float, zero has a sign.
    let negative = value.is_sign_negative() && !value.is_nan();
    show_digits(Number { negative, ..Number::new(&rounded, template, after)? }, template)
}

/// Shows a number.
pub(super) fn show(value: &Numeric, template: &Template) -> Result<String> {
    if template.roman {
        return show_roman(value, template);
    }
    if template.scientific {
        return Ok(scientific(value, template.after));
    }
    show_digits(Number::new(value, template, template.after)?, template)
}

fn show_digits(number: Number, template: &Template) -> Result<String> {
    if number.whole == "NaN" && template.items.iter().any(|item| matches!(item, Item::Ordinal { .. })) {
        return Err(SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, "\"NaN\" is not a number"));
    }
    Ok(Writer::new(number, template).write())
}

fn show_roman(value: &Numeric, template: &Template) -> Result<String> {
    let number = value.to_integer(i32::MIN.into(), i32::MAX.into(), "integer")?;
    let numeral = roman(number).unwrap_or_else(|| "#".repeat(15));
    let mut out = String::new();
    for item in &template.items {
        match item {
            Item::Roman { upper } => {
                let shown = if *upper { numeral.clone() } else { numeral.to_lowercase() };
                out.push_str(&if template.fill { shown } else { format!("{shown:>15}") });
            }
            Item::Literal(c) => out.push(*c),
            _ => {}
        }
    }
    Ok(out)
}

/// `1.23e+04`, with a blank for the sign of a positive number.
fn scientific(value: &Numeric, digits: usize) -> String {
    if !value.is_finite() {
        return format!(" #.{}####", "#".repeat(digits));
    }
    let (mantissa, exponent) = mantissa(&value.abs().to_string(), digits);
    // PostgreSQL keeps the exponent when rounding makes ten of the first digit.
    let (first, rest) = mantissa.split_at(mantissa.len() - digits);
    written_scientific(value.is_negative(), first, rest, exponent)
}

fn scientific_float(value: f64, digits: usize) -> String {
    // A float has fewer digits than these; a precision ends at 65,535.
    let known = digits.min(MAX_FLOAT_DIGITS);
    let shown = format!("{:.known$e}", value.abs());
    let (mantissa, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
    let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let rest = format!("{rest}{}", "0".repeat(digits - known));
    written_scientific(value.is_sign_negative(), first, &rest, exponent.parse().unwrap_or(0))
}

fn written_scientific(negative: bool, first: &str, rest: &str, exponent: i64) -> String {
    let sign = if negative { '-' } else { ' ' };
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{first}{point}{rest}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// The digits of a number from its first one on, rounded to one and so many more, and the power of ten of the first.
fn mantissa(shown: &str, digits: usize) -> (String, i64) {
    let (whole, fraction) = shown.split_once('.').unwrap_or((shown, ""));
    let all: String = format!("{whole}{fraction}");
    let Some(first) = all.find(|c| c != '0') else { return ("0".repeat(digits + 1), 0) };
    let exponent = whole.len() as i64 - 1 - first as i64;
    let kept: String = all[first..].chars().chain(std::iter::repeat('0')).take(digits + 1).collect();
    let next = all[first..].chars().nth(digits + 1).unwrap_or('0');
    if next < '5' {
        return (kept, exponent);
    }
    let mut rounded: Vec<u8> = kept.into_bytes();
    for at in (0..rounded.len()).rev() {
        if rounded[at] < b'9' {
            rounded[at] += 1;
            return (String::from_utf8(rounded).unwrap_or_default(), exponent);
        }
        rounded[at] = b'0';
    }
    rounded.insert(0, b'1');
    (String::from_utf8(rounded).unwrap_or_default(), exponent)
}

/// The digits that a template shows.
struct Number {
    negative: bool,
    whole: String,
    fraction: String,
    /// The template has too few places for it.
    overflowed: bool,
}

impl Number {
    fn new(value: &Numeric, template: &Template, after: usize) -> Result<Number> {
        let places = template.before + template.shift;
        let overflow =
            |negative| Number { negative, whole: "#".repeat(places), fraction: "#".repeat(after), overflowed: true };
        if !value.is_finite() {
            let negative = *value == Numeric::NEGATIVE_INFINITY;
            let word = if value.is_nan() { "NaN" } else { "Infinity" };
            if word.len() > places {
                return Ok(overflow(negative));
            }
            return Ok(Number { negative, whole: word.to_owned(), fraction: String::new(), overflowed: false });
        }
        let shifted = if template.shift > 0 {
            value.multiply(&Numeric::from(10).power(&Numeric::from(template.shift as i64))?)?
        } else {
            value.clone()
        };
        let rounded = shifted.round(after as i64)?;
        let shown = rounded.abs().to_string();
        let (whole, fraction) = shown.split_once('.').unwrap_or((&shown, ""));
        let negative = rounded.is_negative();
        if whole.len() > places {
            return Ok(overflow(negative));
        }
        Ok(Number { negative, whole: whole.to_owned(), fraction: fraction.to_owned(), overflowed: false })
    }
}

struct Writer<'a> {
    number: Number,
    template: &'a Template,
    out: String,
    /// The place that is next.
    place: usize,
    /// Blank places before the digits.
    blanks: usize,
    signed: bool,
    /// A digit was written just now, so a group separator belongs there.
    in_number: bool,
    /// With `FM`: how many digits after the point are shown.
    kept: usize,
}

impl<'a> Writer<'a> {
    fn new(number: Number, template: &'a Template) -> Writer<'a> {
        let places = template.before + template.shift;
        let blanks = places - number.whole.len().min(places);
        let kept = kept(&number, template, blanks);
        let signed = if template.plus || template.minus {
            !template.plus || template.minus
        } else {
            !number.negative && template.fill && template.sign == Anchor::None
        };
        Writer { number, template, out: String::new(), place: 0, blanks, signed, in_number: false, kept }
    }

    fn write(mut self) -> String {
        for item in &self.template.items {
            match item {
                Item::Digit { zero } => self.digit(*zero),
                Item::Point => self.point(),
                Item::Group => self.separator(),
                Item::Currency => self.out.push(' '),
                Item::Minus if self.number.negative => self.out.push('-'),
                Item::Plus if !self.number.negative => self.out.push('+'),
                Item::Minus | Item::Plus if self.template.fill => {}
                Item::Minus | Item::Plus => self.out.push(' '),
                Item::Sign => self.out.push(if self.number.negative { '-' } else { '+' }),
                Item::Ordinal { upper } => self.ordinal(*upper),
                Item::Roman { .. } => {}
                Item::Literal(c) => self.out.push(*c),
            }
        }
        self.out
    }

    /// The zero before the point is not shown, unless the template asks for it or nothing else would be.
    fn hides_zero(&self) -> bool {
        self.template.first_zero.is_none()
            && self.place == self.blanks
            && self.number.whole == "0"
            && self.template.after != 0
    }

    /// With `FM`, all digits after the point are left out.
    fn bare_point(&self) -> bool {
        self.template.fill && self.template.has_point && self.kept == 0 && self.template.after > 0
    }

    fn sign_before(&mut self) {
        let zeros_begin = self.template.first_zero == Some(self.place);
        let due = self.place >= self.blanks || zeros_begin;
        if self.signed || !due || self.hides_zero() && !self.bare_point() {
            return;
        }
        let negative = self.number.negative;
        let anchor = self.anchor();
        if anchor != Anchor::None {
            if anchor == Anchor::Before {
                self.out.push(if negative { '-' } else { '+' });
                self.signed = true;
            }
            return;
        }
        if self.template.brackets && (negative || !self.template.fill) {
            self.out.push(if negative { '<' } else { ' ' });
        } else if negative {
            self.out.push('-');
        } else if !self.template.fill {
            self.out.push(' ');
        }
        self.signed = true;
    }

    fn anchor(&self) -> Anchor {
        self.template.sign
    }

    fn digit(&mut self, zero: bool) {
        self.in_number = false;
        self.sign_before();
        let zero_filled = self.template.first_zero.is_some_and(|first| first <= self.place);
        if self.place < self.blanks {
            if zero_filled {
                self.out.push('0');
                self.in_number = true;
            } else if !self.template.fill {
                self.out.push(' ');
            }
        } else {
            self.number_digit(zero);
        }
        self.end_of_place();
    }

    fn number_digit(&mut self, zero: bool) {
        let at = self.place - self.blanks;
        if self.hides_zero() {
            if !self.template.fill {
                self.out.push(' ');
            } else if self.bare_point() {
                self.out.push('0');
            }
            return;
        }
        let before = self.number.whole.len();
        if let Some(digit) = self.number.whole.as_bytes().get(at) {
            self.out.push(char::from(*digit));
            self.in_number = true;
            return;
        }
        // Places after the point: one of them is the point itself.
        let behind = at - before - usize::from(self.template.has_point);
        if self.template.fill && behind >= self.kept && !zero {
            return;
        }
        if let Some(digit) = self.number.fraction.as_bytes().get(behind) {
            self.out.push(char::from(*digit));
            self.in_number = true;
        }
    }

    fn point(&mut self) {
        self.in_number = false;
        self.sign_before();
        if !self.number.fraction.is_empty() || self.number.overflowed {
            self.out.push('.');
        }
        self.end_of_place();
    }

    /// What comes after the last place: the closing bracket, or the sign.
    fn end_of_place(&mut self) {
        self.place += 1;
        let t = self.template;
        let all = t.before + t.shift + t.after + usize::from(t.has_point);
        let last = if t.fill && t.has_point { all - t.after + self.kept } else { all };
        if self.place != last.max(1) && self.place != all || self.place != last {
            return;
        }
        let negative = self.number.negative;
        if t.brackets && self.signed {
            if negative {
                self.out.push('>');
            } else if !t.fill {
                self.out.push(' ');
            }
        } else if self.anchor() == Anchor::After {
            self.out.push(if negative { '-' } else { '+' });
        }
    }

    fn separator(&mut self) {
        if self.in_number {
            self.out.push(',');
        } else if !self.template.fill {
            self.out.push(' ');
        }
    }

    fn ordinal(&mut self, upper: bool) {
        if self.number.negative || self.number.overflowed || self.template.has_point {
            return;
        }
        let digits = self.number.whole.as_bytes();
        let tens = digits.len() > 1 && digits[digits.len() - 2] == b'1';
        let suffix = match digits.last() {
            Some(b'1') if !tens => "st",
            Some(b'2') if !tens => "nd",
            Some(b'3') if !tens => "rd",
            _ => "th",
        };
        self.out.push_str(&if upper { suffix.to_uppercase() } else { suffix.to_owned() });
    }
}

/// How many digits after the point are shown: with `FM` not the zeros at the end, except where the template has a `0`.
fn kept(number: &Number, template: &Template, blanks: usize) -> usize {
    let significant = number.fraction.trim_end_matches('0').len();
    let zeros = template.last_zero.saturating_sub(blanks + number.whole.len());
    significant.max(zeros).min(template.after)
}
