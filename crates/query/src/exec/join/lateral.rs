//! Joins whose right side is made anew for each tuple of the left one: LATERAL, and lookups by an index.

use crate::error::Result;
use crate::exec::join::{Pair, holds, keeps_left};
use crate::exec::operator::{Node, Operator};
use crate::exec::{Context, Run, Tuple};
use crate::ir::Join;

pub(super) struct Lateral<'p> {
    plan: &'p Join,
    left: Node<'p>,
    right: Node<'p>,
    /// The left tuple at hand, and whether it met a right one.
    current: Option<(Tuple, Pair, bool)>,
}

impl<'p> Lateral<'p> {
    pub(super) fn new(plan: &'p Join, left: Node<'p>, right: Node<'p>) -> Self {
        Lateral { plan, left, right, current: None }
    }
}

impl<'p> Operator<'p> for Lateral<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        let plan = self.plan;
        loop {
            let Some((left, pair, met)) = &mut self.current else {
                let Some(left) = self.left.next(run, cx)? else { return Ok(None) };
                self.right.rewind(run);
                let pair = Pair::new(&left, plan);
                self.current = Some((left, pair, false));
                continue;
            };
            let right = &mut self.right;
            let (back, found) = run.inside(std::mem::take(left), |run| right.next(run, cx));
            *left = back;
            match found? {
                Some(right) => {
                    let tuple = pair.with(right.slots());
                    if holds(plan.on.as_ref(), tuple, run, cx)? {
                        *met = true;
                        return Ok(Some(tuple.clone()));
                    }
                }
                None => {
                    let alone = (!*met && keeps_left(plan.kind)).then(|| pair.alone(plan));
                    self.current = None;
                    if alone.is_some() {
                        return Ok(alone);
                    }
                }
            }
        }
    }

    fn rewind(&mut self, run: &mut Run<'p>) {
        self.left.rewind(run);
        self.right.rewind(run);
        self.current = None;
    }
}
