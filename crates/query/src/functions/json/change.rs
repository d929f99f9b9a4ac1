//! jsonb made of jsonb: concatenation, deletion, replacement; showing it.

use crate::error::{Result, SqlError, SqlState};
use crate::functions::args::Args;
use crate::functions::define::f;
use crate::functions::json::access::present;
use crate::functions::json::jsonb;
use crate::functions::{Constant, Env, Function, Site};
use crate::types::json::{Json, quote, raw};
use crate::types::{ArrayValue, Datum, Type as T};

/// The operators.
pub(in crate::functions) static OPERATORS: &[Function] = &[
    f("||", &[T::JSONB, T::JSONB], T::JSONB, concatenate),
    f("-", &[T::JSONB, T::TEXT], T::JSONB, delete_key),
    f("-", &[T::JSONB, T::INT4], T::JSONB, delete_item),
    f("-", &[T::JSONB, T::TEXT_ARRAY], T::JSONB, delete_keys),
    f("#-", &[T::JSONB, T::TEXT_ARRAY], T::JSONB, delete_path),
];

/// The functions.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    f("jsonb_concat", &[T::JSONB, T::JSONB], T::JSONB, concatenate),
    f("jsonb_delete", &[T::JSONB, T::TEXT], T::JSONB, delete_key),
    f("jsonb_delete", &[T::JSONB, T::INT4], T::JSONB, delete_item),
    f("jsonb_delete", &[T::JSONB, T::TEXT_ARRAY], T::JSONB, delete_keys).variadic(),
    f("jsonb_delete_path", &[T::JSONB, T::TEXT_ARRAY], T::JSONB, delete_path),
    f("jsonb_set", &[T::JSONB, T::TEXT_ARRAY, T::JSONB, T::BOOL], T::JSONB, set)
        .named(&["jsonb_in", "path", "replacement", "create_if_missing"])
        .defaults(&[Constant::Bool(true)]),
    f("jsonb_set_lax", &[T::JSONB, T::TEXT_ARRAY, T::JSONB, T::BOOL, T::TEXT], T::JSONB, set_lax)
        .named(&["jsonb_in", "path", "replacement", "create_if_missing", "null_value_treatment"])
        .defaults(&[Constant::Bool(true), Constant::Text("use_json_null")])
        .with_nulls(),
    f("jsonb_insert", &[T::JSONB, T::TEXT_ARRAY, T::JSONB, T::BOOL], T::JSONB, insert)
        .named(&["jsonb_in", "path", "replacement", "insert_after"])
        .defaults(&[Constant::Bool(false)]),
    f("jsonb_strip_nulls", &[T::JSONB], T::JSONB, strip_nulls_b),
    f("json_strip_nulls", &[T::JSON], T::JSON, strip_nulls),
    f("jsonb_pretty", &[T::JSONB], T::TEXT, pretty),
];

fn concatenate(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(jsonb(args.jsonb(0)?.concat(args.jsonb(1)?)))
}

fn delete_key(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.jsonb(0)?.without_key(args.text(1)?).map(jsonb)
}

fn delete_item(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.jsonb(0)?.without_item(args.int(1)?).map(jsonb)
}

fn delete_keys(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let mut json = (**args.jsonb(0)?).clone();
    for item in &list(args, 1)?.items {
        if let Datum::Text(key) = item {
            json = json.without_key(key)?;
        }
    }
    if json.is_scalar() {
        return Err(super::invalid("cannot delete from scalar"));
    }
    Ok(jsonb(json))
}

/// The names that an argument lists: one after the other, not in several dimensions.
fn list(args: &[Datum], index: usize) -> Result<&ArrayValue> {
    let list = args.array(index)?;
    if list.dimensions.len() > 1 {
        return Err(SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, "wrong number of array subscripts"));
    }
    Ok(list)
}

/// A path whose steps are all there. A scalar has none, and is refused for that.
fn steps(args: &[Datum], index: usize) -> Result<Vec<&str>> {
    let list = list(args, index)?;
    if args.jsonb(0)?.is_scalar() {
        return Ok(Vec::new());
    }
    let place = list.items.iter().position(Datum::is_null).map_or(0, |place| place + 1);
    present(args, index, &format!("path element at position {place} is null"))
}

fn delete_path(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    args.jsonb(0)?.without_path(&steps(args, 1)?).map(jsonb)
}

fn set(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let value = (**args.jsonb(2)?).clone();
    args.jsonb(0)?.set(&steps(args, 1)?, value, args.bool(3)?).map(jsonb)
}

/// What a NULL does is said by the last argument.
fn set_lax(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    if [0, 1, 3].iter().any(|index| args.at(*index).is_null()) {
        return Ok(Datum::Null);
    }
    if args.at(4).is_null() {
        return Err(super::invalid(
            "null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"",
        ));
    }
    if !args.at(2).is_null() {
        return set(env, args, site);
    }
    let json = args.jsonb(0)?;
    match args.text(4)? {
        "raise_exception" => Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "JSON value must not be null")
            .detail("Exception was raised because null_value_treatment is \"raise_exception\".")
            .hint(
                "To avoid, either change the null_value_treatment argument or ensure that an SQL NULL is not passed.",
            )),
        "use_json_null" => json.set(&steps(args, 1)?, Json::Null, args.bool(3)?).map(jsonb),
        "delete_key" => json.without_path(&steps(args, 1)?).map(jsonb),
        "return_target" => Ok(args[0].clone()),
        _ => Err(super::invalid(
            "null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"",
        )),
    }
}

fn insert(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let value = (**args.jsonb(2)?).clone();
    args.jsonb(0)?.insert(&steps(args, 1)?, value, args.bool(3)?).map(jsonb)
}

fn strip_nulls_b(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(jsonb(args.jsonb(0)?.strip_nulls()))
}

fn strip_nulls(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let mut out = String::new();
    strip(&mut out, args.text(0)?);
    Ok(Datum::text(out))
}

/// The text without fields that are null, and without spaces.
fn strip(out: &mut String, json: &str) {
    if let Some(items) = raw::items(json) {
        out.push('[');
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            strip(out, item);
        }
        out.push(']');
    } else if let Some(entries) = raw::entries(json) {
        out.push('{');
        let kept = entries.into_iter().filter(|(_, value)| raw::type_name(value) != "null");
        for (at, (key, value)) in kept.enumerate() {
            if at > 0 {
                out.push(',');
            }
            quote(out, &key);
            out.push(':');
            strip(out, value);
        }
        out.push('}');
    } else if raw::type_name(json) == "string" {
        quote(out, &raw::to_text(json).unwrap_or_default());
    } else {
        out.push_str(json.trim());
    }
}

fn pretty(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text(args.jsonb(0)?.pretty()))
}
