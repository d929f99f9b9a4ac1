//! Powers, and what is made of whole numbers: factorials, common divisors.

use std::f64::consts::LOG10_E;

use super::functions::{GUARD, chosen_scale, exp_at, ln_at, ln_weight};
use super::integer::Integer;
use super::{
    Decimal, MAX_DISPLAY_SCALE, MAX_RESULT_SCALE, MAX_WHOLE_DIGITS, MIN_SIGNIFICANT_DIGITS, Numeric, Repr, overflow,
};
use crate::budget;
use crate::error::{Result, SqlError, SqlState};

impl Numeric {
    /// `power`, `^`
    pub fn power(&self, exponent: &Numeric) -> Result<Numeric> {
        let (Repr::Finite(base), Repr::Finite(power)) = (&self.0, &exponent.0) else {
            return self.special_power(exponent);
        };
        if self.is_zero() && exponent.is_negative() {
            return Err(invalid_power("zero raised to a negative power is undefined"));
        }
        if let Some(whole) = exponent.to_i64_exact().and_then(|whole| i32::try_from(whole).ok()) {
            return whole_power(base, whole.into());
        }
        if self.is_zero() {
            return Numeric::finite(Decimal { coefficient: Integer::ZERO, scale: MIN_SIGNIFICANT_DIGITS as usize });
        }
        if self.is_negative() && !exponent.is_integer() {
            return Err(invalid_power("a negative number raised to a non-integer power yields a complex result"));
        }
        let negative = self.is_negative() && power.truncated(0).coefficient.is_odd();
        let magnitude = Decimal { coefficient: base.coefficient.abs(), scale: base.scale };
        let result = Numeric::finite(general_power(&magnitude, power)?)?;
        Ok(if negative { result.negate() } else { result })
    }

    /// Powers where the base or the exponent is NaN or infinite, as POSIX's `pow` has them.
    fn special_power(&self, exponent: &Numeric) -> Result<Numeric> {
        let one = Numeric::from(1);
        if exponent.is_zero() || *self == one {
            return Ok(one);
        }
        if self.is_nan() || exponent.is_nan() {
            return Ok(Numeric::NAN);
        }
        if self.is_zero() && exponent.is_negative() {
            return Err(invalid_power("zero raised to a negative power is undefined"));
        }
        if let Repr::Infinity { negative } = exponent.0 {
            let magnitude = self.abs();
            return Ok(match magnitude.cmp(&one) {
                std::cmp::Ordering::Equal => one,
                order if order.is_gt() != negative => Numeric::INFINITY,
                _ => Numeric::ZERO,
            });
        }
        if self.is_negative() && !exponent.is_integer() {
            return Err(invalid_power("a negative number raised to a non-integer power yields a complex result"));
        }
        if exponent.is_negative() {
            return Ok(Numeric::ZERO);
        }
        let odd = matches!(&exponent.0, Repr::Finite(power) if power.truncated(0).coefficient.is_odd());
        Ok(if self.is_negative() && odd { Numeric::NEGATIVE_INFINITY } else { Numeric::INFINITY })
    }

    /// `factorial`
    pub fn factorial(number: i64) -> Result<Numeric> {
        if number < 0 {
            return Err(SqlError::new(
                SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
                "factorial of a negative number is undefined",
            ));
        }
        // 32178! has too many digits.
        if number > 32_177 {
            return Err(overflow());
        }
        Numeric::finite(Decimal { coefficient: product(1, number.max(1)), scale: 0 })
    }

    /// `gcd`
    pub fn gcd(&self, other: &Numeric) -> Result<Numeric> {
        let (Repr::Finite(left), Repr::Finite(right)) = (&self.0, &other.0) else { return Ok(Numeric::NAN) };
        let scale = left.scale.max(right.scale);
        let (mut large, mut small) = (left.coefficient_at(scale).abs(), right.coefficient_at(scale).abs());
        while !small.is_zero() {
            budget::step(small.digit_count() / 4 + 50)?;
            let rest = large.divide(&small).1;
            large = small;
            small = rest;
        }
        Numeric::finite(Decimal { coefficient: large, scale })
    }

    /// `lcm`
    pub fn lcm(&self, other: &Numeric) -> Result<Numeric> {
        let divisor = self.gcd(other)?;
        if divisor.is_zero() || divisor.is_nan() {
            return Ok(divisor);
        }
        let product = self.divide_whole(&divisor)?.multiply(other)?.abs();
        product.round(divisor.scale().unwrap_or(0) as i64)
    }
}

/// The product of the whole numbers from one to another: of two halves that are about as long.
fn product(first: i64, last: i64) -> Integer {
    if last - first < 8 {
        return (first..=last).fold(Integer::Small(1), |product, n| product.multiply(&Integer::Small(n.into())));
    }
    let middle = first + (last - first) / 2;
    product(first, middle).multiply(&product(middle + 1, last))
}

