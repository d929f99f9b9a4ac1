//! Bounded memory for a store that runs for long: what is older than the last transactions is forgotten.
//!
//! Off by default. With [`crate::Options::retention`] at `n`, the store remembers at least the last `n` transactions and
//! at most about twice as many; with [`crate::Options::max_operations`] fewer, if they have many operations: those that
//! have no more than so many together, and an eighth more. Forgetting takes a prefix of the commit order away: of each
//! key its last version in the prefix stays, as the key's initial value, and from then on every transaction sees the
//! prefix. So behaviour gets no worse than the level allows, only less stale: a read cannot return what was overwritten
//! more than `n` transactions ago. A transaction that stays open holds forgetting back, as it does in a real database, and so does a serializable
//! one that wrote after reading old versions, since it comes before others in the order. Keys are never forgotten.

use crate::clocks::join;
use crate::engine::{Engine, Order, State};
use crate::position::Position;
use crate::record::{Initial, Record};
use crate::running::Read;
use crate::store::Store;
use crate::versions::{INIT, Txn};
use crate::writers::numbered;

/// What is remembered of a look at a range takes as much memory as so many operations.
const SIZE_OF_SCAN: usize = 4;

impl<V: Clone> Store<V> {
    /// Forgets what is older than the options ask for, once there is as much again.
    pub fn forget(&mut self) {
        if self.tellings > 0 {
            return;
        }
        let end = self.engine.base + self.records.len() as u32;
        let keep = self.options.retention.unwrap_or(usize::MAX).max(1);
        let most = self.options.max_operations.unwrap_or(usize::MAX).max(1);
        let transactions = self.records.len() / 2 >= keep && end >= self.next_forgetting;
        let noted = self.noted_ranges * SIZE_OF_SCAN;
        let size = self.operations.len() + noted + self.records.len() * self.size_of_transaction();
        let made = self.operations.made() + end as usize;
        // A little more than is wanted at a time, so that nobody has to wait for long.
        let operations = size - most.min(size) > most / 8 && made >= self.next_forgetting_at;
        if !transactions && !operations {
            return;
        }
        self.next_forgetting = end.saturating_add(keep.try_into().unwrap_or(u32::MAX));
        self.next_forgetting_at = made.saturating_add(most / 8);
        let keep = if operations { keep.min(self.last_with_operations(most)) } else { keep };
        let cut = self.engine.lower_cut(end - keep as u32);
        if cut == self.engine.base {
            return;
        }
        self.keep_used(cut);
        let written = self.written_before(cut);
        for &key in &written {
            self.settle(key, cut);
        }
        self.engine.forget(cut, &written);
        let gone = self.records.drain(..(cut - self.engine.base) as usize);
        self.noted_ranges -= gone.map(|record| record.scans.len()).sum::<usize>();
        self.engine.base = cut;
        self.operations.forget_before(self.records.iter());
        self.sessions.forget(self.records.iter());
    }

    /// What is remembered of a transaction besides its operations takes as much memory as so many of them.
    fn size_of_transaction(&self) -> usize {
        4 + self.engine.causes.width() / 4
    }

    /// How many of the last transactions have no more than so many operations together.
    fn last_with_operations(&self, most: usize) -> usize {
        let (mut left, each) = (most, self.size_of_transaction());
        let size = |record: &Record| each + record.kept.count() + record.scans.len() * SIZE_OF_SCAN;
        let fits = |record: &&Record| match left.checked_sub(size(record)) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        };
        self.records.iter().rev().take_while(fits).count()
    }

    /// The keys that the transactions before this one have written.
    pub(crate) fn written_before(&self, cut: Txn) -> Vec<u32> {
        let mut written = Vec::new();
        (self.engine.base..cut).for_each(|txn| written.extend(self.engine.writes_of(txn)));
        written.sort_unstable();
        written.dedup();
        written
    }

    /// The last version before the cut becomes the initial one.
    pub(crate) fn settle(&mut self, key: u32, cut: Txn) {
        let engine = &self.engine;
        let gone = engine.versions.list(key).iter().filter(|version| version.writer < cut);
        let Some(&last) = gone.max_by_key(|version| engine.rank(version.writer)) else { return };
        let value = self.ops(last.writer)[last.operation as usize].value.clone();
        self.keep_initial(key);
        self.set_initial(key, Initial::settled_by(value, (last.writer, last.operation)));
    }
}

