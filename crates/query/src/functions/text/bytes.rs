//! Bytes: encodings, single bytes and bits, hashes.

use md5::Md5;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

use crate::error::{Result, SqlError, SqlState};
use crate::functions::args::{Args, invalid_parameter};
use crate::functions::define::f;
use crate::functions::{Env, Function, Site};
use crate::types::{Datum, Type as T, binary};

/// The operators.
pub(in crate::functions) static OPERATORS: &[Function] = &[f("||", &[T::BYTEA, T::BYTEA], T::BYTEA, concatenate)];

/// The functions.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    f("length", &[T::BYTEA], T::INT4, length),
    f("length", &[T::BYTEA, T::NAME], T::INT4, length_in).stable(),
    f("octet_length", &[T::BYTEA], T::INT4, length),
    f("bit_length", &[T::BYTEA], T::INT4, bit_length),
    f("position", &[T::BYTEA, T::BYTEA], T::INT4, position),
    f("encode", &[T::BYTEA, T::TEXT], T::TEXT, encode),
    f("decode", &[T::TEXT, T::TEXT], T::BYTEA, decode),
    f("convert_from", &[T::BYTEA, T::NAME], T::TEXT, convert_from).stable(),
    f("convert_to", &[T::TEXT, T::NAME], T::BYTEA, convert_to).stable(),
    f("get_byte", &[T::BYTEA, T::INT4], T::INT4, get_byte),
    f("set_byte", &[T::BYTEA, T::INT4, T::INT4], T::BYTEA, set_byte),
    f("get_bit", &[T::BYTEA, T::INT8], T::INT4, get_bit),
    f("set_bit", &[T::BYTEA, T::INT8, T::INT4], T::BYTEA, set_bit),
    f("bit_count", &[T::BYTEA], T::INT8, bit_count),
    f("md5", &[T::TEXT], T::TEXT, md5_text),
    f("md5", &[T::BYTEA], T::TEXT, md5_bytes),
    f("sha224", &[T::BYTEA], T::BYTEA, sha224),
    f("sha256", &[T::BYTEA], T::BYTEA, sha256),
    f("sha384", &[T::BYTEA], T::BYTEA, sha384),
    f("sha512", &[T::BYTEA], T::BYTEA, sha512),
];

fn concatenate(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bytes([args.bytes(0)?, args.bytes(1)?].concat().into()))
}

fn length(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(args.bytes(0)?.len() as i64))
}

fn length_in(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(text_from(args)?.chars().count() as i64))
}

fn bit_length(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(args.bytes(0)?.len() as i64 * 8))
}

fn position(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (bytes, wanted) = (args.bytes(0)?, args.bytes(1)?);
    if wanted.is_empty() {
        return Ok(Datum::Int(1));
    }
    Ok(Datum::Int(bytes.windows(wanted.len()).position(|part| part == wanted).map_or(0, |at| at as i64 + 1)))
}

fn encode(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let bytes = args.bytes(0)?;
    Ok(Datum::text(match args.text(1)?.to_ascii_lowercase().as_str() {
        "hex" => hex(bytes),
        "base64" => base64(bytes),
        "escape" => escape(bytes),
        other => return Err(unknown_encoding(other)),
    }))
}

fn decode(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let text = args.text(0)?;
    Ok(Datum::Bytes(match args.text(1)?.to_ascii_lowercase().as_str() {
        "hex" => unhex(text)?.into(),
        "base64" => unbase64(text)?.into(),
        "escape" => unescape(text)?.into(),
        other => return Err(unknown_encoding(other)),
    }))
}

fn unknown_encoding(name: &str) -> SqlError {
    invalid_parameter(format!("unrecognized encoding: \"{name}\""))
}

/// Lower-case hexadecimal digits.
pub(in crate::functions) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Result<Vec<u8>> {
    let digits = text.chars().filter(|c| !matches!(c, ' ' | '\n' | '\t' | '\r'));
    let digits = digits
        .map(|c| c.to_digit(16).ok_or_else(|| invalid_parameter(format!("invalid hexadecimal digit: \"{c}\""))))
        .collect::<Result<Vec<u32>>>()?;
    if digits.len() % 2 == 1 {
        return Err(invalid_parameter("invalid hexadecimal data: odd number of digits"));
    }
    Ok(digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect())
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Lines of 76 characters, as MIME has them.
fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 4 / 3 + 4);
    for (at, group) in bytes.chunks(3).enumerate() {
        if at > 0 && at % 19 == 0 {
            out.push('\n');
        }
        let bits = group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let digit = BASE64[(bits >> (18 - 6 * place)) as usize & 63];
            out.push(if place <= group.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

fn unbase64(text: &str) -> Result<Vec<u8>> {
    let (mut out, mut bits, mut count, mut padding) = (Vec::new(), 0u32, 0, 0);
    for c in text.chars().filter(|c| !matches!(c, ' ' | '\n' | '\t' | '\r')) {
        let digit = match BASE64.iter().position(|known| char::from(*known) == c) {
            Some(digit) => digit as u32,
            None if c == '=' && (padding > 0 || count == 2 || count == 3) => {
                padding = if padding == 0 { 4 - count } else { padding };
                0
            }
            None if c == '=' => return Err(invalid_parameter("unexpected \"=\" while decoding base64 sequence")),
            None => {
                return Err(invalid_parameter(format!("invalid symbol \"{c}\" found while decoding base64 sequence")));
            }
        };
        bits = bits << 6 | digit;
        count += 1;
        if count == 4 {
            let group = bits.to_be_bytes();
            out.extend_from_slice(&group[1..4 - padding]);
            (bits, count) = (0, 0);
        }
    }
    if count != 0 {
        return Err(invalid_parameter("invalid base64 end sequence")
            .hint("Input data is missing padding, is truncated, or is otherwise corrupted."));
    }
    Ok(out)
}

fn escape(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            0 | 128.. => out.push_str(&format!("\\{byte:03o}")),
            b'\\' => out.push_str("\\\\"),
            _ => out.push(char::from(*byte)),
        }
    }
    out
}

