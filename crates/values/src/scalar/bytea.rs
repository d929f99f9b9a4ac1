//! Byte strings as text: hex (`\x0aff`) and escape (`\012\377`).

use crate::error::{Result, SqlError, SqlState};

/// Reads a bytea in either form.
pub fn parse(text: &str) -> Result<Vec<u8>> {
    match text.strip_prefix("\\x") {
        Some(hex) => parse_hex(hex),
        None => parse_escaped(text),
    }
}

/// Reads pairs of hex digits, with spaces between pairs.
pub fn parse_hex(text: &str) -> Result<Vec<u8>> {
    let invalid = |message: String| SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message);
    let digit = |char: char| char.to_digit(16).ok_or_else(|| invalid(format!("invalid hexadecimal digit: \"{char}\"")));
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut chars = text.chars();
    while let Some(high) = chars.next() {
        if matches!(high, ' ' | '\n' | '\t' | '\r') {
            continue;
        }
        let high = digit(high)?;
        let low = chars.next().ok_or_else(|| invalid("invalid hexadecimal data: odd number of digits".to_owned()))?;
        bytes.push((high * 16 + digit(low)?) as u8);
    }
    Ok(bytes)
}

/// Reads text in which `\\` is a backslash and `\ooo` a byte.
pub fn parse_escaped(text: &str) -> Result<Vec<u8>> {
    let invalid = || SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, "invalid input syntax for type bytea");
    let source = text.as_bytes();
    let mut bytes = Vec::with_capacity(source.len());
    let mut at = 0;
    while let Some(&byte) = source.get(at) {
        at += 1;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match source[at..] {
            [b'\\', ..] => {
                bytes.push(b'\\');
                at += 1;
            }
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] => {
                bytes.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                at += 3;
            }
            _ => return Err(invalid()),
        }
    }
    Ok(bytes)
}

/// Shows a bytea as hex, with `\x` before it.
pub fn show_hex(out: &mut String, bytes: &[u8]) {
    out.push_str("\\x");
    hex_digits(out, bytes);
}

/// Adds two hex digits a byte.
pub fn hex_digits(out: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.reserve(bytes.len() * 2);
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)] as char);
        out.push(DIGITS[usize::from(byte & 15)] as char);
    }
}

/// Shows a bytea with escapes for what is not printable ASCII.
pub fn show_escaped(out: &mut String, bytes: &[u8]) {
    for &byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b' '..=b'~' => out.push(byte as char),
            _ => out.extend(['\\', octal(byte >> 6), octal(byte >> 3 & 7), octal(byte & 7)]),
        }
    }
}

fn octal(digit: u8) -> char {
    (b'0' + digit) as char
}
