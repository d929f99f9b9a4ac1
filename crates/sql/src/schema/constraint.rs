//! PRIMARY KEY, UNIQUE, CHECK and FOREIGN KEY: adding them to a table, and checking the rows that are there.

use std::sync::Arc;

use crate::parse::ast::{self, Ident};

use crate::catalog::{
    Action, Check, ForeignKey, Index, IndexConstraint, IndexKey, IndexKeyKind, Oid, Relation, RelationKind, StoredExpr,
    Timing,
};
use crate::change::foreign_keys::Deferred;
use crate::error::{Result, SqlError, SqlState};
use crate::ir::Expr;
use crate::parse::ddl::{ConstraintAttributes, KeyAction, References, TableConstraint, TableConstraintKind};
use crate::schema::Editor;
use crate::schema::names::{self, fold};
use crate::storage::world::as_table;
use crate::types::{Datum, Type};

impl Editor<'_, '_> {
    /// Adds a constraint to a table; a new one has no rows.
    pub(super) fn add_constraint(&mut self, oid: Oid, constraint: &TableConstraint, new: bool) -> Result<()> {
        if let Some(name) = &constraint.name {
            let (name, relation) = (fold(name), self.relation(oid)?);
            if names::has_constraint(&self.catalog, &relation, &name) {
                let message = format!("constraint \"{name}\" for relation \"{}\" already exists", relation.name);
                return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
            }
        }
        match &constraint.kind {
            TableConstraintKind::Check(condition) => self.add_check(oid, constraint, condition, new),
            TableConstraintKind::Unique { primary, nulls_not_distinct, columns, include } => {
                let keys = columns.iter().map(|name| self.key_position(oid, name)).collect::<Result<Vec<_>>>()?;
                let include = include.iter().map(|name| self.key_position(oid, name)).collect::<Result<Vec<_>>>()?;
                self.add_unique(oid, constraint, *primary, *nulls_not_distinct, (&keys, include), new)
            }
            TableConstraintKind::UsingIndex { primary, index } => self.adopt_index(oid, constraint, *primary, index),
            TableConstraintKind::ForeignKey { columns, references } => {
                self.add_foreign_key(oid, constraint, columns, references, new)
            }
            TableConstraintKind::Exclude => Err(SqlError::unsupported("EXCLUDE")),
        }
    }

    fn key_position(&self, oid: Oid, name: &Ident) -> Result<usize> {
        self.position(oid, name).map_err(|_| {
            let message = format!("column \"{}\" named in key does not exist", fold(name));
            SqlError::new(SqlState::UNDEFINED_COLUMN, message)
        })
    }

    fn add_check(&mut self, oid: Oid, constraint: &TableConstraint, condition: &ast::Expr, new: bool) -> Result<()> {
        let relation = self.relation(oid)?;
        let bound = self.bind_row_expression(condition, &relation)?;
        if bound.ty() != Type::BOOL {
            let shown = crate::types::names::display(bound.ty(), &self.catalog);
            let message = format!("argument of CHECK must be type boolean, not type {shown}");
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
        }
        let stored = StoredExpr::new(bound, &[oid]);
        let columns = stored.columns(oid);
        let table = as_table(&relation)?;
        let named: Vec<&str> = match columns.as_slice() {
            [only] => vec![&table.columns[*only].name],
            _ => Vec::new(),
        };
        let name = match &constraint.name {
            Some(name) => fold(name),
            None => names::constraint_name(&self.catalog, &relation, &named, "check"),
        };
        let validated = new || !constraint.attributes.not_valid;
        if !new && validated {
            self.check_rows(&relation, &name, &stored.expr)?;
        }
        let check = Check { oid: self.db.new_oid(), name, condition: Arc::new(stored), validated };
        self.change_table(oid, |table| {
            table.checks.push(check);
            table.checks.sort_by(|one, two| one.name.cmp(&two.name));
            Ok(())
        })
    }

    /// An error if a row violates a condition.
    fn check_rows(&mut self, relation: &Relation, name: &str, condition: &Expr) -> Result<()> {
        let table = as_table(relation)?;
        self.for_each_row(table, |world, row| {
            let values = world.look_row(table, row)?;
            if matches!(world.eval_over(condition, &values)?, Datum::Bool(false)) {
                let message =
                    format!("check constraint \"{name}\" of relation \"{}\" is violated by some row", relation.name);
                return Err(SqlError::new(SqlState::CHECK_VIOLATION, message).constraint(name));
            }
            Ok(())
        })
    }

