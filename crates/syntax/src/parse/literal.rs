//! What literals and names say: quotes doubled, escapes resolved, words folded.

use crate::error::{Result, SqlError, SqlState};
use crate::parse::token::{Kind, Token};

/// PostgreSQL's NAMEDATALEN - 1.
pub const LONGEST_NAME: usize = 63;

/// The name that a word or a quoted name is: folded, and cut to what a name may be long.
pub fn name(text: &str, token: Token) -> Result<String> {
    let raw = &text[token.start as usize..token.end as usize];
    let mut name = match token.kind {
        Kind::Quoted => raw[1..raw.len() - 1].replace("\"\"", "\""),
        Kind::UnicodeQuoted => unicode(&raw[3..raw.len() - 1].replace("\"\"", "\""), '\\')
            .map_err(|error| error.at(token.position as usize))?,
        _ => raw.to_ascii_lowercase(),
    };
    truncate(&mut name);
    Ok(name)
}

/// Cuts a name to what PostgreSQL keeps of it.
pub fn truncate(name: &mut String) {
    if name.len() > LONGEST_NAME {
        let mut end = LONGEST_NAME;
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        name.truncate(end);
    }
}

/// The text that a string literal stands for; of a bit string its digits.
pub fn string(text: &str, token: Token) -> Result<String> {
    let raw = &text[token.start as usize..token.end as usize];
    let at = |error: SqlError| error.at(token.position as usize);
    match token.kind {
        Kind::DollarString => {
            let tag = raw[1..].find('$').expect("a dollar-quoted string begins with its tag") + 2;
            Ok(raw[tag..raw.len() - tag].to_owned())
        }
        Kind::EscapeString => unescape(&segments(&raw[1..], true)).map_err(at),
        Kind::UnicodeString => unicode(&segments(&raw[2..], false).replace("''", "'"), '\\').map_err(at),
        Kind::BitString | Kind::HexString => Ok(segments(&raw[1..], false).into_owned()),
        _ => {
            let raw = raw.trim_start_matches(['n', 'N']);
            let inner = segments(raw, false);
            Ok(if inner.contains('\'') { inner.replace("''", "'") } else { inner.into_owned() })
        }
    }
}

/// What is between the quotes, of all the parts of a literal that goes on over lines. Doubled quotes stay doubled.
fn segments(raw: &str, escapes: bool) -> std::borrow::Cow<'_, str> {
    let bytes = raw.as_bytes();
    let mut joined: Option<String> = None;
    let mut from = 1;
    let mut at = 1;
    loop {
        match bytes[at] {
            b'\\' if escapes => at += 2,
            b'\'' if bytes.get(at + 1) == Some(&b'\'') => at += 2,
            b'\'' => {
                let part = &raw[from..at];
                // A comment between two parts may hold quotes itself.
                let Some(next) = next_part(&raw[at + 1..]) else {
                    return match joined {
                        None => part.into(),
                        Some(mut joined) => {
                            joined.push_str(part);
                            joined.into()
                        }
                    };
                };
                joined.get_or_insert_default().push_str(part);
                at += 1 + next;
                from = at;
            }
            _ => at += 1,
        }
    }
}

/// Where the next part of a literal begins, after its quote.
fn next_part(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\'' => return Some(at + 1),
            b'-' => {
                while at < bytes.len() && !matches!(bytes[at], b'\n' | b'\r') {
                    at += 1;
                }
            }
            _ => at += 1,
        }
    }
    None
}

