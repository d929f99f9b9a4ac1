//! Rows: `ROW(…)`, and fields of records.

use std::sync::Arc;

use crate::parse::ast;

use crate::bind::Binder;
use crate::bind::names::fold;
use crate::catalog::{ParameterMode, Returns, UserFunction};
use crate::error::{Result, SqlError, SqlState};
use crate::functions::Body;
use crate::functions::resolve::{self, Call};
use crate::ir::{Expr, ExprKind, Plan, Query, SubqueryKind};
use crate::types::{RecordShape, Type, Typed};

/// Names and types of fields.
pub(in crate::bind) type Fields = Vec<(Arc<str>, Typed)>;

/// The expression that a query's column comes from.
fn made_of(plan: &Plan, at: usize) -> Option<&Expr> {
    match plan {
        Plan::Sort { input, .. } | Plan::With { input, .. } => made_of(input, at),
        Plan::Limit(limit) => made_of(&limit.input, at),
        Plan::Project { input, columns } => {
            let made = columns.get(at)?;
            match (&made.kind, &**input) {
                // Set-returning functions are worked out below.
                (ExprKind::Column(column), Plan::ProjectSet { calls, .. }) => {
                    calls.get(column.column).filter(|call| call.ty() == made.ty()).or(Some(made))
                }
                _ => Some(made),
            }
        }
        _ => None,
    }
}

