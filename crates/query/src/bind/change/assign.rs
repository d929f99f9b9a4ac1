//! `SET column = value`, of UPDATE, ON CONFLICT and MERGE.

use std::sync::Arc;

use crate::parse::ast::{self, AccessExpr, AssignmentTarget};

use crate::bind::Binder;
use crate::bind::block::Clause;
use crate::bind::change::Target;
use crate::bind::coerce::Coercion;
use crate::bind::expr::{peel, row_fields};
use crate::bind::names::fold;
use crate::catalog::{Column, Generation};
use crate::error::{Result, SqlError, SqlState};
use crate::ir::{Assignment, ColumnRef, Expr, ExprKind, Subscript};
use crate::types::{RecordShape, Type, Typed, kind};

impl<'a> Binder<'a> {
    /// Assignments to columns of the table whose row is in slot 0.
    pub(super) fn assignments(&mut self, list: &[ast::Assignment], target: Target<'a>) -> Result<Vec<Assignment>> {
        let mut assignments = Vec::with_capacity(list.len());
        for assignment in list {
            self.within(Clause::Update, |binder| binder.assignment(assignment, target, &mut assignments))?;
        }
        Ok(assignments)
    }

    fn assignment(
        &mut self,
        assignment: &ast::Assignment,
        target: Target<'a>,
        list: &mut Vec<Assignment>,
    ) -> Result<()> {
        let mut columns = Vec::new();
        for ident in assignment.target.columns() {
            columns.push((target.column(ident, self)?, ident));
        }
        if let AssignmentTarget::Column { part, .. } = &assignment.target {
            let (column, ident) = columns[0];
            if !part.is_empty() {
                return self.part(column, part, &assignment.value, target, list);
            }
            // It is worked out anyway.
            if is_default(&assignment.value) && target.table.columns[column].generation == Generation::Stored {
                return Ok(());
            }
            let value = self.new_value(&assignment.value, target, column)?;
            return self.put(column, ident, value, target, list);
        }
        let values = self.row_values(&assignment.value, &columns, target)?;
        for ((column, ident), value) in columns.into_iter().zip(values) {
            self.put(column, ident, value, target, list)?;
        }
        Ok(())
    }

    fn put(
        &mut self,
        column: usize,
        ident: &ast::Ident,
        value: Expr,
        target: Target<'a>,
        list: &mut Vec<Assignment>,
    ) -> Result<()> {
        if list.iter().any(|known| known.column == column) {
            let message = format!("multiple assignments to same column \"{}\"", target.table.columns[column].name);
            return Err(self.at(ident.span, SqlError::syntax(message)));
        }
        list.push(Assignment { column, value });
        Ok(())
    }

    /// The value for a column, DEFAULT included.
    pub(super) fn new_value(&mut self, expr: &ast::Expr, target: Target<'a>, at: usize) -> Result<Expr> {
        if is_default(expr) {
            return self.default_or_null(target, at);
        }
        let column = &target.table.columns[at];
        check_generated(column)?;
        let bound = self.expr(expr)?;
        self.assign(bound, column.typed, &column.name).map_err(|error| self.at_expr(expr, error))
    }

    /// `(a, b) = (1, 2)`, `(a, b) = (SELECT …)`
    fn row_values(
        &mut self,
        expr: &ast::Expr,
        columns: &[(usize, &ast::Ident)],
        target: Target<'a>,
    ) -> Result<Vec<Expr>> {
        let column = |at: usize| &target.table.columns[columns[at].0];
        if let Some(fields) = row_fields(expr) {
            if fields.len() != columns.len() {
                return Err(SqlError::syntax("number of columns does not match number of values"));
            }
            let values = fields.into_iter().zip(columns);
            return values.map(|(field, (at, _))| self.new_value(field, target, *at)).collect();
        }
        let ast::Expr::Subquery(query) = peel(expr) else {
            let message = "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression";
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        };
        let query = self.subquery(query)?;
        if query.columns.len() != columns.len() {
            return Err(SqlError::syntax("number of columns does not match number of values"));
        }
        let fields = self.fields_of_query(query);
        let mut values = Vec::with_capacity(fields.len());
        for (at, field) in fields.into_iter().enumerate() {
            check_generated(column(at))?;
            values.push(self.assign(field, column(at).typed, &column(at).name)?);
        }
        Ok(values)
    }

    /// `a[1] = x`, `a.f = x`: the column with a part replaced.
    fn part(
        &mut self,
        at: usize,
        places: &[AccessExpr],
        value: &ast::Expr,
        target: Target<'a>,
        list: &mut Vec<Assignment>,
    ) -> Result<()> {
        let column = &target.table.columns[at];
        check_generated(column)?;
        let known = list.iter().position(|known| known.column == at);
        let whole = match known {
            Some(known) => list.remove(known).value,
            None => Expr { kind: ExprKind::Column(ColumnRef { up: 0, slot: 0, column: at }), typed: column.typed },
        };
        let value = self.replaced(whole, places, value, &column.name)?;
        list.push(Assignment { column: at, value });
        Ok(())
    }

