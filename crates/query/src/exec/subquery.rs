//! Subqueries in expressions. One that looks at nothing around it is evaluated once a statement.

use std::sync::Arc;

use crate::budget::Charge;
use crate::error::{Result, SqlError, SqlState};
use crate::exec::eval::{RowComparison, Verdict, array_of};
use crate::exec::found::Found;
use crate::exec::key_table::KeyTable;
use crate::exec::keys;
use crate::exec::operator::{self, Node};
use crate::exec::run::{internal, listed_weight, shared_values, values};
use crate::exec::{Context, Run, Tuple};
use crate::functions::Function;
use crate::ir::{Expr, Plan, Query, RowOperator, SubqueryKind};
use crate::types::{Datum, Type, Typed};

/// What is kept of a subquery between two evaluations.
#[derive(Default)]
pub(crate) struct Subplan {
    /// Its value, its existence: known once if nothing around changes them.
    value: Option<Datum>,
    exists: Option<bool>,
    /// Its rows, and those of them that a hash finds.
    rows: Option<Arc<Vec<Arc<[Datum]>>>>,
    found: Option<Arc<Found>>,
}

/// `args op ANY (SELECT …)`, taken apart.
struct Comparison<'p> {
    args: &'p [Expr],
    operators: &'p [&'static Function],
    casts: &'p [Option<Typed>],
    columns: Vec<Typed>,
    row: RowOperator,
    all: bool,
}

impl<'p> Run<'p> {
    pub(crate) fn subquery(
        &mut self,
        cx: &mut dyn Context,
        kind: &'p SubqueryKind,
        query: &'p Arc<Query>,
        tuple: &Tuple,
    ) -> Result<Datum> {
        match kind {
            SubqueryKind::Scalar => self.scalar(cx, query, tuple),
            SubqueryKind::Exists => self.exists(cx, query, tuple).map(Datum::Bool),
            SubqueryKind::Array => self.array(cx, query, tuple),
            SubqueryKind::Quantified { args, operators, casts, row, all } => {
                let columns = query.columns.iter().map(|column| column.typed).collect();
                let comparison = Comparison { args, operators, casts, columns, row: *row, all: *all };
                self.compare_with_rows(cx, &comparison, query, tuple)
            }
        }
    }

    fn scalar(&mut self, cx: &mut dyn Context, query: &'p Query, tuple: &Tuple) -> Result<Datum> {
        if let Some(value) = self.subplan(query).value.clone() {
            return Ok(value);
        }
        let value = self.each_row(cx, query, &query.plan, tuple, |run, cx, node| {
            let Some(row) = node.next(run, cx)? else { return Ok(Datum::Null) };
            if node.next(run, cx)?.is_some() {
                let message = "more than one row returned by a subquery used as an expression";
                return Err(SqlError::new(SqlState::CARDINALITY_VIOLATION, message));
            }
            values(&row).first().cloned().ok_or_else(|| internal("a subquery without a column"))
        })?;
        if !query.correlated {
            self.subplan(query).value = Some(value.clone());
        }
        Ok(value)
    }

    fn exists(&mut self, cx: &mut dyn Context, query: &'p Query, tuple: &Tuple) -> Result<bool> {
        if let Some(exists) = self.subplan(query).exists {
            return Ok(exists);
        }
        let plan = what_exists(&query.plan);
        let exists = self.each_row(cx, query, plan, tuple, |run, cx, node| Ok(node.next(run, cx)?.is_some()))?;
        if !query.correlated {
            self.subplan(query).exists = Some(exists);
        }
        Ok(exists)
    }

    fn array(&mut self, cx: &mut dyn Context, query: &'p Query, tuple: &Tuple) -> Result<Datum> {
        let rows = self.all_rows(cx, query, tuple)?;
        let items = rows.iter().map(|row| row.first().cloned().unwrap_or_default()).collect();
        let column = query.columns.first().ok_or_else(|| internal("a subquery without a column"))?;
        array_of(cx, items, column.typed.ty)
    }

