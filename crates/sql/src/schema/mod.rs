//! CREATE, ALTER, DROP: statements that change the catalog, and the rows where that needs it.
//!
//! A change works on the transaction's own copy of the catalog. Rows are rewritten into new spaces of the store, whose
//! initial state they become: like PostgreSQL's rewriting ALTER TABLE this is not something that snapshots look around.
//!
//! - [`names`]: where objects go, and the names that PostgreSQL makes up
//! - [`table`], [`column`], [`constraint`], [`index`], [`sequence`]: CREATE
//! - [`alter`], [`rename`], [`drop`]: ALTER and DROP
//! - [`view`], [`types`], [`function`], [`trigger`], [`comment`], [`extension`], [`collation`]: the other objects; [`domain`]: what domains demand
//! - [`rows`]: what happens to the rows

mod alter;
mod collation;
mod column;
mod comment;
mod composite;
mod constraint;
pub(crate) mod depends;
mod describe;
mod domain;
mod drop;
mod extension;
mod function;
mod index;
pub(crate) mod names;
mod rename;
mod rows;
pub(crate) mod sequence;
mod stored;
mod table;
mod trigger;
mod types;
mod view;

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::catalog::{Catalog, Oid, Schema};
use crate::error::{Result, SqlError, SqlState};
use crate::parse::ddl::{Ddl, ObjectKind};
use crate::storage::World;

pub(crate) use domain::check_domain;

/// Changes the schema, or looks names up for a change, in the world of a statement.
pub(crate) struct Editor<'w, 'a> {
    world: &'w mut World<'a>,
}

impl<'w, 'a> Editor<'w, 'a> {
    /// Changes the schema in this world.
    pub(crate) fn new(world: &'w mut World<'a>) -> Editor<'w, 'a> {
        Editor { world }
    }
}

impl<'a> Deref for Editor<'_, 'a> {
    type Target = World<'a>;

    fn deref(&self) -> &World<'a> {
        self.world
    }
}

impl DerefMut for Editor<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.world
    }
}

/// Runs a statement that changes the schema: its tag.
pub(crate) fn run(world: &mut World<'_>, text: &Arc<str>, ddl: &Ddl) -> Result<String> {
    world.must_not_be_read_only(tag_of(ddl))?;
    world.begin_statement(text)?;
    let mut editor = Editor::new(world);
    match ddl {
        Ddl::CreateTable(create) => editor.create_table(create)?,
        Ddl::CreateTableAs(create) => return editor.create_table_as(create),
        Ddl::CreateIndex(create) => editor.create_index(create)?,
        Ddl::CreateView(create) => editor.create_view(create)?,
        Ddl::CreateSequence { temporary, if_not_exists, name, options } => {
            editor.create_sequence(*temporary, *if_not_exists, name, options)?;
        }
        Ddl::CreateSchema { if_not_exists, name, elements } => {
            editor.create_schema(*if_not_exists, name)?;
            for element in elements {
                run(&mut editor, text, element)?;
            }
        }
        Ddl::CreateType { name, definition } => editor.create_type(name, definition)?,
        Ddl::CreateDomain(create) => editor.create_domain(create)?,
        Ddl::CreateCollation(create) => editor.create_collation(create)?,
        Ddl::CreateExtension(create) => editor.create_extension(create)?,
        Ddl::CreateFunction(create) => editor.create_function(create)?,
        Ddl::CreateTrigger(create) => editor.create_trigger(create)?,
        Ddl::AlterTable { object, if_exists, name, actions } => {
            editor.alter_table(*object, *if_exists, name, actions)?;
        }
        Ddl::Rename(rename) => editor.rename(rename)?,
        Ddl::SetSchema { object, if_exists, name, schema } => editor.set_schema(*object, *if_exists, name, schema)?,
        Ddl::SetOwner { object, if_exists, name } => editor.set_owner(*object, *if_exists, name)?,
        Ddl::AlterSequence { if_exists, name, options } => editor.alter_sequence(*if_exists, name, options)?,
        Ddl::AddEnumValue { name, if_not_exists, value, neighbour } => {
            editor.add_enum_value(name, *if_not_exists, value, neighbour.as_ref())?;
        }
        Ddl::AlterComposite { name, actions } => editor.alter_composite(name, actions)?,
        Ddl::RenameEnumValue { name, from, to } => editor.rename_enum_value(name, from, to)?,
        Ddl::AlterDomain { name, action } => editor.alter_domain(name, action)?,
        Ddl::AlterFunction { object, name, options } => editor.alter_function(*object, name, options)?,
        Ddl::Drop { object, if_exists, names, cascade } => editor.drop_objects(*object, *if_exists, names, *cascade)?,
        Ddl::Comment { object, name, text } => editor.comment(*object, name, text.as_deref())?,
        Ddl::Truncate { tables, restart_identity, cascade } => editor.truncate(tables, *restart_identity, *cascade)?,
        Ddl::Refresh { name, with_data, concurrently } => editor.refresh_view(name, *with_data, *concurrently)?,
    }
    Ok(tag_of(ddl).to_owned())
}

