//! Those tuples for which a condition is true.

use crate::error::Result;
use crate::exec::operator::{Node, Operator};
use crate::exec::{Context, Run, Tuple};
use crate::ir::Expr;

pub(crate) struct Filter<'p> {
    pub(crate) input: Node<'p>,
    pub(crate) condition: &'p Expr,
}

impl<'p> Operator<'p> for Filter<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        while let Some(tuple) = self.input.next(run, cx)? {
            run.step(cx)?;
            if run.is_true(cx, self.condition, &tuple)? {
                return Ok(Some(tuple));
            }
        }
        Ok(None)
    }

    fn rewind(&mut self, run: &mut Run<'p>) {
        self.input.rewind(run);
    }
}