    fn compare_with_rows(
        &mut self,
        cx: &mut dyn Context,
        comparison: &Comparison<'p>,
        query: &'p Query,
        tuple: &Tuple,
    ) -> Result<Datum> {
        let left = self.eval_all(cx, comparison.args, tuple)?;
        if !query.correlated {
            if let Some(types) = comparison.hashed_types()
                && let Some(value) = self.probe(cx, comparison, query, tuple, &left, &types)?
            {
                return Ok(value);
            }
            let rows = self.all_rows(cx, query, tuple)?;
            let mut verdict = Verdict::new(comparison.all);
            for row in rows.iter() {
                self.step(cx)?;
                if verdict.take(&self.compare_with_row(cx, comparison, &left, row)?) {
                    return Ok(verdict.decided());
                }
            }
            return Ok(verdict.undecided());
        }
        self.each_row(cx, query, &query.plan, tuple, |run, cx, node| {
            let mut verdict = Verdict::new(comparison.all);
            while let Some(row) = node.next(run, cx)? {
                if verdict.take(&run.compare_with_row(cx, comparison, &left, values(&row))?) {
                    return Ok(verdict.decided());
                }
            }
            Ok(verdict.undecided())
        })
    }

    /// Looks the values up; nothing if NULLs make it necessary to go through the rows.
    fn probe(
        &mut self,
        cx: &mut dyn Context,
        comparison: &Comparison<'p>,
        query: &'p Query,
        tuple: &Tuple,
        left: &[Datum],
        types: &[Type],
    ) -> Result<Option<Datum>> {
        // A NULL on the left is compared with nothing, with one column: whether there is anything decides.
        let null = left.iter().any(Datum::is_null);
        if null && left.len() > 1 {
            return Ok(None);
        }
        let found = match &self.subplan(query).found {
            Some(found) => found.clone(),
            None => {
                let found = match types {
                    [ty] => self.find_values(cx, comparison, query, tuple, *ty)?,
                    types => {
                        let rows = self.all_rows(cx, query, tuple)?;
                        self.find_rows(cx, comparison, &rows, types)?
                    }
                };
                let found = Arc::new(found);
                self.subplan(query).found = Some(found.clone());
                found
            }
        };
        if null || found.is_empty() {
            return Ok(Some(if found.is_empty() { Datum::Bool(comparison.all) } else { Datum::Null }));
        }
        let mut key = Vec::new();
        left.iter().zip(types).for_each(|(value, ty)| keys::append(&mut key, value, *ty));
        if left.len() == 1 {
            return Ok(Some(found.contains(&key).map_or(Datum::Null, |found| Datum::Bool(found != comparison.all))));
        }
        Ok(found.contains(&key).map(|found| Datum::Bool(found != comparison.all)))
    }

    /// The values of a subquery with one column: its rows need not be kept.
    fn find_values(
        &mut self,
        cx: &mut dyn Context,
        comparison: &Comparison<'p>,
        query: &'p Query,
        tuple: &Tuple,
        ty: Type,
    ) -> Result<Found> {
        self.each_row(cx, query, &query.plan, tuple, |run, cx, node| {
            let mut found = Found::default();
            let mut key = Vec::new();
            while let Some(row) = node.next(run, cx)? {
                run.step(cx)?;
                let value = run.right_field(cx, comparison, values(&row), 0)?;
                key.clear();
                keys::append(&mut key, &value, ty);
                if found.add(&key, value.is_null()) {
                    run.keep(KeyTable::<()>::weight(&key))?;
                }
            }
            Ok(found)
        })
    }

    fn find_rows(
        &mut self,
        cx: &mut dyn Context,
        comparison: &Comparison<'p>,
        rows: &[Arc<[Datum]>],
        types: &[Type],
    ) -> Result<Found> {
        let mut found = Found::default();
        let mut key = Vec::new();
        for row in rows {
            self.step(cx)?;
            key.clear();
            let mut null = false;
            for (field, ty) in types.iter().enumerate() {
                let value = self.right_field(cx, comparison, row, field)?;
                null |= value.is_null();
                keys::append(&mut key, &value, *ty);
            }
            if found.add(&key, null) {
                self.keep(KeyTable::<()>::weight(&key))?;
            }
        }
        Ok(found)
    }

    fn compare_with_row(
        &mut self,
        cx: &mut dyn Context,
        comparison: &Comparison<'p>,
        left: &[Datum],
        row: &[Datum],
    ) -> Result<Datum> {
        if let [operator] = comparison.operators {
            let right = self.right_field(cx, comparison, row, 0)?;
            return self.operate(cx, operator, [&left[0], &right], comparison.types(0));
        }
        if matches!(comparison.row, RowOperator::Equal | RowOperator::NotEqual) {
            return self.compare_fields(cx, comparison, left, row);
        }
        let mut rows = RowComparison::new(comparison.row);
        for (field, left) in left.iter().enumerate() {
            let right = self.right_field(cx, comparison, row, field)?;
            let ty = comparison.types(field)[0].ty;
            let order = (!left.is_null() && !right.is_null()).then(|| keys::compare(left, &right, ty));
            if let Some(value) = rows.take(order) {
                return Ok(value);
            }
        }
        Ok(rows.end())
    }

