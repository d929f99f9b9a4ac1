//! CREATE, ALTER, DROP: statements that change the catalog, and the rows where that needs it.

use std::sync::Arc;

use crate::error::{Result, SqlError};
use crate::parse::ddl::Ddl;
use crate::storage::World;

/// Runs a statement that changes the schema: its tag.
pub(crate) fn run(world: &mut World<'_>, text: &Arc<str>, ddl: &Ddl) -> Result<String> {
    let _ = (world, text, ddl);
    Err(SqlError::unsupported("this change of the schema"))
}
