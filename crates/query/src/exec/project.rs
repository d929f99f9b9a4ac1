//! One slot of the values of expressions.

use crate::error::Result;
use crate::exec::operator::{Node, Operator};
use crate::exec::{Context, Run, Tuple};
use crate::ir::Expr;
use crate::types::Datum;

pub(crate) struct Project<'p> {
    input: Node<'p>,
    columns: &'p [Expr],
    scratch: Vec<Datum>,
}

impl<'p> Project<'p> {
    pub(crate) fn new(columns: &'p [Expr], input: Node<'p>) -> Self {
        Project { input, columns, scratch: Vec::with_capacity(columns.len()) }
    }
}

impl<'p> Operator<'p> for Project<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        let Some(tuple) = self.input.next(run, cx)? else { return Ok(None) };
        self.scratch.clear();
        for column in self.columns {
            let value = run.eval(cx, column, &tuple)?;
            self.scratch.push(value);
        }
        // Draining tells the length, so that the shared values are made in one piece.
        Ok(Some(Tuple::values(self.scratch.drain(..).collect())))
    }

    fn rewind(&mut self, run: &mut Run<'p>) {
        self.input.rewind(run);
    }

    fn bound(&mut self, tuples: usize) {
        self.input.bound(tuples);
    }
}
