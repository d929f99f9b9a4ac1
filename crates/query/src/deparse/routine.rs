//! Functions as text: their signatures and definitions.

use std::sync::Arc;

use crate::catalog::{Language, Oid, Parameter, ParameterMode, Returns, UserFunction, Volatility};
use crate::deparse::relation::in_schema;
use crate::deparse::{self, Style};
use crate::functions::Env;
use crate::types::{Type as T, names, quote};

fn user_function(env: &dyn Env, oid: Oid) -> Option<&Arc<UserFunction>> {
    env.catalog().functions.get(&oid)
}

fn parameter_text(env: &dyn Env, parameter: &Parameter, procedure: bool, defaults: bool) -> String {
    let mode = match parameter.mode {
        ParameterMode::In if procedure => "IN ",
        ParameterMode::In | ParameterMode::Table => "",
        ParameterMode::Out => "OUT ",
        ParameterMode::InOut => "INOUT ",
        ParameterMode::Variadic => "VARIADIC ",
    };
    let name = parameter.name.as_ref().map_or_else(String::new, |name| format!("{} ", quote::identifier(name)));
    let ty = names::format_type(parameter.typed.ty, Some(parameter.typed.modifier), env);
    let default = parameter.default.as_ref().filter(|_| defaults);
    let default = default.map_or_else(String::new, |default| {
        format!(" DEFAULT {}", deparse::expression(env, default, None, Style::Plain))
    });
    format!("{mode}{name}{ty}{default}")
}

fn arguments_text(env: &dyn Env, function: &UserFunction, defaults: bool) -> String {
    let shown = function.parameters.iter().filter(|parameter| parameter.mode != ParameterMode::Table);
    shown.map(|parameter| parameter_text(env, parameter, function.procedure, defaults)).collect::<Vec<_>>().join(", ")
}

/// The parameters of a function.
pub(super) fn arguments(env: &dyn Env, oid: Oid, defaults: bool) -> Option<String> {
    user_function(env, oid).map(|function| arguments_text(env, function, defaults))
}

fn result_text(env: &dyn Env, function: &UserFunction) -> Option<String> {
    let shown = |ty: T| names::format_type(ty, None, env);
    Some(match &function.returns {
        Returns::Nothing => return None,
        Returns::One(typed) => shown(typed.ty),
        Returns::Set(typed) => format!("SETOF {}", shown(typed.ty)),
        Returns::Trigger => "trigger".to_owned(),
        Returns::Table => {
            let columns = function.parameters.iter().filter(|parameter| parameter.mode == ParameterMode::Table);
            let columns: Vec<String> = columns.map(|column| parameter_text(env, column, false, false)).collect();
            format!("TABLE({})", columns.join(", "))
        }
    })
}

/// What a function returns.
pub(super) fn result(env: &dyn Env, oid: Oid) -> Option<String> {
    let function = user_function(env, oid).filter(|function| !function.procedure)?;
    result_text(env, function)
}

/// A function.
pub(super) fn function(env: &dyn Env, oid: Oid) -> Option<String> {
    let function = user_function(env, oid)?;
    let what = if function.procedure { "PROCEDURE" } else { "FUNCTION" };
    let mut text = format!(
        "CREATE OR REPLACE {what} {}({})\n",
        in_schema(env.catalog(), function.schema, &function.name),
        arguments_text(env, function, true)
    );
    if let Some(returns) = result_text(env, function).filter(|_| !function.procedure) {
        text += &format!(" RETURNS {returns}\n");
    }
    text += &format!(" LANGUAGE {}\n", if function.language == Language::Sql { "sql" } else { "plpgsql" });
    let volatility = match function.volatility {
        Volatility::Immutable => " IMMUTABLE",
        Volatility::Stable => " STABLE",
        Volatility::Volatile => "",
    };
    let traits = &function.traits;
    let mut words = volatility.to_owned();
    words += match traits.parallel {
        's' => " PARALLEL SAFE",
        'r' => " PARALLEL RESTRICTED",
        _ => "",
    };
    for (said, word) in
        [(function.strict, " STRICT"), (traits.security_definer, " SECURITY DEFINER"), (traits.leakproof, " LEAKPROOF")]
    {
        words += if said { word } else { "" };
    }
    if traits.cost != 100.0 {
        words += &format!(" COST {}", traits.cost);
    }
    if matches!(function.returns, Returns::Set(_) | Returns::Table) && traits.rows != 1000.0 {
        words += &format!(" ROWS {}", traits.rows);
    }
    if !words.is_empty() {
        text += &format!("{words}\n");
    }
    for (name, value) in &function.settings {
        text += &format!(" SET {} TO {}\n", quote::identifier(name), setting_text(name, value));
    }
    if let Some(body) = deparse::sql_body(env, function) {
        return Some(format!("{text}{body}\n"));
    }
    let tag = if function.procedure { "$procedure$" } else { "$function$" };
    Some(format!("{text}AS {tag}{}{tag}\n", function.body))
}

/// A setting's value; a list is shown as one.
fn setting_text(name: &str, value: &str) -> String {
    let is_list = matches!(
        name,
        "search_path"
            | "temp_tablespaces"
            | "session_preload_libraries"
            | "shared_preload_libraries"
            | "local_preload_libraries"
            | "unix_socket_directories"
    );
    if !is_list {
        return quote::standard_literal(value);
    }
    let items = value.split(',').map(|item| quote::standard_literal(item.trim().trim_matches('"')));
    items.collect::<Vec<_>>().join(", ")
}

/// The body of a function that is kept as bound statements.
pub(super) fn body(env: &dyn Env, oid: Oid) -> Option<String> {
    deparse::sql_body(env, user_function(env, oid)?)
}

/// The default of an argument, counted from one over the input arguments.
pub(super) fn argument_default(env: &dyn Env, oid: Oid, place: i64) -> Option<String> {
    let place = usize::try_from(place - 1).ok()?;
    let default = user_function(env, oid)?.parameters.get(place)?.default.as_ref()?;
    Some(deparse::expression(env, default, None, Style::Plain))
}
