//! Functions and operators of texts.

use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::define::f;
use crate::functions::{Env, Function, Site};
use crate::types::{Datum, Type as T};

/// The operators.
pub(super) static OPERATORS: &[Function] = &[f("||", &[T::TEXT, T::TEXT], T::TEXT, concatenate)];

/// The functions.
pub(super) static FUNCTIONS: &[Function] = &[
    f("lower", &[T::TEXT], T::TEXT, lower),
    f("upper", &[T::TEXT], T::TEXT, upper),
    f("length", &[T::TEXT], T::INT4, length),
];

fn concatenate(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text([args.text(0)?, args.text(1)?].concat()))
}

fn lower(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text(args.text(0)?.to_lowercase()))
}

fn upper(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::text(args.text(0)?.to_uppercase()))
}

fn length(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Datum> {
    Ok(Datum::Int(args.text(0)?.chars().count() as i64))
}