    /// VALIDATE CONSTRAINT: the rows that were there before a NOT VALID constraint are checked.
    pub(super) fn validate_constraint(&mut self, oid: Oid, name: &str) -> Result<()> {
        let relation = self.relation(oid)?;
        let table = as_table(&relation)?;
        if let Some(check) = table.checks.iter().find(|check| &*check.name == name) {
            if !check.validated {
                let condition = crate::ir::current::expr(&check.condition, &self.catalog);
                self.check_rows(&relation, name, &condition)?;
            }
        } else if let Some(key) = table.foreign_keys.iter().find(|key| &*key.name == name) {
            if !key.validated {
                let check = |row| Deferred::Child { table: oid, constraint: key.oid, row };
                self.for_each_row(table, |world, row| Editor::new(world).check_now(&check(row)))?;
            }
        } else {
            let message = format!("constraint \"{name}\" of relation \"{}\" does not exist", relation.name);
            return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
        }
        self.change_table(oid, |table| {
            table.checks.iter_mut().filter(|check| &*check.name == name).for_each(|check| check.validated = true);
            table.foreign_keys.iter_mut().filter(|key| &*key.name == name).for_each(|key| key.validated = true);
            Ok(())
        })
    }

    fn add_unique(
        &mut self,
        oid: Oid,
        constraint: &TableConstraint,
        primary: bool,
        nulls_not_distinct: bool,
        (keys, include): (&[usize], Vec<usize>),
        new: bool,
    ) -> Result<()> {
        let relation = self.relation(oid)?;
        let table = as_table(&relation)?;
        if primary && table.primary_key.is_some() {
            let message = format!("multiple primary keys for table \"{}\" are not allowed", relation.name);
            return Err(SqlError::new(SqlState::INVALID_TABLE_DEFINITION, message));
        }
        if let Some(twice) = keys.iter().enumerate().find(|(at, key)| keys[..*at].contains(key)) {
            let what = if primary { "primary key" } else { "unique" };
            let name = &table.columns[*twice.1].name;
            let message = format!("column \"{name}\" appears twice in {what} constraint");
            return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
        }
        let columns: Vec<&str> = keys.iter().map(|&at| &*table.columns[at].name).collect();
        let name = match (&constraint.name, primary) {
            (Some(name), _) => fold(name),
            (None, true) => names::relation_name(&self.catalog, relation.schema, &relation.name, &[], "pkey"),
            (None, false) => names::relation_name(&self.catalog, relation.schema, &relation.name, &columns, "key"),
        };
        if self.catalog.relation_in(relation.schema, &name).is_some() {
            let message = format!("relation \"{name}\" already exists");
            return Err(SqlError::new(SqlState::DUPLICATE_TABLE, message));
        }
        if primary {
            for &key in keys {
                self.set_not_null(oid, key, !new)?;
            }
        }
        let clustered = new && primary && table.clustered == keys;
        let made = IndexConstraint { oid: self.db.new_oid(), primary, timing: timing(constraint.attributes) };
        let index = Index {
            table: oid,
            keys: keys.iter().map(|&position| column_key(position)).collect(),
            include,
            unique: true,
            nulls_not_distinct,
            predicate: None,
            constraint: Some(made),
            space: None,
            method: "btree".into(),
        };
        let index = self.put_index(relation.schema, name, index, !clustered)?;
        if !new && primary && made.timing == Timing::Immediate {
            // Rows come to be ordered by the key: then its lookups are the rows' own.
            self.cluster(oid, keys, index)
        } else if !new {
            self.build_index(oid, index)
        } else {
            Ok(())
        }
    }

