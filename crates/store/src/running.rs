//! What only a running transaction has. It is kept with the session, which runs one at a time, and used again.
//!
//! Most transactions read and write a few keys, which are looked through one by one. A transaction that reads a whole
//! table also keeps its reads by key, so that a read costs the same whatever was read before.

use std::cell::{Cell, RefCell};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::engine::{Looks, OwnRow};
use crate::position::Position;
use crate::versions::{INIT, Txn};

/// Up to so many reads or writes of a transaction are looked through one by one.
pub(crate) const FEW: usize = 32;

/// What a running transaction has.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    /// In a closed order: it sees at least everything up to here.
    pub(crate) seen: Position,
    /// The same from the next statement on.
    pub(crate) seen_next: Position,
    /// Who had committed before it began, where real time counts and it is asked about.
    pub(crate) began_after: Option<BeganAfter>,
    /// What it has read from others.
    pub(crate) reads: Vec<Read>,
    /// The first read of the running statement.
    pub(crate) first_read: usize,
    /// How often it has looked from a place.
    pub(crate) looks_made: u64,
    /// For each key, its last read; and for each read, the one before of the same key. Empty while there are few.
    last_reads: FxHashMap<u32, u32>,
    reads_before: Vec<u32>,
    /// Whom it has read from, each once.
    pub(crate) sources: Vec<Txn>,
    /// The same, once there are many.
    source_set: FxHashSet<Txn>,
    /// How far `overwritten` has got.
    pub(crate) known: Cell<Known>,
    /// How far `lower_bound` has got.
    pub(crate) bounds: Cell<Bounds>,
    /// How far `forbidden` has got.
    pub(crate) forbidden: RefCell<Forbidden>,
    /// The keys whose rows it has locked, with the place of their last version then.
    pub(crate) held: Vec<(u32, Position, usize)>,
    /// What its constraints have looked at.
    pub(crate) looked_at: FxHashSet<u32>,
    /// Whom it commits after because of that, and at which key.
    pub(crate) commits_after: Vec<(Txn, u32)>,
    /// The keys that it has written.
    pub(crate) writes: Vec<Write>,
    /// For each of them, where it is.
    written: FxHashMap<u32, u32>,
    pub(crate) statement: u32,
    /// The statement that looks: the last one, unless one around it goes on.
    pub(crate) looking: Looking,
    pub(crate) looks: Looks,
}

/// Who had ended when a transaction began, for each session by the numbers of its transactions.
#[derive(Clone, Debug)]
pub(crate) struct BeganAfter {
    /// Its last one that had committed.
    pub(crate) committed: Vec<u32>,
    /// Its last one that had ended, however.
    pub(crate) ended: Vec<u32>,
}

/// A statement that looks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Looking {
    pub(crate) statement: u32,
    pub(crate) began: i64,
}

/// The first place at which one of the first reads is overwritten, as of a number of commits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) commits: u64,
    pub(crate) reads: usize,
    pub(crate) overwritten: Position,
}

/// The place that the first writes bring along, as of a number of commits and of looks by others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) commits: u64,
    pub(crate) looks: u64,
    pub(crate) writes: usize,
    pub(crate) lower: Position,
}

/// What the first reads forbid: for each session, the first transaction that must not be seen.
#[derive(Clone, Default, Debug)]
pub(crate) struct Forbidden {
    pub(crate) reads: usize,
    pub(crate) first: Vec<u32>,
}

impl Default for Bounds {
    fn default() -> Self {
        NO_BOUNDS
    }
}

const NOTHING_KNOWN: Known = Known { commits: 0, reads: 0, overwritten: Position::NEVER };
const NO_BOUNDS: Bounds = Bounds { commits: 0, looks: 0, writes: 0, lower: Position::FIRST };

/// Stands for no read.
const NONE: u32 = u32::MAX;

/// A read from another transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Read {
    pub(crate) key: u32,
    pub(crate) source: Txn,
    pub(crate) statement: u32,
    pub(crate) own_row: OwnRow,
}

/// A key that was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    pub(crate) key: u32,
    /// Which of the transaction's operations was the last one to do so.
    pub(crate) operation: u32,
}

/// Whether a transaction has not written a key before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FirstWrite {
    Yes,
    No,
}

impl Running {
    pub(crate) fn new() -> Self {
        Running {
            seen: Position::FIRST,
            seen_next: Position::FIRST,
            began_after: None,
            reads: Vec::new(),
            first_read: 0,
            looks_made: 0,
            last_reads: FxHashMap::default(),
            reads_before: Vec::new(),
            sources: Vec::new(),
            source_set: FxHashSet::default(),
            known: Cell::new(NOTHING_KNOWN),
            bounds: Cell::new(NO_BOUNDS),
            forbidden: RefCell::default(),
            held: Vec::new(),
            looked_at: FxHashSet::default(),
            commits_after: Vec::new(),
            writes: Vec::new(),
            written: FxHashMap::default(),
            statement: 0,
            looking: Looking::default(),
            looks: Looks::Any,
        }
    }

