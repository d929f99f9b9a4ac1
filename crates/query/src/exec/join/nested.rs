//! Every tuple of the left side with every one of the right.

use crate::error::Result;
use crate::exec::join::{Kept, Pair, holds, keeps_left, keeps_right};
use crate::exec::operator::{Node, Operator};
use crate::exec::{Context, Run, Tuple};
use crate::ir::Join;

pub(super) struct NestedLoop<'p> {
    plan: &'p Join,
    left: Node<'p>,
    right: Kept<'p>,
    at: At,
}

enum At {
    /// The next left tuple is due.
    Left,
    /// This left tuple meets the right tuple with this number next; whether it met one already.
    Right { pair: Pair, next: usize, met: bool },
    /// Only right tuples that met nothing are left, from this one on.
    Unmatched(usize),
}

impl<'p> NestedLoop<'p> {
    pub(super) fn new(plan: &'p Join, left: Node<'p>, right: Kept<'p>) -> Self {
        NestedLoop { plan, left, right, at: At::Left }
    }

    fn after_left(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<()> {
        if keeps_right(self.plan.kind) {
            self.right.has(usize::MAX, run, cx)?;
        }
        self.at = At::Unmatched(0);
        Ok(())
    }
}

impl<'p> Operator<'p> for NestedLoop<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        let plan = self.plan;
        loop {
            match &mut self.at {
                At::Left => match self.left.next(run, cx)? {
                    Some(left) => self.at = At::Right { pair: Pair::new(&left, plan), next: 0, met: false },
                    None => self.after_left(run, cx)?,
                },
                At::Right { pair, next, met } => {
                    while self.right.has(*next, run, cx)? {
                        run.step(cx)?;
                        let index = *next;
                        *next += 1;
                        let tuple = pair.with(self.right.slots(index));
                        if holds(plan.on.as_ref(), tuple, run, cx)? {
                            *met = true;
                            self.right.matched[index] = true;
                            return Ok(Some(tuple.clone()));
                        }
                    }
                    let alone = (!*met && keeps_left(plan.kind)).then(|| pair.alone(plan));
                    self.at = At::Left;
                    if alone.is_some() {
                        return Ok(alone);
                    }
                    // Without a right side there is nothing to join with, whatever else is on the left.
                    if self.right.is_empty() && !keeps_left(plan.kind) {
                        self.at = At::Unmatched(0);
                    }
                }
                At::Unmatched(from) => {
                    if !keeps_right(plan.kind) {
                        return Ok(None);
                    }
                    let Some(index) = self.right.unmatched(*from) else { return Ok(None) };
                    *from = index + 1;
                    return Ok(Some(self.right.alone(index, plan.slots.0)));
                }
            }
        }
    }

    fn rewind(&mut self, run: &mut Run<'p>) {
        self.left.rewind(run);
        self.right.rewind(run);
        self.at = At::Left;
    }
}
