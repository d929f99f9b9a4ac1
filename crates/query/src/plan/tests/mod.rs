//! Text in, text out: a statement, and how it is planned.

use crate::parse::ast;

use crate::bind::tests::world::World;
use crate::bind::tests::{cases, failure};
use crate::bind::{Binder, Params};
use crate::catalog::PUBLIC;
use crate::error::Result;
use crate::ir::print;
use crate::parse;

/// Plans a statement against the binder's test schema.
fn plan(sql: &str, world: &mut World) -> Result<String> {
    let path = [PUBLIC];
    let Some(parse::Statement::Sql(statement)) = parse::statement(sql)? else { panic!("not a statement: {sql}") };
    let statement: &ast::Statement = &statement;
    let mut query = Binder::new(world, &path).with_params(Params::open(&[])).statement(statement)?;
    super::fold::statement(&mut query, world);
    super::statement(&mut query, &world.catalog);
    Ok(print::query(&query, &world.catalog).trim_end().to_owned())
}

fn outcome(sql: &str) -> String {
    plan(sql, &mut World::default()).unwrap_or_else(|error| failure(&error))
}

#[test]
fn conditions_choose_indexes() {
    cases("src/plan/tests/scans.txt", outcome);
}

#[test]
fn joins_are_ordered() {
    cases("src/plan/tests/joins.txt", outcome);
}

#[test]
fn queries_in_from_are_pulled_up() {
    cases("src/plan/tests/queries.txt", outcome);
}
