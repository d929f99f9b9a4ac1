//! ALTER … RENAME and SET SCHEMA.

use std::sync::Arc;

use crate::parse::ast::Ident;

use crate::catalog::{Oid, Relation, RelationKind, UserFunction, UserType};
use crate::error::{Result, SqlError, SqlState};
use crate::parse::ddl::{ObjectKind, ObjectRef, Rename, RenameWhat};
use crate::schema::Editor;
use crate::schema::names::{fold, has_constraint, parts};
use crate::storage::locks::TableMode;
use crate::storage::world::as_table;

impl Editor<'_, '_> {
    pub(super) fn rename(&mut self, rename: &Rename) -> Result<()> {
        match rename.object {
            ObjectKind::Table
            | ObjectKind::Index
            | ObjectKind::View
            | ObjectKind::MaterializedView
            | ObjectKind::Sequence => {
                let Some(relation) = self.relation_or_skip(&rename.name.name, rename.if_exists)? else { return Ok(()) };
                if matches!(relation.kind, RelationKind::Table(_)) {
                    self.lock_table(relation.oid, TableMode::AccessExclusive)?;
                }
                match &rename.what {
                    RenameWhat::Object => self.rename_relation(relation.oid, &rename.to),
                    RenameWhat::Column(column) => self.rename_column(&relation, column, &rename.to),
                    RenameWhat::Constraint(name) => self.rename_constraint(&relation, name, &rename.to),
                }
            }
            ObjectKind::Schema => {
                let oid = self.schema_named(&parts(&rename.name.name)?.1)?;
                self.change_catalog(|catalog| {
                    let mut schema = crate::catalog::Schema::clone(&catalog.schemas[&oid]);
                    schema.name = rename.to.as_str().into();
                    catalog.schemas.insert(oid, Arc::new(schema));
                    Ok(())
                })
            }
            ObjectKind::Type if !matches!(rename.what, RenameWhat::Object) => {
                let RenameWhat::Column(attribute) = &rename.what else {
                    return Err(SqlError::unsupported("a constraint of a type"));
                };
                self.rename_attribute(&rename.name.name, attribute, &rename.to)
            }
            ObjectKind::Domain if !matches!(rename.what, RenameWhat::Object) => {
                let RenameWhat::Constraint(constraint) = &rename.what else {
                    return Err(SqlError::unsupported("a column of a domain"));
                };
                self.rename_domain_check(&rename.name.name, constraint, &rename.to)
            }
            ObjectKind::Type | ObjectKind::Domain => {
                let found = self.type_named(&rename.name.name)?;
                self.change_catalog(|catalog| {
                    let mut user = UserType::clone(&catalog.types[&found]);
                    user.name = rename.to.as_str().into();
                    catalog.types.insert(found, Arc::new(user));
                    Ok(())
                })
            }
            ObjectKind::Function | ObjectKind::Procedure | ObjectKind::Routine => {
                let oid = self.function_named(&rename.name)?;
                self.change_catalog(|catalog| {
                    let mut function = crate::catalog::UserFunction::clone(&catalog.functions[&oid]);
                    function.name = rename.to.as_str().into();
                    catalog.functions.insert(oid, Arc::new(function));
                    Ok(())
                })
            }
            ObjectKind::Trigger => {
                let Some(of) = &rename.name.of else { return Err(SqlError::syntax("ALTER TRIGGER needs a table")) };
                let relation = self.resolve_relation(of)?;
                let (_, name) = parts(&rename.name.name)?;
                self.change_table(relation.oid, |table| {
                    let trigger = table.triggers.iter_mut().find(|trigger| trigger.name == name);
                    trigger.map(|trigger| trigger.name = rename.to.as_str().into()).ok_or_else(|| {
                        SqlError::new(SqlState::UNDEFINED_OBJECT, format!("trigger \"{name}\" does not exist"))
                    })
                })
            }
            ObjectKind::Collation => {
                self.change_collation(&rename.name.name, |collation| collation.name = rename.to.as_str().into())
            }
            _ => Err(SqlError::unsupported("this RENAME")),
        }
    }

    /// Gives a relation another name.
    pub(super) fn rename_relation(&mut self, oid: Oid, to: &str) -> Result<()> {
        let mut relation = Relation::clone(&*self.relation(oid)?);
        if &*relation.name == to {
            return Ok(());
        }
        self.is_taken(relation.schema, to, false)?;
        relation.name = to.into();
        let is_table = matches!(relation.kind, RelationKind::Table(_));
        self.change_catalog(|catalog| {
            catalog.put_relation(relation);
            Ok(())
        })?;
        if is_table { self.make_row_type(oid) } else { Ok(()) }
    }

