//! Length, case, characters, search and replacement.

use crate::error::{Result, SqlError, SqlState};
use crate::functions::args::{Args, invalid_parameter};
use crate::functions::define::f;
use crate::functions::text::{LONG, fits};
use crate::functions::{Env, Function, Site};
use crate::types::{Datum, Type as T};

/// The operators.
pub(in crate::functions) static OPERATORS: &[Function] =
    &[f("||", &[T::TEXT, T::TEXT], T::TEXT, concatenate), f("^@", &[T::TEXT, T::TEXT], T::BOOL, starts_with)];

/// The functions.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    f("lower", &[T::TEXT], T::TEXT, lower),
    f("upper", &[T::TEXT], T::TEXT, upper),
    f("initcap", &[T::TEXT], T::TEXT, capitalize),
    f("length", &[T::TEXT], T::INT4, length),
    f("length", &[T::BPCHAR], T::INT4, length_unpadded),
    f("char_length", &[T::TEXT], T::INT4, length),
    f("char_length", &[T::BPCHAR], T::INT4, length_unpadded),
    f("character_length", &[T::TEXT], T::INT4, length),
    f("character_length", &[T::BPCHAR], T::INT4, length_unpadded),
    f("octet_length", &[T::TEXT], T::INT4, octet_length),
    f("octet_length", &[T::BPCHAR], T::INT4, octet_length),
    f("bit_length", &[T::TEXT], T::INT4, bit_length),
    f("ascii", &[T::TEXT], T::INT4, ascii),
    f("chr", &[T::INT4], T::TEXT, chr),
    f("reverse", &[T::TEXT], T::TEXT, reverse),
    f("repeat", &[T::TEXT, T::INT4], T::TEXT, repeat),
    f("replace", &[T::TEXT, T::TEXT, T::TEXT], T::TEXT, replace),
    f("translate", &[T::TEXT, T::TEXT, T::TEXT], T::TEXT, translate),
    f("strpos", &[T::TEXT, T::TEXT], T::INT4, position),
    f("position", &[T::TEXT, T::TEXT], T::INT4, position),
    f("starts_with", &[T::TEXT, T::TEXT], T::BOOL, starts_with),
    f("to_hex", &[T::INT4], T::TEXT, to_hex_int4),
    f("to_hex", &[T::INT8], T::TEXT, to_hex_int8),
];

fn concatenate(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text([args.text(0)?, args.text(1)?].concat()))
}

/// Case changes character by character, as the C library does: no character becomes two.
fn simple(mut mapped: impl Iterator<Item = char>, original: char) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(only), None) => only,
        _ => original,
    }
}

pub(in crate::functions) fn to_lower(c: char) -> char {
    simple(c.to_lowercase(), c)
}

pub(in crate::functions) fn to_upper(c: char) -> char {
    simple(c.to_uppercase(), c)
}

fn lower(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text(args.text(0)?.chars().map(to_lower).collect::<String>()))
}

fn upper(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text(args.text(0)?.chars().map(to_upper).collect::<String>()))
}

fn capitalize(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text(capitalized(args.text(0)?)))
}

/// The first letter of each word in upper case, the others in lower case.
pub(in crate::functions) fn capitalized(text: &str) -> String {
    let mut in_word = false;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        out.push(if in_word { to_lower(c) } else { to_upper(c) });
        in_word = c.is_alphanumeric();
    }
    out
}

fn length(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(args.text(0)?.chars().count() as i64))
}

fn length_unpadded(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(args.text(0)?.trim_end_matches(' ').chars().count() as i64))
}

fn octet_length(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(args.text(0)?.len() as i64))
}

fn bit_length(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(args.text(0)?.len() as i64 * 8))
}

fn ascii(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(args.text(0)?.chars().next().map_or(0, |c| i64::from(u32::from(c)))))
}

fn chr(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let refused = |message: String| Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
    match args.int(0)? {
        0 => refused("null character not permitted".to_owned()),
        code if code < 0 => Err(invalid_parameter("character number must be positive")),
        code if code > 0x10_ffff => refused(format!("requested character too large for encoding: {code}")),
        code => match char::from_u32(code as u32) {
            Some(c) => Ok(Datum::text(c.to_string())),
            None => refused(format!("requested character not valid for encoding: {code}")),
        },
    }
}

fn reverse(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text(args.text(0)?.chars().rev().collect::<String>()))
}

fn repeat(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (text, times) = (args.text(0)?, usize::try_from(args.int(1)?).unwrap_or(0));
    let length = text.len().saturating_mul(times);
    fits(length)?;
    if length > LONG {
        env.let_others_go_on();
    }
    Ok(Datum::text(text.repeat(times)))
}

fn replace(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (text, from, to) = (args.text(0)?, args.text(1)?, args.text(2)?);
    if from.is_empty() {
        return Ok(args[0].clone());
    }
    if to.len() > from.len() {
        fits(text.len().saturating_add(text.matches(from).count().saturating_mul(to.len())))?;
    }
    Ok(Datum::text(text.replace(from, to)))
}

/// Characters of the second text become those at the same place in the third, or go.
fn translate(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (from, to): (Vec<char>, Vec<char>) = (args.text(1)?.chars().collect(), args.text(2)?.chars().collect());
    let mapped = args.text(0)?.chars().filter_map(|c| match from.iter().position(|known| *known == c) {
        None => Some(c),
        Some(place) => to.get(place).copied(),
    });
    Ok(Datum::text(mapped.collect::<String>()))
}

fn position(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (text, wanted) = (args.text(0)?, args.text(1)?);
    Ok(Datum::Int(text.find(wanted).map_or(0, |at| text[..at].chars().count() as i64 + 1)))
}

fn starts_with(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(args.text(0)?.starts_with(args.text(1)?)))
}

fn to_hex_int4(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text(format!("{:x}", args.int(0)? as i32)))
}

fn to_hex_int8(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text(format!("{:x}", args.int(0)?)))
}
