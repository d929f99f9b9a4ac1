//! The rows that a data-changing statement returns. The statement itself is the context's.

use std::sync::Arc;

use crate::error::Result;
use crate::exec::operator::Operator;
use crate::exec::{Context, Run, Tuple};
use crate::ir;
use crate::types::Datum;

pub(crate) struct Change<'p> {
    plan: &'p ir::Change,
    rows: Option<std::vec::IntoIter<Arc<[Datum]>>>,
}

impl<'p> Change<'p> {
    pub(crate) fn new(plan: &'p ir::Change) -> Self {
        Change { plan, rows: None }
    }
}

impl<'p> Operator<'p> for Change<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        let rows = match &mut self.rows {
            Some(rows) => rows,
            none => none.insert(cx.change(self.plan, run)?.into_iter()),
        };
        Ok(rows.next().map(Tuple::values))
    }

    fn rewind(&mut self, _run: &mut Run<'p>) {
        self.rows = None;
    }
}
