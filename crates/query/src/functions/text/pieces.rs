//! Parts of texts: substring, overlay, left, right, split_part.

use crate::error::Result;
use crate::functions::args::{Args, invalid_parameter, out_of_range};
use crate::functions::define::f;
use crate::functions::text::negative_substring;
use crate::functions::{Env, Function, Site};
use crate::types::{Datum, Type as T};

/// The functions.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    f("substring", &[T::TEXT, T::INT4], T::TEXT, substring),
    f("substring", &[T::TEXT, T::INT4, T::INT4], T::TEXT, substring),
    f("substr", &[T::TEXT, T::INT4], T::TEXT, substring),
    f("substr", &[T::TEXT, T::INT4, T::INT4], T::TEXT, substring),
    f("substring", &[T::BYTEA, T::INT4], T::BYTEA, substring_bytes),
    f("substring", &[T::BYTEA, T::INT4, T::INT4], T::BYTEA, substring_bytes),
    f("substr", &[T::BYTEA, T::INT4], T::BYTEA, substring_bytes),
    f("substr", &[T::BYTEA, T::INT4, T::INT4], T::BYTEA, substring_bytes),
    f("overlay", &[T::TEXT, T::TEXT, T::INT4], T::TEXT, overlay),
    f("overlay", &[T::TEXT, T::TEXT, T::INT4, T::INT4], T::TEXT, overlay),
    f("overlay", &[T::BYTEA, T::BYTEA, T::INT4], T::BYTEA, overlay_bytes),
    f("overlay", &[T::BYTEA, T::BYTEA, T::INT4, T::INT4], T::BYTEA, overlay_bytes),
    f("left", &[T::TEXT, T::INT4], T::TEXT, left),
    f("right", &[T::TEXT, T::INT4], T::TEXT, right),
    f("split_part", &[T::TEXT, T::TEXT, T::INT4], T::TEXT, split_part),
];

/// How many are left out before, and how many are taken: places count from one and may lie before the text.
fn window(args: &[Datum]) -> Result<(usize, usize)> {
    let start = args.int(1)?;
    let end = if args.len() > 2 {
        let length = args.int(2)?;
        if length < 0 {
            return Err(negative_substring());
        }
        start + length
    } else {
        i64::MAX
    };
    let first = start.max(1);
    Ok(((first - 1) as usize, usize::try_from(end.saturating_sub(first)).unwrap_or(0)))
}

fn substring(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (before, length) = window(args)?;
    Ok(Datum::text(characters(args.text(0)?, before, length)))
}

/// So many characters after so many others.
pub(in crate::functions) fn characters(text: &str, before: usize, length: usize) -> &str {
    let rest = &text[byte_offset(text, before)..];
    &rest[..byte_offset(rest, length)]
}

fn byte_offset(text: &str, characters: usize) -> usize {
    if characters >= text.len() {
        return text.len();
    }
    text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
}

fn substring_bytes(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (before, length) = window(args)?;
    let bytes = args.bytes(0)?;
    let rest = &bytes[before.min(bytes.len())..];
    Ok(Datum::Bytes(rest[..length.min(rest.len())].into()))
}

/// What stays before and after the part that is replaced.
fn overlaid(args: &[Datum], length: usize) -> Result<(usize, usize)> {
    let start = args.int(2)?;
    let replaced = if args.len() > 3 { args.int(3)? } else { length as i64 };
    if start <= 0 {
        return Err(negative_substring());
    }
    let after = i32::try_from(start + replaced).map_err(|_| out_of_range("integer"))?;
    Ok(((start - 1) as usize, (i64::from(after) - 1).max(0) as usize))
}

fn overlay(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (text, with) = (args.text(0)?, args.text(1)?);
    let (before, after) = overlaid(args, with.chars().count())?;
    let (head, tail) = (&text[..byte_offset(text, before)], &text[byte_offset(text, after)..]);
    Ok(Datum::text([head, with, tail].concat()))
}

fn overlay_bytes(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (bytes, with) = (args.bytes(0)?, args.bytes(1)?);
    let (before, after) = overlaid(args, with.len())?;
    let (head, tail) = (&bytes[..before.min(bytes.len())], &bytes[after.min(bytes.len())..]);
    Ok(Datum::Bytes([head, with, tail].concat().into()))
}

/// A negative count leaves out so many at the other end.
fn counted(text: &str, count: i64) -> usize {
    let length = text.chars().count() as i64;
    (if count < 0 { length + count } else { count.min(length) }).max(0) as usize
}

fn left(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let text = args.text(0)?;
    Ok(Datum::text(characters(text, 0, counted(text, args.int(1)?))))
}

fn right(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let text = args.text(0)?;
    let kept = counted(text, args.int(1)?);
    Ok(Datum::text(&text[byte_offset(text, text.chars().count() - kept)..]))
}

fn split_part(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (text, delimiter, field) = (args.text(0)?, args.text(1)?, args.int(2)?);
    if field == 0 {
        return Err(invalid_parameter("field position must not be zero"));
    }
    let place = field.unsigned_abs() as usize - 1;
    let part = if delimiter.is_empty() || text.is_empty() {
        (place == 0).then_some(text)
    } else if field > 0 {
        text.split(delimiter).nth(place)
    } else {
        text.rsplit(delimiter).nth(place)
    };
    Ok(Datum::text(part.unwrap_or("")))
}