    /// The transaction has ended. Buffers are used again, unless they are large.
    pub(crate) fn end(&mut self) {
        if [self.reads.capacity(), self.written.capacity(), self.held.capacity(), self.looked_at.capacity()]
            .into_iter()
            .any(|capacity| capacity > LARGE)
        {
            *self = Running::new();
        }
    }

    /// Another transaction begins.
    pub(crate) fn begin(&mut self, seen: Position, began_after: Option<BeganAfter>, looks: Looks) {
        (self.seen, self.seen_next, self.began_after) = (seen, seen, began_after);
        (self.statement, self.first_read, self.looks_made, self.looks) = (0, 0, 0, looks);
        self.reads.clear();
        self.last_reads.clear();
        self.reads_before.clear();
        self.sources.clear();
        self.source_set.clear();
        self.known.set(NOTHING_KNOWN);
        self.bounds.set(NO_BOUNDS);
        let forbidden = self.forbidden.get_mut();
        forbidden.reads = 0;
        forbidden.first.clear();
        self.held.clear();
        self.looked_at.clear();
        self.commits_after.clear();
        self.writes.clear();
        self.written.clear();
    }

    pub(crate) fn forget_known(&mut self) {
        self.known.set(Known { reads: self.first_read, ..NOTHING_KNOWN });
    }

    pub(crate) fn add_read(&mut self, read: Read) {
        let source = read.source;
        if self.reads.len() < FEW {
            // A read again of the same is nothing new.
            if !self.reads.contains(&read) {
                self.reads.push(read);
            }
        } else {
            self.index_reads();
            self.reads_before.push(self.last_reads.insert(read.key, self.reads.len() as u32).unwrap_or(NONE));
            self.reads.push(read);
        }
        if source != INIT && self.sources.last() != Some(&source) && !self.has_source(source) {
            self.sources.push(source);
            if !self.source_set.is_empty() {
                self.source_set.insert(source);
            } else if self.sources.len() > FEW {
                self.source_set = self.sources.iter().copied().collect();
            }
        }
    }

    /// Keeps the reads by key from now on.
    fn index_reads(&mut self) {
        for at in self.reads_before.len()..self.reads.len() {
            self.reads_before.push(self.last_reads.insert(self.reads[at].key, at as u32).unwrap_or(NONE));
        }
    }

    /// The reads of a key, the last one first.
    pub(crate) fn reads_of(&self, key: u32) -> ReadsOf<'_> {
        let indexed = !self.last_reads.is_empty();
        let next = if indexed { self.last_reads.get(&key).copied().unwrap_or(NONE) } else { self.reads.len() as u32 };
        ReadsOf { running: self, key, next, indexed }
    }

    /// Whether it has read from the source.
    pub(crate) fn has_source(&self, source: Txn) -> bool {
        if self.source_set.is_empty() { self.sources.contains(&source) } else { self.source_set.contains(&source) }
    }

    /// Which of its operations was the last write of the key.
    pub(crate) fn last_write(&self, key: u32) -> Option<u32> {
        self.written.get(&key).map(|&at| self.writes[at as usize].operation)
    }

    pub(crate) fn write(&mut self, key: u32, operation: u32) -> FirstWrite {
        let next = self.writes.len() as u32;
        let at = *self.written.entry(key).or_insert(next);
        if at < next {
            self.writes[at as usize].operation = operation;
            return FirstWrite::No;
        }
        self.writes.push(Write { key, operation });
        FirstWrite::Yes
    }

    /// The last write of the key is undone; the one before is the operation with this number. Whether that was the first.
    pub(crate) fn unwrite(&mut self, key: u32, before: Option<u32>) -> FirstWrite {
        let Some(&at) = self.written.get(&key) else { return FirstWrite::No };
        if let Some(operation) = before {
            self.writes[at as usize].operation = operation;
            return FirstWrite::No;
        }
        self.written.remove(&key);
        self.writes.swap_remove(at as usize);
        if let Some(moved) = self.writes.get(at as usize) {
            self.written.insert(moved.key, at);
        }
        self.bounds.set(NO_BOUNDS);
        FirstWrite::Yes
    }
}

/// Buffers beyond this many entries are given back when their transaction has ended.
const LARGE: usize = 1 << 14;

/// The reads of one key by a running transaction.
pub(crate) struct ReadsOf<'a> {
    running: &'a Running,
    key: u32,
    next: u32,
    indexed: bool,
}

impl Iterator for ReadsOf<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.indexed {
            let at = (self.next != NONE).then_some(self.next as usize)?;
            self.next = self.running.reads_before[at];
            return Some(at);
        }
        let earlier = &self.running.reads[..self.next as usize];
        let at = earlier.iter().rposition(|read| read.key == self.key)?;
        self.next = at as u32;
        Some(at)
    }
}
