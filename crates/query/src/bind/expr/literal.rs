//! Literals and parameters.

use crate::parse::ast::{Value, ValueWithSpan};

use crate::bind::Binder;
use crate::error::{Result, SqlError, SqlState};
use crate::ir::{Expr, ExprKind};
use crate::types::{Datum, Type, text};

impl Binder<'_> {
    /// A literal: numbers have a type, strings get one where they are used.
    pub(super) fn literal(&mut self, value: &ValueWithSpan) -> Result<Expr> {
        match &value.value {
            Value::Number(digits) => self.number(digits).map_err(|error| self.at(value.span, error)),
            Value::SingleQuotedString(text) => Ok(Expr::constant(Datum::text(text), Type::UNKNOWN)),
            Value::Boolean(value) => Ok(Expr::constant(Datum::Bool(*value), Type::BOOL)),
            Value::Null => Ok(Expr::constant(Datum::Null, Type::UNKNOWN)),
            Value::Placeholder(name) => self.param(name).map_err(|error| self.at(value.span, error)),
            Value::BitString(bits) => self.bits("b", bits),
            Value::HexString(digits) => self.bits("x", digits),
        }
    }

    /// A number as PostgreSQL reads it: the smallest of integer, bigint, numeric that holds it.
    pub(super) fn number(&mut self, digits: &str) -> Result<Expr> {
        match digits.parse::<i64>() {
            Ok(value) if i32::try_from(value).is_ok() => Ok(Expr::constant(Datum::Int(value), Type::INT4)),
            Ok(value) => Ok(Expr::constant(Datum::Int(value), Type::INT8)),
            Err(_) => Ok(Expr::constant(text::input(digits, Type::NUMERIC.into(), self.env)?, Type::NUMERIC)),
        }
    }

    fn bits(&mut self, letter: &str, digits: &str) -> Result<Expr> {
        Ok(Expr::constant(text::input(&format!("{letter}{digits}"), Type::BIT.into(), self.env)?, Type::BIT))
    }

    /// `$1`
    fn param(&mut self, name: &str) -> Result<Expr> {
        let number: Option<usize> = name.strip_prefix('$').and_then(|number| number.parse().ok());
        let Some(number) = number.filter(|number| *number > 0) else {
            let message = format!("there is no parameter {name}");
            return Err(SqlError::new(SqlState::UNDEFINED_PARAMETER, message));
        };
        let ty = self.params.take(number - 1)?;
        Ok(Expr::new(ExprKind::Param(number - 1), ty))
    }
}
