//! Stored expressions and queries as they are used: brought up to date with a catalog.
//!
//! What the catalog keeps ([`crate::catalog::StoredExpr`], [`crate::catalog::StoredQuery`]) names objects by number. Here
//! views become their queries (so that a view that was replaced is replaced in every view above it), users' functions what
//! they are now, and rows of tables have the columns that they have now.

use std::sync::Arc;

use super::walk::edit;
use super::{Access, Change, DefaultOf, Expr, ExprKind, Insert, Plan, Query, Scan, Stored, SubqueryKind};
use crate::budget::{self, Share};
use crate::catalog::{Catalog, Generation, Oid, RelationKind, StoredExpr, StoredQuery, UserTypeKind};
use crate::error::{Result, SqlError, SqlState};
use crate::functions::collate::MARK as COLLATE_MARK;
use crate::types::{Datum, RecordShape, Typed};

/// The expression.
pub fn expr(stored: &StoredExpr, catalog: &Catalog) -> Expr {
    let mut expr = stored.expr.clone();
    let mut now = Current { catalog, views: Vec::new(), first_cte: 0, next_cte: 0 };
    now.expr(&mut expr).expect("an expression without a view below has no view below itself");
    expr
}

/// The query of a view; its common table expressions have the numbers from `next_cte` on, which moves on.
pub fn view(view: Oid, catalog: &Catalog, next_cte: &mut usize) -> Result<Query> {
    let mut now = Current { catalog, views: Vec::new(), first_cte: 0, next_cte: *next_cte };
    let query = now.view(view)?;
    *next_cte = now.next_cte;
    Ok(query)
}

/// An expression of a view's query, with numbers from `next_cte` on.
pub fn part(expr: &Expr, of: &StoredQuery, catalog: &Catalog, next_cte: &mut usize) -> Result<Expr> {
    let mut now = Current { catalog, views: Vec::new(), first_cte: *next_cte, next_cte: *next_cte + of.ctes };
    let mut expr = expr.clone();
    now.expr(&mut expr)?;
    *next_cte = now.next_cte;
    Ok(expr)
}

/// A query that is no view's, with numbers from `next_cte` on.
pub fn query(stored: &StoredQuery, catalog: &Catalog, next_cte: &mut usize) -> Result<Query> {
    let mut now = Current { catalog, views: Vec::new(), first_cte: 0, next_cte: *next_cte };
    let query = now.query(stored)?;
    *next_cte = now.next_cte;
    Ok(query)
}

struct Current<'a> {
    catalog: &'a Catalog,
    /// The views whose queries this is within.
    views: Vec<Oid>,
    /// What the first common table expression of the stored query is called now.
    first_cte: usize,
    next_cte: usize,
}

