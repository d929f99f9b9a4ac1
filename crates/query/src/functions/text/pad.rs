//! Filling up and trimming.

use crate::budget;
use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::define::f;
use crate::functions::text::{LARGEST, too_large};
use crate::functions::{Env, Function, Site};
use crate::types::{Datum, Type as T};

/// The functions.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    f("lpad", &[T::TEXT, T::INT4], T::TEXT, left_pad),
    f("lpad", &[T::TEXT, T::INT4, T::TEXT], T::TEXT, left_pad),
    f("rpad", &[T::TEXT, T::INT4], T::TEXT, right_pad),
    f("rpad", &[T::TEXT, T::INT4, T::TEXT], T::TEXT, right_pad),
    f("btrim", &[T::TEXT], T::TEXT, trim_both),
    f("btrim", &[T::TEXT, T::TEXT], T::TEXT, trim_both),
    f("ltrim", &[T::TEXT], T::TEXT, trim_left),
    f("ltrim", &[T::TEXT, T::TEXT], T::TEXT, trim_left),
    f("rtrim", &[T::TEXT], T::TEXT, trim_right),
    f("rtrim", &[T::TEXT, T::TEXT], T::TEXT, trim_right),
    f("btrim", &[T::BYTEA, T::BYTEA], T::BYTEA, trim_bytes_both),
    f("ltrim", &[T::BYTEA, T::BYTEA], T::BYTEA, trim_bytes_left),
    f("rtrim", &[T::BYTEA, T::BYTEA], T::BYTEA, trim_bytes_right),
];

/// What is missing to the length, and the text cut to it.
fn fill(args: &[Datum]) -> Result<(String, String)> {
    let (text, length) = (args.text(0)?, usize::try_from(args.int(1)?).unwrap_or(0));
    let with = if args.len() > 2 { args.text(2)? } else { " " };
    if length.saturating_mul(4) > LARGEST {
        return Err(too_large());
    }
    budget::fits(2 * length)?;
    let text: String = text.chars().take(length).collect();
    let missing = length - text.chars().count();
    let missing = if with.is_empty() { 0 } else { missing };
    Ok((with.chars().cycle().take(missing).collect(), text))
}

fn left_pad(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (filling, text) = fill(args)?;
    Ok(Datum::text(filling + &text))
}

fn right_pad(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (filling, text) = fill(args)?;
    Ok(Datum::text(text + &filling))
}

/// The characters that are trimmed: spaces, unless they are named.
fn trimmed(args: &[Datum]) -> Result<Vec<char>> {
    Ok(if args.len() > 1 { args.text(1)?.chars().collect() } else { vec![' '] })
}

fn trim_both(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text(args.text(0)?.trim_matches(trimmed(args)?.as_slice())))
}

fn trim_left(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text(args.text(0)?.trim_start_matches(trimmed(args)?.as_slice())))
}

fn trim_right(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text(args.text(0)?.trim_end_matches(trimmed(args)?.as_slice())))
}

fn skip_left<'a>(bytes: &'a [u8], set: &[u8]) -> &'a [u8] {
    let kept = bytes.iter().position(|byte| !set.contains(byte)).unwrap_or(bytes.len());
    &bytes[kept..]
}

fn skip_right<'a>(bytes: &'a [u8], set: &[u8]) -> &'a [u8] {
    let kept = bytes.iter().rposition(|byte| !set.contains(byte)).map_or(0, |last| last + 1);
    &bytes[..kept]
}

fn trim_bytes_both(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let set = args.bytes(1)?;
    Ok(Datum::Bytes(skip_right(skip_left(args.bytes(0)?, set), set).into()))
}

fn trim_bytes_left(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bytes(skip_left(args.bytes(0)?, args.bytes(1)?).into()))
}

fn trim_bytes_right(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bytes(skip_right(args.bytes(0)?, args.bytes(1)?).into()))
}
