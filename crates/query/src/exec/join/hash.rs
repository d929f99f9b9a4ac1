//! Joins by equality: the right side's tuples are found by the values of their keys.

use crate::error::Result;
use crate::exec::join::{Kept, Pair, holds, keeps_left, keeps_right};
use crate::exec::key_table::KeyTable;
use crate::exec::keys;
use crate::exec::operator::{Node, Operator};
use crate::exec::{Context, Run, Tuple};
use crate::ir::{Expr, Join};

pub(super) struct HashJoin<'p> {
    plan: &'p Join,
    left: Node<'p>,
    right: Kept<'p>,
    /// The keys of the right side, and the first and last right tuple for each; made when the first left tuple is there.
    table: Option<KeyTable<(u32, u32)>>,
    /// The next right tuple with the same key.
    chain: Vec<u32>,
    key: Vec<u8>,
    at: At,
}

enum At {
    /// The next left tuple is due.
    Left,
    /// This left tuple meets the right tuple with this number next; whether it met one already.
    Right { pair: Pair, next: u32, met: bool },
    /// Only right tuples that met nothing are left, from this one on.
    Unmatched(usize),
}

/// The end of a chain.
const NONE: u32 = u32::MAX;

impl<'p> HashJoin<'p> {
    pub(super) fn new(plan: &'p Join, left: Node<'p>, right: Kept<'p>) -> Self {
        HashJoin { plan, left, right, table: None, chain: Vec::new(), key: Vec::new(), at: At::Left }
    }

    fn build(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<()> {
        if self.table.is_some() {
            return Ok(());
        }
        let mut table: KeyTable<(u32, u32)> = KeyTable::default();
        self.right.has(usize::MAX, run, cx)?;
        self.chain = vec![NONE; self.right.matched.len()];
        for index in 0..self.right.matched.len() {
            run.step(cx)?;
            let tuple = Tuple::from_iter(self.right.slots(index).iter().cloned());
            let keys = self.plan.equal.iter().map(|(_, right)| right);
            if !hash_key(&mut self.key, keys, &tuple, run, cx)? {
                continue;
            }
            let index = u32::try_from(index).expect("memory ends before u32 does");
            let found = table.insert_with(&self.key, || (index, index));
            if found.is_new {
                let bytes = KeyTable::<(u32, u32)>::weight(&self.key);
                run.keep(bytes)?;
                self.right.bytes += bytes;
            } else {
                let (_, last) = found.value;
                self.chain[*last as usize] = index;
                *last = index;
            }
        }
        self.table = Some(table);
        Ok(())
    }

    /// The first right tuple that a left one meets.
    fn first(&mut self, left: &Tuple, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<u32> {
        let keys = self.plan.equal.iter().map(|(left, _)| left);
        if !hash_key(&mut self.key, keys, left, run, cx)? {
            return Ok(NONE);
        }
        let table = self.table.as_ref().expect("built before it is looked into");
        Ok(table.find(&self.key).map_or(NONE, |(first, _)| *first))
    }
}

/// The key of a tuple; false if it has a NULL, which equals nothing.
fn hash_key<'p>(
    key: &mut Vec<u8>,
    exprs: impl Iterator<Item = &'p Expr>,
    tuple: &Tuple,
    run: &mut Run<'p>,
    cx: &mut dyn Context,
) -> Result<bool> {
    key.clear();
    for expr in exprs {
        let value = run.eval(cx, expr, tuple)?;
        if value.is_null() {
            return Ok(false);
        }
        keys::append(key, &value, expr.ty());
    }
    Ok(true)
}

impl<'p> Operator<'p> for HashJoin<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        let plan = self.plan;
        loop {
            match &mut self.at {
                At::Left => {
                    let Some(left) = self.left.next(run, cx)? else {
                        if keeps_right(plan.kind) {
                            self.build(run, cx)?;
                        }
                        self.at = At::Unmatched(0);
                        continue;
                    };
                    self.build(run, cx)?;
                    if self.right.is_empty() && !keeps_left(plan.kind) {
                        return Ok(None);
                    }
                    let next = self.first(&left, run, cx)?;
                    if next != NONE || keeps_left(plan.kind) {
                        self.at = At::Right { pair: Pair::new(&left, plan), next, met: false };
                    }
                }
                At::Right { pair, next, met } => {
                    while *next != NONE {
                        run.step(cx)?;
                        let index = *next as usize;
                        *next = self.chain[index];
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
        if !self.right.rewind(run) {
            self.table = None;
        }
        self.at = At::Left;
    }
}
