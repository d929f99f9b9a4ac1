//! Operators: each turns a node of a plan into a stream of tuples.

use std::sync::Arc;

use crate::catalog::{Oid, Relation, RelationKind};
use crate::error::{Result, SqlError, SqlState};
use crate::exec::{Context, Run, Tuple};
use crate::exec::{
    aggregate, arrange, change, cte, distinct, filter, function_scan, join, limit, lock, project, scan, set, sort,
};
use crate::exec::{project_set, window};
use crate::ir::{Plan, SetKind};

/// A stream of tuples that can begin again.
pub(crate) trait Operator<'p> {
    /// The next tuple.
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>>;

    /// Begins again: the tuples around may have changed. Nothing is evaluated before the next tuple is asked for.
    fn rewind(&mut self, run: &mut Run<'p>);

    /// Nobody will ask for more than so many tuples.
    fn bound(&mut self, _tuples: usize) {}
}

/// An operator of any kind.
pub(crate) type Node<'p> = Box<dyn Operator<'p> + 'p>;

/// Makes the operators of a plan. Reads nothing.
pub(crate) fn open<'p>(plan: &'p Plan, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Node<'p>> {
    run.enter()?;
    node(plan, run, cx)
}

fn node<'p>(plan: &'p Plan, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Node<'p>> {
    Ok(match plan {
        Plan::One => Box::new(scan::One::default()),
        Plan::Empty { .. } => Box::new(scan::Empty),
        Plan::Scan(plan) => {
            must_be_populated(plan.table, cx)?;
            Box::new(scan::Scan::new(plan))
        }
        Plan::Virtual(table) => Box::new(scan::Virtual::new(table)),
        Plan::Values(rows) => Box::new(scan::Values::new(rows)),
        // A query's tuples have one slot of values already, which is the slot of the FROM item.
        Plan::Subquery(query) => open(&query.plan, run, cx)?,
        Plan::Function(plan) => Box::new(function_scan::FunctionScan::new(plan)),
        Plan::Cte { cte } => Box::new(cte::CteScan::new(*cte)),
        Plan::Join(plan) => join::open(plan, run, cx)?,
        Plan::Filter { input, condition } => Box::new(filter::Filter { input: open(input, run, cx)?, condition }),
        Plan::Aggregate(plan) => Box::new(aggregate::Aggregate::new(plan, open(&plan.input, run, cx)?)),
        Plan::Window { input, calls } => Box::new(window::Window::new(calls, open(input, run, cx)?)),
        Plan::ProjectSet { input, calls } => Box::new(project_set::ProjectSet::new(calls, open(input, run, cx)?)),
        Plan::Project { input, columns } => Box::new(project::Project::new(columns, open(input, run, cx)?)),
        Plan::Distinct(input) => Box::new(distinct::Distinct::new(input, run, cx)?),
        Plan::DistinctOn { input, keys } => Box::new(distinct::DistinctOn::new(keys, open(input, run, cx)?)),
        Plan::Sort { input, keys } => Box::new(sort::Sort::new(keys, open(input, run, cx)?)),
        Plan::Limit(plan) => Box::new(limit::Limit::new(plan, open(&plan.input, run, cx)?)),
        Plan::SetOperation { kind: SetKind::Union, all, left, right } => set::union(*all, left, right, run, cx)?,
        Plan::SetOperation { kind, all, left, right } => {
            Box::new(set::Counted::new(*kind == SetKind::Except, *all, left, right, run, cx)?)
        }
        Plan::Lock { input, locks } => Box::new(lock::Lock { plan: input, input: open(input, run, cx)?, locks }),
        Plan::Arrange { input, slots } => Box::new(arrange::Arrange { input: open(input, run, cx)?, slots }),
        Plan::With { ctes, input } => cte::open_with(ctes, input, run, cx)?,
        Plan::Change(plan) => Box::new(change::Change::new(plan)),
        Plan::Stored(_) => {
            return Err(crate::exec::run::internal("a query of the catalog that was not brought up to date"));
        }
    })
}

/// The rows of a materialized view WITH NO DATA are not there yet.
fn must_be_populated(table: Oid, cx: &dyn Context) -> Result<()> {
    let catalog = cx.catalog();
    if !catalog.table(table).is_some_and(|table| table.unpopulated) {
        return Ok(());
    }
    let is_view = |relation: &&Arc<Relation>| match &relation.kind {
        RelationKind::View(view) => view.materialized == Some(table),
        _ => false,
    };
    let name = catalog.relations.values().find(is_view).map_or("", |relation| &*relation.name);
    let message = format!("materialized view \"{name}\" has not been populated");
    Err(SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .hint("Use the REFRESH MATERIALIZED VIEW command."))
}
