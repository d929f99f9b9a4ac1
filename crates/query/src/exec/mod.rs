//! The pull executor: bound statements → rows.
//!
//! Operators hand each other [`Tuple`]s of references to rows; an expression that looks at a column reads that cell, and
//! nothing else is read. What a statement can reach of the world is its [`Context`].
//!
//! - [`context`]: what the executor asks of storage, locks and functions
//! - [`tuple`]: what flows between operators
//! - [`run`]: what one statement keeps while it runs
//! - `eval`, `subquery`: expressions → values
//! - `operator`: plans → operators, one file each: `scan`, `function_scan`, `cte`, `join`, `filter`, `aggregate`,
//!   `window`, `project_set`, `project`, `distinct`, `sort`, `limit`, `set`, `lock`, `change`
//! - `recheck`: rows that changed before they were locked
//! - `keys`, `key_table`, `sorter`, `found`, `columns`, `access`, `free`: values as keys, types of rows, bounds of scans, what a plan depends on

mod access;
mod aggregate;
mod arrange;
mod change;
mod columns;
pub mod context;
mod cte;
mod distinct;
mod eval;
mod filter;
mod found;
mod free;
mod function_scan;
mod join;
mod key_table;
mod keys;
mod limit;
mod lock;
mod operator;
mod project;
mod project_set;
mod recheck;
pub mod run;
mod scan;
mod set;
mod sort;
mod sorter;
mod subquery;
#[cfg(test)]
mod tests;
pub mod tuple;
mod window;

pub use context::{AccessRange, Context, LockOutcome, Resume, RowCursor, RowRef, RowVersion};
pub use eval::check_domains;
pub use run::{Run, Tuples, rows_weight};
pub use tuple::{Slot, Tuple};