/// The words after CREATE, ALTER and DROP.
fn kind_words(object: ObjectKind) -> &'static str {
    match object {
        ObjectKind::Table | ObjectKind::Column | ObjectKind::Constraint => "TABLE",
        ObjectKind::Index => "INDEX",
        ObjectKind::View => "VIEW",
        ObjectKind::MaterializedView => "MATERIALIZED VIEW",
        ObjectKind::Sequence => "SEQUENCE",
        ObjectKind::Schema => "SCHEMA",
        ObjectKind::Type => "TYPE",
        ObjectKind::Domain | ObjectKind::DomainConstraint => "DOMAIN",
        ObjectKind::Function => "FUNCTION",
        ObjectKind::Procedure => "PROCEDURE",
        ObjectKind::Routine => "ROUTINE",
        ObjectKind::Trigger => "TRIGGER",
        ObjectKind::Extension => "EXTENSION",
        ObjectKind::Database => "DATABASE",
        ObjectKind::Role => "ROLE",
        ObjectKind::Aggregate => "AGGREGATE",
        ObjectKind::Collation => "COLLATION",
        ObjectKind::Rule => "RULE",
        ObjectKind::Policy => "POLICY",
        ObjectKind::Operator => "OPERATOR",
        ObjectKind::Cast => "CAST",
        ObjectKind::Language => "LANGUAGE",
        ObjectKind::ForeignTable => "FOREIGN TABLE",
        ObjectKind::Server => "SERVER",
        ObjectKind::Tablespace => "TABLESPACE",
        ObjectKind::Statistics => "STATISTICS",
        ObjectKind::Publication => "PUBLICATION",
        ObjectKind::Subscription => "SUBSCRIPTION",
        ObjectKind::Other => "OBJECT",
    }
}

