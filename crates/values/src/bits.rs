//! Bit strings, kept as texts of `0` and `1`.

use crate::error::{Result, SqlError, SqlState};

/// Reads a bit(n): exactly n bits.
pub fn parse_bit(text: &str, modifier: i32) -> Result<String> {
    fit_bit(parse(text)?, modifier, false)
}

/// Reads a bit varying(n): at most n bits.
pub fn parse_varbit(text: &str, modifier: i32) -> Result<String> {
    fit_varbit(parse(text)?, modifier, false)
}

/// Bits, or hex digits after an `x`.
fn parse(text: &str) -> Result<String> {
    let invalid = |char: char, what: &str| {
        SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, format!("\"{char}\" is not a valid {what} digit"))
    };
    if let Some(hex) = text.strip_prefix(['x', 'X']) {
        let digit = |char: char| match char.to_digit(16) {
            Some(digit) => Ok(format!("{digit:04b}")),
            None => Err(invalid(char, "hexadecimal")),
        };
        return hex.chars().map(digit).collect();
    }
    let digits = text.strip_prefix(['b', 'B']).unwrap_or(text);
    match digits.chars().find(|char| !matches!(char, '0' | '1')) {
        Some(char) => Err(invalid(char, "binary")),
        None => Ok(digits.to_owned()),
    }
}

/// Bits as a bit(n) takes them: an explicit cast cuts off or fills up with zeros, anything else is exact.
pub fn fit_bit(mut bits: String, modifier: i32, explicit: bool) -> Result<String> {
    let Ok(length) = usize::try_from(modifier) else { return Ok(bits) };
    if length == 0 || bits.len() == length {
        return Ok(bits);
    }
    if !explicit {
        return Err(SqlError::with_code(
            "22026",
            format!("bit string length {} does not match type bit({length})", bits.len()),
        ));
    }
    bits.truncate(length);
    Ok(bits.chars().chain(std::iter::repeat('0')).take(length.max(bits.len())).collect())
}

/// Bits as a bit varying(n) takes them.
pub fn fit_varbit(mut bits: String, modifier: i32, explicit: bool) -> Result<String> {
    match usize::try_from(modifier) {
        Ok(length) if length > 0 && bits.len() > length => {
            if !explicit {
                return Err(SqlError::new(
                    SqlState::STRING_DATA_RIGHT_TRUNCATION,
                    format!("bit string too long for type bit varying({length})"),
                ));
            }
            bits.truncate(length);
            Ok(bits)
        }
        _ => Ok(bits),
    }
}
