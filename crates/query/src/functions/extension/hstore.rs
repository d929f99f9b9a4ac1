//! `hstore`: its functions and operators.

use std::sync::Arc;

use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::comparison::{equal, not_equal};
use crate::functions::define::{f, set, table};
use crate::functions::{Env, Function, Site};
use crate::types::hstore::{Pairs, array_error, as_json, as_text, null_key, of_array};
use crate::types::json::Json;
use crate::types::{ArrayValue, Datum, Type as T};

/// The functions.
pub(super) static FUNCTIONS: &[Function] = &[
    f("hstore", &[T::TEXT, T::TEXT], T::HSTORE, of_pair).with_nulls(),
    f("hstore", &[T::TEXT_ARRAY], T::HSTORE, |_, args, _| of_array(&args.array(0)?.clone())),
    f("hstore", &[T::TEXT_ARRAY, T::TEXT_ARRAY], T::HSTORE, of_arrays).with_nulls(),
    f("akeys", &[T::HSTORE], T::TEXT_ARRAY, |_, args, _| Ok(texts(pairs(args, 0)?.iter().map(|(key, _)| Some(key))))),
    f("avals", &[T::HSTORE], T::TEXT_ARRAY, |_, args, _| Ok(texts(pairs(args, 0)?.iter().map(|(_, value)| value)))),
    set("skeys", &[T::HSTORE], T::TEXT, |_, args, _| {
        Ok(pairs(args, 0)?.iter().map(|(key, _)| vec![Datum::text(key)]).collect())
    }),
    set("svals", &[T::HSTORE], T::TEXT, |_, args, _| {
        Ok(pairs(args, 0)?.iter().map(|(_, value)| vec![nullable(value)]).collect())
    }),
    table("each", &[T::HSTORE], &[("key", T::TEXT), ("value", T::TEXT)], |_, args, _| {
        Ok(pairs(args, 0)?.iter().map(|(key, value)| vec![Datum::text(key), nullable(value)]).collect())
    }),
    f("exist", &[T::HSTORE, T::TEXT], T::BOOL, exists),
    f("exists_any", &[T::HSTORE, T::TEXT_ARRAY], T::BOOL, exists_any),
    f("exists_all", &[T::HSTORE, T::TEXT_ARRAY], T::BOOL, exists_all),
    f("defined", &[T::HSTORE, T::TEXT], T::BOOL, |_, args, _| {
        Ok(Datum::Bool(pairs(args, 0)?.get(args.text(1)?).is_some_and(Option::is_some)))
    }),
    f("delete", &[T::HSTORE, T::TEXT], T::HSTORE, delete_key),
    f("delete", &[T::HSTORE, T::TEXT_ARRAY], T::HSTORE, delete_keys),
    f("delete", &[T::HSTORE, T::HSTORE], T::HSTORE, delete_pairs),
    f("fetchval", &[T::HSTORE, T::TEXT], T::TEXT, fetch),
    f("slice", &[T::HSTORE, T::TEXT_ARRAY], T::HSTORE, slice),
    f("slice_array", &[T::HSTORE, T::TEXT_ARRAY], T::TEXT_ARRAY, fetch_all),
    f("hs_concat", &[T::HSTORE, T::HSTORE], T::HSTORE, concat),
    f("hs_contains", &[T::HSTORE, T::HSTORE], T::BOOL, |_, args, _| contains(args, 0, 1)),
    f("hs_contained", &[T::HSTORE, T::HSTORE], T::BOOL, |_, args, _| contains(args, 1, 0)),
    f("hstore_to_array", &[T::HSTORE], T::TEXT_ARRAY, to_array),
    f("hstore_to_matrix", &[T::HSTORE], T::TEXT_ARRAY, to_matrix),
    f("hstore_to_json", &[T::HSTORE], T::JSON, |_, args, _| Ok(Datum::text(as_json(args.text(0)?)?))),
    f("hstore_to_jsonb", &[T::HSTORE], T::JSONB, |_, args, _| {
        Ok(Datum::Jsonb(Arc::new(Json::parse(&as_json(args.text(0)?)?)?)))
    }),
];

/// The operators.
pub(super) static OPERATORS: &[Function] = &[
    f("=", &[T::HSTORE, T::HSTORE], T::BOOL, equal),
    f("<>", &[T::HSTORE, T::HSTORE], T::BOOL, not_equal),
    f("->", &[T::HSTORE, T::TEXT], T::TEXT, fetch),
    f("->", &[T::HSTORE, T::TEXT_ARRAY], T::TEXT_ARRAY, fetch_all),
    f("?", &[T::HSTORE, T::TEXT], T::BOOL, exists),
    f("?|", &[T::HSTORE, T::TEXT_ARRAY], T::BOOL, exists_any),
    f("?&", &[T::HSTORE, T::TEXT_ARRAY], T::BOOL, exists_all),
    f("||", &[T::HSTORE, T::HSTORE], T::HSTORE, concat),
    f("-", &[T::HSTORE, T::TEXT], T::HSTORE, delete_key),
    f("-", &[T::HSTORE, T::TEXT_ARRAY], T::HSTORE, delete_keys),
    f("-", &[T::HSTORE, T::HSTORE], T::HSTORE, delete_pairs),
    f("@>", &[T::HSTORE, T::HSTORE], T::BOOL, |_, args, _| contains(args, 0, 1)),
    f("<@", &[T::HSTORE, T::HSTORE], T::BOOL, |_, args, _| contains(args, 1, 0)),
    f("%%", &[T::HSTORE], T::TEXT_ARRAY, to_array),
    f("%#", &[T::HSTORE], T::TEXT_ARRAY, to_matrix),
];

