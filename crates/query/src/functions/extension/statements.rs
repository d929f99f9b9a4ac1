//! `pg_stat_statements`: it is there, and has nothing to tell, as where PostgreSQL has not loaded its library at start.

use crate::error::{Result, SqlError, SqlState};
use crate::functions::define::{f, set};
use crate::functions::{Constant, Function};
use crate::types::{Datum, Type as T};

/// The functions.
pub(super) static FUNCTIONS: &[Function] = &[
    set("pg_stat_statements", &[T::BOOL], T::RECORD, |_, _, _| Err(not_loaded())).volatile(),
    f("pg_stat_statements_reset", &[T::OID, T::OID, T::INT8], T::VOID, reset)
        .named(&["userid", "dbid", "queryid"])
        .defaults(&[Constant::Int(0), Constant::Int(0), Constant::Int(0)])
        .volatile(),
];

fn reset(_: &mut dyn crate::functions::Env, _: &[Datum], _: &crate::functions::Site<'_>) -> Result<Datum> {
    Err(not_loaded())
}

fn not_loaded() -> SqlError {
    let message = "pg_stat_statements must be loaded via shared_preload_libraries";
    SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
}
