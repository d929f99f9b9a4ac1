//! Which earlier reads may be made to read from a transaction that has just committed.
//!
//! Reordering a read `r` with a later writer `t` of its key deletes all that follows `r`, except what `t` depends on,
//! and goes on from there with `r` reading from `t`. To reach each result from one place only, everything deleted (and
//! `r`) must be what a fixed rule would put there: no deleted read was itself set by a reordering, and each reads from
//! the latest writer that is valid beside what precedes it and what `t` depends on.

use skew_model::Status;

use super::plan::{Plan, Step, Trace, TraceTxn};
use crate::candidates::{Candidates, Listing};
use crate::engine::{Engine, Looks, OwnRow, Recency, State};
use crate::sight::{Conflicts, Sight};
use crate::versions::{INIT, Txn};

/// A run, made ready to be searched for reorderings.
pub(crate) struct Execution<'run> {
    plan: &'run Plan,
    trace: &'run Trace,
    /// For each transaction, where the one that each of its reads reads from was executed.
    sources: Vec<Vec<Option<usize>>>,
    /// For each transaction, how many of each task's transactions it depends on: through the program or through reads.
    past: Vec<Vec<u32>>,
    /// For each transaction, how many its task had executed before.
    index: Vec<u32>,
}

/// A part of a run, executed again.
struct Partial {
    engine: Engine,
    /// The engine's name for the transaction at a position.
    names: Vec<Option<Txn>>,
}

