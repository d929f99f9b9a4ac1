//! Functions in FROM: several side by side, their rows numbered on request.

use std::sync::Arc;

use crate::catalog::{Parameter, ParameterMode, Returns};
use crate::error::{Result, SqlError, SqlState};
use crate::exec::eval::{SetRows, set_rows};
use crate::exec::operator::Operator;
use crate::exec::{Context, Run, Tuple};
use crate::ir::{self, Expr, ExprKind, FunctionCall};
use crate::types::{Datum, Type, Typed, names};

pub(crate) struct FunctionScan<'p> {
    plan: &'p ir::FunctionScan,
    /// The rows of each call.
    rows: Option<Vec<Rows<'p>>>,
    given: i64,
}

impl<'p> FunctionScan<'p> {
    pub(crate) fn new(plan: &'p ir::FunctionScan) -> Self {
        FunctionScan { plan, rows: None, given: 0 }
    }
}

type Rows<'p> = Box<dyn Iterator<Item = Vec<Datum>> + 'p>;

/// The rows of a call, each with as many columns as the call is to have.
fn call_rows<'p>(call: &'p FunctionCall, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Rows<'p>> {
    let rows = set_rows(&call.call, &Tuple::default(), run, cx)?;
    if call.expand && is_of_records(&call.call) {
        let found: Vec<Typed> = match &rows {
            SetRows::Value(Datum::Record(record)) => record.shape.fields.iter().map(|(_, typed)| *typed).collect(),
            SetRows::Value(_) => Vec::new(),
            SetRows::Rows(_) => cx.returned().to_vec(),
        };
        must_fit(&found, call, cx)?;
    }
    Ok(match rows {
        SetRows::Value(value) => Box::new(std::iter::once(columns(call, vec![value]))),
        SetRows::Rows(rows) => Box::new(rows.map(|row| columns(call, row))),
    })
}

/// Whether the columns are what the query says, not what the function says.
fn is_of_records(call: &Expr) -> bool {
    let ExprKind::UserCall { function, .. } = &call.kind else { return false };
    let said = |parameter: &Parameter| !matches!(parameter.mode, ParameterMode::In | ParameterMode::Variadic);
    matches!(function.returns, Returns::One(typed) | Returns::Set(typed) if typed.ty == Type::RECORD)
        && !function.parameters.iter().any(said)
}

/// Records have to be what the query says about them.
fn must_fit(found: &[Typed], call: &FunctionCall, cx: &dyn Context) -> Result<()> {
    let wrong = |detail: String| {
        let message = "returned record type does not match expected record type";
        Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message).detail(detail))
    };
    // No row, no type.
    if found.is_empty() {
        return Ok(());
    }
    if found.len() != call.columns.len() {
        let (given, wanted) = (found.len(), call.columns.len());
        return wrong(format!("Number of returned columns ({given}) does not match expected column count ({wanted})."));
    }
    for (n, (one, (_, other))) in found.iter().zip(&call.columns).enumerate() {
        if one.ty != other.ty {
            let shown = |ty| names::display(ty, cx.catalog());
            return wrong(format!(
                "Returned type {} does not match expected type {} in column {}.",
                shown(one.ty),
                shown(other.ty),
                n + 1
            ));
        }
    }
    Ok(())
}

fn columns(call: &FunctionCall, mut row: Vec<Datum>) -> Vec<Datum> {
    if call.expand
        && let [value] = &row[..]
    {
        match value {
            Datum::Record(record) => row = record.fields.clone(),
            // A row that is NULL as a whole.
            Datum::Null => row.clear(),
            _ => {}
        }
    }
    row.resize(call.columns.len(), Datum::Null);
    row
}

impl<'p> Operator<'p> for FunctionScan<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        run.step(cx)?;
        let rows = match &mut self.rows {
            Some(rows) => rows,
            none => {
                let rows = self.plan.calls.iter().map(|call| call_rows(call, run, cx));
                none.insert(rows.collect::<Result<_>>()?)
            }
        };
        let mut values = Vec::new();
        let mut found = false;
        for (call, rows) in self.plan.calls.iter().zip(rows) {
            match rows.next() {
                Some(row) => {
                    found = true;
                    values.extend(row);
                }
                None => values.extend(std::iter::repeat_n(Datum::Null, call.columns.len())),
            }
        }
        if !found {
            return Ok(None);
        }
        self.given += 1;
        values.extend(self.plan.ordinality.then_some(Datum::Int(self.given)));
        Ok(Some(Tuple::values(Arc::from(values))))
    }

    fn rewind(&mut self, _: &mut Run<'p>) {
        self.rows = None;
        self.given = 0;
    }
}
