//! Functions in FROM: several side by side, their rows numbered on request.

use std::sync::Arc;

use crate::error::Result;
use crate::exec::eval::{SetRows, set_rows};
use crate::exec::operator::Operator;
use crate::exec::{Context, Run, Tuple};
use crate::ir::{self, FunctionCall};
use crate::types::Datum;

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
    Ok(match set_rows(&call.call, &Tuple::default(), run, cx)? {
        SetRows::Value(value) => Box::new(std::iter::once(columns(call, vec![value]))),
        SetRows::Rows(rows) => Box::new(rows.map(|row| columns(call, row))),
    })
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
