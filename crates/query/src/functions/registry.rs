//! Every built-in function and operator, by name.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::functions::{
    Function, aggregate, arithmetic, array, bits, collate, comparison, datetime, degrees, hash, json, math, misc,
    money, network, number, numeric, pattern, series, system, text, window,
};

type ByName = FxHashMap<&'static str, Vec<&'static Function>>;

/// The tables of functions, by topic.
static FUNCTIONS: &[&[Function]] = &[
    arithmetic::FUNCTIONS,
    bits::FUNCTIONS,
    hash::FUNCTIONS,
    misc::FUNCTIONS,
    network::FUNCTIONS,
    number::FUNCTIONS,
    numeric::FUNCTIONS,
    math::FUNCTIONS,
    degrees::FUNCTIONS,
    datetime::clock::FUNCTIONS,
    datetime::format::FUNCTIONS,
    datetime::make::FUNCTIONS,
    datetime::overlaps::FUNCTIONS,
    datetime::overlaps::ZONED,
    datetime::parts::FUNCTIONS,
    datetime::series::FUNCTIONS,
    pattern::like::FUNCTIONS,
    pattern::matching::FUNCTIONS,
    pattern::replace::FUNCTIONS,
    text::basic::FUNCTIONS,
    text::bytes::FUNCTIONS,
    text::join::FUNCTIONS,
    text::pad::FUNCTIONS,
    text::pieces::FUNCTIONS,
    array::change::FUNCTIONS,
    array::look::FUNCTIONS,
    array::strings::FUNCTIONS,
    series::FUNCTIONS,
    json::access::FUNCTIONS,
    json::aggregates::FUNCTIONS,
    json::build::FUNCTIONS,
    json::change::FUNCTIONS,
    json::path::FUNCTIONS,
    json::populate::FUNCTIONS,
    json::sets::FUNCTIONS,
    aggregate::basic::FUNCTIONS,
    aggregate::collect::FUNCTIONS,
    aggregate::extreme::FUNCTIONS,
    aggregate::ordered::FUNCTIONS,
    aggregate::regression::FUNCTIONS,
    aggregate::regression::COUNT,
    aggregate::sum::FUNCTIONS,
    aggregate::variance::FUNCTIONS,
    window::FUNCTIONS,
    system::catalog::FUNCTIONS,
    system::extensions::FUNCTIONS,
    system::keywords::FUNCTIONS,
    system::locks::FUNCTIONS,
    system::definitions::FUNCTIONS,
    system::lookup::FUNCTIONS,
    system::sequences::FUNCTIONS,
    system::session::FUNCTIONS,
    system::statistics::COUNTERS,
    system::statistics::FUNCTIONS,
    system::statistics::TIMES,
    system::visibility::FUNCTIONS,
    system::visibility::PRIVILEGES,
];

/// The tables of operators.
static OPERATORS: &[&[Function]] = &[
    arithmetic::INTEGERS,
    arithmetic::SAME_INTEGERS,
    arithmetic::FLOATS,
    arithmetic::FLOAT_SIGNS,
    comparison::OPERATORS,
    comparison::EQUALITY,
    comparison::PATTERN_ORDER,
    bits::OPERATORS,
    money::OPERATORS,
    network::OPERATORS,
    numeric::OPERATORS,
    math::OPERATORS,
    datetime::arithmetic::OPERATORS,
    pattern::like::OPERATORS,
    pattern::matching::OPERATORS,
    text::basic::OPERATORS,
    text::bytes::OPERATORS,
    text::join::OPERATORS,
    array::change::OPERATORS,
    array::look::OPERATORS,
    json::access::OPERATORS,
    json::change::OPERATORS,
    json::path::OPERATORS,
];

/// Functions that take any number of arguments of any types, as they are called with one `VARIADIC array`.
static SPREAD: &[&[Function]] = &[json::build::SPREAD, misc::SPREAD, text::join::SPREAD];

/// The functions of the schema `information_schema`.
static INFORMATION: &[&[Function]] = &[system::catalog::INFORMATION];

/// What the binder calls where nobody writes a call.
static INTERNAL: &[&[Function]] = &[collate::FUNCTIONS, datetime::clock::WRITTEN, system::sequences::STATE];

/// The functions of the schema `skew`.
static SKEW: &[&[Function]] = &[system::control::SKEW];

static FUNCTIONS_BY_NAME: LazyLock<ByName> = LazyLock::new(|| by_name(FUNCTIONS));
static OPERATORS_BY_NAME: LazyLock<ByName> = LazyLock::new(|| by_name(OPERATORS));
static SPREAD_BY_NAME: LazyLock<ByName> = LazyLock::new(|| by_name(SPREAD));
static INFORMATION_BY_NAME: LazyLock<ByName> = LazyLock::new(|| by_name(INFORMATION));
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

/// What a call with `VARIADIC array` means where the function takes arguments of any types.
pub(super) fn spread(name: &str) -> &'static [&'static Function] {
    SPREAD_BY_NAME.get(name).map_or(&[], Vec::as_slice)
}

/// The functions of the schema `information_schema` with this name.
pub(super) fn information(name: &str) -> &'static [&'static Function] {
    INFORMATION_BY_NAME.get(name).map_or(&[], Vec::as_slice)
}

/// The function with this name that only the binder calls.
pub(crate) fn internal(name: &str) -> Option<&'static Function> {
    INTERNAL.iter().copied().flatten().find(|function| function.name == name)
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
