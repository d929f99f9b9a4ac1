//! The types of the values that a plan's one slot has, for operators that compare whole rows.

use crate::error::Result;
use crate::exec::run::internal;
use crate::exec::{Context, Run};
use crate::ir::{Change, Expr, Plan, Returning};
use crate::types::Type;

/// The types of the columns of a plan with one slot.
pub(crate) fn column_types<'p>(plan: &'p Plan, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Vec<Type>> {
    let of_exprs = |exprs: &[Expr]| exprs.iter().map(Expr::ty).collect();
    match plan {
        Plan::Project { columns, .. } => Ok(of_exprs(columns)),
        Plan::Values(rows) => Ok(rows.first().map_or(Vec::new(), |row| of_exprs(row))),
        Plan::Subquery(query) => Ok(query.columns.iter().map(|column| column.typed.ty).collect()),
        Plan::Filter { input, .. }
        | Plan::DistinctOn { input, .. }
        | Plan::Sort { input, .. }
        | Plan::Lock { input, .. }
        | Plan::Distinct(input) => column_types(input, run, cx),
        Plan::Limit(limit) => column_types(&limit.input, run, cx),
        Plan::With { input, .. } => column_types(input, run, cx),
        // Both sides have the same types; one of them may be without rows, and so without types.
        Plan::SetOperation { left, right, .. } => match column_types(left, run, cx)? {
            types if types.is_empty() => column_types(right, run, cx),
            types => Ok(types),
        },
        Plan::Cte { cte } => {
            let cte =
                run.cte_definition(*cte).ok_or_else(|| internal("a common table expression that is not around"))?;
            Ok(cte.query.columns.iter().map(|column| column.typed.ty).collect())
        }
        Plan::Stored(_) => Err(internal("a query of the catalog that was not brought up to date")),
        Plan::Virtual(table) => Ok(table.columns.iter().map(|(_, ty)| *ty).collect()),
        Plan::Function(scan) => {
            let columns = scan.calls.iter().flat_map(|call| &call.columns).map(|(_, typed)| typed.ty);
            Ok(columns.chain(scan.ordinality.then_some(Type::INT8)).collect())
        }
        Plan::Aggregate(aggregate) => {
            let keys = aggregate.keys.iter().map(Expr::ty);
            let calls = aggregate.calls.iter().map(|call| call.typed.ty);
            Ok(keys.chain(calls).chain(aggregate.grouping.iter().map(|_| Type::INT4)).collect())
        }
        Plan::Change(change) => Ok(returning(change).map_or(Vec::new(), |returning| of_exprs(&returning.values))),
        Plan::Scan(scan) => {
            let table = cx.catalog().table(scan.table).ok_or_else(|| internal("a table that is gone"))?;
            Ok(table.columns.iter().map(|column| column.typed.ty).collect())
        }
        Plan::One | Plan::Empty { .. } => Ok(Vec::new()),
        Plan::Join(_) | Plan::Window { .. } | Plan::ProjectSet { .. } | Plan::Arrange { .. } => {
            Err(internal("rows of several slots are compared as a whole"))
        }
    }
}

fn returning(change: &Change) -> Option<&Returning> {
    match change {
        Change::Insert(insert) => insert.returning.as_ref(),
        Change::Update(update) => update.returning.as_ref(),
        Change::Delete(delete) => delete.returning.as_ref(),
        Change::Merge(_) => None,
    }
}