    /// Makes an index in the catalog, with a space of its own or not.
    pub(super) fn put_index(&mut self, schema: Oid, name: Arc<str>, mut index: Index, spaced: bool) -> Result<Oid> {
        self.must_be_ordered_by_bytes(&index)?;
        let oid = self.db.new_oid();
        if spaced {
            index.space = Some(self.db.store.space());
        }
        let (table, primary) = (index.table, index.constraint.is_some_and(|made| made.primary));
        self.change_catalog(|catalog| {
            catalog.put_relation(Relation { oid, schema, name, kind: RelationKind::Index(index) });
            Ok(())
        })?;
        self.change_table(table, |table| {
            if primary {
                table.primary_key = Some(oid);
                table.indexes.insert(0, oid);
            } else {
                table.indexes.push(oid);
            }
            Ok(())
        })?;
        Ok(oid)
    }

    fn adopt_index(&mut self, oid: Oid, constraint: &TableConstraint, primary: bool, index: &Ident) -> Result<()> {
        let relation = self.relation(oid)?;
        let name = fold(index);
        let found = self.catalog.relation_in(relation.schema, &name).cloned();
        let Some(found) = found.filter(|found| matches!(&found.kind, RelationKind::Index(index) if index.table == oid))
        else {
            let message = format!("index \"{name}\" does not exist");
            return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
        };
        let made = IndexConstraint { oid: self.db.new_oid(), primary, timing: timing(constraint.attributes) };
        self.change_index(found.oid, |index| index.constraint = Some(made))?;
        if primary {
            let RelationKind::Index(index) = &found.kind else { return Ok(()) };
            for key in &index.keys {
                if let IndexKeyKind::Column(position) = key.what {
                    self.set_not_null(oid, position, true)?;
                }
            }
            self.change_table(oid, |table| {
                table.primary_key = Some(found.oid);
                Ok(())
            })?;
        }
        match &constraint.name {
            Some(name) => self.rename_relation(found.oid, &fold(name)),
            None => Ok(()),
        }
    }

