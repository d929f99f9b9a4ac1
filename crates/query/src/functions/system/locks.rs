//! Advisory locks.

use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::define::f;
use crate::functions::{AdvisoryKey, Env, Function, Question};
use crate::types::{Datum, Type as T};

/// One function with one bigint and with two ints.
macro_rules! locks {
    ($($name:literal: shared $shared:literal, transaction $transaction:literal, wait $wait:literal;)*) => {
        /// The functions.
        pub static FUNCTIONS: &[Function] = &[
            $(
                f($name, &[T::INT8], if $wait { T::VOID } else { T::BOOL }, |env, args, _| {
                    lock(env, AdvisoryKey::Big(args.int(0)?), $shared, $transaction, $wait)
                }).volatile(),
                f($name, &[T::INT4, T::INT4], if $wait { T::VOID } else { T::BOOL }, |env, args, _| {
                    lock(env, AdvisoryKey::Pair(args.int4(0)?, args.int4(1)?), $shared, $transaction, $wait)
                }).volatile(),
            )*
            f("pg_advisory_unlock", &[T::INT8], T::BOOL, |env, args, _| unlock(env, AdvisoryKey::Big(args.int(0)?), false))
                .volatile(),
            f("pg_advisory_unlock", &[T::INT4, T::INT4], T::BOOL, |env, args, _| {
                unlock(env, AdvisoryKey::Pair(args.int4(0)?, args.int4(1)?), false)
            })
            .volatile(),
            f("pg_advisory_unlock_shared", &[T::INT8], T::BOOL, |env, args, _| {
                unlock(env, AdvisoryKey::Big(args.int(0)?), true)
            })
            .volatile(),
            f("pg_advisory_unlock_shared", &[T::INT4, T::INT4], T::BOOL, |env, args, _| {
                unlock(env, AdvisoryKey::Pair(args.int4(0)?, args.int4(1)?), true)
            })
            .volatile(),
            f("pg_advisory_unlock_all", &[], T::VOID, |env, _, _| {
                env.ask(Question::AdvisoryUnlockAll)?;
                Ok(Datum::text(""))
            })
            .volatile(),
        ];
    };
}

locks! {
    "pg_advisory_lock": shared false, transaction false, wait true;
    "pg_advisory_lock_shared": shared true, transaction false, wait true;
    "pg_advisory_xact_lock": shared false, transaction true, wait true;
    "pg_advisory_xact_lock_shared": shared true, transaction true, wait true;
    "pg_try_advisory_lock": shared false, transaction false, wait false;
    "pg_try_advisory_lock_shared": shared true, transaction false, wait false;
    "pg_try_advisory_xact_lock": shared false, transaction true, wait false;
    "pg_try_advisory_xact_lock_shared": shared true, transaction true, wait false;
}

fn lock(env: &mut dyn Env, key: AdvisoryKey, shared: bool, transaction: bool, wait: bool) -> Result<Datum> {
    let answer = env.ask(Question::AdvisoryLock { key, shared, transaction, wait })?;
    Ok(if wait { Datum::text("") } else { answer })
}

fn unlock(env: &mut dyn Env, key: AdvisoryKey, shared: bool) -> Result<Datum> {
    env.ask(Question::AdvisoryUnlock { key, shared })
}
