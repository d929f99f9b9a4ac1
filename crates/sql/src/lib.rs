//! SQL and PL/pgSQL over the weak store: a statement reads exactly the cells that it needs.
//!
//! In reading order:
//! - [`error`], [`parse`]: from [`skew_syntax`]: what goes wrong, with its SQLSTATE; text → syntax tree
//! - [`types`]: PostgreSQL's types, their values, text and binary formats, casts
//! - [`catalog`]: what a database knows about its tables, types, functions
//! - [`functions`]: operators, functions, aggregates, and how a call finds its overload
//! - [`system`]: the tables of `pg_catalog` and `information_schema`, and their first rows
//! - [`ir`]: what a bound statement is
//! - [`bind`]: syntax tree → IR, against a catalog; `deparse`: IR that the catalog keeps → text
//! - [`plan`]: IR → IR that looks at fewer rows
//! - [`exec`]: IR → rows, over the store
//! - [`storage`]: tables over the store, locks; [`change`]: INSERT, UPDATE, DELETE, MERGE and constraints
//! - [`schema`]: CREATE, ALTER, DROP
//! - [`plpgsql`]: functions, procedures and triggers
//! - `introspection`: the rows of `pg_catalog` and `information_schema`
//! - [`session`]: a client's connection; what front doors talk to
//! - [`script`]: files of SQL, as psql takes them
//! - [`app`]: what an application file says about its programs; [`explore`]: a client of it in every way

pub mod app;
pub mod bind;
pub mod catalog;
pub mod change;
mod deparse;
pub mod exec;
pub mod explore;
pub mod functions;
mod introspection;
pub mod ir;
pub mod plan;
pub mod plpgsql;
pub mod schema;
pub mod script;
pub mod session;
pub mod storage;
pub mod system;
pub mod types;

pub(crate) use skew_syntax::budget;
pub use skew_syntax::{error, parse};
