//! A partition: its tuples in order, and which of them are peers.

use std::ops::Range;

use crate::exec::Tuple;
use crate::exec::window::Item;
use crate::types::Datum;

pub(super) struct Partition<'a> {
    items: &'a mut [Item],
    /// The peer group of each tuple.
    group_of: Vec<usize>,
    /// Where each peer group begins; the end of the partition at last.
    group_starts: Vec<usize>,
}

impl<'a> Partition<'a> {
    pub(super) fn new(items: &'a mut [Item], order: &[&[u8]]) -> Self {
        let mut group_of = Vec::with_capacity(items.len());
        let mut group_starts = Vec::new();
        for at in 0..items.len() {
            if at == 0 || order[at] != order[at - 1] {
                group_starts.push(at);
            }
            group_of.push(group_starts.len() - 1);
        }
        group_starts.push(items.len());
        Partition { items, group_of, group_starts }
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn tuple(&self, at: usize) -> &Tuple {
        &self.items[at].tuple
    }

    /// The number of a tuple's peer group.
    pub(super) fn group(&self, at: usize) -> usize {
        self.group_of[at]
    }

    /// How many peer groups there are.
    pub(super) fn groups(&self) -> usize {
        self.group_starts.len() - 1
    }

    /// The tuples of a peer group.
    pub(super) fn group_range(&self, group: usize) -> Range<usize> {
        self.group_starts[group]..self.group_starts[group + 1]
    }

    /// A tuple's peers, itself included.
    pub(super) fn peers(&self, at: usize) -> Range<usize> {
        self.group_range(self.group_of[at])
    }

    /// Gives each tuple its value of a call.
    pub(super) fn set(&mut self, call: usize, values: Vec<Datum>) {
        for (item, value) in self.items.iter_mut().zip(values) {
            item.values[call] = value;
        }
    }
}
