//! Bound statements as text: for EXPLAIN, and for tests that compare text.
//!
//! A line is a node, what it takes its tuples from is indented below it. Columns have the names of their table or query;
//! a `^` stands before those of a tuple further up.

mod change;
mod expr;
pub mod formats;
mod node;
pub mod tree;

use std::fmt::Write;

use crate::catalog::{Catalog, Oid, RelationKind};
use crate::ir::{Change, Cte, Expr, Plan, Query, Stored};

/// A query as text.
pub fn query(query: &Query, catalog: &Catalog) -> String {
    let mut printer = Printer::new(catalog);
    printer.plan(&query.plan, 0);
    printer.out
}

/// A change as text.
pub fn change(change: &Change, catalog: &Catalog) -> String {
    let mut printer = Printer::new(catalog);
    printer.change(change, 0);
    printer.out
}

/// An expression as text; its slots are called after these relations.
pub fn expr(expr: &Expr, relations: &[Oid], catalog: &Catalog) -> String {
    let mut printer = Printer::new(catalog);
    let slots = relations.iter().map(|oid| printer.relation_slot(*oid)).collect();
    printer.tuples.push(slots);
    printer.text(expr)
}

struct Printer<'a> {
    catalog: &'a Catalog,
    out: String,
    /// The names of the slots of the tuples around, the nearest last.
    tuples: Vec<Vec<Slot>>,
    /// The common table expressions seen so far.
    ctes: Vec<(usize, Slot)>,
}

/// How a slot's columns are called.
#[derive(Clone, Default)]
struct Slot {
    name: String,
    columns: Vec<String>,
}

impl Slot {
    fn new(name: impl Into<String>, columns: impl IntoIterator<Item = impl Into<String>>) -> Slot {
        Slot { name: name.into(), columns: columns.into_iter().map(Into::into).collect() }
    }

    /// `t.a`, `a` where the slot has no name, or its number where the column has none.
    fn column(&self, column: usize) -> String {
        let name = self.columns.get(column).filter(|name| !name.is_empty());
        let name = name.cloned().unwrap_or_else(|| format!("#{column}"));
        if self.name.is_empty() { name } else { format!("{}.{name}", self.name) }
    }
}

impl<'a> Printer<'a> {
    fn new(catalog: &'a Catalog) -> Printer<'a> {
        Printer { catalog, out: String::new(), tuples: Vec::new(), ctes: Vec::new() }
    }

    fn line(&mut self, indent: usize, text: impl AsRef<str>) {
        let _ = writeln!(self.out, "{:1$}{2}", "", indent * 2, text.as_ref());
    }

    fn relation_name(&self, oid: Oid) -> String {
        self.catalog.relation(oid).map_or_else(|| format!("relation {oid}"), |relation| relation.name.to_string())
    }

    fn relation_slot(&self, oid: Oid) -> Slot {
        let columns = match self.catalog.relation(oid).map(|relation| &relation.kind) {
            Some(RelationKind::Table(table)) => table.columns.iter().map(|column| column.name.to_string()).collect(),
            _ => Vec::new(),
        };
        Slot { name: self.relation_name(oid), columns }
    }

    /// The slots of a plan's tuples. Slots of one name get numbers.
    fn slots(&self, plan: &Plan) -> Vec<Slot> {
        let mut slots = Vec::new();
        self.collect_slots(plan, &mut slots);
        for at in 1..slots.len() {
            if !slots[at].name.is_empty() && slots[..at].iter().any(|other| other.name == slots[at].name) {
                slots[at].name = format!("{}#{at}", slots[at].name);
            }
        }
        slots
    }

    fn collect_slots(&self, plan: &Plan, slots: &mut Vec<Slot>) {
        match plan {
            Plan::One => {}
            Plan::Empty { slots: count } => slots.extend(std::iter::repeat_n(Slot::default(), *count)),
            Plan::Scan(scan) => slots.push(self.relation_slot(scan.table)),
            Plan::Stored(stored) => match &**stored {
                Stored::View(view) => slots.push(self.relation_slot(*view)),
                Stored::Item { input, .. } | Stored::Using { input, .. } | Stored::Listed(input) => {
                    self.collect_slots(input, slots);
                }
            },
            Plan::Virtual(table) => slots.push(Slot::new(table.name, table.columns.iter().map(|(name, _)| *name))),
            Plan::Subquery(query) => slots.push(query_slot("query", query)),
            Plan::Function(scan) => {
                let columns = scan.calls.iter().flat_map(|call| call.columns.iter().map(|(name, _)| name.to_string()));
                slots.push(Slot::new("function", columns.chain(scan.ordinality.then(|| "ordinality".to_owned()))));
            }
            Plan::Cte { cte } => slots.push(self.cte_slot(*cte)),
            Plan::Join(join) => {
                self.collect_slots(&join.left, slots);
                self.collect_slots(&join.right, slots);
            }
            Plan::Filter { input, .. }
            | Plan::DistinctOn { input, .. }
            | Plan::Sort { input, .. }
            | Plan::Lock { input, .. }
            | Plan::With { input, .. }
            | Plan::Distinct(input) => self.collect_slots(input, slots),
            Plan::Arrange { input, slots: order } => {
                let mut below = Vec::new();
                self.collect_slots(input, &mut below);
                slots.extend(order.iter().map(|slot| below.get(*slot).cloned().unwrap_or_default()));
            }
            Plan::Limit(limit) => self.collect_slots(&limit.input, slots),
            Plan::Window { input, .. } => {
                self.collect_slots(input, slots);
                slots.push(Slot::new("window", [""; 0]));
            }
            Plan::ProjectSet { input, .. } => {
                self.collect_slots(input, slots);
                slots.push(Slot::new("set", [""; 0]));
            }
            Plan::Aggregate(_) => slots.push(Slot::new("group", [""; 0])),
            Plan::Values(_) => slots.push(Slot::new("values", [""; 0])),
            Plan::Project { .. } | Plan::SetOperation { .. } | Plan::Change(_) => slots.push(Slot::default()),
        }
    }

    fn cte_slot(&self, number: usize) -> Slot {
        let known = self.ctes.iter().find(|(other, _)| *other == number);
        known.map_or_else(|| Slot::new(format!("cte {number}"), [""; 0]), |(_, slot)| slot.clone())
    }

    fn learn_cte(&mut self, cte: &Cte) {
        self.ctes.push((cte.number, query_slot(&cte.name, &cte.query)));
    }

    /// An expression over the tuple of these slots.
    fn over(&mut self, slots: &[Slot], expr: &Expr) -> String {
        self.tuples.push(slots.to_vec());
        let text = self.text(expr);
        self.tuples.pop();
        text
    }

    fn over_all<'e>(&mut self, slots: &[Slot], exprs: impl IntoIterator<Item = &'e Expr>) -> String {
        let texts: Vec<String> = exprs.into_iter().map(|expr| self.over(slots, expr)).collect();
        texts.join(", ")
    }
}

fn query_slot(name: &str, query: &Query) -> Slot {
    Slot::new(name, query.columns.iter().map(|column| column.name.to_string()))
}
