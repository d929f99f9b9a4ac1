//! Every built-in function and operator, by name.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::functions::{Function, aggregate, arithmetic, comparison, degrees, math, numeric, pattern, text, window};

type ByName = FxHashMap<&'static str, Vec<&'static Function>>;

/// The tables of functions, by topic.
static FUNCTIONS: &[&[Function]] = &[
    arithmetic::FUNCTIONS,
    numeric::FUNCTIONS,
    math::FUNCTIONS,
    degrees::FUNCTIONS,
    pattern::like::FUNCTIONS,
    pattern::matching::FUNCTIONS,
    pattern::replace::FUNCTIONS,
    text::basic::FUNCTIONS,
    text::bytes::FUNCTIONS,
    text::pad::FUNCTIONS,
    text::pieces::FUNCTIONS,
    aggregate::basic::FUNCTIONS,
    aggregate::collect::FUNCTIONS,
    aggregate::extreme::FUNCTIONS,
    aggregate::ordered::FUNCTIONS,
    aggregate::regression::FUNCTIONS,
    aggregate::regression::COUNT,
    aggregate::sum::FUNCTIONS,
    aggregate::variance::FUNCTIONS,
    window::FUNCTIONS,
];

/// The tables of operators.
static OPERATORS: &[&[Function]] = &[
    arithmetic::INTEGERS,
    arithmetic::SAME_INTEGERS,
    arithmetic::FLOATS,
    arithmetic::FLOAT_SIGNS,
    comparison::OPERATORS,
    comparison::EQUALITY,
    numeric::OPERATORS,
    math::OPERATORS,
    pattern::like::OPERATORS,
    pattern::matching::OPERATORS,
    text::basic::OPERATORS,
    text::bytes::OPERATORS,
];

/// The functions of the schema `skew`.
static SKEW: &[&[Function]] = &[];

static FUNCTIONS_BY_NAME: LazyLock<ByName> = LazyLock::new(|| by_name(FUNCTIONS));
static OPERATORS_BY_NAME: LazyLock<ByName> = LazyLock::new(|| by_name(OPERATORS));
static SKEW_BY_NAME: LazyLock<ByName> = LazyLock::new(|| by_name(SKEW));

fn by_name(tables: &'static [&'static [Function]]) -> ByName {
    let mut names = ByName::default();
    for function in tables.iter().copied().flatten() {
        names.entry(function.name).or_default().push(function);
    }
    names
}

/// The built-in functions with this name (in lower case), those of `pg_catalog`.
pub fn named(name: &str) -> &'static [&'static Function] {
    FUNCTIONS_BY_NAME.get(name).map_or(&[], Vec::as_slice)
}

/// The built-in operators with this symbol; `!=` is `<>`.
pub fn operators(symbol: &str) -> &'static [&'static Function] {
    let symbol = if symbol == "!=" { "<>" } else { symbol };
    OPERATORS_BY_NAME.get(symbol).map_or(&[], Vec::as_slice)
}

/// The functions of the schema `skew` with this name.
pub fn skew(name: &str) -> &'static [&'static Function] {
    SKEW_BY_NAME.get(name).map_or(&[], Vec::as_slice)
}

/// All functions of `pg_catalog`, in the order of the tables.
pub fn all_functions() -> impl Iterator<Item = &'static Function> {
    FUNCTIONS.iter().copied().flatten()
}

/// All operators.
pub fn all_operators() -> impl Iterator<Item = &'static Function> {
    OPERATORS.iter().copied().flatten()
}
