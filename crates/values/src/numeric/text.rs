//! Numerics as text, and the modifier `numeric(precision, scale)`.

use std::fmt;

use super::integer::Integer;
use super::{Decimal, MAX_SCALE, MAX_WHOLE_DIGITS, Numeric, Repr, overflow};
use crate::error::{Result, SqlError, SqlState};

impl Numeric {
    /// Reads a number as PostgreSQL's `numeric_in` does: spaces around it, an exponent, `NaN` and `Infinity` are fine.
    pub fn parse(text: &str) -> Result<Numeric> {
        let invalid = || {
            SqlError::new(
                SqlState::INVALID_TEXT_REPRESENTATION,
                format!("invalid input syntax for type numeric: \"{text}\""),
            )
        };
        let trimmed = text.trim_matches(is_space);
        let (negative, unsigned) = match trimmed.as_bytes().first() {
            Some(b'-') => (true, &trimmed[1..]),
            Some(b'+') => (false, &trimmed[1..]),
            _ => (false, trimmed),
        };
        if unsigned.as_bytes().first().is_none_or(|first| first.is_ascii_alphabetic()) {
            return named(trimmed, unsigned, negative).ok_or_else(invalid);
        }
        parse_decimal(negative, unsigned).ok_or_else(invalid)?
    }

    /// What fits `numeric(precision, scale)`: rounded to the scale, an error if it is too large.
    pub fn constrain(self, modifier: i32) -> Result<Numeric> {
        let Some((precision, scale)) = unpack(modifier) else { return Ok(self) };
        let field_overflow = |detail: String| {
            SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow").detail(detail)
        };
        let decimal = match self.0 {
            Repr::NaN => return Ok(self),
            Repr::Infinity { .. } => {
                return Err(field_overflow(format!(
                    "A field with precision {precision}, scale {scale} cannot hold an infinite value."
                )));
            }
            Repr::Finite(decimal) => decimal.rounded(scale),
        };
        let most = i64::from(precision) - scale;
        // The exponent of the first digit, also of values below one.
        let digits = decimal.coefficient.digit_count() as i64 - decimal.scale as i64;
        if !decimal.coefficient.is_zero() && digits > most {
            let bound = if most == 0 { "1".to_owned() } else { format!("10^{most}") };
            return Err(field_overflow(format!(
                "A field with precision {precision}, scale {scale} must round to an absolute value less than {bound}."
            )));
        }
        Numeric::finite(decimal)
    }
}

/// The modifier for `numeric(precision, scale)`.
pub fn modifier(precision: i64, scale: i64) -> Result<i32> {
    let invalid = |message: String| SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message);
    if !(1..=1000).contains(&precision) {
        return Err(invalid(format!("NUMERIC precision {precision} must be between 1 and 1000")));
    }
    if !(-1000..=1000).contains(&scale) {
        return Err(invalid(format!("NUMERIC scale {scale} must be between -1000 and 1000")));
    }
    Ok(((precision as i32) << 16 | (scale as i32 & 0x7FF)) + 4)
}

/// Precision and scale of a modifier.
pub fn unpack(modifier: i32) -> Option<(i32, i64)> {
    let packed = modifier.checked_sub(4).filter(|packed| *packed >= 0)?;
    // The scale has eleven bits, the highest of which is its sign.
    Some((packed >> 16 & 0xFFFF, i64::from((packed & 0x7FF) ^ 0x400) - 0x400))
}

/// What C's `isspace` takes.
fn is_space(char: char) -> bool {
    matches!(char, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

fn named(trimmed: &str, unsigned: &str, negative: bool) -> Option<Numeric> {
    let is = |name: &str| unsigned.eq_ignore_ascii_case(name);
    if trimmed.eq_ignore_ascii_case("nan") {
        return Some(Numeric::NAN);
    }
    (is("inf") || is("infinity")).then_some(if negative { Numeric::NEGATIVE_INFINITY } else { Numeric::INFINITY })
}

/// `None` is not a number; an error is one that is too large.
fn parse_decimal(negative: bool, text: &str) -> Option<Result<Numeric>> {
    let bytes = text.as_bytes();
    let digits_from = |at: usize| bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits_from(0);
    let mut at = whole;
    let mut fraction = 0;
    if bytes.get(at) == Some(&b'.') {
        fraction = digits_from(at + 1);
        at += 1 + fraction;
    }
    if whole + fraction == 0 {
        return None;
    }
    let mut exponent = 0i64;
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let text = text.get(at + 1..)?;
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        exponent =
            text.parse().ok().filter(|exponent: &i64| exponent.abs() < i64::from(i32::MAX / 2)).unwrap_or(i64::MAX);
        at = bytes.len();
    }
    if at != bytes.len() {
        return None;
    }
    let point = if fraction > 0 { &text[whole + 1..whole + 1 + fraction] } else { "" };
    Some(shifted(negative, &text[..whole], point, exponent))
}

fn shifted(negative: bool, whole: &str, fraction: &str, exponent: i64) -> Result<Numeric> {
    if exponent == i64::MAX {
        return Err(overflow());
    }
    let coefficient = if fraction.is_empty() {
        Integer::from_digits(negative, whole.as_bytes())
    } else {
        Integer::from_digits(negative, [whole, fraction].concat().as_bytes())
    };
    let scale = fraction.len() as i64 - exponent;
    if scale > MAX_SCALE as i64 || (!coefficient.is_zero() && -scale > MAX_WHOLE_DIGITS as i64) {
        return Err(overflow());
    }
    Numeric::finite(Decimal::at(coefficient, scale))
}

impl fmt::Display for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::NaN => f.write_str("NaN"),
            Repr::Infinity { negative: false } => f.write_str("Infinity"),
            Repr::Infinity { negative: true } => f.write_str("-Infinity"),
            Repr::Finite(decimal) => decimal.fmt(f),
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Integer::Small(value), 0) = (&self.coefficient, self.scale) {
            return write!(f, "{value}");
        }
        if self.coefficient.is_negative() {
            f.write_str("-")?;
        }
        let digits = self.coefficient.digits();
        if self.scale == 0 {
            return f.write_str(&digits);
        }
        match digits.len().checked_sub(self.scale) {
            Some(whole) if whole > 0 => write!(f, "{}.{}", &digits[..whole], &digits[whole..]),
            _ => {
                // Not by a width, which ends at 65,535.
                f.write_str("0.")?;
                std::iter::repeat_n("0", self.scale - digits.len()).try_for_each(|zero| f.write_str(zero))?;
                f.write_str(&digits)
            }
        }
    }
}
