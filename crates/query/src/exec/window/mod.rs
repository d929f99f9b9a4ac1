//! Window functions: the tuples of a partition in order, and a value for each from its place and its frame.
//!
//! Calls over one window are made in one go; tuples come out in the order of the last window, as in PostgreSQL.

mod call;
mod frame;
mod partition;
mod range;

use crate::budget;
use crate::error::Result;
use crate::exec::keys;
use crate::exec::operator::{Node, Operator};
use crate::exec::run::{datum_weight, weight};
use crate::exec::sort::{meanwhile, sort_key};
use crate::exec::window::partition::Partition;
use crate::exec::{Context, Run, Slot, Tuple};
use crate::ir::WindowCall;
use crate::sort::sort_by;
use crate::types::Datum;

pub(crate) struct Window<'p> {
    input: Node<'p>,
    calls: &'p [WindowCall],
    /// The positions of the calls over each window.
    windows: Vec<Vec<usize>>,
    done: Option<std::vec::IntoIter<Item>>,
    bytes: usize,
}

/// A tuple and the values of the calls so far.
struct Item {
    tuple: Tuple,
    values: Vec<Datum>,
}

impl<'p> Window<'p> {
    pub(crate) fn new(calls: &'p [WindowCall], input: Node<'p>) -> Self {
        Window { input, calls, windows: windows(calls), done: None, bytes: 0 }
    }

    fn make(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        while let Some(tuple) = self.input.next(run, cx)? {
            let own = self.calls.len() * size_of::<Datum>() + budget::ALLOCATION_BYTES;
            let bytes = weight(&tuple) + own + 2 * size_of::<Item>();
            run.keep(bytes)?;
            self.bytes += bytes;
            items.push(Item { tuple, values: vec![Datum::Null; self.calls.len()] });
        }
        for window in &self.windows {
            let (keys, mut sorted_items) = sorted(items, &self.calls[window[0]], run, cx)?;
            for range in partitions(&keys) {
                let peers: Vec<&[u8]> = keys[range.clone()].iter().map(|key| &key.order[..]).collect();
                let mut partition = Partition::new(&mut sorted_items[range], &peers);
                for &call in window {
                    let values = call::values(&self.calls[call], &mut partition, run, cx)?;
                    let bytes = values.iter().map(datum_weight).sum();
                    run.keep(bytes)?;
                    self.bytes += bytes;
                    partition.set(call, values);
                }
            }
            items = sorted_items;
        }
        Ok(items)
    }
}

/// What sorts a tuple: its partition, then its place in it.
struct Key {
    partition: Box<[u8]>,
    order: Box<[u8]>,
}

fn sorted<'p>(
    items: Vec<Item>,
    window: &'p WindowCall,
    run: &mut Run<'p>,
    cx: &mut dyn Context,
) -> Result<(Vec<Key>, Vec<Item>)> {
    let mut keyed = Vec::with_capacity(items.len());
    let mut key = Vec::new();
    for item in items {
        run.step(cx)?;
        key.clear();
        for expr in &window.partition {
            let value = run.eval(cx, expr, &item.tuple)?;
            keys::append(&mut key, &value, expr.ty());
        }
        let partition = key.as_slice().into();
        sort_key(&mut key, &window.order, &item.tuple, run, cx)?;
        keyed.push((Key { partition, order: key.as_slice().into() }, item));
    }
    let weight = |(key, _): &(Key, Item)| key.partition.len() + key.order.len();
    let compare = |(left, _): &(Key, Item), (right, _): &(Key, Item)| {
        (&left.partition, &left.order).cmp(&(&right.partition, &right.order))
    };
    let keyed = meanwhile(cx, keyed.len(), || sort_by(keyed, weight, compare))?;
    Ok(keyed.into_iter().unzip())
}

fn partitions(keys: &[Key]) -> Vec<std::ops::Range<usize>> {
    let mut start = 0;
    let chunks = keys.chunk_by(|left, right| left.partition == right.partition);
    let range = |chunk: &[Key]| {
        let range = start..start + chunk.len();
        start = range.end;
        range
    };
    chunks.map(range).collect()
}

/// Calls whose PARTITION BY and ORDER BY are the same share a window. Expressions have no equality; their text has.
fn windows(calls: &[WindowCall]) -> Vec<Vec<usize>> {
    if calls.len() == 1 {
        return vec![vec![0]];
    }
    let mut windows: Vec<(String, Vec<usize>)> = Vec::new();
    for (position, call) in calls.iter().enumerate() {
        let text = format!("{:?} {:?}", call.partition, call.order);
        match windows.iter_mut().find(|(known, _)| *known == text) {
            Some((_, positions)) => positions.push(position),
            None => windows.push((text, vec![position])),
        }
    }
    windows.into_iter().map(|(_, positions)| positions).collect()
}

impl<'p> Operator<'p> for Window<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        if self.done.is_none() {
            self.done = Some(self.make(run, cx)?.into_iter());
        }
        let done = self.done.as_mut().expect("made just now");
        Ok(done.next().map(|mut item| {
            item.tuple.push(Slot::Values(item.values.into()));
            item.tuple
        }))
    }

    fn rewind(&mut self, run: &mut Run<'p>) {
        self.input.rewind(run);
        self.done = None;
        run.release(&mut self.bytes);
    }
}
