//! Bound statements → statements that look at fewer rows.
//!
//! - [`fold`]: calls of constants become constants
//! - `inline`: common table expressions that are used once become queries in FROM
//! - `pull`: simple queries in FROM are pulled up
//! - `tree`: the joins of a FROM are taken apart, with the conditions around them
//! - `order`: the parts are put together again, those first that few rows come from
//! - `scan`: which index leads to the rows of a table
//! - `outer`: outer joins, whose order is kept
//! - `push`: conditions go into queries that cannot be pulled up
//! - `through`: queries that cannot be pulled up are asked again and again, where that leads to a key
//! - `sorted`: rows that come in the right order are not sorted, and the first one has the smallest value
//! - `prune`: columns that nobody looks at are not worked out
//!
//! What a statement answers is not changed, only how many cells it reads on the way. Slots of a tuple may change places:
//! a [`Map`] says how, and everything above follows it.

mod conditions;
pub mod fold;
mod inline;
mod map;
mod order;
mod outer;
mod prune;
mod pull;
mod push;
mod scan;
mod seek;
mod sorted;
mod through;
mod tree;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::ir::walk::{Descend, edit};
use crate::ir::{Change, Expr, ExprKind, Plan, Query, Returning, SortKey};
use map::Map;

/// Plans a statement.
pub fn statement(query: &mut Query, catalog: &Catalog) {
    Planner { catalog }.query(query);
}

/// Plans the queries in an expression that stands alone.
pub fn expression(expr: &mut Expr, catalog: &Catalog) {
    Planner { catalog }.subqueries(expr);
}

struct Planner<'a> {
    catalog: &'a Catalog,
}

