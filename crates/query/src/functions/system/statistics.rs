//! What PostgreSQL counts about tables and databases. Nothing is counted here: the numbers are zero, the times NULL.

use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::define::{f, set};
use crate::functions::{Env, Function, Question, Site};
use crate::types::{Datum, Type as T};

macro_rules! counters {
    ($($name:literal)*) => {
        &[$(f($name, &[T::OID], T::INT8, zero).stable(),)*]
    };
}

/// Counters of tables and databases.
pub static COUNTERS: &[Function] = counters! {
    "pg_stat_get_numscans" "pg_stat_get_tuples_returned" "pg_stat_get_tuples_fetched" "pg_stat_get_tuples_inserted"
    "pg_stat_get_tuples_updated" "pg_stat_get_tuples_deleted" "pg_stat_get_tuples_hot_updated"
    "pg_stat_get_live_tuples" "pg_stat_get_dead_tuples" "pg_stat_get_mod_since_analyze" "pg_stat_get_ins_since_vacuum"
    "pg_stat_get_blocks_fetched" "pg_stat_get_blocks_hit" "pg_stat_get_vacuum_count" "pg_stat_get_autovacuum_count"
    "pg_stat_get_analyze_count" "pg_stat_get_autoanalyze_count" "pg_stat_get_db_xact_commit"
    "pg_stat_get_db_xact_rollback" "pg_stat_get_db_blocks_fetched" "pg_stat_get_db_blocks_hit"
    "pg_stat_get_db_tuples_returned" "pg_stat_get_db_tuples_fetched" "pg_stat_get_db_tuples_inserted"
    "pg_stat_get_db_tuples_updated" "pg_stat_get_db_tuples_deleted" "pg_stat_get_db_conflict_all"
    "pg_stat_get_db_temp_files" "pg_stat_get_db_temp_bytes" "pg_stat_get_db_deadlocks" "pg_stat_get_function_calls"
};

macro_rules! times {
    ($($name:literal)*) => {
        &[$(f($name, &[T::OID], T::TIMESTAMPTZ, nothing).stable(),)*]
    };
}

/// When something was last done: never.
pub static TIMES: &[Function] = times! {
    "pg_stat_get_last_vacuum_time" "pg_stat_get_last_autovacuum_time" "pg_stat_get_last_analyze_time"
    "pg_stat_get_last_autoanalyze_time" "pg_stat_get_db_stat_reset_time"
};

/// The others.
pub static FUNCTIONS: &[Function] = &[
    f("pg_stat_get_db_numbackends", &[T::OID], T::INT4, |_, _, _| Ok(Datum::Int(1))).stable(),
    f("pg_stat_get_db_blk_read_time", &[T::OID], T::FLOAT8, |_, _, _| Ok(Datum::Float(0.0))).stable(),
    f("pg_stat_get_db_blk_write_time", &[T::OID], T::FLOAT8, |_, _, _| Ok(Datum::Float(0.0))).stable(),
    f("pg_stat_get_function_total_time", &[T::OID], T::FLOAT8, |_, _, _| Ok(Datum::Float(0.0))).stable(),
    f("pg_stat_get_function_self_time", &[T::OID], T::FLOAT8, |_, _, _| Ok(Datum::Float(0.0))).stable(),
    f("pg_stat_reset", &[], T::VOID, void).with_nulls().volatile(),
    f("pg_stat_clear_snapshot", &[], T::VOID, void).with_nulls().volatile(),
    f("pg_stat_force_next_flush", &[], T::VOID, void).with_nulls().volatile(),
    f("pg_stat_reset_shared", &[T::TEXT], T::VOID, void).volatile(),
    f("pg_stat_reset_single_table_counters", &[T::OID], T::VOID, void).volatile(),
    f("pg_stat_reset_single_function_counters", &[T::OID], T::VOID, void).volatile(),
    f("pg_blocking_pids", &[T::INT4], T::INT4_ARRAY, |env, args, _| env.ask(Question::Blockers(args.int(0)?)))
        .volatile(),
    f("pg_isolation_test_session_is_blocked", &[T::INT4, T::INT4_ARRAY], T::BOOL, is_blocked).volatile(),
    f("pg_safe_snapshot_blocking_pids", &[T::INT4], T::INT4_ARRAY, nobody).volatile(),
    f("pg_notification_queue_usage", &[], T::FLOAT8, |_, _, _| Ok(Datum::Float(0.0))).volatile(),
    f("pg_current_wal_lsn", &[], T::PG_LSN, origin).volatile(),
    f("pg_current_wal_insert_lsn", &[], T::PG_LSN, origin).volatile(),
    f("pg_current_wal_flush_lsn", &[], T::PG_LSN, origin).volatile(),
    f("pg_last_wal_receive_lsn", &[], T::PG_LSN, nothing).volatile(),
    f("pg_last_wal_replay_lsn", &[], T::PG_LSN, nothing).volatile(),
    f("pg_last_xact_replay_timestamp", &[], T::TIMESTAMPTZ, nothing).volatile(),
    f("age", &[T::XID], T::INT4, |_, _, _| Ok(Datum::Int(1))).stable(),
    f("mxid_age", &[T::XID], T::INT4, |_, _, _| Ok(Datum::Int(0))).stable(),
    f("pg_tablespace_size", &[T::OID], T::INT8, zero).volatile(),
    f("pg_tablespace_size", &[T::NAME], T::INT8, zero).volatile(),
    set("pg_tablespace_databases", &[T::OID], T::OID, |_, _, _| Ok(Vec::new())).stable(),
];

/// Whether the connection waits for one of these others: what PostgreSQL's isolation tests ask.
fn is_blocked(env: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    let blockers = env.ask(Question::Blockers(args.int(0)?))?;
    let (Datum::Array(blockers), Datum::Array(others)) = (&blockers, &args[1]) else { return Ok(Datum::Bool(false)) };
    let is_same = |one: &Datum, other: &Datum| matches!((one, other), (Datum::Int(a), Datum::Int(b)) if a == b);
    let is_listed = |pid: &Datum| others.items.iter().any(|other| is_same(pid, other));
    Ok(Datum::Bool(blockers.items.iter().any(is_listed)))
}

fn zero(_: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(0))
}

fn nothing(_: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Null)
}

fn void(_: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text(""))
}

/// No snapshot waits for another one.
fn nobody(_: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::array(T::INT4, Vec::new()))
}

/// There is no log.
fn origin(_: &mut dyn Env, _: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text("0/0"))
}