impl Binder<'_> {
    /// `(a, b)`, `ROW(a, b)`
    pub(super) fn row<'e>(&mut self, fields: impl IntoIterator<Item = &'e ast::Expr>) -> Result<Expr> {
        let mut bound = Vec::new();
        for field in fields {
            // `ROW(t.*)` has the columns of t as its fields.
            match field {
                ast::Expr::QualifiedWildcard(name) => bound.extend(self.all_of(name)?),
                other => bound.push(self.expr(other)?),
            }
        }
        let shape = Arc::new(RecordShape::row(bound.iter().map(|field| field.typed)));
        Ok(Expr::new(ExprKind::MakeRow { fields: bound, shape }, Type::RECORD))
    }

    /// `(record).field`
    pub(super) fn field(&mut self, value: Expr, ident: &ast::Ident) -> Result<Expr> {
        let name = fold(ident);
        let Some(fields) = self.fields_of(&value) else {
            let ty = self.type_name(value.ty());
            let error = if value.ty() == Type::RECORD {
                let message = format!("could not identify column \"{name}\" in record data type");
                SqlError::new(SqlState::UNDEFINED_COLUMN, message)
            } else {
                let message = format!("column notation .{name} applied to type {ty}, which is not a composite type");
                SqlError::new(SqlState::WRONG_OBJECT_TYPE, message)
            };
            return Err(self.at(ident.span, error));
        };
        let Some(index) = fields.iter().position(|(known, _)| **known == *name) else {
            if let Some(computed) = self.function_of_row(&name, &value)? {
                return Ok(computed);
            }
            let ty = self.type_name(value.ty());
            let message = if value.ty() == Type::RECORD {
                format!("could not identify column \"{name}\" in record data type")
            } else {
                format!("column \"{name}\" not found in data type {ty}")
            };
            return Err(self.at(ident.span, SqlError::new(SqlState::UNDEFINED_COLUMN, message)));
        };
        let typed = fields[index].1;
        // A field of a row in FROM is that column, and nothing else of the row is looked at.
        if let ExprKind::Row { up, slot, .. } = value.kind
            && let Some(column) = self.row_column(up, slot, index)
        {
            return Ok(column);
        }
        Ok(Expr { kind: ExprKind::Field { arg: Box::new(value), index }, typed })
    }

    /// `row.name` where the row has no such column: the function of this name that takes the row.
    pub(super) fn function_of_row(&mut self, name: &str, row: &Expr) -> Result<Option<Expr>> {
        if row.ty() == Type::RECORD || self.composite_fields(row.ty()).is_none() {
            return Ok(None);
        }
        match resolve::function(&Call::new(name, &[row.ty()]), self.names()) {
            Ok(_) => self.call_named(name, vec![row.clone()]).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// The column of this name of a row, for `name(row)`.
    pub(super) fn column_of_row(&mut self, name: &str, args: &[Expr]) -> Result<Option<Expr>> {
        let [row] = args else { return Ok(None) };
        let has = self.fields_of(row).is_some_and(|fields| fields.iter().any(|(known, _)| **known == *name));
        if !has {
            return Ok(None);
        }
        self.field(row.clone(), &ast::Ident { quoted: true, ..ast::Ident::new(name) }).map(Some)
    }

    /// A column of the item in this slot.
    fn row_column(&self, up: usize, slot: usize, index: usize) -> Option<Expr> {
        let frame = &self.frames[self.frames.len().checked_sub(up + 1)?];
        let item = frame.items.iter().find(|item| item.slot == Some(slot))?;
        let mut column = item.all().into_iter().nth(index)?.expr;
        column.lift(0, up);
        Some(column)
    }

    /// All fields of a record, for `(record).*`.
    pub(in crate::bind) fn all_fields(&mut self, value: &Expr) -> Result<Vec<(Arc<str>, Expr)>> {
        let Some(fields) = self.fields_of(value) else {
            let message = format!("type {} is not composite", self.type_name(value.ty()));
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        };
        if let ExprKind::Row { up, slot, .. } = value.kind {
            let column =
                |(index, (name, _)): (usize, (Arc<str>, Typed))| Some((name, self.row_column(up, slot, index)?));
            if let Some(columns) = fields.iter().cloned().enumerate().map(column).collect() {
                return Ok(columns);
            }
        }
        let field = |(index, (name, typed)): (usize, (Arc<str>, Typed))| {
            let kind = ExprKind::Field { arg: Box::new(value.clone()), index };
            (name, Expr { kind, typed })
        };
        Ok(fields.into_iter().enumerate().map(field).collect())
    }

    /// The fields of a value, if they are known.
    pub(in crate::bind) fn fields_of(&self, value: &Expr) -> Option<Fields> {
        match &value.kind {
            ExprKind::MakeRow { shape, .. } | ExprKind::Row { shape, .. } => Some(shape.fields.clone()),
            ExprKind::UserCall { function, .. } => self.result_fields(function),
            ExprKind::Call { function, args } => match &function.body {
                Body::Set { columns, .. } if !columns.is_empty() => {
                    let types: Vec<Type> = args.iter().map(Expr::ty).collect();
                    Some(function.columns(&types, self.catalog))
                }
                _ => self.composite_fields(value.ty()),
            },
            ExprKind::Subquery { kind: SubqueryKind::Scalar, query } if value.ty() == Type::RECORD => {
                match &query.plan {
                    Plan::Project { columns, .. } => self.fields_of(columns.first()?),
                    _ => None,
                }
            }
            ExprKind::Column(column) if column.up == 0 && column.slot == crate::bind::block::SETS => {
                let call = self.frames.last()?.block.sets.get(column.column)?;
                self.fields_of(call)
            }
            ExprKind::Column(column) if value.ty() == Type::RECORD => {
                let frame = self.frames.get(self.frames.len().checked_sub(column.up + 1)?)?;
                let item = frame.items.iter().find(|item| item.slot == Some(column.slot))?;
                item.records.iter().find(|(at, _)| *at == column.column).map(|(_, fields)| fields.clone())
            }
            _ => self.composite_fields(crate::types::kind::base(value.typed, self.catalog).ty),
        }
    }

    /// The fields of the columns of a query that are records without a name, where they are known.
    pub(in crate::bind) fn record_columns(&self, query: &Query) -> Vec<(usize, Fields)> {
        let records = query.columns.iter().enumerate().filter(|(_, column)| column.typed.ty == Type::RECORD);
        let fields = |(at, _)| Some((at, self.fields_of(made_of(&query.plan, at)?)?));
        records.filter_map(fields).collect()
    }

    /// The fields that a user's function returns: those of its type, or its OUT parameters.
    pub(in crate::bind) fn result_fields(&self, function: &UserFunction) -> Option<Fields> {
        let outs = function.parameters.iter().filter(|parameter| {
            matches!(parameter.mode, ParameterMode::Out | ParameterMode::InOut | ParameterMode::Table)
        });
        let named = |(at, parameter): (usize, &crate::catalog::Parameter)| {
            let name = parameter.name.clone().unwrap_or_else(|| format!("column{}", at + 1).into());
            (name, parameter.typed)
        };
        let outs: Fields = outs.enumerate().map(named).collect();
        match &function.returns {
            Returns::One(typed) | Returns::Set(typed) if typed.ty != Type::RECORD => self.composite_fields(typed.ty),
            _ if outs.len() > 1 => Some(outs),
            _ => None,
        }
    }
}
