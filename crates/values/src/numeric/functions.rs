//! Square roots, exponentials, logarithms.
//!
//! Each is computed in fixed point with more digits than the result shows and rounded once, so the digits are those that
//! any exact method gives; how many are shown follows PostgreSQL's rules.

use std::f64::consts::{LN_10, LOG10_E};

use super::integer::Integer;
use super::{Decimal, MAX_DISPLAY_SCALE, MAX_RESULT_SCALE, MIN_SIGNIFICANT_DIGITS, Numeric, Repr, overflow};
use crate::error::{Result, SqlError, SqlState};

/// Digits beyond those shown, so that rounding errors stay out of sight.
pub(super) const GUARD: usize = 12;

impl Numeric {
    /// `sqrt`
    pub fn sqrt(&self) -> Result<Numeric> {
        if self.is_negative() {
            return Err(SqlError::new(
                SqlState::INVALID_ARGUMENT_FOR_POWER_FUNCTION,
                "cannot take square root of a negative number",
            ));
        }
        let Repr::Finite(decimal) = &self.0 else { return Ok(self.clone()) };
        let (weight, _) = decimal.leading();
        decimal_root(decimal, chosen_scale((weight + 1) * 4 / 2 - 1, &[decimal]))
    }

    /// The square root with as many digits after the point as the number has.
    pub fn root_of_scale(&self) -> Result<Numeric> {
        match &self.0 {
            Repr::Finite(decimal) if !self.is_negative() => decimal_root(decimal, decimal.scale),
            _ => self.sqrt(),
        }
    }

    /// `exp`
    pub fn exp(&self) -> Result<Numeric> {
        let decimal = match &self.0 {
            Repr::Finite(decimal) => decimal,
            Repr::Infinity { negative: true } => return Ok(Numeric::ZERO),
            _ => return Ok(self.clone()),
        };
        let limit = MAX_RESULT_SCALE as f64;
        let weight = (self.to_f64_lossy() * LOG10_E).clamp(-limit, limit) as i64;
        let scale = chosen_scale(weight, &[decimal]);
        Numeric::finite(exp_at(decimal, scale)?)
    }

    /// `ln`
    pub fn ln(&self) -> Result<Numeric> {
        match self.logarithm_argument()? {
            None => Ok(self.clone()),
            Some(decimal) => {
                let scale = chosen_scale(ln_weight(decimal), &[decimal]);
                Numeric::finite(ln_at(decimal, scale))
            }
        }
    }

    /// `log(base, value)`
    pub fn log(&self, base: &Numeric) -> Result<Numeric> {
        if self.is_nan() || base.is_nan() {
            return Ok(Numeric::NAN);
        }
        let base_decimal = base.logarithm_argument()?;
        let decimal = self.logarithm_argument()?;
        let (Some(base_decimal), Some(decimal)) = (base_decimal, decimal) else {
            return match (base_decimal, decimal) {
                (None, None) => Ok(Numeric::NAN),
                (None, Some(_)) => Ok(Numeric::ZERO),
                _ => Ok(Numeric::INFINITY),
            };
        };
        let (weight, base_weight) = (ln_weight(decimal), ln_weight(base_decimal));
        let scale = chosen_scale(weight - base_weight, &[base_decimal, decimal]);
        // Relative errors of both logarithms end up in the quotient.
        let digits =
            |weight: i64| (scale as i64 + weight.abs() + base_weight.abs() - weight).max(0) as usize + 2 * GUARD;
        let divisor = ln_at(base_decimal, digits(base_weight));
        if divisor.coefficient.is_zero() {
            return Err(super::arithmetic::division_by_zero());
        }
        let coefficient = ln_at(decimal, digits(weight)).quotient_at(&divisor, scale);
        Numeric::finite(Decimal { coefficient, scale })
    }

    /// A finite number above zero, or `None` for NaN and infinity.
    fn logarithm_argument(&self) -> Result<Option<&Decimal>> {
        let invalid = |message| Err(SqlError::new(SqlState::INVALID_ARGUMENT_FOR_LOG, message));
        match &self.0 {
            _ if self.is_negative() => invalid("cannot take logarithm of a negative number"),
            _ if self.is_zero() => invalid("cannot take logarithm of zero"),
            Repr::Finite(decimal) => Ok(Some(decimal)),
            _ => Ok(None),
        }
    }
}

fn decimal_root(decimal: &Decimal, scale: usize) -> Result<Numeric> {
    let root = decimal.rounded((2 * scale + 2) as i64).coefficient.magnitude().square_root();
    let root = Decimal { coefficient: Integer::new(false, root), scale: scale + 1 };
    Numeric::finite(root.rounded(scale as i64))
}

/// The scale of a result whose first digit has about this exponent: at least sixteen significant digits, and no fewer
/// digits after the point than the operands have.
pub(super) fn chosen_scale(weight: i64, operands: &[&Decimal]) -> usize {
    let shown = operands.iter().map(|decimal| decimal.scale as i64).max().unwrap_or(0);
    (MIN_SIGNIFICANT_DIGITS - weight).max(shown).clamp(0, MAX_DISPLAY_SCALE) as usize
}

