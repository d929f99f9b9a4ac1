//! What others call: whole statements, and expressions of the schema and of functions.

use std::sync::Arc;

use sqlparser::ast;

use crate::bind::Binder;
use crate::bind::block::Clause;
use crate::bind::from::values_item;
use crate::bind::scope::{Columns, Frame, Item, ItemColumn};
use crate::catalog::{Oid, Relation, Table};
use crate::error::{Result, SqlError};
use crate::ir::{Change, Cte, Expr, ExprKind, Plan, Query};
use crate::types::Typed;

/// A statement that was bound.
#[derive(Clone, Debug)]
pub enum Bound {
    /// It gives rows.
    Query(Query),
    /// It changes rows.
    Change {
        /// Its WITH queries.
        ctes: Vec<Arc<Cte>>,
        /// The change.
        change: Change,
    },
}

impl<'a> Binder<'a> {
    /// SELECT, VALUES, TABLE, INSERT, UPDATE, DELETE, MERGE.
    pub fn statement(&mut self, statement: &ast::Statement) -> Result<Bound> {
        let query = match statement {
            ast::Statement::Query(query) => self.settled_query(query)?,
            change => return Ok(Bound::Change { ctes: Vec::new(), change: self.change(change)? }),
        };
        // `WITH … INSERT` is written as a query whose body changes something.
        match query.plan {
            Plan::Change(change) => Ok(Bound::Change { ctes: Vec::new(), change: *change }),
            Plan::With { ctes, input } if matches!(*input, Plan::Change(_)) => {
                let Plan::Change(change) = *input else { unreachable!("it was matched") };
                Ok(Bound::Change { ctes, change: *change })
            }
            plan => Ok(Bound::Query(Query { plan, ..query })),
        }
    }

    /// A query.
    pub fn query(&mut self, query: &ast::Query) -> Result<Query> {
        self.settled_query(query)
    }

    /// An expression that looks at no row: arguments, values of PL/pgSQL. Its type is settled.
    pub fn value(&mut self, expr: &ast::Expr, clause: Clause) -> Result<Expr> {
        self.on(Frame::new(Vec::new(), None), |binder| {
            let bound = binder.expr_in(clause, expr)?;
            binder.settle(bound)
        })
    }

    /// The same, as a value that is assigned to a column or variable of this name and type.
    pub fn assigned_value(&mut self, expr: &ast::Expr, typed: Typed, name: &str, clause: Clause) -> Result<Expr> {
        self.on(Frame::new(Vec::new(), None), |binder| {
            let bound = binder.expr_in(clause, expr)?;
            binder.assign(bound, typed, name)
        })
    }

    /// An expression over a row of a table, which is slot 0: of an index, of a generated column.
    pub fn row_expr(&mut self, table: Oid, expr: &ast::Expr, clause: Clause) -> Result<Expr> {
        let frame = Frame::new(vec![self.row_item(table, None, 0)?], None);
        self.on(frame, |binder| {
            let bound = binder.expr_in(clause, expr)?;
            binder.settle(bound)
        })
    }

    /// The value of a column over a row of its table, which is slot 0: a generated column, USING of ALTER TYPE.
    pub fn row_value(&mut self, table: Oid, expr: &ast::Expr, typed: Typed, name: &str, clause: Clause) -> Result<Expr> {
        let frame = Frame::new(vec![self.row_item(table, None, 0)?], None);
        self.on(frame, |binder| {
            let bound = binder.expr_in(clause, expr)?;
            binder.assign(bound, typed, name)
        })
    }

    /// A condition over a row of a table, which is slot 0: CHECK, WHERE of an index.
    pub fn row_condition(&mut self, table: Oid, expr: &ast::Expr, clause: Clause) -> Result<Expr> {
        let frame = Frame::new(vec![self.row_item(table, None, 0)?], None);
        self.on(frame, |binder| binder.condition(clause, expr))
    }

    /// WHEN of a trigger: slot 0 is OLD, slot 1 is NEW.
    pub fn trigger_condition(&mut self, table: Oid, expr: &ast::Expr) -> Result<Expr> {
        let mut old = self.row_item(table, Some("old"), 0)?;
        let mut new = self.row_item(table, Some("new"), 1)?;
        old.open = false;
        new.open = false;
        self.on(Frame::new(vec![old, new], None), |binder| binder.condition(Clause::TriggerWhen, expr))
    }

    /// CHECK of a domain: VALUE is the [`ExprKind::Operand`].
    pub fn domain_check(&mut self, base: Typed, expr: &ast::Expr) -> Result<Expr> {
        let value = ItemColumn {
            name: Arc::from("value"),
            expr: Expr { kind: ExprKind::Operand, typed: base },
            origin: None,
        };
        let mut item = values_item(Arc::from(""), vec![value]);
        item.slot = None;
        self.on(Frame::new(vec![item], None), |binder| binder.condition(Clause::Check, expr))
    }

    fn on<T>(&mut self, frame: Frame<'a>, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.frames.push(frame);
        let result = bind(self);
        self.frames.pop();
        result
    }

    /// A row of a table in this slot, under its own or another name.
    pub(super) fn row_item(&self, oid: Oid, name: Option<&str>, slot: usize) -> Result<Item<'a>> {
        let missing = || SqlError::syntax(format!("there is no table with OID {oid}"));
        let relation: &'a Relation = self.catalog.relation(oid).ok_or_else(missing)?;
        let table: &'a Table = self.catalog.table(oid).ok_or_else(missing)?;
        Ok(Item {
            name: name.map_or_else(|| relation.name.clone(), Arc::from),
            schema: name.is_none().then_some(relation.schema),
            slot: Some(slot),
            table: Some(oid),
            row_type: table.row_type,
            columns: Columns::Table(oid, table),
            open: true,
        })
    }
}
