//! Columns of queries in FROM that nobody looks at are not worked out: no cell is read for them.

use rustc_hash::FxHashSet;

use crate::ir::walk::{Descend, look};
use crate::ir::{Change, Expr, ExprKind, Plan, Query, SortKey};
use crate::plan::tree::width;
use crate::types::Datum;

/// What is looked at of a slot.
#[derive(Clone, Debug)]
enum Need {
    All,
    Columns(FxHashSet<usize>),
}

/// Prunes the queries in the FROM of a plan, whose own columns are all looked at.
pub(super) fn prune(plan: &mut Plan) {
    if has_queries(plan) {
        let mut needs = vec![Need::All; width(plan)];
        below(plan, &mut needs);
    }
}

fn has_queries(plan: &Plan) -> bool {
    let mut found = matches!(plan, Plan::Subquery(_));
    crate::ir::subplans(plan, &mut |inner| found = found || has_queries(inner));
    found
}

/// What is below a node, given what is looked at of its tuples.
fn below(plan: &mut Plan, needs: &mut Vec<Need>) {
    match plan {
        Plan::Subquery(query) => of_query(query, &needs[0]),
        Plan::Project { input, columns } => {
            let mut inner = none(input);
            columns.iter().for_each(|column| note(column, &mut inner));
            below(input, &mut inner);
        }
        Plan::Filter { input, condition } => {
            note(condition, needs);
            below(input, needs);
        }
        Plan::Join(join) => {
            let left_width = join.slots.0;
            join.on.iter().for_each(|on| note(on, needs));
            let mut right = needs.split_off(left_width);
            for (a, b) in &join.equal {
                note(a, needs);
                note(b, &mut right);
            }
            if join.lateral {
                note_around(&join.right, needs);
            }
            below(&mut join.left, needs);
            below(&mut join.right, &mut right);
        }
        Plan::Sort { input, keys } => {
            note_keys(keys, needs);
            below(input, needs);
        }
        Plan::Limit(limit) => {
            note_keys(&limit.ties, needs);
            below(&mut limit.input, needs);
        }
        Plan::DistinctOn { input, keys } => {
            keys.iter().for_each(|key| note(key, needs));
            below(input, needs);
        }
        Plan::Lock { input, .. } | Plan::With { input, .. } => below(input, needs),
        Plan::Arrange { input, slots } => {
            let mut inner = none(input);
            for (slot, need) in slots.iter().zip(needs.iter()) {
                inner[*slot] = need.clone();
            }
            below(input, &mut inner);
        }
        Plan::ProjectSet { input, calls } => {
            needs.pop();
            calls.iter().for_each(|call| note(call, needs));
            below(input, needs);
        }
        Plan::Window { input, calls } => {
            needs.pop();
            let visit = &mut |node: &Expr, depth: usize| Ok(note_node(node, depth, needs));
            for call in calls {
                look::window_call(call, 0, visit).expect("looking does not fail");
            }
            below(input, needs);
        }
        Plan::Aggregate(aggregate) => {
            let mut inner = none(&aggregate.input);
            aggregate.keys.iter().for_each(|key| note(key, &mut inner));
            for call in &aggregate.calls {
                call.args.iter().chain(&call.filter).for_each(|expr| note(expr, &mut inner));
                note_keys(&call.order, &mut inner);
            }
            below(&mut aggregate.input, &mut inner);
        }
        Plan::Distinct(input) => prune(input),
        Plan::SetOperation { left, right, .. } => {
            prune(left);
            prune(right);
        }
        Plan::Change(change) => match &mut **change {
            Change::Insert(insert) => prune(&mut insert.source),
            Change::Update(update) => prune(&mut update.input),
            Change::Delete(delete) => prune(&mut delete.input),
            Change::Merge(merge) => prune(&mut merge.input),
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

fn none(plan: &Plan) -> Vec<Need> {
    vec![Need::Columns(FxHashSet::default()); width(plan)]
}

/// A query in FROM of which only some columns are looked at.
fn of_query(query: &mut Query, need: &Need) {
    if let Need::Columns(columns) = need {
        drop_columns(&mut query.plan, &mut columns.clone());
    }
    prune(&mut query.plan);
}

/// Columns that are not looked at become NULL, where they are not needed for anything else.
fn drop_columns(plan: &mut Plan, looked_at: &mut FxHashSet<usize>) {
    match plan {
        Plan::Project { columns, .. } => {
            for (at, column) in columns.iter_mut().enumerate() {
                if !looked_at.contains(&at) && !column.is_volatile() {
                    column.kind = ExprKind::Const(Datum::Null);
                }
            }
        }
        Plan::Sort { input, keys } => {
            keys.iter().for_each(|key| own_columns(&key.expr, looked_at));
            drop_columns(input, looked_at);
        }
        Plan::Limit(limit) => {
            limit.ties.iter().for_each(|key| own_columns(&key.expr, looked_at));
            drop_columns(&mut limit.input, looked_at);
        }
        Plan::With { input, .. } => drop_columns(input, looked_at),
        Plan::SetOperation { kind: crate::ir::SetKind::Union, all: true, left, right } => {
            drop_columns(left, &mut looked_at.clone());
            drop_columns(right, looked_at);
        }
        _ => {}
    }
}

fn own_columns(expr: &Expr, into: &mut FxHashSet<usize>) {
    let mut needs = vec![Need::Columns(std::mem::take(into))];
    note(expr, &mut needs);
    if let Some(Need::Columns(columns)) = needs.pop() {
        *into = columns;
    }
}

fn note(expr: &Expr, needs: &mut [Need]) {
    look::expr(expr, 0, &mut |node, depth| Ok(note_node(node, depth, needs))).expect("looking does not fail");
}

fn note_keys(keys: &[SortKey], needs: &mut [Need]) {
    keys.iter().for_each(|key| note(&key.expr, needs));
}

/// What the right side of a lateral join looks at of the left one.
fn note_around(right: &Plan, needs: &mut [Need]) {
    look::plan(right, 0, &mut |node, depth| Ok(note_node(node, depth + 1, needs))).expect("looking does not fail");
}

fn note_node(node: &Expr, up: usize, needs: &mut [Need]) -> Descend {
    match &node.kind {
        ExprKind::Column(column) if column.up == up => {
            if let Some(Need::Columns(columns)) = needs.get_mut(column.slot) {
                columns.insert(column.column);
            }
        }
        ExprKind::Row { up: own, slot, .. } if *own == up => {
            if let Some(need) = needs.get_mut(*slot) {
                *need = Need::All;
            }
        }
        _ => {}
    }
    Descend::Yes
}
