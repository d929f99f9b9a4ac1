//! What has a syntax of its own: LIKE, EXTRACT, SUBSTRING, TRIM, AT TIME ZONE, INTERVAL, COLLATE, …

use crate::parse::ast::{self, CeilFloorKind, DateTimeField, TrimWhereField};

use crate::bind::Binder;
use crate::error::{Result, SqlError};
use crate::ir::{Expr, ExprKind};
use crate::types::{Datum, Type, Typed, modifier};

impl Binder<'_> {
    pub(super) fn special(&mut self, expr: &ast::Expr) -> Result<Expr> {
        use ast::Expr as E;
        match expr {
            E::Like { negated, any: false, expr, pattern, escape_char } => {
                let symbol = if *negated { "!~~" } else { "~~" };
                self.like(symbol, expr, pattern, escape_char.as_deref())
            }
            E::ILike { negated, any: false, expr, pattern, escape_char } => {
                let symbol = if *negated { "!~~*" } else { "~~*" };
                self.like(symbol, expr, pattern, escape_char.as_deref())
            }
            E::SimilarTo { negated, expr, pattern, escape_char } => {
                let symbol = if *negated { "!~" } else { "~" };
                self.similar(symbol, expr, pattern, escape_char.as_deref())
            }
            E::AtTimeZone { timestamp, time_zone } => self.call_with("timezone", &[time_zone, timestamp]),
            E::Extract { field, expr, .. } => {
                let field = Expr::constant(Datum::text(field_name(field)), Type::TEXT);
                let from = self.expr(expr)?;
                self.call_named("extract", vec![field, from])
            }
            E::Ceil { expr, field } => self.round("ceil", expr, field),
            E::Floor { expr, field } => self.round("floor", expr, field),
            E::Position { expr, r#in } => self.call_with("position", &[r#in, expr]),
            E::Substring { expr, substring_from, substring_for, shorthand, .. } => {
                self.substring(expr, substring_from.as_deref(), substring_for.as_deref(), *shorthand)
            }
            E::Trim { trim_where, trim_what, expr, trim_characters } => {
                let name = match trim_where {
                    None | Some(TrimWhereField::Both) => "btrim",
                    Some(TrimWhereField::Leading) => "ltrim",
                    Some(TrimWhereField::Trailing) => "rtrim",
                };
                let mut args = vec![&**expr];
                args.extend(trim_what.as_deref());
                args.extend(trim_characters.iter().flatten());
                self.call_with(name, &args)
            }
            E::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                let mut args = vec![&**expr, &**overlay_what, &**overlay_from];
                args.extend(overlay_for.as_deref());
                self.call_with("overlay", &args)
            }
            E::Collate { expr, collation } => self.collate(expr, collation),
            E::TypedString(typed) => {
                let to = self.data_type(&typed.data_type)?;
                let literal = self.literal(&typed.value)?;
                self.explicit(literal, to).map_err(|error| self.at(typed.value.span, error))
            }
            E::Interval(interval) => self.interval(interval),
            E::GroupingSets(_) | E::Cube(_) | E::Rollup(_) => {
                Err(SqlError::unsupported("a grouping set outside of GROUP BY"))
            }
            E::IsNormalized { expr, form, negated } => {
                let form =
                    Expr::constant(Datum::text(form.map_or("NFC".to_owned(), |form| form.to_string())), Type::TEXT);
                let text = self.expr(expr)?;
                let is = self.call_named("is_normalized", vec![text, form])?;
                Ok(if *negated { Expr::new(ExprKind::Not(Box::new(is)), Type::BOOL) } else { is })
            }
            E::Wildcard(_) | E::QualifiedWildcard(..) => Err(SqlError::syntax("syntax error at or near \"*\"")),
            other => Err(self.unsupported_expr(kind_name(other))),
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

    fn round(&mut self, name: &str, expr: &ast::Expr, kind: &CeilFloorKind) -> Result<Expr> {
        let mut args = vec![self.expr(expr)?];
        match kind {
            CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) => {}
            CeilFloorKind::DateTimeField(_) => return Err(SqlError::unsupported(format_args!("{name} to a field"))),
            CeilFloorKind::Scale(scale) => args.push(self.literal(scale)?),
        }
        self.call_named(name, args)
    }

    fn substring(
        &mut self,
        expr: &ast::Expr,
        from: Option<&ast::Expr>,
        length: Option<&ast::Expr>,
        shorthand: bool,
    ) -> Result<Expr> {
        let mut args = vec![self.expr(expr)?];
        match (from, length) {
            // `substring(x for n)` begins at the first character.
            (None, Some(_)) => args.push(Expr::constant(Datum::Int(1), Type::INT4)),
            (from, _) => args.extend(from.map(|from| self.expr(from)).transpose()?),
        }
        args.extend(length.map(|length| self.expr(length)).transpose()?);
        self.call_named(if shorthand { "substr" } else { "substring" }, args)
    }

    /// `INTERVAL '1' DAY`, `INTERVAL '1 day'`, `INTERVAL(3) '…'`
    fn interval(&mut self, interval: &ast::Interval) -> Result<Expr> {
        let literal = self.expr(&interval.value)?;
        let fields = match (&interval.leading_field, &interval.last_field) {
            (None, _) => None,
            (Some(first), None) => Some(field_name(first)),
            (Some(first), Some(last)) => Some(format!("{} to {}", field_name(first), field_name(last))),
        };
        let precision = interval.fractional_seconds_precision.or(interval.leading_precision);
        let precision = precision.map(|precision| i64::try_from(precision).unwrap_or(i64::MAX));
        let typed = match (fields, precision) {
            (None, None) => Typed::from(Type::INTERVAL),
            (fields, precision) => {
                let named = |words: &str| modifier::fields::NAMED.iter().find(|(known, _)| *known == words);
                let bits = match &fields {
                    None => modifier::fields::ALL,
                    Some(words) => match named(words) {
                        Some((_, bits)) => *bits,
                        None => return Err(SqlError::syntax(format!("syntax error at or near \"{words}\""))),
                    },
                };
                Typed { ty: Type::INTERVAL, modifier: modifier::interval(bits, precision)? }
            }
        };
        if literal.ty() == Type::INT4 || literal.ty() == Type::NUMERIC {
            return Err(SqlError::syntax("syntax error: an interval literal is a string"));
        }
        self.explicit(literal, typed)
    }
}

/// A field of a date or time, as functions take it.
fn field_name(field: &DateTimeField) -> String {
    match field {
        DateTimeField::Custom(ident) => ident.value.to_lowercase(),
        other => other.to_string().to_lowercase(),
    }
}

fn kind_name(expr: &ast::Expr) -> &'static str {
    match expr {
        ast::Expr::IsJson { .. } => "IS JSON",
        ast::Expr::Like { .. } | ast::Expr::ILike { .. } => "LIKE ANY",
        ast::Expr::Convert { .. } => "CONVERT",
        ast::Expr::JsonAccess { .. } => "access with a colon",
        ast::Expr::Named { .. } => "a named argument here",
        ast::Expr::Lambda(_) => "a lambda",
        ast::Expr::Struct { .. } | ast::Expr::Dictionary(_) | ast::Expr::Map(_) => "a struct literal",
        _ => "this expression",
    }
}
