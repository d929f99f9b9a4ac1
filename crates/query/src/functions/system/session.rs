//! Who is connected to what, and the connection's settings.

use crate::error::Result;
use crate::functions::args::{Args, invalid_parameter};
use crate::functions::define::{f, set};
use crate::functions::{Constant, Env, Function, Question, Site};
use crate::types::{ArrayValue, Datum, Type as T, names};

/// The owner of the schema public, as a role.
const DATABASE_OWNER: i64 = 6171;

/// The functions.
pub static FUNCTIONS: &[Function] = &[
    f("version", &[], T::TEXT, |_, _, _| Ok(Datum::text(VERSION))).stable(),
    f("current_user", &[], T::NAME, |env, _, _| env.ask(Question::CurrentUser)).stable(),
    f("user", &[], T::NAME, |env, _, _| env.ask(Question::CurrentUser)).stable(),
    f("session_user", &[], T::NAME, |env, _, _| env.ask(Question::SessionUser)).stable(),
    f("current_role", &[], T::NAME, |env, _, _| env.ask(Question::CurrentUser)).stable(),
    f("current_database", &[], T::NAME, |env, _, _| env.ask(Question::CurrentDatabase)).stable(),
    f("current_catalog", &[], T::NAME, |env, _, _| env.ask(Question::CurrentDatabase)).stable(),
    f("current_schema", &[], T::NAME, current_schema).stable(),
    f("current_schemas", &[T::BOOL], T::NAME_ARRAY, current_schemas).stable(),
    f("current_query", &[], T::TEXT, |_, _, _| Ok(Datum::Null)).with_nulls().volatile(),
    f("current_setting", &[T::TEXT], T::TEXT, |env, args, _| setting(env, args.text(0)?, false)).stable(),
    f("current_setting", &[T::TEXT, T::BOOL], T::TEXT, |env, args, _| setting(env, args.text(0)?, args.bool(1)?))
        .stable(),
    f("set_config", &[T::TEXT, T::TEXT, T::BOOL], T::TEXT, set_config).with_nulls().volatile(),
    f("pg_backend_pid", &[], T::INT4, |env, _, _| env.ask(Question::BackendPid)).stable(),
    f("pg_trigger_depth", &[], T::INT4, |env, _, _| env.ask(Question::TriggerDepth)).stable(),
    f("pg_is_in_recovery", &[], T::BOOL, |_, _, _| Ok(Datum::Bool(false))).volatile(),
    f("pg_postmaster_start_time", &[], T::TIMESTAMPTZ, |env, _, _| Ok(Datum::Timestamp(env.transaction_time())))
        .stable(),
    f("pg_conf_load_time", &[], T::TIMESTAMPTZ, |env, _, _| Ok(Datum::Timestamp(env.transaction_time()))).stable(),
    f("txid_current", &[], T::INT8, |env, _, _| env.ask(Question::TransactionId)).stable(),
    f("txid_current_if_assigned", &[], T::INT8, |env, _, _| env.ask(Question::TransactionId)).stable(),
    f("pg_current_xact_id", &[], T(5069), |env, _, _| env.ask(Question::TransactionId)).stable(),
    f("inet_server_addr", &[], T::INET, |_, _, _| Ok(Datum::Null)).with_nulls().stable(),
    f("inet_client_addr", &[], T::INET, |_, _, _| Ok(Datum::Null)).with_nulls().stable(),
    f("inet_server_port", &[], T::INT4, |_, _, _| Ok(Datum::Null)).with_nulls().stable(),
    f("inet_client_port", &[], T::INT4, |_, _, _| Ok(Datum::Null)).with_nulls().stable(),
    f("pg_client_encoding", &[], T::NAME, |_, _, _| Ok(Datum::text("UTF8"))).stable(),
    f("getdatabaseencoding", &[], T::NAME, |_, _, _| Ok(Datum::text("UTF8"))).stable(),
    f("pg_encoding_to_char", &[T::INT4], T::NAME, encoding).stable(),
    f("pg_get_userbyid", &[T::OID], T::NAME, |_, args, _| {
        Ok(Datum::text(if args.int(0)? == DATABASE_OWNER { "pg_database_owner" } else { "postgres" }))
    })
    .stable(),
    f("pg_sleep", &[T::FLOAT8], T::VOID, sleep).volatile(),
    f("pg_notify", &[T::TEXT, T::TEXT], T::VOID, notify).with_nulls().volatile(),
    f("pg_cancel_backend", &[T::INT4], T::BOOL, |env, args, _| stop(env, args, false)).volatile(),
    f("pg_terminate_backend", &[T::INT4, T::INT8], T::BOOL, |env, args, _| stop(env, args, true))
        .named(&["pid", "timeout"])
        .defaults(&[Constant::Int(0)])
        .volatile(),
    set("pg_listening_channels", &[], T::TEXT, |_, _, _| Ok(Vec::new())).stable(),
    f("pg_typeof", &[T::ANY], T::REGTYPE, |_, _, site| Ok(Datum::Int(site.args[0].ty.0.into()))).with_nulls().stable(),
    f("format_type", &[T::OID, T::INT4], T::TEXT, format_type).with_nulls().stable(),
    f("pg_tablespace_location", &[T::OID], T::TEXT, |_, _, _| Ok(Datum::text(""))).stable(),
    f("pg_jit_available", &[], T::BOOL, |_, _, _| Ok(Datum::Bool(false))).volatile(),
];

