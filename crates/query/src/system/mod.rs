//! The tables of `pg_catalog` and `information_schema`: which there are, and what a new database has in them.
//!
//! - [`pg_catalog`], [`information_schema`]: names and types of their columns
//! - [`initial`]: the rows of a new database

mod information_schema;
pub mod initial;
mod pg_catalog;

use crate::types::{Datum, Oid, Type};

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

/// What a column has in a row that says nothing about it: zero, false or empty for types that are seldom NULL.
pub fn nothing(ty: Type) -> Datum {
    match ty {
        Type::OID | Type::INT2 | Type::INT4 | Type::INT8 | Type::REGPROC | Type::XID => Datum::Int(0),
        Type::BOOL => Datum::Bool(false),
        Type::FLOAT4 => Datum::Float(0.0),
        Type::CHAR_INTERNAL | Type::NAME => Datum::text(""),
        _ => Datum::Null,
    }
}
