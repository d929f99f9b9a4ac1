//! Comments on objects, and their sizes.

use crate::catalog::Oid;
use crate::error::{Result, SqlError};
use crate::functions::args::Args;
use crate::functions::define::{f, table};
use crate::functions::{Env, Function, Site};
use crate::types::{Datum, Type as T, names};

/// The functions.
pub static FUNCTIONS: &[Function] = &[
    f("pg_get_ruledef", &[T::OID], T::TEXT, nothing).stable(),
    f("pg_get_ruledef", &[T::OID, T::BOOL], T::TEXT, nothing).stable(),
    f("pg_get_statisticsobjdef_columns", &[T::OID], T::TEXT, nothing).stable(),
    f("pg_get_partkeydef", &[T::OID], T::TEXT, nothing).stable(),
    f("pg_get_partition_constraintdef", &[T::OID], T::TEXT, nothing).stable(),
    f("obj_description", &[T::OID, T::NAME], T::TEXT, obj_description).stable(),
    f("obj_description", &[T::OID], T::TEXT, any_description).stable(),
    f("col_description", &[T::OID, T::INT4], T::TEXT, col_description).stable(),
    f("shobj_description", &[T::OID, T::NAME], T::TEXT, nothing).stable(),
    f("to_regclass", &[T::TEXT], T::REGCLASS, to_regclass).stable(),
    f("to_regtype", &[T::TEXT], T::REGTYPE, to_regtype).stable(),
    f("pg_relation_size", &[T::REGCLASS], T::INT8, size).volatile(),
    f("pg_relation_size", &[T::REGCLASS, T::TEXT], T::INT8, size).volatile(),
    f("pg_total_relation_size", &[T::REGCLASS], T::INT8, size).volatile(),
    f("pg_table_size", &[T::REGCLASS], T::INT8, size).volatile(),
    f("pg_indexes_size", &[T::REGCLASS], T::INT8, size).volatile(),
    f("pg_database_size", &[T::OID], T::INT8, size).volatile(),
    f("pg_database_size", &[T::NAME], T::INT8, size).volatile(),
    f("pg_size_pretty", &[T::INT8], T::TEXT, pretty),
    f("pg_size_pretty", &[T::NUMERIC], T::TEXT, pretty_exact),
    f("pg_relation_filenode", &[T::REGCLASS], T::OID, |_, args, _| Ok(args.at(0).clone())).stable(),
    f("pg_index_column_has_property", &[T::REGCLASS, T::INT4, T::TEXT], T::BOOL, |_, _, _| Ok(Datum::Bool(true)))
        .stable(),
    f("pg_column_is_updatable", &[T::REGCLASS, T::INT2, T::BOOL], T::BOOL, |_, _, _| Ok(Datum::Bool(true))).stable(),
    table(
        "pg_options_to_table",
        &[T::TEXT_ARRAY],
        &[("option_name", T::TEXT), ("option_value", T::TEXT)],
        |_, _, _| Ok(Vec::new()),
    )
    .stable(),
    f("pg_describe_object", &[T::OID, T::OID, T::INT4], T::TEXT, nothing).stable(),
    table(
        "pg_partition_tree",
        &[T::REGCLASS],
        &[("relid", T::REGCLASS), ("parentrelid", T::REGCLASS), ("isleaf", T::BOOL), ("level", T::INT4)],
        |_, args, _| Ok(vec![vec![args.at(0).clone(), Datum::Null, Datum::Bool(true), Datum::Int(0)]]),
    )
    .volatile(),
    table("pg_partition_ancestors", &[T::REGCLASS], &[("relid", T::REGCLASS)], |_, args, _| {
        Ok(vec![vec![args.at(0).clone()]])
    })
    .volatile(),
];

/// Those of the schema `information_schema`.
pub static INFORMATION: &[Function] =
    &[table("_pg_expandarray", &[T::ANYARRAY], &[("x", T::ANYELEMENT), ("n", T::INT4)], expand)];

fn number(args: &[Datum]) -> Result<Oid> {
    Ok(u32::try_from(args.int(0)?).unwrap_or_default())
}

fn nothing(_: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Null)
}

/// The number of the catalog with this name.
fn class(name: &str) -> Oid {
    match name {
        "pg_class" => 1259,
        "pg_type" => 1247,
        "pg_proc" => 1255,
        "pg_namespace" => 2615,
        "pg_constraint" => 2606,
        "pg_trigger" => 2620,
        "pg_extension" => 3079,
        _ => 0,
    }
}

fn described(env: &dyn Env, class: Oid, object: Oid, column: i32) -> Datum {
    env.catalog().comments.get(&(class, object, column)).map_or(Datum::Null, Datum::text)
}

fn obj_description(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(described(env, class(args.text(1)?), number(args)?, 0))
}

fn any_description(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let object = number(args)?;
    let mut comments = env.catalog().comments.iter();
    Ok(comments
        .find(|((_, of, column), _)| *of == object && *column == 0)
        .map_or(Datum::Null, |(_, it)| Datum::text(it)))
}

fn col_description(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(described(env, 1259, number(args)?, args.int4(1)?))
}

fn to_regclass(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(super::relation(args.text(0)?, env).map_or(Datum::Null, |oid| Datum::Int(oid.into())))
}

fn to_regtype(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(names::parse(args.text(0)?, env).map_or(Datum::Null, |typed| Datum::Int(typed.ty.0.into())))
}

/// Sizes on disk are made up: nothing is on disk.
fn size(_: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(8192))
}

fn pretty(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let mut size = i128::from(args.int(0)?);
    let mut unit = "bytes";
    for next in ["kB", "MB", "GB", "TB", "PB"] {
        if size.unsigned_abs() < 10 * 1024 {
            break;
        }
        size = (size + 512 * size.signum()) / 1024;
        unit = next;
    }
    Ok(Datum::text(format!("{size} {unit}")))
}

fn pretty_exact(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let size = args.numeric(0)?.to_string().parse();
    let size = size.map_err(|_| SqlError::unsupported("pg_size_pretty of a number that is not a whole one"))?;
    pretty(env, &[Datum::Int(size)], site)
}

fn expand(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Vec<Vec<Datum>>> {
    let Datum::Array(array) = args.at(0) else { return Ok(Vec::new()) };
    let numbered = (1..).zip(&array.items);
    Ok(numbered.map(|(at, item)| vec![item.clone(), Datum::Int(at)]).collect())
}
