//! What resolution asks about types: category, preference, what an array is made of, which conversions are implicit.

use crate::catalog::{Catalog, Oid, UserTypeKind};
use crate::functions::resolve::Names;
use crate::types::cast::{self, CastContext};
use crate::types::{Type, builtin, kind};

pub(crate) use crate::types::kind::{array_of, category, element, is_enum, is_preferred};
pub(crate) use crate::types::names::display;

/// `anycompatible`
pub(crate) const ANYCOMPATIBLE: Type = Type(5077);
/// `anycompatiblearray`
pub(crate) const ANYCOMPATIBLEARRAY: Type = Type(5078);
/// `anycompatiblenonarray`
pub(crate) const ANYCOMPATIBLENONARRAY: Type = Type(5079);

/// The type below a domain; any other type itself.
pub(crate) fn base(ty: Type, catalog: &Catalog) -> Type {
    kind::base(ty.into(), catalog).ty
}

/// Whether a value of one type becomes one of the other without being asked. Polymorphic targets are not asked here.
pub(crate) fn implicit(from: Type, to: Type, catalog: &Catalog) -> bool {
    cast::context(from, to, catalog) == Some(CastContext::Implicit)
}

/// Whether an explicit cast exists.
pub(crate) fn explicit(from: Type, to: Type, catalog: &Catalog) -> bool {
    cast::context(from, to, catalog).is_some()
}

/// The type of one argument of a VARIADIC parameter.
pub(crate) fn variadic_element(array: Type, catalog: &Catalog) -> Option<Type> {
    match array {
        Type::ANYARRAY => Some(Type::ANYELEMENT),
        ANYCOMPATIBLEARRAY => Some(ANYCOMPATIBLE),
        _ => element(array, catalog),
    }
}

/// The type with this name that a call can mean as a cast: row types cannot.
pub(crate) fn named(schema: Option<&str>, name: &str, names: Names<'_>) -> Option<Type> {
    let builtin = || builtin::by_name(name).filter(|known| known.kind == 'b').map(|known| known.ty);
    let user = |schema: u32| {
        let mut users = names.catalog.types.values();
        let found = users.find(|user| user.schema == schema && &*user.name == name)?;
        (!matches!(found.kind, UserTypeKind::Composite(_))).then_some(found.ty)
    };
    match schema {
        Some("pg_catalog") => builtin(),
        Some(schema) => user(schema_named(schema, names)?),
        None => builtin().or_else(|| names.path.iter().find_map(|schema| user(*schema))),
    }
}

/// The schema with this name; `pg_temp` is the connection's own.
pub(crate) fn schema_named(name: &str, names: Names<'_>) -> Option<Oid> {
    if name == "pg_temp" {
        let schema = |oid: &Oid| names.catalog.schemas.get(oid).filter(|schema| schema.temporary);
        return names.path.iter().find_map(schema).map(|schema| schema.oid);
    }
    names.catalog.schema(name).map(|schema| schema.oid)
}
