//! Any value as JSON.

use crate::error::Result;
use crate::functions::Env;
use crate::types::datetime::calendar::SECOND;
use crate::types::json::{Json, quote};
use crate::types::{ArrayValue, Datum, RecordValue, Type as T, datetime, kind, text};

/// How a value of a type is written in JSON.
enum Form {
    Bool,
    Number,
    /// A date or time: ISO 8601, with a `T`.
    Instant,
    Json,
    Jsonb,
    Array,
    Row,
    Text,
}

fn form(datum: &Datum, ty: T, env: &dyn Env) -> Form {
    match (datum, kind::base(ty.into(), env.catalog()).ty) {
        (Datum::Array(_), T::INT2VECTOR | T::OIDVECTOR) => Form::Array,
        (Datum::Array(_), _) => Form::Array,
        (Datum::Record(_), _) => Form::Row,
        (Datum::Jsonb(_), _) => Form::Jsonb,
        (_, T::BOOL) => Form::Bool,
        (_, T::INT2 | T::INT4 | T::INT8 | T::FLOAT4 | T::FLOAT8 | T::NUMERIC) => Form::Number,
        (_, T::DATE | T::TIMESTAMP | T::TIMESTAMPTZ) => Form::Instant,
        (_, T::JSON) => Form::Json,
        _ => Form::Text,
    }
}

/// Writes a value as json. Arrays and rows are compact; `pretty` puts their first level on lines of their own.
pub(in crate::functions) fn write(out: &mut String, datum: &Datum, ty: T, pretty: bool, env: &dyn Env) {
    if datum.is_null() {
        out.push_str("null");
        return;
    }
    match (form(datum, ty, env), datum) {
        (Form::Bool, Datum::Bool(value)) => out.push_str(if *value { "true" } else { "false" }),
        (Form::Number, _) => {
            let shown = text::output(datum, ty, env);
            if is_number(&shown) { out.push_str(&shown) } else { quote(out, &shown) }
        }
        (Form::Instant, _) => quote(out, &instant(datum, ty, env)),
        (Form::Json, Datum::Text(json)) => out.push_str(json),
        (Form::Jsonb, Datum::Jsonb(json)) => out.push_str(&json.to_string()),
        (Form::Array, Datum::Array(array)) => write_array(out, array, pretty, env),
        (Form::Row, Datum::Record(record)) => write_row(out, record, pretty, env),
        _ => quote(out, &text::output(datum, ty, env)),
    }
}

/// Whether a number is one for JSON: NaN and infinities are not.
fn is_number(text: &str) -> bool {
    !text.contains(['N', 'I'])
}

/// A date or a time in ISO 8601, whatever DateStyle is.
fn instant(datum: &Datum, ty: T, env: &dyn Env) -> String {
    let mut out = String::new();
    match datum {
        Datum::Date(days) => datetime::show_iso_date(&mut out, *days),
        Datum::Timestamp(micros) if kind::base(ty.into(), env.catalog()).ty == T::TIMESTAMPTZ => {
            let zone = datetime::zone::of_setting(&env.settings().time_zone);
            let offset = zone.at(micros.div_euclid(SECOND)).offset;
            let local = match *micros {
                i64::MAX | i64::MIN => *micros,
                micros => micros.saturating_add(i64::from(offset) * SECOND),
            };
            datetime::show_iso_8601(&mut out, local, Some(offset));
        }
        Datum::Timestamp(micros) => datetime::show_iso_8601(&mut out, *micros, None),
        _ => return text::output(datum, ty, env),
    }
    out
}

fn write_array(out: &mut String, array: &ArrayValue, pretty: bool, env: &dyn Env) {
    if array.items.is_empty() {
        out.push_str("[]");
        return;
    }
    let lengths: Vec<usize> = array.dimensions.iter().map(|(length, _)| *length).collect();
    write_dimension(out, array, &lengths, &array.items, if pretty { ",\n " } else { "," }, env);
}

