//! Names of objects as numbers, access lists, encodings, and other small things that tools ask.

use crate::error::{Result, SqlError, SqlState};
use crate::functions::args::Args;
use crate::functions::define::{f, set, table};
use crate::functions::{Env, Function, Question, Site};
use crate::types::{Datum, Type as T, names, reg};

/// The functions.
pub static FUNCTIONS: &[Function] = &[
    f("to_regproc", &[T::TEXT], T::REGPROC, number).stable(),
    f("to_regprocedure", &[T::TEXT], T::REGPROCEDURE, number).stable(),
    f("to_regoper", &[T::TEXT], T::REGOPER, number).stable(),
    f("to_regoperator", &[T::TEXT], T::REGOPERATOR, number).stable(),
    f("to_regnamespace", &[T::TEXT], T::REGNAMESPACE, number).stable(),
    f("to_regrole", &[T::TEXT], T::REGROLE, number).stable(),
    f("acldefault", &[T::CHAR_INTERNAL, T::OID], T::ACLITEM_ARRAY, default_acl),
    table(
        "aclexplode",
        &[T::ACLITEM_ARRAY],
        &[("grantor", T::OID), ("grantee", T::OID), ("privilege_type", T::TEXT), ("is_grantable", T::BOOL)],
        explode_acl,
    )
    .stable(),
    f("getpgusername", &[], T::NAME, |env, _, _| env.ask(Question::CurrentUser)).stable(),
    f("pg_char_to_encoding", &[T::NAME], T::INT4, encoding_number).stable(),
    f("pg_encoding_max_length", &[T::INT4], T::INT4, |_, args, _| {
        Ok(Datum::Int(if args.int(0)? == 6 { 4 } else { 1 }))
    }),
    f("pg_my_temp_schema", &[], T::OID, temporary_schema).stable(),
    f("pg_is_other_temp_schema", &[T::OID], T::BOOL, |_, _, _| Ok(Datum::Bool(false))).stable(),
    f("pg_relation_filepath", &[T::REGCLASS], T::TEXT, nothing).stable(),
    f("pg_relation_is_updatable", &[T::REGCLASS, T::BOOL], T::INT4, updatable).stable(),
    f("pg_index_has_property", &[T::REGCLASS, T::TEXT], T::BOOL, index_property).stable(),
    f("pg_indexam_has_property", &[T::OID, T::TEXT], T::BOOL, method_property).stable(),
    f("pg_sleep_for", &[T::INTERVAL], T::VOID, sleep_for).volatile(),
    f("pg_sleep_until", &[T::TIMESTAMPTZ], T::VOID, sleep_until).volatile(),
    f("pg_reload_conf", &[], T::BOOL, |_, _, _| Ok(Datum::Bool(true))).volatile(),
    f("pg_get_statisticsobjdef", &[T::OID], T::TEXT, nothing).stable(),
    f("pg_get_replica_identity_index", &[T::REGCLASS], T::REGCLASS, nothing).stable(),
    f("pg_column_compression", &[T::ANY], T::TEXT, nothing).stable(),
    f("pg_collation_actual_version", &[T::OID], T::TEXT, nothing).volatile(),
    f("pg_database_collation_actual_version", &[T::OID], T::TEXT, nothing).volatile(),
    f("pg_collation_for", &[T::ANY], T::TEXT, collation).with_nulls().stable(),
    f("pg_opfamily_is_visible", &[T::OID], T::BOOL, yes).stable(),
    f("pg_ts_dict_is_visible", &[T::OID], T::BOOL, yes).stable(),
    f("pg_ts_parser_is_visible", &[T::OID], T::BOOL, yes).stable(),
    f("pg_ts_template_is_visible", &[T::OID], T::BOOL, yes).stable(),
    f("row_security_active", &[T::OID], T::BOOL, |_, _, _| Ok(Datum::Bool(false))).stable(),
    f("pg_partition_root", &[T::REGCLASS], T::REGCLASS, nothing),
    f("oidvectortypes", &[T::OIDVECTOR], T::TEXT, type_list).stable(),
    set("pg_stat_get_backend_idset", &[], T::INT4, |_, _, _| Ok(vec![vec![Datum::Int(1)]])).stable(),
];

fn nothing(_: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Null)
}

fn yes(_: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Bool(true))
}

/// The object that a name means; NULL if there is none, or more than one.
fn number(env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    Ok(reg::parse(args.text(0)?, site.returns.ty, env).map_or(Datum::Null, Datum::Int))
}

