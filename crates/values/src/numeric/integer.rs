//! Integers of any size: those of up to 38 digits in a machine word, larger ones as [`Natural`]s with a sign.

use std::cmp::Ordering;

use super::natural::Natural;

/// What fits in a machine word: less than ten to this power.
const SMALL_DIGITS: u32 = 38;
const SMALL_LIMIT: i128 = 10i128.pow(SMALL_DIGITS);

/// An integer. Always `Small` if it has up to 38 digits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Integer {
    Small(i128),
    Big { negative: bool, magnitude: Natural },
}

impl Integer {
    pub const ZERO: Integer = Integer::Small(0);

    pub fn new(negative: bool, magnitude: Natural) -> Integer {
        match magnitude.to_u128().and_then(|small| i128::try_from(small).ok()) {
            Some(small) if small < SMALL_LIMIT => Integer::Small(if negative { -small } else { small }),
            _ => Integer::Big { negative, magnitude },
        }
    }

    /// From ASCII digits.
    pub fn from_digits(negative: bool, digits: &[u8]) -> Integer {
        let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
        let digits = &digits[zeros..];
        if digits.len() <= SMALL_DIGITS as usize {
            let small = digits.iter().fold(0, |value, digit| value * 10 + i128::from(digit - b'0'));
            return Integer::Small(if negative { -small } else { small });
        }
        Integer::Big { negative, magnitude: Natural::from_digits(digits) }
    }

    pub fn is_zero(&self) -> bool {
        matches!(self, Integer::Small(0))
    }

    pub fn is_negative(&self) -> bool {
        match self {
            Integer::Small(value) => *value < 0,
            Integer::Big { negative, .. } => *negative,
        }
    }

    pub fn is_odd(&self) -> bool {
        match self {
            Integer::Small(value) => value % 2 != 0,
            Integer::Big { magnitude, .. } => magnitude.is_odd(),
        }
    }

    pub fn magnitude(&self) -> Natural {
        match self {
            Integer::Small(value) => Natural::from_u128(value.unsigned_abs()),
            Integer::Big { magnitude, .. } => magnitude.clone(),
        }
    }

    pub fn to_i128(&self) -> Option<i128> {
        match self {
            Integer::Small(value) => Some(*value),
            Integer::Big { .. } => None,
        }
    }

    /// The decimal digits without a sign; nothing for zero.
    pub fn digits(&self) -> String {
        match self {
            Integer::Small(0) => String::new(),
            Integer::Small(value) => value.unsigned_abs().to_string(),
            Integer::Big { magnitude, .. } => magnitude.digits(),
        }
    }

    pub fn digit_count(&self) -> usize {
        match self {
            Integer::Small(0) => 0,
            Integer::Small(value) => value.unsigned_abs().ilog10() as usize + 1,
            Integer::Big { magnitude, .. } => magnitude.digit_count(),
        }
    }

    pub fn trailing_zeros(&self) -> usize {
        match self {
            Integer::Small(0) => 0,
            Integer::Small(value) => {
                let (mut value, mut zeros) = (*value, 0);
                while value % 10 == 0 {
                    value /= 10;
                    zeros += 1;
                }
                zeros
            }
            Integer::Big { magnitude, .. } => magnitude.trailing_zeros(),
        }
    }

    pub fn negate(&self) -> Integer {
        match self {
            Integer::Small(value) => Integer::Small(-value),
            Integer::Big { negative, magnitude } => Integer::Big { negative: !negative, magnitude: magnitude.clone() },
        }
    }

    pub fn abs(&self) -> Integer {
        if self.is_negative() { self.negate() } else { self.clone() }
    }

    pub fn add(&self, other: &Integer) -> Integer {
        if let (Integer::Small(left), Integer::Small(right)) = (self, other)
            && let Some(sum) = left.checked_add(*right)
            && sum.unsigned_abs() < SMALL_LIMIT.unsigned_abs()
        {
            return Integer::Small(sum);
        }
        let (left, right) = (self.magnitude(), other.magnitude());
        if self.is_negative() == other.is_negative() {
            return Integer::new(self.is_negative(), left.add(&right));
        }
        match left.cmp(&right) {
            Ordering::Less => Integer::new(other.is_negative(), right.subtract(&left)),
            _ => Integer::new(self.is_negative(), left.subtract(&right)),
        }
    }

