//! Text forms of the small types: numbers, strings, bytes, identifiers.

pub mod bytea;
pub mod float;
pub mod integer;
pub mod string;
pub mod uuid;

use crate::error::{Result, SqlError, SqlState};

/// `invalid input syntax for type …`
pub fn invalid_syntax(type_name: &str, text: &str) -> SqlError {
    SqlError::new(
        SqlState::INVALID_TEXT_REPRESENTATION,
        format!("invalid input syntax for type {type_name}: \"{text}\""),
    )
}

/// Without the spaces that C's `isspace` knows at both ends.
pub fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c'])
}

/// Reads a boolean: `true`, `yes`, `on`, `1` and their opposites, or what is left of them when the end is cut off.
pub fn parse_bool(text: &str) -> Result<bool> {
    let word = trim(text).to_ascii_lowercase();
    let begins = |whole: &str, least: usize| word.len() >= least && whole.starts_with(&word);
    if begins("true", 1) || begins("yes", 1) || word == "on" || word == "1" {
        return Ok(true);
    }
    if begins("false", 1) || begins("no", 1) || begins("off", 2) || word == "0" {
        return Ok(false);
    }
    Err(invalid_syntax("boolean", text))
}
