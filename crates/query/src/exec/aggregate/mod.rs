//! GROUP BY: tuples → groups, in the order in which they first appear.

mod call;

pub(crate) use call::{CallArgs, Maker};

use crate::error::Result;
use crate::exec::aggregate::call::{CallState, Scratch};
use crate::exec::key_table::KeyTable;
use crate::exec::keys;
use crate::exec::operator::{Node, Operator};
use crate::exec::run::datum_weight;
use crate::exec::{Context, Run, Tuple};
use crate::ir;
use crate::types::Datum;

pub(crate) struct Aggregate<'p> {
    plan: &'p ir::Aggregate,
    input: Node<'p>,
    calls: Vec<Maker>,
    groups: Option<std::vec::IntoIter<GroupingSet<'p>>>,
    current: Option<Groups>,
    bytes: usize,
}

/// The groups of one grouping set: keys and states of all of them, one group after the other.
#[derive(Default)]
struct GroupingSet<'p> {
    positions: &'p [usize],
    by_key: KeyTable,
    keys: Vec<Datum>,
    states: Vec<CallState>,
}

/// The groups of one grouping set, given away one by one.
struct Groups {
    left: usize,
    keys: std::vec::IntoIter<Datum>,
    states: std::vec::IntoIter<CallState>,
    grouping: Vec<Datum>,
}

impl<'p> Aggregate<'p> {
    pub(crate) fn new(plan: &'p ir::Aggregate, input: Node<'p>) -> Self {
        let calls = plan.calls.iter().map(|call| Maker::new(call.function, &call.args, call.typed)).collect();
        Aggregate { plan, input, calls, groups: None, current: None, bytes: 0 }
    }

    fn group(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Vec<GroupingSet<'p>>> {
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
                let first = self.find(set, &key, &keys, run)? * plan.calls.len();
                for (state, scratch) in set.states[first..].iter_mut().zip(&scratch) {
                    self.bytes += state.take(scratch, run, cx)?;
                }
            }
        }
        for set in &mut sets {
            // The group of everything is there even if there is nothing.
            if set.positions.is_empty() && set.by_key.len() == 0 {
                self.find(set, &[], &vec![Datum::Null; plan.keys.len()], run)?;
            }
        }
        Ok(sets)
    }

    /// The number of the group with these keys, made if it is new.
    fn find(&mut self, set: &mut GroupingSet<'p>, key: &[u8], keys: &[Datum], run: &mut Run<'p>) -> Result<usize> {
        let (group, new) = set.by_key.insert(key);
        if !new {
            return Ok(group);
        }
        let states = self.calls.len() * (size_of::<CallState>() + size_of::<[Datum; 2]>());
        let bytes = KeyTable::<()>::weight(key) + keys.iter().map(datum_weight).sum::<usize>() + states;
        run.keep(bytes)?;
        self.bytes += bytes;
        let value = |at| if set.positions.contains(&at) { keys[at].clone() } else { Datum::Null };
        set.keys.extend((0..keys.len()).map(value));
        for (call, maker) in self.plan.calls.iter().zip(&self.calls) {
            set.states.push(CallState::new(call, maker)?);
        }
        Ok(group)
    }

    fn groups_of(&self, set: GroupingSet<'p>) -> Groups {
        let bits = |positions: &Vec<usize>| {
            Datum::Int(positions.iter().fold(0, |bits, at| bits << 1 | i64::from(!set.positions.contains(at))))
        };
        let grouping = self.plan.grouping.iter().map(bits).collect();
        Groups { left: set.by_key.len(), keys: set.keys.into_iter(), states: set.states.into_iter(), grouping }
    }

    fn finish(&self, groups: &mut Groups, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Tuple> {
        groups.left -= 1;
        let plan = self.plan;
        let mut values = Vec::with_capacity(plan.keys.len() + plan.calls.len() + plan.grouping.len());
        values.extend(groups.keys.by_ref().take(plan.keys.len()));
        for maker in &self.calls {
            let state = groups.states.next().expect("every group has a state for each call");
            values.push(state.finish(maker, run, cx)?);
        }
        values.extend(groups.grouping.iter().cloned());
        Ok(Tuple::values(values.into()))
    }
}

/// Without any set there is one group of everything.
fn grouping_sets(plan: &ir::Aggregate) -> Vec<GroupingSet<'_>> {
    if plan.sets.is_empty() {
        return vec![GroupingSet::default()];
    }
    plan.sets.iter().map(|positions| GroupingSet { positions, ..GroupingSet::default() }).collect()
}

impl<'p> Operator<'p> for Aggregate<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        if self.groups.is_none() {
            self.groups = Some(self.group(run, cx)?.into_iter());
        }
        loop {
            if let Some(mut groups) = self.current.take_if(|groups| groups.left > 0) {
                let tuple = self.finish(&mut groups, run, cx)?;
                self.current = Some(groups);
                return Ok(Some(tuple));
            }
            let Some(set) = self.groups.as_mut().and_then(Iterator::next) else { return Ok(None) };
            self.current = Some(self.groups_of(set));
        }
    }

    fn rewind(&mut self, run: &mut Run<'p>) {
        self.input.rewind(run);
        self.groups = None;
        self.current = None;
        run.release(&mut self.bytes);
    }
}
