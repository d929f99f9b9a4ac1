//! Sums, products, quotients, rounding: with the scales that PostgreSQL gives their results.

use super::integer::Integer;
use super::{Decimal, MAX_DISPLAY_SCALE, MAX_RESULT_SCALE, MAX_SCALE, MIN_SIGNIFICANT_DIGITS, Numeric, Repr};
use crate::error::{Result, SqlError, SqlState};

impl Numeric {
    /// `+`
    pub fn add(&self, other: &Numeric) -> Result<Numeric> {
        match (&self.0, &other.0) {
            (Repr::Finite(left), Repr::Finite(right)) => {
                let scale = left.scale.max(right.scale);
                let coefficient = left.coefficient_at(scale).add(&right.coefficient_at(scale));
                Numeric::finite(Decimal { coefficient, scale })
            }
            (Repr::NaN, _) | (_, Repr::NaN) => Ok(Numeric::NAN),
            (Repr::Infinity { negative: left }, Repr::Infinity { negative: right }) if left != right => {
                Ok(Numeric::NAN)
            }
            (Repr::Infinity { .. }, _) => Ok(self.clone()),
            (_, Repr::Infinity { .. }) => Ok(other.clone()),
        }
    }

    /// `-`
    pub fn subtract(&self, other: &Numeric) -> Result<Numeric> {
        self.add(&other.negate())
    }

    /// `*`
    pub fn multiply(&self, other: &Numeric) -> Result<Numeric> {
        match (&self.0, &other.0) {
            (Repr::Finite(left), Repr::Finite(right)) => {
                let scale = left.scale + right.scale;
                let product = Decimal { coefficient: left.coefficient.multiply(&right.coefficient), scale };
                Numeric::finite(if scale > MAX_SCALE { product.rounded(MAX_SCALE as i64) } else { product })
            }
            (Repr::NaN, _) | (_, Repr::NaN) => Ok(Numeric::NAN),
            _ if self.is_zero() || other.is_zero() => Ok(Numeric::NAN),
            _ => Ok(Numeric(Repr::Infinity { negative: self.is_negative() != other.is_negative() })),
        }
    }

    /// `/`
    pub fn divide(&self, other: &Numeric) -> Result<Numeric> {
        match (&self.0, &other.0) {
            (Repr::NaN, _) | (_, Repr::NaN) => Ok(Numeric::NAN),
            (Repr::Infinity { .. }, Repr::Infinity { .. }) => Ok(Numeric::NAN),
            _ if other.is_zero() => Err(division_by_zero()),
            (Repr::Finite(left), Repr::Finite(right)) => {
                let scale = quotient_scale(left, right);
                Numeric::finite(Decimal { coefficient: left.quotient_at(right, scale), scale })
            }
            (Repr::Infinity { .. }, _) => {
                Ok(Numeric(Repr::Infinity { negative: self.is_negative() != other.is_negative() }))
            }
            (Repr::Finite(_), Repr::Infinity { .. }) => Ok(Numeric::ZERO),
        }
    }

    /// `div`: the quotient without what is after its point.
    pub fn divide_whole(&self, other: &Numeric) -> Result<Numeric> {
        match (&self.0, &other.0) {
            (Repr::Finite(left), Repr::Finite(right)) if !other.is_zero() => {
                let scale = left.scale.max(right.scale);
                let (quotient, _) = left.coefficient_at(scale).divide(&right.coefficient_at(scale));
                Numeric::finite(Decimal { coefficient: quotient, scale: 0 })
            }
            _ => self.divide(other),
        }
    }

    /// `%`: with the sign of the dividend.
    pub fn modulo(&self, other: &Numeric) -> Result<Numeric> {
        match (&self.0, &other.0) {
            (Repr::NaN, _) | (_, Repr::NaN) => Ok(Numeric::NAN),
            _ if other.is_zero() => Err(division_by_zero()),
            (Repr::Infinity { .. }, _) => Ok(Numeric::NAN),
            (Repr::Finite(_), Repr::Infinity { .. }) => Ok(self.clone()),
            (Repr::Finite(left), Repr::Finite(right)) => {
                let scale = left.scale.max(right.scale);
                let (_, rest) = left.coefficient_at(scale).divide(&right.coefficient_at(scale));
                Numeric::finite(Decimal { coefficient: rest, scale })
            }
        }
    }

