//! SQL and PL/pgSQL over the weak store: a statement reads exactly the cells that it needs.
//!
//! In reading order:
//! - [`error`], [`parse`]: from [`skew_syntax`]: what goes wrong, with its SQLSTATE; text → syntax tree
//! - [`types`], [`catalog`], [`functions`], [`system`], [`ir`], [`bind`], [`plan`], [`exec`]: from [`skew_query`]: syntax
//!   tree → rows
//! - [`client`]: what a client and a database tell each other; `settings`: SET and SHOW; `cursor`: a result and a
//!   place in it
//! - [`storage`]: tables over the store, locks
//! - [`plpgsql`]: functions, procedures and triggers
//! - [`change`]: INSERT, UPDATE, DELETE, MERGE and constraints
//! - [`schema`]: CREATE, ALTER, DROP
//! - `introspection`: the rows of `pg_catalog` and `information_schema`
//! - [`session`]: a client's connection; what front doors talk to
//! - [`script`]: files of SQL, as psql takes them
//! - [`app`]: what an application file says about its programs; [`explore`]: a client of it in every way

pub mod app;
pub mod change;
pub mod client;
mod cursor;
pub mod explore;
mod introspection;
pub mod plpgsql;
pub mod schema;
pub mod script;
pub mod session;
mod settings;
pub mod storage;

pub(crate) use skew_query::deparse;
pub use skew_query::{bind, catalog, exec, functions, ir, plan, system, types};
pub(crate) use skew_syntax::budget;
pub use skew_syntax::{error, parse};
