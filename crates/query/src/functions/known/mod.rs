//! What PostgreSQL 15 has: the numbers of its functions and operators, and which of them Skew has not.
//!
//! The two files are lists of its catalogs `pg_proc` (without those that take internal values) and `pg_operator`, a line
//! an entry: `oid name(argument types) result flags` and `oid symbol left right result flags`, sorted by name. The flags
//! are the kind where it is no plain function (`a`ggregate, `w`indow), the volatility (`i`, `s`, `v`), `!` for strict,
//! `*` for a set, `+` for VARIADIC, and the number of defaults.

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use crate::catalog::Oid;
use crate::functions::{Function, all_functions};
use crate::types::Type;

/// A function or operator of PostgreSQL.
#[derive(Debug)]
pub(crate) struct Known {
    pub oid: Oid,
    pub name: &'static str,
    /// A prefix operator has one.
    pub args: Vec<Type>,
    #[cfg_attr(not(test), allow(dead_code))]
    pub returns: Type,
    pub flags: &'static str,
}

impl Known {
    /// How many of the last arguments can be left out.
    pub fn defaults(&self) -> usize {
        let digits = self.flags.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.parse().unwrap_or(0)
    }

    /// Whether the last argument is VARIADIC.
    pub fn is_variadic(&self) -> bool {
        self.flags.contains('+')
    }
}

static FUNCTIONS: LazyLock<Vec<Known>> =
    LazyLock::new(|| include_str!("functions.txt").lines().filter_map(function).collect());
static OPERATORS: LazyLock<Vec<Known>> =
    LazyLock::new(|| include_str!("operators.txt").lines().filter_map(operator).collect());

fn number(text: &str) -> Option<Type> {
    text.parse().ok().map(Type)
}

fn function(line: &'static str) -> Option<Known> {
    let mut parts = line.split(' ');
    let oid = parts.next()?.parse().ok()?;
    let (name, args) = parts.next()?.strip_suffix(')')?.split_once('(')?;
    let args = args.split(',').filter(|arg| !arg.is_empty()).map(number).collect::<Option<Vec<_>>>()?;
    Some(Known { oid, name, args, returns: number(parts.next()?)?, flags: parts.next()? })
}

fn operator(line: &'static str) -> Option<Known> {
    let mut parts = line.split(' ');
    let oid = parts.next()?.parse().ok()?;
    let name = parts.next()?;
    let mut args = vec![number(parts.next()?)?, number(parts.next()?)?];
    args.retain(|ty| ty.0 != 0);
    Some(Known { oid, name, args, returns: number(parts.next()?)?, flags: parts.next()? })
}

/// PostgreSQL's functions with this name.
pub(crate) fn functions(name: &str) -> &'static [Known] {
    with_name(&FUNCTIONS, name)
}

/// PostgreSQL's operators with this symbol.
pub(crate) fn operators(symbol: &str) -> &'static [Known] {
    with_name(&OPERATORS, symbol)
}

fn with_name(all: &'static [Known], name: &str) -> &'static [Known] {
    let start = all.partition_point(|known| known.name < name);
    let length = all[start..].partition_point(|known| known.name == name);
    &all[start..start + length]
}

/// The number that PostgreSQL has for a built-in function; none if it is only ours.
pub fn function_number(function: &Function) -> Option<Oid> {
    functions(function.name).iter().find(|known| known.args == function.args).map(|known| known.oid)
}

/// The number that PostgreSQL has for an operator.
pub fn operator_number(operator: &Function) -> Option<Oid> {
    operators(operator.name).iter().find(|known| known.args == operator.args).map(|known| known.oid)
}

/// The first number of a built-in function that PostgreSQL does not have.
const FIRST_OWN: Oid = 9000;

/// The built-in functions with their numbers.
pub(crate) fn numbered() -> impl Iterator<Item = (Oid, &'static Function)> {
    (FIRST_OWN..).zip(all_functions()).map(|(own, function)| (function_number(function).unwrap_or(own), function))
}
