//! The tables of `pg_catalog` and `information_schema`: made up from the catalog when somebody looks at them.
//!
//! - [`pg_catalog`], [`information_schema`]: names and types of their columns
//! - [`initial`]: what is there in a new database
//! - [`fill`]: rows by column name; what is not said is zero, false or NULL
//! - [`relations`], [`types`], [`routines`], [`constraints`], [`dependencies`], [`cluster`], [`activity`]: `pg_catalog`
//! - [`definition`]: indexes and constraints as statements
//! - [`views`]: the views of `pg_catalog` for people
//! - [`information`], [`information_initial`]: `information_schema`

mod activity;
mod cluster;
mod constraints;
pub mod definition;
mod dependencies;
mod fill;
mod information;
mod information_initial;
mod information_schema;
pub(crate) mod initial;
mod pg_catalog;
mod relations;
pub(crate) mod routines;
mod types;
mod views;

use std::sync::Arc;

use crate::catalog::Oid;
use crate::error::Result;
use crate::storage::World;
use crate::types::{Datum, Type};
use fill::Filler;

/// A table that is made up.
#[derive(Debug)]
pub struct SystemTable {
    /// Its schema: `pg_catalog` or `information_schema`.
    pub schema: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its number.
    pub oid: Oid,
    /// What PostgreSQL has there.
    pub kind: Kind,
    /// Names and types of its columns.
    pub columns: &'static [(&'static str, Type)],
}

/// What PostgreSQL has where Skew makes up a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    Table,
    View,
}

/// The table with this name.
pub fn table(schema: &str, name: &str) -> Option<&'static SystemTable> {
    let tables = match schema {
        "pg_catalog" => pg_catalog::TABLES,
        "information_schema" => information_schema::TABLES,
        _ => return None,
    };
    tables.binary_search_by(|table| table.name.cmp(name)).ok().map(|at| &tables[at])
}

/// All of them.
pub fn tables() -> impl Iterator<Item = &'static SystemTable> {
    pg_catalog::TABLES.iter().chain(information_schema::TABLES)
}

/// The rows of a table that is made up.
pub(crate) fn rows(world: &mut World<'_>, table: &'static SystemTable) -> Result<Arc<Vec<Arc<[Datum]>>>> {
    let mut filler = Filler::new(table);
    if let Some(initial) = initial::of(table.name).filter(|_| table.schema == "pg_catalog") {
        filler.rows.extend(initial.values(table, world)?.iter().cloned());
    }
    if table.schema == "information_schema" {
        information::fill(world, table.name, &mut filler)?;
    } else {
        fill_catalog(world, table.name, &mut filler)?;
    }
    Ok(Arc::new(filler.rows))
}

/// Adds what there is beside the initial rows. Tables that nobody fills have no others: there are no such objects.
fn fill_catalog(world: &mut World<'_>, name: &str, filler: &mut Filler) -> Result<()> {
    match name {
        "pg_class" => relations::classes(world, filler),
        "pg_attribute" => relations::attributes(world, filler),
        "pg_attrdef" => relations::defaults(world, filler),
        "pg_index" => relations::indexes(world, filler),
        "pg_sequence" => relations::sequences(world, filler),
        "pg_rewrite" => relations::rewrites(world, filler),
        "pg_constraint" => constraints::constraints(world, filler),
        "pg_trigger" => constraints::triggers(world, filler),
        "pg_depend" => dependencies::depends(world, filler),
        "pg_description" => dependencies::descriptions(world, filler),
        "pg_type" => types::types(world, filler),
        "pg_enum" => types::labels(world, filler),
        "pg_proc" => routines::procs(world, filler),
        "pg_namespace"
        | "pg_database"
        | "pg_roles"
        | "pg_authid"
        | "pg_user"
        | "pg_shadow"
        | "pg_group"
        | "pg_available_extensions" => {
            cluster::fill(world, name, filler);
        }
        "pg_collation" => cluster::collations(world, filler),
        "pg_extension" => cluster::extensions(world, filler),
        "pg_settings" => activity::settings(world, filler),
        "pg_stat_activity" => activity::activity(world, filler),
        "pg_locks" => activity::locks(world, filler),
        "pg_cursors" => activity::cursors(world, filler),
        "pg_prepared_statements" => activity::prepared(world, filler),
        "pg_stat_database" => activity::databases(world, filler),
        "pg_tables"
        | "pg_views"
        | "pg_matviews"
        | "pg_indexes"
        | "pg_sequences"
        | "pg_stat_user_tables"
        | "pg_stat_all_tables"
        | "pg_statio_user_tables"
        | "pg_statio_all_tables" => {
            return views::fill(world, name, filler);
        }
        _ => {}
    }
    Ok(())
}
