//! DROP, and what depends on what.

use std::collections::BTreeSet;

use crate::parse::ast::{Ident, ObjectName};

use crate::catalog::{Catalog, IndexKeyKind, Oid, RelationKind, UserTypeKind};
use crate::error::{Result, SqlError, SqlState};
use crate::parse::ddl::{ObjectKind, ObjectRef};
use crate::schema::kind_words;
use crate::schema::names::{fold, parts};
use crate::storage::World;
use crate::storage::locks::TableMode;
use crate::storage::world::as_table;

impl World<'_> {
    pub(super) fn drop_objects(
        &mut self,
        object: ObjectKind,
        if_exists: bool,
        names: &[ObjectRef],
        cascade: bool,
    ) -> Result<()> {
        for name in names {
            match object {
                ObjectKind::Table
                | ObjectKind::View
                | ObjectKind::MaterializedView
                | ObjectKind::Index
                | ObjectKind::Sequence => self.drop_named_relation(object, if_exists, &name.name, cascade, names)?,
                ObjectKind::Schema => self.drop_schema(if_exists, &name.name, cascade)?,
                ObjectKind::Type | ObjectKind::Domain => self.drop_type(object, if_exists, &name.name, cascade)?,
                ObjectKind::Function | ObjectKind::Procedure | ObjectKind::Routine => {
                    self.drop_function(object, if_exists, name, cascade)?;
                }
                ObjectKind::Trigger => self.drop_trigger(if_exists, name)?,
                ObjectKind::Database => self.drop_database(if_exists, &name.name)?,
                ObjectKind::Collation => self.drop_collation(if_exists, &name.name, cascade)?,
                ObjectKind::Extension => self.drop_extension(if_exists, &name.name, cascade)?,
                ObjectKind::Role | ObjectKind::Policy => {}
                other => return Err(SqlError::unsupported(format!("DROP {}", kind_words(other)))),
            }
        }
        Ok(())
    }

    fn drop_named_relation(
        &mut self,
        object: ObjectKind,
        if_exists: bool,
        name: &ObjectName,
        cascade: bool,
        together: &[ObjectRef],
    ) -> Result<()> {
        let word = kind_words(object).to_lowercase();
        let Some(relation) = self.find_relation(name)? else {
            let (schema, short) = parts(name)?;
            if let Some(schema) = schema.filter(|schema| self.catalog.schema(schema).is_none()) {
                let message = format!("schema \"{schema}\" does not exist");
                if if_exists {
                    self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
                    return Ok(());
                }
                return Err(SqlError::new(SqlState::INVALID_SCHEMA_NAME, message));
            }
            if if_exists {
                let message = format!("{word} \"{short}\" does not exist, skipping");
                self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, message);
                return Ok(());
            }
            let state = if matches!(object, ObjectKind::Index) {
                SqlState::UNDEFINED_OBJECT
            } else {
                SqlState::UNDEFINED_TABLE
            };
            return Err(SqlError::new(state, format!("{word} \"{short}\" does not exist")));
        };
        let fits = match (&relation.kind, object) {
            (RelationKind::Table(_), ObjectKind::Table)
            | (RelationKind::Index(_), ObjectKind::Index)
            | (RelationKind::Sequence(_), ObjectKind::Sequence) => true,
            (RelationKind::View(view), ObjectKind::View) => view.materialized.is_none(),
            (RelationKind::View(view), ObjectKind::MaterializedView) => view.materialized.is_some(),
            _ => false,
        };
        if !fits {
            let article = if matches!(object, ObjectKind::Index) { "an" } else { "a" };
            let message = format!("\"{}\" is not {article} {word}", relation.name);
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        }
        self.refuse_needed_index(relation.oid)?;
        self.lock_table(relation.oid, TableMode::AccessExclusive)?;
        let mut also = BTreeSet::new();
        for other in together {
            if let Some(other) = self.find_relation(&other.name)? {
                also.insert(other.oid);
            }
        }
        self.drop_relation(relation.oid, cascade, &also)
    }

    /// An index that a constraint made goes with the constraint only; so does a sequence of an identity column.
    fn refuse_needed_index(&self, oid: Oid) -> Result<()> {
        let relation = self.relation(oid)?;
        let refuse = |needer: String| {
            let what = if matches!(relation.kind, RelationKind::Index(_)) { "index" } else { "sequence" };
            let message = format!("cannot drop {what} {} because {needer} requires it", relation.name);
            Err(SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message)
                .hint(format!("You can drop {needer} instead.")))
        };
        match &relation.kind {
            RelationKind::Index(index) if index.constraint.is_some() => {
                let table = self.relation(index.table)?.name.clone();
                refuse(format!("constraint {} on table {table}", relation.name))
            }
            RelationKind::Sequence(sequence) => match sequence.owner {
                Some(owner) if owner.identity => {
                    let table = self.relation(owner.table)?;
                    let column = &as_table(&table)?.columns[owner.column].name;
                    refuse(format!("column {column} of table {}", table.name))
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Drops a relation with what belongs to it; what depends on it is dropped too (CASCADE) or in the way.
    pub(super) fn drop_relation(&mut self, oid: Oid, cascade: bool, also: &BTreeSet<Oid>) -> Result<()> {
        let Ok(relation) = self.relation(oid) else { return Ok(()) };
        let views = self.views_on(oid);
        let keys = self.keys_to(oid);
        let defaults = self.defaults_with(oid);
        let mut in_the_way = Vec::new();
        in_the_way.extend(views.iter().filter(|view| !also.contains(view)).map(|view| {
            let name = self.relation(*view).map_or_else(|_| String::new(), |view| view.name.to_string());
            format!("view {name}")
        }));
        in_the_way.extend(keys.iter().filter(|(table, _)| *table != oid && !also.contains(table)).map(
            |(table, key)| {
                let table = self.relation(*table).map_or_else(|_| String::new(), |table| table.name.to_string());
                format!("constraint {key} on table {table}")
            },
        ));
        in_the_way.extend(defaults.iter().filter(|(table, _)| !also.contains(table)).map(|(table, column)| {
            let relation = self.relation(*table).ok();
            let table = relation.as_ref().map_or("", |table| &table.name);
            let column = relation
                .as_ref()
                .and_then(|table| as_table(table).ok())
                .map_or("", |table| &table.columns[*column].name);
            format!("default value for column {column} of table {table}")
        }));
        let what = kind_of(&relation.kind);
        if !cascade && !in_the_way.is_empty() {
            return Err(dependents(&format!("{what} {}", relation.name), &in_the_way));
        }
        self.notice_cascade(&in_the_way);
        for view in views {
            self.drop_relation(view, cascade, also)?;
        }
        self.change_catalog(|catalog| {
            for (table, key) in &keys {
                change_table(catalog, *table, |table| table.foreign_keys.retain(|known| known.name != *key));
            }
            for (table, column) in &defaults {
                change_table(catalog, *table, |table| table.columns[*column].default = None);
            }
            remove(catalog, oid);
            Ok(())
        })
    }

    pub(super) fn notice_cascade(&mut self, also: &[String]) {
        let message = match also {
            [] => return,
            [only] => format!("drop cascades to {only}"),
            several => format!("drop cascades to {} other objects", several.len()),
        };
        self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, message);
    }

    /// Views whose query names a relation.
    fn views_on(&self, oid: Oid) -> Vec<Oid> {
        let uses = |relation: &&std::sync::Arc<crate::catalog::Relation>| match &relation.kind {
            RelationKind::View(view) => relation.oid != oid && view.uses.contains(&oid),
            _ => false,
        };
        self.catalog.relations.values().filter(uses).map(|relation| relation.oid).collect()
    }

    /// Foreign keys that refer to a table.
    fn keys_to(&self, oid: Oid) -> Vec<(Oid, std::sync::Arc<str>)> {
        let mut found = Vec::new();
        for relation in self.catalog.relations.values() {
            if let RelationKind::Table(table) = &relation.kind {
                let keys = table.foreign_keys.iter().filter(|key| key.parent == oid);
                found.extend(keys.map(|key| (relation.oid, key.name.clone())));
            }
        }
        found
    }

    /// Columns whose default takes values of a sequence that they do not own.
    fn defaults_with(&self, oid: Oid) -> Vec<(Oid, usize)> {
        let Some(relation) = self.catalog.relation(oid) else { return Vec::new() };
        if !matches!(relation.kind, RelationKind::Sequence(_)) {
            return Vec::new();
        }
        let mut found = Vec::new();
        let call = format!("nextval('{}'::regclass)", relation.name);
        for other in self.catalog.relations.values() {
            if let RelationKind::Table(table) = &other.kind {
                let columns = table.columns.iter().enumerate().filter(|(_, column)| {
                    column.sequence == Some(oid) || column.default.as_ref().is_some_and(|default| default.text == call)
                });
                found.extend(columns.map(|(at, _)| (other.oid, at)));
            }
        }
        found
    }

    fn drop_schema(&mut self, if_exists: bool, name: &ObjectName, cascade: bool) -> Result<()> {
        let (_, name) = parts(name)?;
        let Some(schema) = self.catalog.schema(&name).cloned() else {
            let message = format!("schema \"{name}\" does not exist");
            if if_exists {
                self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
                return Ok(());
            }
            return Err(SqlError::new(SqlState::INVALID_SCHEMA_NAME, message));
        };
        let inside = |oid: Oid| oid == schema.oid;
        let relations: Vec<_> = self
            .catalog
            .relations
            .values()
            .filter(|relation| inside(relation.schema) && !matches!(relation.kind, RelationKind::Index(_)))
            .cloned()
            .collect();
        let shown: Vec<String> =
            relations.iter().map(|relation| format!("{} {name}.{}", kind_of(&relation.kind), relation.name)).collect();
        let others = self.catalog.functions.values().any(|function| inside(function.schema));
        if !cascade && (!shown.is_empty() || others) {
            return Err(dependents(&format!("schema {name}"), &shown));
        }
        self.notice_cascade(&shown);
        let also: BTreeSet<Oid> = relations.iter().map(|relation| relation.oid).collect();
        for relation in relations {
            self.drop_relation(relation.oid, true, &also)?;
        }
        self.change_catalog(|catalog| {
            catalog.types.retain(|_, ty| !inside(ty.schema));
            catalog.functions.retain(|_, function| !inside(function.schema));
            catalog.collations.retain(|_, collation| !inside(collation.schema));
            catalog.extensions.retain(|_, extension| !inside(extension.schema));
            catalog.schemas.remove(&schema.oid);
            Ok(())
        })
    }

    fn drop_type(&mut self, object: ObjectKind, if_exists: bool, name: &ObjectName, cascade: bool) -> Result<()> {
        let word = kind_words(object).to_lowercase();
        let Some(found) = self.find_type(name)? else {
            let message = format!("type \"{}\" does not exist", parts(name)?.1);
            if if_exists {
                self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
                return Ok(());
            }
            return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
        };
        let user = self.catalog.types[&found].clone();
        if matches!(object, ObjectKind::Domain) != matches!(user.kind, UserTypeKind::Domain { .. }) {
            let message = format!("\"{}\" is not a {word}", user.name);
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        }
        if matches!(user.kind, UserTypeKind::Extension { .. }) {
            let name = &user.name;
            let message = format!("cannot drop type {name} because extension {name} requires it");
            let hint = format!("You can drop extension {name} instead.");
            return Err(SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message).hint(hint));
        }
        let mut users = Vec::new();
        for relation in self.catalog.relations.values() {
            if let RelationKind::Table(table) = &relation.kind {
                for (at, column) in table.columns.iter().enumerate() {
                    if !column.dropped && (column.typed.ty == user.ty || column.typed.ty == user.array) {
                        users.push((relation.oid, at, format!("column {} of table {}", column.name, relation.name)));
                    }
                }
            }
        }
        let shown: Vec<String> = users.iter().map(|(_, _, shown)| shown.clone()).collect();
        if !cascade && !users.is_empty() {
            return Err(dependents(&format!("type {}", user.name), &shown));
        }
        self.notice_cascade(&shown);
        for (table, at, _) in users {
            self.remove_column(table, at)?;
        }
        self.change_catalog(|catalog| {
            catalog.types.remove(&found);
            Ok(())
        })
    }

    fn drop_trigger(&mut self, if_exists: bool, name: &ObjectRef) -> Result<()> {
        let Some(of) = &name.of else { return Err(SqlError::syntax("DROP TRIGGER needs a table")) };
        let Some(relation) = self.relation_or_skip(of, if_exists)? else { return Ok(()) };
        let (_, trigger) = parts(&name.name)?;
        let there = as_table(&relation)?.triggers.iter().any(|known| known.name == trigger);
        if !there {
            if if_exists {
                let message = format!("trigger \"{trigger}\" for relation \"{}\" does not exist", relation.name);
                self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
                return Ok(());
            }
            return Err(super::trigger::no_trigger(&trigger, &relation.name));
        }
        self.change_table(relation.oid, |table| {
            table.triggers.retain(|known| known.name != trigger);
            Ok(())
        })
    }

    fn drop_database(&mut self, if_exists: bool, name: &ObjectName) -> Result<()> {
        let (_, name) = parts(name)?;
        let cluster = self.session.client.cluster.clone();
        if if_exists && !cluster.names().iter().any(|known| **known == *name) {
            let message = format!("database \"{name}\" does not exist, skipping");
            self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, message);
            return Ok(());
        }
        crate::session::Cluster::drop(&*cluster, &name)
    }

    pub(super) fn drop_column(&mut self, oid: Oid, if_exists: bool, name: &Ident, cascade: bool) -> Result<()> {
        let relation = self.relation(oid)?;
        let folded = fold(name);
        let Ok(position) = self.position(oid, name) else {
            let message = format!("column \"{folded}\" of relation \"{}\" does not exist", relation.name);
            if if_exists {
                self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
                return Ok(());
            }
            return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message));
        };
        let mut in_the_way = Vec::new();
        for (table, key) in self.keys_to(oid) {
            let referring = self.relation(table)?;
            let uses = as_table(&referring)?
                .foreign_keys
                .iter()
                .any(|known| known.name == key && known.parent_columns.contains(&position));
            if uses && table != oid {
                in_the_way.push((table, key.clone(), format!("constraint {key} on table {}", referring.name)));
            }
        }
        let views = self.views_on(oid);
        let mut shown: Vec<String> = in_the_way.iter().map(|(_, _, shown)| shown.clone()).collect();
        let mut gone_views = Vec::new();
        for view in views {
            let named = self.relation(view)?;
            if let RelationKind::View(made) = &named.kind
                && mentions(&made.text, &folded)
            {
                shown.push(format!("view {}", named.name));
                gone_views.push(view);
            }
        }
        if !cascade && !shown.is_empty() {
            return Err(dependents(&format!("column {folded} of table {}", relation.name), &shown));
        }
        self.notice_cascade(&shown);
        for view in gone_views {
            self.drop_relation(view, true, &BTreeSet::new())?;
        }
        self.change_catalog(|catalog| {
            for (table, key, _) in &in_the_way {
                change_table(catalog, *table, |table| table.foreign_keys.retain(|known| known.name != *key));
            }
            Ok(())
        })?;
        self.remove_column(oid, position)
    }

    /// Takes a column out of its table, with the constraints and indexes that it is part of.
    pub(super) fn remove_column(&mut self, oid: Oid, position: usize) -> Result<()> {
        let relation = self.relation(oid)?;
        let table = as_table(&relation)?;
        if table.clustered.contains(&position) {
            self.rewrite(oid, |table| table.clustered.clear(), |_, values| Ok(values))?;
            let relation = self.relation(oid)?;
            if let Some(index) = as_table(&relation)?.primary_key {
                let space = self.db.store.space();
                self.change_index(index, |index| index.space = Some(space))?;
            }
        }
        let relation = self.relation(oid)?;
        let table = as_table(&relation)?;
        let mut gone = Vec::new();
        for &index in &table.indexes {
            if let RelationKind::Index(made) = &self.relation(index)?.kind {
                let uses = made.keys.iter().any(|key| matches!(key.what, IndexKeyKind::Column(at) if at == position));
                if uses || made.include.contains(&position) {
                    gone.push(index);
                }
            }
        }
        let mut checks = Vec::new();
        for check in &table.checks {
            let bound = self.bind_row_expression(&check.condition.ast, &relation)?;
            let mut columns = Vec::new();
            super::deparse::columns(&bound, &mut columns);
            if columns.contains(&position) {
                checks.push(check.oid);
            }
        }
        let sequence = table.columns[position].sequence;
        self.change_catalog(|catalog| {
            change_table(catalog, oid, |table| {
                let column = &mut table.columns[position];
                column.dropped = true;
                column.name = format!("........pg.dropped.{}........", position + 1).into();
                (column.not_null, column.default, column.sequence) = (false, None, None);
                table.checks.retain(|check| !checks.contains(&check.oid));
                table.foreign_keys.retain(|key| !key.columns.contains(&position));
                table.indexes.retain(|index| !gone.contains(index));
                if table.primary_key.is_some_and(|index| gone.contains(&index)) {
                    table.primary_key = None;
                }
            });
            gone.iter().for_each(|index| catalog.drop_relation(*index));
            sequence.into_iter().for_each(|sequence| catalog.drop_relation(sequence));
            Ok(())
        })
    }

    pub(super) fn drop_constraint(&mut self, oid: Oid, if_exists: bool, name: &str, cascade: bool) -> Result<()> {
        let relation = self.relation(oid)?;
        let table = as_table(&relation)?;
        let index = table.indexes.iter().copied().find(|index| {
            self.relation(*index).is_ok_and(|index| {
                &*index.name == name && matches!(&index.kind, RelationKind::Index(made) if made.constraint.is_some())
            })
        });
        let known = table.checks.iter().any(|check| &*check.name == name)
            || table.foreign_keys.iter().any(|key| &*key.name == name)
            || index.is_some();
        if !known {
            let message = format!("constraint \"{name}\" of relation \"{}\" does not exist", relation.name);
            if if_exists {
                self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
                return Ok(());
            }
            return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
        }
        if let Some(index) = index {
            let keys: Vec<_> = self
                .keys_to(oid)
                .into_iter()
                .filter(|(table, key)| {
                    let table = self.catalog.table(*table);
                    let key = table.and_then(|table| table.foreign_keys.iter().find(|known| known.name == *key));
                    key.is_some_and(|key| key.parent_index == index)
                })
                .collect();
            let shown: Vec<String> = keys
                .iter()
                .map(|(table, key)| {
                    let table = self.relation(*table).map_or_else(|_| String::new(), |table| table.name.to_string());
                    format!("constraint {key} on table {table}")
                })
                .collect();
            if !cascade && !keys.is_empty() {
                return Err(dependents(&format!("constraint {name} on table {}", relation.name), &shown));
            }
            self.notice_cascade(&shown);
            if !table.clustered.is_empty() && table.primary_key == Some(index) {
                self.rewrite(oid, |table| table.clustered.clear(), |_, values| Ok(values))?;
            }
            return self.change_catalog(|catalog| {
                for (table, key) in &keys {
                    change_table(catalog, *table, |table| table.foreign_keys.retain(|known| known.name != *key));
                }
                change_table(catalog, oid, |table| {
                    table.indexes.retain(|known| *known != index);
                    if table.primary_key == Some(index) {
                        table.primary_key = None;
                    }
                });
                catalog.drop_relation(index);
                Ok(())
            });
        }
        self.change_table(oid, |table| {
            table.checks.retain(|check| &*check.name != name);
            table.foreign_keys.retain(|key| &*key.name != name);
            Ok(())
        })
    }
}

