//! The rows of `pg_catalog` and `information_schema`: made from the catalog and the connections when a statement reads them.
//!
//! - [`fill`]: rows by column name; what is not said is zero, false or NULL
//! - [`relations`], [`types`], [`routines`], [`constraints`], [`dependencies`], [`cluster`], [`activity`]: `pg_catalog`
//! - [`views`]: the views of `pg_catalog` for people
//! - [`information`], [`information_initial`]: `information_schema`

mod activity;
mod cluster;
mod constraints;
mod dependencies;
mod fill;
mod information;
mod information_initial;
mod relations;
mod routines;
mod types;
mod views;

use std::sync::Arc;

use crate::error::Result;
use crate::functions::Env;
use crate::storage::World;
use crate::system::{SystemTable, initial};
use crate::types::{ArrayValue, Datum, Type, text};
use fill::Filler;

/// The rows of a table that is made up.
pub(crate) fn rows(world: &mut World<'_>, table: &'static SystemTable) -> Result<Arc<Vec<Arc<[Datum]>>>> {
    let mut filler = Filler::new(table);
    if let Some(initial) = initial::of(table.name).filter(|_| table.schema == "pg_catalog") {
        filler.rows.extend(initial.values(table, |field, ty| value(field, ty, world))?.iter().cloned());
    }
    if table.schema == "information_schema" {
        information::fill(world, table.name, &mut filler)?;
    } else {
        fill_catalog(world, table.name, &mut filler)?;
    }
    Ok(Arc::new(filler.rows))
}

/// Adds what there is beside the initial rows. Tables without an entry here have no others: there are no such objects.
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
        "pg_operator" => routines::operators(world, filler),
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
        "pg_am" => cluster::methods(world, filler),
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

/// A field of an initial row.
fn value(field: &str, ty: Type, env: &dyn Env) -> Result<Datum> {
    match ty {
        Type::REGPROC => text::input(field, Type::OID.into(), env),
        // Privileges cannot be written, but they are shown.
        Type::ACLITEM_ARRAY => Ok(match text::input(field, Type::TEXT_ARRAY.into(), env)? {
            Datum::Array(items) => {
                Datum::Array(Arc::new(ArrayValue { element: Type::ACLITEM, ..ArrayValue::clone(&items) }))
            }
            other => other,
        }),
        ty => text::input(field, ty.into(), env),
    }
}
