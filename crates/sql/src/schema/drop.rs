//! DROP: the objects that are named, and what depends on them.

use crate::parse::ast::{Ident, ObjectName};

use crate::catalog::{Catalog, Oid, RelationKind, UserTypeKind};
use crate::error::{Result, SqlError, SqlState};
use crate::parse::ddl::{ObjectKind, ObjectRef};
use crate::schema::Editor;
use crate::schema::depends::{Edges, Need, Object};
use crate::schema::kind_words;
use crate::schema::names::{fold, parts};
use crate::storage::locks::TableMode;
use crate::storage::world::as_table;

/// How many dependents a message lists.
const MAX_REPORTED: usize = 100;

/// An object that is dropped.
struct Target {
    object: Object,
    /// It was named.
    named: bool,
    /// It goes without being asked.
    silent: bool,
    /// What it was found by.
    because: Object,
}

impl Editor<'_, '_> {
    pub(super) fn drop_objects(
        &mut self,
        object: ObjectKind,
        if_exists: bool,
        names: &[ObjectRef],
        cascade: bool,
    ) -> Result<()> {
        let mut objects = Vec::new();
        for name in names {
            objects.extend(match object {
                ObjectKind::Table
                | ObjectKind::View
                | ObjectKind::MaterializedView
                | ObjectKind::Index
                | ObjectKind::Sequence => self.relation_to_drop(object, if_exists, &name.name)?,
                ObjectKind::Schema => self.schema_to_drop(if_exists, &name.name)?,
                ObjectKind::Type | ObjectKind::Domain => self.type_to_drop(object, if_exists, &name.name)?,
                ObjectKind::Function | ObjectKind::Procedure | ObjectKind::Routine => {
                    self.function_to_drop(object, if_exists, name)?
                }
                ObjectKind::Trigger => self.trigger_to_drop(if_exists, name)?,
                ObjectKind::Collation => self.collation_to_drop(if_exists, &name.name)?,
                ObjectKind::Extension => self.extension_to_drop(if_exists, &name.name)?,
                ObjectKind::Role | ObjectKind::Policy => None,
                other => return Err(SqlError::unsupported(format!("DROP {}", kind_words(other)))),
            });
        }
        self.drop_all(&objects, cascade)
    }

