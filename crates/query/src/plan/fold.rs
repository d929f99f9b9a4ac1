//! Calls of constants become constants, where that depends on nothing and does not fail.
//!
//! What fails is left alone: the error comes when the expression is evaluated, if it ever is.

use std::sync::Arc;

use crate::catalog::Volatility;
use crate::functions::define::call_scalar;
use crate::functions::{Body, Env, Site};
use crate::ir::walk::{Descend, edit};
use crate::ir::{Expr, ExprKind, Query};
use crate::types::{Datum, Type, Typed, cast};

/// Folds everything in a statement.
pub fn statement(query: &mut Query, env: &mut dyn Env) {
    edit::plan(&mut query.plan, 0, &mut |node, _| {
        expression(node, env);
        Ok(Descend::No)
    })
    .expect("folding does not fail");
}

/// Folds the queries in an expression.
pub fn queries(expr: &mut Expr, env: &mut dyn Env) {
    if let ExprKind::Subquery { .. } = expr.kind {
        return expression(expr, env);
    }
    edit::parts(expr, &mut |part| {
        queries(part, env);
        Ok(())
    })
    .expect("folding does not fail");
}

/// Folds an expression and what is in it.
pub fn expression(expr: &mut Expr, env: &mut dyn Env) {
    edit::parts(expr, &mut |part| {
        expression(part, env);
        Ok(())
    })
    .expect("folding does not fail");
    if let ExprKind::Subquery { query, .. } = &mut expr.kind {
        statement(Arc::make_mut(query), env);
        return;
    }
    if let Some(value) = folded(expr, env) {
        expr.kind = ExprKind::Const(value);
    } else {
        simplify(expr);
    }
}

fn folded(expr: &Expr, env: &mut dyn Env) -> Option<Datum> {
    match &expr.kind {
        ExprKind::Call { function, args } => {
            let Body::Scalar(body) = function.body else { return None };
            // A function that is not called for a NULL is not called at all, whatever its other arguments are.
            if function.strict && args.iter().any(is_null) {
                return Some(Datum::Null);
            }
            if function.volatility != Volatility::Immutable {
                return None;
            }
            let values: Vec<Datum> = args.iter().map(constant).collect::<Option<_>>()?;
            let types: Vec<Typed> = args.iter().map(|arg| arg.typed).collect();
            let value = call_scalar(body, env, &values, &Site { args: &types, returns: expr.typed }).ok();
            // A plan that is kept for later is small.
            value.filter(|value| !value.is_large())
        }
        ExprKind::Cast { arg, explicit } if is_fixed(arg.ty()) && is_fixed(expr.ty()) => {
            let value = constant(arg)?;
            cast::cast(value, arg.ty(), expr.typed, *explicit, env).ok()
        }
        ExprKind::Not(arg) => match constant(arg)? {
            Datum::Bool(value) => Some(Datum::Bool(!value)),
            _ => Some(Datum::Null),
        },
        ExprKind::IsNull(arg) => Some(Datum::Bool(constant(arg)?.is_null())),
        ExprKind::IsNotNull(arg) => Some(Datum::Bool(!constant(arg)?.is_null())),
        _ => None,
    }
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Const(Datum::Null))
}

fn constant(expr: &Expr) -> Option<Datum> {
    match &expr.kind {
        ExprKind::Const(value) if !matches!(value, Datum::Record(_)) => Some(value.clone()),
        _ => None,
    }
}

/// Types whose conversions depend on no setting.
fn is_fixed(ty: Type) -> bool {
    matches!(
        ty,
        Type::BOOL
            | Type::INT2
            | Type::INT4
            | Type::INT8
            | Type::OID
            | Type::FLOAT4
            | Type::FLOAT8
            | Type::NUMERIC
            | Type::TEXT
            | Type::VARCHAR
            | Type::BPCHAR
            | Type::NAME
            | Type::UUID
    )
}

/// AND and OR with constants among their operands.
fn simplify(expr: &mut Expr) {
    let (parts, deciding) = match &mut expr.kind {
        ExprKind::And(parts) => (parts, false),
        ExprKind::Or(parts) => (parts, true),
        _ => return,
    };
    let is = |part: &Expr, value: bool| matches!(part.kind, ExprKind::Const(Datum::Bool(known)) if known == value);
    if parts.iter().any(|part| is(part, deciding)) {
        expr.kind = ExprKind::Const(Datum::Bool(deciding));
        return;
    }
    parts.retain(|part| !is(part, !deciding));
    if !parts.is_empty() && parts.iter().all(is_null) {
        expr.kind = ExprKind::Const(Datum::Null);
        return;
    }
    match parts.len() {
        0 => expr.kind = ExprKind::Const(Datum::Bool(!deciding)),
        1 => *expr = parts.pop().expect("there is one"),
        _ => {}
    }
}
