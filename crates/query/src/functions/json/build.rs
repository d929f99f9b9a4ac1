//! Making json and jsonb of other values.

use crate::error::{Result, SqlError, SqlState};
use crate::functions::args::{Args, spread};
use crate::functions::define::f;
use crate::functions::json::convert::{key, to_jsonb, write};
use crate::functions::json::{invalid, jsonb};
use crate::functions::{Env, Function, Site};
use crate::types::json::{Json, quote};
use crate::types::{ArrayValue, Datum, Type as T};

/// The functions.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    f("to_json", &[T::ANYELEMENT], T::JSON, to_json).stable(),
    f("to_jsonb", &[T::ANYELEMENT], T::JSONB, to_json_b).stable(),
    f("row_to_json", &[T::RECORD], T::JSON, to_json).stable(),
    f("row_to_json", &[T::RECORD, T::BOOL], T::JSON, to_json).stable(),
    f("array_to_json", &[T::ANYARRAY], T::JSON, to_json).stable(),
    f("array_to_json", &[T::ANYARRAY, T::BOOL], T::JSON, to_json).stable(),
    f("json_build_array", &[], T::JSON, build_array).with_nulls().stable(),
    f("json_build_array", &[T::ANY], T::JSON, build_array).variadic().with_nulls().stable(),
    f("json_build_object", &[], T::JSON, build_object).with_nulls().stable(),
    f("json_build_object", &[T::ANY], T::JSON, build_object).variadic().with_nulls().stable(),
    f("jsonb_build_array", &[], T::JSONB, build_array_b).with_nulls().stable(),
    f("jsonb_build_array", &[T::ANY], T::JSONB, build_array_b).variadic().with_nulls().stable(),
    f("jsonb_build_object", &[], T::JSONB, build_object_b).with_nulls().stable(),
    f("jsonb_build_object", &[T::ANY], T::JSONB, build_object_b).variadic().with_nulls().stable(),
    f("json_object", &[T::TEXT_ARRAY], T::JSON, object),
    f("json_object", &[T::TEXT_ARRAY, T::TEXT_ARRAY], T::JSON, object),
    f("jsonb_object", &[T::TEXT_ARRAY], T::JSONB, object_b),
    f("jsonb_object", &[T::TEXT_ARRAY, T::TEXT_ARRAY], T::JSONB, object_b),
];

/// The forms with one `VARIADIC array`.
pub(in crate::functions) static SPREAD: &[Function] = &[
    f("json_build_array", &[T::ANYARRAY], T::JSON, |env, args, site| spread(env, args, site, build_array))
        .variadic()
        .stable(),
    f("json_build_object", &[T::ANYARRAY], T::JSON, |env, args, site| spread(env, args, site, build_object))
        .variadic()
        .stable(),
    f("jsonb_build_array", &[T::ANYARRAY], T::JSONB, |env, args, site| spread(env, args, site, build_array_b))
        .variadic()
        .stable(),
    f("jsonb_build_object", &[T::ANYARRAY], T::JSONB, |env, args, site| spread(env, args, site, build_object_b))
        .variadic()
        .stable(),
];

fn to_json(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let pretty = args.len() > 1 && args.bool(1)?;
    let mut out = String::new();
    write(&mut out, &args[0], site.args[0].ty, pretty, env);
    Ok(Datum::text(out))
}

fn to_json_b(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    to_jsonb(&args[0], site.args[0].ty, env).map(jsonb)
}

/// The arguments with their types.
fn typed<'a>(args: &'a [Datum], site: &Site<'_>) -> Vec<(&'a Datum, T)> {
    args.iter().zip(site.args).map(|(value, typed)| (value, typed.ty)).collect()
}

fn build_array(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let mut out = String::from("[");
    for (at, (value, ty)) in typed(args, site).into_iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        write(&mut out, value, ty, false, env);
    }
    out.push(']');
    Ok(Datum::text(out))
}

