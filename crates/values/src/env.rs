//! What reading, showing and converting values asks of its surroundings: settings, the time, and what users have defined.
//!
//! Values stand below the catalog, so they ask through traits: [`Definitions`] is a catalog as far as values depend on it,
//! and [`ObjectNames`] finds the objects whose numbers `regclass` and its like hold.

use std::sync::Arc;

use crate::error::Result;
use crate::{Settings, Type, Typed};

/// An object's number, as PostgreSQL's catalogs show it.
pub type Oid = u32;

/// The schema `pg_catalog`.
pub const PG_CATALOG: Oid = 11;
/// The schema `public`.
pub const PUBLIC: Oid = 2200;
/// The schema `information_schema`.
pub const INFORMATION_SCHEMA: Oid = 13207;
/// The first number of a user's object.
pub const FIRST_USER_OID: Oid = 16384;

/// The surroundings of a conversion.
pub trait Env {
    /// The connection's settings.
    fn settings(&self) -> &Settings;

    /// When the transaction began, in microseconds since 2000-01-01 UTC.
    fn transaction_time(&self) -> i64;

    /// What users have defined.
    fn defined(&self) -> &dyn Definitions;

    /// The objects that values refer to by number.
    fn objects(&self) -> &dyn ObjectNames;
}

/// The types and collations that users and extensions have defined.
pub trait Definitions {
    /// The type with this number.
    fn definition(&self, ty: Type) -> Option<Definition<'_>>;

    /// The element type of a defined type's array type.
    fn element(&self, array: Type) -> Option<Type>;

    /// The schemas in which names are looked for, in order, where the setting `search_path` has these names.
    fn search_path(&self, names: &[String]) -> Vec<Oid>;

    /// The schema with this name.
    fn schema(&self, name: &str) -> Option<Oid>;

    /// The type, or the array type, with this name in a schema.
    fn type_in(&self, schema: Oid, name: &str) -> Option<Type>;

    /// The name of a type that is not built in, with its schema where the search path does not find it.
    fn type_name(&self, ty: Type, search_path: &[String]) -> Option<String>;

    /// The collation with this number.
    fn collation(&self, oid: Oid) -> Option<CollationDefinition<'_>>;

    /// The collation with this name in a schema.
    fn collation_in(&self, schema: Oid, name: &str) -> Option<Oid>;
}

/// A type that was defined.
#[derive(Clone, Copy, Debug)]
pub struct Definition<'a> {
    /// The type.
    pub ty: Type,
    /// The array type over it.
    pub array: Type,
    /// Its name.
    pub name: &'a str,
    /// What it is made of.
    pub form: Form<'a>,
}

/// What a defined type is made of.
#[derive(Clone, Copy, Debug)]
pub enum Form<'a> {
    /// The labels of an enum, with the numbers that order them and their object ids.
    Enum(&'a [(Oid, f32, Arc<str>)]),
    /// The type below a domain.
    Domain(Typed),
    /// A type of an extension, with its `typcategory`.
    Extension(char),
    /// The fields of a composite type.
    Composite(&'a [(Arc<str>, Typed)]),
}

/// A collation that was defined.
#[derive(Clone, Copy, Debug)]
pub struct CollationDefinition<'a> {
    /// Its name.
    pub name: &'a str,
    /// The language whose order it is; none is the order of bytes.
    pub locale: Option<&'a Arc<str>>,
    /// Whether texts are equal only if their bytes are.
    pub deterministic: bool,
}

/// Objects other than types by name: what `regclass`, `regproc`, … read and show.
pub trait ObjectNames {
    /// The number of the object of this kind that a text names.
    fn number(&self, text: &str, ty: Type, env: &dyn Env) -> Result<i64>;

    /// The name of the object of this kind with a number, if there is one.
    fn name(&self, oid: Oid, ty: Type, env: &dyn Env) -> Option<String>;
}

impl<T: Definitions> Definitions for Arc<T> {
    fn definition(&self, ty: Type) -> Option<Definition<'_>> {
        (**self).definition(ty)
    }

    fn element(&self, array: Type) -> Option<Type> {
        (**self).element(array)
    }

    fn search_path(&self, names: &[String]) -> Vec<Oid> {
        (**self).search_path(names)
    }

    fn schema(&self, name: &str) -> Option<Oid> {
        (**self).schema(name)
    }

    fn type_in(&self, schema: Oid, name: &str) -> Option<Type> {
        (**self).type_in(schema, name)
    }

    fn type_name(&self, ty: Type, search_path: &[String]) -> Option<String> {
        (**self).type_name(ty, search_path)
    }

    fn collation(&self, oid: Oid) -> Option<CollationDefinition<'_>> {
        (**self).collation(oid)
    }

    fn collation_in(&self, schema: Oid, name: &str) -> Option<Oid> {
        (**self).collation_in(schema, name)
    }
}
