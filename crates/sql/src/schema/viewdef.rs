//! A view's query as `pg_get_viewdef` shows it: columns written out, every name with its table.
//!
//! Views of tables and views with joins and conditions are shown so; others as they were written.

use std::sync::Arc;

use crate::parse::ast::{self, JoinConstraint, SetExpr, TableFactor};

use crate::bind::Binder;
use crate::catalog::{Oid, Relation, RelationKind, View};
use crate::ir::{Expr, ExprKind, Join, JoinKind, Plan};
use crate::schema::deparse::{Deparse, Slot};
use crate::schema::names::fold;
use crate::storage::World;
use crate::system::definition;
use crate::types::names::search_path;
use crate::types::quote;

impl World<'_> {
    /// The definition of a view; `pretty` leaves out parentheses that are not needed.
    pub(crate) fn view_definition(&mut self, oid: Oid, pretty: bool) -> Option<String> {
        let relation = self.catalog.relation(oid)?.clone();
        let RelationKind::View(view) = &relation.kind else { return None };
        let written = || format!(" {};", view.text.trim().trim_end_matches(';'));
        Some(self.deparsed_view(&relation, view, pretty).unwrap_or_else(written))
    }

    fn deparsed_view(&mut self, relation: &Relation, view: &View, pretty: bool) -> Option<String> {
        let SetExpr::Select(select) = &*view.query.body else { return None };
        let path: Vec<Oid> = std::iter::once(relation.schema).chain(self.path()).collect();
        let statement = ast::Statement::Query(Box::new(ast::Query::clone(&view.query)));
        let query = Binder::new(&*self, &path).statement(&statement).ok()?;
        let Plan::Project { input, columns } = &query.plan else { return None };
        let (input, condition) = match &**input {
            Plan::Filter { input, condition } => (&**input, Some(condition)),
            input => (input, None),
        };
        let mut factors = Vec::new();
        for item in &select.from {
            take_factors(item, &mut factors)?;
        }
        let slots = factors.iter().map(|factor| self.slot(factor, &path)).collect::<Option<Vec<_>>>()?;
        let shown = Shown { deparse: Deparse::of_slots(self, &slots), slots: &slots, pretty };
        let mut list = Vec::new();
        for (column, (name, _)) in columns.iter().zip(&view.columns) {
            list.push(shown.column(column, name)?);
        }
        let from = shown.from(input, select.from.len())?;
        let mut text = format!(" SELECT {}\n   FROM {from}", list.join(",\n    "));
        if let Some(condition) = condition {
            text += &format!("\n  WHERE {}", shown.condition(condition)?);
        }
        Some(text + ";")
    }

    /// What an item of FROM is called, and its columns.
    fn slot(&self, factor: &TableFactor, path: &[Oid]) -> Option<Slot> {
        let TableFactor::Table { name, alias } = factor else { return None };
        let relation = Binder::new(self, path).relation_named(name).ok()??;
        let columns: Vec<Arc<str>> = match &relation.kind {
            RelationKind::Table(table) => table.columns.iter().map(|column| column.name.clone()).collect(),
            RelationKind::View(view) => view.columns.iter().map(|(name, _)| name.clone()).collect(),
            _ => return None,
        };
        let on_path = search_path(self).into_iter().find_map(|schema| self.catalog.relation_in(schema, &relation.name));
        let mut shown = quote::identifier(&relation.name);
        let own = shown.clone();
        if on_path.is_none_or(|found| found.oid != relation.oid) {
            let schema = self.catalog.schemas.get(&relation.schema)?;
            shown = format!("{}.{shown}", quote::identifier(&schema.name));
        }
        let prefix = match alias {
            Some(alias) if !alias.columns.is_empty() => return None,
            Some(alias) => quote::identifier(&fold(&alias.name)),
            None => own.clone(),
        };
        if prefix != own {
            shown = format!("{shown} {prefix}");
        }
        Some(Slot { shown, prefix, columns })
    }
}

/// The tables of an item of FROM from left to right; none if it has something else.
fn take_factors<'q>(item: &'q ast::TableWithJoins, factors: &mut Vec<&'q TableFactor>) -> Option<()> {
    take_factor(&item.relation, factors)?;
    for join in &item.joins {
        take_factor(&join.relation, factors)?;
        matches!(join.constraint, JoinConstraint::On(_)).then_some(())?;
    }
    Some(())
}

fn take_factor<'q>(factor: &'q TableFactor, factors: &mut Vec<&'q TableFactor>) -> Option<()> {
    match factor {
        TableFactor::Table { .. } => factors.push(factor),
        TableFactor::NestedJoin { table_with_joins, alias: None } => take_factors(table_with_joins, factors)?,
        _ => return None,
    }
    Some(())
}

struct Shown<'s> {
    deparse: Deparse<'s>,
    slots: &'s [Slot],
    pretty: bool,
}

impl Shown<'_> {
    fn column(&self, column: &Expr, name: &str) -> Option<String> {
        let shown = self.expression(column)?;
        let own = match &column.kind {
            ExprKind::Column(column) => self.slots.get(column.slot)?.columns.get(column.column)?,
            _ => "?column?",
        };
        Some(if own == name { shown } else { format!("{shown} AS {}", quote::identifier(name)) })
    }

    fn expression(&self, expr: &Expr) -> Option<String> {
        let shown = self.deparse.show(expr)?;
        Some(if self.pretty { definition::pretty(&shown) } else { shown })
    }

    fn condition(&self, expr: &Expr) -> Option<String> {
        self.expression(expr)
    }

    /// The items of FROM; several of them are joins without a condition in the plan.
    fn from(&self, plan: &Plan, items: usize) -> Option<String> {
        let (text, left) = self.items(plan, 0, items)?;
        (left == self.slots.len()).then_some(text)
    }

    /// The text of a plan whose first slot is this one, and the slot after it.
    fn items(&self, plan: &Plan, first: usize, items: usize) -> Option<(String, usize)> {
        match plan {
            Plan::Join(join) if items > 1 && join.kind == JoinKind::Inner && join.on.is_none() => {
                let (left, next) = self.items(&join.left, first, items - 1)?;
                let (right, next) = self.items(&join.right, next, 1)?;
                Some((format!("{left},\n    {right}"), next))
            }
            _ if items > 1 => None,
            Plan::Join(join) => self.join(join, first),
            Plan::Scan(_) | Plan::Subquery(_) => Some((self.slots.get(first)?.shown.clone(), first + 1)),
            _ => None,
        }
    }

    fn join(&self, join: &Join, first: usize) -> Option<(String, usize)> {
        let (left, next) = self.items(&join.left, first, 1)?;
        let (right, next) = self.items(&join.right, next, 1)?;
        let word = match join.kind {
            JoinKind::Inner => "JOIN",
            JoinKind::Left => "LEFT JOIN",
            JoinKind::Right => "RIGHT JOIN",
            JoinKind::Full => "FULL JOIN",
        };
        let mut on = join.on.clone()?;
        // The condition counts slots from the join's own first one.
        on.map_slots(&mut |slot| slot + first);
        let on = self.condition(&on)?;
        let text = match self.pretty {
            true => format!("{left}\n     {word} {right} ON {on}"),
            false => format!("({left}\n     {word} {right} ON ({on}))"),
        };
        Some((text, next))
    }
}
