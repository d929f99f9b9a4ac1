//! Functions about the database around a statement: who is connected, sequences, locks, the catalog, the schema `skew`.

pub(super) mod catalog;
pub(super) mod control;
pub(super) mod definitions;
pub(super) mod extensions;
pub(super) mod keywords;
pub(super) mod locks;
pub(super) mod lookup;
pub(super) mod sequences;
pub(super) mod session;
pub(super) mod statistics;
pub(super) mod visibility;

use crate::catalog::Oid;
use crate::error::Result;
use crate::functions::Env;
use crate::types::{Type, reg};

/// The relation that a text names, as `regclass` reads it.
fn relation(name: &str, env: &dyn Env) -> Result<Oid> {
    Ok(u32::try_from(reg::parse(name, Type::REGCLASS, env)?).unwrap_or_default())
}
