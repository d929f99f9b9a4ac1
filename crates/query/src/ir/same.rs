//! Whether two expressions are the same: GROUP BY, DISTINCT and ORDER BY find what they mean by it.

use std::ptr;
use std::sync::Arc;

use super::walk::look;
use super::{Expr, ExprKind, Quantified, Subscript};
use crate::types::Datum;

/// Whether two expressions, the first of which lies under `depth` more tuples than the second, always come to the same.
/// When in doubt they do not.
pub fn same(inner: &Expr, outer: &Expr, depth: usize) -> bool {
    if inner.typed != outer.typed || !same_kind(&inner.kind, &outer.kind, depth) {
        return false;
    }
    let (left, right) = (parts(inner), parts(outer));
    left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right, depth))
}

fn parts(whole: &Expr) -> Vec<&Expr> {
    let mut parts = Vec::new();
    look::parts(whole, &mut |part| {
        parts.push(part);
        Ok(())
    })
    .expect("looking does not fail");
    parts
}

/// Whether they are the same but for their parts.
fn same_kind(inner: &ExprKind, outer: &ExprKind, depth: usize) -> bool {
    use ExprKind as E;
    match (inner, outer) {
        (E::Const(a), E::Const(b)) => same_value(a, b),
        (E::Param(a), E::Param(b)) | (E::Variable(a), E::Variable(b)) => a == b,
        (E::Column(a), E::Column(b)) => a.up == b.up + depth && a.slot == b.slot && a.column == b.column,
        (E::Row { up, slot, .. }, E::Row { up: other, slot: there, .. }) => *up == other + depth && slot == there,
        (E::System { up, slot, column }, E::System { up: other, slot: there, column: that }) => {
            *up == other + depth && slot == there && column == that
        }
        (E::Call { function, .. }, E::Call { function: other, .. }) => ptr::eq(*function, *other),
        (E::UserCall { function, .. }, E::UserCall { function: other, .. }) => function.oid == other.oid,
        (E::Cast { explicit, .. }, E::Cast { explicit: other, .. }) => explicit == other,
        (E::IsBool { value, negated, .. }, E::IsBool { value: other, negated: is, .. }) => {
            (value, negated) == (other, is)
        }
        (E::IsDistinct { negated, .. }, E::IsDistinct { negated: other, .. }) => negated == other,
        (E::Case { operand, branches, .. }, E::Case { operand: other, branches: those, .. }) => {
            operand.is_some() == other.is_some() && branches.len() == those.len()
        }
        (E::Extreme { greatest, .. }, E::Extreme { greatest: other, .. }) => greatest == other,
        (E::Quantified { operator, list, all, .. }, E::Quantified { operator: other, list: there, all: that, .. }) => {
            ptr::eq(*operator, *other)
                && all == that
                && matches!(list, Quantified::List(_)) == matches!(there, Quantified::List(_))
        }
        (E::MakeRow { shape, .. }, E::MakeRow { shape: other, .. }) => shape == other,
        (E::CompareRows { operator, .. }, E::CompareRows { operator: other, .. }) => operator == other,
        (E::Field { index, .. }, E::Field { index: other, .. }) => index == other,
        (E::Subscript { indices, .. }, E::Subscript { indices: others, .. }) => {
            indices.len() == others.len() && indices.iter().zip(others).all(|(a, b)| same_subscript(a, b))
        }
        (E::Subquery { query, .. }, E::Subquery { query: other, .. }) => {
            depth == 0 && (Arc::ptr_eq(query, other) || format!("{query:?}") == format!("{other:?}"))
        }
        (E::NextValue(_) | E::Default(_), _) => false,
        (E::And(_), E::And(_))
        | (E::Or(_), E::Or(_))
        | (E::Not(_), E::Not(_))
        | (E::IsNull(_), E::IsNull(_))
        | (E::IsNotNull(_), E::IsNotNull(_))
        | (E::Coalesce(_), E::Coalesce(_))
        | (E::NullIf { .. }, E::NullIf { .. })
        | (E::Operand, E::Operand)
        | (E::MakeArray(_), E::MakeArray(_)) => true,
        _ => false,
    }
}

fn same_subscript(a: &Subscript, b: &Subscript) -> bool {
    match (a, b) {
        (Subscript::Index(_), Subscript::Index(_)) => true,
        (Subscript::Slice(from, to), Subscript::Slice(other, there)) => {
            from.is_some() == other.is_some() && to.is_some() == there.is_some()
        }
        _ => false,
    }
}

fn same_value(a: &Datum, b: &Datum) -> bool {
    match (a, b) {
        (Datum::Null, Datum::Null) => true,
        (Datum::Bool(a), Datum::Bool(b)) => a == b,
        (Datum::Int(a), Datum::Int(b)) => a == b,
        (Datum::Text(a), Datum::Text(b)) => a == b,
        _ => format!("{a:?}") == format!("{b:?}"),
    }
}
