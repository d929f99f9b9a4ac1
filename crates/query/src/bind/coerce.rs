//! Conversions that the binder puts in: literals and parameters take the type that is wanted, other values are cast.

use std::sync::Arc;

use crate::bind::Binder;
use crate::catalog::UserTypeKind;
use crate::error::{Result, SqlError, SqlState};
use crate::functions::resolve;
use crate::ir::{Expr, ExprKind};
use crate::types::cast::{self, CastContext};
use crate::types::{Datum, RecordShape, Type, Typed, kind, text};

/// How much of a conversion is asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Coercion {
    /// Nothing is written: only what loses nothing.
    Implicit,
    /// A column or variable gets the value.
    Assignment,
    /// A cast is written.
    Explicit,
}

impl Binder<'_> {
    /// The expression as one of this type, or `None` if there is no such conversion.
    pub(super) fn convert(&mut self, expr: Expr, to: Type, how: Coercion) -> Result<Option<Expr>> {
        let from = expr.ty();
        if from == to || to == Type::ANY || kind::is_polymorphic(to) {
            return Ok(Some(expr));
        }
        if kind::is_domain(to, self.catalog) {
            // What the domains below demand is checked together with this one.
            let base = kind::base(to.into(), self.catalog);
            let Some(below) = self.convert_typed(expr, base, how)? else { return Ok(None) };
            return Ok(Some(cast(below, to.into(), how)));
        }
        if from == Type::UNKNOWN {
            return self.convert_unknown(expr, to, how).map(Some);
        }
        if let Some(fields) = self.composite_fields(to)
            && from == Type::RECORD
        {
            return self.convert_row(expr, to, fields, how);
        }
        let allowed = match cast::context(kind::base(from.into(), self.catalog).ty, to, self.catalog) {
            Some(CastContext::Implicit) => true,
            Some(CastContext::Assignment) => how >= Coercion::Assignment,
            Some(CastContext::Explicit) => how == Coercion::Explicit,
            None => kind::base(from.into(), self.catalog).ty == to || self.is_row_to_record(from, to),
        };
        Ok(allowed.then(|| cast(expr, to.into(), how)))
    }

    fn is_row_to_record(&self, from: Type, to: Type) -> bool {
        to == Type::RECORD && kind::is_composite(from, self.catalog)
    }

    /// The same, with a modifier: the value is cut, rounded or checked as it says.
    pub(super) fn convert_typed(&mut self, expr: Expr, to: Typed, how: Coercion) -> Result<Option<Expr>> {
        if to.ty == Type::INTERVAL
            && to.modifier >= 0
            && expr.ty() == Type::UNKNOWN
            && let ExprKind::Const(Datum::Text(literal)) = &expr.kind
        {
            // The fields that are named decide how the text is read.
            let value = text::input(literal, to, self.env)?;
            return Ok(Some(Expr { kind: ExprKind::Const(value), typed: to }));
        }
        let is_integer = matches!(kind::base(expr.ty().into(), self.catalog).ty, Type::INT4 | Type::INT8);
        let Some(mut converted) = self.convert(expr, to.ty, how)? else { return Ok(None) };
        if is_integer && to.ty == Type::BIT {
            // The length says which bits of the number there are.
            converted.typed = to;
        }
        if to.modifier < 0 || converted.typed.modifier == to.modifier {
            return Ok(Some(converted));
        }
        Ok(Some(cast(converted, to, how)))
    }

    /// A literal is read as the type that is wanted; a parameter gets it.
    fn convert_unknown(&mut self, expr: Expr, to: Type, how: Coercion) -> Result<Expr> {
        match expr.kind {
            ExprKind::Const(Datum::Null) => Ok(Expr::constant(Datum::Null, to)),
            ExprKind::Const(Datum::Text(literal)) => {
                if to == Type::UNKNOWN {
                    return Ok(Expr::constant(Datum::Text(literal), to));
                }
                let read = Expr::constant(text::input(&literal, to.into(), self.env)?, to);
                // Domains in it are checked when the statement runs.
                Ok(if kind::holds_domain(to, self.catalog) { cast(read, to.into(), how) } else { read })
            }
            ExprKind::Param(number) => {
                self.params.infer(number, to, self.catalog)?;
                let param = Expr::new(ExprKind::Param(number), to);
                Ok(if kind::holds_domain(to, self.catalog) { cast(param, to.into(), how) } else { param })
            }
            kind => Ok(cast(Expr { kind, typed: expr.typed }, to.into(), how)),
        }
    }

    /// `ROW(…)` as a named row type: field by field.
    fn convert_row(
        &mut self,
        expr: Expr,
        to: Type,
        target: Vec<(Arc<str>, Typed)>,
        how: Coercion,
    ) -> Result<Option<Expr>> {
        let ExprKind::MakeRow { fields, .. } = expr.kind else {
            return Ok(Some(cast(expr, to.into(), how)));
        };
        if fields.len() != target.len() {
            let detail = if fields.len() < target.len() { "few" } else { "many" };
            let message = format!("cannot cast type record to {}", self.type_name(to));
            let error = SqlError::new(SqlState::CANNOT_COERCE, message);
            return Err(error.detail(format!("Input has too {detail} columns.")));
        }
        let mut converted = Vec::with_capacity(fields.len());
        for (field, (_, typed)) in fields.into_iter().zip(&target) {
            let Some(field) = self.convert_typed(field, *typed, how)? else { return Ok(None) };
            converted.push(field);
        }
        let shape = Arc::new(RecordShape { ty: to, fields: target });
        Ok(Some(Expr::new(ExprKind::MakeRow { fields: converted, shape }, to)))
    }

    /// The fields of a named row type.
    pub(super) fn composite_fields(&self, ty: Type) -> Option<Vec<(Arc<str>, Typed)>> {
        match &self.catalog.user_type(ty)?.kind {
            UserTypeKind::Composite(fields) => Some(fields.clone()),
            _ => None,
        }
    }

    /// A conversion that was found to exist.
    pub(super) fn implicit(&mut self, expr: Expr, to: Type) -> Result<Expr> {
        let from = expr.ty();
        self.convert(expr, to, Coercion::Implicit)?.ok_or_else(|| self.no_cast(from, to))
    }

    /// `expr::type`
    pub(super) fn explicit(&mut self, expr: Expr, to: Typed) -> Result<Expr> {
        let from = expr.ty();
        self.convert_typed(expr, to, Coercion::Explicit)?.ok_or_else(|| self.no_cast(from, to.ty))
    }

    /// The value of a column (or a variable) of this name and type.
    pub(super) fn assign(&mut self, expr: Expr, to: Typed, column: &str) -> Result<Expr> {
        let from = expr.ty();
        self.convert_typed(expr, to, Coercion::Assignment)?.ok_or_else(|| {
            let (to, from) = (self.type_name(to.ty), self.type_name(from));
            let message = format!("column \"{column}\" is of type {to} but expression is of type {from}");
            SqlError::new(SqlState::DATATYPE_MISMATCH, message).hint("You will need to rewrite or cast the expression.")
        })
    }

    fn no_cast(&self, from: Type, to: Type) -> SqlError {
        let message = format!("cannot cast type {} to {}", self.type_name(from), self.type_name(to));
        SqlError::new(SqlState::CANNOT_COERCE, message)
    }

    /// A condition: `what` is where it stands, as messages call it.
    pub(super) fn boolean(&mut self, expr: Expr, what: &str) -> Result<Expr> {
        self.must_be(expr, Type::BOOL, what)
    }

    /// An expression that must be of this type where it stands.
    pub(super) fn must_be(&mut self, expr: Expr, ty: Type, what: &str) -> Result<Expr> {
        let from = expr.ty();
        if from == ty {
            return Ok(expr);
        }
        self.convert(expr, ty, Coercion::Assignment)?.ok_or_else(|| {
            let (wanted, got) = (self.type_name(ty), self.type_name(from));
            let message = format!("argument of {what} must be type {wanted}, not type {got}");
            SqlError::new(SqlState::DATATYPE_MISMATCH, message)
        })
    }

    /// These expressions as one type; `context` (`CASE`, `COALESCE`, …) is for the error.
    pub(super) fn unify(&mut self, exprs: Vec<Expr>, context: &str) -> Result<(Vec<Expr>, Type)> {
        let ty = self.common_type(&exprs, context)?;
        let mut converted = Vec::with_capacity(exprs.len());
        for expr in exprs {
            converted.push(self.unified(expr, ty, context)?);
        }
        Ok((converted, ty))
    }

    pub(super) fn common_type(&self, exprs: &[Expr], context: &str) -> Result<Type> {
        let types: Vec<Type> = exprs.iter().map(Expr::ty).collect();
        resolve::common_type(context, &types, self.catalog)
    }

    pub(super) fn unified(&mut self, expr: Expr, ty: Type, context: &str) -> Result<Expr> {
        let from = expr.ty();
        self.convert(expr, ty, Coercion::Implicit)?.ok_or_else(|| {
            let message =
                format!("{context} could not convert type {} to {}", self.type_name(from), self.type_name(ty));
            SqlError::new(SqlState::CANNOT_COERCE, message)
        })
    }

    /// What is still unknown becomes text.
    pub(super) fn settle(&mut self, expr: Expr) -> Result<Expr> {
        match expr.ty() {
            Type::UNKNOWN => self.convert_unknown(expr, Type::TEXT, Coercion::Implicit),
            _ => Ok(expr),
        }
    }
}

fn cast(arg: Expr, to: Typed, how: Coercion) -> Expr {
    Expr { kind: ExprKind::Cast { arg: Box::new(arg), explicit: how == Coercion::Explicit }, typed: to }
}
