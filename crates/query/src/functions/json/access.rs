//! Looking into json and jsonb: `-> ->> #> #>> @> <@ ? ?| ?&` and the functions with the same meaning.

use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::define::f;
use crate::functions::json::{invalid, maybe_jsonb, maybe_text, path, texts};
use crate::functions::{Env, Function, Site};
use crate::types::json::{Json, raw};
use crate::types::{Datum, Type as T};

/// The operators.
pub(in crate::functions) static OPERATORS: &[Function] = &[
    f("->", &[T::JSON, T::TEXT], T::JSON, field),
    f("->", &[T::JSON, T::INT4], T::JSON, item),
    f("->", &[T::JSONB, T::TEXT], T::JSONB, field_b),
    f("->", &[T::JSONB, T::INT4], T::JSONB, item_b),
    f("->>", &[T::JSON, T::TEXT], T::TEXT, field_text),
    f("->>", &[T::JSON, T::INT4], T::TEXT, item_text),
    f("->>", &[T::JSONB, T::TEXT], T::TEXT, field_text_b),
    f("->>", &[T::JSONB, T::INT4], T::TEXT, item_text_b),
    f("#>", &[T::JSON, T::TEXT_ARRAY], T::JSON, at_path),
    f("#>", &[T::JSONB, T::TEXT_ARRAY], T::JSONB, at_path_b),
    f("#>>", &[T::JSON, T::TEXT_ARRAY], T::TEXT, at_path_text),
    f("#>>", &[T::JSONB, T::TEXT_ARRAY], T::TEXT, at_path_text_b),
    f("@>", &[T::JSONB, T::JSONB], T::BOOL, contains),
    f("<@", &[T::JSONB, T::JSONB], T::BOOL, contained),
    f("?", &[T::JSONB, T::TEXT], T::BOOL, has_key),
    f("?|", &[T::JSONB, T::TEXT_ARRAY], T::BOOL, has_any_key),
    f("?&", &[T::JSONB, T::TEXT_ARRAY], T::BOOL, has_all_keys),
];

/// The functions.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    f("json_object_field", &[T::JSON, T::TEXT], T::JSON, field),
    f("json_object_field_text", &[T::JSON, T::TEXT], T::TEXT, field_text),
    f("json_array_element", &[T::JSON, T::INT4], T::JSON, item),
    f("json_array_element_text", &[T::JSON, T::INT4], T::TEXT, item_text),
    f("jsonb_object_field", &[T::JSONB, T::TEXT], T::JSONB, field_b),
    f("jsonb_object_field_text", &[T::JSONB, T::TEXT], T::TEXT, field_text_b),
    f("jsonb_array_element", &[T::JSONB, T::INT4], T::JSONB, item_b),
    f("jsonb_array_element_text", &[T::JSONB, T::INT4], T::TEXT, item_text_b),
    f("json_extract_path", &[T::JSON, T::TEXT_ARRAY], T::JSON, at_path).variadic(),
    f("json_extract_path_text", &[T::JSON, T::TEXT_ARRAY], T::TEXT, at_path_text).variadic(),
    f("jsonb_extract_path", &[T::JSONB, T::TEXT_ARRAY], T::JSONB, at_path_b).variadic(),
    f("jsonb_extract_path_text", &[T::JSONB, T::TEXT_ARRAY], T::TEXT, at_path_text_b).variadic(),
    f("jsonb_contains", &[T::JSONB, T::JSONB], T::BOOL, contains),
    f("jsonb_contained", &[T::JSONB, T::JSONB], T::BOOL, contained),
    f("jsonb_exists", &[T::JSONB, T::TEXT], T::BOOL, has_key),
    f("jsonb_exists_any", &[T::JSONB, T::TEXT_ARRAY], T::BOOL, has_any_key),
    f("jsonb_exists_all", &[T::JSONB, T::TEXT_ARRAY], T::BOOL, has_all_keys),
    f("json_typeof", &[T::JSON], T::TEXT, type_of),
    f("jsonb_typeof", &[T::JSONB], T::TEXT, type_of_b),
    f("json_array_length", &[T::JSON], T::INT4, array_length),
    f("jsonb_array_length", &[T::JSONB], T::INT4, array_length_b),
];

