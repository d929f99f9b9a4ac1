//! Common table expressions that are used once, and not inside of an expression, become queries in FROM: then conditions
//! reach them.

use std::sync::Arc;

use crate::ir::walk::{Descend, look};
use crate::ir::{Cte, ExprKind, Plan, Query};

/// Inlines in a plan and in everything below it.
pub(super) fn inline(plan: &mut Plan) {
    if !has_with(plan) {
        return;
    }
    each_below(plan, &mut inline);
    let Plan::With { ctes, input } = plan else { return };
    let mut at = 0;
    while at < ctes.len() {
        if !is_plain(&ctes[at]) {
            at += 1;
            continue;
        }
        let number = ctes[at].number;
        let mut uses = Uses::default();
        count(input, number, false, &mut uses);
        for later in &ctes[at + 1..] {
            count(&later.query.plan, number, false, &mut uses);
            if let Some((recursive, _)) = &later.recursive {
                count(&recursive.plan, number, true, &mut uses);
            }
        }
        if uses.here != 1 || uses.elsewhere > 0 {
            at += 1;
            continue;
        }
        let cte = ctes.remove(at);
        let query = Arc::unwrap_or_clone(cte).query;
        let mut query = Some(Box::new(query));
        replace(input, number, &mut query);
        for later in ctes[at..].iter_mut() {
            replace(&mut Arc::make_mut(later).query.plan, number, &mut query);
        }
    }
    if ctes.is_empty() {
        *plan = std::mem::replace(&mut **input, Plan::One);
    }
}

#[derive(Default)]
struct Uses {
    /// As an item of FROM that is gone through once.
    here: usize,
    /// In expressions and in recursions.
    elsewhere: usize,
}

fn is_plain(cte: &Cte) -> bool {
    cte.recursive.is_none() && !has_change(&cte.query.plan) && !cte.query.plan.is_volatile()
}

fn has_change(plan: &Plan) -> bool {
    let mut found = matches!(plan, Plan::Change(_));
    crate::ir::subplans(plan, &mut |below| found = found || has_change(below));
    found
}

fn has_with(plan: &Plan) -> bool {
    let mut found = matches!(plan, Plan::With { .. });
    crate::ir::subplans(plan, &mut |below| found = found || has_with(below));
    found
}

/// Counts the uses in a plan; `again`: it is gone through more than once.
fn count(plan: &Plan, number: usize, again: bool, uses: &mut Uses) {
    count_items(plan, number, again, uses);
    look::plan(plan, 0, &mut |node, _| {
        if let ExprKind::Subquery { query, .. } = &node.kind {
            count_items(&query.plan, number, true, uses);
        }
        Ok(Descend::Yes)
    })
    .expect("counting does not fail");
}

/// Counts the uses as items of FROM, without those in expressions.
fn count_items(plan: &Plan, number: usize, again: bool, uses: &mut Uses) {
    match plan {
        Plan::Cte { cte } if *cte == number && again => uses.elsewhere += 1,
        Plan::Cte { cte } if *cte == number => uses.here += 1,
        Plan::Join(join) => {
            count_items(&join.left, number, again, uses);
            count_items(&join.right, number, again || join.lateral, uses);
        }
        other => crate::ir::subplans(other, &mut |below| count_items(below, number, again, uses)),
    }
}

/// Puts the query in the place of its only use. There are as many tuples around as where it was written.
fn replace(plan: &mut Plan, number: usize, query: &mut Option<Box<Query>>) {
    if matches!(plan, Plan::Cte { cte } if *cte == number) {
        if let Some(query) = query.take() {
            *plan = Plan::Subquery(query);
        }
        return;
    }
    each_below(plan, &mut |below| replace(below, number, query));
}

/// The plans directly below, without those in expressions and in lateral sides.
fn each_below(plan: &mut Plan, visit: &mut dyn FnMut(&mut Plan)) {
    match plan {
        Plan::Subquery(query) => visit(&mut query.plan),
        Plan::Join(join) => {
            visit(&mut join.left);
            visit(&mut join.right);
        }
        Plan::Filter { input, .. }
        | Plan::Window { input, .. }
        | Plan::ProjectSet { input, .. }
        | Plan::Project { input, .. }
        | Plan::DistinctOn { input, .. }
        | Plan::Sort { input, .. }
        | Plan::Lock { input, .. }
        | Plan::Arrange { input, .. }
        | Plan::Distinct(input) => visit(input),
        Plan::Limit(limit) => visit(&mut limit.input),
        Plan::Aggregate(aggregate) => visit(&mut aggregate.input),
        Plan::SetOperation { left, right, .. } => {
            visit(left);
            visit(right);
        }
        Plan::With { ctes, input } => {
            for cte in ctes {
                let cte = Arc::make_mut(cte);
                visit(&mut cte.query.plan);
                if let Some((recursive, _)) = &mut cte.recursive {
                    visit(&mut recursive.plan);
                }
            }
            visit(input);
        }
        Plan::Change(change) => match &mut **change {
            crate::ir::Change::Insert(insert) => visit(&mut insert.source),
            crate::ir::Change::Update(update) => visit(&mut update.input),
            crate::ir::Change::Delete(delete) => visit(&mut delete.input),
            crate::ir::Change::Merge(merge) => visit(&mut merge.input),
        },
        Plan::One
        | Plan::Empty { .. }
        | Plan::Scan(_)
        | Plan::Virtual(_)
        | Plan::Stored(_)
        | Plan::Values(_)
        | Plan::Function(_)
        | Plan::Cte { .. } => {}
    }
}
