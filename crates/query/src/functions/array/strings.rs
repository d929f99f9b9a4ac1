//! Between arrays and texts.

use crate::budget;
use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::define::{f, set};
use crate::functions::text::fits;
use crate::functions::{Env, Function, Site};
use crate::types::{Datum, Type as T, text};

/// The functions.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    f("array_to_string", &[T::ANYARRAY, T::TEXT], T::TEXT, to_string).stable(),
    f("array_to_string", &[T::ANYARRAY, T::TEXT, T::TEXT], T::TEXT, to_string).with_nulls().stable(),
    f("string_to_array", &[T::TEXT, T::TEXT], T::TEXT_ARRAY, to_array).with_nulls(),
    f("string_to_array", &[T::TEXT, T::TEXT, T::TEXT], T::TEXT_ARRAY, to_array).with_nulls(),
    set("string_to_table", &[T::TEXT, T::TEXT], T::TEXT, to_table).with_nulls(),
    set("string_to_table", &[T::TEXT, T::TEXT, T::TEXT], T::TEXT, to_table).with_nulls(),
];

fn to_string(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    if args.at(0).is_null() || args.at(1).is_null() {
        return Ok(Datum::Null);
    }
    let (array, delimiter) = (args.array(0)?, args.text(1)?);
    let null = if args.at(2).is_null() { None } else { Some(args.text(2)?) };
    let mut out = String::new();
    let mut first = true;
    for item in &array.items {
        if item.is_null() && null.is_none() {
            continue;
        }
        if !std::mem::take(&mut first) {
            out.push_str(delimiter);
        }
        match null {
            Some(null) if item.is_null() => out.push_str(null),
            _ => text::output_into(&mut out, item, array.element, env),
        }
        fits(out.len())?;
    }
    Ok(Datum::text(out))
}

/// The pieces of a text. Without a delimiter each character is one; an empty one does not divide.
fn pieces(args: &[Datum]) -> Result<Option<Vec<Datum>>> {
    if args.at(0).is_null() {
        return Ok(None);
    }
    let whole = args.text(0)?;
    let null = if args.at(2).is_null() { None } else { Some(args.text(2)?) };
    let piece = |piece: &str| if Some(piece) == null { Datum::Null } else { Datum::text(piece) };
    if whole.is_empty() {
        return Ok(Some(Vec::new()));
    }
    Ok(Some(match args.at(1) {
        Datum::Null => budget::collect(whole.chars().map(|c| piece(c.encode_utf8(&mut [0; 4]))))?,
        _ => match args.text(1)? {
            "" => vec![piece(whole)],
            delimiter => budget::collect(whole.split(delimiter).map(piece))?,
        },
    }))
}

fn to_array(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(pieces(args)?.map_or(Datum::Null, |pieces| Datum::array(T::TEXT, pieces)))
}

fn to_table(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Vec<Vec<Datum>>> {
    budget::collect(pieces(args)?.unwrap_or_default().into_iter().map(|piece| vec![piece]))
}
