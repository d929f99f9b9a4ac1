//! Conditions taken apart: which parts of a tuple they look at, which are equalities.

use crate::functions::Function;
use crate::ir::{Expr, ExprKind};
use crate::types::{Datum, Type};

/// A set of slots.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Slots(u128);

impl Slots {
    /// So many slots can be told apart.
    pub(super) const MOST: usize = 128;

    pub(super) fn range(first: usize, width: usize) -> Slots {
        (first..first + width).fold(Slots::default(), Slots::with)
    }

    /// Slots that cannot be told apart are left out: wider tuples are not planned by their slots.
    pub(super) fn with(self, slot: usize) -> Slots {
        if slot < Slots::MOST { Slots(self.0 | 1 << slot) } else { self }
    }

    pub(super) fn of(expr: &Expr) -> Slots {
        let mut slots = Slots::default();
        expr.slots(&mut |slot| slots = slots.with(slot));
        slots
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn within(self, other: Slots) -> bool {
        self.0 & !other.0 == 0
    }

    pub(super) fn and(self, other: Slots) -> Slots {
        Slots(self.0 | other.0)
    }
}

/// A condition, with what it looks at.
pub(super) struct Condition {
    pub(super) expr: Expr,
    pub(super) slots: Slots,
    /// What the two sides of an equality look at.
    sides: Option<(Slots, Slots)>,
}

impl Condition {
    pub(super) fn new(expr: Expr) -> Condition {
        let sides = equality(&expr).map(|(left, right)| (Slots::of(left), Slots::of(right)));
        Condition { slots: Slots::of(&expr), sides, expr }
    }

    /// Whether it is an equality between the one and the other.
    pub(super) fn connects(&self, some: Slots, others: Slots) -> bool {
        let Some((a, b)) = self.sides else { return false };
        let fits = |a: Slots, b: Slots| !a.is_empty() && a.within(some) && !b.is_empty() && b.within(others);
        fits(a, b) || fits(b, a)
    }
}

/// The parts of a condition that all have to hold.
pub(super) fn split(condition: Expr, into: &mut Vec<Expr>) {
    match condition.kind {
        ExprKind::And(parts) => parts.into_iter().for_each(|part| split(part, into)),
        ExprKind::Const(Datum::Bool(true)) => {}
        _ => into.push(condition),
    }
}

/// All of these conditions, the cheap ones first.
pub(super) fn all_of(mut conditions: Vec<Expr>) -> Option<Expr> {
    match conditions.len() {
        0 => None,
        1 => conditions.pop(),
        _ => {
            conditions.sort_by_key(is_costly);
            Some(Expr::new(ExprKind::And(conditions), Type::BOOL))
        }
    }
}

/// Whether it runs a query or a user's function.
pub(super) fn is_costly(expr: &Expr) -> bool {
    expr.any(&mut |part| matches!(part.kind, ExprKind::Subquery { .. } | ExprKind::UserCall { .. }))
}

/// `left op right` of a comparison operator.
pub(super) fn comparison(condition: &Expr) -> Option<(&'static Function, &Expr, &Expr)> {
    match &condition.kind {
        ExprKind::Call { function, args } => match args.as_slice() {
            [left, right] if matches!(function.name, "=" | "<" | "<=" | ">" | ">=") => Some((function, left, right)),
            _ => None,
        },
        _ => None,
    }
}

/// The two sides of an equality that compares values as keys are compared: by their bytes.
pub(super) fn equality(condition: &Expr) -> Option<(&Expr, &Expr)> {
    let (function, left, right) = comparison(condition)?;
    let by_bytes = function.name == "=" && family(left.ty()) == family(right.ty());
    by_bytes.then_some((left, right))
}

/// Types of one family have one encoding as keys, and compare with each other by it.
pub(super) fn family(ty: Type) -> Type {
    match ty {
        Type::INT2 | Type::INT4 | Type::INT8 | Type::OID => Type::INT8,
        Type::REGCLASS | Type::REGTYPE | Type::REGPROC | Type::REGPROCEDURE | Type::REGNAMESPACE => Type::INT8,
        Type::TEXT | Type::VARCHAR | Type::NAME => Type::TEXT,
        Type::FLOAT4 | Type::FLOAT8 => Type::FLOAT8,
        other => other,
    }
}

/// Without casts that change nothing about a value as a key.
pub(super) fn bare(mut expr: &Expr) -> &Expr {
    while let ExprKind::Cast { arg, .. } = &expr.kind
        && expr.typed.modifier < 0
        && family(arg.ty()) == family(expr.ty())
        && !(family(expr.ty()) == Type::INT8 && narrows(arg.ty(), expr.ty()))
    {
        expr = arg;
    }
    expr
}

/// A cast that can fail because the value is too large.
fn narrows(from: Type, to: Type) -> bool {
    let width = |ty| match ty {
        Type::INT2 => 2,
        Type::INT4 => 4,
        Type::INT8 => 8,
        _ => 0,
    };
    width(to) < width(from) || width(to) == 0 || width(from) == 0
}

/// Whether the condition is not true when this slot is missing: an operator that gives NULL for NULL looks at it.
pub(super) fn rejects_missing(condition: &Expr, is_missing: &dyn Fn(usize) -> bool) -> bool {
    match &condition.kind {
        ExprKind::Call { function, args } if function.strict => args.iter().any(|arg| is_null_if(arg, is_missing)),
        ExprKind::IsNotNull(arg) => is_null_if(arg, is_missing),
        ExprKind::Quantified { arg, all: false, operator, .. } if operator.strict => is_null_if(arg, is_missing),
        ExprKind::And(parts) => parts.iter().any(|part| rejects_missing(part, is_missing)),
        ExprKind::Or(parts) => parts.iter().all(|part| rejects_missing(part, is_missing)),
        ExprKind::Column(column) => column.up == 0 && is_missing(column.slot),
        _ => false,
    }
}

/// Whether an expression is NULL when this slot is missing.
fn is_null_if(expr: &Expr, is_missing: &dyn Fn(usize) -> bool) -> bool {
    match &expr.kind {
        ExprKind::Column(column) => column.up == 0 && is_missing(column.slot),
        ExprKind::Cast { arg, .. } => is_null_if(arg, is_missing),
        ExprKind::Call { function, args } if function.strict => args.iter().any(|arg| is_null_if(arg, is_missing)),
        _ => false,
    }
}
