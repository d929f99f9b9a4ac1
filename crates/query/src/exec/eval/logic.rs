//! Three-valued logic and conditionals.

use crate::error::Result;
use crate::exec::keys;
use crate::exec::{Context, Run, Tuple};
use crate::ir::Expr;
use crate::types::Datum;

impl<'p> Run<'p> {
    pub(super) fn and(&mut self, cx: &mut dyn Context, args: &'p [Expr], tuple: &Tuple) -> Result<Datum> {
        self.connective(cx, args, tuple, false)
    }

    pub(super) fn or(&mut self, cx: &mut dyn Context, args: &'p [Expr], tuple: &Tuple) -> Result<Datum> {
        self.connective(cx, args, tuple, true)
    }

    /// AND is decided by a false one, OR by a true one; what comes after is not looked at.
    fn connective(&mut self, cx: &mut dyn Context, args: &'p [Expr], tuple: &Tuple, decisive: bool) -> Result<Datum> {
        let mut value = Datum::Bool(!decisive);
        for arg in args {
            match self.eval(cx, arg, tuple)? {
                Datum::Bool(arg) if arg == decisive => return Ok(Datum::Bool(decisive)),
                Datum::Null => value = Datum::Null,
                _ => {}
            }
        }
        Ok(value)
    }

    pub(super) fn not(&mut self, cx: &mut dyn Context, arg: &'p Expr, tuple: &Tuple) -> Result<Datum> {
        Ok(match self.eval(cx, arg, tuple)? {
            Datum::Bool(value) => Datum::Bool(!value),
            _ => Datum::Null,
        })
    }

    /// IS NULL: of a row, all fields are.
    pub(super) fn is_null(&mut self, cx: &mut dyn Context, arg: &'p Expr, tuple: &Tuple) -> Result<Datum> {
        Ok(Datum::Bool(match self.eval(cx, arg, tuple)? {
            Datum::Record(record) => record.fields.iter().all(Datum::is_null),
            value => value.is_null(),
        }))
    }

    /// IS NOT NULL: of a row, no field is.
    pub(super) fn is_not_null(&mut self, cx: &mut dyn Context, arg: &'p Expr, tuple: &Tuple) -> Result<Datum> {
        Ok(Datum::Bool(match self.eval(cx, arg, tuple)? {
            Datum::Record(record) => !record.fields.iter().any(Datum::is_null),
            value => !value.is_null(),
        }))
    }

    pub(super) fn is_bool(
        &mut self,
        cx: &mut dyn Context,
        arg: &'p Expr,
        value: Option<bool>,
        negated: bool,
        tuple: &Tuple,
    ) -> Result<Datum> {
        let is = match (self.eval(cx, arg, tuple)?, value) {
            (Datum::Bool(arg), Some(value)) => arg == value,
            (arg, None) => arg.is_null(),
            _ => false,
        };
        Ok(Datum::Bool(is != negated))
    }

    pub(super) fn is_distinct(
        &mut self,
        cx: &mut dyn Context,
        [left, right]: &'p [Expr; 2],
        negated: bool,
        tuple: &Tuple,
    ) -> Result<Datum> {
        let ty = left.ty();
        let (left, right) = (self.eval(cx, left, tuple)?, self.eval(cx, right, tuple)?);
        let distinct = match (left.is_null(), right.is_null()) {
            (false, false) => keys::compare(&left, &right, ty).is_ne(),
            (left, right) => left != right,
        };
        Ok(Datum::Bool(distinct != negated))
    }

    pub(super) fn case(
        &mut self,
        cx: &mut dyn Context,
        operand: Option<&'p Expr>,
        branches: &'p [(Expr, Expr)],
        otherwise: Option<&'p Expr>,
        tuple: &Tuple,
    ) -> Result<Datum> {
        let mut operand = match operand {
            Some(operand) => Some(self.eval(cx, operand, tuple)?),
            None => None,
        };
        for (condition, value) in branches {
            let holds = match operand.take() {
                Some(value) => {
                    self.operands.push(value);
                    let holds = self.is_true(cx, condition, tuple);
                    operand = self.operands.pop();
                    holds?
                }
                None => self.is_true(cx, condition, tuple)?,
            };
            if holds {
                return self.eval(cx, value, tuple);
            }
        }
        otherwise.map_or(Ok(Datum::Null), |otherwise| self.eval(cx, otherwise, tuple))
    }

    pub(super) fn coalesce(&mut self, cx: &mut dyn Context, args: &'p [Expr], tuple: &Tuple) -> Result<Datum> {
        for arg in args {
            let value = self.eval(cx, arg, tuple)?;
            if !value.is_null() {
                return Ok(value);
            }
        }
        Ok(Datum::Null)
    }

    pub(super) fn null_if(
        &mut self,
        cx: &mut dyn Context,
        value: &'p Expr,
        equal: &'p Expr,
        tuple: &Tuple,
    ) -> Result<Datum> {
        let value = self.eval(cx, value, tuple)?;
        let equal = self.eval_on(cx, equal, tuple, value.clone())?;
        Ok(if matches!(equal, Datum::Bool(true)) { Datum::Null } else { value })
    }

    pub(super) fn extreme(
        &mut self,
        cx: &mut dyn Context,
        args: &'p [Expr],
        greatest: bool,
        tuple: &Tuple,
    ) -> Result<Datum> {
        let mut best = Datum::Null;
        for arg in args {
            let value = self.eval(cx, arg, tuple)?;
            if value.is_null() {
                continue;
            }
            let order = keys::compare(&value, &best, arg.ty());
            if best.is_null() || (if greatest { order.is_gt() } else { order.is_lt() }) {
                best = value;
            }
        }
        Ok(best)
    }
}
