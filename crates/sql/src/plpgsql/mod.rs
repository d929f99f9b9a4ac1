//! PL/pgSQL and functions in SQL.
//!
//! In reading order:
//! - [`ast`], [`parse`](mod@parse), [`print`], [`conditions`]: from [`skew_syntax`]: the syntax tree, made of text and turned into it;
//!   the names of errors
//! - [`bound`], [`compile`]: the program: variables have places, SQL is [`crate::ir`]
//! - `type_names`: types as signatures name them
//! - [`call`]: functions, procedures, DO; [`trigger`]: triggers' functions; [`language_sql`]: functions in SQL
//! - [`machine`]: what a running body has; [`run`], [`loops`], [`returns`], [`embedded`], [`assign`], [`raise`],
//!   [`cursors`]: what its statements do
//! - [`survey`]: a program with its SQL bound before it runs, for analyses; [`visit`]: its parts

mod alone;
mod assign;
pub mod bound;
mod call;
mod compile;
mod cursors;
mod embedded;
mod language_sql;
mod loops;
mod machine;
mod raise;
mod returns;
mod run;
pub(crate) mod survey;
mod trigger;
mod type_names;
pub mod visit;

pub use skew_syntax::plpgsql::{ast, conditions, parse, print};

pub(crate) use call::{Programs, call, call_columns, call_rows, check, no_language, run_call, run_do};
pub(crate) use language_sql::stored_body;
pub use trigger::Event;
pub(crate) use trigger::{TriggerCall, run_trigger};
pub(crate) use type_names::named_type;
