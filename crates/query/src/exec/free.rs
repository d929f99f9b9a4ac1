//! Whether a plan looks at what is around it: if not, what it came to once is what it comes to again.

use crate::ir::{self, Access, AggregateCall, Expr, ExprKind, KeyValue, Plan};

/// Whether a plan comes to the same however often it is begun again in one statement: it looks neither at tuples around
/// it nor at common table expressions (which may be recursive).
pub(crate) fn is_fixed(plan: &Plan) -> bool {
    !plan_looks_out(plan, 0)
}

/// Whether a plan that is `depth` tuples inside looks further out than that.
fn plan_looks_out(plan: &Plan, depth: usize) -> bool {
    let expr = |expr: &Expr| looks_out(expr, depth);
    let inner = |plan: &Plan| plan_looks_out(plan, depth);
    match plan {
        Plan::One | Plan::Empty { .. } | Plan::Virtual(_) | Plan::Stored(_) => false,
        // The working rows of a recursion change; what a change returns is asked for once.
        Plan::Cte { .. } | Plan::Change(_) | Plan::With { .. } => true,
        Plan::Scan(scan) => scan.filter.as_ref().is_some_and(expr) || access_looks_out(&scan.access, depth),
        Plan::Values(rows) => rows.iter().flatten().any(expr),
        Plan::Subquery(query) => inner(&query.plan),
        Plan::Function(function) => function.calls.iter().any(|call| expr(&call.call)),
        Plan::Join(join) => {
            let right_depth = depth + usize::from(join.lateral);
            inner(&join.left)
                || plan_looks_out(&join.right, right_depth)
                || join.on.as_ref().is_some_and(expr)
                || join.equal.iter().any(|(left, right)| expr(left) || expr(right))
        }
        Plan::Filter { input, condition } => inner(input) || expr(condition),
        Plan::Aggregate(aggregate) => {
            let call = |call: &AggregateCall| {
                call.args.iter().any(expr)
                    || call.order.iter().any(|key| expr(&key.expr))
                    || call.filter.as_ref().is_some_and(expr)
            };
            inner(&aggregate.input) || aggregate.keys.iter().any(expr) || aggregate.calls.iter().any(call)
        }
        // Frames may have expressions too; windows are rare enough to be made again.
        Plan::Window { .. } => true,
        Plan::ProjectSet { input, calls } => inner(input) || calls.iter().any(expr),
        Plan::Project { input, columns } => inner(input) || columns.iter().any(expr),
        Plan::Distinct(input) | Plan::Lock { input, .. } | Plan::Arrange { input, .. } => inner(input),
        Plan::DistinctOn { input, keys } => inner(input) || keys.iter().any(expr),
        Plan::Sort { input, keys } => inner(input) || keys.iter().any(|key| expr(&key.expr)),
        Plan::Limit(limit) => {
            inner(&limit.input)
                || limit.limit.as_ref().is_some_and(expr)
                || limit.offset.as_ref().is_some_and(expr)
                || limit.ties.iter().any(|key| expr(&key.expr))
        }
        Plan::SetOperation { left, right, .. } => inner(left) || inner(right),
    }
}

fn access_looks_out(access: &Access, depth: usize) -> bool {
    let Access::Index { equal, from, to, .. } = access else { return false };
    let key = |key: &KeyValue| match key {
        KeyValue::One(expr) | KeyValue::Array(expr) => looks_out(expr, depth),
        KeyValue::Any(exprs) => exprs.iter().any(|expr| looks_out(expr, depth)),
        KeyValue::Null => false,
    };
    equal.iter().any(key) || [from, to].into_iter().flatten().any(|(expr, _)| looks_out(expr, depth))
}

/// Whether an expression looks further out than `depth`.
fn looks_out(expr: &Expr, depth: usize) -> bool {
    let own = match &expr.kind {
        ExprKind::Column(column) => column.up > depth,
        ExprKind::Row { up, .. } | ExprKind::System { up, .. } => *up > depth,
        ExprKind::Subquery { query, .. } => query.correlated && plan_looks_out(&query.plan, depth + 1),
        _ => false,
    };
    let mut any = own;
    ir::children(expr, &mut |child| any = any || looks_out(child, depth));
    any
}
