//! LIKE: `%` is any text, `_` any character.

use crate::budget;
use crate::error::{Result, SqlError, SqlState};
use crate::functions::args::Args;
use crate::functions::define::f;
use crate::functions::text::basic::to_lower;
use crate::functions::{Env, Function, Site};
use crate::types::{Datum, Type as T};

/// The operators that LIKE and ILIKE stand for.
pub(in crate::functions) static OPERATORS: &[Function] = &[
    f("~~", &[T::NAME, T::TEXT], T::BOOL, like),
    f("~~", &[T::TEXT, T::TEXT], T::BOOL, like),
    f("~~", &[T::BPCHAR, T::TEXT], T::BOOL, like),
    f("~~", &[T::BYTEA, T::BYTEA], T::BOOL, like_bytes),
    f("!~~", &[T::NAME, T::TEXT], T::BOOL, not_like),
    f("!~~", &[T::TEXT, T::TEXT], T::BOOL, not_like),
    f("!~~", &[T::BPCHAR, T::TEXT], T::BOOL, not_like),
    f("!~~", &[T::BYTEA, T::BYTEA], T::BOOL, not_like_bytes),
    f("~~*", &[T::NAME, T::TEXT], T::BOOL, ilike),
    f("~~*", &[T::TEXT, T::TEXT], T::BOOL, ilike),
    f("~~*", &[T::BPCHAR, T::TEXT], T::BOOL, ilike),
    f("!~~*", &[T::NAME, T::TEXT], T::BOOL, not_ilike),
    f("!~~*", &[T::TEXT, T::TEXT], T::BOOL, not_ilike),
    f("!~~*", &[T::BPCHAR, T::TEXT], T::BOOL, not_ilike),
];

/// The functions; `like_escape` turns a pattern with another escape character into one with a backslash.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    f("like", &[T::NAME, T::TEXT], T::BOOL, like),
    f("like", &[T::TEXT, T::TEXT], T::BOOL, like),
    f("like", &[T::BYTEA, T::BYTEA], T::BOOL, like_bytes),
    f("notlike", &[T::NAME, T::TEXT], T::BOOL, not_like),
    f("notlike", &[T::TEXT, T::TEXT], T::BOOL, not_like),
    f("notlike", &[T::BYTEA, T::BYTEA], T::BOOL, not_like_bytes),
    f("like_escape", &[T::TEXT, T::TEXT], T::TEXT, like_escape),
];

/// One element of a pattern.
enum Part {
    Any,
    One,
    Exactly(u8),
    /// An escape character at the end, which must not be reached.
    Nothing,
}

/// Patterns are read byte by byte: no byte of a longer character looks like a short one.
fn parts(pattern: &[u8]) -> Vec<Part> {
    let mut parts = Vec::with_capacity(pattern.len());
    let mut bytes = pattern.iter();
    while let Some(byte) = bytes.next() {
        parts.push(match byte {
            b'\\' => bytes.next().map_or(Part::Nothing, |literal| Part::Exactly(*literal)),
            b'%' => Part::Any,
            b'_' => Part::One,
            other => Part::Exactly(*other),
        });
    }
    parts
}

/// How many bytes the character at this place has; a byte by itself in bytea.
type Width = fn(u8) -> usize;

fn utf8_width(first: u8) -> usize {
    match first {
        0..=0xbf => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    }
}

/// Goes on after the last `%` when the rest does not fit: linear in practice, never exponential.
fn fits(text: &[u8], parts: &[Part], width: Width) -> Result<bool> {
    let (mut at, mut part) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let taken = match parts.get(part) {
            Some(Part::Any) => {
                retry = Some((at, part + 1));
                part += 1;
                continue;
            }
            Some(Part::One) => text.get(at).map(|first| width(*first)),
            Some(Part::Exactly(byte)) => (text.get(at) == Some(byte)).then_some(1),
            Some(Part::Nothing) if at < text.len() => {
                let message = "LIKE pattern must not end with escape character";
                return Err(SqlError::new(SqlState::INVALID_ESCAPE_SEQUENCE, message));
            }
            Some(Part::Nothing) => None,
            None if at == text.len() => return Ok(true),
            None => None,
        };
        if let Some(taken) = taken {
            at += taken;
            part += 1;
            continue;
        }
        match retry {
            Some((from, after)) if from < text.len() => {
                budget::step(1 + at - from)?;
                let next = from + width(text[from]);
                retry = Some((next, after));
                (at, part) = (next, after);
            }
            _ => return Ok(false),
        }
    }
}

fn matches(args: &[Datum]) -> Result<bool> {
    fits(args.text(0)?.as_bytes(), &parts(args.text(1)?.as_bytes()), utf8_width)
}

fn matches_any_case(args: &[Datum]) -> Result<bool> {
    let lower = |text: &str| text.chars().map(to_lower).collect::<String>();
    fits(lower(args.text(0)?).as_bytes(), &parts(lower(args.text(1)?).as_bytes()), utf8_width)
}

fn matches_bytes(args: &[Datum]) -> Result<bool> {
    fits(args.bytes(0)?, &parts(args.bytes(1)?), |_| 1)
}

fn like(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    matches(args).map(Datum::Bool)
}

fn not_like(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    matches(args).map(|found| Datum::Bool(!found))
}

fn ilike(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    matches_any_case(args).map(Datum::Bool)
}

fn not_ilike(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    matches_any_case(args).map(|found| Datum::Bool(!found))
}

fn like_bytes(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    matches_bytes(args).map(Datum::Bool)
}

fn not_like_bytes(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    matches_bytes(args).map(|found| Datum::Bool(!found))
}

fn like_escape(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let pattern = args.text(0)?;
    let Some(escape) = escape_character(args.text(1)?)? else {
        return Ok(Datum::text(pattern.replace('\\', "\\\\")));
    };
    if escape == '\\' {
        return Ok(args[0].clone());
    }
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c == escape => {
                out.push('\\');
                out.extend(chars.next());
            }
            '\\' => out.push_str("\\\\"),
            c => out.push(c),
        }
    }
    Ok(Datum::text(out))
}

/// The escape character; none if the text is empty.
pub(super) fn escape_character(text: &str) -> Result<Option<char>> {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (first, None) => Ok(first),
        _ => Err(SqlError::new(SqlState::INVALID_ESCAPE_SEQUENCE, "invalid escape string")
            .hint("Escape string must be empty or one character.")),
    }
}