    /// `=` of rows is that of all fields, `<>` that of any.
    fn compare_fields(
        &mut self,
        cx: &mut dyn Context,
        comparison: &Comparison<'p>,
        left: &[Datum],
        row: &[Datum],
    ) -> Result<Datum> {
        let mut verdict = Verdict::new(comparison.row == RowOperator::Equal);
        for (field, (left, operator)) in left.iter().zip(comparison.operators).enumerate() {
            let right = self.right_field(cx, comparison, row, field)?;
            if verdict.take(&self.operate(cx, operator, [left, &right], comparison.types(field))?) {
                return Ok(verdict.decided());
            }
        }
        Ok(verdict.undecided())
    }

    fn right_field(
        &mut self,
        cx: &mut dyn Context,
        comparison: &Comparison<'p>,
        row: &[Datum],
        field: usize,
    ) -> Result<Datum> {
        let value = row.get(field).cloned().unwrap_or_default();
        match comparison.casts.get(field) {
            Some(Some(to)) => self.convert(cx, value, comparison.columns[field], *to, false),
            _ => Ok(value),
        }
    }

    /// All rows, kept if nothing around changes them.
    fn all_rows(&mut self, cx: &mut dyn Context, query: &'p Query, tuple: &Tuple) -> Result<Arc<Vec<Arc<[Datum]>>>> {
        if let Some(rows) = &self.subplan(query).rows {
            return Ok(rows.clone());
        }
        let rows = self.each_row(cx, query, &query.plan, tuple, |run, cx, node| {
            let mut rows: Vec<Arc<[Datum]>> = Vec::new();
            let mut while_made = Charge::default();
            while let Some(row) = node.next(run, cx)? {
                let bytes = listed_weight(values(&row));
                if query.correlated {
                    while_made.add(bytes)?;
                } else {
                    run.keep(bytes)?;
                }
                rows.push(shared_values(&row));
            }
            Ok(rows)
        })?;
        let rows = Arc::new(rows);
        if !query.correlated {
            self.subplan(query).rows = Some(rows.clone());
        }
        Ok(rows)
    }

    /// Runs the subquery inside of the tuple.
    fn each_row<T>(
        &mut self,
        cx: &mut dyn Context,
        query: &'p Query,
        plan: &'p Plan,
        tuple: &Tuple,
        act: impl FnOnce(&mut Self, &mut dyn Context, &mut Node<'p>) -> Result<T>,
    ) -> Result<T> {
        let known = self.prepared.remove(&address(plan));
        let (_, result) = self.inside(tuple.clone(), |run| {
            let mut node = match known {
                Some(mut node) => {
                    node.rewind(run);
                    node
                }
                None => operator::open(plan, run, cx)?,
            };
            let result = act(run, cx, &mut node)?;
            if query.correlated {
                run.prepared.insert(address(plan), node);
            }
            Ok(result)
        });
        result
    }

    fn subplan(&mut self, query: &'p Query) -> &mut Subplan {
        self.subqueries.entry(address(query)).or_default()
    }
}

impl Comparison<'_> {
    fn types(&self, field: usize) -> [Typed; 2] {
        [self.args[field].typed, self.casts.get(field).copied().flatten().unwrap_or(self.columns[field])]
    }

    /// By which types the fields are looked up in a hash: for `= ANY` and `<> ALL`, where equality is that of one type.
    fn hashed_types(&self) -> Option<Vec<Type>> {
        let name = match (self.row, self.all) {
            (RowOperator::Equal, false) => "=",
            (RowOperator::NotEqual, true) => "<>",
            _ => return None,
        };
        let hashed = |(field, operator): (usize, &&'static Function)| {
            let [left, right] = self.types(field);
            (operator.name == name).then(|| keys::shared_equality(left.ty, right.ty)).flatten()
        };
        self.operators.iter().enumerate().map(hashed).collect()
    }
}

/// Plans live as long as the run that they are given to, so their addresses tell them apart.
fn address<T>(of: &T) -> usize {
    std::ptr::from_ref(of).addr()
}

/// What has to be looked at to know whether there is a row: neither what its columns are, nor in which order.
fn what_exists(plan: &Plan) -> &Plan {
    match plan {
        Plan::Project { input, .. } | Plan::Sort { input, .. } | Plan::DistinctOn { input, .. } => what_exists(input),
        Plan::Distinct(input) => what_exists(input),
        plan => plan,
    }
}