impl Planner<'_> {
    /// A query with everything in it.
    fn query(&self, query: &mut Query) {
        inline::inline(&mut query.plan);
        self.node(&mut query.plan);
        prune::prune(&mut query.plan);
        edit::plan(&mut query.plan, 0, &mut |expr, _| Ok(self.subquery(expr))).expect("planning does not fail");
    }

    /// Queries in an expression, at the end: what is around them has found its place.
    fn subqueries(&self, expr: &mut Expr) {
        edit::expr(expr, 0, &mut |expr, _| Ok(self.subquery(expr))).expect("planning does not fail");
    }

    fn subquery(&self, expr: &mut Expr) -> Descend {
        let ExprKind::Subquery { query, .. } = &mut expr.kind else { return Descend::Yes };
        self.query(Arc::make_mut(query));
        edit::parts(expr, &mut |part| {
            self.subqueries(part);
            Ok(())
        })
        .expect("planning does not fail");
        Descend::No
    }

    /// A node and what is below it; tells where the slots of its tuples are now, if they moved.
    fn node(&self, plan: &mut Plan) -> Option<Map> {
        match plan {
            Plan::Filter { .. }
            | Plan::Join(_)
            | Plan::Scan(_)
            | Plan::Subquery(_)
            | Plan::Function(_)
            | Plan::Values(_) => {
                let (planned, map) = self.tree(std::mem::replace(plan, Plan::One));
                *plan = planned;
                map
            }
            Plan::One | Plan::Empty { .. } | Plan::Virtual(_) | Plan::Cte { .. } | Plan::Stored(_) => None,
            Plan::Project { input, columns } => {
                let map = self.node(input);
                apply(map.as_ref(), columns);
                None
            }
            Plan::Aggregate(aggregate) => {
                let map = self.node(&mut aggregate.input);
                apply(map.as_ref(), &mut aggregate.keys);
                for call in &mut aggregate.calls {
                    apply(map.as_ref(), call.args.iter_mut().chain(&mut call.filter));
                    apply_keys(map.as_ref(), &mut call.order);
                }
                self.first_is_extreme(aggregate);
                None
            }
            Plan::Sort { input, keys } => {
                let map = self.node(input);
                apply_keys(map.as_ref(), keys);
                if self.comes_sorted(input, keys) {
                    *plan = std::mem::replace(&mut **input, Plan::One);
                }
                map
            }
            Plan::Limit(limit) => {
                let map = self.node(&mut limit.input);
                apply_keys(map.as_ref(), &mut limit.ties);
                map
            }
            Plan::Lock { input, locks } => {
                let map = self.node(input);
                if let Some(map) = &map {
                    locks.iter_mut().flat_map(|lock| &mut lock.slots).for_each(|slot| *slot = map.slot(*slot));
                }
                locks.iter().flat_map(|lock| &lock.slots).for_each(|slot| seek::mark(input, *slot));
                map
            }
            Plan::DistinctOn { input, keys } => {
                let map = self.node(input);
                apply(map.as_ref(), keys);
                map
            }
            Plan::Window { input, calls } => {
                let map = self.node(input);
                if let Some(map) = &map {
                    let visit = &mut |node: &mut Expr, depth| Ok(map.node(node, depth));
                    calls.iter_mut().for_each(|call| {
                        edit::window_call(call, 0, visit).expect("moving does not fail");
                    });
                }
                map.map(Map::with_one_more)
            }
            Plan::ProjectSet { input, calls } => {
                let map = self.node(input);
                apply(map.as_ref(), calls);
                map.map(Map::with_one_more)
            }
            Plan::Distinct(input) => self.node(input),
            Plan::SetOperation { left, right, .. } => {
                self.node(left);
                self.node(right);
                None
            }
            Plan::With { ctes, input } => {
                for cte in ctes {
                    let cte = Arc::make_mut(cte);
                    self.node(&mut cte.query.plan);
                    if let Some((recursive, _)) = &mut cte.recursive {
                        self.node(&mut recursive.plan);
                    }
                }
                self.node(input)
            }
            Plan::Arrange { input, slots } => {
                let map = self.node(input);
                if let Some(map) = &map {
                    slots.iter_mut().for_each(|slot| *slot = map.slot(*slot));
                }
                None
            }
            Plan::Change(change) => {
                self.change(change);
                None
            }
        }
    }

    fn change(&self, change: &mut Change) {
        match change {
            Change::Insert(insert) => {
                self.node(&mut insert.source);
            }
            Change::Update(update) => {
                let map = self.rows(&mut update.input);
                apply(map.as_ref(), update.assignments.iter_mut().map(|set| &mut set.value));
                apply_returning(map.as_ref(), &mut update.returning);
            }
            Change::Delete(delete) => {
                let map = self.rows(&mut delete.input);
                apply_returning(map.as_ref(), &mut delete.returning);
            }
            Change::Merge(merge) => {
                let map = self.rows(&mut merge.input);
                for clause in &mut merge.clauses {
                    apply(map.as_ref(), &mut clause.condition);
                    if let crate::ir::MergeAction::Update(sets) | crate::ir::MergeAction::Insert(sets) =
                        &mut clause.action
                    {
                        apply(map.as_ref(), sets.iter_mut().map(|set| &mut set.value));
                    }
                }
            }
        }
    }

    /// The rows that a change is about: the table stays the first slot.
    fn rows(&self, input: &mut Plan) -> Option<Map> {
        let map = self.node(input);
        seek::mark(input, map.as_ref().map_or(0, |map| map.slot(0)));
        let map = map?;
        let first = map.slot(0);
        if first == 0 {
            return Some(map);
        }
        let slots: Vec<usize> = std::iter::once(first).chain((0..map.width()).filter(|slot| *slot != first)).collect();
        let map = map.then(|slot| slots.iter().position(|from| *from == slot).expect("all slots are arranged"));
        let below = std::mem::replace(input, Plan::One);
        *input = Plan::Arrange { input: Box::new(below), slots };
        Some(map)
    }
}

fn apply<'e>(map: Option<&Map>, exprs: impl IntoIterator<Item = &'e mut Expr>) {
    if let Some(map) = map {
        exprs.into_iter().for_each(|expr| map.apply(expr));
    }
}

fn apply_keys(map: Option<&Map>, keys: &mut [SortKey]) {
    apply(map, keys.iter_mut().map(|key| &mut key.expr));
}

fn apply_returning(map: Option<&Map>, returning: &mut Option<Returning>) {
    if let Some(returning) = returning {
        apply(map, &mut returning.values);
    }
}
