//! `regclass`, `regtype` and their like: numbers of objects that are read and shown as names.

use std::fmt::Write;

use crate::catalog::Oid;
use crate::catalog::ParameterMode::{In, InOut, Variadic};
use crate::error::{Result, SqlError, SqlState};
use crate::functions::Env;
use crate::types::names::{format_type, search_path};
use crate::types::{Type, names, quote};

/// The one role that owns everything.
const BOOTSTRAP_ROLE: Oid = 10;

/// Whether it is one of them.
pub fn is_reg(ty: Type) -> bool {
    matches!(
        ty,
        Type::REGCLASS
            | Type::REGTYPE
            | Type::REGPROC
            | Type::REGPROCEDURE
            | Type::REGNAMESPACE
            | Type::REGROLE
            | Type::REGOPER
            | Type::REGOPERATOR
            | Type::REGCONFIG
    )
}

/// Reads a name, a number, or `-` for none.
pub fn parse(text: &str, ty: Type, env: &dyn Env) -> Result<i64> {
    if text == "-" {
        return Ok(0);
    }
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return super::scalar::integer::parse_oid(text);
    }
    let found = match ty {
        Type::REGCLASS => find_relation(text, env)?,
        Type::REGTYPE => Some(names::parse(text, env)?.ty.0),
        Type::REGNAMESPACE => {
            let name = one_part(text)?;
            let schema = env.catalog().schema(&name).map(|schema| schema.oid);
            return schema.map(i64::from).ok_or_else(|| {
                SqlError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{name}\" does not exist"))
            });
        }
        Type::REGROLE => match one_part(text)?.as_str() {
            "postgres" => Some(BOOTSTRAP_ROLE),
            name => {
                return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, format!("role \"{name}\" does not exist")));
            }
        },
        Type::REGPROC => find_function(text, env)?,
        _ => None,
    };
    found.map(i64::from).ok_or_else(|| match ty {
        Type::REGCLASS => {
            let name = quote::split_qualified(text).map_or_else(|| text.to_owned(), |parts| parts.join("."));
            SqlError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist"))
        }
        Type::REGPROC => SqlError::new(SqlState::UNDEFINED_FUNCTION, format!("function \"{text}\" does not exist")),
        _ => super::text::unsupported(ty),
    })
}

/// The relation that this name (qualified or not) finds; an error only if it is not a name.
pub fn find_relation(text: &str, env: &dyn Env) -> Result<Option<Oid>> {
    let catalog = env.catalog();
    let parts = parts_of(text)?;
    let in_schema = |schema: Oid, name: &str| {
        let made_up = || {
            let schema = catalog.schemas.get(&schema)?;
            crate::system::table(&schema.name, name).map(|table| table.oid)
        };
        catalog.relation_in(schema, name).map(|relation| relation.oid).or_else(made_up)
    };
    Ok(match &parts[..] {
        [name] => search_path(env).into_iter().find_map(|schema| in_schema(schema, name)),
        [schema, name] | [_, schema, name] => catalog.schema(schema).and_then(|schema| in_schema(schema.oid, name)),
        _ => return Err(invalid_name()),
    })
}

/// The user's function with this name; several are an error.
fn find_function(text: &str, env: &dyn Env) -> Result<Option<Oid>> {
    let parts = parts_of(text)?;
    let catalog = env.catalog();
    let path = match &parts[..] {
        [_] => search_path(env),
        [schema, _] => catalog.schema(schema).map(|schema| schema.oid).into_iter().collect(),
        _ => return Err(invalid_name()),
    };
    let name = parts.last().expect("a name has a part");
    let mut found =
        catalog.functions.values().filter(|function| path.contains(&function.schema) && *function.name == **name);
    match (found.next(), found.next()) {
        (Some(_), Some(_)) => {
            Err(SqlError::new(SqlState::AMBIGUOUS_FUNCTION, format!("more than one function named \"{text}\"")))
        }
        (one, _) => Ok(one.map(|function| function.oid)),
    }
}

fn parts_of(text: &str) -> Result<Vec<String>> {
    quote::split_qualified(text).ok_or_else(invalid_name)
}

fn one_part(text: &str) -> Result<String> {
    match parts_of(text)?.as_mut_slice() {
        [name] => Ok(std::mem::take(name)),
        _ => Err(invalid_name()),
    }
}

fn invalid_name() -> SqlError {
    SqlError::new(SqlState::INVALID_NAME, "invalid name syntax")
}

/// Shows the object's name, or its number if there is no such object.
pub fn show(out: &mut String, oid: i64, ty: Type, env: &dyn Env) {
    let catalog = env.catalog();
    let name = match (oid as Oid, ty) {
        (0, _) => Some("-".to_owned()),
        (oid, Type::REGTYPE) => Some(format_type(Type(oid), None, env)).filter(|name| name != "???"),
        (oid, Type::REGCLASS) => relation_name(oid, env),
        (oid, Type::REGNAMESPACE) => catalog.schemas.get(&oid).map(|schema| quote::identifier(&schema.name)),
        (BOOTSTRAP_ROLE, Type::REGROLE) => Some("postgres".to_owned()),
        (oid, Type::REGPROC) => catalog.functions.get(&oid).map(|function| quote::identifier(&function.name)),
        (oid, Type::REGPROCEDURE) => catalog.functions.get(&oid).map(|function| {
            let inputs = function.parameters.iter().filter(|parameter| matches!(parameter.mode, In | InOut | Variadic));
            let types: Vec<String> = inputs.map(|parameter| format_type(parameter.typed.ty, None, env)).collect();
            format!("{}({})", quote::identifier(&function.name), types.join(","))
        }),
        _ => None,
    };
    match name {
        Some(name) => out.push_str(&name),
        None => {
            let _ = write!(out, "{oid}");
        }
    }
}

/// A relation's name, with its schema where the search path does not find it.
pub fn relation_name(oid: Oid, env: &dyn Env) -> Option<String> {
    let catalog = env.catalog();
    let relation = catalog.relation(oid)?;
    let name = quote::identifier(&relation.name);
    let found = search_path(env).into_iter().find_map(|schema| catalog.relation_in(schema, &relation.name));
    if found.is_some_and(|found| found.oid == oid) {
        return Some(name);
    }
    let schema = catalog.schemas.get(&relation.schema)?;
    Some(format!("{}.{name}", quote::identifier(&schema.name)))
}
