//! Coming back to a state: a test's set-up is made once, and every run begins from it.
//!
//! A checkpoint makes what is committed the initial state, as if the store were new: transactions and places are counted
//! from the beginning again, and the history is empty. To come back costs as much as was done since.

use crate::Recency;
use crate::engine::Engine;
use crate::error::Error;
use crate::locks::Locks;
use crate::record::{Initial, Times};
use crate::scans::Scanned;
use crate::spaces::Extent;
use crate::store::Store;
use crate::versions::Txn;

/// What has to be put back.
#[derive(Clone, Debug)]
pub(crate) struct Checkpoint<V> {
    spaces: Extent,
    /// Initial values that have changed since, as they were.
    changed: Vec<(u32, Initial<V>)>,
    /// Keys that transactions have used which are forgotten.
    used: Vec<u32>,
    /// How many of these there were when they were last sorted out.
    sorted_out: usize,
}

impl<V: Clone> Store<V> {
    /// What is committed becomes the initial state, and the history is empty. No transaction may be open.
    pub fn checkpoint(&mut self) -> Result<(), Error> {
        self.must_be_idle()?;
        self.checkpoint = None;
        let end = self.engine.base + self.records.len() as u32;
        for key in self.written_before(end) {
            self.settle(key, end);
        }
        for initial in &mut self.initials {
            initial.unsettle();
        }
        self.engine.versions.clear();
        let (changed, used) = (Vec::new(), Vec::new());
        self.checkpoint = Some(Checkpoint { spaces: self.spaces.extent(), changed, used, sorted_out: 0 });
        self.start_again();
        Ok(())
    }

    /// What was committed before a transaction began is seen, or need not be, from the next [`Store::reset`] on.
    pub fn set_recency(&mut self, recency: Recency) {
        self.engine.recency = recency;
    }

    /// Comes back to the last checkpoint: keys, spaces and values are as they were, and everything is numbered as it was
    /// then. Sessions stay. No transaction may be open.
    pub fn reset(&mut self) -> Result<(), Error> {
        self.must_be_idle()?;
        let Some(mut checkpoint) = self.checkpoint.take() else { return Err(Error::NoCheckpoint) };
        let keys = checkpoint.spaces.keys();
        let remembered = (self.engine.base..self.engine.base + self.records.len() as u32).flat_map(|txn| self.ops(txn));
        let used: Vec<u32> = remembered.map(|op| op.key).chain(checkpoint.used.drain(..)).collect();
        for key in used.into_iter().filter(|&key| (key as usize) < keys) {
            self.engine.versions.clear_key(key);
        }
        self.engine.versions.truncate(keys);
        self.initials.truncate(keys);
        for (key, initial) in checkpoint.changed.drain(..) {
            self.initials[key as usize] = initial;
        }
        self.spaces.truncate(checkpoint.spaces);
        self.checkpoint = Some(Checkpoint { sorted_out: 0, ..checkpoint });
        self.start_again();
        Ok(())
    }

    fn must_be_idle(&self) -> Result<(), Error> {
        let Some(&open) = self.engine.open.first() else { return Ok(()) };
        Err(Error::StillOpen { session: self.sessions.name(self.record(open).session).to_owned() })
    }

    /// Transactions are counted from the beginning.
    fn start_again(&mut self) {
        let fresh = Engine::new(self.engine.recency);
        let old = std::mem::replace(&mut self.engine, fresh);
        self.engine.take_over(old);
        self.records.clear();
        self.tellings = 0;
        self.generation += 1;
        self.noted_ranges = 0;
        self.operations.clear();
        (self.locks, self.scanned) = (Locks::default(), Scanned::default());
        (self.now, self.times) = (0, Times::of(self.options.recency));
        (self.next_forgetting, self.next_forgetting_at) = (0, 0);
        self.statements.fill(0);
        self.snapshots.fill(0);
        self.sessions.forget(self.records.iter());
    }

    /// An initial value is about to change.
    pub(crate) fn keep_initial(&mut self, key: u32) {
        let Some(checkpoint) = &mut self.checkpoint else { return };
        let initial = self.initials.get(key as usize).cloned().unwrap_or(Initial::new(None));
        // What was settled has changed before.
        if initial.settled().is_none() && (key as usize) < checkpoint.spaces.keys() {
            checkpoint.changed.push((key, initial));
        }
    }

    /// What the transactions before this one have used is about to be forgotten.
    pub(crate) fn keep_used(&mut self, before: Txn) {
        let Some(mut checkpoint) = self.checkpoint.take() else { return };
        let forgotten = (self.engine.base..before).flat_map(|txn| self.ops(txn)).map(|op| op.key);
        let keys = checkpoint.spaces.keys();
        checkpoint.used.extend(forgotten.filter(|&key| (key as usize) < keys));
        if checkpoint.used.len() > 2 * checkpoint.sorted_out + 1024 {
            checkpoint.used.sort_unstable();
            checkpoint.used.dedup();
            checkpoint.sorted_out = checkpoint.used.len();
        }
        self.checkpoint = Some(checkpoint);
    }
}