    pub fn subtract(&self, other: &Integer) -> Integer {
        self.add(&other.negate())
    }

    pub fn multiply(&self, other: &Integer) -> Integer {
        if let (Integer::Small(left), Integer::Small(right)) = (self, other)
            && let Some(product) = left.checked_mul(*right)
            && product.unsigned_abs() < SMALL_LIMIT.unsigned_abs()
        {
            return Integer::Small(product);
        }
        Integer::new(self.is_negative() != other.is_negative(), self.magnitude().multiply(&other.magnitude()))
    }

    /// Quotient rounded towards zero, and the remainder with the sign of the dividend. The divisor is not zero.
    pub fn divide(&self, divisor: &Integer) -> (Integer, Integer) {
        if let (Integer::Small(left), Integer::Small(right)) = (self, divisor) {
            return (Integer::Small(left / right), Integer::Small(left % right));
        }
        let (quotient, rest) = self.magnitude().divide(&divisor.magnitude());
        (Integer::new(self.is_negative() != divisor.is_negative(), quotient), Integer::new(self.is_negative(), rest))
    }

    /// Quotient rounded to the nearest, halves away from zero. The divisor is not zero.
    pub fn divide_rounded(&self, divisor: &Integer) -> Integer {
        let (quotient, rest) = self.divide(divisor);
        if rest.abs().add(&rest.abs()).cmp(&divisor.abs()) == Ordering::Less {
            return quotient;
        }
        let away = if self.is_negative() == divisor.is_negative() { 1 } else { -1 };
        quotient.add(&Integer::Small(away))
    }

    /// Times ten to this power.
    pub fn shift_up(&self, digits: usize) -> Integer {
        match self {
            Integer::Small(0) => Integer::ZERO,
            Integer::Small(value) if digits < SMALL_DIGITS as usize => {
                match value.checked_mul(10i128.pow(digits as u32)) {
                    Some(product) if product.unsigned_abs() < SMALL_LIMIT.unsigned_abs() => Integer::Small(product),
                    _ => Integer::new(*value < 0, self.magnitude().shift_up(digits)),
                }
            }
            _ => Integer::new(self.is_negative(), self.magnitude().shift_up(digits)),
        }
    }

    /// Divided by ten to this power, rounded towards zero.
    pub fn shift_down(&self, digits: usize) -> Integer {
        match self {
            Integer::Small(value) if digits <= SMALL_DIGITS as usize => {
                Integer::Small(value / 10i128.pow(digits as u32))
            }
            Integer::Small(_) => Integer::ZERO,
            Integer::Big { negative, magnitude } => Integer::new(*negative, magnitude.shift_down(digits)),
        }
    }

    /// Divided by ten to this power, rounded to the nearest, halves away from zero.
    pub fn shift_down_rounded(&self, digits: usize) -> Integer {
        if digits == 0 {
            return self.clone();
        }
        let quotient = self.shift_down(digits);
        if self.digit(digits - 1) < 5 {
            return quotient;
        }
        quotient.add(&Integer::Small(if self.is_negative() { -1 } else { 1 }))
    }

    /// The decimal digit at this place, counted from the lowest.
    fn digit(&self, place: usize) -> u32 {
        match self {
            Integer::Small(_) if place >= SMALL_DIGITS as usize => 0,
            Integer::Small(value) => (value.unsigned_abs() / 10u128.pow(place as u32) % 10) as u32,
            Integer::Big { magnitude, .. } => magnitude.digit(place),
        }
    }

    /// The first `count` decimal digits (at most 18) of the magnitude, zeros after its end.
    pub fn leading(&self, count: usize) -> u64 {
        let have = self.digit_count();
        let leading = if have >= count { self.shift_down(have - count) } else { self.shift_up(count - have) };
        leading.to_i128().map_or(0, |value| value.unsigned_abs() as u64)
    }
}

impl PartialOrd for Integer {
    fn partial_cmp(&self, other: &Integer) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Integer {
    fn cmp(&self, other: &Integer) -> Ordering {
        if let (Integer::Small(left), Integer::Small(right)) = (self, other) {
            return left.cmp(right);
        }
        match (self.is_negative(), other.is_negative()) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.magnitude().cmp(&other.magnitude()),
            (true, true) => other.magnitude().cmp(&self.magnitude()),
        }
    }
}
