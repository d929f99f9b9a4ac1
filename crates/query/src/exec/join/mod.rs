//! Joins: by hash where the planner found equalities, else tuple by tuple.

mod hash;
mod lateral;
mod nested;

use crate::error::{Result, SqlError};
use crate::exec::free;
use crate::exec::operator::{self, Node};
use crate::exec::run::weight;
use crate::exec::{Context, Run, Slot, Tuple};
use crate::ir::{Expr, Join, JoinKind, Plan};

pub(crate) fn open<'p>(plan: &'p Join, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Node<'p>> {
    let left = operator::open(&plan.left, run, cx)?;
    let right = operator::open(&plan.right, run, cx)?;
    if plan.lateral {
        if keeps_right(plan.kind) {
            return Err(SqlError::unsupported("a RIGHT or FULL JOIN whose right side refers to its left side"));
        }
        return Ok(Box::new(lateral::Lateral::new(plan, left, right)));
    }
    let right = Kept::new(plan, right);
    if plan.equal.is_empty() {
        Ok(Box::new(nested::NestedLoop::new(plan, left, right)))
    } else {
        Ok(Box::new(hash::HashJoin::new(plan, left, right)))
    }
}

fn keeps_left(kind: JoinKind) -> bool {
    matches!(kind, JoinKind::Left | JoinKind::Full)
}

fn keeps_right(kind: JoinKind) -> bool {
    matches!(kind, JoinKind::Right | JoinKind::Full)
}

/// A tuple under construction: the left side's slots stay while those of the right side change.
struct Pair {
    tuple: Tuple,
    left_slots: usize,
}

impl Pair {
    fn new(left: &Tuple, plan: &Join) -> Pair {
        Pair { tuple: left.joined(&Tuple::missing(plan.slots.1)), left_slots: left.len() }
    }

    fn with<'s>(&mut self, right: impl IntoIterator<Item = &'s Slot>) -> &Tuple {
        for (index, slot) in right.into_iter().enumerate() {
            self.tuple.set(self.left_slots + index, slot.clone());
        }
        &self.tuple
    }

    /// The left side without a right one.
    fn alone(&mut self, plan: &Join) -> Tuple {
        self.with(std::iter::repeat_n(&Slot::Missing, plan.slots.1)).clone()
    }
}

fn holds<'p>(on: Option<&'p Expr>, tuple: &Tuple, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<bool> {
    on.map_or(Ok(true), |on| run.is_true(cx, on, tuple))
}

/// The tuples of a join's right side, which is gone through many times but made once, and only as far as asked for.
struct Kept<'p> {
    plan: &'p Plan,
    node: Node<'p>,
    /// The slots of all tuples, so many of each. Many tuples in little memory are found faster.
    slots: Vec<Slot>,
    width: usize,
    /// Whether each was joined with something.
    matched: Vec<bool>,
    complete: bool,
    bytes: usize,
    /// Whether it is the same after a rewind.
    fixed: Option<bool>,
}

impl<'p> Kept<'p> {
    fn new(join: &'p Join, node: Node<'p>) -> Self {
        let (plan, width) = (&join.right, join.slots.1);
        Kept { plan, node, slots: Vec::new(), width, matched: Vec::new(), complete: false, bytes: 0, fixed: None }
    }

    /// Whether there is a tuple with this number; makes it if need be.
    fn has(&mut self, index: usize, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<bool> {
        while self.matched.len() <= index && !self.complete {
            match self.node.next(run, cx)? {
                Some(tuple) => {
                    let bytes = weight(&tuple);
                    run.keep(bytes)?;
                    self.bytes += bytes;
                    self.slots.extend(tuple.into_slots(self.width));
                    self.matched.push(false);
                }
                None => self.complete = true,
            }
        }
        Ok(index < self.matched.len())
    }

    fn is_empty(&self) -> bool {
        self.matched.is_empty()
    }

    /// The slots of a tuple that was made.
    fn slots(&self, index: usize) -> &[Slot] {
        &self.slots[index * self.width..(index + 1) * self.width]
    }

    /// A tuple that was made, without a left side.
    fn alone(&self, index: usize, left_slots: usize) -> Tuple {
        let mut tuple = Tuple::missing(left_slots);
        self.slots(index).iter().for_each(|slot| tuple.push(slot.clone()));
        tuple
    }

    /// The next tuple from `from` on that was joined with nothing.
    fn unmatched(&self, from: usize) -> Option<usize> {
        (from..self.matched.len()).find(|index| !self.matched[*index])
    }

    /// Begins again; true if the tuples are the same as before.
    fn rewind(&mut self, run: &mut Run<'p>) -> bool {
        let plan = self.plan;
        let fixed = *self.fixed.get_or_insert_with(|| free::is_fixed(plan));
        if fixed {
            self.matched.fill(false);
            return true;
        }
        self.node.rewind(run);
        self.slots.clear();
        self.matched.clear();
        self.complete = false;
        run.release(&mut self.bytes);
        false
    }
}
