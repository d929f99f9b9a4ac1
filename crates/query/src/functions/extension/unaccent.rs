//! `unaccent`: texts without their accents.
//!
//! `unaccent.txt` is what PostgreSQL's own rules make of single characters: a line for each result, with the characters that
//! become it after a tab.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::define::f;
use crate::functions::{Env, Function, Site};
use crate::types::{Datum, Type as T};

/// The functions.
pub(super) static FUNCTIONS: &[Function] = &[
    f("unaccent", &[T::TEXT], T::TEXT, |env, args, site| unaccent(env, args, site, 0)).stable(),
    f("unaccent", &[T::REGDICTIONARY, T::TEXT], T::TEXT, |env, args, site| unaccent(env, args, site, 1)).stable(),
];

static RULES: LazyLock<FxHashMap<char, &'static str>> = LazyLock::new(|| {
    let lines = include_str!("unaccent.txt").lines().filter_map(|line| line.split_once('\t'));
    lines.flat_map(|(plain, accented)| accented.chars().map(move |c| (c, plain))).collect()
});

fn unaccent(_: &mut dyn Env, args: &[Datum], _: &Site<'_>, place: usize) -> Result<Datum> {
    let mut out = String::new();
    for c in args.text(place)?.chars() {
        match RULES.get(&c).filter(|_| !c.is_ascii()) {
            Some(plain) => out.push_str(plain),
            None => out.push(c),
        }
    }
    Ok(Datum::text(out))
}
