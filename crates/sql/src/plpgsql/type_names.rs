//! Types as signatures and declarations name them: `int`, `SETOF int`, `t.a%TYPE`, `t%ROWTYPE`.

use crate::bind::names::fold;
use crate::error::{Result, SqlError};
use crate::parse::ast::ObjectName;
use crate::parse::ddl::TypeName;
use crate::storage::World;
use crate::storage::world::{as_table, column_position};
use crate::types::Typed;

/// The type that a signature or a declaration names.
pub(crate) fn named_type(world: &mut World<'_>, name: &TypeName) -> Result<Typed> {
    match name {
        TypeName::Plain(ty) => world.bind_type(ty),
        TypeName::SetOf(inner) => named_type(world, inner),
        TypeName::TypeOf(column) => {
            let (ident, table) = column.0.split_last().ok_or_else(|| SqlError::syntax("invalid type name"))?;
            let relation = world.resolve_relation(&ObjectName(table.to_vec()))?;
            let position = column_position(&relation, &fold(ident))?;
            Ok(as_table(&relation)?.columns[position].typed)
        }
        TypeName::RowTypeOf(table) => {
            let relation = world.resolve_relation(table)?;
            Ok(as_table(&relation)?.row_type.into())
        }
    }
}
