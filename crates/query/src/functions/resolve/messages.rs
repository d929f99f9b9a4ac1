//! What is said when a call means nothing, or more than one thing.

use crate::catalog::Catalog;
use crate::error::{SqlError, SqlState};
use crate::functions::kinds;
use crate::functions::resolve::Call;
use crate::types::Type;

const CASTS: &str = "You might need to add explicit type casts.";

pub(super) fn no_function(call: &Call<'_>, catalog: &Catalog) -> SqlError {
    let kind = kind(call);
    SqlError::new(SqlState::UNDEFINED_FUNCTION, format!("{kind} {} does not exist", signature(call, catalog)))
        .hint(format!("No {kind} matches the given name and argument types. {CASTS}"))
}

pub(super) fn many_functions(call: &Call<'_>, catalog: &Catalog) -> SqlError {
    let kind = kind(call);
    SqlError::new(SqlState::AMBIGUOUS_FUNCTION, format!("{kind} {} is not unique", signature(call, catalog)))
        .hint(format!("Could not choose a best candidate {kind}. {CASTS}"))
}

pub(super) fn no_operator(symbol: &str, args: &[Type], catalog: &Catalog) -> SqlError {
    let hint = match args {
        [_] => "No operator matches the given name and argument type. You might need to add an explicit type cast.",
        _ => "No operator matches the given name and argument types. You might need to add explicit type casts.",
    };
    let message = format!("operator does not exist: {}", operation(symbol, args, catalog));
    SqlError::new(SqlState::UNDEFINED_FUNCTION, message).hint(hint)
}

pub(super) fn many_operators(symbol: &str, args: &[Type], catalog: &Catalog) -> SqlError {
    let message = format!("operator is not unique: {}", operation(symbol, args, catalog));
    SqlError::new(SqlState::AMBIGUOUS_FUNCTION, message)
        .hint(format!("Could not choose a best candidate operator. {CASTS}"))
}

/// PostgreSQL has it, Skew has not.
pub(super) fn unsupported_function(call: &Call<'_>, catalog: &Catalog) -> SqlError {
    SqlError::unsupported(format!("the function {}", signature(call, catalog)))
}

/// Likewise.
pub(super) fn unsupported_operator(symbol: &str, args: &[Type], catalog: &Catalog) -> SqlError {
    SqlError::unsupported(format!("the operator {}", operation(symbol, args, catalog)))
}

fn kind(call: &Call<'_>) -> &'static str {
    if call.procedure { "procedure" } else { "function" }
}

/// `schema.name(integer, b => text)`
fn signature(call: &Call<'_>, catalog: &Catalog) -> String {
    let schema = call.schema.map(|schema| format!("{schema}.")).unwrap_or_default();
    let argument = |(index, ty): (usize, &Type)| {
        let ty = kinds::display(*ty, catalog);
        match call.names.get(index).copied().flatten() {
            Some(name) => format!("{name} => {ty}"),
            None => ty,
        }
    };
    let args: Vec<String> = call.args.iter().enumerate().map(argument).collect();
    format!("{schema}{}({})", call.name, args.join(", "))
}

/// `integer + text`, `- text`
fn operation(symbol: &str, args: &[Type], catalog: &Catalog) -> String {
    let shown = |ty: &Type| kinds::display(*ty, catalog);
    match args {
        [left, right] => format!("{} {symbol} {}", shown(left), shown(right)),
        _ => format!("{symbol} {}", args.iter().map(shown).collect::<String>()),
    }
}