impl<'run> Execution<'run> {
    pub(crate) fn new(plan: &'run Plan, trace: &'run Trace) -> Execution<'run> {
        let position = |source: Option<_>| source.map(|place| trace.position(place));
        let sources = trace.txns.iter().map(|txn| txn.reads.iter().map(|read| position(read.source)).collect());
        let mut counts: Vec<u32> = Vec::new();
        let index = trace.txns.iter().map(|txn| {
            counts.resize(counts.len().max(txn.task as usize + 1), 0);
            counts[txn.task as usize] += 1;
            counts[txn.task as usize] - 1
        });
        let mut execution =
            Execution { plan, trace, sources: sources.collect(), past: Vec::new(), index: index.collect() };
        for at in 0..trace.txns.len() {
            execution.past.push(execution.dependencies(at));
        }
        execution
    }

    fn dependencies(&self, at: usize) -> Vec<u32> {
        let txn = &self.trace.txns[at];
        let mut past = txn.after.clone();
        let earlier = (0..at).filter(|&earlier| {
            let other = &self.trace.txns[earlier];
            let by_program = past.get(other.task as usize).is_some_and(|&count| self.index[earlier] < count);
            by_program || other.place.session == txn.place.session || self.sources[at].contains(&Some(earlier))
        });
        for earlier in earlier.collect::<Vec<_>>() {
            add(&mut past, &self.past[earlier]);
            add_one(&mut past, self.trace.txns[earlier].task, self.index[earlier] + 1);
        }
        past
    }

    fn is_kept(&self, kept: &[u32], position: usize) -> bool {
        let task = self.trace.txns[position].task as usize;
        kept.get(task).is_some_and(|&count| self.index[position] < count)
    }

    /// Whether a store could refuse the transaction: its level has conflicts, and it meets another task's transaction at
    /// a key, neither of them knowing of the other.
    pub(crate) fn may_be_refused(&self, position: usize) -> bool {
        let txn = &self.trace.txns[position];
        let common = |other: &TraceTxn| other.writes.iter().any(|key| txn.attempted.contains(key));
        let meets = |other: &TraceTxn| match Sight::of(txn.asked) {
            Some(Sight::CausesAndVersions | Sight::Prefix { conflicts: Conflicts::Refused }) => common(other),
            Some(Sight::Everything) => {
                let read_by_it = txn.reads.iter().any(|read| other.writes.contains(&read.key));
                let read_by_other = other.reads.iter().any(|read| txn.attempted.contains(&read.key));
                common(other) || read_by_it || read_by_other
            }
            _ => false,
        };
        (0..self.trace.txns.len()).any(|at| {
            let other = &self.trace.txns[at];
            let known = self.is_kept(&self.past[position], at) || self.is_kept(&self.past[at], position);
            other.task != txn.task && other.status == Status::Committed && !known && meets(other)
        })
    }

    /// Adds a plan for each reordering of an earlier read with the transaction at `position`, as of when it committed.
    ///
    /// Goes back read by read. A read that may not be deleted ends the search: all reorderings of reads before it would
    /// delete it too.
    pub(crate) fn push_reorderings(&self, position: usize, waiting: &mut Vec<Plan>) {
        let writes = &self.trace.txns[position].writes;
        if writes.is_empty() {
            return;
        }
        let mut kept = self.past[position].clone();
        add_one(&mut kept, self.trace.txns[position].task, self.index[position] + 1);
        for reader in (0..position).rev().filter(|&reader| !self.is_kept(&kept, reader)) {
            let reads = &self.trace.txns[reader].reads;
            let pinned = self.plan.steps.get(reader).map_or(0, |step| step.pinned);
            // What is put back is put back committed.
            if self.trace.txns[reader].refused {
                return;
            }
            for read in (pinned..reads.len()).rev() {
                if !self.is_replaceable(reader, read, &kept, position) {
                    return;
                }
                if writes.contains(&reads[read].key) && self.allows(reader, read, &kept, position) {
                    waiting.push(self.reordered(reader, read, &kept, position));
                }
            }
            if pinned > 0 {
                return;
            }
        }
    }

    /// Whether a read takes the latest source that is valid beside what precedes the read and what is kept.
    fn is_replaceable(&self, reader: usize, read: usize, kept: &[u32], writer: usize) -> bool {
        let key = self.trace.txns[reader].reads[read].key;
        let first = self.sources[reader][read].map_or(0, |source| source + 1);
        let later: Vec<usize> = (first..reader).filter(|&at| self.trace.txns[at].writes.contains(&key)).collect();
        if later.is_empty() {
            return true;
        }
        let (partial, pending) = self.before_read(reader, read, kept, writer);
        let valid = partial.candidates(pending, key, self.trace.txns[reader].mode);
        !later.iter().any(|&at| partial.names[at].is_some_and(|name| valid.contains(&name)))
    }

    /// Whether a read may read from the writer in a history of what precedes the read and what is kept.
    fn allows(&self, reader: usize, read: usize, kept: &[u32], writer: usize) -> bool {
        let (partial, pending) = self.before_read(reader, read, kept, writer);
        let key = self.trace.txns[reader].reads[read].key;
        let valid = partial.candidates(pending, key, self.trace.txns[reader].mode);
        partial.names[writer].is_some_and(|name| valid.contains(&name))
    }

    /// All before the read, and what is kept up to the writer; the reader is pending.
    fn before_read(&self, reader: usize, read: usize, kept: &[u32], writer: usize) -> (Partial, Txn) {
        let mut partial = Partial::new(self.trace);
        let later = (reader + 1..=writer).filter(|&later| self.is_kept(kept, later));
        for at in (0..reader).chain(later) {
            let txn = &self.trace.txns[at];
            let name = self.begin(&mut partial, at, txn.reads.len());
            for &key in &txn.writes {
                partial.engine.write(name, key, 0).expect("weak levels have no conflicts");
            }
            match txn.status {
                Status::Committed => partial.engine.commit(name).expect("weak levels have no conflicts"),
                _ => partial.engine.roll_back(name, State::RolledBack),
            }
        }
        let pending = self.begin(&mut partial, reader, read);
        (partial, pending)
    }

    /// Begins the transaction at a position and repeats its first reads.
    fn begin(&self, partial: &mut Partial, at: usize, reads: usize) -> Txn {
        let txn = &self.trace.txns[at];
        let sight = Sight::of(txn.level).expect("explored levels run on the store");
        let name = partial.engine.begin(txn.place.session, txn.level, sight, Looks::Any);
        partial.names[at] = Some(name);
        for (read, source) in txn.reads.iter().zip(&self.sources[at]).take(reads) {
            let source = source.map_or(INIT, |source| partial.names[source].expect("a source is executed first"));
            partial.engine.read(name, read.key, source, OwnRow::No);
        }
        name
    }

    /// The plan that keeps what precedes the read and what is kept, and lets the read read from the writer.
    fn reordered(&self, reader: usize, read: usize, kept: &[u32], writer: usize) -> Plan {
        let step = |position| self.trace.step(self.plan, position);
        let mut steps: Vec<Step> = (0..reader).map(step).collect();
        let pulled = (reader + 1..=writer).filter(|&position| self.is_kept(kept, position));
        steps.extend(pulled.map(|position| Step { pulled: true, ..step(position) }));
        let mut last = step(reader);
        last.sources.truncate(read);
        last.sources.push(Some(self.trace.txns[writer].place));
        last.pinned = read + 1;
        steps.push(last);
        Plan { steps }
    }
}

impl Partial {
    fn new(trace: &Trace) -> Partial {
        let mut engine = Engine::new(Recency::None);
        let sessions = trace.txns.iter().map(|txn| txn.place.session + 1).max().unwrap_or(0);
        let read = trace.txns.iter().flat_map(|txn| txn.reads.iter().map(|read| read.key));
        let written = trace.txns.iter().flat_map(|txn| txn.writes.iter().copied());
        let keys = read.chain(written).max().map_or(0, |key| key + 1);
        (0..sessions).for_each(|_| _ = engine.session());
        (0..keys).for_each(|_| _ = engine.key());
        Partial { engine, names: vec![None; trace.txns.len()] }
    }

    fn candidates(&self, reader: Txn, key: u32, mode: crate::candidates::Reads) -> Vec<Txn> {
        let mut found = Candidates::default();
        debug_assert_eq!(self.engine.txn(reader).state, State::Open);
        self.engine.candidates(reader, key, mode, Listing::All, &mut found);
        found.listed
    }
}

fn add(past: &mut Vec<u32>, other: &[u32]) {
    past.resize(past.len().max(other.len()), 0);
    crate::clocks::join(past, other);
}

fn add_one(past: &mut Vec<u32>, task: u32, count: u32) {
    let task = task as usize;
    past.resize(past.len().max(task + 1), 0);
    past[task] = past[task].max(count);
}
