//! PL/pgSQL and functions in SQL.

pub mod ast;
pub mod conditions;
pub mod parse;
mod parse_statement;
pub mod print;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::catalog::UserFunction;
use crate::change::TriggerCall;
use crate::error::{Result, SqlError};
use crate::ir::Output;
use crate::session::Outcome;
use crate::storage::World;
use crate::types::Datum;

/// Calls a function that returns one value.
pub(crate) fn call(world: &mut World<'_>, function: &Arc<UserFunction>, args: Vec<Datum>) -> Result<Datum> {
    let _ = (world, args);
    Err(SqlError::unsupported(format!("the function {}", function.name)))
}

/// Calls a function that returns rows: the columns of each.
pub(crate) fn call_rows(
    world: &mut World<'_>,
    function: &Arc<UserFunction>,
    args: Vec<Datum>,
) -> Result<Vec<Vec<Datum>>> {
    let _ = (world, args);
    Err(SqlError::unsupported(format!("the function {}", function.name)))
}

/// Runs a trigger's function: the row that it returns, or nothing for NULL.
pub(crate) fn run_trigger(
    world: &mut World<'_>,
    function: &Arc<UserFunction>,
    call: &TriggerCall<'_>,
) -> Result<Option<Vec<Datum>>> {
    let _ = (world, call);
    Err(SqlError::unsupported(format!("the trigger function {}", function.name)))
}

/// Checks a function that is being made.
pub(crate) fn check(world: &mut World<'_>, function: &UserFunction) -> Result<()> {
    let _ = (world, function);
    Ok(())
}

/// DO
pub(crate) fn run_do(world: &mut World<'_>, language: &str, body: &str) -> Result<()> {
    let _ = (world, language, body);
    Err(SqlError::unsupported("DO"))
}

/// CALL
pub(crate) fn run_call(world: &mut World<'_>, text: &Arc<str>, call: &sqlparser::ast::Function) -> Result<Outcome> {
    let _ = (world, text, call);
    Err(SqlError::unsupported("CALL"))
}

/// The columns of the row that CALL returns, if the procedure has OUT parameters.
pub(crate) fn call_columns(world: &mut World<'_>, call: &sqlparser::ast::Function) -> Result<Option<Arc<[Output]>>> {
    let _ = (world, call);
    Ok(None)
}
