//! What resolution asks about types: category, preference, what an array is made of, which conversions are implicit.

use crate::catalog::{Catalog, UserTypeKind};
use crate::types::Type as T;

/// `anycompatible`
pub(crate) const ANYCOMPATIBLE: T = T(5077);
/// `anycompatiblearray`
pub(crate) const ANYCOMPATIBLEARRAY: T = T(5078);
/// `anycompatiblenonarray`
pub(crate) const ANYCOMPATIBLENONARRAY: T = T(5079);

/// A type's category, by PostgreSQL's letter: `N` numbers, `S` texts, `D` dates and times, `A` arrays, …
pub(crate) fn category(ty: T, catalog: &Catalog) -> char {
    match ty {
        T::BOOL => 'B',
        T::INT2 | T::INT4 | T::INT8 | T::FLOAT4 | T::FLOAT8 | T::NUMERIC | T::MONEY | T::OID => 'N',
        T::REGPROC | T::REGPROCEDURE | T::REGOPER | T::REGOPERATOR | T::REGCLASS | T::REGTYPE => 'N',
        T::REGROLE | T::REGNAMESPACE | T::REGCONFIG => 'N',
        T::TEXT | T::VARCHAR | T::BPCHAR | T::NAME => 'S',
        T::DATE | T::TIME | T::TIMESTAMP | T::TIMESTAMPTZ | T::TIMETZ => 'D',
        T::INTERVAL => 'T',
        T::INET | T::CIDR => 'I',
        T::BIT | T::VARBIT => 'V',
        T::UNKNOWN => 'X',
        T::CHAR_INTERNAL | T::PG_NODE_TREE => 'Z',
        T::RECORD | T::CSTRING | T::ANY | T::ANYARRAY | T::VOID | T::TRIGGER | T::INTERNAL | T::ANYELEMENT => 'P',
        T::ANYNONARRAY | T::ANYENUM | ANYCOMPATIBLE | ANYCOMPATIBLEARRAY | ANYCOMPATIBLENONARRAY => 'P',
        T::RECORD_ARRAY => 'P',
        _ => user_category(ty, catalog),
    }
}

fn user_category(ty: T, catalog: &Catalog) -> char {
    if element(ty, catalog).is_some() {
        return 'A';
    }
    match catalog.types.get(&ty.0).map(|user| &user.kind) {
        Some(UserTypeKind::Enum(_)) => 'E',
        Some(UserTypeKind::Composite(_)) => 'C',
        Some(UserTypeKind::Domain { base, .. }) => category(base.ty, catalog),
        None => 'U',
    }
}

/// Whether a type is the one that its category prefers.
pub(crate) fn preferred(ty: T) -> bool {
    matches!(ty, T::BOOL | T::FLOAT8 | T::OID | T::TEXT | T::TIMESTAMPTZ | T::INTERVAL | T::INET | T::VARBIT)
}

/// The type below a domain; any other type itself.
pub(crate) fn base(mut ty: T, catalog: &Catalog) -> T {
    while let Some(UserTypeKind::Domain { base, .. }) = catalog.types.get(&ty.0).map(|user| &user.kind) {
        ty = base.ty;
    }
    ty
}

/// Whether it is an enum.
pub(crate) fn is_enum(ty: T, catalog: &Catalog) -> bool {
    matches!(catalog.types.get(&ty.0).map(|user| &user.kind), Some(UserTypeKind::Enum(_)))
}

/// Whether it is a named row type.
pub(crate) fn is_composite(ty: T, catalog: &Catalog) -> bool {
    matches!(catalog.types.get(&ty.0).map(|user| &user.kind), Some(UserTypeKind::Composite(_)))
}