fn write_dimension(
    out: &mut String,
    array: &ArrayValue,
    lengths: &[usize],
    items: &[Datum],
    separator: &str,
    env: &dyn Env,
) {
    out.push('[');
    let count = lengths[0].max(1);
    for (at, part) in items.chunks((items.len() / count).max(1)).enumerate() {
        if at > 0 {
            out.push_str(separator);
        }
        if lengths.len() > 1 {
            write_dimension(out, array, &lengths[1..], part, ",", env);
        } else {
            write(out, &part[0], array.element, false, env);
        }
    }
    out.push(']');
}

fn write_row(out: &mut String, record: &RecordValue, pretty: bool, env: &dyn Env) {
    out.push('{');
    for (at, ((name, typed), value)) in record.shape.fields.iter().zip(&record.fields).enumerate() {
        if at > 0 {
            out.push_str(if pretty { ",\n " } else { "," });
        }
        quote(out, name);
        out.push(':');
        write(out, value, typed.ty, false, env);
    }
    out.push('}');
}

/// A value as jsonb.
pub(in crate::functions) fn to_jsonb(datum: &Datum, ty: T, env: &dyn Env) -> Result<Json> {
    if datum.is_null() {
        return Ok(Json::Null);
    }
    Ok(match (form(datum, ty, env), datum) {
        (Form::Bool, Datum::Bool(value)) => Json::Bool(*value),
        (Form::Number, Datum::Int(value)) => Json::number(*value),
        (Form::Number, _) => {
            let shown = text::output(datum, ty, env);
            if is_number(&shown) { Json::parse(&shown)? } else { Json::String(shown) }
        }
        (Form::Instant, _) => Json::String(instant(datum, ty, env)),
        (Form::Json, Datum::Text(json)) => Json::parse(json)?,
        (Form::Jsonb, Datum::Jsonb(json)) => (**json).clone(),
        (Form::Array, Datum::Array(array)) => {
            let lengths: Vec<usize> = array.dimensions.iter().map(|(length, _)| *length).collect();
            array_to_jsonb(array, &lengths, &array.items, env)?
        }
        (Form::Row, Datum::Record(record)) => {
            let fields = record.shape.fields.iter().zip(&record.fields);
            let entries = fields.map(|((name, typed), value)| Ok((name.to_string(), to_jsonb(value, typed.ty, env)?)));
            Json::object(entries.collect::<Result<Vec<_>>>()?)
        }
        _ => Json::String(text::output(datum, ty, env)),
    })
}

fn array_to_jsonb(array: &ArrayValue, lengths: &[usize], items: &[Datum], env: &dyn Env) -> Result<Json> {
    let Some(count) = lengths.first() else { return Ok(Json::Array(Vec::new())) };
    let parts = items.chunks((items.len() / (*count).max(1)).max(1)).map(|part| {
        if lengths.len() > 1 {
            array_to_jsonb(array, &lengths[1..], part, env)
        } else {
            to_jsonb(&part[0], array.element, env)
        }
    });
    Ok(Json::Array(parts.collect::<Result<Vec<_>>>()?))
}

/// A value as the key of an object.
pub(in crate::functions) fn key(datum: &Datum, ty: T, env: &dyn Env) -> Result<String> {
    match datum {
        Datum::Array(_) | Datum::Record(_) | Datum::Jsonb(_) => Err(bad_key()),
        _ if ty == T::JSON => Err(bad_key()),
        Datum::Bool(value) => Ok(if *value { "true" } else { "false" }.to_owned()),
        _ => match form(datum, ty, env) {
            Form::Instant => Ok(instant(datum, ty, env)),
            _ => Ok(text::output(datum, ty, env)),
        },
    }
}

fn bad_key() -> crate::error::SqlError {
    super::invalid("key value must be scalar, not array, composite, or json")
}