/// The approximate exponent of the first digit of the logarithm.
pub(super) fn ln_weight(decimal: &Decimal) -> i64 {
    if decimal.coefficient.is_negative() || decimal.coefficient.is_zero() {
        return 0;
    }
    let tenths = |coefficient| Decimal { coefficient: Integer::Small(coefficient), scale: 1 };
    if decimal.compare(&tenths(9)).is_ge() && decimal.compare(&tenths(11)).is_le() {
        let one = Integer::Small(1).shift_up(decimal.scale);
        let beyond = Decimal { coefficient: decimal.coefficient.subtract(&one), scale: decimal.scale };
        if beyond.coefficient.is_zero() {
            return 0;
        }
        let (weight, first) = beyond.leading();
        return weight * 4 + i64::from(first.ilog10());
    }
    let digits = decimal.coefficient.digit_count();
    let leading = decimal.coefficient.leading(8) as f64;
    let exponent = digits as f64 - 8.0 - decimal.scale as f64;
    (leading.ln() + exponent * LN_10).abs().log10() as i64
}

/// The natural logarithm of a number above zero, rounded to this scale.
pub(super) fn ln_at(decimal: &Decimal, scale: usize) -> Decimal {
    // value = m × 10^k with m near one, and ln(value) = ln(m) + k ln(10).
    let exponent = decimal.coefficient.digit_count() as i64 - decimal.scale as i64;
    let exponent = exponent - i64::from(decimal.coefficient.leading(1) < 3);
    let places = scale + GUARD + 8;
    let mantissa = Decimal { coefficient: decimal.coefficient.clone(), scale: decimal.scale };
    let shift = places as i64 - mantissa.scale as i64 - exponent;
    let mantissa = match usize::try_from(shift) {
        Ok(up) => mantissa.coefficient.shift_up(up),
        Err(_) => mantissa.coefficient.shift_down_rounded(shift.unsigned_abs() as usize),
    };
    let mut logarithm = ln_near_one(mantissa, places);
    if exponent != 0 {
        let ln_10 = ln_near_one(Integer::Small(25).shift_up(places - 1), places)
            .add(&ln_near_one(Integer::Small(2).shift_up(places), places))
            .add(&ln_near_one(Integer::Small(2).shift_up(places), places));
        logarithm = logarithm.add(&ln_10.multiply(&Integer::Small(exponent.into())));
    }
    Decimal { coefficient: logarithm, scale: places }.rounded(scale as i64)
}

/// The logarithm of a fixed-point number between about 1/4 and 4: a few square roots bring it close to one, where
/// `2 artanh((x - 1) / (x + 1))` converges quickly.
fn ln_near_one(value: Integer, places: usize) -> Integer {
    const ROOTS: u32 = 6;
    let one = Integer::Small(1).shift_up(places);
    let mut root = value;
    for _ in 0..ROOTS {
        root = Integer::new(false, root.shift_up(places).magnitude().square_root());
    }
    let ratio = root.subtract(&one).shift_up(places).divide(&root.add(&one)).0;
    let square = ratio.multiply(&ratio).shift_down(places);
    let mut power = ratio.clone();
    let mut sum = ratio;
    let mut odd = 3;
    while !power.is_zero() {
        power = power.multiply(&square).shift_down(places);
        sum = sum.add(&power.divide(&Integer::Small(odd)).0);
        odd += 2;
    }
    sum.multiply(&Integer::Small(2i128.pow(ROOTS + 1)))
}

/// The exponential, rounded to this scale.
pub(super) fn exp_at(decimal: &Decimal, scale: usize) -> Result<Decimal> {
    let approximate = Numeric(Repr::Finite(decimal.clone())).to_f64_lossy();
    if approximate.abs() >= (MAX_RESULT_SCALE * 3) as f64 {
        if approximate > 0.0 {
            return Err(overflow());
        }
        return Ok(Decimal { coefficient: Integer::ZERO, scale });
    }
    // e^x = e^(x - k ln 10) × 10^k
    let exponent = (approximate / LN_10).round() as i64;
    let places = (scale as i64 + exponent.max(0)) as usize + GUARD + 8;
    let ln_10 = ln_at(&Decimal { coefficient: Integer::Small(10), scale: 0 }, places + 4);
    let whole = ln_10.coefficient.multiply(&Integer::Small(exponent.into()));
    let argument = decimal.rounded((places + 4) as i64).coefficient.subtract(&whole).shift_down(4);
    Ok(Decimal::at(exp_near_zero(argument, places), places as i64 - exponent).rounded(scale as i64))
}

/// The exponential of a fixed-point number of about one: of a small fraction of it by its series, then squared.
fn exp_near_zero(argument: Integer, places: usize) -> Integer {
    const HALVINGS: u32 = 8;
    // Each squaring doubles the relative error.
    let extra = 4;
    let places_inside = places + extra;
    let argument = argument.shift_up(extra).divide(&Integer::Small(1 << HALVINGS)).0;
    let one = Integer::Small(1).shift_up(places_inside);
    let mut term = one.clone();
    let mut sum = one;
    let mut count = 1;
    while !term.is_zero() {
        term = term.multiply(&argument).shift_down(places_inside).divide(&Integer::Small(count)).0;
        sum = sum.add(&term);
        count += 1;
    }
    for _ in 0..HALVINGS {
        sum = sum.multiply(&sum).shift_down(places_inside);
    }
    sum.shift_down(extra)
}