/// Something stands in the way of a DROP.
pub(super) fn dependents(what: &str, dependents: &[String]) -> SqlError {
    let message = format!("cannot drop {what} because other objects depend on it");
    let lines: Vec<String> = dependents.iter().map(|dependent| format!("{dependent} depends on {what}")).collect();
    SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message)
        .detail(lines.join("\n"))
        .hint("Use DROP ... CASCADE to drop the dependent objects too.")
}

fn kind_of(kind: &RelationKind) -> &'static str {
    match kind {
        RelationKind::Table(_) => "table",
        RelationKind::Index(_) => "index",
        RelationKind::View(view) if view.materialized.is_some() => "materialized view",
        RelationKind::View(_) => "view",
        RelationKind::Sequence(_) => "sequence",
    }
}

/// Changes a table of a catalog, if it is there.
pub(super) fn change_table(catalog: &mut Catalog, oid: Oid, change: impl FnOnce(&mut crate::catalog::Table)) {
    if let Some(relation) = catalog.relation(oid) {
        let mut relation = crate::catalog::Relation::clone(relation);
        if let RelationKind::Table(table) = &mut relation.kind {
            change(table);
        }
        catalog.put_relation(relation);
    }
}

/// Takes a relation out of a catalog, with all that belongs to it.
fn remove(catalog: &mut Catalog, oid: Oid) {
    let Some(relation) = catalog.relation(oid).cloned() else { return };
    match &relation.kind {
        RelationKind::Table(table) => {
            table.indexes.iter().for_each(|index| catalog.drop_relation(*index));
            let owned: Vec<Oid> = catalog
                .relations
                .values()
                .filter(|other| matches!(&other.kind, RelationKind::Sequence(sequence) if sequence.owner.is_some_and(|owner| owner.table == oid)))
                .map(|other| other.oid)
                .collect();
            owned.into_iter().for_each(|sequence| catalog.drop_relation(sequence));
            catalog.types.remove(&table.row_type.0);
        }
        RelationKind::Index(index) => {
            let table = index.table;
            change_table(catalog, table, |table| table.indexes.retain(|known| *known != oid));
        }
        RelationKind::View(view) => {
            if let Some(rows) = view.materialized {
                remove(catalog, rows);
            }
        }
        RelationKind::Sequence(_) => {}
    }
    catalog.drop_relation(oid);
    catalog.comments.retain(|(_, object, _), _| *object != oid);
}

/// Whether a view's text has this word.
pub(super) fn mentions(text: &str, word: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.to_lowercase().split(|c| !is_word(c)).any(|found| found == word)
}
