//! The tables of functions say what PostgreSQL's catalogs say.

use crate::catalog::Volatility;
use crate::functions::{Body, Function, all_functions, all_operators, known};
use crate::types::Type;

/// Functions that PostgreSQL has in its grammar rather than in its catalog.
const SYNTAX: &[&str] = &["user", "current_role", "current_catalog"];

fn flags(function: &Function) -> String {
    let mut flags = String::new();
    flags.push_str(match function.body {
        Body::Aggregate(_) | Body::OrderedSet { .. } => "a",
        Body::Window(_) => "w",
        _ => "",
    });
    flags.push_str(match function.volatility {
        Volatility::Immutable => "i",
        Volatility::Stable => "s",
        Volatility::Volatile => "v",
    });
    // PostgreSQL never marks aggregates strict, and window functions are called with NULLs by themselves.
    if function.strict && matches!(function.body, Body::Scalar(_) | Body::Set { .. }) {
        flags.push('!');
    }
    if matches!(function.body, Body::Set { .. }) {
        flags.push('*');
    }
    if function.variadic {
        flags.push('+');
    }
    if !function.defaults.is_empty() {
        flags.push_str(&function.defaults.len().to_string());
    }
    flags
}

fn shown(function: &Function) -> String {
    let args: Vec<String> = function.args.iter().map(|ty| ty.0.to_string()).collect();
    format!("{}({}) {} {}", function.name, args.join(","), function.returns.0, flags(function))
}

fn differences(
    ours: impl Iterator<Item = &'static Function>,
    theirs: fn(&str) -> &'static [known::Known],
) -> Vec<String> {
    let mut different = Vec::new();
    for function in ours.filter(|function| !SYNTAX.contains(&function.name)) {
        match theirs(function.name).iter().find(|known| known.args == function.args) {
            None => different.push(format!("{} is not in PostgreSQL", shown(function))),
            Some(known) => {
                let window = matches!(function.body, Body::Window(_));
                let same_flags = known.flags.replace(if window { "!" } else { " " }, "") == flags(function);
                if known.returns != function.returns || !same_flags {
                    different.push(format!("{} is {} {}", shown(function), known.returns.0, known.flags));
                }
            }
        }
    }
    different
}

#[test]
fn functions_are_declared_as_in_postgresql() {
    let different = differences(all_functions(), known::functions);
    assert!(different.is_empty(), "{} functions:\n{}", different.len(), different.join("\n"));
}

#[test]
fn operators_are_declared_as_in_postgresql() {
    let different = differences(all_operators(), known::operators);
    assert!(different.is_empty(), "{} operators:\n{}", different.len(), different.join("\n"));
}

#[test]
fn no_function_is_listed_twice() {
    let all: Vec<(&str, &[Type])> = all_functions().map(|function| (function.name, function.args)).collect();
    let twice: Vec<_> = all.iter().filter(|one| all.iter().filter(|other| other == one).count() > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}