/// A statement's tag, as far as it does not depend on what it does.
fn tag_of(ddl: &Ddl) -> &'static str {
    let words = |verb: &str, object: ObjectKind| -> &'static str {
        let tags: &[(&str, ObjectKind, &'static str)] = &[
            ("ALTER", ObjectKind::Index, "ALTER INDEX"),
            ("ALTER", ObjectKind::View, "ALTER VIEW"),
            ("ALTER", ObjectKind::MaterializedView, "ALTER MATERIALIZED VIEW"),
            ("ALTER", ObjectKind::Sequence, "ALTER SEQUENCE"),
            ("ALTER", ObjectKind::Schema, "ALTER SCHEMA"),
            ("ALTER", ObjectKind::Type, "ALTER TYPE"),
            ("ALTER", ObjectKind::Domain, "ALTER DOMAIN"),
            ("ALTER", ObjectKind::DomainConstraint, "ALTER DOMAIN"),
            ("ALTER", ObjectKind::Function, "ALTER FUNCTION"),
            ("ALTER", ObjectKind::Procedure, "ALTER PROCEDURE"),
            ("ALTER", ObjectKind::Routine, "ALTER ROUTINE"),
            ("ALTER", ObjectKind::Trigger, "ALTER TRIGGER"),
            ("ALTER", ObjectKind::Database, "ALTER DATABASE"),
            ("ALTER", ObjectKind::Collation, "ALTER COLLATION"),
            ("DROP", ObjectKind::Index, "DROP INDEX"),
            ("DROP", ObjectKind::View, "DROP VIEW"),
            ("DROP", ObjectKind::MaterializedView, "DROP MATERIALIZED VIEW"),
            ("DROP", ObjectKind::Sequence, "DROP SEQUENCE"),
            ("DROP", ObjectKind::Schema, "DROP SCHEMA"),
            ("DROP", ObjectKind::Type, "DROP TYPE"),
            ("DROP", ObjectKind::Domain, "DROP DOMAIN"),
            ("DROP", ObjectKind::Function, "DROP FUNCTION"),
            ("DROP", ObjectKind::Procedure, "DROP PROCEDURE"),
            ("DROP", ObjectKind::Routine, "DROP ROUTINE"),
            ("DROP", ObjectKind::Trigger, "DROP TRIGGER"),
            ("DROP", ObjectKind::Extension, "DROP EXTENSION"),
            ("DROP", ObjectKind::Collation, "DROP COLLATION"),
            ("DROP", ObjectKind::Database, "DROP DATABASE"),
            ("DROP", ObjectKind::Role, "DROP ROLE"),
        ];
        let found = tags.iter().find(|(known, kind, _)| *known == verb && *kind == object);
        found.map_or(if verb == "DROP" { "DROP TABLE" } else { "ALTER TABLE" }, |(_, _, tag)| tag)
    };
    match ddl {
        Ddl::CreateTable(_) => "CREATE TABLE",
        Ddl::CreateTableAs(create) if create.materialized => "CREATE MATERIALIZED VIEW",
        Ddl::CreateTableAs(_) => "CREATE TABLE AS",
        Ddl::CreateIndex(_) => "CREATE INDEX",
        Ddl::CreateView(_) => "CREATE VIEW",
        Ddl::CreateSequence { .. } => "CREATE SEQUENCE",
        Ddl::CreateSchema { .. } => "CREATE SCHEMA",
        Ddl::CreateType { .. } => "CREATE TYPE",
        Ddl::CreateDomain(_) => "CREATE DOMAIN",
        Ddl::CreateCollation(_) => "CREATE COLLATION",
        Ddl::CreateExtension(_) => "CREATE EXTENSION",
        Ddl::CreateFunction(create) if create.procedure => "CREATE PROCEDURE",
        Ddl::CreateFunction(_) => "CREATE FUNCTION",
        Ddl::CreateTrigger(_) => "CREATE TRIGGER",
        Ddl::AlterTable { object, .. } | Ddl::SetSchema { object, .. } | Ddl::SetOwner { object, .. } => {
            words("ALTER", *object)
        }
        Ddl::Rename(rename) => words("ALTER", rename.object),
        Ddl::AlterSequence { .. } => "ALTER SEQUENCE",
        Ddl::AddEnumValue { .. } | Ddl::RenameEnumValue { .. } | Ddl::AlterComposite { .. } => "ALTER TYPE",
        Ddl::AlterDomain { .. } => "ALTER DOMAIN",
        Ddl::AlterFunction { object, .. } => words("ALTER", *object),
        Ddl::Drop { object, .. } => words("DROP", *object),
        Ddl::Comment { .. } => "COMMENT",
        Ddl::Truncate { .. } => "TRUNCATE TABLE",
        Ddl::Refresh { .. } => "REFRESH MATERIALIZED VIEW",
    }
}

impl Editor<'_, '_> {
    /// The transaction's catalog from now on.
    fn set_catalog(&mut self, catalog: Catalog) -> Result<()> {
        self.change_catalog(|own| {
            *own = catalog;
            Ok(())
        })
    }

    fn create_schema(&mut self, if_not_exists: bool, name: &str) -> Result<()> {
        if self.catalog.schema(name).is_some() {
            if if_not_exists {
                let message = format!("schema \"{name}\" already exists, skipping");
                self.session.notice("NOTICE", SqlState::DUPLICATE_SCHEMA, message);
                return Ok(());
            }
            let message = format!("schema \"{name}\" already exists");
            return Err(SqlError::new(SqlState::DUPLICATE_SCHEMA, message));
        }
        if name.starts_with("pg_") {
            let message = format!("unacceptable schema name \"{name}\"");
            let detail = "The prefix \"pg_\" is reserved for system schemas.";
            return Err(SqlError::new(SqlState::RESERVED_NAME, message).detail(detail));
        }
        let oid = self.db.new_oid();
        self.change_catalog(|catalog| {
            catalog.schemas.insert(oid, Arc::new(Schema { oid, name: name.into(), temporary: false }));
            Ok(())
        })
    }

    /// The schema of this connection's temporary objects, made if need be.
    pub(crate) fn temporary_schema(&mut self) -> Result<Oid> {
        if let Some(oid) = self.session.temporary
            && self.catalog.schemas.contains_key(&oid)
        {
            return Ok(oid);
        }
        let oid = self.db.new_oid();
        let name: Arc<str> = format!("pg_temp_{}", self.owner()).into();
        self.change_catalog(|catalog| {
            catalog.schemas.insert(oid, Arc::new(Schema { oid, name, temporary: true }));
            Ok(())
        })?;
        self.session.temporary = Some(oid);
        Ok(oid)
    }
}
