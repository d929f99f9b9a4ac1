//! Simple queries in FROM are pulled up: their tables are joined with the others, and what they select takes the place of
//! their columns.
//!
//! Not where an outer join may leave them out: there a column of theirs is NULL whatever they select.

use std::sync::Arc;

use crate::ir::walk::{Descend, edit};
use crate::ir::{Expr, Join, JoinKind, Plan, Query};
use crate::plan::Planner;
use crate::plan::conditions::is_costly;
use crate::plan::map::{Map, Target};
use crate::plan::tree::width;

impl Planner<'_> {
    /// The plan with simple queries pulled up; tells what became of its slots.
    pub(super) fn pull_up(&self, plan: Plan) -> (Plan, Option<Map>) {
        if !has_queries(&plan) {
            return (plan, None);
        }
        let (plan, map) = pull(plan, false);
        let width = map.width();
        (plan, Map::new(map.into_targets(), width))
    }
}

fn has_queries(plan: &Plan) -> bool {
    match plan {
        Plan::Subquery(_) => true,
        Plan::Filter { input, .. } => has_queries(input),
        Plan::Join(join) => has_queries(&join.left) || has_queries(&join.right),
        _ => false,
    }
}

/// `nullable`: an outer join around may leave this out.
fn pull(plan: Plan, nullable: bool) -> (Plan, Map) {
    match plan {
        Plan::Filter { input, mut condition } => {
            let (input, map) = pull(*input, nullable);
            map.apply(&mut condition);
            (Plan::Filter { input: Box::new(input), condition }, map)
        }
        Plan::Join(join) => pull_join(*join, nullable),
        Plan::Subquery(query) if !nullable => match simple(*query) {
            Ok((input, mut columns)) => {
                let (input, map) = pull(input, false);
                columns.iter_mut().for_each(|column| map.apply(column));
                let width = map.width();
                (input, Map::of(vec![Target::Values(Arc::new(columns))], width))
            }
            Err(query) => (Plan::Subquery(Box::new(query)), Map::identity(1)),
        },
        plan => {
            let width = width(&plan);
            (plan, Map::identity(width))
        }
    }
}

fn pull_join(join: Join, nullable: bool) -> (Plan, Map) {
    let left_nullable = nullable || matches!(join.kind, JoinKind::Right | JoinKind::Full);
    let right_nullable = nullable || matches!(join.kind, JoinKind::Left | JoinKind::Full);
    let (left, left_map) = pull(join.left, left_nullable);
    let mut right = join.right;
    if join.lateral {
        let visit = &mut |node: &mut Expr, depth: usize| {
            Ok(match node.place() {
                Some((up, _)) if up == depth + 1 => left_map.node(node, depth + 1),
                _ => Descend::Yes,
            })
        };
        edit::plan(&mut right, 0, visit).expect("moving does not fail");
    }
    let (right, right_map) = pull(right, right_nullable);
    let slots = (left_map.width(), right_map.width());
    let map = if join.lateral { left_map.beside_lateral(right_map) } else { left_map.beside(right_map) };
    let mut on = join.on;
    on.iter_mut().for_each(|condition| map.apply(condition));
    let join = Join { kind: join.kind, left, right, on, lateral: join.lateral, slots, equal: Vec::new() };
    (Plan::Join(Box::new(unneeded_lateral(join))), map)
}

/// A lateral side that looks left only in its condition is a plain side with that condition.
fn unneeded_lateral(mut join: Join) -> Join {
    if !join.lateral || join.kind != JoinKind::Inner {
        return join;
    }
    let Plan::Filter { input, condition } = join.right else { return join };
    let mut looks_left = false;
    input.outward(&mut |up, _| looks_left |= up == 1);
    if looks_left {
        join.right = Plan::Filter { input, condition };
        return join;
    }
    let (left_width, mut input, mut condition) = (join.slots.0, *input, condition);
    input.map_places(&mut |up, slot| (if up > 1 { up - 1 } else { up }, slot));
    condition.map_places(&mut |up, slot| match up {
        0 => (0, slot + left_width),
        1 => (0, slot),
        up => (up - 1, slot),
    });
    let mut all = vec![condition];
    join.on.take().into_iter().for_each(|on| super::conditions::split(on, &mut all));
    join.on = super::conditions::all_of(all);
    join.right = input;
    join.lateral = false;
    join
}

/// A query that only joins, filters and selects: what is below its select list, and that list.
fn simple(query: Query) -> Result<(Plan, Vec<Expr>), Query> {
    let Plan::Project { input, columns } = &query.plan else { return Err(query) };
    let is_plain = |column: &Expr| !column.is_volatile() && !is_costly(column);
    if !is_from(input) || !columns.iter().all(is_plain) {
        return Err(query);
    }
    match query.plan {
        Plan::Project { input, columns } => Ok((*input, columns)),
        _ => unreachable!("it was matched"),
    }
}

/// Whether a plan is nothing but a FROM and a WHERE.
fn is_from(plan: &Plan) -> bool {
    match plan {
        Plan::Scan(_)
        | Plan::Virtual(_)
        | Plan::Stored(_)
        | Plan::Function(_)
        | Plan::Values(_)
        | Plan::Subquery(_)
        | Plan::Cte { .. }
        | Plan::Join(_) => true,
        Plan::Filter { input, condition } => is_from(input) && !condition.is_volatile(),
        _ => false,
    }
}
