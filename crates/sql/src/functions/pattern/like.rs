//! LIKE: `%` is any text, `_` any character.

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
enum Part<C> {
    Any,
    One,
    Exactly(C),
    /// An escape character at the end, which must not be reached.
    Nothing,
}

fn parts<C: Copy + PartialEq>(pattern: impl Iterator<Item = C>, [any, one, escape]: [C; 3]) -> Vec<Part<C>> {
    let mut parts = Vec::new();
    let mut pattern = pattern;
    while let Some(c) = pattern.next() {
        parts.push(if c == escape {
            pattern.next().map_or(Part::Nothing, Part::Exactly)
        } else if c == any {
            Part::Any
        } else if c == one {
            Part::One
        } else {
            Part::Exactly(c)
        });
    }
    parts
}

/// Goes on after the last `%` when the rest does not fit: linear in practice, never exponential.
fn fits<C: PartialEq>(text: &[C], parts: &[Part<C>]) -> Result<bool> {
    let (mut at, mut part) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let fit = match parts.get(part) {
            Some(Part::Any) => {
                retry = Some((at, part + 1));
                part += 1;
                continue;
            }
            Some(Part::One) => at < text.len(),
            Some(Part::Exactly(c)) => text.get(at) == Some(c),
            Some(Part::Nothing) if at < text.len() => {
                let message = "LIKE pattern must not end with escape character";
                return Err(SqlError::new(SqlState::INVALID_ESCAPE_SEQUENCE, message));
            }
            Some(Part::Nothing) => false,
            None if at == text.len() => return Ok(true),
            None => false,
        };
        if fit {
            at += 1;
            part += 1;
            continue;
        }
        match retry {
            Some((from, after)) if from < text.len() => {
                retry = Some((from + 1, after));
                (at, part) = (from + 1, after);
            }
            _ => return Ok(false),
        }
    }
}

fn matches(args: &[Datum], fold: fn(char) -> char) -> Result<bool> {
    let parts = parts(args.text(1)?.chars().map(fold), ['%', '_', '\\']);
    let text: Vec<char> = args.text(0)?.chars().map(fold).collect();
    fits(&text, &parts)
}

fn matches_bytes(args: &[Datum]) -> Result<bool> {
    fits(args.bytes(0)?, &parts(args.bytes(1)?.iter().copied(), [b'%', b'_', b'\\']))
}

fn like(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    matches(args, |c| c).map(Datum::Bool)
}

fn not_like(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    matches(args, |c| c).map(|found| Datum::Bool(!found))
}

fn ilike(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    matches(args, to_lower).map(Datum::Bool)
}

fn not_ilike(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    matches(args, to_lower).map(|found| Datum::Bool(!found))
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