/// What the owner of an object may do with it, and everybody, when nothing was granted.
fn default_acl(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let (owner, everybody) = match args.text(0)? {
        "c" => ("", ""),
        "r" => ("arwdDxt", ""),
        "s" => ("rwU", ""),
        "d" => ("CTc", "Tc"),
        "f" => ("X", "X"),
        "l" | "T" => ("U", "U"),
        "L" => ("rw", ""),
        "n" => ("UC", ""),
        "p" => ("sA", ""),
        "t" => ("C", ""),
        "F" | "S" => ("U", ""),
        other => {
            let message = format!("unrecognized object type abbreviation: {other}");
            return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
        }
    };
    let mut items = Vec::new();
    if !everybody.is_empty() {
        items.push(Datum::text(format!("={everybody}/postgres")));
    }
    if !owner.is_empty() {
        items.push(Datum::text(format!("postgres={owner}/postgres")));
    }
    Ok(Datum::array(T::ACLITEM, items))
}

const PRIVILEGES: &[(char, &str)] = &[
    ('a', "INSERT"),
    ('r', "SELECT"),
    ('w', "UPDATE"),
    ('d', "DELETE"),
    ('D', "TRUNCATE"),
    ('x', "REFERENCES"),
    ('t', "TRIGGER"),
    ('X', "EXECUTE"),
    ('U', "USAGE"),
    ('C', "CREATE"),
    ('T', "TEMPORARY"),
    ('c', "CONNECT"),
    ('s', "SET"),
    ('A', "ALTER SYSTEM"),
];

/// The one user that there is.
const OWNER: i64 = 10;

/// The items of an access list, a row a privilege.
fn explode_acl(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Vec<Vec<Datum>>> {
    let mut rows = Vec::new();
    for item in &args.array(0)?.items {
        let Datum::Text(item) = item else { continue };
        let Some((grantee, rest)) = item.split_once('=') else { continue };
        let (privileges, _) = rest.split_once('/').unwrap_or((rest, ""));
        let grantee = if grantee.is_empty() { 0 } else { OWNER };
        for (letter, name) in PRIVILEGES {
            if let Some(at) = privileges.find(*letter) {
                let grantable = privileges[at + 1..].starts_with('*');
                rows.push(vec![Datum::Int(OWNER), Datum::Int(grantee), Datum::text(name), Datum::Bool(grantable)]);
            }
        }
    }
    Ok(rows)
}

fn encoding_number(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let plain: String = args.text(0)?.chars().filter(char::is_ascii_alphanumeric).collect();
    Ok(Datum::Int(match plain.to_ascii_lowercase().as_str() {
        "utf8" | "unicode" => 6,
        "sqlascii" => 0,
        "latin1" | "iso88591" => 8,
        _ => -1,
    }))
}

fn temporary_schema(env: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let mine = env.catalog().schemas.values().find(|schema| schema.temporary);
    Ok(Datum::Int(mine.map_or(0, |schema| schema.oid.into())))
}

/// Bits of UPDATE, INSERT and DELETE: tables take all, views none.
fn updatable(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let oid = u32::try_from(args.int(0)?).unwrap_or_default();
    Ok(Datum::Int(if env.catalog().table(oid).is_some() { 28 } else { 0 }))
}

/// All indexes are btrees.
fn index_property(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(match args.text(1)?.to_ascii_lowercase().as_str() {
        "clusterable" | "index_scan" | "bitmap_scan" | "backward_scan" => Datum::Bool(true),
        _ => Datum::Null,
    })
}

fn method_property(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(match args.text(1)?.to_ascii_lowercase().as_str() {
        "can_order" | "can_unique" | "can_multi_col" | "can_exclude" | "can_include" => Datum::Bool(true),
        _ => Datum::Null,
    })
}

fn sleep_for(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let micros = crate::types::compare::interval_key(&args.interval(0)?);
    env.ask(Question::Sleep { seconds: micros as f64 / 1e6 })?;
    Ok(Datum::text(""))
}

fn sleep_until(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let micros = args.timestamp(0)?.saturating_sub(env.clock_time()).max(0);
    env.ask(Question::Sleep { seconds: micros as f64 / 1e6 })?;
    Ok(Datum::text(""))
}

/// Texts have the default collation, other types none.
fn collation(env: &mut dyn Env, _: &[Datum], site: &Site<'_>) -> Result<Datum> {
    let ty = crate::types::kind::base(site.args[0], env.catalog()).ty;
    if ty == T::UNKNOWN {
        return Ok(Datum::text("\"default\""));
    }
    let collated = crate::types::builtin::by_oid(ty).map_or(0, |builtin| builtin.collation);
    match collated {
        0 => {
            let message = format!("collations are not supported by type {}", names::display(ty, env.catalog()));
            Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message))
        }
        950 => Ok(Datum::text("\"C\"")),
        _ => Ok(Datum::text("\"default\"")),
    }
}

fn type_list(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let name = |item: &Datum| match item {
        Datum::Int(oid) => names::format_type(T(u32::try_from(*oid).unwrap_or_default()), None, env),
        _ => String::new(),
    };
    Ok(Datum::text(args.array(0)?.items.iter().map(name).collect::<Vec<_>>().join(", ")))
}
