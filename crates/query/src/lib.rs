//! From syntax trees to rows: names bound against a catalog, plans made and executed. Tables, locks and connections are
//! above, behind the trait [`exec::Context`].
//!
//! In reading order:
//! - [`error`], [`parse`]: from [`skew_syntax`]: what goes wrong, with its SQLSTATE; text → syntax tree
//! - [`types`]: from [`skew_values`]: PostgreSQL's types, their values, text and binary formats, casts
//! - [`system`]: the tables of `pg_catalog` and `information_schema`, and their first rows
//! - [`catalog`]: what a database knows about its tables, types, functions, and what a bound statement is
//! - [`functions`]: operators, functions, aggregates, and how a call finds its overload
//! - [`ir`]: bound statements compared, walked, printed, brought up to date
//! - [`bind`]: syntax tree → IR, against a catalog; [`deparse`]: IR that the catalog keeps → text
//! - [`plan`]: IR → IR that looks at fewer rows
//! - [`exec`]: IR → rows, over what the context gives

pub mod bind;
pub mod catalog;
pub mod deparse;
pub mod exec;
pub mod functions;
pub mod ir;
pub mod plan;
pub mod system;

pub(crate) use skew_syntax::{budget, error, parse, sort};
pub use skew_values as types;
