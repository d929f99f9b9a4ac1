//! What one statement keeps while it runs: the tuples around a subquery, common table expressions, limits.
//!
//! A statement's whole evaluation, RETURNING and everything included, goes through one `Run`. Expressions and plans that
//! it is given have to live as long as it does, because subqueries are prepared once.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::budget::{self, Charge, Share};
use crate::catalog::Volatility;
use crate::error::{Result, SqlError, SqlState};
use crate::exec::cte::CteState;
use crate::exec::found::FoundItems;
use crate::exec::operator::{self, Node};
use crate::exec::subquery::Subplan;
use crate::exec::{Context, Slot, Tuple};
use crate::ir::{Expr, ExprKind, Plan, Query, children};
use crate::types::Datum;

/// How many steps go by between two questions whether the statement was cancelled.
const STEPS_BETWEEN_CHECKS: u32 = 512;

/// The state of a running statement. Making one costs nothing.
#[derive(Default)]
pub struct Run<'p> {
    /// The tuples around: the last one is `up = 1`.
    pub(crate) outer: Vec<Tuple>,
    /// The operands of the CASE and NULLIF expressions around, innermost last.
    pub(crate) operands: Vec<Datum>,
    /// Common table expressions by number.
    pub(crate) ctes: Vec<Option<CteState<'p>>>,
    /// What is known of the subqueries of expressions, by the address of the query.
    pub(crate) subqueries: FxHashMap<usize, Subplan>,
    /// Operators of subqueries, ready to be rewound, by the address of the plan.
    pub(crate) prepared: FxHashMap<usize, Node<'p>>,
    /// Lists and arrays that `IN` looks into, by the address of the expression.
    pub(crate) lists: FxHashMap<usize, FoundItems>,
    /// How many rows the statement itself changed; what its WITH changed does not count.
    pub changed: u64,
    kept: Charge,
    steps: u32,
}

impl<'p> Run<'p> {
    /// For a new statement.
    pub fn new() -> Run<'p> {
        Run::default()
    }

    /// Whether a condition is true over a tuple (neither false nor NULL).
    pub fn is_true(&mut self, cx: &mut dyn Context, condition: &'p Expr, tuple: &Tuple) -> Result<bool> {
        Ok(matches!(self.eval(cx, condition, tuple)?, Datum::Bool(true)))
    }

    /// The value of an expression over a tuple, with a value for [`crate::ir::ExprKind::Operand`].
    pub fn eval_on(&mut self, cx: &mut dyn Context, expr: &'p Expr, tuple: &Tuple, operand: Datum) -> Result<Datum> {
        self.operands.push(operand);
        let value = self.eval(cx, expr, tuple);
        self.operands.pop();
        value
    }

    /// The rows of a whole query; then the data-changing parts of its WITH that nobody asked for are done, too.
    pub fn rows(&mut self, cx: &mut dyn Context, query: &'p Query) -> Result<Vec<Vec<Datum>>> {
        let mut rows = Vec::new();
        match &query.plan {
            // The result is made as it is given away: no tuple of values in between.
            Plan::Project { input, columns } => {
                if runs_statements(columns) && !input.locks() {
                    return self.rows_seen_first(cx, input, columns);
                }
                let mut node = operator::open(input, self, cx)?;
                while let Some(tuple) = node.next(self, cx)? {
                    let row = self.eval_all(cx, columns, &tuple)?;
                    self.keep(row_weight(&row))?;
                    rows.push(row);
                }
            }
            plan => {
                let mut node = operator::open(plan, self, cx)?;
                while let Some(tuple) = node.next(self, cx)? {
                    let row = values(&tuple).to_vec();
                    self.keep(row_weight(&row))?;
                    rows.push(row);
                }
            }
        }
        self.finish(cx)?;
        Ok(rows)
    }

    /// The rows of a projection that runs statements of functions: everything else that it looks at is looked at before.
    fn rows_seen_first(
        &mut self,
        cx: &mut dyn Context,
        input: &'p Plan,
        columns: &'p [Expr],
    ) -> Result<Vec<Vec<Datum>>> {
        let tuples = self.tuples(cx, input)?;
        for tuple in &tuples {
            for column in columns {
                touch(column, tuple, cx)?;
            }
        }
        let mut rows = Vec::with_capacity(tuples.len());
        for tuple in &tuples {
            let row = self.eval_all(cx, columns, tuple)?;
            self.keep(row_weight(&row))?;
            rows.push(row);
        }
        self.finish(cx)?;
        Ok(rows)
    }

    /// All tuples of a plan: what UPDATE, DELETE and MERGE go through.
    pub fn tuples(&mut self, cx: &mut dyn Context, plan: &'p Plan) -> Result<Vec<Tuple>> {
        let mut node = operator::open(plan, self, cx)?;
        let mut tuples = Vec::new();
        while let Some(tuple) = node.next(self, cx)? {
            self.keep(weight(&tuple))?;
            tuples.push(tuple);
        }
        Ok(tuples)
    }

    /// The tuples of a plan one after the other, for who wants to stop early.
    pub fn open(&mut self, cx: &mut dyn Context, plan: &'p Plan) -> Result<Tuples<'p>> {
        Ok(Tuples(operator::open(plan, self, cx)?))
    }

    /// Does the data-changing parts of WITH that nobody has asked for. [`Run::rows`] does it itself.
    pub fn finish(&mut self, cx: &mut dyn Context) -> Result<()> {
        (0..self.ctes.len()).try_for_each(|number| self.finish_cte(cx, number))?;
        cx.has_run()
    }

    /// Counts memory that is kept.
    pub(crate) fn keep(&mut self, bytes: usize) -> Result<()> {
        self.kept.add(bytes)
    }

    /// Memory that is no longer kept.
    pub(crate) fn release(&mut self, bytes: &mut usize) {
        self.kept.take_back(std::mem::take(bytes));
    }

    /// Counts a step of work, and asks now and then whether the statement is to stop: after many steps, or after the work that
    /// functions have counted since.
    pub(crate) fn step(&mut self, cx: &mut dyn Context) -> Result<()> {
        self.steps += 1;
        if self.steps < STEPS_BETWEEN_CHECKS && !budget::has_looked() {
            return Ok(());
        }
        self.steps = 0;
        cx.check_cancelled()
    }

    /// Goes one level deeper, if that is allowed.
    pub(crate) fn enter(&self) -> Result<()> {
        budget::deeper(Share::Run)
    }

    /// The tuple `up` levels around; `tuple` is the one at hand.
    pub(crate) fn around<'t>(&'t self, up: usize, tuple: &'t Tuple) -> Result<&'t Tuple> {
        if up == 0 {
            return Ok(tuple);
        }
        let index = self.outer.len().checked_sub(up);
        index.map(|index| &self.outer[index]).ok_or_else(|| internal("a column of a query that is not around"))
    }

    /// Does something inside of a tuple: `up = 1` there.
    pub(crate) fn inside<T>(&mut self, tuple: Tuple, act: impl FnOnce(&mut Self) -> Result<T>) -> (Tuple, Result<T>) {
        self.outer.push(tuple);
        let result = act(self);
        let tuple = self.outer.pop().expect("what is pushed here is popped here");
        (tuple, result)
    }
}

