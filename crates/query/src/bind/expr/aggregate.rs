//! Aggregates: which query they belong to, and what is written in their parentheses.

use crate::bind::Binder;
use crate::bind::block::{AGGREGATES, Clause};
use crate::bind::collation::{Needs, unkeyed};
use crate::bind::expr::call::Parsed;
use crate::error::{Result, SqlError, SqlState};
use crate::functions::resolve::{Callee, Resolved};
use crate::functions::{Body, Function};
use crate::ir::same::same;
use crate::ir::{AggregateCall, ColumnRef, Expr, ExprKind, SortKey};

impl Binder<'_> {
    /// An aggregate without OVER. It belongs to the nearest query that it takes a column from.
    pub(super) fn aggregate(&mut self, call: &Parsed<'_>) -> Result<Expr> {
        self.frame().block.clause.allows_aggregates().or_else(|error| self.unless_outer(call, error))?;
        let args = self.within(Clause::AggregateArgument, |binder| binder.exprs(call.args.iter().copied()))?;
        let mut order = self.within(Clause::AggregateArgument, |binder| {
            binder.sort_keys(if call.within_group.is_empty() { call.order } else { call.within_group })
        })?;
        let filter = match call.filter {
            Some(filter) => Some(self.condition(Clause::Filter, filter)?),
            None => None,
        };
        let within: Vec<Expr> = match call.within_group {
            [] => Vec::new(),
            _ => order.iter().map(|key| unkeyed(&key.expr).clone()).collect(),
        };
        let resolved = self.resolve(call, &args, &within)?;
        let function = aggregate_function(&resolved, call)?;
        let mut args = args;
        args.extend(within);
        let args = self.arguments(&resolved, args)?;
        if matches!(function.name, "min" | "max" | "mode") || call.distinct || !call.within_group.is_empty() {
            let needs = if call.distinct { Needs::Equality } else { Needs::Order };
            for arg in &args {
                self.must_be_bytes(&[arg], needs, function.name)?;
            }
        }
        if !call.within_group.is_empty() {
            // What is sorted by is what the function takes.
            let first = args.len() - order.len();
            for (key, arg) in order.iter_mut().zip(&args[first..]) {
                key.expr = arg.clone();
            }
        }
        check_distinct(call, &args, &order)?;
        let typed = resolved.returns.into();
        let aggregate = AggregateCall { function, args, distinct: call.distinct, order, filter, typed };
        self.place_aggregate(aggregate)
    }

    /// An aggregate of an outer query may stand where one of this query may not.
    fn unless_outer(&mut self, call: &Parsed<'_>, error: SqlError) -> Result<()> {
        let clause = self.frame().block.clause;
        if clause == Clause::AggregateArgument || self.frames.len() < 2 || call.args.is_empty() {
            return Err(error);
        }
        let args = self.within(Clause::AggregateArgument, |binder| binder.exprs(call.args.iter().copied()))?;
        match nearest(args.iter()) {
            Some(up) if up > 0 => Ok(()),
            _ => Err(error),
        }
    }

    fn place_aggregate(&mut self, mut call: AggregateCall) -> Result<Expr> {
        let exprs = call.args.iter().chain(call.order.iter().map(|key| &key.expr)).chain(&call.filter);
        let up = nearest(exprs).unwrap_or(0);
        let typed = call.typed;
        if up > 0 {
            let lower = |expr: &mut Expr| expr.map_places(&mut |far, slot| (far - up, slot));
            call.args.iter_mut().for_each(lower);
            call.order.iter_mut().for_each(|key| lower(&mut key.expr));
            call.filter.iter_mut().for_each(lower);
        }
        let owner = self.frames.len() - 1 - up;
        let block = &mut self.frames[owner].block;
        block.clause.allows_aggregates()?;
        if call.args.iter().any(|arg| arg.any(&mut |part| part.place() == Some((0, AGGREGATES)))) {
            return Err(SqlError::new(SqlState::GROUPING_ERROR, "aggregate function calls cannot be nested"));
        }
        let known = block.aggregates.iter().position(|other| same_call(other, &call));
        let column = known.unwrap_or_else(|| {
            block.aggregates.push(call);
            block.aggregates.len() - 1
        });
        Ok(Expr { kind: ExprKind::Column(ColumnRef { up, slot: AGGREGATES, column }), typed })
    }
}

/// How far up the nearest tuple is that one of them looks at.
pub(super) fn nearest<'e>(exprs: impl Iterator<Item = &'e Expr>) -> Option<usize> {
    let mut least = None;
    for expr in exprs {
        expr.outward(&mut |up, _| least = Some(least.map_or(up, |known: usize| known.min(up))));
    }
    least
}

fn aggregate_function(resolved: &Resolved, call: &Parsed<'_>) -> Result<&'static Function> {
    let Callee::Builtin(function) = &resolved.callee else {
        return Err(SqlError::unsupported("a user's aggregate"));
    };
    let wrong = |message: String| Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
    match function.body {
        Body::OrderedSet { .. } if call.within_group.is_empty() => {
            return wrong(format!("WITHIN GROUP is required for ordered-set aggregate {}", call.name));
        }
        Body::Aggregate(_) if !call.within_group.is_empty() => {
            return wrong(format!("{} is not an ordered-set aggregate, so it cannot have WITHIN GROUP", call.name));
        }
        Body::Aggregate(_) | Body::OrderedSet { .. } => {}
        _ => return Err(SqlError::unsupported(format_args!("this form of {}", call.name))),
    }
    if call.args.is_empty() && call.within_group.is_empty() && !call.star {
        let message = format!("{}(*) must be used to call a parameterless aggregate function", call.name);
        return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
    }
    Ok(function)
}

fn check_distinct(call: &Parsed<'_>, args: &[Expr], order: &[SortKey]) -> Result<()> {
    if !call.distinct {
        return Ok(());
    }
    if args.is_empty() {
        return Err(SqlError::syntax("DISTINCT specified, but there is nothing to be distinct"));
    }
    if order.iter().any(|key| !args.iter().any(|arg| same(&key.expr, arg, 0))) {
        let message = "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list";
        return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message));
    }
    Ok(())
}

fn same_call(left: &AggregateCall, right: &AggregateCall) -> bool {
    std::ptr::eq(left.function, right.function)
        && left.distinct == right.distinct
        && left.typed == right.typed
        && left.args.len() == right.args.len()
        && left.args.iter().zip(&right.args).all(|(a, b)| same(a, b, 0) && !a.is_volatile())
        && left.order.is_empty()
        && right.order.is_empty()
        && match (&left.filter, &right.filter) {
            (None, None) => true,
            (Some(a), Some(b)) => same(a, b, 0) && !a.is_volatile(),
            _ => false,
        }
}
