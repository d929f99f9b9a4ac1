//! Text in, text out: a statement, and the plan that it becomes.

mod changes;
mod errors;
mod queries;
mod world;

use sqlparser::ast;

use crate::bind::{Binder, Params};
use crate::catalog::PUBLIC;
use crate::error::Result;
use crate::ir::print;
use crate::parse;
use world::World;

/// Binds a statement against the test schema, with parameters of unknown types.
fn bind(sql: &str) -> Result<String> {
    let world = World::default();
    let path = [PUBLIC];
    let Some(parse::Statement::Sql(statement)) = parse::statement(sql)? else { panic!("not a statement: {sql}") };
    let statement: &ast::Statement = &statement;
    let mut binder = Binder::new(&world, &path).with_params(Params::open(&[]));
    let bound = binder.statement(statement)?;
    let types = binder.params().types()?;
    let mut text = print::query(&bound, &world.catalog);
    if !types.is_empty() {
        let names: Vec<String> = types.iter().map(|ty| crate::types::names::display(*ty, &world.catalog)).collect();
        text.push_str(&format!("parameters {}\n", names.join(", ")));
    }
    Ok(text)
}

/// The statement becomes this plan.
#[track_caller]
fn check(sql: &str, expected: &str) {
    let plan = bind(sql).unwrap_or_else(|error| panic!("{sql}\n{error}"));
    let expected: String = unindent(expected);
    assert_eq!(plan.trim_end(), expected.trim_end(), "\n{sql}\n{plan}");
}

/// The names and types of the result's columns.
#[track_caller]
fn check_columns(sql: &str, expected: &str) {
    let world = World::default();
    let path = [PUBLIC];
    let Some(parse::Statement::Sql(statement)) = parse::statement(sql).expect("it parses") else { panic!("{sql}") };
    let mut binder = Binder::new(&world, &path);
    let columns = binder.statement(&statement).unwrap_or_else(|error| panic!("{sql}\n{error}")).columns;
    let texts: Vec<String> = columns
        .iter()
        .map(|column| {
            let ty = crate::types::names::format_type(column.typed.ty, Some(column.typed.modifier), &world);
            format!("{} {ty}", column.name)
        })
        .collect();
    assert_eq!(texts.join(", "), expected, "\n{sql}");
}

/// The statement is refused with this state and message.
#[track_caller]
fn check_error(sql: &str, expected: &str) {
    match bind(sql) {
        Ok(plan) => panic!("{sql}\nbound to\n{plan}"),
        Err(error) => assert_eq!(error.to_string(), expected, "\n{sql}"),
    }
}

/// Without the indentation that all lines have.
fn unindent(text: &str) -> String {
    let lines: Vec<&str> = text.trim_matches('\n').lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let least = lines.iter().filter(|line| !line.trim().is_empty()).map(|line| indent(line)).min().unwrap_or(0);
    let cut = |line: &&str| line.get(least..).unwrap_or_default().to_owned() + "\n";
    lines.iter().map(cut).collect()
}
