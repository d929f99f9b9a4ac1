//! The functions of the schema `skew`: what they do is in [`crate::session::control`].

use crate::error::Result;
use crate::functions::define::f;
use crate::functions::{Env, Function, Question};
use crate::types::{Datum, Type as T};

/// The functions.
pub static SKEW: &[Function] = &[
    f("checkpoint", &[], T::VOID, |env, args, _| ask(env, "checkpoint", args)).volatile(),
    f("reset", &[], T::VOID, |env, args, _| ask(env, "reset", args)).volatile(),
    f("reset", &[T::INT8], T::VOID, |env, args, _| ask(env, "reset", args)).volatile(),
    f("seed", &[], T::INT8, |env, args, _| ask(env, "seed", args)).volatile(),
    f("isolation", &[], T::TEXT, |env, args, _| ask(env, "isolation", args)).volatile(),
    f("isolation", &[T::TEXT], T::TEXT, |env, args, _| ask(env, "isolation", args)).volatile(),
    f("checking", &[T::BOOL], T::BOOL, |env, args, _| ask(env, "checking", args)).volatile(),
    f("history", &[], T::TEXT, |env, args, _| ask(env, "history", args)).volatile(),
];

fn ask(env: &mut dyn Env, name: &str, args: &[Datum]) -> Result<Datum> {
    match env.ask(Question::Skew { name, args })? {
        // A function without a result shows nothing.
        Datum::Null => Ok(Datum::text("")),
        answer => Ok(answer),
    }
}
