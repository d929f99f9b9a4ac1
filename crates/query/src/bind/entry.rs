//! What others call: whole statements, and expressions of the schema and of functions.

use std::sync::Arc;

use crate::parse::ast;

use crate::bind::Binder;
use crate::bind::block::Clause;
use crate::bind::from::values_item;
use crate::bind::names::{Found, qualified};
use crate::bind::scope::{Columns, Frame, Item, ItemColumn};
use crate::catalog::{Relation, RelationKind, UserFunction};
use crate::error::{Result, SqlError, SqlState};
use crate::ir::{Expr, ExprKind, Query};
use crate::types::Typed;

impl<'a> Binder<'a> {
    /// SELECT, VALUES, TABLE, INSERT, UPDATE, DELETE, MERGE. A change is a [`Plan::Change`](crate::ir::Plan::Change), under
    /// a [`Plan::With`](crate::ir::Plan::With) if it has WITH; its columns are those of RETURNING.
    pub fn statement(&mut self, statement: &ast::Statement) -> Result<Query> {
        match statement {
            ast::Statement::Query(query) => self.settled_query(query),
            change => self.change_query(change),
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

    /// CALL: the procedure, and its arguments, those of OUT parameters included.
    pub fn procedure_call(&mut self, function: &ast::Function) -> Result<(Arc<UserFunction>, Vec<Expr>)> {
        self.on(Frame::new(Vec::new(), None), |binder| binder.procedure(function))
    }

    /// The same, as a value that is assigned to a column or variable of this name and type.
    pub fn assigned_value(&mut self, expr: &ast::Expr, typed: Typed, name: &str, clause: Clause) -> Result<Expr> {
        self.on(Frame::new(Vec::new(), None), |binder| {
            let bound = binder.expr_in(clause, expr)?;
            binder.assign(bound, typed, name)
        })
    }

    /// An expression over a row of a table, which is slot 0: of an index, of a generated column.
    pub fn row_expr(&mut self, relation: &'a Relation, expr: &ast::Expr, clause: Clause) -> Result<Expr> {
        let frame = Frame::new(vec![row_item(relation, None, 0)?], None);
        self.on(frame, |binder| {
            let bound = binder.expr_in(clause, expr)?;
            binder.settle(bound)
        })
    }

    /// The value of a column over a row of its table, which is slot 0: a generated column, USING of ALTER TYPE.
    pub fn row_value(
        &mut self,
        relation: &'a Relation,
        expr: &ast::Expr,
        typed: Typed,
        name: &str,
        clause: Clause,
    ) -> Result<Expr> {
        let frame = Frame::new(vec![row_item(relation, None, 0)?], None);
        self.on(frame, |binder| {
            let bound = binder.expr_in(clause, expr)?;
            binder.assign(bound, typed, name)
        })
    }

    /// A condition over a row of a table, which is slot 0: CHECK, WHERE of an index.
    pub fn row_condition(&mut self, relation: &'a Relation, expr: &ast::Expr, clause: Clause) -> Result<Expr> {
        let frame = Frame::new(vec![row_item(relation, None, 0)?], None);
        self.on(frame, |binder| binder.condition(clause, expr))
    }

    /// WHEN of a trigger: slot 0 is OLD, slot 1 is NEW.
    pub fn trigger_condition(&mut self, relation: &'a Relation, expr: &ast::Expr) -> Result<Expr> {
        let mut old = row_item(relation, Some("old"), 0)?;
        let mut new = row_item(relation, Some("new"), 1)?;
        old.open = false;
        new.open = false;
        self.on(Frame::new(vec![old, new], None), |binder| binder.condition(Clause::TriggerWhen, expr))
    }

    /// A bound value as one that is assigned to a column or variable of this name and type.
    pub fn assigned(&mut self, value: Expr, typed: Typed, name: &str) -> Result<Expr> {
        self.assign(value, typed, name)
    }

    /// The relation that a name means, if it is one of the catalog.
    pub fn relation_named(&self, name: &ast::ObjectName) -> Result<Option<&'a Arc<Relation>>> {
        Ok(match self.find_relation(&qualified(name, self.database())?) {
            Some(Found::Relation(relation)) => self.catalog.relation(relation.oid),
            _ => None,
        })
    }

    /// CHECK of a domain: VALUE is the [`ExprKind::Operand`].
    pub fn domain_check(&mut self, base: Typed, expr: &ast::Expr) -> Result<Expr> {
        let value = ItemColumn {
            name: Arc::from("value"),
            expr: Expr { kind: ExprKind::Operand, typed: base },
            origin: None,
            collation: 0,
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
}

/// A row of a table in this slot, under its own or another name.
fn row_item<'a>(relation: &'a Relation, name: Option<&str>, slot: usize) -> Result<Item<'a>> {
    let RelationKind::Table(table) = &relation.kind else {
        let message = format!("\"{}\" is not a table", relation.name);
        return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
    };
    Ok(Item {
        name: name.map_or_else(|| relation.name.clone(), Arc::from),
        schema: name.is_none().then_some(relation.schema),
        slot: Some(slot),
        table: Some(relation.oid),
        row_type: table.row_type,
        columns: Columns::Table(relation.oid, table),
        records: Vec::new(),
        open: true,
        scalar: false,
    })
}
