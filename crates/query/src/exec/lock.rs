//! Rows get locked as FOR UPDATE asks; one that changed before it was locked is checked again.

use crate::error::Result;
use crate::exec::operator::{Node, Operator};
use crate::exec::{Context, LockOutcome, Run, Slot, Tuple};
use crate::ir::{Plan, RowLock};

pub(crate) struct Lock<'p> {
    pub(crate) plan: &'p Plan,
    pub(crate) input: Node<'p>,
    pub(crate) locks: &'p [RowLock],
}

impl<'p> Lock<'p> {
    /// Locks the rows of a tuple: the tuple as it is then, or nothing if it is to be left out.
    fn lock(&self, mut tuple: Tuple, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        let mut changed = false;
        for lock in self.locks {
            for &slot in &lock.slots {
                let Slot::Row(row) = *tuple.slot(slot) else { continue };
                match cx.lock_row(row, lock.strength, lock.wait)? {
                    LockOutcome::Locked(row) => tuple.set(slot, Slot::Row(row)),
                    LockOutcome::Changed(newest) => {
                        tuple.set(slot, Slot::Row(newest));
                        changed = true;
                    }
                    LockOutcome::Skipped | LockOutcome::Gone => return Ok(None),
                }
            }
        }
        if changed { run.recheck(cx, self.plan, &tuple) } else { Ok(Some(tuple)) }
    }
}

impl<'p> Operator<'p> for Lock<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        while let Some(tuple) = self.input.next(run, cx)? {
            if let Some(tuple) = self.lock(tuple, run, cx)? {
                return Ok(Some(tuple));
            }
        }
        Ok(None)
    }

    fn rewind(&mut self, run: &mut Run<'p>) {
        self.input.rewind(run);
    }
}
