//! Operators, functions, aggregates, window and set-returning functions: one table, and how a call finds its overload.
//!
//! In reading order: [`resolve`] finds the overload of a call among the built-in functions (whose names [`named`] and
//! [`operators`] look up) and the user's; the other modules are the functions, by topic, each a table and what it names.

mod aggregate;
mod args;
mod arithmetic;
mod array;
mod bits;
pub(crate) mod collate;
mod comparison;
mod datetime;
pub(crate) mod define;
mod degrees;
pub mod extension;
mod hash;
mod json;
mod kinds;
mod known;
mod math;
mod misc;
mod money;
mod network;
mod number;
mod numeric;
mod object_names;
mod pattern;
mod registry;
pub mod resolve;
mod series;
mod system;
mod text;
mod window;

use std::sync::Arc;

use crate::catalog::{Catalog, Oid};
use crate::types::{Type, Typed, kind};

pub use crate::catalog::builtin::{
    Accumulator, AdvisoryKey, Body, Constant, Definition, Env, Function, Question, Site, WindowFunction,
};
pub use json::populate::with_columns;
pub(crate) use known::numbered;
pub use known::{function_number, operator_number};
pub(crate) use registry::internal;
pub use registry::{all_functions, all_operators, named, operators, skew};
pub(crate) use text::fits;

pub use crate::types::settings::{Ready, Settings};

impl Function {
    /// Whether a call of it says how its argument was written: `CURRENT_DATE`.
    pub(crate) fn is_written(&self) -> bool {
        datetime::clock::WRITTEN.iter().any(|written| written.name == self.name && written.args == self.args)
    }

    /// Its number as a member of an extension.
    pub(crate) fn member_number(&self) -> Option<Oid> {
        extension::member(self).map(|member| member.oid)
    }

    /// The columns that a set-returning function gives in a call with arguments of these types, if they have names.
    pub fn columns(&self, args: &[Type], catalog: &Catalog) -> Vec<(Arc<str>, Typed)> {
        let Body::Set { columns, .. } = &self.body else { return Vec::new() };
        let item = || args.iter().find_map(|ty| kind::element(*ty, catalog));
        let typed = |ty: Type| if ty == Type::ANYELEMENT { item().unwrap_or(ty) } else { ty };
        columns.iter().map(|(name, ty)| (Arc::from(*name), Typed::from(typed(*ty)))).collect()
    }
}
