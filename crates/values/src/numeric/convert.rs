//! Numerics to and from integers and floats.

use super::integer::Integer;
use super::{Decimal, Numeric, Repr};
use crate::error::{Result, SqlError, SqlState};

/// Up to these, a quotient of two floats is exact but for one rounding.
const EXACT_FLOAT: i128 = 1 << 53;
const EXACT_POWER: usize = 22;

impl Numeric {
    /// Rounded to an integer, halves away from zero; `name` is the SQL name of the type that it must fit.
    pub fn to_integer(&self, least: i64, most: i64, name: &str) -> Result<i64> {
        let cannot = |what| SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, format!("cannot convert {what} to {name}"));
        match &self.0 {
            Repr::NaN => Err(cannot("NaN")),
            Repr::Infinity { .. } => Err(cannot("infinity")),
            Repr::Finite(decimal) => {
                let rounded = decimal.rounded(0).coefficient.to_i128().and_then(|value| i64::try_from(value).ok());
                rounded
                    .filter(|value| (least..=most).contains(value))
                    .ok_or_else(|| SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("{name} out of range")))
            }
        }
    }

    /// As an `i64`, if it is a whole number that fits.
    pub fn to_i64_exact(&self) -> Option<i64> {
        match &self.0 {
            Repr::Finite(decimal) if self.is_integer() => {
                decimal.truncated(0).coefficient.to_i128().and_then(|value| i64::try_from(value).ok())
            }
            _ => None,
        }
    }

    /// The nearest float8.
    pub fn to_f64(&self) -> Result<f64> {
        let value = self.to_f64_lossy();
        if self.is_finite() && (value.is_infinite() || (value == 0.0 && !self.is_zero())) {
            return Err(SqlError::new(
                SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
                format!("\"{self}\" is out of range for type double precision"),
            ));
        }
        Ok(value)
    }

    /// The nearest float8; infinite or zero if it is out of range.
    pub fn to_f64_lossy(&self) -> f64 {
        match &self.0 {
            Repr::NaN => f64::NAN,
            Repr::Infinity { negative } => {
                if *negative {
                    f64::NEG_INFINITY
                } else {
                    f64::INFINITY
                }
            }
            Repr::Finite(Decimal { coefficient: Integer::Small(value), scale })
                if value.abs() <= EXACT_FLOAT && *scale <= EXACT_POWER =>
            {
                *value as f64 / 10f64.powi(*scale as i32)
            }
            Repr::Finite(decimal) => decimal.to_string().parse().unwrap_or(f64::NAN),
        }
    }

    /// The nearest float4, as the float8 that it is.
    pub fn to_f32(&self) -> Result<f64> {
        let value: f32 = match &self.0 {
            Repr::Finite(decimal) => decimal.to_string().parse().unwrap_or(f32::NAN),
            _ => self.to_f64_lossy() as f32,
        };
        if self.is_finite() && (value.is_infinite() || (value == 0.0 && !self.is_zero())) {
            return Err(SqlError::new(
                SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
                format!("\"{self}\" is out of range for type real"),
            ));
        }
        Ok(value.into())
    }

    /// From a float8: the fifteen digits that every float8 keeps.
    pub fn from_f64(value: f64) -> Numeric {
        from_float(value, 15)
    }

    /// From a float4: the six digits that every float4 keeps.
    pub fn from_f32(value: f64) -> Numeric {
        from_float(value, 6)
    }
}

fn from_float(value: f64, digits: usize) -> Numeric {
    if value.is_nan() {
        return Numeric::NAN;
    }
    if value.is_infinite() {
        return if value < 0.0 { Numeric::NEGATIVE_INFINITY } else { Numeric::INFINITY };
    }
    let text = format!("{:.*e}", digits - 1, value);
    let (mantissa, exponent) = text.split_once('e').expect("a float in exponent form has an exponent");
    let exponent: i64 = exponent.parse().expect("its exponent is a number");
    let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    let kept = digits.iter().rposition(|&digit| digit != b'0').map_or(1, |last| last + 1);
    let coefficient = Integer::from_digits(value < 0.0, &digits[..kept]);
    Numeric(Repr::Finite(Decimal::at(coefficient, kept as i64 - 1 - exponent)))
}
