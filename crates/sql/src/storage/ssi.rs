//! Serializable snapshot isolation as PostgreSQL does it: which serializable transaction is refused, and when.
//!
//! A reader that does not see a concurrent writer's version comes before the writer in every serial order: an
//! rw-dependency, `reader -> writer`. Every cycle of concurrent snapshot transactions has two of them in a row, and the last
//! transaction of the two commits first of the whole cycle (Fekete et al. 2005, Theorem 2.1; Cahill et al. 2008; Ports and
//! Grittner 2012, section 3):
//!
//! ```text
//! t_in  -rw->  pivot  -rw->  t_out       a dangerous structure, if t_out commits first
//! ```
//!
//! PostgreSQL refuses every dangerous structure without asking whether a cycle closes it, so some transactions are
//! refused that a serial order has a place for. Its rule for READ ONLY transactions (section 4.1) leaves out structures in
//! which `t_out` committed after the snapshot of a `t_in` that writes nothing. It prefers to refuse the pivot.
//!
//! Dependencies and commits are here, what was read and written in `footprints`; [`super::serializable`] says what a statement
//! reads and writes.

mod footprints;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use rustc_hash::FxHashMap;
use skew_model::TxnId;

use crate::catalog::Oid;

/// A part of a table that is ordered by bytes, or of an index.
pub(crate) type ByteRange = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// What a serializable transaction has read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum ReadLock {
    /// All of a table: every insertion and every change of a row meets it.
    Table(Oid),
    /// Rows of a page of a table: every change of such a row meets it, an insertion does not.
    Page(Oid, u32),
    Row(Oid, u32),
    /// An index that is one page: every insertion of an entry meets it.
    Index(Oid),
}

/// Why a transaction has to start again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Danger {
    /// It is the pivot: found when it writes.
    PivotWrites,
    /// It is the pivot: found by another transaction before, told when it reads, writes or commits.
    DoomedReads,
    DoomedWrites,
    DoomedCommits,
    /// It has read what a pivot that has committed overwrote.
    ReadsFromPivot(TxnId),
}

type Checked = std::result::Result<(), Danger>;

/// A serializable transaction that is running, or that has committed beside one that is.
#[derive(Clone, Debug)]
struct Member {
    /// The commits before its snapshot.
    snapshot: u64,
    /// The first transaction number that was running when it took its snapshot.
    oldest_running: u64,
    /// Its number, from its first write on.
    number: Option<u64>,
    committed: Option<u64>,
    /// Once it has committed, the number that the next writer gets.
    finished_before: u64,
    /// Declared READ ONLY, or committed without a write.
    read_only: bool,
    doomed: bool,
    /// The transactions that have read what it overwrote, in the order in which that was found: `other -rw-> this`.
    ins: Vec<TxnId>,
    /// `this -rw-> other`.
    outs: BTreeSet<TxnId>,
    /// Once it has committed, the first commit of those that it comes before, if one was before its own.
    first_out: Option<u64>,
    /// For READ ONLY: writers that were running at its snapshot, and can still turn out to make it unsafe.
    possibly_unsafe: BTreeSet<TxnId>,
    /// How many row locks it has or had, by page, and how many locks of rows and pages, by table.
    row_locks: FxHashMap<(Oid, u32), usize>,
    table_locks: FxHashMap<Oid, usize>,
    /// How many rows it has written, by table.
    written: FxHashMap<Oid, usize>,
}

impl Member {
    fn has_committed(&self) -> bool {
        self.committed.is_some()
    }
}

/// The serializable transactions and the rw-dependencies among them.
#[derive(Clone, Default, Debug)]
pub(crate) struct Dependencies {
    commits: u64,
    numbers: u64,
    members: BTreeMap<TxnId, Member>,
    locks: BTreeMap<ReadLock, BTreeSet<TxnId>>,
    /// Parts that were read of indexes of several pages.
    ranges: FxHashMap<Oid, Vec<(TxnId, ByteRange)>>,
    /// The transactions that have written a row, a row of a table, and very many rows of a table.
    row_writers: FxHashMap<u32, BTreeSet<TxnId>>,
    table_writers: FxHashMap<Oid, BTreeSet<TxnId>>,
    bulk_writers: FxHashMap<Oid, BTreeSet<TxnId>>,
}

impl Dependencies {
    /// A serializable transaction takes its snapshot. One that is READ ONLY while nobody writes is safe: it is left out.
    pub(crate) fn begin(&mut self, txn: TxnId, declared_read_only: bool) {
        let running = || self.members.iter().filter(|(_, member)| !member.has_committed());
        let writers: BTreeSet<TxnId> = running().filter(|(_, member)| !member.read_only).map(|(&txn, _)| txn).collect();
        if declared_read_only && writers.is_empty() {
            return;
        }
        let oldest_running = running().filter_map(|(_, member)| member.number).min().unwrap_or(self.numbers);
        let member = Member {
            snapshot: self.commits,
            oldest_running,
            number: None,
            committed: None,
            finished_before: 0,
            read_only: declared_read_only,
            doomed: false,
            ins: Vec::new(),
            outs: BTreeSet::new(),
            first_out: None,
            possibly_unsafe: if declared_read_only { writers } else { BTreeSet::new() },
            row_locks: FxHashMap::default(),
            table_locks: FxHashMap::default(),
            written: FxHashMap::default(),
        };
        self.members.insert(txn, member);
    }