fn build_array_b(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let items = typed(args, site).into_iter().map(|(value, ty)| to_jsonb(value, ty, env));
    Ok(jsonb(Json::Array(items.collect::<Result<Vec<_>>>()?)))
}

/// The arguments in pairs of key and value.
fn pairs<'a>(
    args: &'a [Datum],
    site: &Site<'_>,
    name: &str,
    null_key: impl Fn(usize) -> String,
    env: &dyn Env,
) -> Result<Vec<(String, &'a Datum, T)>> {
    let typed = typed(args, site);
    if typed.len() % 2 == 1 {
        return Err(invalid("argument list must have even number of elements")
            .hint(format!("The arguments of {name}() must consist of alternating keys and values.")));
    }
    let pairs = typed.chunks(2).enumerate().map(|(at, pair)| {
        let ((name, name_type), (value, ty)) = (pair[0], pair[1]);
        if name.is_null() {
            return Err(invalid(null_key(at * 2 + 1)));
        }
        Ok((key(name, name_type, env)?, value, ty))
    });
    pairs.collect()
}

fn build_object(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let null_key = |at| format!("argument {at} cannot be null");
    let pairs = pairs(args, site, "json_build_object", null_key, env).map_err(|error| {
        if error.fields().message.starts_with("argument ") && error.fields().hint.is_none() {
            error.hint("Object keys should be text.")
        } else {
            error
        }
    })?;
    let mut out = String::from("{");
    for (at, (key, value, ty)) in pairs.into_iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        quote(&mut out, &key);
        out.push_str(" : ");
        write(&mut out, value, ty, false, env);
    }
    out.push('}');
    Ok(Datum::text(out))
}

fn build_object_b(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let pairs = pairs(args, site, "jsonb_build_object", |at| format!("argument {at}: key must not be null"), env)?;
    let entries = pairs.into_iter().map(|(key, value, ty)| Ok((key, to_jsonb(value, ty, env)?)));
    Ok(jsonb(Json::object(entries.collect::<Result<Vec<_>>>()?)))
}

/// Keys and values from one array in pairs, or from two arrays.
fn entries(args: &[Datum]) -> Result<Vec<(String, Option<String>)>> {
    let shape = |message: &str| SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message);
    let text = |datum: &Datum| if let Datum::Text(text) = datum { Some(text.to_string()) } else { None };
    let key = |datum: &Datum| {
        text(datum)
            .ok_or_else(|| SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "null value not allowed for object key"))
    };
    let first: &ArrayValue = args.array(0)?;
    if args.len() > 1 {
        let second = args.array(1)?;
        if first.dimensions.len() > 1 || first.dimensions.len() != second.dimensions.len() {
            return Err(shape("wrong number of array subscripts"));
        }
        if first.items.len() != second.items.len() {
            return Err(shape("mismatched array dimensions"));
        }
        return first.items.iter().zip(&second.items).map(|(name, value)| Ok((key(name)?, text(value)))).collect();
    }
    match first.dimensions.as_slice() {
        [] => {}
        [(length, _)] if length % 2 == 1 => return Err(shape("array must have even number of elements")),
        [_] | [_, (2, _)] => {}
        [_, _] => return Err(shape("array must have two columns")),
        _ => return Err(shape("wrong number of array subscripts")),
    }
    first.items.chunks(2).map(|pair| Ok((key(&pair[0])?, text(&pair[1])))).collect()
}

fn object(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let mut out = String::from("{");
    for (at, (key, value)) in entries(args)?.into_iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        quote(&mut out, &key);
        out.push_str(" : ");
        match value {
            Some(value) => quote(&mut out, &value),
            None => out.push_str("null"),
        }
    }
    out.push('}');
    Ok(Datum::text(out))
}

fn object_b(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let entries = entries(args)?.into_iter().map(|(key, value)| (key, value.map_or(Json::Null, Json::String)));
    Ok(jsonb(Json::object(entries.collect())))
}