    /// Drops objects with all that depends on them, or refuses to without CASCADE.
    pub(super) fn drop_all(&mut self, objects: &[Object], cascade: bool) -> Result<()> {
        let edges = Edges::of(&self.catalog);
        let mut search = Search { edges: &edges, named: objects, targets: Vec::new(), path: Vec::new() };
        for object in objects {
            if let Some(owner) = edges.owner(*object).filter(|owner| !objects.contains(owner)) {
                let (what, needer) = (self.described(*object), self.described(owner));
                let message = format!("cannot drop {what} because {needer} requires it");
                return Err(SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message)
                    .hint(format!("You can drop {needer} instead.")));
            }
        }
        objects.iter().for_each(|object| search.find(*object, None));
        let targets = search.targets;
        self.report(objects, &targets, cascade)?;
        let mut going: Vec<Object> = targets.into_iter().map(|target| target.object).collect();
        last_fields_first(&mut going);
        going.into_iter().try_for_each(|object| self.remove(object))
    }

    /// Says what goes too, or that it is in the way.
    fn report(&mut self, objects: &[Object], targets: &[Target], cascade: bool) -> Result<()> {
        let is_part = |object: Object| {
            let whole = object.whole();
            whole.is_some_and(|whole| targets.iter().any(|target| target.object == whole))
        };
        let others = targets.iter().rev().filter(|target| !target.named && !target.silent && !is_part(target.object));
        let others: Vec<&Target> = others.collect();
        if others.is_empty() {
            return Ok(());
        }
        let mut lines: Vec<String> = Vec::new();
        for target in others.iter().take(MAX_REPORTED) {
            let shown = self.described(target.object);
            lines.push(match cascade {
                true => format!("drop cascades to {shown}"),
                false => format!("{shown} depends on {}", self.described(target.because)),
            });
        }
        let more = others.len() - lines.len();
        if more > 0 {
            let (noun, what) =
                (if more == 1 { "object" } else { "objects" }, if cascade { "drop cascades to" } else { "and" });
            lines.push(format!("{what} {more} other {noun} (see server log for list)"));
        }
        if !cascade {
            let message = match objects {
                [only] => format!("cannot drop {} because other objects depend on it", self.described(*only)),
                _ => "cannot drop desired object(s) because other objects depend on them".to_owned(),
            };
            return Err(SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message)
                .detail(lines.join("\n"))
                .hint("Use DROP ... CASCADE to drop the dependent objects too."));
        }
        let notice = match lines.as_slice() {
            [only] if others.len() == 1 => SqlError::new(SqlState::SUCCESSFUL_COMPLETION, only.clone()),
            _ => {
                let message = format!("drop cascades to {} other objects", others.len());
                SqlError::new(SqlState::SUCCESSFUL_COMPLETION, message).detail(lines.join("\n"))
            }
        };
        self.session.messages.push(crate::client::Message::Notice("NOTICE", notice));
        Ok(())
    }

    /// Takes one object out of the catalog; what depends on it is gone.
    fn remove(&mut self, object: Object) -> Result<()> {
        match object {
            Object::Relation(oid) => {
                if self.catalog.table(oid).is_some() {
                    self.lock_table(oid, TableMode::AccessExclusive)?;
                }
                self.change_catalog(|catalog| {
                    remove_relation(catalog, oid);
                    Ok(())
                })
            }
            Object::Column(oid, at) => match self.catalog.table(oid) {
                Some(table) if !table.columns[at].dropped => {
                    self.lock_table(oid, TableMode::AccessExclusive)?;
                    self.remove_column(oid, at)
                }
                _ => Ok(()),
            },
            Object::IndexConstraint(index) => self.remove_index_constraint(index),
            Object::Default(oid, at) => self.change_known(oid, |table| table.columns[at].default = None),
            Object::Check(oid, check) => {
                self.change_known(oid, |table| table.checks.retain(|known| known.oid != check))
            }
            Object::ForeignKey(oid, key) => {
                self.change_known(oid, |table| table.foreign_keys.retain(|known| known.oid != key))
            }
            Object::Trigger(oid, trigger) => {
                self.change_known(oid, |table| table.triggers.retain(|known| known.oid != trigger))
            }
            Object::Type(oid) => self.change_catalog(|catalog| {
                catalog.types.remove(&oid);
                catalog.comments.retain(|(_, object, _), _| *object != oid);
                Ok(())
            }),
            Object::Field(oid, at) => self.remove_field(oid, at),
            Object::DomainCheck(oid, check) => match self.catalog.types.contains_key(&oid) {
                true => self.change_type(oid, |kind| {
                    if let UserTypeKind::Domain { checks, .. } = kind {
                        checks.retain(|known| known.oid != check);
                    }
                    Ok(())
                }),
                false => Ok(()),
            },
            Object::Function(oid) => self.change_catalog(|catalog| {
                catalog.functions.remove(&oid);
                catalog.comments.retain(|(_, object, _), _| *object != oid);
                Ok(())
            }),
            Object::Extension(oid) => self.change_catalog(|catalog| {
                catalog.extensions.remove(&oid);
                catalog.comments.retain(|(_, object, _), _| *object != oid);
                Ok(())
            }),
            Object::Collation(oid) => self.change_catalog(|catalog| {
                catalog.collations.remove(&oid);
                catalog.comments.retain(|(_, object, _), _| *object != oid);
                Ok(())
            }),
            // It is there as long as its extension is.
            Object::Member(_) => Ok(()),
            Object::Schema(oid) => self.change_catalog(|catalog| {
                catalog.schemas.remove(&oid);
                Ok(())
            }),
        }
    }

    fn change_known(&mut self, oid: Oid, change: impl FnOnce(&mut crate::catalog::Table)) -> Result<()> {
        self.change_catalog(|catalog| {
            change_table(catalog, oid, change);
            Ok(())
        })
    }

    fn relation_to_drop(&mut self, object: ObjectKind, if_exists: bool, name: &ObjectName) -> Result<Option<Object>> {
        let word = kind_words(object).to_lowercase();
        let Some(relation) = self.find_relation(name)? else {
            let (schema, short) = self.parts_here(name)?;
            if let Some(schema) = schema.filter(|schema| self.catalog.schema(schema).is_none()) {
                let message = format!("schema \"{schema}\" does not exist");
                if if_exists {
                    self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
                    return Ok(None);
                }
                return Err(SqlError::new(SqlState::INVALID_SCHEMA_NAME, message));
            }
            if if_exists {
                let message = format!("{word} \"{short}\" does not exist, skipping");
                self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, message);
                return Ok(None);
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
            let kind = super::describe::kind_of(&relation.kind);
            let article = if kind == "index" { "an" } else { "a" };
            let hint = format!("Use DROP {} to remove {article} {kind}.", kind.to_uppercase());
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message).hint(hint));
        }
        self.lock_table(relation.oid, TableMode::AccessExclusive)?;
        Ok(Some(Object::Relation(relation.oid)))
    }

    fn schema_to_drop(&mut self, if_exists: bool, name: &ObjectName) -> Result<Option<Object>> {
        let (_, name) = parts(name)?;
        if let Some(schema) = self.catalog.schema(&name) {
            return Ok(Some(Object::Schema(schema.oid)));
        }
        let message = format!("schema \"{name}\" does not exist");
        if if_exists {
            self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
            return Ok(None);
        }
        Err(SqlError::new(SqlState::INVALID_SCHEMA_NAME, message))
    }

    fn type_to_drop(&mut self, object: ObjectKind, if_exists: bool, name: &ObjectName) -> Result<Option<Object>> {
        let word = kind_words(object).to_lowercase();
        let Some(found) = self.find_type(name)? else {
            let message = format!("type \"{}\" does not exist", parts(name)?.1);
            if if_exists {
                self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
                return Ok(None);
            }
            return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
        };
        let user = self.catalog.types[&found].clone();
        if matches!(object, ObjectKind::Domain) != matches!(user.kind, UserTypeKind::Domain { .. }) {
            let message = format!("\"{}\" is not a {word}", user.name);
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        }
        Ok(Some(Object::Type(found)))
    }

    fn trigger_to_drop(&mut self, if_exists: bool, name: &ObjectRef) -> Result<Option<Object>> {
        let Some(of) = &name.of else { return Err(SqlError::syntax("DROP TRIGGER needs a table")) };
        let Some(relation) = self.relation_or_skip(of, if_exists)? else { return Ok(None) };
        let (_, trigger) = parts(&name.name)?;
        let found = as_table(&relation)?.triggers.iter().find(|known| known.name == trigger).map(|known| known.oid);
        let Some(found) = found else {
            if if_exists {
                let message = format!("trigger \"{trigger}\" for relation \"{}\" does not exist", relation.name);
                self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
                return Ok(None);
            }
            return Err(super::trigger::no_trigger(&trigger, &relation.name));
        };
        Ok(Some(Object::Trigger(relation.oid, found)))
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
        self.drop_all(&[Object::Column(oid, position)], cascade)
    }

    /// Takes a column out of its table; the constraints and indexes that it was part of are gone.
    fn remove_column(&mut self, oid: Oid, position: usize) -> Result<()> {
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
        self.change_known(oid, |table| {
            let column = &mut table.columns[position];
            column.dropped = true;
            column.name = format!("........pg.dropped.{}........", position + 1).into();
            (column.not_null, column.default, column.sequence) = (false, None, None);
        })?;
        self.make_row_type(oid)
    }

    /// Drops the index of a PRIMARY KEY or UNIQUE constraint.
    fn remove_index_constraint(&mut self, index: Oid) -> Result<()> {
        let Some(RelationKind::Index(made)) = self.catalog.relation(index).map(|relation| &relation.kind) else {
            return Ok(());
        };
        let oid = made.table;
        let orders_rows = self
            .catalog
            .table(oid)
            .is_some_and(|table| table.primary_key == Some(index) && !table.clustered.is_empty());
        if orders_rows {
            self.rewrite(oid, |table| table.clustered.clear(), |_, values| Ok(values))?;
        }
        self.change_catalog(|catalog| {
            remove_relation(catalog, index);
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
        let check = table.checks.iter().find(|check| &*check.name == name).map(|check| Object::Check(oid, check.oid));
        let key =
            || table.foreign_keys.iter().find(|key| &*key.name == name).map(|key| Object::ForeignKey(oid, key.oid));
        let object = index.map(Object::IndexConstraint).or(check).or_else(key);
        self.drop_all(object.as_slice(), cascade)
    }
}

/// Follows the edges of dependencies: what depends on an object comes before it.
struct Search<'e> {
    edges: &'e Edges,
    named: &'e [Object],
    targets: Vec<Target>,
    /// The objects that are being looked at.
    path: Vec<Object>,
}

