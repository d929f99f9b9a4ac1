//! INSERT, UPDATE, DELETE, MERGE.

mod assign;
mod conflict;
mod delete;
mod insert;
mod merge;
mod update;
mod view;

use crate::parse::ast;

use crate::bind::Binder;
use crate::bind::block::Clause;
use crate::bind::names::{Found, name, qualified};
use crate::bind::scope::{Columns, Item};
use crate::catalog::{Column, Generation, Oid, Relation, RelationKind, Table, UserTypeKind};
use crate::error::{Result, SqlError, SqlState};
use crate::ir::{Change, DefaultOf, Expr, ExprKind, Returning, current};
use crate::types::Datum;

use view::Doing;
pub(super) use view::Through;

/// The table that is changed.
#[derive(Clone, Copy)]
struct Target<'a> {
    relation: &'a Relation,
    table: &'a Table,
}

impl<'a> Target<'a> {
    fn oid(self) -> Oid {
        self.relation.oid
    }

    /// The position of a column.
    fn column(self, ident: &ast::Ident, binder: &Binder<'_>) -> Result<usize> {
        let name = name(ident);
        if let Some(through) = &binder.through {
            return through.column(&name).unwrap_or_else(|| {
                let message = format!("column \"{name}\" of relation \"{}\" does not exist", through.name);
                Err(binder.at(ident.span, SqlError::new(SqlState::UNDEFINED_COLUMN, message)))
            });
        }
        let found = self.table.columns.iter().position(|column| column.name == name && !column.dropped);
        found.ok_or_else(|| {
            let relation = &self.relation.name;
            let is_system = matches!(&*name, "ctid" | "xmin" | "xmax" | "cmin" | "cmax" | "tableoid");
            let error = if is_system {
                let message = format!("cannot assign to system column \"{name}\"");
                SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
            } else {
                let message = format!("column \"{name}\" of relation \"{relation}\" does not exist");
                SqlError::new(SqlState::UNDEFINED_COLUMN, message)
            };
            binder.at(ident.span, error)
        })
    }

    /// The table's row in a slot, under its own name or an alias.
    fn item(self, alias: Option<&ast::Ident>, slot: usize) -> Item<'a> {
        Item {
            name: alias.map_or_else(|| self.relation.name.clone(), name),
            schema: alias.is_none().then_some(self.relation.schema),
            slot: Some(slot),
            table: Some(self.oid()),
            row_type: self.table.row_type,
            columns: Columns::Table(self.oid(), self.table),
            records: Vec::new(),
            open: true,
            scalar: false,
        }
    }
}

impl<'a> Binder<'a> {
    /// A statement that changes rows.
    pub(super) fn change(&mut self, statement: &ast::Statement) -> Result<Change> {
        let around = self.through.take();
        let change = self.one_change(statement);
        self.through = around;
        change
    }

    fn one_change(&mut self, statement: &ast::Statement) -> Result<Change> {
        match statement {
            ast::Statement::Insert(insert) => self.insert(insert).map(Change::Insert),
            ast::Statement::Update(update) => self.update(update).map(Change::Update),
            ast::Statement::Delete(delete) => self.delete(delete).map(Change::Delete),
            ast::Statement::Merge(merge) => self.merge_into(merge).map(Change::Merge),
            _ => Err(SqlError::unsupported("this statement here")),
        }
    }

    fn changed(&mut self, name: &ast::ObjectName, doing: Option<Doing>) -> Result<Target<'a>> {
        let named = qualified(name, self.database()).map_err(|error| self.at(name.span(), error))?;
        if let (Some(doing), Ok(Found::Relation(relation))) = (doing, self.relation(&named))
            && let RelationKind::View(view) = &relation.kind
            && view.materialized.is_none()
        {
            return self.table_behind(relation, view, doing);
        }
        let found = self.target_table(name).map_err(|error| self.at(name.span(), error));
        found.map(|(relation, table)| Target { relation, table })
    }

    /// RETURNING, on the tuple that is in place.
    fn returning(&mut self, items: Option<&Vec<ast::SelectItem>>) -> Result<Option<Returning>> {
        let Some(items) = items else { return Ok(None) };
        let targets = self.within(Clause::Returning, |binder| binder.targets(items))?;
        let mut values = Vec::with_capacity(targets.len());
        let mut columns = Vec::with_capacity(targets.len());
        for mut target in targets {
            target.expr = self.settle(target.expr)?;
            columns.push(target.output());
            values.push(target.expr);
        }
        Ok(Some(Returning { values, columns }))
    }

    /// What a column gets when nothing is said; `None` is NULL.
    pub(in crate::bind) fn column_default(&mut self, column: &Column) -> Result<Option<Expr>> {
        if let (Generation::IdentityAlways | Generation::IdentityByDefault, Some(sequence)) =
            (column.generation, column.sequence)
        {
            return Ok(Some(Expr { kind: ExprKind::NextValue(sequence), typed: column.typed }));
        }
        let default = match &column.default {
            Some(default) => default,
            None => match self.catalog.user_type(column.typed.ty).map(|user| &user.kind) {
                Some(UserTypeKind::Domain { default: Some(default), .. }) => default,
                // It may not like NULL.
                Some(UserTypeKind::Domain { .. }) => {
                    let null = Expr::constant(Datum::Null, crate::types::Type::UNKNOWN);
                    return self.assign(null, column.typed, &column.name).map(Some);
                }
                _ => return Ok(None),
            },
        };
        self.assign(current::expr(default, self.catalog), column.typed, &column.name).map(Some)
    }

    /// The word DEFAULT for a column: what it gets, NULL for no default.
    fn default_or_null(&mut self, target: Target<'a>, at: usize) -> Result<Expr> {
        let column = &target.table.columns[at];
        if self.storing {
            return Ok(Expr { kind: ExprKind::Default(DefaultOf::Column(target.oid(), at)), typed: column.typed });
        }
        let default = self.column_default(column)?;
        Ok(default.unwrap_or(Expr { kind: ExprKind::Const(Datum::Null), typed: column.typed }))
    }
}
