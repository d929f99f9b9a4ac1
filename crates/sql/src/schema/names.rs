//! Where new objects go, and the names that PostgreSQL makes up for indexes, constraints and sequences.

use std::sync::Arc;

use crate::parse::ast::{Ident, ObjectName};

use crate::catalog::{Catalog, Oid, Relation};
use crate::error::{Result, SqlError, SqlState};
use crate::schema::Editor;

/// The longest name in bytes.
const LONGEST: usize = 63;

/// An identifier as PostgreSQL knows it.
pub(crate) fn fold(ident: &Ident) -> Arc<str> {
    if ident.quoted { ident.value.as_str().into() } else { ident.value.to_lowercase().into() }
}

/// The parts of a name: its schema, if one is given, and the name.
pub(crate) fn parts(name: &ObjectName) -> Result<(Option<Arc<str>>, Arc<str>)> {
    match name.0.as_slice() {
        [name] => Ok((None, fold(name))),
        [schema, name] | [_, schema, name] => Ok((Some(fold(schema)), fold(name))),
        _ => Err(SqlError::syntax(format!("improper qualified name (too many dotted names): {name}"))),
    }
}

impl Editor<'_, '_> {
    /// The parts of a name, which must not be of something in another database.
    pub(crate) fn parts_here(&self, name: &ObjectName) -> Result<(Option<Arc<str>>, Arc<str>)> {
        if let [database, _, _] = name.0.as_slice()
            && *fold(database) != *self.session.client.database
        {
            return Err(crate::bind::names::cross_database(&format!("\"{name}\"")));
        }
        parts(name)
    }

    /// The schema and name of an object that is to be made.
    pub(super) fn place(&mut self, name: &ObjectName, temporary: bool) -> Result<(Oid, Arc<str>)> {
        let (schema, name) = self.parts_here(name).map_err(|error| name.span().locate(error))?;
        let oid = match schema {
            Some(schema) if &*schema == "pg_temp" => self.temporary_schema()?,
            Some(_) if temporary => {
                let message = "cannot create temporary relation in non-temporary schema";
                return Err(SqlError::new(SqlState::INVALID_TABLE_DEFINITION, message));
            }
            Some(schema) => self.schema_named(&schema)?,
            None if temporary => self.temporary_schema()?,
            None => {
                let temporary = self.session.temporary;
                let path = self.path();
                path.into_iter().find(|oid| Some(*oid) != temporary).ok_or_else(|| {
                    SqlError::new(SqlState::INVALID_SCHEMA_NAME, "no schema has been selected to create in")
                })?
            }
        };
        Ok((oid, name))
    }

    /// The number of a schema; `pg_temp` is the connection's own.
    pub(crate) fn schema_named(&self, name: &str) -> Result<Oid> {
        if name == "pg_temp"
            && let Some(oid) = self.session.temporary
        {
            return Ok(oid);
        }
        self.catalog
            .schema(name)
            .map(|schema| schema.oid)
            .ok_or_else(|| SqlError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{name}\" does not exist")))
    }

    /// Refuses a relation whose name is taken; true if it is there and that is all right.
    pub(super) fn is_taken(&mut self, schema: Oid, name: &str, if_not_exists: bool) -> Result<bool> {
        if self.catalog.relation_in(schema, name).is_none() {
            return Ok(false);
        }
        if if_not_exists {
            let message = format!("relation \"{name}\" already exists, skipping");
            self.session.notice("NOTICE", SqlState::DUPLICATE_TABLE, message);
            return Ok(true);
        }
        Err(SqlError::new(SqlState::DUPLICATE_TABLE, format!("relation \"{name}\" already exists")))
    }

    /// The relation that a name means, or its absence where IF EXISTS allows it.
    pub(super) fn relation_or_skip(&mut self, name: &ObjectName, if_exists: bool) -> Result<Option<Arc<Relation>>> {
        if let Some(relation) = self.find_relation(name)? {
            return Ok(Some(relation));
        }
        let (_, short) = parts(name)?;
        if if_exists {
            let message = format!("relation \"{short}\" does not exist, skipping");
            self.session.notice("NOTICE", SqlState::SUCCESSFUL_COMPLETION, message);
            return Ok(None);
        }
        let shown = name.0.iter().map(|part| part.to_string().replace('"', "")).collect::<Vec<_>>().join(".");
        Err(SqlError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{shown}\" does not exist")))
    }
}

/// `table_column_suffix`, cut as PostgreSQL cuts it: the longer of the first two loses first.
fn compose(first: &str, second: &str, suffix: &str) -> String {
    let overhead = 1 + suffix.len() + if second.is_empty() { 0 } else { 1 };
    let (mut one, mut two) = (first.len(), second.len());
    while one + two + overhead > LONGEST {
        if one > two { one -= 1 } else { two -= 1 }
    }
    let cut = |text: &str, length: usize| {
        let end = (0..=length).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text[..end].to_owned()
    };
    let (one, two) = (cut(first, one), cut(second, two));
    if second.is_empty() { format!("{one}_{suffix}") } else { format!("{one}_{two}_{suffix}") }
}

/// A name that nobody has: with a number behind the suffix if need be.
fn free(first: &str, second: &str, suffix: &str, taken: impl Fn(&str) -> bool) -> Arc<str> {
    let mut name = compose(first, second, suffix);
    let mut number = 0;
    while taken(&name) {
        number += 1;
        name = compose(first, second, &format!("{suffix}{number}"));
    }
    name.into()
}

/// A name for an index or a sequence.
pub(super) fn relation_name(catalog: &Catalog, schema: Oid, table: &str, columns: &[&str], suffix: &str) -> Arc<str> {
    free(table, &columns.join("_"), suffix, |name| {
        catalog.relation_in(schema, name).is_some() || constraint_exists(catalog, schema, name)
    })
}

/// A name for a constraint of a table.
pub(super) fn constraint_name(catalog: &Catalog, table: &Relation, columns: &[&str], suffix: &str) -> Arc<str> {
    free(&table.name, &columns.join("_"), suffix, |name| {
        constraint_exists(catalog, table.schema, name) || has_constraint(catalog, table, name)
    })
}

/// Whether a constraint of a schema has this name.
fn constraint_exists(catalog: &Catalog, schema: Oid, name: &str) -> bool {
    let mut tables = catalog.relations.values().filter(|relation| relation.schema == schema);
    tables.any(|relation| has_constraint(catalog, relation, name))
}

/// Whether a table has a constraint with this name.
pub(super) fn has_constraint(catalog: &Catalog, relation: &Relation, name: &str) -> bool {
    let crate::catalog::RelationKind::Table(table) = &relation.kind else { return false };
    let index = |oid: &Oid| {
        catalog.relation(*oid).is_some_and(|index| match &index.kind {
            crate::catalog::RelationKind::Index(made) => made.constraint.is_some() && &*index.name == name,
            _ => false,
        })
    };
    table.checks.iter().any(|check| &*check.name == name)
        || table.foreign_keys.iter().any(|key| &*key.name == name)
        || table.indexes.iter().any(index)
}
