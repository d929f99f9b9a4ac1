//! A guess at a commit order: run the events like a careful database would.
//!
//! Nobody overwrites a version that somebody still has to look at, and who checks write conflicts holds the keys it
//! writes from its look to its commit. Whatever gets to the end is a good commit order for the prefix levels; blind
//! writes in a wrong order get stuck. The guess is linear, and on histories that databases produce, after saturation,
//! it almost always gets through.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::events::{Event, View};
use crate::facts::{INIT, Node};
use crate::saturate::{Saturated, version_slot};

/// A commit order, or `None` when the guess got stuck.
pub(crate) fn guess(saturated: &Saturated, estimates: &[u32]) -> Option<Vec<Node>> {
    Schedule::new(saturated, estimates).run()
}

/// Read-only first, then by the estimated time.
type Priority = (bool, u32, Event);

struct Schedule<'s, 'b, 'f> {
    saturated: &'s Saturated<'b, 'f>,
    estimates: &'s [u32],
    successors: Vec<Vec<Event>>,
    waits_for: Vec<u32>,
    ready: BinaryHeap<Reverse<Priority>>,
    /// The slot of the newest version of each key.
    newest: Vec<u32>,
    /// How many reads have yet to look at each version.
    unread: Vec<u32>,
    /// Who holds each key.
    holder: Vec<Node>,
    /// Events that wait for a version to be read, or for a key to be let go.
    blocked: Vec<Vec<Event>>,
    order: Vec<Node>,
}

impl<'s, 'b, 'f> Schedule<'s, 'b, 'f> {
    fn new(saturated: &'s Saturated<'b, 'f>, estimates: &'s [u32]) -> Self {
        let (facts, time) = (saturated.base.facts, &saturated.time);
        let mut successors = vec![Vec::new(); time.len()];
        let mut waits_for = vec![0; time.len()];
        for event in 0..time.len() as Event {
            for pred in time.preds(event) {
                successors[pred as usize].push(event);
                waits_for[event as usize] += 1;
            }
        }
        let slots = facts.write_count() + facts.key_count();
        let mut unread = vec![0; slots];
        for (number, read) in facts.all_reads().iter().enumerate() {
            if let View::At(_) = saturated.events.views[number] {
                unread[version_slot(saturated.base, read.source, read.key) as usize] += 1;
            }
        }
        Schedule {
            saturated,
            estimates,
            successors,
            waits_for,
            ready: BinaryHeap::new(),
            newest: (0..facts.key_count() as u32).map(|key| facts.write_count() as u32 + key).collect(),
            unread,
            holder: vec![INIT; facts.key_count()],
            blocked: vec![Vec::new(); facts.key_count()],
            order: Vec::with_capacity(facts.len()),
        }
    }

    fn run(mut self) -> Option<Vec<Node>> {
        for event in 0..self.waits_for.len() as Event {
            if self.waits_for[event as usize] == 0 {
                self.push(event);
            }
        }
        while let Some(Reverse((_, _, event))) = self.ready.pop() {
            if let Some(key) = self.obstacle(event) {
                self.blocked[key as usize].push(event);
            } else {
                self.perform(event);
            }
        }
        (self.order.len() == self.saturated.base.facts.len()).then_some(self.order)
    }

    fn push(&mut self, event: Event) {
        let node = self.saturated.events.txn[event as usize];
        let writes = node != INIT && !self.saturated.base.facts.writes(node).is_empty();
        self.ready.push(Reverse((writes, self.estimates[event as usize], event)));
    }

    /// The reads that look from this event.
    fn looks(&self, event: Event) -> impl Iterator<Item = (u32, u32)> + use<'s, 'b, 'f> {
        let saturated = self.saturated;
        let node = saturated.events.txn[event as usize];
        let facts = saturated.base.facts;
        saturated.base.reads(node).iter().zip(facts.first_read(node)..).filter_map(move |(read, number)| {
            let here = saturated.events.views[number as usize] == View::At(event);
            here.then(|| (version_slot(saturated.base, read.source, read.key), read.key))
        })
    }

    /// A key that keeps the event from happening now.
    fn obstacle(&self, event: Event) -> Option<u32> {
        let events = &self.saturated.events;
        let node = events.txn[event as usize];
        let writes = self.saturated.base.facts.writes(node);
        let commits = events.commit[node as usize] == event;
        if !commits && !(events.conflicts(node) && events.first[node as usize] == event) {
            return None;
        }
        writes.iter().copied().find(|&key| {
            let holder = self.holder[key as usize];
            let slot = self.newest[key as usize];
            let own = if commits { self.looks(event).filter(|&(looked, _)| looked == slot).count() as u32 } else { 0 };
            holder != INIT && holder != node || commits && self.unread[slot as usize] > own
        })
    }

    fn perform(&mut self, event: Event) {
        let events = &self.saturated.events;
        let node = events.txn[event as usize];
        let facts = self.saturated.base.facts;
        for (slot, key) in self.looks(event).collect::<Vec<_>>() {
            self.unread[slot as usize] -= 1;
            // Perhaps only the one who overwrites it has yet to look.
            self.unblock(key);
        }
        if events.commit[node as usize] == event {
            self.order.push(node);
            for &key in facts.writes(node) {
                self.newest[key as usize] = version_slot(self.saturated.base, node, key);
                self.holder[key as usize] = INIT;
                self.unblock(key);
            }
        } else if events.conflicts(node) {
            for &key in facts.writes(node) {
                self.holder[key as usize] = node;
                // The holder itself may have been waiting for nothing else.
                self.unblock(key);
            }
        }
        for next in std::mem::take(&mut self.successors[event as usize]) {
            self.waits_for[next as usize] -= 1;
            if self.waits_for[next as usize] == 0 {
                self.push(next);
            }
        }
    }

    fn unblock(&mut self, key: u32) {
        for event in std::mem::take(&mut self.blocked[key as usize]) {
            self.push(event);
        }
    }
}