impl Search<'_> {
    fn find(&mut self, object: Object, found: Option<(Object, Need)>) {
        let silent = found.is_some_and(|(_, need)| need != Need::Normal);
        if self.path.contains(&object) {
            return;
        }
        if let Some(known) = self.targets.iter_mut().find(|target| target.object == object) {
            known.silent |= silent;
            return;
        }
        // A part goes with the whole that it belongs to.
        if let (Some(owner), Some((because, _))) = (self.edges.owner(object), found)
            && owner != because
            && object.whole() != Some(owner)
            && !self.path.contains(&owner)
        {
            return self.find(owner, found);
        }
        self.path.push(object);
        for (dependent, need) in self.edges.dependents(object) {
            self.find(dependent, Some((object, need)));
        }
        self.path.pop();
        // It may have been found on the way.
        if let Some(known) = self.targets.iter_mut().find(|target| target.object == object) {
            known.silent |= silent;
            return;
        }
        let because = found.map_or(object, |(because, _)| because);
        self.targets.push(Target { object, named: self.named.contains(&object), silent, because });
    }
}

/// Fields of composite types go from the last one on, so that the positions of those before them stay.
fn last_fields_first(objects: &mut [Object]) {
    let is_field = |object: &Object| matches!(object, Object::Field(..));
    let mut fields: Vec<Object> = objects.iter().copied().filter(is_field).collect();
    fields.sort();
    objects.iter_mut().filter(|object| is_field(object)).for_each(|object| *object = fields.pop().unwrap_or(*object));
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
fn remove_relation(catalog: &mut Catalog, oid: Oid) {
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
            change_table(catalog, table, |table| {
                table.indexes.retain(|known| *known != oid);
                if table.primary_key == Some(oid) {
                    table.primary_key = None;
                }
            });
        }
        RelationKind::View(view) => {
            if let Some(rows) = view.materialized {
                remove_relation(catalog, rows);
            }
        }
        RelationKind::Sequence(_) => forget_sequence(catalog, oid),
    }
    catalog.drop_relation(oid);
    catalog.comments.retain(|(_, object, _), _| *object != oid);
}

/// A column whose sequence is gone has none.
fn forget_sequence(catalog: &mut Catalog, oid: Oid) {
    let has = |relation: &crate::catalog::Relation| match &relation.kind {
        RelationKind::Table(table) => table.columns.iter().any(|column| column.sequence == Some(oid)),
        _ => false,
    };
    let owners: Vec<Oid> =
        catalog.relations.values().filter(|relation| has(relation)).map(|relation| relation.oid).collect();
    for owner in owners {
        change_table(catalog, owner, |table| {
            table.columns.iter_mut().filter(|column| column.sequence == Some(oid)).for_each(|column| {
                column.sequence = None;
            });
        });
    }
}
