//! Plans and expressions over integers, written by hand.

use std::sync::Arc;

use crate::functions::{self, Function};
use crate::ir::*;
use crate::types::{Datum, Type};

pub(super) fn int(value: i64) -> Expr {
    Expr::constant(Datum::Int(value), Type::INT4)
}

pub(super) fn null() -> Expr {
    Expr::constant(Datum::Null, Type::INT4)
}

pub(super) fn boolean(value: Option<bool>) -> Expr {
    Expr::constant(value.map_or(Datum::Null, Datum::Bool), Type::BOOL)
}

/// A column of this query.
pub(super) fn col(slot: usize, column: usize) -> Expr {
    outer(0, slot, column)
}

/// A column of a query around.
pub(super) fn outer(up: usize, slot: usize, column: usize) -> Expr {
    Expr::new(ExprKind::Column(ColumnRef { up, slot, column }), Type::INT4)
}

pub(super) fn operator(symbol: &str) -> &'static Function {
    let found = functions::operators(symbol).iter().find(|function| function.args == [Type::INT4, Type::INT4]);
    found.expect("an operator of integers")
}

/// `left symbol right`
pub(super) fn op(left: Expr, symbol: &str, right: Expr) -> Expr {
    let function = operator(symbol);
    Expr::new(ExprKind::Call { function, args: vec![left, right] }, function.returns)
}

pub(super) fn and(args: Vec<Expr>) -> Expr {
    Expr::new(ExprKind::And(args), Type::BOOL)
}

pub(super) fn or(args: Vec<Expr>) -> Expr {
    Expr::new(ExprKind::Or(args), Type::BOOL)
}

pub(super) fn scan(table: u32) -> Plan {
    Plan::Scan(Scan { table, access: Access::All, filter: None, reverse: false, seeks: false })
}

pub(super) fn scan_where(table: u32, filter: Expr) -> Plan {
    Plan::Scan(Scan { table, access: Access::All, filter: Some(filter), reverse: false, seeks: false })
}

pub(super) fn filter(input: Plan, condition: Expr) -> Plan {
    Plan::Filter { input: Box::new(input), condition }
}

pub(super) fn project(input: Plan, columns: Vec<Expr>) -> Plan {
    Plan::Project { input: Box::new(input), columns }
}

pub(super) fn key(expr: Expr) -> SortKey {
    SortKey { expr, descending: false, nulls_first: false }
}

pub(super) fn sort(input: Plan, keys: Vec<SortKey>) -> Plan {
    Plan::Sort { input: Box::new(input), keys }
}

pub(super) fn limit(input: Plan, limit: i64, offset: i64) -> Plan {
    Plan::Limit(Box::new(Limit { input, limit: Some(int(limit)), offset: Some(int(offset)), ties: Vec::new() }))
}

pub(super) fn values(rows: &[&[i64]]) -> Plan {
    let value = |value: &i64| if *value == i64::MIN { null() } else { int(*value) };
    Plan::Values(rows.iter().map(|row| row.iter().map(value).collect()).collect())
}

/// A join of two plans with one slot each.
pub(super) fn join(kind: JoinKind, left: Plan, right: Plan, on: Option<Expr>) -> Join {
    Join { kind, left, right, on, lateral: false, slots: (1, 1), equal: Vec::new() }
}

pub(super) fn query(plan: Plan, columns: usize, correlated: bool) -> Query {
    let column = Output { name: "c".into(), typed: Type::INT4.into(), origin: None, collation: 0 };
    Query { plan, columns: vec![column; columns], correlated }
}

pub(super) fn subquery(kind: SubqueryKind, plan: Plan, correlated: bool) -> Expr {
    let ty = if matches!(kind, SubqueryKind::Scalar) { Type::INT4 } else { Type::BOOL };
    Expr::new(ExprKind::Subquery { kind, query: Arc::new(query(plan, 1, correlated)) }, ty)
}

/// `arg = ANY (plan)`
pub(super) fn any(arg: Expr, plan: Plan, correlated: bool) -> Expr {
    let kind = SubqueryKind::Quantified {
        args: vec![arg],
        operators: vec![operator("=")],
        casts: vec![None],
        row: RowOperator::Equal,
        all: false,
    };
    subquery(kind, plan, correlated)
}

pub(super) fn cte(number: usize, plan: Plan, recursive: Option<(Plan, bool)>) -> Arc<Cte> {
    let recursive = recursive.map(|(plan, distinct)| (query(plan, 1, false), distinct));
    Arc::new(Cte { number, name: "c".into(), query: query(plan, 1, false), recursive, written: Default::default() })
}

pub(super) fn with(ctes: Vec<Arc<Cte>>, input: Plan) -> Plan {
    Plan::With { ctes, input: Box::new(input) }
}
