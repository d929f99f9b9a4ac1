//! Floats as text: the shortest digits that read back as the same value, or as many as `extra_float_digits` says.

use std::fmt::Write;

use super::{invalid_syntax, trim};
use crate::error::{Result, SqlError, SqlState};

/// Which float.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    /// float4, `real`
    Single,
    /// float8, `double precision`
    Double,
}

impl Width {
    /// The SQL name.
    pub fn name(self) -> &'static str {
        match self {
            Width::Single => "real",
            Width::Double => "double precision",
        }
    }

    /// Decimal digits that every value keeps.
    fn digits(self) -> i32 {
        match self {
            Width::Single => 6,
            Width::Double => 15,
        }
    }
}

/// Reads a float.
pub fn parse(text: &str, width: Width) -> Result<f64> {
    let trimmed = trim(text);
    let number = || -> Option<f64> {
        match width {
            Width::Single => trimmed.parse::<f32>().ok().map(f64::from),
            Width::Double => trimmed.parse().ok(),
        }
    };
    let value = number().ok_or_else(|| invalid_syntax(width.name(), text))?;
    let mantissa = trimmed.split(['e', 'E']).next().unwrap_or_default();
    let written_as_number = mantissa.bytes().any(|byte| byte.is_ascii_digit());
    let vanished = value == 0.0 && mantissa.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
    if vanished || (value.is_infinite() && written_as_number) {
        return Err(SqlError::new(
            SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
            format!("\"{trimmed}\" is out of range for type {}", width.name()),
        ));
    }
    Ok(value)
}

/// Rounds to a float4; an error if it was finite and no longer is, or vanishes.
pub fn narrow(value: f64) -> Result<f64> {
    let single = value as f32;
    let error = |what| Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("value out of range: {what}")));
    if single.is_infinite() && value.is_finite() {
        return error("overflow");
    }
    if single == 0.0 && value != 0.0 {
        return error("underflow");
    }
    Ok(single.into())
}

/// Shows a float.
pub fn show(out: &mut String, value: f64, width: Width, extra_float_digits: i32) {
    if value.is_nan() {
        return out.push_str("NaN");
    }
    if value.is_infinite() {
        return out.push_str(if value < 0.0 { "-Infinity" } else { "Infinity" });
    }
    if extra_float_digits > 0 {
        return lay_out(out, &shortest(value, width), width.digits());
    }
    general(out, value, (width.digits() + extra_float_digits).max(1));
}

/// The fewest digits that read back as this value and no other, in exponent form.
///
/// Where Rust and PostgreSQL choose differently: of two that are equally near PostgreSQL takes the even one; and digits that
/// are halfway to the next value are one too few for it, because it does not rely on how its readers round.
fn shortest(value: f64, width: Width) -> String {
    let digits = match width {
        Width::Single => format!("{:e}", value as f32),
        Width::Double => format!("{value:e}"),
    };
    let (mantissa, _) = digits.split_once('e').expect("a float in exponent form has an exponent");
    let count = mantissa.bytes().filter(u8::is_ascii_digit).count();
    // Rounded exactly, ties to even.
    let candidate = |count: usize| without_zeros(&format!("{:.*e}", count - 1, value));
    if is_halfway(value, &digits, width) {
        let longer = (count + 1..=17).map(candidate).find(|longer| !is_halfway(value, longer, width));
        return longer.unwrap_or(digits);
    }
    let even = candidate(count);
    let same = |text: &str| match width {
        Width::Single => text.parse::<f32>() == Ok(value as f32),
        Width::Double => text.parse::<f64>() == Ok(value),
    };
    if even != digits && same(&even) { even } else { digits }
}

fn without_zeros(scientific: &str) -> String {
    match scientific.split_once('e') {
        Some((mantissa, exponent)) if mantissa.contains('.') => {
            format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => scientific.to_owned(),
    }
}

/// Whether digits in exponent form are exactly between a value and its neighbour. Only integers that are larger than the
/// mantissa have such neighbours.
fn is_halfway(value: f64, digits: &str, width: Width) -> bool {
    let mantissa_bits = if width == Width::Single { 24 } else { 53 };
    if value.abs() < 2f64.powi(mantissa_bits) || value.abs() >= 2f64.powi(120) {
        return false;
    }
    let exact = value.abs() as u128;
    let spacing = 1u128 << (128 - exact.leading_zeros() as i32 - mantissa_bits);
    let below = if exact.is_power_of_two() { spacing / 2 } else { spacing };
    let (mantissa, exponent) = digits.split_once('e').expect("a float in exponent form has an exponent");
    let whole: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let Some(zeros) = exponent.parse::<usize>().ok().and_then(|exponent| exponent.checked_sub(whole.len() - 1)) else {
        return false;
    };
    let shown = whole.parse::<u128>().ok().and_then(|whole| whole.checked_mul(10u128.checked_pow(zeros as u32)?));
    shown
        .is_some_and(|shown| shown != exact && 2 * shown.abs_diff(exact) == if shown > exact { spacing } else { below })
}

/// As C's `%.*g` shows it.
pub fn general(out: &mut String, value: f64, digits: i32) {
    if !value.is_finite() {
        out.push_str(if value.is_nan() { "NaN" } else { ["Infinity", "-Infinity"][usize::from(value < 0.0)] });
        return;
    }
    let rounded = format!("{:.*e}", (digits - 1) as usize, value);
    lay_out(out, &without_zeros(&rounded), digits);
}

/// Turns `d.ddde±x` into what `%g` would make of these digits: plain from 10^-4 up to this many digits.
fn lay_out(out: &mut String, scientific: &str, plain_digits: i32) {
    let (mantissa, exponent) = scientific.split_once('e').expect("a float in exponent form has an exponent");
    let exponent: i32 = exponent.parse().expect("its exponent is a number");
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    out.push_str(sign);
    if exponent < -4 || exponent >= plain_digits {
        let _ = write!(out, "{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs());
        return;
    }
    let digits: String = mantissa.chars().filter(|char| *char != '.').collect();
    if exponent < 0 {
        let _ = write!(out, "0.{}{digits}", "0".repeat((-exponent - 1) as usize));
        return;
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        let _ = write!(out, "{digits:0<whole$}");
    } else {
        let _ = write!(out, "{}.{}", &digits[..whole], &digits[whole..]);
    }
}