    fn replaced(&mut self, whole: Expr, places: &[AccessExpr], value: &ast::Expr, name: &str) -> Result<Expr> {
        let typed = kind::base(whole.typed, self.catalog);
        if typed != whole.typed {
            // What a domain demands is demanded of the whole value.
            let domain = whole.typed;
            let replaced = self.replaced(Expr { kind: whole.kind, typed }, places, value, name)?;
            return self.assign(replaced, domain, name);
        }
        let field = match places.first() {
            Some(AccessExpr::Field(field)) => Some(field),
            _ => None,
        };
        if let Some(field) = field {
            let field = fold(field);
            let Some(fields) = self.composite_fields(typed.ty) else {
                let ty = self.type_name(typed.ty);
                let message = format!(
                    "cannot assign to field \"{field}\" of column \"{name}\" because its type {ty} is not a composite type"
                );
                return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
            };
            let Some(index) = fields.iter().position(|(known, _)| **known == *field) else {
                let ty = self.type_name(typed.ty);
                let message = format!(
                    "cannot assign to field \"{field}\" of column \"{name}\" because there is no such column in data type {ty}"
                );
                return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message));
            };
            let inner = Expr { kind: ExprKind::Field { arg: Box::new(whole.clone()), index }, typed: fields[index].1 };
            let value = Box::new(self.part_value(inner, &places[1..], value, name)?);
            let shape = Arc::new(RecordShape { ty: typed.ty, fields });
            let kind = ExprKind::ReplaceField { arg: Box::new(whole), index, value, shape };
            return Ok(Expr { kind, typed });
        }
        let length = places.iter().take_while(|place| matches!(place, AccessExpr::Subscript(_))).count();
        let (places, inner) = places.split_at(length);
        let Some(element) = kind::element(typed.ty, self.catalog) else {
            if typed.ty == Type::JSONB && inner.is_empty() {
                return self.replaced_json(whole, places, value, name);
            }
            let message =
                format!("cannot subscript type {} because it does not support subscripting", self.type_name(typed.ty));
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
        };
        let indices = self.subscripts(places)?;
        let is_slice = indices.iter().any(|index| matches!(index, Subscript::Slice(..)));
        let wanted = Typed { ty: if is_slice { typed.ty } else { element }, modifier: typed.modifier };
        let value = if inner.is_empty() {
            let bound = self.expr(value)?;
            self.assigned_part(bound, wanted, name)?
        } else {
            let element = ExprKind::Subscript { arg: Box::new(whole.clone()), indices: indices.clone() };
            self.part_value(Expr { kind: element, typed: wanted }, inner, value, name)?
        };
        Ok(Expr { kind: ExprKind::Replace { arg: Box::new(whole), indices, value: Box::new(value) }, typed })
    }

    /// The value for an element of an array or a part of a jsonb.
    fn assigned_part(&mut self, bound: Expr, to: Typed, name: &str) -> Result<Expr> {
        let from = bound.ty();
        self.convert_typed(bound, to, Coercion::Assignment)?.ok_or_else(|| {
            let (to, from) = (self.type_name(to.ty), self.type_name(from));
            let message =
                format!("subscripted assignment to \"{name}\" requires type {to} but expression is of type {from}");
            SqlError::new(SqlState::DATATYPE_MISMATCH, message).hint("You will need to rewrite or cast the expression.")
        })
    }

    fn part_value(&mut self, inner: Expr, places: &[AccessExpr], value: &ast::Expr, name: &str) -> Result<Expr> {
        if !places.is_empty() {
            return self.nested(|binder| binder.replaced(inner, places, value, name));
        }
        let bound = self.expr(value)?;
        self.assign(bound, inner.typed, name)
    }

    /// `j['a'][1] = v`
    fn replaced_json(&mut self, whole: Expr, places: &[AccessExpr], value: &ast::Expr, name: &str) -> Result<Expr> {
        let typed = whole.typed;
        let mut indices = Vec::with_capacity(places.len());
        for place in places {
            let AccessExpr::Subscript(ast::Subscript::Index { index }) = place else {
                let message = "jsonb subscript does not support slices";
                return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
            };
            indices.push(Subscript::Index(self.json_index(index)?));
        }
        let bound = self.expr(value)?;
        let value = Box::new(self.assigned_part(bound, Type::JSONB.into(), name)?);
        Ok(Expr { kind: ExprKind::Replace { arg: Box::new(whole), indices, value }, typed })
    }
}

/// Whether an expression is the word DEFAULT.
pub(super) fn is_default(expr: &ast::Expr) -> bool {
    matches!(expr, ast::Expr::Default(_))
}

/// Generated columns take nothing but DEFAULT.
fn check_generated(column: &Column) -> Result<()> {
    let detail = match column.generation {
        Generation::Stored => format!("Column \"{}\" is a generated column.", column.name),
        Generation::IdentityAlways => {
            format!("Column \"{}\" is an identity column defined as GENERATED ALWAYS.", column.name)
        }
        _ => return Ok(()),
    };
    let message = format!("column \"{}\" can only be updated to DEFAULT", column.name);
    Err(SqlError::new(SqlState::GENERATED_ALWAYS, message).detail(detail))
}