fn pairs(args: &[Datum], index: usize) -> Result<Pairs> {
    Pairs::parse(args.text(index)?)
}

fn shown(pairs: &Pairs) -> Result<Datum> {
    Ok(Datum::text(pairs.to_string()))
}

fn nullable(value: Option<&str>) -> Datum {
    value.map_or(Datum::Null, Datum::text)
}

fn texts<'a>(items: impl Iterator<Item = Option<&'a str>>) -> Datum {
    Datum::array(T::TEXT, items.map(nullable).collect())
}

/// A NULL key makes NULL.
fn of_pair(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let Some(key) = as_text(args.at(0)) else { return Ok(Datum::Null) };
    let mut pairs = Pairs::default();
    pairs.put(key, as_text(args.at(1)).map(str::to_owned));
    shown(&pairs)
}

fn of_arrays(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    if args.at(0).is_null() {
        return Ok(Datum::Null);
    }
    let keys = args.array(0)?;
    let values = if args.at(1).is_null() { None } else { Some(args.array(1)?) };
    if values.is_some_and(|values| values.items.len() != keys.items.len()) {
        return Err(array_error("arrays must have same bounds"));
    }
    let mut pairs = Pairs::default();
    for (at, key) in keys.items.iter().enumerate().rev() {
        let value = values.and_then(|values| as_text(&values.items[at])).map(str::to_owned);
        pairs.put(as_text(key).ok_or_else(null_key)?, value);
    }
    shown(&pairs)
}

fn keys(args: &[Datum], index: usize) -> Result<Vec<String>> {
    Ok(args.array(index)?.items.iter().filter_map(as_text).map(str::to_owned).collect())
}

fn exists(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(pairs(args, 0)?.get(args.text(1)?).is_some()))
}

fn exists_any(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let pairs = pairs(args, 0)?;
    Ok(Datum::Bool(keys(args, 1)?.iter().any(|key| pairs.get(key).is_some())))
}

fn exists_all(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let pairs = pairs(args, 0)?;
    Ok(Datum::Bool(keys(args, 1)?.iter().all(|key| pairs.get(key).is_some())))
}

fn fetch(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(nullable(pairs(args, 0)?.get(args.text(1)?).and_then(Option::as_deref)))
}

fn fetch_all(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (pairs, asked) = (pairs(args, 0)?, args.array(1)?);
    let value = |key: &Datum| nullable(as_text(key).and_then(|key| pairs.get(key)).and_then(Option::as_deref));
    let items = asked.items.iter().map(value).collect();
    Ok(Datum::Array(Arc::new(ArrayValue { element: T::TEXT, dimensions: asked.dimensions.clone(), items })))
}

fn slice(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (from, mut kept) = (pairs(args, 0)?, Pairs::default());
    for key in keys(args, 1)? {
        if let Some(value) = from.get(&key) {
            kept.put(&key, value.clone());
        }
    }
    shown(&kept)
}

fn concat(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let mut all = pairs(args, 0)?;
    pairs(args, 1)?.iter().for_each(|(key, value)| all.put(key, value.map(str::to_owned)));
    shown(&all)
}

fn delete_key(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let mut pairs = pairs(args, 0)?;
    pairs.remove(args.text(1)?);
    shown(&pairs)
}

fn delete_keys(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let mut pairs = pairs(args, 0)?;
    keys(args, 1)?.iter().for_each(|key| drop(pairs.remove(key)));
    shown(&pairs)
}

fn delete_pairs(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (mut left, right) = (pairs(args, 0)?, pairs(args, 1)?);
    for (key, value) in right.iter() {
        if left.get(key).is_some_and(|own| own.as_deref() == value) {
            left.remove(key);
        }
    }
    shown(&left)
}

fn contains(args: &[Datum], whole: usize, part: usize) -> Result<Datum> {
    let (whole, part) = (pairs(args, whole)?, pairs(args, part)?);
    let inside = part.iter().all(|(key, value)| whole.get(key).is_some_and(|own| own.as_deref() == value));
    Ok(Datum::Bool(inside))
}

fn flat(pairs: &Pairs) -> Vec<Datum> {
    pairs.iter().flat_map(|(key, value)| [Datum::text(key), nullable(value)]).collect()
}

fn to_array(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::array(T::TEXT, flat(&pairs(args, 0)?)))
}

fn to_matrix(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let pairs = pairs(args, 0)?;
    let dimensions = if pairs.is_empty() { Vec::new() } else { vec![(pairs.len(), 1), (2, 1)] };
    Ok(Datum::Array(Arc::new(ArrayValue { element: T::TEXT, dimensions, items: flat(&pairs) })))
}
