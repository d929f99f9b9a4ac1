//! GROUP BY: tuples → groups, in the order in which they first appear.

mod call;

pub(crate) use call::{CallArgs, accumulator};

use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::exec::aggregate::call::{CallState, Scratch};
use crate::exec::keys;
use crate::exec::operator::{Node, Operator};
use crate::exec::run::datum_weight;
use crate::exec::{Context, Run, Tuple};
use crate::ir;
use crate::types::Datum;

pub(crate) struct Aggregate<'p> {
    plan: &'p ir::Aggregate,
    input: Node<'p>,
    groups: Option<std::vec::IntoIter<Group>>,
    bytes: usize,
}

/// One group under way.
struct Group {
    /// Which grouping set it belongs to.
    set: usize,
    /// The values of the keys; those that the set leaves out are NULL.
    keys: Vec<Datum>,
    calls: Vec<CallState>,
}

/// The groups of one grouping set.
#[derive(Default)]
struct GroupingSet<'p> {
    number: usize,
    positions: &'p [usize],
    groups: Vec<Group>,
    by_key: FxHashMap<Box<[u8]>, usize>,
}

impl<'p> Aggregate<'p> {
    pub(crate) fn new(plan: &'p ir::Aggregate, input: Node<'p>) -> Self {
        Aggregate { plan, input, groups: None, bytes: 0 }
    }

    fn group(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Vec<Group>> {
        let plan = self.plan;
        let mut sets = grouping_sets(plan);
        let mut keys = Vec::with_capacity(plan.keys.len());
        let mut scratch: Vec<Scratch> = plan.calls.iter().map(|_| Scratch::default()).collect();
        let mut key = Vec::new();
        while let Some(tuple) = self.input.next(run, cx)? {
            run.step(cx)?;
            keys.clear();
            for expr in &plan.keys {
                keys.push(run.eval(cx, expr, &tuple)?);
            }
            for (call, scratch) in plan.calls.iter().zip(&mut scratch) {
                scratch.fill(call, &tuple, run, cx)?;
            }
            for set in &mut sets {
                key.clear();
                set.positions.iter().for_each(|&at| keys::append(&mut key, &keys[at], plan.keys[at].ty()));
                let group = self.find(set, &key, &keys, run, cx)?;
                for (state, scratch) in set.groups[group].calls.iter_mut().zip(&scratch) {
                    self.bytes += state.take(scratch, run, cx)?;
                }
            }
        }
        for set in &mut sets {
            // The group of everything is there even if there is nothing.
            if set.positions.is_empty() && set.groups.is_empty() {
                self.find(set, &[], &vec![Datum::Null; plan.keys.len()], run, cx)?;
            }
        }
        Ok(sets.into_iter().flat_map(|set| set.groups).collect())
    }

    /// The group with these keys, made if it is new.
    fn find(
        &mut self,
        set: &mut GroupingSet<'p>,
        key: &[u8],
        keys: &[Datum],
        run: &mut Run<'p>,
        cx: &mut dyn Context,
    ) -> Result<usize> {
        if let Some(&group) = set.by_key.get(key) {
            return Ok(group);
        }
        let value = |at| if set.positions.contains(&at) { keys[at].clone() } else { Datum::Null };
        let keys: Vec<Datum> = (0..keys.len()).map(value).collect();
        let bytes = key.len() + keys.iter().map(datum_weight).sum::<usize>() + self.plan.calls.len() * 64;
        run.keep(cx, bytes)?;
        self.bytes += bytes;
        set.by_key.insert(key.into(), set.groups.len());
        let calls = self.plan.calls.iter().map(CallState::new).collect::<Result<_>>()?;
        set.groups.push(Group { set: set.number, keys, calls });
        Ok(set.groups.len() - 1)
    }

    fn finish(&self, group: Group, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Tuple> {
        let mut values = group.keys;
        for (call, state) in self.plan.calls.iter().zip(group.calls) {
            values.push(state.finish(call, run, cx)?);
        }
        let set = self.plan.sets.get(group.set).map_or(&[][..], |set| &set[..]);
        for positions in &self.plan.grouping {
            let bits = positions.iter().fold(0, |bits, at| bits << 1 | i64::from(!set.contains(at)));
            values.push(Datum::Int(bits));
        }
        Ok(Tuple::values(values.into()))
    }
}

/// Without any set there is one group of everything.
fn grouping_sets(plan: &ir::Aggregate) -> Vec<GroupingSet<'_>> {
    if plan.sets.is_empty() {
        return vec![GroupingSet::default()];
    }
    let set = |(number, positions)| GroupingSet { number, positions, ..GroupingSet::default() };
    plan.sets.iter().map(Vec::as_slice).enumerate().map(set).collect()
}

impl<'p> Operator<'p> for Aggregate<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        if self.groups.is_none() {
            self.groups = Some(self.group(run, cx)?.into_iter());
        }
        let groups = self.groups.as_mut().expect("grouped just now");
        groups.next().map(|group| self.finish(group, run, cx)).transpose()
    }

    fn rewind(&mut self, run: &mut Run<'p>) {
        self.input.rewind(run);
        self.groups = None;
        run.release(&mut self.bytes);
    }
}
