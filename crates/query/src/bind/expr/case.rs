//! CASE, COALESCE, NULLIF, GREATEST, LEAST.

use crate::parse::ast;

use crate::bind::Binder;
use crate::bind::collation::Needs;
use crate::error::{Result, SqlError, SqlState};
use crate::ir::current::is_simple;
use crate::ir::{Expr, ExprKind};
use crate::types::Type;

impl Binder<'_> {
    /// CASE, with and without operand.
    pub(super) fn case(
        &mut self,
        operand: Option<&ast::Expr>,
        conditions: &[ast::CaseWhen],
        otherwise: Option<&ast::Expr>,
    ) -> Result<Expr> {
        let operand = match operand {
            Some(operand) => {
                let bound = self.expr(operand)?;
                Some(self.settle(bound)?)
            }
            None => None,
        };
        let mut tests = Vec::with_capacity(conditions.len());
        let mut results = Vec::with_capacity(conditions.len() + 1);
        for when in conditions {
            let test = self.expr(&when.condition)?;
            let test = match &operand {
                Some(operand) => self.operator("=", Some(self.stand_in(operand)), test)?,
                None => test,
            };
            tests.push(self.boolean(test, "CASE/WHEN")?);
            results.push(self.expr(&when.result)?);
        }
        // ELSE is asked first for the common type.
        let has_otherwise = otherwise.is_some();
        let otherwise = match otherwise {
            Some(otherwise) => self.expr(otherwise)?,
            None => Expr::constant(crate::types::Datum::Null, Type::UNKNOWN),
        };
        results.insert(0, otherwise);
        let modifier = common_modifier(&results);
        let (mut results, ty) = self.unify(results, "CASE")?;
        let otherwise = results.remove(0);
        let otherwise = has_otherwise.then(|| Box::new(otherwise));
        let branches = tests.into_iter().zip(results).collect();
        let operand = operand.filter(|operand| self.storing || !is_simple(operand)).map(Box::new);
        let mut case = Expr::new(ExprKind::Case { operand, branches, otherwise }, ty);
        case.typed.modifier = modifier;
        Ok(case)
    }

    /// Binds what decides by itself what is evaluated: a set-returning function in it would be evaluated anyway.
    pub(super) fn without_sets<T>(&mut self, label: &str, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = self.frame().block.sets.len();
        let bound = bind(self)?;
        if self.frame().block.sets.len() == before {
            return Ok(bound);
        }
        let message = format!("set-returning functions are not allowed in {label}");
        let hint = "You might be able to move the set-returning function into a LATERAL FROM item.";
        Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).hint(hint))
    }

    /// What looks like a function but is not: COALESCE and its kin, if it is one of them.
    pub(super) fn conditional(&mut self, name: &str, args: &[&ast::Expr]) -> Result<Option<Expr>> {
        let expr = match name {
            "coalesce" => {
                let (args, ty, modifier) =
                    self.without_sets("COALESCE", |binder| binder.same_type(args, "COALESCE"))?;
                with_modifier(Expr::new(ExprKind::Coalesce(args), ty), modifier)
            }
            "greatest" | "least" => {
                let greatest = name == "greatest";
                let (args, ty, modifier) = self.same_type(args, if greatest { "GREATEST" } else { "LEAST" })?;
                self.find_operator("<", ty, ty)?;
                self.must_be_bytes(&args.iter().collect::<Vec<_>>(), Needs::Order, "GREATEST and LEAST")?;
                with_modifier(Expr::new(ExprKind::Extreme { args, greatest }, ty), modifier)
            }
            "nullif" => match args {
                [left, right] => self.null_if(left, right)?,
                _ => return Err(SqlError::syntax("NULLIF takes two arguments")),
            },
            _ => return Ok(None),
        };
        Ok(Some(expr))
    }

    fn same_type(&mut self, args: &[&ast::Expr], context: &str) -> Result<(Vec<Expr>, Type, i32)> {
        let bound = self.exprs(args.iter().copied())?;
        let modifier = common_modifier(&bound);
        let (args, ty) = self.unify(bound, context)?;
        Ok((args, ty, modifier))
    }

    fn null_if(&mut self, left: &ast::Expr, right: &ast::Expr) -> Result<Expr> {
        let left = self.expr(left)?;
        let right = self.expr(right)?;
        let comparison = self.find_operator("=", left.ty(), right.ty())?;
        let value = self.implicit(left, comparison.left)?;
        let right = self.implicit(right, comparison.right)?;
        let args = vec![Expr { kind: ExprKind::Operand, typed: value.typed }, right];
        let equal = Expr::new(ExprKind::Call { function: comparison.function, args }, Type::BOOL);
        let typed = value.typed;
        Ok(Expr { kind: ExprKind::NullIf { value: Box::new(value), equal: Box::new(equal) }, typed })
    }

    /// What stands for the operand in the conditions: the operand itself where it costs nothing to look at it again. The
    /// catalog keeps what was written.
    fn stand_in(&self, operand: &Expr) -> Expr {
        match is_simple(operand) && !self.storing {
            true => operand.clone(),
            false => Expr { kind: ExprKind::Operand, typed: operand.typed },
        }
    }
}

/// The modifier that all have, if they are of one type.
fn common_modifier(exprs: &[Expr]) -> i32 {
    let first = exprs.first().map(|expr| expr.typed);
    match first {
        Some(typed) if exprs.iter().all(|expr| expr.typed == typed) => typed.modifier,
        _ => -1,
    }
}

fn with_modifier(mut expr: Expr, modifier: i32) -> Expr {
    expr.typed.modifier = modifier;
    expr
}