    /// Whether the transaction takes part.
    pub(crate) fn has(&self, txn: TxnId) -> bool {
        self.members.contains_key(&txn)
    }

    /// The transaction comes to a version of a row: a transaction that others have found to be a pivot ends here.
    pub(crate) fn check_read(&self, txn: TxnId) -> Checked {
        match self.members.get(&txn) {
            Some(member) if member.doomed => Err(Danger::DoomedReads),
            _ => Ok(()),
        }
    }

    /// The reader has come to a version of the writer, which it does not see if they are concurrent.
    fn misses(&mut self, reader: TxnId, writer: TxnId) -> Checked {
        let (Some(own), Some(other)) = (self.members.get(&reader), self.members.get(&writer)) else { return Ok(()) };
        let is_visible = other.committed.is_some_and(|committed| committed <= own.snapshot);
        if reader == writer || other.doomed || is_visible || own.outs.contains(&writer) {
            return Ok(());
        }
        // It appears to run before the writer and whatever the writer comes before, all of which committed later.
        let is_first =
            own.read_only && other.has_committed() && other.first_out.is_none_or(|first_out| own.snapshot < first_out);
        if is_first {
            return Ok(());
        }
        self.depends(reader, writer, reader)
    }

    /// The transaction is about to write something: it takes a number, and ends if it was found to be a pivot.
    pub(crate) fn check_write(&mut self, txn: TxnId) -> Checked {
        let next = self.numbers;
        let Some(member) = self.members.get_mut(&txn) else { return Ok(()) };
        if member.doomed {
            return Err(Danger::DoomedWrites);
        }
        if member.number.is_none() {
            member.number = Some(next);
            self.numbers += 1;
        }
        Ok(())
    }

    /// The writer overwrites what the reader has read.
    fn overwritten(&mut self, writer: TxnId, reader: TxnId) -> Checked {
        let (Some(own), Some(other)) = (self.members.get(&writer), self.members.get(&reader)) else { return Ok(()) };
        let is_concurrent = !other.has_committed() || own.oldest_running < other.finished_before;
        if reader == writer || other.doomed || !is_concurrent || other.outs.contains(&writer) {
            return Ok(());
        }
        self.depends(reader, writer, writer)
    }

    /// Adds `reader -rw-> writer`, unless that makes a dangerous structure: then one of its transactions has to end.
    fn depends(&mut self, reader: TxnId, writer: TxnId, own: TxnId) -> Checked {
        if self.is_dangerous(reader, writer) {
            if own == writer {
                return Err(Danger::PivotWrites);
            }
            if self.members[&writer].has_committed() {
                return Err(Danger::ReadsFromPivot(writer));
            }
            self.doom(writer);
        }
        self.members.get_mut(&reader).into_iter().for_each(|member| _ = member.outs.insert(writer));
        if let Some(member) = self.members.get_mut(&writer).filter(|member| !member.ins.contains(&reader)) {
            member.ins.push(reader);
        }
        Ok(())
    }

    fn doom(&mut self, txn: TxnId) {
        self.members.get_mut(&txn).into_iter().for_each(|member| member.doomed = true);
    }

    /// Whether `reader -rw-> writer` is part of a structure whose last transaction was the first to commit.
    fn is_dangerous(&self, reader_id: TxnId, writer_id: TxnId) -> bool {
        let (reader, writer) = (&self.members[&reader_id], &self.members[&writer_id]);
        // reader -> writer -> t, and both have committed.
        if writer.has_committed() && writer.first_out.is_some() {
            return true;
        }
        // reader -> writer -> t, and t has committed before the other two.
        let is_first_out = |t: &TxnId| {
            let Some(first) = self.members.get(t).and_then(|t| t.committed) else { return false };
            reader.committed.is_none_or(|reader| first <= reader)
                && writer.committed.is_none_or(|writer| first <= writer)
                && (!reader.read_only || first <= reader.snapshot)
        };
        if writer.outs.iter().any(is_first_out) {
            return true;
        }
        // t -> reader -> writer, and the writer has committed before the other two.
        let Some(first) = writer.committed.filter(|_| !reader.read_only) else { return false };
        reader
            .ins
            .iter()
            .filter_map(|t| self.members.get(t))
            .any(|t| !t.doomed && t.committed.is_none_or(|t| t >= first) && (!t.read_only || t.snapshot >= first))
    }

