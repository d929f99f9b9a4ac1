//! `pg_get_viewdef` and its like: definitions of objects as text. The rooms above know how they are written, and are asked.

use crate::catalog::Oid;
use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::define::f;
use crate::functions::{Definition, Env, Function, Question};
use crate::types::{Datum, Type as T};

/// The functions.
pub static FUNCTIONS: &[Function] = &[
    f("pg_get_indexdef", &[T::OID], T::TEXT, |env, args, _| ask(env, Definition::Index(oid(args)?), false)).stable(),
    f("pg_get_indexdef", &[T::OID, T::INT4, T::BOOL], T::TEXT, |env, args, _| {
        ask(env, Definition::IndexColumn(oid(args)?, args.int(1)?), args.bool(2)?)
    })
    .stable(),
    f("pg_get_constraintdef", &[T::OID], T::TEXT, |env, args, _| ask(env, Definition::Constraint(oid(args)?), false))
        .stable(),
    f("pg_get_constraintdef", &[T::OID, T::BOOL], T::TEXT, |env, args, _| {
        ask(env, Definition::Constraint(oid(args)?), args.bool(1)?)
    })
    .stable(),
    f("pg_get_expr", &[T::PG_NODE_TREE, T::OID], T::TEXT, |env, args, _| {
        ask(env, Definition::Node(args.text(0)?), false)
    })
    .stable(),
    f("pg_get_expr", &[T::PG_NODE_TREE, T::OID, T::BOOL], T::TEXT, |env, args, _| {
        ask(env, Definition::Node(args.text(0)?), args.bool(2)?)
    })
    .stable(),
    f("pg_get_viewdef", &[T::OID], T::TEXT, |env, args, _| ask(env, Definition::View(oid(args)?), false)).stable(),
    f("pg_get_viewdef", &[T::OID, T::BOOL], T::TEXT, |env, args, _| {
        ask(env, Definition::View(oid(args)?), args.bool(1)?)
    })
    .stable(),
    f("pg_get_viewdef", &[T::TEXT], T::TEXT, |env, args, _| {
        let view = super::relation(args.text(0)?, env)?;
        ask(env, Definition::View(view), false)
    })
    .stable(),
    f("pg_get_viewdef", &[T::TEXT, T::BOOL], T::TEXT, |env, args, _| {
        let view = super::relation(args.text(0)?, env)?;
        ask(env, Definition::View(view), args.bool(1)?)
    })
    .stable(),
    f("pg_get_triggerdef", &[T::OID], T::TEXT, |env, args, _| ask(env, Definition::Trigger(oid(args)?), false))
        .stable(),
    f("pg_get_triggerdef", &[T::OID, T::BOOL], T::TEXT, |env, args, _| {
        ask(env, Definition::Trigger(oid(args)?), args.bool(1)?)
    })
    .stable(),
    f("pg_get_functiondef", &[T::OID], T::TEXT, |env, args, _| ask(env, Definition::Function(oid(args)?), false))
        .stable(),
    f("pg_get_function_arguments", &[T::OID], T::TEXT, |env, args, _| {
        ask(env, Definition::Arguments { function: oid(args)?, defaults: true }, false)
    })
    .stable(),
    f("pg_get_function_identity_arguments", &[T::OID], T::TEXT, |env, args, _| {
        ask(env, Definition::Arguments { function: oid(args)?, defaults: false }, false)
    })
    .stable(),
    f("pg_get_function_arg_default", &[T::OID, T::INT4], T::TEXT, |env, args, _| {
        ask(env, Definition::ArgumentDefault(oid(args)?, args.int(1)?), false)
    })
    .stable(),
    f("pg_get_function_result", &[T::OID], T::TEXT, |env, args, _| ask(env, Definition::Result(oid(args)?), false))
        .stable(),
    f("pg_get_function_sqlbody", &[T::OID], T::TEXT, |env, args, _| ask(env, Definition::Body(oid(args)?), false))
        .stable(),
];

fn oid(args: &[Datum]) -> Result<Oid> {
    Ok(u32::try_from(args.int(0)?).unwrap_or_default())
}

fn ask(env: &mut dyn Env, what: Definition<'_>, pretty: bool) -> Result<Datum> {
    env.ask(Question::Definition { what, pretty })
}
