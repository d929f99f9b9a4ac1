//! PL/pgSQL and functions in SQL.
//!
//! In reading order:
//! - [`ast`], [`parse`], [`print`]: the syntax tree, made of text and turned into it
//! - [`bound`], [`compile`]: the program: variables have places, SQL is [`crate::ir`]
//! - [`call`]: functions, procedures, DO; [`trigger`]: triggers' functions; [`language_sql`]: functions in SQL
//! - [`machine`]: what a running body has; [`run`], [`loops`], [`returns`], [`embedded`], [`assign`], [`raise`],
//!   [`cursors`]: what its statements do
//! - [`conditions`]: the names of errors
//! - [`survey`]: a program with its SQL bound before it runs, for analyses; [`visit`]: its parts

mod alone;
mod assign;
pub mod ast;
pub mod bound;
mod call;
mod compile;
pub mod conditions;
mod cursors;
mod embedded;
mod language_sql;
mod loops;
mod machine;
pub mod parse;
mod parse_statement;
pub mod print;
mod raise;
mod returns;
mod run;
pub(crate) mod survey;
mod trigger;
pub mod visit;

#[cfg(test)]
mod tests;

pub(crate) use call::{Programs, call, call_columns, call_rows, check, no_language, run_call, run_do};
pub(crate) use language_sql::stored_body;
pub use trigger::Event;
pub(crate) use trigger::{TriggerCall, run_trigger};