/// What `version()` says: clients look for the number after PostgreSQL.
const VERSION: &str = "PostgreSQL 15.8 (Skew, a database that behaves as badly as its isolation level allows)";

fn setting(env: &mut dyn Env, name: &str, missing_ok: bool) -> Result<Datum> {
    env.ask(Question::Setting { name, missing_ok })
}

fn set_config(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let value = if args.at(1).is_null() { None } else { Some(args.text(1)?) };
    let local = !args.at(2).is_null() && args.bool(2)?;
    env.ask(Question::SetSetting { name: args.text(0)?, value, local })
}

fn current_schema(env: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let first = path(env, false).into_iter().next();
    Ok(first.map_or(Datum::Null, Datum::text))
}

fn current_schemas(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let items: Vec<Datum> = path(env, args.bool(0)?).into_iter().map(Datum::text).collect();
    let dimensions = if items.is_empty() { Vec::new() } else { vec![(items.len(), 1)] };
    Ok(Datum::Array(ArrayValue { element: T::NAME, dimensions, items }.into()))
}

/// The names of the schemas of the search path that exist.
fn path(env: &dyn Env, implicit: bool) -> Vec<String> {
    let catalog = env.catalog();
    let found = names::search_path(env).into_iter().filter_map(|oid| catalog.schemas.get(&oid));
    let said = found.map(|schema| schema.name.to_string()).filter(|name| implicit || name != "pg_catalog");
    let mut path: Vec<String> = said.filter(|name| implicit || !name.starts_with("pg_temp")).collect();
    if implicit && !path.iter().any(|name| name == "pg_catalog") {
        path.insert(0, "pg_catalog".to_owned());
    }
    path
}

fn encoding(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text(match args.int(0)? {
        0 => "SQL_ASCII",
        6 => "UTF8",
        8 => "LATIN1",
        _ => "",
    }))
}

fn sleep(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    env.ask(Question::Sleep { seconds: args.float(0)? })?;
    Ok(Datum::text(""))
}

fn notify(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let text = |index| if args.at(index).is_null() { Ok("") } else { args.text(index) };
    let channel = text(0)?;
    if channel.is_empty() {
        return Err(invalid_parameter("channel name cannot be empty"));
    }
    env.ask(Question::Notify { channel, payload: text(1)? })?;
    Ok(Datum::text(""))
}

fn stop(env: &mut dyn Env, args: &[Datum], terminate: bool) -> Result<Datum> {
    env.ask(Question::CancelBackend { pid: args.int(0)?, terminate })
}

fn format_type(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    if args.at(0).is_null() {
        return Ok(Datum::Null);
    }
    let modifier = if args.at(1).is_null() { None } else { Some(args.int4(1)?) };
    let ty = T(u32::try_from(args.int(0)?).unwrap_or_default());
    Ok(Datum::text(names::format_type(ty, modifier, env)))
}