fn unescape(text: &str) -> Result<Vec<u8>> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match &bytes[at..] {
            [b'\\', b'\\', ..] => {
                out.push(b'\\');
                at += 2;
            }
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] => {
                out.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                at += 4;
            }
            [b'\\', ..] => {
                return Err(SqlError::new(
                    SqlState::INVALID_TEXT_REPRESENTATION,
                    "invalid input syntax for type bytea",
                ));
            }
            [byte, ..] => {
                out.push(*byte);
                at += 1;
            }
            [] => break,
        }
    }
    Ok(out)
}

/// The encodings that texts are converted between: UTF-8, and those that are a part of it or of Unicode's first page.
#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    Utf8,
    Ascii,
    Latin1,
}

fn encoding(name: &str) -> Result<Encoding> {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    match plain.as_str() {
        "utf8" | "unicode" => Ok(Encoding::Utf8),
        "sqlascii" => Ok(Encoding::Ascii),
        "latin1" | "iso88591" => Ok(Encoding::Latin1),
        "" => Err(invalid_parameter(format!("invalid source encoding name \"{name}\""))),
        _ => Err(SqlError::unsupported(format!("the encoding {name}"))),
    }
}

fn text_from(args: &[Datum]) -> Result<String> {
    let bytes = args.bytes(0)?;
    if encoding(args.text(1)?)? == Encoding::Latin1 {
        return Ok(bytes.iter().map(|byte| char::from(*byte)).collect());
    }
    binary::utf8(bytes).map(str::to_owned)
}

fn convert_from(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    text_from(args).map(Datum::text)
}

fn convert_to(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let text = args.text(0)?;
    if encoding(args.text(1)?)? != Encoding::Latin1 {
        return Ok(Datum::Bytes(text.as_bytes().into()));
    }
    let bytes = text.chars().map(|c| {
        u8::try_from(u32::from(c)).map_err(|_| {
            let shown: Vec<String> = c.to_string().bytes().map(|byte| format!("0x{byte:02x}")).collect();
            let message = format!(
                "character with byte sequence {} in encoding \"UTF8\" has no equivalent in encoding \"LATIN1\"",
                shown.join(" ")
            );
            SqlError::new(SqlState::UNTRANSLATABLE_CHARACTER, message)
        })
    });
    Ok(Datum::Bytes(bytes.collect::<Result<Vec<u8>>>()?.into()))
}

/// The place of a byte or bit, if there is one.
fn within(index: i64, count: usize) -> Result<usize> {
    usize::try_from(index).ok().filter(|index| *index < count).ok_or_else(|| {
        let message = format!("index {index} out of valid range, 0..{}", count as i64 - 1);
        SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message)
    })
}

fn get_byte(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let bytes = args.bytes(0)?;
    Ok(Datum::Int(bytes[within(args.int(1)?, bytes.len())?].into()))
}

fn set_byte(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let mut bytes = args.bytes(0)?.to_vec();
    let at = within(args.int(1)?, bytes.len())?;
    bytes[at] = args.int(2)? as u8;
    Ok(Datum::Bytes(bytes.into()))
}

fn get_bit(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let bytes = args.bytes(0)?;
    let at = within(args.int(1)?, bytes.len() * 8)?;
    Ok(Datum::Int(i64::from(bytes[at / 8] >> (at % 8) & 1)))
}

fn set_bit(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let mut bytes = args.bytes(0)?.to_vec();
    let at = within(args.int(1)?, bytes.len() * 8)?;
    match args.int(2)? {
        0 => bytes[at / 8] &= !(1 << (at % 8)),
        1 => bytes[at / 8] |= 1 << (at % 8),
        _ => return Err(invalid_parameter("new bit must be 0 or 1")),
    }
    Ok(Datum::Bytes(bytes.into()))
}

fn bit_count(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(args.bytes(0)?.iter().map(|byte| i64::from(byte.count_ones())).sum()))
}

fn md5_text(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text(hex(&Md5::digest(args.text(0)?))))
}

fn md5_bytes(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text(hex(&Md5::digest(args.bytes(0)?))))
}

fn sha224(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bytes(Sha224::digest(args.bytes(0)?).as_slice().into()))
}

fn sha256(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bytes(Sha256::digest(args.bytes(0)?).as_slice().into()))
}

fn sha384(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bytes(Sha384::digest(args.bytes(0)?).as_slice().into()))
}

fn sha512(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bytes(Sha512::digest(args.bytes(0)?).as_slice().into()))
}
