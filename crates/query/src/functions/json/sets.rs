//! json and jsonb as rows: items, entries, keys.

use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::define::{set, table};
use crate::functions::json::{invalid, jsonb, maybe_text};
use crate::functions::{Env, Function, Site};
use crate::types::json::{Json, raw};
use crate::types::{Datum, Type as T};

/// The functions.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    table("json_array_elements", &[T::JSON], &[("value", T::JSON)], elements),
    table("json_array_elements_text", &[T::JSON], &[("value", T::TEXT)], elements_text),
    table("jsonb_array_elements", &[T::JSONB], &[("value", T::JSONB)], elements_b),
    table("jsonb_array_elements_text", &[T::JSONB], &[("value", T::TEXT)], elements_text_b),
    table("json_each", &[T::JSON], &[("key", T::TEXT), ("value", T::JSON)], each),
    table("json_each_text", &[T::JSON], &[("key", T::TEXT), ("value", T::TEXT)], each_text),
    table("jsonb_each", &[T::JSONB], &[("key", T::TEXT), ("value", T::JSONB)], each_b),
    table("jsonb_each_text", &[T::JSONB], &[("key", T::TEXT), ("value", T::TEXT)], each_text_b),
    set("json_object_keys", &[T::JSON], T::TEXT, keys),
    set("jsonb_object_keys", &[T::JSONB], T::TEXT, keys_b),
];

type Rows = Vec<Vec<Datum>>;

fn items<'a>(args: &'a [Datum], function: &str) -> Result<Vec<&'a str>> {
    let json = args.text(0)?;
    raw::items(json).ok_or_else(|| match raw::type_name(json) {
        "object" => invalid(format!("cannot call {function} on a non-array")),
        _ => invalid(format!("cannot call {function} on a scalar")),
    })
}

fn elements(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Rows> {
    Ok(items(args, "json_array_elements")?.into_iter().map(|item| vec![Datum::text(item)]).collect())
}

fn elements_text(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Rows> {
    let items = items(args, "json_array_elements_text")?;
    Ok(items.into_iter().map(|item| vec![maybe_text(raw::to_text(item))]).collect())
}

fn items_b(args: &[Datum]) -> Result<&[Json]> {
    match &**args.jsonb(0)? {
        Json::Array(items) => Ok(items),
        Json::Object(_) => Err(invalid("cannot extract elements from an object")),
        _ => Err(invalid("cannot extract elements from a scalar")),
    }
}

fn elements_b(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Rows> {
    Ok(items_b(args)?.iter().map(|item| vec![jsonb(item.clone())]).collect())
}

fn elements_text_b(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Rows> {
    Ok(items_b(args)?.iter().map(|item| vec![maybe_text(item.to_text())]).collect())
}

fn entries<'a>(args: &'a [Datum], function: &str) -> Result<Vec<(String, &'a str)>> {
    let json = args.text(0)?;
    raw::entries(json).ok_or_else(|| match (function, raw::type_name(json)) {
        ("json_object_keys", "array") => invalid("cannot call json_object_keys on an array"),
        ("json_object_keys", _) => invalid("cannot call json_object_keys on a scalar"),
        (_, "array") => invalid("cannot deconstruct an array as an object"),
        _ => invalid("cannot deconstruct a scalar"),
    })
}

fn each(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Rows> {
    let entries = entries(args, "json_each")?.into_iter();
    Ok(entries.map(|(key, value)| vec![Datum::text(key), Datum::text(value)]).collect())
}

fn each_text(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Rows> {
    let entries = entries(args, "json_each_text")?.into_iter();
    Ok(entries.map(|(key, value)| vec![Datum::text(key), maybe_text(raw::to_text(value))]).collect())
}

fn entries_b<'a>(args: &'a [Datum], function: &str) -> Result<&'a [(String, Json)]> {
    match (&**args.jsonb(0)?, function) {
        (Json::Object(entries), _) => Ok(entries),
        (Json::Array(_), "jsonb_object_keys") => Err(invalid("cannot call jsonb_object_keys on an array")),
        (_, "jsonb_object_keys") => Err(invalid("cannot call jsonb_object_keys on a scalar")),
        _ => Err(invalid(format!("cannot call {function} on a non-object"))),
    }
}

fn each_b(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Rows> {
    let entries = entries_b(args, "jsonb_each")?.iter();
    Ok(entries.map(|(key, value)| vec![Datum::text(key), jsonb(value.clone())]).collect())
}

fn each_text_b(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Rows> {
    let entries = entries_b(args, "jsonb_each_text")?.iter();
    Ok(entries.map(|(key, value)| vec![Datum::text(key), maybe_text(value.to_text())]).collect())
}

fn keys(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Rows> {
    Ok(entries(args, "json_object_keys")?.into_iter().map(|(key, _)| vec![Datum::text(key)]).collect())
}

fn keys_b(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Rows> {
    Ok(entries_b(args, "jsonb_object_keys")?.iter().map(|(key, _)| vec![Datum::text(key)]).collect())
}
