//! The objects that `regclass`, `regproc` and their like name: those of the catalog, of PostgreSQL's own catalogs, and the
//! built-in functions.

use crate::catalog::ParameterMode::{In, InOut, Variadic};
use crate::catalog::{Catalog, INFORMATION_SCHEMA, Oid, PG_CATALOG, UserFunction};
use crate::error::{Result, SqlError, SqlState};
use crate::functions::numbered;
use crate::system::initial;
use crate::types::names::{format_type, search_path};
use crate::types::{Env, ObjectNames, Type, collation, names, quote};

#[cfg(test)]
mod tests;

/// The one role that owns everything.
const BOOTSTRAP_ROLE: Oid = 10;

impl ObjectNames for Catalog {
    fn number(&self, text: &str, ty: Type, env: &dyn Env) -> Result<i64> {
        number(text, ty, self, env)
    }

    fn name(&self, oid: Oid, ty: Type, env: &dyn Env) -> Option<String> {
        name(oid, ty, self, env)
    }
}

/// The number of the object that a text names.
fn number(text: &str, ty: Type, catalog: &Catalog, env: &dyn Env) -> Result<i64> {
    let found = match ty {
        Type::REGCLASS => find_relation(text, catalog, env)?,
        Type::REGNAMESPACE => {
            let name = one_part(text)?;
            let schema = catalog.schema(&name).map(|schema| schema.oid);
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
        Type::REGCOLLATION => {
            let name = parts_of(text)?.pop().unwrap_or_default();
            return collation::number(&name, &name, &names::search_path(env), catalog).map(i64::from);
        }
        Type::REGPROC => find_function(text, catalog, env)?,
        Type::REGPROCEDURE => find_procedure(text, catalog, env)?,
        _ => None,
    };
    found.map(i64::from).ok_or_else(|| match ty {
        Type::REGCLASS => {
            let name = quote::split_qualified(text).map_or_else(|| text.to_owned(), |parts| parts.join("."));
            SqlError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist"))
        }
        Type::REGPROC => SqlError::new(SqlState::UNDEFINED_FUNCTION, format!("function \"{text}\" does not exist")),
        _ => crate::types::text::unsupported(ty),
    })
}

/// The relation that this name (qualified or not) finds; an error only if it is not a name.
fn find_relation(text: &str, catalog: &Catalog, env: &dyn Env) -> Result<Option<Oid>> {
    let parts = parts_of(text)?;
    let in_schema = |schema: Oid, name: &str| {
        let made_up = || {
            let schema = catalog.schemas.get(&schema)?;
            let made_up = crate::system::table(&schema.name, name).map(|table| table.oid);
            made_up.or_else(|| initial::relation_named(schema.oid, name))
        };
        catalog.relation_in(schema, name).map(|relation| relation.oid).or_else(made_up)
    };
    Ok(match &parts[..] {
        [name] => search_path(env).into_iter().find_map(|schema| in_schema(schema, name)),
        [database, schema, name] if *database != env.settings().database => {
            return Err(names::cross_database(&format!("\"{database}.{schema}.{name}\"")));
        }
        [schema, name] | [_, schema, name] => catalog.schema(schema).and_then(|schema| in_schema(schema.oid, name)),
        _ => return Err(invalid_name()),
    })
}

/// The function with this name; several are an error.
fn find_function(text: &str, catalog: &Catalog, env: &dyn Env) -> Result<Option<Oid>> {
    let parts = parts_of(text)?;
    let path = match &parts[..] {
        [_] => search_path(env),
        [schema, _] => catalog.schema(schema).map(|schema| schema.oid).into_iter().collect(),
        _ => return Err(invalid_name()),
    };
    let name = parts.last().expect("a name has a part").as_str();
    let mut found = Vec::new();
    if path.contains(&PG_CATALOG) {
        found.extend(initial::functions_named(name));
        if found.is_empty() {
            found.extend(numbered().filter(|(_, function)| function.name == name).map(|(number, _)| number));
        }
    }
    let users = catalog.functions.values();
    let named = users.filter(|function| path.contains(&function.schema) && &*function.name == name);
    found.extend(named.map(|function| function.oid));
    match found[..] {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => Err(SqlError::new(SqlState::AMBIGUOUS_FUNCTION, format!("more than one function named \"{text}\""))),
    }
}

/// The name of a function.
fn function_name(oid: Oid, catalog: &Catalog) -> Option<String> {
    if let Some(function) = catalog.functions.get(&oid) {
        return Some(quote::identifier(&function.name));
    }
    let built_in = || numbered().find(|(number, _)| *number == oid).map(|(_, function)| function.name.to_owned());
    match initial::function(oid) {
        Some((name, INFORMATION_SCHEMA)) => Some(format!("information_schema.{}", quote::identifier(name))),
        Some((name, _)) => Some(quote::identifier(name)),
        None => built_in(),
    }
}

/// A function's name and the types of its arguments: `lower(text)`.
fn signature(text: &str) -> Option<(&str, Vec<&str>)> {
    let (name, rest) = text.trim_end().strip_suffix(')')?.split_once('(')?;
    let types = rest.split(',').map(str::trim).filter(|ty| !ty.is_empty());
    Some((name.trim(), types.collect()))
}

/// The function with this name and these argument types.
fn find_procedure(text: &str, catalog: &Catalog, env: &dyn Env) -> Result<Option<Oid>> {
    let (name, types) = signature(text)
        .ok_or_else(|| SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, "expected a left parenthesis"))?;
    let types = types.iter().map(|ty| Ok(names::parse(ty, env)?.ty)).collect::<Result<Vec<Type>>>()?;
    let parts = parts_of(name)?;
    let name = parts.last().expect("a name has a part").as_str();
    let inputs = |function: &UserFunction| {
        let inputs = function.parameters.iter().filter(|parameter| matches!(parameter.mode, In | InOut | Variadic));
        inputs.map(|parameter| parameter.typed.ty).collect::<Vec<_>>()
    };
    let mut users = catalog.functions.values();
    if let Some(function) = users.find(|function| &*function.name == name && inputs(function) == types) {
        return Ok(Some(function.oid));
    }
    let built_in = numbered().find(|(_, function)| function.name == name && function.args == types);
    let known =
        || initial::functions_named(name).find(|oid| initial::arguments(*oid).is_some_and(|args| args == types));
    Ok(built_in.map(|(number, _)| number).or_else(known))
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

/// The name of the object with a number.
fn name(oid: Oid, ty: Type, catalog: &Catalog, env: &dyn Env) -> Option<String> {
    match (oid, ty) {
        (oid, Type::REGCLASS) => relation_name(oid, catalog, env),
        (oid, Type::REGNAMESPACE) => catalog.schemas.get(&oid).map(|schema| quote::identifier(&schema.name)),
        (BOOTSTRAP_ROLE, Type::REGROLE) => Some("postgres".to_owned()),
        (oid, Type::REGCOLLATION) => collation::name(oid, catalog).map(|name| quote::identifier(&name)),
        (oid, Type::REGPROC) => function_name(oid, catalog),
        (oid, Type::REGPROCEDURE) => procedure_name(oid, catalog, env),
        _ => None,
    }
}

/// A function's name with the types of its arguments.
fn procedure_name(oid: Oid, catalog: &Catalog, env: &dyn Env) -> Option<String> {
    let types: Vec<Type> = match catalog.functions.get(&oid) {
        Some(function) => {
            let inputs = function.parameters.iter().filter(|parameter| matches!(parameter.mode, In | InOut | Variadic));
            inputs.map(|parameter| parameter.typed.ty).collect()
        }
        None => match initial::arguments(oid) {
            Some(types) => types,
            None => numbered().find(|(number, _)| *number == oid)?.1.args.to_vec(),
        },
    };
    let types: Vec<String> = types.iter().map(|ty| format_type(*ty, None, env)).collect();
    Some(format!("{}({})", function_name(oid, catalog)?, types.join(",")))
}

/// A relation's name, with its schema where the search path does not find it.
fn relation_name(oid: Oid, catalog: &Catalog, env: &dyn Env) -> Option<String> {
    let Some(relation) = catalog.relation(oid) else {
        let (name, schema) = initial::relation(oid)?;
        return Some(match schema {
            PG_CATALOG => name.to_owned(),
            INFORMATION_SCHEMA => format!("information_schema.{name}"),
            _ => format!("pg_toast.{name}"),
        });
    };
    let name = quote::identifier(&relation.name);
    let found = search_path(env).into_iter().find_map(|schema| catalog.relation_in(schema, &relation.name));
    if found.is_some_and(|found| found.oid == oid) {
        return Some(name);
    }
    let schema = catalog.schemas.get(&relation.schema)?;
    Some(format!("{}.{name}", quote::identifier(&schema.name)))
}