const ARRAYS: &[(T, T)] = &[
    (T::BOOL, T::BOOL_ARRAY),
    (T::BYTEA, T::BYTEA_ARRAY),
    (T::CHAR_INTERNAL, T::CHAR_ARRAY),
    (T::NAME, T::NAME_ARRAY),
    (T::INT2, T::INT2_ARRAY),
    (T::INT4, T::INT4_ARRAY),
    (T::TEXT, T::TEXT_ARRAY),
    (T::BPCHAR, T::BPCHAR_ARRAY),
    (T::VARCHAR, T::VARCHAR_ARRAY),
    (T::INT8, T::INT8_ARRAY),
    (T::FLOAT4, T::FLOAT4_ARRAY),
    (T::FLOAT8, T::FLOAT8_ARRAY),
    (T::OID, T::OID_ARRAY),
    (T::TIMESTAMP, T::TIMESTAMP_ARRAY),
    (T::DATE, T::DATE_ARRAY),
    (T::TIME, T::TIME_ARRAY),
    (T::TIMESTAMPTZ, T::TIMESTAMPTZ_ARRAY),
    (T::INTERVAL, T::INTERVAL_ARRAY),
    (T::NUMERIC, T::NUMERIC_ARRAY),
    (T::TIMETZ, T::TIMETZ_ARRAY),
    (T::UUID, T::UUID_ARRAY),
    (T::JSON, T::JSON_ARRAY),
    (T::JSONB, T::JSONB_ARRAY),
    (T::ACLITEM, T::ACLITEM_ARRAY),
    (T::REGCLASS, T::REGCLASS_ARRAY),
    (T::REGTYPE, T::REGTYPE_ARRAY),
    (T::RECORD, T::RECORD_ARRAY),
];

/// What the items of an array type are.
pub(crate) fn element(ty: T, catalog: &Catalog) -> Option<T> {
    if let Some((element, _)) = ARRAYS.iter().find(|(_, array)| *array == ty) {
        return Some(*element);
    }
    match ty {
        T::INT2VECTOR => Some(T::INT2),
        T::OIDVECTOR => Some(T::OID),
        _ => catalog.types.values().find(|user| user.array == ty).map(|user| user.ty),
    }
}

/// The array type over a type.
pub(crate) fn array_of(ty: T, catalog: &Catalog) -> Option<T> {
    if let Some((_, array)) = ARRAYS.iter().find(|(element, _)| *element == ty) {
        return Some(*array);
    }
    catalog.types.get(&ty.0).map(|user| user.array)
}

/// Types that convert without being asked, as `pg_cast` says.
const IMPLICIT: &[(T, &[T])] = &[
    (T::CHAR_INTERNAL, &[T::TEXT]),
    (T::NAME, &[T::TEXT]),
    (T::INT8, &[T::REGPROC, T::OID, T::FLOAT4, T::FLOAT8, T::NUMERIC, T::REGPROCEDURE, T::REGCLASS, T::REGTYPE]),
    (T::INT2, &[T::INT8, T::INT4, T::OID, T::FLOAT4, T::FLOAT8, T::NUMERIC, T::REGPROC, T::REGCLASS, T::REGTYPE]),
    (T::INT4, &[T::INT8, T::OID, T::FLOAT4, T::FLOAT8, T::NUMERIC, T::REGPROC, T::REGCLASS, T::REGTYPE]),
    (T::REGPROC, &[T::OID, T::REGPROCEDURE]),
    (T::TEXT, &[T::NAME, T::BPCHAR, T::VARCHAR, T::REGCLASS]),
    (T::OID, &[T::REGPROC, T::REGPROCEDURE, T::REGCLASS, T::REGTYPE, T::REGNAMESPACE, T::REGROLE]),
    (T::PG_NODE_TREE, &[T::TEXT]),
    (T::CIDR, &[T::INET]),
    (T::FLOAT4, &[T::FLOAT8]),
    (T::BPCHAR, &[T::NAME, T::TEXT, T::VARCHAR]),
    (T::VARCHAR, &[T::NAME, T::TEXT, T::BPCHAR, T::REGCLASS]),
    (T::DATE, &[T::TIMESTAMP, T::TIMESTAMPTZ]),
    (T::TIME, &[T::INTERVAL, T::TIMETZ]),
    (T::TIMESTAMP, &[T::TIMESTAMPTZ]),
    (T::BIT, &[T::VARBIT]),
    (T::VARBIT, &[T::BIT]),
    (T::NUMERIC, &[T::FLOAT4, T::FLOAT8]),
    (T::REGPROCEDURE, &[T::REGPROC, T::OID]),
    (T::REGOPER, &[T::OID, T::REGOPERATOR]),
    (T::REGOPERATOR, &[T::OID, T::REGOPER]),
    (T::REGCLASS, &[T::OID]),
    (T::REGTYPE, &[T::OID]),
    (T::REGNAMESPACE, &[T::OID]),
    (T::REGROLE, &[T::OID]),
    (T::REGCONFIG, &[T::OID]),
];