    /// The transaction commits, unless it has to end. Pivots between it and transactions that are running are doomed: it is
    /// the first of them to commit.
    pub(crate) fn commit(&mut self, txn: TxnId) -> Checked {
        let Some(member) = self.members.get(&txn) else { return Ok(()) };
        if member.doomed {
            return Err(Danger::DoomedCommits);
        }
        // One after the other: a transaction that is doomed for one of them closes no structure of the next.
        for near in member.ins.clone() {
            if self.is_pivot_before(near, txn) {
                self.doom(near);
            }
        }
        self.finish(txn);
        Ok(())
    }

    /// Whether a running transaction is the pivot of a structure whose other transactions are running, and that ends with the
    /// transaction which commits.
    fn is_pivot_before(&self, near: TxnId, txn: TxnId) -> bool {
        let Some(pivot) = self.members.get(&near) else { return false };
        let is_running = |far: &Member| !far.has_committed() && !far.read_only && !far.doomed;
        let closes = |far: &TxnId| *far == txn || self.members.get(far).is_some_and(is_running);
        !pivot.has_committed() && !pivot.doomed && pivot.ins.iter().any(closes)
    }

    fn finish(&mut self, txn: TxnId) {
        let Some(mut member) = self.members.remove(&txn) else { return };
        self.commits += 1;
        (member.committed, member.finished_before) = (Some(self.commits), self.numbers);
        member.read_only |= member.number.is_none();
        let committed = |other: &TxnId| self.members.get(other).and_then(|other| other.committed);
        if !member.read_only {
            member.first_out = member.outs.iter().filter_map(committed).min();
        }
        // What is left of dependencies on transactions that have committed is in `first_out`.
        let (outs, ins) = (member.outs.clone(), member.ins.clone());
        for other in outs.into_iter().filter(|other| committed(other).is_some()).collect::<Vec<_>>() {
            member.outs.remove(&other);
            self.members.get_mut(&other).into_iter().for_each(|other| other.ins.retain(|reader| *reader != txn));
        }
        for other in ins {
            let Some(reader) = self.members.get_mut(&other) else { continue };
            if reader.has_committed() || reader.read_only {
                reader.outs.remove(&txn);
                member.ins.retain(|reader| *reader != other);
            }
        }
        let first_out = member.first_out;
        self.members.insert(txn, member);
        // Readers of a version that is no more the last one do not meet its next writers.
        self.locks.retain(|lock, _| match lock {
            ReadLock::Row(_, row) => !self.row_writers.get(row).is_some_and(|writers| writers.contains(&txn)),
            _ => true,
        });
        self.settle_readers(txn, first_out);
        self.forget_finished();
    }

    /// A writer has ended: READ ONLY transactions that began while it ran are unsafe if it comes before a commit that they
    /// see, and safe when no such writer is left. A safe one takes no part any more.
    fn settle_readers(&mut self, writer: TxnId, first_out: Option<u64>) {
        let mut safe = Vec::new();
        for (&txn, member) in &mut self.members {
            if !member.possibly_unsafe.remove(&writer) {
                continue;
            }
            if first_out.is_some_and(|first_out| first_out <= member.snapshot) {
                member.possibly_unsafe.clear();
            } else if member.possibly_unsafe.is_empty() && !member.has_committed() {
                safe.push(txn);
            }
        }
        safe.into_iter().for_each(|txn| self.forget(txn));
    }

    /// The transaction was rolled back.
    pub(crate) fn roll_back(&mut self, txn: TxnId) {
        if self.has(txn) {
            self.forget(txn);
            self.settle_readers(txn, None);
            self.forget_finished();
        }
    }

    /// Those that have committed are needed while a transaction runs that is concurrent with them.
    fn forget_finished(&mut self) {
        let running = self.members.values().filter(|member| !member.has_committed());
        let oldest = running.map(|member| member.oldest_running).min();
        let is_old =
            |member: &Member| member.has_committed() && oldest.is_none_or(|oldest| member.finished_before <= oldest);
        let old: Vec<TxnId> = self.members.iter().filter(|(_, member)| is_old(member)).map(|(&txn, _)| txn).collect();
        old.into_iter().for_each(|txn| self.forget(txn));
    }

    fn forget(&mut self, txn: TxnId) {
        let Some(member) = self.members.remove(&txn) else { return };
        for other in member.ins.iter().chain(&member.outs) {
            if let Some(other) = self.members.get_mut(other) {
                other.ins.retain(|reader| *reader != txn);
                other.outs.remove(&txn);
            }
        }
        fn leave<K: Eq + std::hash::Hash>(of: &mut FxHashMap<K, BTreeSet<TxnId>>, txn: TxnId) {
            of.retain(|_, txns| {
                txns.remove(&txn);
                !txns.is_empty()
            });
        }
        leave(&mut self.row_writers, txn);
        leave(&mut self.table_writers, txn);
        leave(&mut self.bulk_writers, txn);
        self.ranges.retain(|_, ranges| {
            ranges.retain(|(reader, _)| *reader != txn);
            !ranges.is_empty()
        });
        self.locks.retain(|_, holders| {
            holders.remove(&txn);
            !holders.is_empty()
        });
    }
}
