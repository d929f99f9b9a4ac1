//! COMMENT ON.

use crate::catalog::{Oid, RelationKind, UserTypeKind};
use crate::error::{Result, SqlError, SqlState};
use crate::parse::ast::{Ident, ObjectName};
use crate::parse::ddl::{ObjectKind, ObjectRef};
use crate::schema::Editor;
use crate::schema::names::{fold, parts};
use crate::storage::world::as_table;

/// The catalogs that objects are in.
const PG_CLASS: Oid = 1259;
const PG_TYPE: Oid = 1247;
const PG_PROC: Oid = 1255;
const PG_NAMESPACE: Oid = 2615;
const PG_CONSTRAINT: Oid = 2606;
const PG_TRIGGER: Oid = 2620;
const PG_EXTENSION: Oid = 3079;
const PLPGSQL_EXTENSION: Oid = 13559;

impl Editor<'_, '_> {
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
                let table = ObjectName(table.to_vec());
                if let Some(field) = self.composite_field(&table, ident)? {
                    return Ok(Some(field));
                }
                let relation = self.resolve_relation(&table)?;
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
            ObjectKind::Extension => {
                let (_, wanted) = parts(&name.name)?;
                let found = self.catalog.extensions.values().find(|known| known.name == wanted).map(|known| known.oid);
                let found = found.or_else(|| (&*wanted == "plpgsql").then_some(PLPGSQL_EXTENSION));
                let missing = || {
                    let message = format!("extension \"{wanted}\" does not exist");
                    SqlError::new(SqlState::UNDEFINED_OBJECT, message)
                };
                (PG_EXTENSION, found.ok_or_else(missing)?, 0)
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

    /// A field of a composite type, if that is what is named.
    fn composite_field(&mut self, ty: &ObjectName, field: &Ident) -> Result<Option<(Oid, Oid, i32)>> {
        if self.find_relation(ty)?.is_some() {
            return Ok(None);
        }
        let Ok(found) = self.type_named(ty) else { return Ok(None) };
        let Some(user) = self.catalog.types.get(&found) else { return Ok(None) };
        let UserTypeKind::Composite(fields) = &user.kind else { return Ok(None) };
        let wanted = fold(field);
        let Some(at) = fields.iter().position(|(name, _)| *name == wanted) else {
            let message = format!("column \"{wanted}\" of relation \"{}\" does not exist", user.name);
            return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message));
        };
        Ok(Some((PG_CLASS, user.relation(), i32::try_from(at + 1).unwrap_or(i32::MAX))))
    }
}
