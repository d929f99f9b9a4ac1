//! The tables of `pg_catalog` and `information_schema`: made up from the catalog when somebody looks at them.

use std::sync::Arc;

use crate::catalog::Oid;
use crate::error::{Result, SqlError};
use crate::storage::World;
use crate::types::{Datum, Type};

/// A table that is made up.
#[derive(Debug)]
pub struct SystemTable {
    /// Its schema: `pg_catalog` or `information_schema`.
    pub schema: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its number.
    pub oid: Oid,
    /// Names and types of its columns.
    pub columns: &'static [(&'static str, Type)],
}

/// The table with this name.
pub fn table(schema: &str, name: &str) -> Option<&'static SystemTable> {
    let _ = (schema, name);
    None
}

/// The rows of a table that is made up.
pub(crate) fn rows(world: &mut World<'_>, name: &'static str) -> Result<Arc<Vec<Arc<[Datum]>>>> {
    let _ = world;
    Err(SqlError::unsupported(format!("the system table {name}")))
}