/// Resolves the backslashes of an E'' literal.
fn unescape(text: &str) -> Result<String> {
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        at += 1;
        if byte == b'\'' {
            // Doubled.
            at += 1;
            out.push(b'\'');
            continue;
        }
        if byte != b'\\' || at == bytes.len() {
            out.push(byte);
            continue;
        }
        let escape = bytes[at];
        at += 1;
        match escape {
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'v' => out.push(11),
            b'0'..=b'7' => {
                let (value, length) = digits(&bytes[at - 1..], 8, 3);
                at += length - 1;
                out.push(value as u8);
            }
            b'x' if bytes.get(at).is_some_and(u8::is_ascii_hexdigit) => {
                let (value, length) = digits(&bytes[at..], 16, 2);
                at += length;
                out.push(value as u8);
            }
            b'u' | b'U' => {
                let wanted = if escape == b'u' { 4 } else { 8 };
                let (value, length) = digits(&bytes[at..], 16, wanted);
                if length < wanted {
                    return Err(SqlError::new(INVALID_ESCAPE, "invalid Unicode escape")
                        .hint("Unicode escapes must be \\uXXXX or \\UXXXXXXXX."));
                }
                at += length;
                let value = match (value, bytes.get(at..at + 2)) {
                    (0xd800..=0xdbff, Some(b"\\u")) => {
                        let (low, length) = digits(&bytes[at + 2..], 16, 4);
                        at += 2 + length;
                        surrogates(value, low)?
                    }
                    _ => value,
                };
                push_character(&mut out, value)?;
            }
            other => out.push(other),
        }
    }
    finish(out)
}

/// Resolves the escapes of a U&'' literal.
pub fn unicode(text: &str, escape: char) -> Result<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(escape) {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at + escape.len_utf8()..];
        if rest.starts_with(escape) {
            out.extend_from_slice(escape.to_string().as_bytes());
            rest = &rest[escape.len_utf8()..];
            continue;
        }
        let (mut value, length) = code_point(rest)?;
        rest = &rest[length..];
        if (0xd800..=0xdbff).contains(&value) && rest.starts_with(escape) {
            let (low, length) = code_point(&rest[escape.len_utf8()..])?;
            value = surrogates(value, low)?;
            rest = &rest[escape.len_utf8() + length..];
        }
        push_character(&mut out, value)?;
    }
    out.extend_from_slice(rest.as_bytes());
    finish(out)
}

fn code_point(text: &str) -> Result<(u32, usize)> {
    let (skip, wanted) = if text.starts_with('+') { (1, 6) } else { (0, 4) };
    let (value, length) = digits(&text.as_bytes()[skip..], 16, wanted);
    if length < wanted {
        return Err(SqlError::syntax("invalid Unicode escape").hint("Unicode escapes must be \\XXXX or \\+XXXXXX."));
    }
    Ok((value, skip + length))
}

const INVALID_ESCAPE: SqlState = SqlState::INVALID_ESCAPE_SEQUENCE;

fn surrogates(high: u32, low: u32) -> Result<u32> {
    if !(0xdc00..=0xdfff).contains(&low) {
        return Err(SqlError::syntax("invalid Unicode surrogate pair"));
    }
    Ok(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
}

fn push_character(out: &mut Vec<u8>, value: u32) -> Result<()> {
    match char::from_u32(value) {
        Some(character) if value != 0 => {
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            Ok(())
        }
        _ if (0xd800..=0xdfff).contains(&value) => Err(SqlError::syntax("invalid Unicode surrogate pair")),
        _ => Err(SqlError::syntax("invalid Unicode escape value")),
    }
}

fn digits(bytes: &[u8], radix: u32, most: usize) -> (u32, usize) {
    let mut value = 0u32;
    let mut length = 0;
    while length < most {
        let Some(digit) = bytes.get(length).and_then(|&byte| (byte as char).to_digit(radix)) else { break };
        value = value * radix + digit;
        length += 1;
    }
    (value, length)
}

fn finish(out: Vec<u8>) -> Result<String> {
    let invalid = |bytes: &[u8]| {
        let shown: Vec<String> = bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
        SqlError::new(
            SqlState::CHARACTER_NOT_IN_REPERTOIRE,
            format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" ")),
        )
    };
    if out.contains(&0) {
        return Err(invalid(&[0]));
    }
    String::from_utf8(out).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let length = error.utf8_error().error_len().unwrap_or(1);
        invalid(&error.as_bytes()[at..at + length])
    })
}
