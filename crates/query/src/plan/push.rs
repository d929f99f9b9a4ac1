//! Conditions go into queries in FROM that are not pulled up: where they leave out a row of the result, they may as well
//! leave out what it is made of.

use crate::ir::walk::{Descend, edit};
use crate::ir::{Expr, ExprKind, Plan, Query};
use crate::plan::Planner;
use crate::plan::conditions::Slots;
use crate::plan::map;
use crate::plan::order::filtered;

impl Planner<'_> {
    /// A query in FROM with conditions on its columns.
    pub(super) fn query_in_from(&self, mut query: Query, conditions: Vec<Expr>) -> Plan {
        let mut above = Vec::new();
        for condition in conditions {
            if condition.is_volatile() {
                above.push(condition);
            } else if let Some(condition) = push(&mut query.plan, condition) {
                above.push(condition);
            }
        }
        self.node(&mut query.plan);
        filtered(Plan::Subquery(Box::new(query)), above)
    }
}

/// Puts a condition over a query's columns into its plan; gives it back if it has to stay outside.
fn push(plan: &mut Plan, condition: Expr) -> Option<Expr> {
    match plan {
        Plan::Project { input, columns } => {
            let looks_at = |at: usize| condition_columns(&condition).contains(&at);
            let plain = |(at, column): (usize, &Expr)| !looks_at(at) || !column.is_volatile();
            if !columns.iter().enumerate().all(plain) {
                return Some(condition);
            }
            let mut inner = condition.clone();
            substitute(&mut inner, columns);
            push_below(input, inner).map(|_| condition)
        }
        Plan::Distinct(input) | Plan::Sort { input, .. } | Plan::With { input, .. } => push(input, condition),
        Plan::SetOperation { left, right, .. } => {
            // Both sides or none: a side that does not take it would keep rows that the other one leaves out.
            let (mut new_left, mut new_right) = (left.clone(), right.clone());
            if push(&mut new_left, condition.clone()).is_some() || push(&mut new_right, condition.clone()).is_some() {
                return Some(condition);
            }
            (*left, *right) = (new_left, new_right);
            None
        }
        _ => Some(condition),
    }
}

/// Puts a condition over the tuples of this plan above or into it; gives it back where that would change the result.
fn push_below(plan: &mut Plan, condition: Expr) -> Option<Expr> {
    match plan {
        Plan::Sort { input, .. } => push_below(input, condition),
        Plan::Filter { .. }
        | Plan::Join(_)
        | Plan::Scan(_)
        | Plan::Virtual(_)
        | Plan::Stored(_)
        | Plan::Function(_)
        | Plan::Cte { .. }
        | Plan::Subquery(_)
        | Plan::Values(_) => {
            wrap(plan, condition);
            None
        }
        Plan::Aggregate(aggregate) => {
            // A condition on keys of every grouping set leaves out whole groups.
            let in_all = |key: usize| aggregate.sets.iter().all(|set| set.contains(&key));
            let looks_at = condition_columns(&condition);
            let on_keys = looks_at.iter().all(|at| *at < aggregate.keys.len() && in_all(*at));
            let has_keys = !aggregate.sets.is_empty() && !looks_at.is_empty();
            let plain = looks_at.iter().all(|at| aggregate.keys.get(*at).is_some_and(|key| !key.is_volatile()));
            if on_keys && has_keys && plain {
                let mut inner = condition.clone();
                substitute(&mut inner, &aggregate.keys);
                push_below(&mut aggregate.input, inner)?;
            }
            wrap(plan, condition);
            None
        }
        _ => Some(condition),
    }
}

fn wrap(plan: &mut Plan, condition: Expr) {
    let input = Box::new(std::mem::replace(plan, Plan::One));
    *plan = Plan::Filter { input, condition };
}

/// The columns of the one slot that a condition looks at.
fn condition_columns(condition: &Expr) -> Vec<usize> {
    let mut columns = Vec::new();
    let mut copy = condition.clone();
    edit::expr(&mut copy, 0, &mut |node, depth| {
        match &node.kind {
            ExprKind::Column(column) if column.up == depth => columns.push(column.column),
            ExprKind::Row { up, shape, .. } if *up == depth => columns.extend(0..shape.fields.len()),
            _ => {}
        }
        Ok(Descend::Yes)
    })
    .expect("looking does not fail");
    debug_assert!(Slots::of(condition).within(Slots::range(0, 1)), "a query has one slot");
    columns
}

/// What a query selects takes the place of its columns.
fn substitute(condition: &mut Expr, columns: &[Expr]) {
    edit::expr(condition, 0, &mut |node, depth| {
        let own = node.place().is_some_and(|(up, _)| up == depth);
        if own {
            map::replace(node, columns, depth);
        }
        Ok(if own { Descend::No } else { Descend::Yes })
    })
    .expect("moving does not fail");
}
