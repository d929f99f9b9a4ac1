//! The slots of tuples in another order.

use crate::error::Result;
use crate::exec::operator::{Node, Operator};
use crate::exec::{Context, Run, Tuple};

pub(crate) struct Arrange<'p> {
    pub(crate) input: Node<'p>,
    pub(crate) slots: &'p [usize],
}

/// The slots of a tuple in this order.
pub(crate) fn arranged(tuple: &Tuple, slots: &[usize]) -> Tuple {
    slots.iter().map(|slot| tuple.slot(*slot).clone()).collect()
}

impl<'p> Operator<'p> for Arrange<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        Ok(self.input.next(run, cx)?.map(|tuple| arranged(&tuple, self.slots)))
    }

    fn rewind(&mut self, run: &mut Run<'p>) {
        self.input.rewind(run);
    }
}
