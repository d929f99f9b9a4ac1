//! Values as text: what `'…'::type` reads and what clients are shown.

use std::fmt::Write;
use std::sync::Arc;

use crate::Env;
use crate::datetime;
use crate::error::{Result, SqlError, SqlState};
use crate::hstore::Pairs;
use crate::json::Json;
use crate::json::path::Path;
use crate::numeric::Numeric;
use crate::scalar::float::{self, Width};
use crate::scalar::{bytea, integer, parse_bool, string, uuid};
use crate::{Datum, EnumLabel, Form, Type, Typed, array, bits, kind, money, names, network, record, reg};

/// Reads a value of a type, as a literal or a client's parameter has it.
///
/// The modifier counts as in an assignment: text that is too long for varchar(n) is an error. A domain's own conditions are
/// for the caller to check.
pub fn input(text: &str, typed: Typed, env: &dyn Env) -> Result<Datum> {
    let modifier = typed.modifier;
    Ok(match typed.ty {
        Type::INT2 | Type::INT4 | Type::INT8 => Datum::Int(integer::parse(text, typed.ty)?),
        Type::TEXT | Type::UNKNOWN | Type::CSTRING | Type::REFCURSOR | Type::PG_NODE_TREE => Datum::text(text),
        Type::VARCHAR => Datum::text(string::fit_varchar(text, modifier, false)?),
        Type::BPCHAR => Datum::text(string::fit_char(text, modifier, false)?),
        Type::NAME => Datum::text(string::fit_name(text)),
        Type::CHAR_INTERNAL => Datum::text(string::fit_single(text)),
        Type::BOOL => Datum::Bool(parse_bool(text)?),
        Type::NUMERIC => Datum::Numeric(Arc::new(Numeric::parse(text)?.constrain(modifier)?)),
        Type::FLOAT4 => Datum::Float(float::parse(text, Width::Single)?),
        Type::FLOAT8 => Datum::Float(float::parse(text, Width::Double)?),
        Type::BYTEA => Datum::Bytes(bytea::parse(text)?.into()),
        Type::UUID => Datum::Uuid(Box::new(uuid::parse(text)?)),
        Type::DATE => Datum::Date(datetime::parse_date(text, env)?),
        Type::TIME => Datum::Time(datetime::parse_time(text, modifier, env)?),
        Type::TIMETZ => {
            let (micros, zone) = datetime::parse_timetz(text, modifier, env)?;
            Datum::TimeTz(micros, zone)
        }
        Type::TIMESTAMP => Datum::Timestamp(datetime::parse_timestamp(text, modifier, env)?),
        Type::TIMESTAMPTZ => Datum::Timestamp(datetime::parse_timestamptz(text, modifier, env)?),
        Type::INTERVAL => Datum::Interval(datetime::parse_interval(text, modifier, env)?),
        Type::JSON => {
            Json::validate(text)?;
            Datum::text(text)
        }
        Type::JSONPATH => Datum::text(Path::parse(text)?.to_string()),
        Type::JSONB => Datum::Jsonb(Arc::new(Json::parse(text)?)),
        Type::OID | Type::XID | Type::CID => Datum::Int(integer::parse_oid(text)?),
        Type::XID8 => Datum::Int(integer::parse_xid8(text)?),
        Type::TID => Datum::text(names::parse_tid(text)?),
        Type::PG_LSN => Datum::text(names::parse_lsn(text)?),
        Type::INET => Datum::text(network::parse_inet(text)?),
        Type::CIDR => Datum::text(network::parse_cidr(text)?),
        Type::MACADDR => Datum::text(network::parse_macaddr(text)?),
        Type::BIT => Datum::text(bits::parse_bit(text, modifier)?),
        Type::VARBIT => Datum::text(bits::parse_varbit(text, modifier)?),
        Type::MONEY => Datum::Int(money::parse(text)?),
        Type::INT2VECTOR => array::parse_vector(text, Type::INT2, env)?,
        Type::OIDVECTOR => array::parse_vector(text, Type::OID, env)?,
        Type::VOID => Datum::text(""),
        ty if reg::is_reg(ty) => Datum::Int(reg::parse(text, ty, env)?),
        ty => input_other(text, Typed { ty, modifier }, env)?,
    })
}

