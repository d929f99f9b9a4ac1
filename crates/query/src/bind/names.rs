//! Names: how identifiers fold, and which relation a name means.

use std::borrow::Cow;
use std::sync::Arc;

use crate::parse::ast::{Ident, ObjectName};

use crate::bind::Binder;
use crate::catalog::{INFORMATION_SCHEMA, Oid, PG_CATALOG, Relation, RelationKind, Schema};
use crate::error::{Result, SqlError, SqlState};
use crate::system::{self, SystemTable};
pub use crate::types::names::cross_database;

/// The longest name in bytes.
const LONGEST: usize = 63;

/// An identifier as PostgreSQL knows it: lower case unless quoted, not longer than 63 bytes.
pub fn fold(ident: &Ident) -> Cow<'_, str> {
    let value = ident.value.as_str();
    let folded = if !ident.quoted && value.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(value.to_ascii_lowercase())
    } else {
        Cow::Borrowed(value)
    };
    match folded.len() {
        0..=LONGEST => folded,
        _ => Cow::Owned(truncate(&folded).to_owned()),
    }
}

/// The identifier, as names are kept.
pub fn name(ident: &Ident) -> Arc<str> {
    fold(ident).as_ref().into()
}

fn truncate(name: &str) -> &str {
    let end = (0..=LONGEST).rev().find(|at| name.is_char_boundary(*at)).expect("zero is a boundary");
    &name[..end]
}

/// A name with its schema, if one is given.
#[derive(Clone, Debug)]
pub struct Qualified<'a> {
    /// The schema.
    pub schema: Option<Cow<'a, str>>,
    /// The name.
    pub name: Cow<'a, str>,
}

impl Qualified<'_> {
    /// As messages show it.
    pub fn display(&self) -> String {
        match &self.schema {
            Some(schema) => format!("{schema}.{}", self.name),
            None => self.name.to_string(),
        }
    }
}

/// `name`, `schema.name`, `database.schema.name`.
pub fn qualified<'n>(name: &'n ObjectName, database: &str) -> Result<Qualified<'n>> {
    match name.0.as_slice() {
        [name] => Ok(Qualified { schema: None, name: fold(name) }),
        [other, schema, name] if fold(other) != database => {
            Err(cross_database(&format!("\"{}.{}.{}\"", fold(other), fold(schema), fold(name))))
        }
        [schema, name] | [_, schema, name] => Ok(Qualified { schema: Some(fold(schema)), name: fold(name) }),
        _ => {
            let message = format!("improper qualified name (too many dotted names): {name}");
            Err(SqlError::syntax(message))
        }
    }
}

/// What a name in FROM is.
#[derive(Clone, Copy, Debug)]
pub enum Found<'a> {
    /// Something of the catalog.
    Relation(&'a Relation),
    /// A table that is made up.
    System(&'static SystemTable),
}

impl<'a> Binder<'a> {
    /// The name of this database.
    pub(super) fn database(&self) -> &'a str {
        &self.env.settings().database
    }

    /// The schema with this name; `pg_temp` is the connection's own.
    pub(super) fn schema(&self, name: &str) -> Result<&'a Arc<Schema>> {
        let own = || self.path.iter().filter_map(|oid| self.catalog.schemas.get(oid)).find(|schema| schema.temporary);
        let found = if name == "pg_temp" { own() } else { self.catalog.schema(name) };
        found.ok_or_else(|| SqlError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{name}\" does not exist")))
    }

    /// The relation that a name means, if there is one.
    pub(super) fn find_relation(&self, name: &Qualified<'_>) -> Option<Found<'a>> {
        match &name.schema {
            Some(schema) => self.relation_in(self.schema(schema).ok()?.oid, &name.name),
            None => self.lookup_order().find_map(|schema| self.relation_in(schema, &name.name)),
        }
    }

    /// The relation that a name means, or the error that there is none.
    pub(super) fn relation(&self, name: &Qualified<'_>) -> Result<Found<'a>> {
        self.find_relation(name).ok_or_else(|| {
            let message = format!("relation \"{}\" does not exist", name.display());
            SqlError::new(SqlState::UNDEFINED_TABLE, message)
        })
    }

    fn relation_in(&self, schema: Oid, name: &str) -> Option<Found<'a>> {
        let made_up = match schema {
            PG_CATALOG => system::table("pg_catalog", name),
            INFORMATION_SCHEMA => system::table("information_schema", name),
            _ => None,
        };
        let known = || self.catalog.relation_in(schema, name).map(|relation| Found::Relation(relation));
        made_up.map(Found::System).or_else(known)
    }

    /// The schemas in the order in which relations and types are looked up: temporary ones, then `pg_catalog` (unless the
    /// path says where it comes), then the path.
    pub(super) fn lookup_order(&self) -> impl Iterator<Item = Oid> + use<'a> {
        let catalog = self.catalog;
        let is_temporary = move |oid: &Oid| catalog.schemas.get(oid).is_some_and(|schema| schema.temporary);
        let path = self.path;
        let implied = (!path.contains(&PG_CATALOG)).then_some(PG_CATALOG);
        let temporary = path.iter().copied().filter(move |oid| is_temporary(oid));
        let others = path.iter().copied().filter(move |oid| !is_temporary(oid));
        temporary.chain(implied).chain(others)
    }

    /// The table that a data-changing statement is about.
    pub(super) fn target_table(&self, name: &ObjectName) -> Result<(&'a Relation, &'a crate::catalog::Table)> {
        let qualified = qualified(name, self.database())?;
        let refuse = |what: &str| {
            let message = format!("cannot change {what} \"{}\"", qualified.name);
            Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message))
        };
        match self.relation(&qualified)? {
            Found::System(_) => {
                let message = format!("permission denied: \"{}\" is a system catalog", qualified.name);
                Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message))
            }
            Found::Relation(relation) => match &relation.kind {
                RelationKind::Table(table) => Ok((relation, table)),
                RelationKind::Sequence(_) => refuse("sequence"),
                RelationKind::Index(_) => {
                    let message = format!("\"{}\" is an index", qualified.name);
                    Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message))
                }
                RelationKind::View(view) if view.materialized.is_some() => refuse("materialized view"),
                RelationKind::View(_) => Err(SqlError::unsupported("this change of a view")),
            },
        }
    }
}
