//! Where an expression begins: the place that errors about it tell.

use super::{AccessExpr, Expr, Query, SetExpr, Span};

impl Expr {
    /// Where the expression begins; of some nodes only a part has a place.
    pub fn span(&self) -> Span {
        // Chains lean to the left: they are followed, not recursed into.
        let mut expr = self;
        loop {
            expr = match expr {
                Expr::Identifier(name) | Expr::CurrentOf(name) => return name.span,
                Expr::CompoundIdentifier(parts) => return parts.first().map_or(Span::empty(), |first| first.span),
                Expr::QualifiedWildcard(name) => return name.span(),
                Expr::Value(value) => return value.span,
                Expr::TypedString(typed) => return typed.value.span,
                Expr::Default(span) | Expr::Case { span, .. } => return *span,
                Expr::Function(function) => return function.name.span(),
                Expr::CompoundFieldAccess { root, access_chain } => {
                    return root.span().or(|| access_chain.iter().map(access).fold(Span::empty(), first));
                }
                Expr::Extract { field, .. } => return field.span,
                Expr::Exists { subquery, .. } | Expr::Subquery(subquery) => return query(subquery),
                Expr::Tuple(items) => return list(items),
                Expr::Array(array) => return list(&array.elem),
                Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => {
                    return sets.iter().map(|set| list(set)).fold(Span::empty(), first);
                }
                Expr::BinaryOp { left, right, .. }
                | Expr::AnyOp { left, right, .. }
                | Expr::AllOp { left, right, .. }
                | Expr::IsDistinctFrom(left, right)
                | Expr::IsNotDistinctFrom(left, right) => match left.is_placed() {
                    true => left,
                    false => right,
                },
                Expr::UnaryOp { expr, .. }
                | Expr::Nested(expr)
                | Expr::IsNull(expr)
                | Expr::IsNotNull(expr)
                | Expr::IsTrue(expr)
                | Expr::IsNotTrue(expr)
                | Expr::IsFalse(expr)
                | Expr::IsNotFalse(expr)
                | Expr::IsUnknown(expr)
                | Expr::IsNotUnknown(expr)
                | Expr::InList { expr, .. }
                | Expr::InSubquery { expr, .. }
                | Expr::Between { expr, .. }
                | Expr::Like { expr, .. }
                | Expr::ILike { expr, .. }
                | Expr::SimilarTo { expr, .. }
                | Expr::Cast { expr, .. }
                | Expr::AtTimeZone { timestamp: expr, .. }
                | Expr::Collate { expr, .. }
                | Expr::Position { expr, .. }
                | Expr::Substring { expr, .. }
                | Expr::Trim { expr, .. }
                | Expr::Overlay { expr, .. } => expr,
            };
        }
    }

    /// Whether a chain of operators begins with something that has a place; operands nearly always have one.
    fn is_placed(&self) -> bool {
        match self {
            Expr::BinaryOp { .. } => true,
            other => other.span().position != 0,
        }
    }
}

fn first(found: Span, next: Span) -> Span {
    found.or(|| next)
}

fn list(items: &[Expr]) -> Span {
    items.iter().map(Expr::span).fold(Span::empty(), first)
}

fn access(step: &AccessExpr) -> Span {
    match step {
        AccessExpr::Field(name) => name.span,
        AccessExpr::Wildcard | AccessExpr::Subscript(_) => Span::empty(),
    }
}

fn query(query: &Query) -> Span {
    let mut body = &*query.body;
    loop {
        body = match body {
            SetExpr::Select(select) => return select.span,
            SetExpr::Values(values) => return values.rows.first().map_or(Span::empty(), |row| list(row)),
            SetExpr::Query(inner) => &inner.body,
            SetExpr::SetOperation { left, .. } => left,
            SetExpr::Change(_) => return Span::empty(),
        };
    }
}