/// Arrays, and what users define.
fn input_other(text: &str, typed: Typed, env: &dyn Env) -> Result<Datum> {
    let catalog = env.defined();
    if let Some(element) = kind::element(typed.ty, catalog) {
        return array::parse(text, Typed { ty: element, modifier: typed.modifier }, env);
    }
    match catalog.definition(typed.ty).map(|definition| (definition.form, definition.ty)) {
        Some((Form::Enum(labels), ty)) => {
            let found = labels.iter().find(|(_, _, label)| &**label == text);
            let (_, order, label) = found.ok_or_else(|| {
                let name = names::format_type(typed.ty, None, env);
                SqlError::new(
                    SqlState::INVALID_TEXT_REPRESENTATION,
                    format!("invalid input value for enum {name}: \"{text}\""),
                )
            })?;
            Ok(Datum::Enum(Arc::new(EnumLabel { ty, order: *order, label: label.to_string() })))
        }
        Some((Form::Domain(base), _)) => input(text, base, env),
        Some((Form::Composite(fields), ty)) => record::parse(text, ty, fields, env),
        Some((Form::Extension(_), Type::HSTORE)) => Ok(Datum::text(Pairs::parse(text)?.to_string())),
        Some((Form::Extension(_), _)) => Ok(Datum::text(text)),
        None if typed.ty == Type::RECORD => {
            Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "input of anonymous composite types is not implemented"))
        }
        None => Err(unsupported(typed.ty)),
    }
}

/// Shows a value. NULL is shown as nothing: what stands for it depends on where it is shown.
pub fn output(datum: &Datum, ty: Type, env: &dyn Env) -> String {
    match datum {
        Datum::Text(text) if ty != Type::BIT => text.to_string(),
        _ => {
            let mut out = String::new();
            output_into(&mut out, datum, ty, env);
            out
        }
    }
}

/// Shows a value at the end of a text.
pub fn output_into(out: &mut String, datum: &Datum, ty: Type, env: &dyn Env) {
    match datum {
        Datum::Null => {}
        Datum::Int(value) => match ty {
            Type::INT4 | Type::INT8 | Type::INT2 | Type::OID => push_display(out, value),
            Type::XID8 => push_display(out, &(*value as u64)),
            Type::MONEY => money::show(out, *value),
            _ if reg::is_reg(ty) => reg::show(out, *value, ty, env),
            _ => push_display(out, value),
        },
        Datum::Text(text) => out.push_str(text),
        Datum::Bool(value) => out.push(if *value { 't' } else { 'f' }),
        Datum::Float(value) => {
            let width = if ty == Type::FLOAT4 { Width::Single } else { Width::Double };
            float::show(out, *value, width, env.settings().extra_float_digits);
        }
        Datum::Numeric(value) => push_display(out, value),
        Datum::Bytes(bytes) => match env.settings().bytea_output.as_str() {
            "escape" => bytea::show_escaped(out, bytes),
            _ => bytea::show_hex(out, bytes),
        },
        Datum::Date(days) => datetime::show_date(out, *days, env),
        Datum::Time(micros) => datetime::show_time(out, *micros),
        Datum::TimeTz(micros, zone) => datetime::show_timetz(out, *micros, *zone),
        Datum::Timestamp(micros) => match ty {
            Type::TIMESTAMPTZ => datetime::show_timestamptz(out, *micros, env),
            _ => datetime::show_timestamp(out, *micros, env),
        },
        Datum::Interval(interval) => datetime::show_interval(out, interval, env),
        Datum::Uuid(value) => uuid::show(out, **value),
        Datum::Jsonb(json) => push_display(out, json),
        Datum::Array(value) if matches!(ty, Type::INT2VECTOR | Type::OIDVECTOR) => array::show_vector(out, value, env),
        Datum::Array(value) => array::show(out, value, env),
        Datum::Record(value) => record::show(out, value, env),
        Datum::Enum(label) => out.push_str(label.text(env.defined())),
    }
}

fn push_display(out: &mut String, value: &impl std::fmt::Display) {
    let _ = write!(out, "{value}");
}

/// The error for a type whose values are not supported.
pub fn unsupported(ty: Type) -> SqlError {
    match super::builtin::by_oid(ty) {
        Some(builtin) if builtin.kind == 'p' => SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            format!("cannot accept a value of type {}", builtin.sql_name),
        ),
        Some(builtin) => SqlError::unsupported(format!("type {}", builtin.sql_name)),
        None => SqlError::new(SqlState::UNDEFINED_OBJECT, format!("type with OID {} does not exist", ty.0)),
    }
}
