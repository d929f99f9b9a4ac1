//! Money, in cents: as PostgreSQL shows it in the locale "C".

use crate::error::{Result, SqlError, SqlState};
use crate::scalar::{invalid_syntax, trim};

/// Reads `$1,234.56`, `-12`, `(1.00)`.
pub fn parse(text: &str) -> Result<i64> {
    let out_of_range = || {
        SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("value \"{text}\" is out of range for type money"))
    };
    let mut rest = trim(text);
    let mut negative = false;
    if let Some(inner) = rest.strip_prefix('(') {
        negative = true;
        rest = trim(inner.strip_suffix(')').ok_or_else(|| invalid_syntax("money", text))?);
    }
    for _ in 0..2 {
        rest = trim(rest.strip_prefix('$').unwrap_or(rest));
        if let Some(after) = rest.strip_prefix('-') {
            negative = true;
            rest = trim(after);
        } else if let Some(after) = rest.strip_prefix('+') {
            rest = trim(after);
        }
    }
    let (whole, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    let whole: String = whole.chars().filter(|char| *char != ',').collect();
    let valid = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if !valid(&whole) || !valid(fraction) {
        return Err(invalid_syntax("money", text));
    }
    let cents: i128 =
        format!("{whole}{:0<2}", fraction.get(..2).unwrap_or(fraction)).parse().map_err(|_| out_of_range())?;
    let up = fraction.as_bytes().get(2).is_some_and(|digit| *digit >= b'5');
    let cents = cents + i128::from(up);
    i64::try_from(if negative { -cents } else { cents }).map_err(|_| out_of_range())
}

/// Shows it.
pub fn show(out: &mut String, cents: i64) {
    if cents < 0 {
        out.push('-');
    }
    out.push('$');
    let whole = (cents.unsigned_abs() / 100).to_string();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out.push_str(&format!(".{:02}", cents.unsigned_abs() % 100));
}
