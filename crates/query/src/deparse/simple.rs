//! Which operands need no parentheses in pretty text: `isSimpleNode` of PostgreSQL.

use crate::deparse::expr::is_symbol;
use crate::ir::{Expr, ExprKind};

/// What an expression is, as far as precedence goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Atom,
    Field,
    Conversion,
    Operator(&'static str),
    And,
    Or,
    Not,
    Test,
    Other,
}

fn kind(expr: &Expr) -> Kind {
    match &expr.kind {
        ExprKind::Call { function, args } if is_symbol(function.name) => match args.len() {
            2 => Kind::Operator(function.name),
            _ => Kind::Operator(""),
        },
        ExprKind::Cast { .. } => Kind::Conversion,
        ExprKind::And(_) => Kind::And,
        ExprKind::Or(_) => Kind::Or,
        ExprKind::Not(_) => Kind::Not,
        ExprKind::IsDistinct { negated: true, .. } => Kind::Not,
        ExprKind::IsNull(_)
        | ExprKind::IsNotNull(_)
        | ExprKind::IsBool { .. }
        | ExprKind::IsDistinct { .. }
        | ExprKind::Subquery { .. } => Kind::Test,
        ExprKind::Field { .. } => Kind::Field,
        ExprKind::Quantified { .. } | ExprKind::CompareRows { .. } => Kind::Other,
        _ => Kind::Atom,
    }
}

/// Whether an operand of another expression needs no parentheses.
pub(super) fn is_simple(expr: &Expr, parent: &Expr) -> bool {
    let around = kind(parent);
    let is_container = around == Kind::Atom;
    match kind(expr) {
        Kind::Atom => true,
        Kind::Field => around != Kind::Field,
        Kind::Conversion => match &expr.kind {
            ExprKind::Cast { arg, .. } => is_simple(arg, expr),
            _ => true,
        },
        Kind::Operator(own) => match around {
            Kind::Operator(outer) => binds_more_tightly(own, outer, expr, parent),
            Kind::And | Kind::Or | Kind::Not => true,
            _ => is_container,
        },
        Kind::Test => matches!(around, Kind::And | Kind::Or | Kind::Not) || is_container,
        Kind::And | Kind::Not => matches!(around, Kind::And | Kind::Or) || is_container,
        Kind::Or => around == Kind::Or || is_container,
        Kind::Other => false,
    }
}

fn binds_more_tightly(own: &str, outer: &str, expr: &Expr, parent: &Expr) -> bool {
    let rank = |symbol: &str| match symbol {
        "+" | "-" => Some(1),
        "*" | "/" | "%" => Some(2),
        _ => None,
    };
    let (Some(own), Some(outer)) = (rank(own), rank(outer)) else { return false };
    let is_first = match &parent.kind {
        ExprKind::Call { args, .. } => args.first().is_some_and(|first| std::ptr::eq(first, expr)),
        _ => false,
    };
    own > outer || own == outer && is_first
}