    fn rename_column(&mut self, relation: &Relation, column: &str, to: &str) -> Result<()> {
        if let RelationKind::View(view) = &relation.kind {
            let mut changed = relation.clone();
            let mut made = view.clone();
            let found = made.columns.iter_mut().find(|(name, _)| &**name == column);
            let found = found.ok_or_else(|| no_column(column, &relation.name))?;
            found.0 = to.into();
            changed.kind = RelationKind::View(made);
            return self.change_catalog(|catalog| {
                catalog.put_relation(changed);
                Ok(())
            });
        }
        let table = as_table(relation)?;
        let position = table.columns.iter().position(|known| !known.dropped && &*known.name == column);
        let position = position.ok_or_else(|| no_column(column, &relation.name))?;
        if table.columns.iter().any(|known| !known.dropped && &*known.name == to) {
            let message = format!("column \"{to}\" of relation \"{}\" already exists", relation.name);
            return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
        }
        let oid = relation.oid;
        self.change_table(oid, |table| {
            table.columns[position].name = to.into();
            Ok(())
        })?;
        self.make_row_type(oid)
    }

    fn rename_constraint(&mut self, relation: &Relation, name: &str, to: &str) -> Result<()> {
        if !has_constraint(&self.catalog, relation, name) {
            let message = format!("constraint \"{name}\" for table \"{}\" does not exist", relation.name);
            return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
        }
        if has_constraint(&self.catalog, relation, to) {
            let message = format!("constraint \"{to}\" for relation \"{}\" already exists", relation.name);
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
        }
        let table = as_table(relation)?;
        let index =
            table.indexes.iter().copied().find(|index| self.relation(*index).is_ok_and(|index| &*index.name == name));
        if let Some(index) = index {
            return self.rename_relation(index, to);
        }
        self.change_table(relation.oid, |table| {
            for check in table.checks.iter_mut().filter(|check| &*check.name == name) {
                check.name = to.into();
            }
            for key in table.foreign_keys.iter_mut().filter(|key| &*key.name == name) {
                key.name = to.into();
            }
            Ok(())
        })
    }

    pub(super) fn set_schema(
        &mut self,
        object: ObjectKind,
        if_exists: bool,
        name: &ObjectRef,
        schema: &Ident,
    ) -> Result<()> {
        let schema = self.schema_named(&fold(schema))?;
        match object {
            ObjectKind::Table | ObjectKind::View | ObjectKind::MaterializedView | ObjectKind::Sequence => {
                let Some(relation) = self.relation_or_skip(&name.name, if_exists)? else { return Ok(()) };
                self.is_taken(schema, &relation.name, false)?;
                let mut moved = vec![relation.oid];
                let rows = match &relation.kind {
                    RelationKind::View(view) => view.materialized,
                    _ => None,
                };
                if let Some(table) = rows.and_then(|rows| self.catalog.table(rows)) {
                    moved.extend(rows);
                    moved.extend(table.indexes.iter().copied());
                }
                if let RelationKind::Table(table) = &relation.kind {
                    moved.extend(table.indexes.iter().copied());
                    moved.extend(table.columns.iter().filter_map(|column| column.sequence));
                }
                self.change_catalog(|catalog| {
                    for oid in moved {
                        let mut relation = Relation::clone(&catalog.relations[&oid]);
                        relation.schema = schema;
                        catalog.put_relation(relation);
                    }
                    Ok(())
                })?;
                if matches!(relation.kind, RelationKind::Table(_)) { self.make_row_type(relation.oid) } else { Ok(()) }
            }
            ObjectKind::Type | ObjectKind::Domain => {
                let found = self.type_named(&name.name)?;
                self.change_catalog(|catalog| {
                    let mut user = UserType::clone(&catalog.types[&found]);
                    user.schema = schema;
                    catalog.types.insert(found, Arc::new(user));
                    Ok(())
                })
            }
            ObjectKind::Function | ObjectKind::Procedure | ObjectKind::Routine => {
                let found = self.function_named(name)?;
                let mut function = UserFunction::clone(&self.catalog.functions[&found]);
                let inputs = function.input_types();
                let taken = self.catalog.functions.values().any(|other| {
                    other.oid != found
                        && other.schema == schema
                        && other.name == function.name
                        && other.input_types() == inputs
                });
                if taken {
                    let place = self.catalog.schemas.get(&schema).map_or("", |schema| &*schema.name);
                    let types: Vec<String> =
                        inputs.iter().map(|ty| crate::types::names::format_type(*ty, None, self.world)).collect();
                    let message = format!(
                        "function {}({}) already exists in schema \"{place}\"",
                        function.name,
                        types.join(", ")
                    );
                    return Err(SqlError::new(SqlState::DUPLICATE_FUNCTION, message));
                }
                function.schema = schema;
                self.change_catalog(|catalog| {
                    catalog.functions.insert(found, Arc::new(function));
                    Ok(())
                })
            }
            ObjectKind::Collation => self.change_collation(&name.name, |collation| collation.schema = schema),
            _ => Err(SqlError::unsupported("this SET SCHEMA")),
        }
    }
}

fn no_column(column: &str, relation: &str) -> SqlError {
    let _ = relation;
    SqlError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{column}\" does not exist"))
}