    /// Unary `-`
    pub fn negate(&self) -> Numeric {
        Numeric(match &self.0 {
            Repr::Finite(decimal) => {
                Repr::Finite(Decimal { coefficient: decimal.coefficient.negate(), scale: decimal.scale })
            }
            Repr::Infinity { negative } => Repr::Infinity { negative: !negative },
            Repr::NaN => Repr::NaN,
        })
    }

    /// `abs`
    pub fn abs(&self) -> Numeric {
        if self.is_negative() { self.negate() } else { self.clone() }
    }

    /// `sign`
    pub fn sign(&self) -> Numeric {
        if self.is_nan() {
            return Numeric::NAN;
        }
        Numeric::from(if self.is_negative() { -1 } else { i64::from(!self.is_zero()) })
    }

    /// `round`: halves away from zero; `digits` may be negative.
    pub fn round(&self, digits: i64) -> Result<Numeric> {
        self.map(|decimal| decimal.rounded(digits.clamp(-MAX_RESULT_SCALE, MAX_RESULT_SCALE)))
    }

    /// `trunc`
    pub fn truncate(&self, digits: i64) -> Result<Numeric> {
        self.map(|decimal| decimal.truncated(digits.clamp(-MAX_RESULT_SCALE, MAX_RESULT_SCALE)))
    }

    /// `ceil`
    pub fn ceil(&self) -> Result<Numeric> {
        self.map(|decimal| decimal.towards(1))
    }

    /// `floor`
    pub fn floor(&self) -> Result<Numeric> {
        self.map(|decimal| decimal.towards(-1))
    }

    /// `trim_scale`: without zeros at the end.
    pub fn trim_scale(&self) -> Result<Numeric> {
        self.map(|decimal| decimal.rounded(decimal.least_scale() as i64))
    }

    /// `min_scale`: how many digits after the point it needs.
    pub fn min_scale(&self) -> Option<usize> {
        match &self.0 {
            Repr::Finite(decimal) => Some(decimal.least_scale()),
            _ => None,
        }
    }

    /// The same value, if it is finite, with this change.
    fn map(&self, change: impl FnOnce(&Decimal) -> Decimal) -> Result<Numeric> {
        match &self.0 {
            Repr::Finite(decimal) => Numeric::finite(change(decimal)),
            _ => Ok(self.clone()),
        }
    }
}

impl Decimal {
    fn least_scale(&self) -> usize {
        if self.coefficient.is_zero() { 0 } else { self.scale.saturating_sub(self.coefficient.trailing_zeros()) }
    }

    /// The next whole number in this direction.
    fn towards(&self, direction: i128) -> Decimal {
        let whole = self.truncated(0);
        let moves = self.compare(&whole) == 0i128.cmp(&-direction);
        let step = if moves { direction } else { 0 };
        Decimal { coefficient: whole.coefficient.add(&Integer::Small(step)), scale: 0 }
    }

    /// The coefficient of the quotient, rounded to this scale.
    pub(super) fn quotient_at(&self, divisor: &Decimal, scale: usize) -> Integer {
        match (scale + divisor.scale).checked_sub(self.scale) {
            Some(up) => self.coefficient.shift_up(up).divide_rounded(&divisor.coefficient),
            None => {
                let down = self.scale - scale - divisor.scale;
                self.coefficient.divide_rounded(&divisor.coefficient.shift_up(down))
            }
        }
    }

    /// The exponent of the first digit to base 10,000, and that digit: what PostgreSQL's choices of scales look at.
    pub(super) fn leading(&self) -> (i64, u64) {
        if self.coefficient.is_zero() {
            return (0, 0);
        }
        let exponent = self.coefficient.digit_count() as i64 - 1 - self.scale as i64;
        let weight = exponent.div_euclid(4);
        (weight, self.coefficient.leading((exponent - 4 * weight + 1) as usize))
    }
}

/// At least sixteen significant digits, and no fewer digits after the point than the operands have.
fn quotient_scale(dividend: &Decimal, divisor: &Decimal) -> usize {
    let (weight, first) = dividend.leading();
    let (divisor_weight, divisor_first) = divisor.leading();
    let weight = weight - divisor_weight - i64::from(first <= divisor_first);
    let scale = (MIN_SIGNIFICANT_DIGITS - weight * 4).max(dividend.scale as i64).max(divisor.scale as i64);
    scale.clamp(0, MAX_DISPLAY_SCALE) as usize
}

pub fn division_by_zero() -> SqlError {
    SqlError::new(SqlState::DIVISION_BY_ZERO, "division by zero")
}