    fn add_foreign_key(
        &mut self,
        oid: Oid,
        constraint: &TableConstraint,
        columns: &[Ident],
        references: &References,
        new: bool,
    ) -> Result<()> {
        if references.match_partial {
            return Err(SqlError::unsupported("MATCH PARTIAL"));
        }
        let missing = |name: &Ident| {
            let message = format!("column \"{}\" referenced in foreign key constraint does not exist", fold(name));
            SqlError::new(SqlState::UNDEFINED_COLUMN, message)
        };
        let own = columns
            .iter()
            .map(|name| self.position(oid, name).map_err(|_| missing(name)))
            .collect::<Result<Vec<_>>>()?;
        let relation = self.relation(oid)?;
        let parent = self.resolve_relation(&references.table)?;
        let RelationKind::Table(parent_table) = &parent.kind else {
            let message = format!("referenced relation \"{}\" is not a table", parent.name);
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        };
        let (parent_columns, parent_index) = if references.columns.is_empty() {
            self.primary_key_of(&parent)?
        } else {
            let columns = references
                .columns
                .iter()
                .map(|name| self.position(parent.oid, name).map_err(|_| missing(name)))
                .collect::<Result<Vec<_>>>()?;
            let index = self.unique_index_on(&parent, &columns)?;
            (columns, index)
        };
        if parent_columns.len() != own.len() {
            let message = "number of referencing and referenced columns for foreign key disagree";
            return Err(SqlError::new(SqlState::INVALID_FOREIGN_KEY, message));
        }
        let table = as_table(&relation)?;
        let named: Vec<&str> = own.iter().map(|&at| &*table.columns[at].name).collect();
        let name = match &constraint.name {
            Some(name) => fold(name),
            None => names::constraint_name(&self.catalog, &relation, &named, "fkey"),
        };
        let path = self.path();
        let names = crate::functions::resolve::Names { catalog: &self.catalog, path: &path };
        for (&at, &parent_at) in own.iter().zip(&parent_columns) {
            let (one, two) = (table.columns[at].typed.ty, parent_table.columns[parent_at].typed.ty);
            if crate::functions::resolve::operator("=", Some(one), two, names).is_err() {
                let message = format!("foreign key constraint \"{name}\" cannot be implemented");
                let shown = |ty| crate::types::names::display(ty, &self.catalog);
                let detail = format!(
                    "Key columns \"{}\" and \"{}\" are of incompatible types: {} and {}.",
                    table.columns[at].name,
                    parent_table.columns[parent_at].name,
                    shown(one),
                    shown(two)
                );
                return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message).detail(detail));
            }
        }
        let key = ForeignKey {
            oid: self.db.new_oid(),
            name,
            columns: own,
            parent: parent.oid,
            parent_columns,
            parent_index,
            on_delete: action(&references.on_delete)?,
            on_update: action(&references.on_update)?,
            match_full: references.match_full,
            timing: timing(constraint.attributes),
            validated: new || !constraint.attributes.not_valid,
        };
        let constraint_oid = key.oid;
        self.change_table(oid, |table| {
            table.foreign_keys.push(key);
            Ok(())
        })?;
        if !new && !constraint.attributes.not_valid {
            let relation = self.relation(oid)?;
            let check = |row| Deferred::Child { table: oid, constraint: constraint_oid, row };
            self.for_each_row(as_table(&relation)?, |world, row| Editor::new(world).check_now(&check(row)))?;
        }
        Ok(())
    }

    fn primary_key_of(&self, parent: &Relation) -> Result<(Vec<usize>, Oid)> {
        let table = as_table(parent)?;
        let Some(index) = table.primary_key else {
            let message = format!("there is no primary key for referenced table \"{}\"", parent.name);
            return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
        };
        Ok((self.index_columns(index), index))
    }

    /// The columns of an index.
    pub(super) fn index_columns(&self, index: Oid) -> Vec<usize> {
        let Some(RelationKind::Index(index)) = self.catalog.relation(index).map(|relation| &relation.kind) else {
            return Vec::new();
        };
        let column = |key: &IndexKey| match key.what {
            IndexKeyKind::Column(position) => Some(position),
            IndexKeyKind::Expr(_) => None,
        };
        index.keys.iter().filter_map(column).collect()
    }

    fn unique_index_on(&self, parent: &Relation, columns: &[usize]) -> Result<Oid> {
        let mut wanted = columns.to_vec();
        wanted.sort_unstable();
        for &oid in &as_table(parent)?.indexes {
            let Some(RelationKind::Index(index)) = self.catalog.relation(oid).map(|relation| &relation.kind) else {
                continue;
            };
            let mut keys = self.index_columns(oid);
            keys.sort_unstable();
            if index.unique && index.predicate.is_none() && keys == wanted && keys.len() == index.keys.len() {
                return Ok(oid);
            }
        }
        let message =
            format!("there is no unique constraint matching given keys for referenced table \"{}\"", parent.name);
        Err(SqlError::new(SqlState::INVALID_FOREIGN_KEY, message))
    }

    /// NOT NULL from now on, if the rows allow it.
    pub(super) fn set_not_null(&mut self, oid: Oid, position: usize, check: bool) -> Result<()> {
        let relation = self.relation(oid)?;
        let table = as_table(&relation)?;
        if check && !table.columns[position].not_null {
            self.for_each_row(table, |world, row| {
                if !world.look_column(table, row, position)?.is_null() {
                    return Ok(());
                }
                let name = &table.columns[position].name;
                let message = format!("column \"{name}\" of relation \"{}\" contains null values", relation.name);
                Err(SqlError::new(SqlState::NOT_NULL_VIOLATION, message))
            })?;
        }
        self.change_table(oid, |table| {
            table.columns[position].not_null = true;
            Ok(())
        })
    }
}

/// A key that is a column.
pub(super) fn column_key(position: usize) -> IndexKey {
    IndexKey { what: IndexKeyKind::Column(position), descending: false, nulls_first: false, class: None, collation: 0 }
}

pub(super) fn timing(attributes: ConstraintAttributes) -> Timing {
    match (attributes.deferrable, attributes.initially_deferred) {
        (_, true) => Timing::DeferrableDeferred,
        (true, false) => Timing::DeferrableImmediate,
        (false, false) => Timing::Immediate,
    }
}

fn action(said: &KeyAction) -> Result<Action> {
    Ok(match said {
        KeyAction::NoAction => Action::NoAction,
        KeyAction::Restrict => Action::Restrict,
        KeyAction::Cascade => Action::Cascade,
        KeyAction::SetNull(columns) if columns.is_empty() => Action::SetNull,
        KeyAction::SetDefault(columns) if columns.is_empty() => Action::SetDefault,
        _ => return Err(SqlError::unsupported("SET NULL and SET DEFAULT of some columns")),
    })
}
