//! Whether names are found without their schema, and privileges, which everybody has.

use crate::catalog::{Catalog, Oid, PG_CATALOG};
use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::define::f;
use crate::functions::{Env, Function, Site};
use crate::system;
use crate::types::{Datum, Type as T, builtin, names};

/// `has_…_privilege(object, privilege)` and `(user, object, privilege)`.
macro_rules! privileges {
    ($($name:literal)*) => {
        /// Privileges: everybody has all.
        pub static PRIVILEGES: &[Function] = &[
            $(
                f($name, &[T::TEXT, T::TEXT], T::BOOL, granted).stable(),
                f($name, &[T::OID, T::TEXT], T::BOOL, granted).stable(),
                f($name, &[T::NAME, T::TEXT, T::TEXT], T::BOOL, granted).stable(),
                f($name, &[T::NAME, T::OID, T::TEXT], T::BOOL, granted).stable(),
                f($name, &[T::OID, T::OID, T::TEXT], T::BOOL, granted).stable(),
                f($name, &[T::OID, T::TEXT, T::TEXT], T::BOOL, granted).stable(),
            )*
        ];
    };
}

privileges! {
    "has_table_privilege" "has_schema_privilege" "has_database_privilege" "has_sequence_privilege"
    "has_function_privilege" "has_type_privilege" "has_tablespace_privilege" "has_language_privilege"
    "has_any_column_privilege" "has_server_privilege" "has_foreign_data_wrapper_privilege"
}

/// The functions.
pub static FUNCTIONS: &[Function] = &[
    f("pg_has_role", &[T::NAME, T::TEXT], T::BOOL, granted).stable(),
    f("pg_has_role", &[T::OID, T::TEXT], T::BOOL, granted).stable(),
    f("pg_has_role", &[T::NAME, T::NAME, T::TEXT], T::BOOL, granted).stable(),
    f("pg_has_role", &[T::NAME, T::OID, T::TEXT], T::BOOL, granted).stable(),
    f("pg_has_role", &[T::OID, T::NAME, T::TEXT], T::BOOL, granted).stable(),
    f("pg_has_role", &[T::OID, T::OID, T::TEXT], T::BOOL, granted).stable(),
    f("has_column_privilege", &[T::TEXT, T::TEXT, T::TEXT], T::BOOL, granted).stable(),
    f("has_column_privilege", &[T::TEXT, T::INT2, T::TEXT], T::BOOL, granted).stable(),
    f("has_column_privilege", &[T::OID, T::TEXT, T::TEXT], T::BOOL, granted).stable(),
    f("has_column_privilege", &[T::OID, T::INT2, T::TEXT], T::BOOL, granted).stable(),
    f("has_column_privilege", &[T::NAME, T::TEXT, T::TEXT, T::TEXT], T::BOOL, granted).stable(),
    f("has_column_privilege", &[T::NAME, T::TEXT, T::INT2, T::TEXT], T::BOOL, granted).stable(),
    f("has_column_privilege", &[T::NAME, T::OID, T::TEXT, T::TEXT], T::BOOL, granted).stable(),
    f("has_column_privilege", &[T::NAME, T::OID, T::INT2, T::TEXT], T::BOOL, granted).stable(),
    f("has_column_privilege", &[T::OID, T::TEXT, T::TEXT, T::TEXT], T::BOOL, granted).stable(),
    f("has_column_privilege", &[T::OID, T::OID, T::TEXT, T::TEXT], T::BOOL, granted).stable(),
    f("has_column_privilege", &[T::OID, T::OID, T::INT2, T::TEXT], T::BOOL, granted).stable(),
    f("has_parameter_privilege", &[T::TEXT, T::TEXT], T::BOOL, granted).stable(),
    f("pg_table_is_visible", &[T::OID], T::BOOL, table_is_visible).stable(),
    f("pg_type_is_visible", &[T::OID], T::BOOL, type_is_visible).stable(),
    f("pg_function_is_visible", &[T::OID], T::BOOL, function_is_visible).stable(),
    f("pg_operator_is_visible", &[T::OID], T::BOOL, always).stable(),
    f("pg_opclass_is_visible", &[T::OID], T::BOOL, always).stable(),
    f("pg_collation_is_visible", &[T::OID], T::BOOL, always).stable(),
    f("pg_conversion_is_visible", &[T::OID], T::BOOL, always).stable(),
    f("pg_ts_config_is_visible", &[T::OID], T::BOOL, always).stable(),
    f("pg_statistics_obj_is_visible", &[T::OID], T::BOOL, always).stable(),
    f("row_security_active", &[T::TEXT], T::BOOL, |_, _, _| Ok(Datum::Bool(false))).stable(),
    f("pg_relation_is_publishable", &[T::REGCLASS], T::BOOL, always).stable(),
];

fn granted(_: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(true))
}

fn always(_: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(true))
}

fn number(args: &[Datum]) -> Result<Oid> {
    Ok(u32::try_from(args.int(0)?).unwrap_or_default())
}

/// Whether a name in this schema is the first one with this name on the path.
fn is_first(env: &dyn Env, schema: Oid, exists_in: impl Fn(&Catalog, Oid) -> bool) -> bool {
    let catalog = env.catalog();
    let path = names::search_path(env);
    path.into_iter().find(|candidate| exists_in(catalog, *candidate)) == Some(schema)
}

fn table_is_visible(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let oid = number(args)?;
    if let Some((_, schema)) = system::initial::relation(oid) {
        return Ok(Datum::Bool(schema == PG_CATALOG));
    }
    let Some(relation) = env.catalog().relation(oid).cloned() else { return Ok(Datum::Null) };
    let hidden = system::table("pg_catalog", &relation.name).is_some();
    let first = is_first(env, relation.schema, |catalog, schema| catalog.relation_in(schema, &relation.name).is_some());
    Ok(Datum::Bool(first && !hidden))
}

fn type_is_visible(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let oid = number(args)?;
    if builtin::by_oid(T(oid)).is_some() {
        return Ok(Datum::Bool(true));
    }
    let catalog = env.catalog();
    let Some(user) = catalog.types.values().find(|user| user.ty.0 == oid || user.array.0 == oid).cloned() else {
        let initial = system::initial::type_name(T(oid));
        return Ok(initial.map_or(Datum::Null, |(_, schema)| Datum::Bool(schema == PG_CATALOG)));
    };
    let known = |catalog: &Catalog, schema: Oid| {
        catalog.types.values().any(|other| other.schema == schema && other.name == user.name)
    };
    Ok(Datum::Bool(is_first(env, user.schema, known)))
}

fn function_is_visible(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let oid = number(args)?;
    let Some(function) = env.catalog().functions.get(&oid) else {
        let initial = system::initial::function(oid);
        return Ok(initial.map_or(Datum::Null, |(_, schema)| Datum::Bool(schema == PG_CATALOG)));
    };
    let schema = function.schema;
    Ok(Datum::Bool(schema == PG_CATALOG || names::search_path(env).contains(&schema)))
}
