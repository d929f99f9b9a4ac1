//! Numerics in PostgreSQL's binary format: digits to base 10,000 with the exponent of the first one.

use super::integer::Integer;
use super::{Decimal, MAX_SCALE, Numeric, Repr};
use crate::error::{Result, SqlError, SqlState};

const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xC000;
const INFINITY: u16 = 0xD000;
const NEGATIVE_INFINITY: u16 = 0xF000;
/// What PostgreSQL happens to send with infinities.
const INFINITY_SCALE: usize = 0x20;

impl Numeric {
    /// Adds the wire form.
    pub fn send(&self, out: &mut Vec<u8>) {
        let (digits, weight, sign, scale) = match &self.0 {
            Repr::Finite(decimal) => {
                let (digits, weight) = decimal.base_10000();
                (digits, weight, if decimal.coefficient.is_negative() { NEGATIVE } else { 0 }, decimal.scale)
            }
            Repr::NaN => (Vec::new(), 0, NAN, 0),
            Repr::Infinity { negative: false } => (Vec::new(), 0, INFINITY, INFINITY_SCALE),
            Repr::Infinity { negative: true } => (Vec::new(), 0, NEGATIVE_INFINITY, INFINITY_SCALE),
        };
        for word in [digits.len() as u16, weight as u16, sign, scale as u16] {
            out.extend_from_slice(&word.to_be_bytes());
        }
        for digit in digits {
            out.extend_from_slice(&digit.to_be_bytes());
        }
    }

    /// Reads the wire form.
    pub fn receive(bytes: &[u8]) -> Result<Numeric> {
        let invalid = |what: &str| {
            SqlError::new(
                SqlState::INVALID_BINARY_REPRESENTATION,
                format!("invalid {what} in external \"numeric\" value"),
            )
        };
        let words: Vec<u16> = bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
        let [count, weight, sign, scale, ref digits @ ..] = words[..] else {
            return Err(SqlError::new(SqlState::PROTOCOL_VIOLATION, "insufficient data left in message"));
        };
        if !bytes.len().is_multiple_of(2) || digits.len() > usize::from(count) {
            return Err(SqlError::new(SqlState::INVALID_BINARY_REPRESENTATION, "incorrect binary data format"));
        }
        if digits.len() < usize::from(count) {
            return Err(SqlError::new(SqlState::PROTOCOL_VIOLATION, "insufficient data left in message"));
        }
        if usize::from(scale) > MAX_SCALE {
            return Err(invalid("scale"));
        }
        if digits.iter().any(|&digit| digit >= 10_000) {
            return Err(invalid("digit"));
        }
        match sign {
            0 | NEGATIVE => {}
            NAN => return Ok(Numeric::NAN),
            INFINITY => return Ok(Numeric::INFINITY),
            NEGATIVE_INFINITY => return Ok(Numeric::NEGATIVE_INFINITY),
            _ => return Err(invalid("sign")),
        }
        let text: String = digits.iter().map(|digit| format!("{digit:04}")).collect();
        let coefficient = Integer::from_digits(sign == NEGATIVE, text.as_bytes());
        // The last digit has the exponent weight + 1 - count.
        let last = (i64::from(weight as i16) + 1 - digits.len() as i64) * 4;
        if coefficient.is_zero() {
            return Numeric::finite(Decimal { coefficient, scale: scale.into() });
        }
        Numeric::finite(Decimal::at(coefficient, -last).truncated(scale.into()))
    }
}

impl Decimal {
    /// Its digits to base 10,000 without zeros at either end, and the exponent of the first.
    fn base_10000(&self) -> (Vec<u16>, i16) {
        if self.coefficient.is_zero() {
            return (Vec::new(), 0);
        }
        // Zeros after the end make the fraction a whole number of groups.
        let digits = self.coefficient.shift_up((4 - self.scale % 4) % 4).digits();
        let lowest = -(self.scale.div_ceil(4) as i64);
        let value = |group: &[u8]| group.iter().fold(0u16, |value, digit| value * 10 + u16::from(digit - b'0'));
        let mut groups: Vec<u16> = digits.as_bytes().rchunks(4).map(value).collect();
        let weight = lowest + groups.len() as i64 - 1;
        groups.reverse();
        while groups.last() == Some(&0) {
            groups.pop();
        }
        (groups, weight as i16)
    }
}