/// Whether a value of one type becomes one of the other without being asked. Polymorphic targets are not asked here.
pub(crate) fn implicit(from: T, to: T, catalog: &Catalog) -> bool {
    let from = base(from, catalog);
    if from == to || from == T::UNKNOWN || to == T::ANY {
        return true;
    }
    if to == T::RECORD && is_composite(from, catalog) || from == T::RECORD && is_composite(to, catalog) {
        return true;
    }
    if let (Some(from), Some(to)) = (element(from, catalog), element(to, catalog)) {
        return implicit(from, to, catalog);
    }
    IMPLICIT.iter().any(|(source, targets)| *source == from && targets.contains(&to))
}

const NAMES: &[(T, &str)] = &[
    (T::BOOL, "boolean"),
    (T::BYTEA, "bytea"),
    (T::CHAR_INTERNAL, "\"char\""),
    (T::NAME, "name"),
    (T::INT8, "bigint"),
    (T::INT2, "smallint"),
    (T::INT4, "integer"),
    (T::TEXT, "text"),
    (T::OID, "oid"),
    (T::JSON, "json"),
    (T::FLOAT4, "real"),
    (T::FLOAT8, "double precision"),
    (T::UNKNOWN, "unknown"),
    (T::BPCHAR, "character"),
    (T::VARCHAR, "character varying"),
    (T::DATE, "date"),
    (T::TIME, "time without time zone"),
    (T::TIMESTAMP, "timestamp without time zone"),
    (T::TIMESTAMPTZ, "timestamp with time zone"),
    (T::INTERVAL, "interval"),
    (T::TIMETZ, "time with time zone"),
    (T::NUMERIC, "numeric"),
    (T::UUID, "uuid"),
    (T::JSONB, "jsonb"),
    (T::RECORD, "record"),
    (T::REGCLASS, "regclass"),
    (T::REGTYPE, "regtype"),
    (T::ANYELEMENT, "anyelement"),
    (T::ANYARRAY, "anyarray"),
    (T::ANYNONARRAY, "anynonarray"),
    (T::ANYENUM, "anyenum"),
    (T::ANY, "\"any\""),
    (ANYCOMPATIBLE, "anycompatible"),
    (ANYCOMPATIBLEARRAY, "anycompatiblearray"),
    (ANYCOMPATIBLENONARRAY, "anycompatiblenonarray"),
];

/// A type's name as messages say it.
pub(crate) fn display(ty: T, catalog: &Catalog) -> String {
    if let Some((_, name)) = NAMES.iter().find(|(known, _)| *known == ty) {
        return (*name).to_owned();
    }
    if let Some(user) = catalog.types.get(&ty.0) {
        return user.name.to_string();
    }
    match element(ty, catalog) {
        Some(element) => format!("{}[]", display(element, catalog)),
        None => format!("type {}", ty.0),
    }
}

/// The type of one argument of a VARIADIC parameter.
pub(crate) fn variadic_element(array: T, catalog: &Catalog) -> Option<T> {
    match array {
        T::ANYARRAY => Some(T::ANYELEMENT),
        ANYCOMPATIBLEARRAY => Some(ANYCOMPATIBLE),
        _ => element(array, catalog),
    }
}

/// The type with this name.
pub(crate) fn named(schema: Option<&str>, name: &str, names: crate::functions::resolve::Names<'_>) -> Option<T> {
    let _ = (schema, names);
    NAMES.iter().find(|(_, known)| *known == name).map(|(ty, _)| *ty)
}

/// Whether an explicit cast exists.
pub(crate) fn explicit(from: T, to: T, catalog: &Catalog) -> bool {
    implicit(from, to, catalog)
}
