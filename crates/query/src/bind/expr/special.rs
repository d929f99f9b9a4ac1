//! What has a syntax of its own: LIKE, EXTRACT, SUBSTRING, TRIM, AT TIME ZONE, INTERVAL, COLLATE, …

use crate::parse::ast::{self, TrimWhereField};

use crate::bind::Binder;
use crate::error::{Result, SqlError};
use crate::ir::Expr;
use crate::types::{Datum, Type};

impl Binder<'_> {
    pub(super) fn special(&mut self, expr: &ast::Expr) -> Result<Expr> {
        use ast::Expr as E;
        match expr {
            E::Like { negated, expr, pattern, escape_char } => {
                let symbol = if *negated { "!~~" } else { "~~" };
                self.like(symbol, expr, pattern, escape_char.as_deref())
            }
            E::ILike { negated, expr, pattern, escape_char } => {
                let symbol = if *negated { "!~~*" } else { "~~*" };
                self.like(symbol, expr, pattern, escape_char.as_deref())
            }
            E::SimilarTo { negated, expr, pattern, escape_char } => {
                let symbol = if *negated { "!~" } else { "~" };
                self.similar(symbol, expr, pattern, escape_char.as_deref())
            }
            E::AtTimeZone { timestamp, time_zone } => {
                let call = self.call_with("timezone", &[time_zone, timestamp])?;
                Ok(self.as_written("timezone", call))
            }
            E::Extract { field, expr } => {
                let field = Expr::constant(Datum::text(field.value.to_lowercase()), Type::TEXT);
                let from = self.expr(expr)?;
                let call = self.call_named("extract", vec![field, from])?;
                Ok(self.as_written("extract", call))
            }
            E::Position { expr, r#in } => {
                let call = self.call_with("position", &[r#in, expr])?;
                Ok(self.as_written("position", call))
            }
            E::Substring { expr, substring_from, substring_for } => {
                let call = self.substring(expr, substring_from.as_deref(), substring_for.as_deref())?;
                Ok(self.as_written("substring", call))
            }
            E::Trim { trim_where, trim_what, expr } => {
                let name = match trim_where {
                    None | Some(TrimWhereField::Both) => "btrim",
                    Some(TrimWhereField::Leading) => "ltrim",
                    Some(TrimWhereField::Trailing) => "rtrim",
                };
                let mut args = vec![&**expr];
                args.extend(trim_what.as_deref());
                let call = self.call_with(name, &args)?;
                Ok(self.as_written(name, call))
            }
            E::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                let mut args = vec![&**expr, &**overlay_what, &**overlay_from];
                args.extend(overlay_for.as_deref());
                let call = self.call_with("overlay", &args)?;
                Ok(self.as_written("overlay", call))
            }
            E::Collate { expr, collation } => self.collate(expr, collation),
            E::TypedString(typed) => {
                let to = self.data_type(&typed.data_type)?;
                let literal = self.literal(&typed.value)?;
                self.explicit(literal, to).map_err(|error| self.at(typed.value.span, error))
            }
            E::GroupingSets(_) | E::Cube(_) | E::Rollup(_) => {
                Err(SqlError::unsupported("a grouping set outside of GROUP BY"))
            }
            E::QualifiedWildcard(_) => Err(SqlError::syntax("syntax error at or near \"*\"")),
            E::Default(span) => Err(self.at(*span, SqlError::syntax("DEFAULT is not allowed in this context"))),
            _ => Err(SqlError::unsupported("this expression")),
        }
    }

    /// The call of a function that the grammar, not the user, names.
    pub(in crate::bind) fn call_with(&mut self, name: &str, args: &[&ast::Expr]) -> Result<Expr> {
        let args = self.exprs(args.iter().copied())?;
        self.call_named(name, args)
    }

    fn like(
        &mut self,
        symbol: &str,
        expr: &ast::Expr,
        pattern: &ast::Expr,
        escape: Option<&ast::Expr>,
    ) -> Result<Expr> {
        let left = self.expr(expr)?;
        let pattern = match escape {
            Some(escape) => self.call_with("like_escape", &[pattern, escape])?,
            None => self.expr(pattern)?,
        };
        self.operator(symbol, Some(left), pattern).map_err(|error| self.at_expr(expr, error))
    }

    fn similar(
        &mut self,
        symbol: &str,
        expr: &ast::Expr,
        pattern: &ast::Expr,
        escape: Option<&ast::Expr>,
    ) -> Result<Expr> {
        let left = self.expr(expr)?;
        let args: Vec<&ast::Expr> = std::iter::once(pattern).chain(escape).collect();
        let pattern = self.call_with("similar_to_escape", &args)?;
        self.operator(symbol, Some(left), pattern).map_err(|error| self.at_expr(expr, error))
    }

    fn substring(&mut self, expr: &ast::Expr, from: Option<&ast::Expr>, length: Option<&ast::Expr>) -> Result<Expr> {
        let mut args = vec![self.expr(expr)?];
        match (from, length) {
            // `substring(x for n)` begins at the first character.
            (None, Some(_)) => args.push(Expr::constant(Datum::Int(1), Type::INT4)),
            (from, _) => args.extend(from.map(|from| self.expr(from)).transpose()?),
        }
        args.extend(length.map(|length| self.expr(length)).transpose()?);
        self.call_named("substring", args)
    }
}