impl Current<'_> {
    fn view(&mut self, oid: Oid) -> Result<Query> {
        let Some(relation) = self.catalog.relation(oid) else {
            let message = format!("could not open relation with OID {oid}");
            return Err(SqlError::new(SqlState::UNDEFINED_TABLE, message));
        };
        let RelationKind::View(view) = &relation.kind else {
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{}\" is not a view", relation.name)));
        };
        if self.views.contains(&oid) {
            let message = format!("infinite recursion detected in rules for relation \"{}\"", relation.name);
            return Err(SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message));
        }
        budget::deeper(Share::Trees)?;
        self.views.push(oid);
        let query = self.query(&view.query);
        self.views.pop();
        let mut query = query?;
        for (column, (name, typed)) in query.columns.iter_mut().zip(&view.columns) {
            column.name = name.clone();
            if column.typed.ty == typed.ty {
                column.typed = *typed;
            }
        }
        Ok(query)
    }

    fn query(&mut self, stored: &StoredQuery) -> Result<Query> {
        let outer = std::mem::replace(&mut self.first_cte, self.next_cte);
        self.next_cte += stored.ctes;
        let mut query = stored.query.clone();
        let result = self.plan(&mut query.plan);
        self.first_cte = outer;
        result.map(|()| query)
    }

    fn plan(&mut self, plan: &mut Plan) -> Result<()> {
        while let Plan::Stored(stored) = plan {
            *plan = match std::mem::replace(&mut **stored, Stored::View(0)) {
                Stored::Item { input, .. } | Stored::Using { input, .. } | Stored::Listed(input) => input,
                Stored::View(oid) => {
                    *plan = self.relation(oid)?;
                    return Ok(());
                }
            };
        }
        match plan {
            Plan::Cte { cte } => *cte += self.first_cte,
            Plan::With { ctes, .. } => {
                ctes.iter_mut().for_each(|cte| Arc::make_mut(cte).number += self.first_cte);
            }
            Plan::Change(change) => {
                if let Change::Insert(insert) = &mut **change {
                    self.defaults(insert);
                }
            }
            _ => {}
        }
        edit::own(plan, &mut |expr| self.expr(expr))?;
        edit::inputs(plan, &mut |input, _| self.plan(input))
    }

    /// The defaults that the table's columns have now.
    fn defaults(&self, insert: &mut Insert) {
        let Some(table) = self.catalog.table(insert.table) else { return };
        for (at, column) in table.columns.iter().enumerate() {
            let given = insert.columns.contains(&at) || column.dropped || column.generation == Generation::Stored;
            let now = match (column.generation, column.sequence, &column.default) {
                (Generation::IdentityAlways | Generation::IdentityByDefault, Some(sequence), _) => {
                    Some(Expr { kind: ExprKind::NextValue(sequence), typed: column.typed })
                }
                (_, _, default) => default.as_ref().map(|default| default.expr.clone()),
            };
            let Some(now) = now.filter(|_| !given) else { continue };
            match insert.defaults.iter_mut().find(|(known, _)| *known == at) {
                Some((_, value)) => *value = now,
                None => insert.defaults.push((at, now)),
            }
        }
    }

    /// The default that a column or parameter has now.
    fn default_of(&self, of: DefaultOf, typed: Typed) -> Expr {
        let default = match of {
            DefaultOf::Column(table, at) => self.catalog.table(table).and_then(|table| {
                let column = table.columns.get(at)?;
                match (column.generation, column.sequence) {
                    (Generation::IdentityAlways | Generation::IdentityByDefault, Some(sequence)) => {
                        Some(Expr { kind: ExprKind::NextValue(sequence), typed: column.typed })
                    }
                    _ => match (&column.default, self.catalog.user_type(column.typed.ty).map(|user| &user.kind)) {
                        (Some(default), _) => Some(default.expr.clone()),
                        (None, Some(UserTypeKind::Domain { default: Some(default), .. })) => Some(default.expr.clone()),
                        _ => None,
                    },
                }
            }),
            DefaultOf::Parameter(function, at) => self.catalog.functions.get(&function).and_then(|function| {
                let default = function.parameters.get(at)?.default.as_ref()?;
                Some(default.expr.clone())
            }),
        };
        match default {
            None => Expr { kind: ExprKind::Const(Datum::Null), typed },
            Some(value) if value.ty() == typed.ty => value,
            Some(value) => Expr { kind: ExprKind::Cast { arg: Box::new(value), explicit: false }, typed },
        }
    }

    /// What a view's rows are made by.
    fn relation(&mut self, oid: Oid) -> Result<Plan> {
        let rows = self.catalog.relation(oid).and_then(|relation| match &relation.kind {
            RelationKind::View(view) => view.materialized,
            _ => None,
        });
        match rows {
            Some(table) => {
                Ok(Plan::Scan(Scan { table, access: Access::All, filter: None, reverse: false, seeks: false }))
            }
            None => Ok(Plan::Subquery(Box::new(self.view(oid)?))),
        }
    }

    fn expr(&mut self, expr: &mut Expr) -> Result<()> {
        match &mut expr.kind {
            ExprKind::UserCall { function, .. } => {
                if let Some(now) = self.catalog.functions.get(&function.oid) {
                    *function = now.clone();
                }
            }
            ExprKind::Default(of) => {
                let mut value = self.default_of(*of, expr.typed);
                self.expr(&mut value)?;
                *expr = value;
                return Ok(());
            }
            // How a call was written matters where it is shown only.
            ExprKind::Call { function, args } if function.is_written() || function.name == COLLATE_MARK => {
                *expr = args.swap_remove(0);
                return self.expr(expr);
            }
            // An operand that costs nothing stands in the comparisons themselves, as in every other statement.
            ExprKind::Case { operand, branches, .. } if operand.as_ref().is_some_and(|operand| is_simple(operand)) => {
                let operand = operand.take().expect("it was looked at");
                branches.iter_mut().for_each(|(condition, _)| put_operand(condition, &operand));
            }
            ExprKind::Row { shape, .. } | ExprKind::MakeRow { shape, .. } | ExprKind::ReplaceField { shape, .. } => {
                self.shape(shape)
            }
            ExprKind::Subquery { kind, query } => {
                let query = Arc::make_mut(query);
                if matches!(kind, SubqueryKind::Exists) {
                    query.without_result();
                }
                self.plan(&mut query.plan)?;
            }
            _ => {}
        }
        edit::parts(expr, &mut |part| self.expr(part))
    }

    fn shape(&self, shape: &mut Arc<RecordShape>) {
        if let Some(UserTypeKind::Composite(fields)) = self.catalog.user_type(shape.ty).map(|user| &user.kind)
            && *fields != shape.fields
        {
            *shape = Arc::new(RecordShape { ty: shape.ty, fields: fields.clone() });
        }
    }
}

/// Whether the operand of a CASE may be worked out again for each WHEN.
pub(crate) fn is_simple(operand: &Expr) -> bool {
    matches!(operand.kind, ExprKind::Column(_) | ExprKind::Const(_) | ExprKind::Param(_) | ExprKind::Variable(_))
}

/// Puts the operand of a CASE into a condition of it.
fn put_operand(condition: &mut Expr, operand: &Expr) {
    match &mut condition.kind {
        ExprKind::Operand => condition.kind = operand.kind.clone(),
        // There the operand is another one, but for what it is made of.
        ExprKind::Case { operand: Some(inner), .. } | ExprKind::NullIf { value: inner, .. } => {
            put_operand(inner, operand)
        }
        _ => edit::parts(condition, &mut |part| {
            put_operand(part, operand);
            Ok(())
        })
        .expect("replacing does not fail"),
    }
}