/// The tuples of a plan under way.
pub struct Tuples<'p>(Node<'p>);

impl<'p> Tuples<'p> {
    /// The next one.
    pub fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        self.0.next(run, cx)
    }
}

/// The values of a tuple whose one slot has values.
pub(crate) fn values(tuple: &Tuple) -> &[Datum] {
    match tuple.slot(0) {
        Slot::Values(values) => values,
        Slot::Row(_) | Slot::Missing => &[],
    }
}

/// The same, shared.
pub(crate) fn shared_values(tuple: &Tuple) -> Arc<[Datum]> {
    match tuple.slot(0) {
        Slot::Values(values) => values.clone(),
        Slot::Row(_) | Slot::Missing => Arc::new([]),
    }
}

/// About how much memory a tuple takes.
pub(crate) fn weight(tuple: &Tuple) -> usize {
    let slot = |slot: &Slot| match slot {
        Slot::Values(values) => shared_weight(values),
        Slot::Row(_) | Slot::Missing => 0,
    };
    size_of::<Tuple>() + tuple.slots().map(slot).sum::<usize>()
}

/// About how much memory a row of a result takes, in a list that grows.
fn row_weight(row: &[Datum]) -> usize {
    2 * size_of::<Vec<Datum>>() + budget::ALLOCATION_BYTES + row.iter().map(Datum::weight).sum::<usize>()
}

/// About how much memory the rows of a result take.
pub fn rows_weight(rows: &[Vec<Datum>]) -> usize {
    rows.iter().map(|row| row_weight(row)).sum()
}

/// About how much memory a shared row takes beside what refers to it.
pub(crate) fn shared_weight(row: &[Datum]) -> usize {
    2 * size_of::<usize>() + budget::ALLOCATION_BYTES + row.iter().map(Datum::weight).sum::<usize>()
}

/// About how much memory a shared row takes in a list that grows.
pub(crate) fn listed_weight(row: &[Datum]) -> usize {
    2 * size_of::<Arc<[Datum]>>() + shared_weight(row)
}

/// About how much memory a value takes.
pub(crate) fn datum_weight(value: &Datum) -> usize {
    value.weight()
}

/// A broken rule of our own.
pub(crate) fn internal(rule: &str) -> SqlError {
    SqlError::new(SqlState::INTERNAL_ERROR, format!("plan is broken: {rule}"))
}

/// Whether one of the expressions calls a function whose statements are their own.
fn runs_statements(columns: &[Expr]) -> bool {
    let mut left: Vec<&Expr> = columns.iter().collect();
    while let Some(expr) = left.pop() {
        if matches!(&expr.kind, ExprKind::UserCall { function, .. } if function.volatility == Volatility::Volatile) {
            return true;
        }
        children(expr, &mut |part| left.push(part));
    }
    false
}

/// Reads the cells of a tuple that an expression looks at.
fn touch(expr: &Expr, tuple: &Tuple, cx: &mut dyn Context) -> Result<()> {
    let mut left = vec![expr];
    while let Some(expr) = left.pop() {
        if let ExprKind::Column(column) = &expr.kind
            && column.up == 0
            && let Slot::Row(row) = tuple.slot(column.slot)
        {
            cx.cell(*row, column.column)?;
        }
        children(expr, &mut |part| left.push(part));
    }
    Ok(())
}