fn field(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(maybe_text(raw::field(args.text(0)?, args.text(1)?)))
}

fn field_text(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(maybe_text(raw::field(args.text(0)?, args.text(1)?).and_then(raw::to_text)))
}

fn item(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(maybe_text(raw::item(args.text(0)?, args.int(1)?)))
}

fn item_text(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(maybe_text(raw::item(args.text(0)?, args.int(1)?).and_then(raw::to_text)))
}

fn field_b(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(maybe_jsonb(args.jsonb(0)?.field(args.text(1)?)))
}

fn field_text_b(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(maybe_text(args.jsonb(0)?.field(args.text(1)?).and_then(Json::to_text)))
}

fn item_b(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(maybe_jsonb(item_of(args.jsonb(0)?, args.int(1)?)))
}

fn item_text_b(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(maybe_text(item_of(args.jsonb(0)?, args.int(1)?).and_then(Json::to_text)))
}

/// To `->` a scalar is an array of itself, as in PostgreSQL, which keeps scalars so.
fn item_of(json: &Json, index: i64) -> Option<&Json> {
    match index {
        0 | -1 if json.is_scalar() => Some(json),
        _ => json.item(index),
    }
}

fn at_path(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(maybe_text(path(args, 1)?.and_then(|path| raw::path(args.text(0).ok()?, &path))))
}

fn at_path_text(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let json = args.text(0)?;
    Ok(maybe_text(path(args, 1)?.and_then(|path| raw::path(json, &path)).and_then(raw::to_text)))
}

fn at_path_b(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let json = args.jsonb(0)?;
    Ok(maybe_jsonb(path(args, 1)?.and_then(|path| json.path(&path))))
}

fn at_path_text_b(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let json = args.jsonb(0)?;
    Ok(maybe_text(path(args, 1)?.and_then(|path| json.path(&path)).and_then(Json::to_text)))
}

fn contains(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(args.jsonb(0)?.contains(args.jsonb(1)?)))
}

fn contained(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(args.jsonb(1)?.contains(args.jsonb(0)?)))
}

fn has_key(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(args.jsonb(0)?.has_key(args.text(1)?)))
}

/// The keys that are asked for; NULLs are not.
fn keys(args: &[Datum]) -> Result<impl Iterator<Item = &str>> {
    let items = args.array(1)?.items.iter();
    Ok(items.filter_map(|item| if let Datum::Text(text) = item { Some(&**text) } else { None }))
}

fn has_any_key(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let json = args.jsonb(0)?;
    Ok(Datum::Bool(keys(args)?.any(|key| json.has_key(key))))
}

fn has_all_keys(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let json = args.jsonb(0)?;
    Ok(Datum::Bool(keys(args)?.all(|key| json.has_key(key))))
}

fn type_of(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text(raw::type_name(args.text(0)?)))
}

fn type_of_b(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text(args.jsonb(0)?.type_name()))
}

fn array_length(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let json = args.text(0)?;
    match (raw::items(json), raw::type_name(json)) {
        (Some(items), _) => Ok(Datum::Int(items.len() as i64)),
        (None, "object") => Err(invalid("cannot get array length of a non-array")),
        (None, _) => Err(invalid("cannot get array length of a scalar")),
    }
}

fn array_length_b(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    match &**args.jsonb(0)? {
        Json::Array(items) => Ok(Datum::Int(items.len() as i64)),
        Json::Object(_) => Err(invalid("cannot get array length of a non-array")),
        _ => Err(invalid("cannot get array length of a scalar")),
    }
}

/// The texts of an array argument, for functions that refuse NULLs themselves.
pub(super) fn present<'a>(args: &'a [Datum], index: usize, refused: &str) -> Result<Vec<&'a str>> {
    texts(args.array(index)?)
        .ok_or_else(|| crate::error::SqlError::new(crate::error::SqlState::NULL_VALUE_NOT_ALLOWED, refused))
}
