//! Queries as EXPLAIN shows them in JSON: as much of it as drivers read.
//!
//! sqlx looks at the joins to find out which columns can be NULL although their tables say NOT NULL: those of the inner
//! side of an outer join. So there are the joins, and which columns of the result come from where, and nothing else.

use std::fmt::Write;

use crate::catalog::Catalog;
use crate::ir::print::Printer;
use crate::ir::{ColumnRef, Expr, ExprKind, Join, JoinKind, Plan, Query};

/// A query as EXPLAIN (FORMAT JSON) shows it.
pub fn json(query: &Query, catalog: &Catalog) -> String {
    let mut out = String::from("[\n  {\n    \"Plan\": ");
    match projection(&query.plan) {
        Some((input, columns)) => {
            let slots: Vec<usize> = (0..Printer::new(catalog).slots(input).len()).collect();
            node(&mut out, input, &slots, None, &outputs(input, columns, catalog), 4);
        }
        None => {
            let names: Vec<&str> = query.columns.iter().map(|column| &*column.name).collect();
            leaf(&mut out, None, &names, 4);
        }
    }
    out.push_str("\n  }\n]");
    out
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
fn node(out: &mut String, plan: &Plan, slots: &[usize], side: Option<&str>, outputs: &[Shown], indent: usize) {
    match plan {
        Plan::Filter { input, .. }
        | Plan::Sort { input, .. }
        | Plan::DistinctOn { input, .. }
        | Plan::Distinct(input)
        | Plan::With { input, .. }
        | Plan::Lock { input, .. } => node(out, input, slots, side, outputs, indent),
        Plan::Limit(limit) => node(out, &limit.input, slots, side, outputs, indent),
        Plan::Window { input, .. } | Plan::ProjectSet { input, .. } => {
            node(out, input, &slots[..slots.len().saturating_sub(1)], side, outputs, indent);
        }
        Plan::Arrange { input, slots: order } => {
            let mut below = vec![0; order.len()];
            for (slot, &from) in slots.iter().zip(order) {
                below[from] = *slot;
            }
            node(out, input, &below, side, outputs, indent);
        }
        Plan::Join(join) => join_node(out, join, slots, side, outputs, indent),
        _ => leaf(out, side, &of(slots, outputs), indent),
    }
}

fn join_node(out: &mut String, join: &Join, slots: &[usize], side: Option<&str>, outputs: &[Shown], indent: usize) {
    let (left, right) = slots.split_at(join.slots.0.min(slots.len()));
    // A right join is a left join from the other side.
    let (kind, outer, inner) = match join.kind {
        JoinKind::Inner => ("Inner", (&join.left, left), (&join.right, right)),
        JoinKind::Left => ("Left", (&join.left, left), (&join.right, right)),
        JoinKind::Right => ("Left", (&join.right, right), (&join.left, left)),
        JoinKind::Full => ("Full", (&join.left, left), (&join.right, right)),
    };
    open(out, side, &[("Node Type", "Nested Loop"), ("Join Type", kind)], &of(slots, outputs), indent);
    let _ = write!(out, ",\n{:1$}\"Plans\": [\n{:2$}", "", indent + 2, indent + 4);
    node(out, outer.0, outer.1, Some("Outer"), outputs, indent + 4);
    let _ = write!(out, ",\n{:1$}", "", indent + 4);
    node(out, inner.0, inner.1, Some("Inner"), outputs, indent + 4);
    let _ = write!(out, "\n{:1$}]\n{:2$}}}", "", indent + 2, indent);
}

fn leaf(out: &mut String, side: Option<&str>, shown: &[&str], indent: usize) {
    open(out, side, &[("Node Type", "Result")], shown, indent);
    let _ = write!(out, "\n{:1$}}}", "", indent);
}

fn open(out: &mut String, side: Option<&str>, fields: &[(&str, &str)], shown: &[&str], indent: usize) {
    out.push_str("{\n");
    let side = side.map(|side| ("Parent Relationship", side));
    for (name, value) in fields.iter().copied().chain(side) {
        let _ = writeln!(out, "{:1$}\"{name}\": \"{value}\",", "", indent + 2);
    }
    let shown: Vec<String> = shown.iter().map(|shown| quoted(shown)).collect();
    let _ = write!(out, "{:1$}\"Output\": [{2}]", "", indent + 2, shown.join(", "));
}

/// The columns of the result that come from these slots.
fn of<'a>(slots: &[usize], outputs: &'a [Shown]) -> Vec<&'a str> {
    let comes = |(slot, _): &&Shown| slot.is_none_or(|slot| slots.contains(&slot));
    outputs.iter().filter(comes).map(|(_, name)| name.as_str()).collect()
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
