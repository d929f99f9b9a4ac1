//! Expressions.

mod aggregate;
mod array;
mod call;
mod case;
mod column;
mod compare;
mod literal;
mod operator;
pub(in crate::bind) mod record;
mod special;
mod subquery;
mod window;

use crate::parse::ast;

use crate::bind::Binder;
use crate::bind::block::Clause;
use crate::error::{Result, SqlError, SqlState};
use crate::ir::{Expr, ExprKind};
use crate::types::Type;

impl<'a> Binder<'a> {
    /// An expression. Literals and parameters may still be of unknown type.
    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Result<Expr> {
        match expr {
            ast::Expr::Identifier(ident) => self.column(std::slice::from_ref(ident)),
            ast::Expr::CompoundIdentifier(parts) => self.column(parts),
            ast::Expr::Value(value) => self.literal(value),
            other => self.nested(|binder| binder.compound(other)),
        }
    }

    /// An expression that is not a name or a literal.
    fn compound(&mut self, expr: &ast::Expr) -> Result<Expr> {
        use ast::Expr as E;
        match expr {
            E::Nested(inner) => self.expr(inner),
            E::QualifiedWildcard(name) => self.whole_row(name),
            E::BinaryOp { .. } => self.binary(expr),
            E::UnaryOp { op, expr } => self.unary(*op, expr),
            E::Cast { expr, data_type } => self.cast(expr, data_type),
            E::Function(function) => self.function(function),
            E::IsNull(arg) => self.is_null(arg, true),
            E::IsNotNull(arg) => self.is_null(arg, false),
            E::IsTrue(arg) => self.is_bool(arg, Some(true), false),
            E::IsNotTrue(arg) => self.is_bool(arg, Some(true), true),
            E::IsFalse(arg) => self.is_bool(arg, Some(false), false),
            E::IsNotFalse(arg) => self.is_bool(arg, Some(false), true),
            E::IsUnknown(arg) => self.is_bool(arg, None, false),
            E::IsNotUnknown(arg) => self.is_bool(arg, None, true),
            E::IsDistinctFrom(left, right) => self.is_distinct(left, right, false),
            E::IsNotDistinctFrom(left, right) => self.is_distinct(left, right, true),
            E::InList { expr, list, negated } => self.in_list(expr, list, *negated),
            E::Between { expr, negated, low, high } => self.between(expr, *negated, low, high),
            E::InSubquery { expr, subquery, negated } => self.in_subquery(expr, subquery, *negated),
            E::AnyOp { left, compare_op, right, .. } => self.quantified(left, compare_op, right, false),
            E::AllOp { left, compare_op, right } => self.quantified(left, compare_op, right, true),
            E::Exists { subquery, negated } => self.exists(subquery, *negated),
            E::Subquery(query) => self.scalar_subquery(query),
            E::Case { operand, conditions, else_result, .. } => {
                self.without_sets("CASE", |binder| binder.case(operand.as_deref(), conditions, else_result.as_deref()))
            }
            E::Tuple(fields) => self.row(fields),
            E::Array(array) => self.array(&array.elem),
            E::CompoundFieldAccess { root, access_chain } => self.access(root, access_chain),
            other => self.special(other),
        }
    }

    /// An expression of a part of the statement in which other rules hold.
    pub(super) fn expr_in(&mut self, clause: Clause, expr: &ast::Expr) -> Result<Expr> {
        self.within(clause, |binder| binder.expr(expr))
    }

    /// Binds in a part of the statement in which other rules hold.
    pub(super) fn within<T>(&mut self, clause: Clause, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outer = self.frame().block.clause;
        self.frame().block.clause = clause;
        let result = bind(self);
        self.frame().block.clause = outer;
        result
    }

    /// A condition of this part of the statement.
    pub(super) fn condition(&mut self, clause: Clause, expr: &ast::Expr) -> Result<Expr> {
        let what = match clause {
            Clause::On => "JOIN/ON",
            Clause::MergeWhen => "WHEN",
            Clause::Check => "CHECK",
            Clause::IndexPredicate | Clause::CopyWhere => "WHERE",
            Clause::TriggerWhen => "WHEN",
            other => other.label(),
        };
        let bound = self.expr_in(clause, expr)?;
        self.boolean(bound, what)
    }

    /// The tuple that expressions are bound on now.
    pub(super) fn frame(&mut self) -> &mut crate::bind::scope::Frame<'a> {
        self.frames.last_mut().expect("expressions are bound on a tuple, if only an empty one")
    }

    fn is_null(&mut self, arg: &ast::Expr, is: bool) -> Result<Expr> {
        let arg = Box::new(self.expr(arg)?);
        let kind = if is { ExprKind::IsNull(arg) } else { ExprKind::IsNotNull(arg) };
        Ok(Expr::new(kind, Type::BOOL))
    }

    fn is_bool(&mut self, arg: &ast::Expr, value: Option<bool>, negated: bool) -> Result<Expr> {
        let bound = self.expr(arg)?;
        let word = value.map_or("UNKNOWN", |value| if value { "TRUE" } else { "FALSE" });
        let not = if negated { "NOT " } else { "" };
        let arg = Box::new(self.boolean(bound, &format!("IS {not}{word}"))?);
        Ok(Expr::new(ExprKind::IsBool { arg, value, negated }, Type::BOOL))
    }

    /// `expr::type`, `CAST(expr AS type)`
    fn cast(&mut self, expr: &ast::Expr, data_type: &ast::DataType) -> Result<Expr> {
        let typed = self.data_type(data_type)?;
        // The target tells the items of an array constructor (and an empty one) what they are.
        if let ast::Expr::Array(array) = peel(expr)
            && let Some(element) = crate::types::kind::element(typed.ty, self.catalog)
        {
            return self.array_as(&array.elem, typed, element);
        }
        let bound = self.expr(expr)?;
        self.explicit(bound, typed).map_err(|error| self.at_expr(expr, error))
    }

    /// The error, with the place of an expression.
    pub(super) fn at_expr(&self, expr: &ast::Expr, error: SqlError) -> SqlError {
        if error.fields().position.is_some() {
            return error;
        }
        self.at(expr.span(), error)
    }
}

pub(super) use compare::row_fields;

/// Without parentheses around.
pub(super) fn peel(mut expr: &ast::Expr) -> &ast::Expr {
    while let ast::Expr::Nested(inner) = expr {
        expr = inner;
    }
    expr
}

/// A mismatch of types.
pub(super) fn mismatch(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::DATATYPE_MISMATCH, message)
}