/// A power with a whole exponent: by squaring, with as many digits as the result shows and a few more.
fn whole_power(base: &Decimal, exponent: i64) -> Result<Numeric> {
    let scale = MIN_SIGNIFICANT_DIGITS.max(base.scale as i64).min(MAX_DISPLAY_SCALE) as usize;
    let one = Decimal { coefficient: Integer::Small(1), scale: 0 };
    match exponent {
        0 => return Numeric::finite(one.rounded(scale as i64)),
        1 => return Numeric::finite(base.rounded(scale as i64)),
        -1 => {
            let coefficient = one.quotient_at(base, scale);
            return Numeric::finite(Decimal { coefficient, scale });
        }
        _ if base.coefficient.is_zero() => return Numeric::finite(Decimal { coefficient: Integer::ZERO, scale }),
        _ => {}
    }
    // The exponent of the result's first digit, roughly.
    let digits = base.coefficient.digit_count() as f64 - 17.0 - base.scale as f64;
    let weight = exponent as f64 * ((base.coefficient.leading(17) as f64).log10() + digits);
    if weight > (3 * MAX_WHOLE_DIGITS) as f64 {
        return Err(overflow());
    }
    if weight + 1.0 < -(scale as f64) || weight + 1.0 < -(MAX_DISPLAY_SCALE as f64) {
        return Numeric::finite(Decimal { coefficient: Integer::ZERO, scale });
    }
    let significant = (1 + scale as i64 + weight as i64).max(0) as usize + GUARD + 12;
    let power = Floating::of(base).power(exponent.unsigned_abs(), significant)?;
    if exponent > 0 {
        return Numeric::finite(power.rounded(scale));
    }
    // 1 / (c × 10^e), rounded to the scale.
    let shift = scale as i64 - power.exponent;
    let coefficient = match usize::try_from(shift) {
        Ok(up) => Integer::Small(1).shift_up(up).divide_rounded(&power.coefficient),
        Err(_) => Integer::ZERO,
    };
    Numeric::finite(Decimal { coefficient, scale })
}

/// `coefficient × 10^exponent`, with limited digits.
struct Floating {
    coefficient: Integer,
    exponent: i64,
}

impl Floating {
    fn of(decimal: &Decimal) -> Floating {
        Floating { coefficient: decimal.coefficient.clone(), exponent: -(decimal.scale as i64) }
    }

    fn times(&self, other: &Floating, digits: usize) -> Floating {
        let product = self.coefficient.multiply(&other.coefficient);
        let excess = product.digit_count().saturating_sub(digits);
        Floating {
            coefficient: product.shift_down_rounded(excess),
            exponent: self.exponent + other.exponent + excess as i64,
        }
    }

    fn power(&self, mut exponent: u64, digits: usize) -> Result<Floating> {
        let mut result = Floating { coefficient: Integer::Small(1), exponent: 0 };
        let mut square = Floating { coefficient: self.coefficient.clone(), exponent: self.exponent };
        loop {
            budget::step(square.coefficient.digit_count() * 20)?;
            if exponent % 2 == 1 {
                result = result.times(&square, digits);
            }
            exponent /= 2;
            if exponent == 0 {
                return Ok(result);
            }
            square = square.times(&square, digits);
        }
    }

    fn rounded(self, scale: usize) -> Decimal {
        let shift = self.exponent + scale as i64;
        let coefficient = match usize::try_from(shift) {
            Ok(up) => self.coefficient.shift_up(up),
            Err(_) => self.coefficient.shift_down_rounded(shift.unsigned_abs() as usize),
        };
        Decimal { coefficient, scale }
    }
}

/// `e^(exponent × ln(base))` of a base above zero.
fn general_power(base: &Decimal, exponent: &Decimal) -> Result<Decimal> {
    let weight = ln_weight(base);
    let rough = Numeric(Repr::Finite(ln_at(base, (8 - weight).max(0) as usize)));
    let rough = rough.multiply(&Numeric(Repr::Finite(exponent.clone())))?.to_f64_lossy();
    if rough.abs() > MAX_RESULT_SCALE as f64 * 3.01 {
        if rough > 0.0 {
            return Err(overflow());
        }
        return Ok(Decimal { coefficient: Integer::ZERO, scale: MAX_DISPLAY_SCALE as usize });
    }
    let digits = (rough * LOG10_E) as i64;
    let scale = chosen_scale(digits, &[base, exponent]);
    // The absolute error of the product is the relative error of the result.
    let places = (scale as i64 + digits).max(0) as usize + exponent.whole_digits() + 2 * GUARD;
    let logarithm = ln_at(base, places);
    let product = Decimal {
        coefficient: logarithm.coefficient.multiply(&exponent.coefficient),
        scale: logarithm.scale + exponent.scale,
    };
    exp_at(&product.rounded(places as i64), scale)
}

fn invalid_power(message: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_ARGUMENT_FOR_POWER_FUNCTION, message)
}
