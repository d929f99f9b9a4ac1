//! Rows that come in the order that is asked for are not sorted.

use crate::catalog::{IndexKeyKind, RelationKind, Table};
use crate::ir::{Access, Aggregate, Expr, ExprKind, KeyValue, Limit, Plan, Scan, SortKey};
use crate::plan::Planner;
use crate::types::{Datum, Type};

impl Planner<'_> {
    /// Whether the tuples of a plan come in this order: that of the primary key of the table that they begin with. The
    /// scan is turned round if the order is the opposite one.
    pub(super) fn comes_sorted(&self, plan: &mut Plan, keys: &[SortKey]) -> bool {
        let catalog = self.catalog;
        let Some(scan) = first_scan(plan) else { return false };
        let Some(table) = catalog.table(scan.table) else { return false };
        let fixed = match &scan.access {
            Access::All => 0,
            Access::Index { index, equal, .. } => match catalog.relation(*index).map(|relation| &relation.kind) {
                // Other indexes are only a hint where to look, and rows may come in another order.
                Some(RelationKind::Index(index)) if index.space.is_none() => {
                    equal.iter().take_while(|value| matches!(value, KeyValue::One(_))).count()
                }
                _ => return false,
            },
        };
        let Some(columns) = clustered(table, self) else { return false };
        let Some(descending) = keys.first().map(|key| key.descending) else { return true };
        let mut wanted = columns.iter().enumerate();
        for key in keys {
            let ExprKind::Column(column) = &key.expr.kind else { return false };
            if column.up != 0 || column.slot != 0 || key.descending != descending {
                return false;
            }
            // Columns that are equal to one value do not count for the order.
            if columns[..fixed].contains(&column.column) {
                continue;
            }
            let next = wanted.by_ref().find(|(at, _)| *at >= fixed);
            if next.is_none_or(|(_, next)| *next != column.column) {
                return false;
            }
        }
        scan.reverse = descending;
        true
    }
}

impl Planner<'_> {
    /// Where rows come in the order of the column whose smallest or largest value is asked for, the first one has it: the
    /// others are not looked at, as in PostgreSQL. Rows of a primary key have no NULLs in it.
    pub(super) fn first_is_extreme(&self, aggregate: &mut Aggregate) {
        let is_one_group = aggregate.keys.is_empty() && aggregate.sets.len() <= 1 && aggregate.grouping.is_empty();
        let [call] = aggregate.calls.as_slice() else { return };
        let ([value], None, true) = (call.args.as_slice(), &call.filter, is_one_group) else { return };
        let descending = match call.function.name {
            "min" => false,
            "max" => true,
            _ => return,
        };
        let key = SortKey { expr: value.clone(), descending, nulls_first: descending };
        if self.comes_sorted(&mut aggregate.input, &[key]) {
            let input = std::mem::replace(&mut aggregate.input, Plan::One);
            let one = Expr::new(ExprKind::Const(Datum::Int(1)), Type::INT8);
            aggregate.input = Plan::Limit(Box::new(Limit { input, limit: Some(one), offset: None, ties: Vec::new() }));
        }
    }
}

/// The columns that the rows of a table are ordered by, if they are in ascending order.
fn clustered(table: &Table, planner: &Planner<'_>) -> Option<Vec<usize>> {
    if table.clustered.is_empty() {
        return None;
    }
    let index = table.primary_key.and_then(|oid| planner.catalog.relation(oid));
    let Some(RelationKind::Index(index)) = index.map(|relation| &relation.kind) else { return None };
    let column = |key: &crate::catalog::IndexKey| match key.what {
        IndexKeyKind::Column(column) if !key.descending => Some(column),
        _ => None,
    };
    let columns: Vec<usize> = index.keys.iter().map(column).collect::<Option<_>>()?;
    (index.space.is_none() && columns == table.clustered).then_some(columns)
}

/// The scan that the tuples of a plan come from in order; its row is slot 0.
fn first_scan(plan: &mut Plan) -> Option<&mut Scan> {
    match plan {
        Plan::Scan(scan) => Some(scan),
        Plan::Filter { input, .. } => first_scan(input),
        Plan::Join(join) if join.slots.0 > 0 && keeps_order(join.kind) => first_scan(&mut join.left),
        _ => None,
    }
}

/// Joins go through the left side in its order.
fn keeps_order(kind: crate::ir::JoinKind) -> bool {
    matches!(kind, crate::ir::JoinKind::Inner | crate::ir::JoinKind::Left)
}
