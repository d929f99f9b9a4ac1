//! COMMENT ON.

use crate::catalog::{Oid, RelationKind};
use crate::error::{Result, SqlError, SqlState};
use crate::parse::ddl::{ObjectKind, ObjectRef};
use crate::schema::names::{fold, parts};
use crate::storage::World;
use crate::storage::world::as_table;

/// The catalogs that objects are in.
const PG_CLASS: Oid = 1259;
const PG_TYPE: Oid = 1247;
const PG_PROC: Oid = 1255;
const PG_NAMESPACE: Oid = 2615;
const PG_CONSTRAINT: Oid = 2606;
const PG_TRIGGER: Oid = 2620;

impl World<'_> {
    pub(super) fn comment(&mut self, object: ObjectKind, name: &ObjectRef, text: Option<&str>) -> Result<()> {
        let Some(key) = self.commented(object, name)? else { return Ok(()) };
        self.change_catalog(|catalog| {
            match text {
                Some(text) if !text.is_empty() => catalog.comments.insert(key, text.into()),
                _ => catalog.comments.remove(&key),
            };
            Ok(())
        })
    }

    /// What a comment is about; nothing for objects that Skew does not keep.
    fn commented(&mut self, object: ObjectKind, name: &ObjectRef) -> Result<Option<(Oid, Oid, i32)>> {
        Ok(Some(match object {
            ObjectKind::Table
            | ObjectKind::View
            | ObjectKind::MaterializedView
            | ObjectKind::Index
            | ObjectKind::Sequence => (PG_CLASS, self.resolve_relation(&name.name)?.oid, 0),
            ObjectKind::Column => {
                let (ident, table) = name.name.0.split_last().ok_or_else(|| SqlError::syntax("a column has a name"))?;
                let relation = self.resolve_relation(&crate::parse::ast::ObjectName(table.to_vec()))?;
                let position = match &relation.kind {
                    RelationKind::View(view) => {
                        let wanted = fold(ident);
                        view.columns.iter().position(|(name, _)| *name == wanted).ok_or_else(|| {
                            let message =
                                format!("column \"{wanted}\" of relation \"{}\" does not exist", relation.name);
                            SqlError::new(SqlState::UNDEFINED_COLUMN, message)
                        })?
                    }
                    _ => self.position(relation.oid, ident)?,
                };
                (PG_CLASS, relation.oid, i32::try_from(position + 1).unwrap_or(i32::MAX))
            }
            ObjectKind::Schema => (PG_NAMESPACE, self.schema_named(&parts(&name.name)?.1)?, 0),
            ObjectKind::Type | ObjectKind::Domain => (PG_TYPE, self.type_named(&name.name)?, 0),
            ObjectKind::Function | ObjectKind::Procedure | ObjectKind::Routine => {
                (PG_PROC, self.function_named(name)?, 0)
            }
            ObjectKind::Constraint => {
                let Some(of) = &name.of else { return Ok(None) };
                let relation = self.resolve_relation(of)?;
                let (_, constraint) = parts(&name.name)?;
                let table = as_table(&relation)?;
                let check = table.checks.iter().find(|check| check.name == constraint).map(|check| check.oid);
                let key = table.foreign_keys.iter().find(|key| key.name == constraint).map(|key| key.oid);
                let index = table.indexes.iter().find_map(|index| {
                    let index = self.relation(*index).ok()?;
                    match &index.kind {
                        RelationKind::Index(made) if index.name == constraint => made.constraint.map(|made| made.oid),
                        _ => None,
                    }
                });
                let Some(oid) = check.or(key).or(index) else {
                    let message = format!("constraint \"{constraint}\" for table \"{}\" does not exist", relation.name);
                    return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
                };
                (PG_CONSTRAINT, oid, 0)
            }
            ObjectKind::Trigger => {
                let Some(of) = &name.of else { return Ok(None) };
                let relation = self.resolve_relation(of)?;
                let (_, trigger) = parts(&name.name)?;
                let found = as_table(&relation)?.triggers.iter().find(|known| known.name == trigger);
                (PG_TRIGGER, found.map(|found| found.oid).unwrap_or_default(), 0)
            }
            _ => return Ok(None),
        }))
    }
}
