//! UUIDs as text.

use super::invalid_syntax;
use crate::error::Result;

/// Reads a UUID: hex digits, with a hyphen after any group of four, in braces or not.
pub fn parse(text: &str) -> Result<u128> {
    read(text).ok_or_else(|| invalid_syntax("uuid", text))
}

fn read(text: &str) -> Option<u128> {
    let inner = match text.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}')?,
        None => text,
    };
    let mut value = 0u128;
    let mut digits = 0;
    let mut hyphen_allowed = false;
    for char in inner.chars() {
        if char == '-' && hyphen_allowed && digits < 32 {
            hyphen_allowed = false;
            continue;
        }
        if digits == 32 {
            return None;
        }
        value = value << 4 | u128::from(char.to_digit(16)?);
        digits += 1;
        hyphen_allowed = digits % 4 == 0;
    }
    // A hyphen at the very end stands after a whole group, but there is nothing to separate.
    (digits == 32 && !inner.ends_with('-')).then_some(value)
}

/// Shows a UUID: groups of 8, 4, 4, 4 and 12 hex digits.
pub fn show(out: &mut String, value: u128) {
    let mut digits = String::with_capacity(32);
    super::bytea::hex_digits(&mut digits, &value.to_be_bytes());
    for (at, range) in [0..8, 8..12, 12..16, 16..20, 20..32].into_iter().enumerate() {
        if at > 0 {
            out.push('-');
        }
        out.push_str(&digits[range]);
    }
}