impl Engine {
    /// The largest number up to this one such that all transactions below have ended and come before all others.
    fn lower_cut(&self, cut: Txn) -> Txn {
        let mut cut = self.open.iter().copied().fold(cut, Txn::min);
        loop {
            let last = self.last_numbers(cut);
            let first_kept = self.first_position_from(cut);
            let entangled = (self.base..cut).find(|&txn| match self.order {
                Order::Open(_) => self.before.row(txn).iter().zip(&last).any(|(before, last)| before > last),
                Order::Closed(_) => self.txn(txn).wrote() && self.txn(txn).position > first_kept,
            });
            match entangled.or_else(|| self.overwriter_of_open_read(cut)) {
                Some(txn) => cut = txn,
                None => return cut,
            }
        }
    }

    /// A transaction below the cut that overwrote what an open transaction has read: the open one cannot be made to see
    /// it.
    fn overwriter_of_open_read(&self, cut: Txn) -> Option<Txn> {
        let reads = self.open.iter().flat_map(|&open| &self.running(open).reads);
        let older = |read: &Read| {
            let rank = if read.source == INIT || read.source < self.base { None } else { Some(self.rank(read.source)) };
            let writers = self.versions.list(read.key).iter().map(|version| version.writer);
            writers.filter(|&writer| writer < cut && Some(self.rank(writer)) > rank).min()
        };
        reads.filter(|read| read.source == INIT || read.source < cut).filter_map(older).min()
    }

    /// For each session, the number of its last transaction below the cut.
    fn last_numbers(&self, cut: Txn) -> Vec<u32> {
        let mut last = self.forgotten.clone();
        last.resize(self.before.width(), 0);
        for txn in &self.txns[..(cut - self.base) as usize] {
            last[txn.session as usize] = txn.number;
        }
        last
    }

    /// The first place from the cut on. Who has not written anything does not count: nobody can tell where it was.
    fn first_position_from(&self, cut: Txn) -> Position {
        let kept = self.txns[(cut - self.base) as usize..].iter().filter(|txn| txn.wrote());
        kept.map(|txn| txn.position).min().unwrap_or(Position::NEVER)
    }

    /// Where the transaction comes in one fixed commit order.
    fn rank(&self, txn: Txn) -> (Position, u64, Txn) {
        let weight = self.before.row(txn).iter().map(|&number| u64::from(number)).sum();
        match self.order {
            Order::Open(_) => (Position::FIRST, weight, txn),
            Order::Closed(_) => (self.txn(txn).position, 0, txn),
        }
    }

    /// Forgets the transactions before the cut, which have written these keys.
    fn forget(&mut self, cut: Txn, written: &[u32]) {
        let gone = self.txns[..(cut - self.base) as usize].iter().filter(|txn| txn.state == State::Committed);
        self.forgotten_position = gone.map(|txn| txn.position).fold(self.forgotten_position, Position::max);
        let mut last = self.last_numbers(cut);
        last.truncate(self.sessions.len());
        self.forgotten = last;
        for &key in written {
            self.versions.forget(key, cut, |writer| numbered(&self.txns, self.base, writer));
        }
        self.everything_changed();
        self.forget_writes(cut);
        self.causes.forget(cut);
        self.before.forget(cut);
        if let Order::Open(edges) = &mut self.order {
            edges.forget(cut);
        }
        self.txns.drain(..(cut - self.base) as usize);
        for session in &mut self.sessions {
            let kept = session.txns.partition_point(|&txn| txn < cut);
            session.txns.drain(..kept);
        }
        for at in 0..self.open.len() {
            let open = self.open[at];
            join(self.causes.row_mut(open), &self.forgotten);
            join(self.before.row_mut(open), &self.forgotten);
            let session = self.txns[(open - cut) as usize].session as usize;
            let running = &mut self.sessions[session].running;
            running.seen = running.seen.max(self.forgotten_position);
        }
    }
}
