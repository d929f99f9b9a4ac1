//! Queries as EXPLAIN shows them in JSON, XML and YAML: as much of it as drivers read.
//!
//! sqlx looks at the joins to find out which columns can be NULL although their tables say NOT NULL: those of the inner
//! side of an outer join. So there are the joins, and which columns of the result come from where, and nothing else.

use std::fmt::Write;

use crate::catalog::Catalog;
use crate::ir::print::Printer;
use crate::ir::{Change, ColumnRef, Expr, ExprKind, Join, JoinKind, Plan, Query};

/// A node of a plan as EXPLAIN shows it.
pub struct ShownNode {
    /// Names and values.
    pub fields: Vec<(&'static str, String)>,
    /// What it returns.
    pub output: Vec<String>,
    /// The nodes below.
    pub plans: Vec<ShownNode>,
}

/// The plan of a query.
pub fn shown(query: &Query, catalog: &Catalog) -> ShownNode {
    if let Plan::Change(change) = &query.plan {
        let (operation, input) = change_parts(change);
        let names = query.columns.iter().map(|column| column.name.to_string()).collect();
        let below = vec![node(input, &[], Some("Outer"), &[])];
        let fields = vec![("Node Type", "ModifyTable".to_owned()), ("Operation", operation.to_owned())];
        return ShownNode { fields, output: names, plans: below };
    }
    match projection(&query.plan) {
        Some((input, columns)) => {
            let slots: Vec<usize> = (0..Printer::new(catalog).slots(input).len()).collect();
            node(input, &slots, None, &outputs(input, columns, catalog))
        }
        None => {
            let names = query.columns.iter().map(|column| column.name.to_string()).collect();
            open(None, &[("Node Type", "Result")], names)
        }
    }
}

fn change_parts(change: &Change) -> (&'static str, &Plan) {
    match change {
        Change::Insert(insert) => ("Insert", &insert.source),
        Change::Update(update) => ("Update", &update.input),
        Change::Delete(delete) => ("Delete", &delete.input),
        Change::Merge(merge) => ("Merge", &merge.input),
    }
}

/// A column of the result: the slot that it comes from unchanged, and what it is called.
type Shown = (Option<usize>, String);

/// The expressions that a query returns, and what they are worked out from.
fn projection(plan: &Plan) -> Option<(&Plan, &[Expr])> {
    match plan {
        Plan::Project { input, columns } => Some((input, columns)),
        Plan::Sort { input, .. }
        | Plan::DistinctOn { input, .. }
        | Plan::Distinct(input)
        | Plan::With { input, .. }
        | Plan::Lock { input, .. } => projection(input),
        Plan::Limit(limit) => projection(&limit.input),
        _ => None,
    }
}

/// The columns of the result. Tables that are there twice have numbers, as in PostgreSQL.
fn outputs(input: &Plan, columns: &[Expr], catalog: &Catalog) -> Vec<Shown> {
    let slots = Printer::new(catalog).slots(input);
    let show = |(at, expr): (usize, &Expr)| match &expr.kind {
        ExprKind::Column(ColumnRef { up: 0, slot, column }) if *slot < slots.len() => {
            let mut named = slots[*slot].clone();
            let earlier = slots[..*slot].iter().filter(|earlier| earlier.name == named.name).count();
            if earlier > 0 {
                let _ = write!(named.name, "_{earlier}");
            }
            (Some(*slot), named.column(*column))
        }
        _ => (None, format!("#{at}")),
    };
    columns.iter().enumerate().map(show).collect()
}

/// A node whose slots have these numbers in the whole.
fn node(plan: &Plan, slots: &[usize], side: Option<&'static str>, outputs: &[Shown]) -> ShownNode {
    match plan {
        Plan::Filter { input, .. }
        | Plan::Sort { input, .. }
        | Plan::DistinctOn { input, .. }
        | Plan::Distinct(input)
        | Plan::With { input, .. }
        | Plan::Lock { input, .. } => node(input, slots, side, outputs),
        Plan::Limit(limit) => node(&limit.input, slots, side, outputs),
        Plan::Window { input, .. } | Plan::ProjectSet { input, .. } => {
            node(input, &slots[..slots.len().saturating_sub(1)], side, outputs)
        }
        Plan::Arrange { input, slots: order } if order.len() == slots.len() => {
            let mut below = vec![0; order.len()];
            for (slot, &from) in slots.iter().zip(order) {
                below[from] = *slot;
            }
            node(input, &below, side, outputs)
        }
        Plan::Join(join) => join_node(join, slots, side, outputs),
        _ => open(side, &[("Node Type", "Result")], of(slots, outputs)),
    }
}

fn join_node(join: &Join, slots: &[usize], side: Option<&'static str>, outputs: &[Shown]) -> ShownNode {
    let (left, right) = slots.split_at(join.slots.0.min(slots.len()));
    // A right join is a left join from the other side.
    let (kind, outer, inner) = match join.kind {
        JoinKind::Inner => ("Inner", (&join.left, left), (&join.right, right)),
        JoinKind::Left => ("Left", (&join.left, left), (&join.right, right)),
        JoinKind::Right => ("Left", (&join.right, right), (&join.left, left)),
        JoinKind::Full => ("Full", (&join.left, left), (&join.right, right)),
    };
    let mut shown = open(side, &[("Node Type", "Nested Loop"), ("Join Type", kind)], of(slots, outputs));
    shown.plans.push(node(outer.0, outer.1, Some("Outer"), outputs));
    shown.plans.push(node(inner.0, inner.1, Some("Inner"), outputs));
    shown
}

fn open(side: Option<&'static str>, fields: &[(&'static str, &str)], output: Vec<String>) -> ShownNode {
    let side = side.map(|side| ("Parent Relationship", side));
    let fields = fields.iter().copied().chain(side).map(|(name, value)| (name, value.to_owned()));
    ShownNode { fields: fields.collect(), output, plans: Vec::new() }
}

/// The columns of the result that come from these slots.
fn of(slots: &[usize], outputs: &[Shown]) -> Vec<String> {
    let comes = |(slot, _): &&Shown| slot.is_none_or(|slot| slots.contains(&slot));
    outputs.iter().filter(comes).map(|(_, name)| name.clone()).collect()
}
