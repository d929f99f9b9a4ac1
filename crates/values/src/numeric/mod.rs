//! Exact numbers: PostgreSQL's `numeric`, with its scales, limits, NaN and infinities.
//!
//! A finite value is an integer times a negative power of ten; that power is also how many digits are shown after the
//! point, so `1.0` and `1.00` are two forms of one value. Values of up to 38 digits live in a machine word.

mod arithmetic;
mod convert;
mod functions;
mod integer;
mod long;
mod natural;
mod power;
mod text;
mod wire;

use std::cmp::Ordering;

use crate::error::{Result, SqlError, SqlState};
use integer::Integer;

pub use text::modifier;
pub use text::unpack;

/// Most digits after the point that a value can have.
const MAX_SCALE: usize = 0x3FFF;
/// Most digits before the point that a value can have.
const MAX_WHOLE_DIGITS: usize = 131_072;
/// Most digits after the point that a division or a function chooses by itself.
const MAX_DISPLAY_SCALE: i64 = 1000;
/// The farthest that `round` and `trunc` go to either side of the point.
const MAX_RESULT_SCALE: i64 = 2000;
/// How many significant digits a division or a function gives at least.
const MIN_SIGNIFICANT_DIGITS: i64 = 16;

/// A numeric of any precision, NaN and infinities included.
#[derive(Clone, Debug)]
pub struct Numeric(Repr);

#[derive(Clone, Debug)]
enum Repr {
    Finite(Decimal),
    Infinity { negative: bool },
    NaN,
}

/// `coefficient × 10^-scale`
#[derive(Clone, Debug)]
struct Decimal {
    coefficient: Integer,
    scale: usize,
}

impl Decimal {
    /// The coefficient that it would have with a scale that is not smaller.
    fn coefficient_at(&self, scale: usize) -> Integer {
        self.coefficient.shift_up(scale - self.scale)
    }

    fn compare(&self, other: &Decimal) -> Ordering {
        if self.scale == other.scale {
            return self.coefficient.cmp(&other.coefficient);
        }
        let scale = self.scale.max(other.scale);
        self.coefficient_at(scale).cmp(&other.coefficient_at(scale))
    }

    /// Digits before the point, none for values below one.
    fn whole_digits(&self) -> usize {
        self.coefficient.digit_count().saturating_sub(self.scale)
    }

    /// Rounded to this many digits after the point (before it, if negative), which then are what it shows.
    fn rounded(&self, scale: i64) -> Decimal {
        if scale >= self.scale as i64 {
            return Decimal { coefficient: self.coefficient_at(scale as usize), scale: scale as usize };
        }
        let coefficient = self.coefficient.shift_down_rounded((self.scale as i64 - scale) as usize);
        Decimal::at(coefficient, scale)
    }

    /// The same, rounded towards zero.
    fn truncated(&self, scale: i64) -> Decimal {
        if scale >= self.scale as i64 {
            return self.rounded(scale);
        }
        Decimal::at(self.coefficient.shift_down((self.scale as i64 - scale) as usize), scale)
    }

    fn at(coefficient: Integer, scale: i64) -> Decimal {
        match usize::try_from(scale) {
            Ok(scale) => Decimal { coefficient, scale },
            Err(_) => Decimal { coefficient: coefficient.shift_up(scale.unsigned_abs() as usize), scale: 0 },
        }
    }
}

impl Numeric {
    /// Not a number: equal to itself, larger than all.
    pub const NAN: Numeric = Numeric(Repr::NaN);
    /// Positive infinity.
    pub const INFINITY: Numeric = Numeric(Repr::Infinity { negative: false });
    /// Negative infinity.
    pub const NEGATIVE_INFINITY: Numeric = Numeric(Repr::Infinity { negative: true });
    /// Zero.
    pub const ZERO: Numeric = Numeric(Repr::Finite(Decimal { coefficient: Integer::ZERO, scale: 0 }));

    /// An integer divided by ten to this power, with as many digits after the point.
    pub fn scaled(coefficient: i128, scale: u32) -> Numeric {
        let negative = coefficient < 0;
        let coefficient = Integer::new(negative, natural::Natural::from_u128(coefficient.unsigned_abs()));
        Numeric(Repr::Finite(Decimal { coefficient, scale: scale as usize }))
    }

    /// Whether it is NaN.
    pub fn is_nan(&self) -> bool {
        matches!(self.0, Repr::NaN)
    }

    /// Whether it is neither NaN nor infinite.
    pub fn is_finite(&self) -> bool {
        matches!(self.0, Repr::Finite(_))
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        matches!(&self.0, Repr::Finite(decimal) if decimal.coefficient.is_zero())
    }

    /// Whether it is below zero.
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Repr::Finite(decimal) => decimal.coefficient.is_negative(),
            Repr::Infinity { negative } => *negative,
            Repr::NaN => false,
        }
    }

    /// Whether it is a whole number.
    pub fn is_integer(&self) -> bool {
        matches!(&self.0, Repr::Finite(decimal) if decimal.coefficient.is_zero() || decimal.coefficient.trailing_zeros() >= decimal.scale)
    }

    /// Whether arithmetic with it possibly takes long.
    pub fn is_large(&self) -> bool {
        self.weight() > 512
    }

    /// About how many bytes of memory it takes.
    pub fn weight(&self) -> usize {
        match &self.0 {
            Repr::Finite(Decimal { coefficient: Integer::Big { magnitude, .. }, .. }) => 16 + magnitude.weight(),
            _ => 16,
        }
    }

    /// How many digits it shows after the point; `None` if it is not finite.
    pub fn scale(&self) -> Option<usize> {
        match &self.0 {
            Repr::Finite(decimal) => Some(decimal.scale),
            _ => None,
        }
    }

    fn finite(decimal: Decimal) -> Result<Numeric> {
        if decimal.scale > MAX_SCALE || decimal.whole_digits() > MAX_WHOLE_DIGITS {
            return Err(overflow());
        }
        Ok(Numeric(Repr::Finite(decimal)))
    }

    /// Negative 0, positive 1: where it stands among values that are not finite.
    fn rank(&self) -> u8 {
        match &self.0 {
            Repr::Infinity { negative: true } => 0,
            Repr::Finite(_) => 1,
            Repr::Infinity { negative: false } => 2,
            Repr::NaN => 3,
        }
    }

    /// What determines order and equality: the sign, the exponent of the first digit, and the digits without the zeros at
    /// the end. `None` if it is not finite.
    pub fn scientific(&self) -> Option<(bool, i64, String)> {
        let Repr::Finite(decimal) = &self.0 else { return None };
        let mut digits = decimal.coefficient.digits();
        let exponent = digits.len() as i64 - decimal.scale as i64;
        digits.truncate(digits.trim_end_matches('0').len());
        Some((decimal.coefficient.is_negative(), if digits.is_empty() { 0 } else { exponent }, digits))
    }
}

impl Ord for Numeric {
    fn cmp(&self, other: &Numeric) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Finite(left), Repr::Finite(right)) => left.compare(right),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Numeric {
    fn partial_cmp(&self, other: &Numeric) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Numeric {
    fn eq(&self, other: &Numeric) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Numeric {}

impl From<i64> for Numeric {
    fn from(value: i64) -> Numeric {
        Numeric(Repr::Finite(Decimal { coefficient: Integer::Small(value.into()), scale: 0 }))
    }
}

fn overflow() -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format")
}
