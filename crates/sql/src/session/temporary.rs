//! Temporary tables: gone with their connection, or emptied or dropped with their transaction.

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::error::Result;
use crate::session::connection::SessionState;
use crate::session::database::State;
use crate::storage::World;

/// The connection ends: its temporary objects are gone.
pub(crate) fn drop_all(state: &mut State, session: &mut SessionState) {
    let Some(schema) = session.temporary.take() else { return };
    let mut catalog = Catalog::clone(&state.catalog);
    let gone: Vec<u32> =
        catalog.relations.values().filter(|relation| relation.schema == schema).map(|relation| relation.oid).collect();
    gone.into_iter().for_each(|oid| catalog.drop_relation(oid));
    catalog.types.retain(|_, ty| ty.schema != schema);
    catalog.functions.retain(|_, function| function.schema != schema);
    catalog.schemas.remove(&schema);
    catalog.touch();
    state.publish(Arc::new(catalog));
}

/// ON COMMIT DELETE ROWS and ON COMMIT DROP.
pub(crate) fn on_commit(world: &mut World<'_>) -> Result<()> {
    let Some(schema) = world.session.temporary else { return Ok(()) };
    let tables: Vec<_> =
        world.catalog.relations.values().filter(|relation| relation.schema == schema).cloned().collect();
    for relation in tables {
        let crate::catalog::RelationKind::Table(table) = &relation.kind else { continue };
        match table.on_commit {
            crate::catalog::OnCommit::PreserveRows => {}
            crate::catalog::OnCommit::DeleteRows => {
                let bound = world.bound_table(relation.oid)?;
                world.for_each_row(table, |world, row| {
                    world.delete_row(&bound, crate::exec::RowRef::seen(relation.oid, row)).map(drop)
                })?;
            }
            crate::catalog::OnCommit::Drop => world.change_catalog(|catalog| {
                for index in &table.indexes {
                    catalog.drop_relation(*index);
                }
                catalog.drop_relation(relation.oid);
                Ok(())
            })?,
        }
    }
    Ok(())
}
