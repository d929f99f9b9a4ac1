//! Looking without reading: what is committed and what others are about to write, for constraints that a database
//! enforces at every level. None of it is part of the history.

use skew_model::{Key, Level, TxnId};

use crate::candidates::Reads;
use crate::engine::State;
use crate::error::Error;
use crate::sight::{Conflicts, Sight};
use crate::store::Store;
use crate::versions::{INIT, Txn};

impl<V: Clone> Store<V> {
    /// What the last committed version of the key holds; in an open commit order, the last one that arrived.
    pub fn latest(&self, key: Key) -> Option<&V> {
        match self.engine.versions.list(key.0).last() {
            None => self.initial(key.0),
            Some(last) => self.ops(last.writer)[last.operation as usize].value.as_ref(),
        }
    }

    /// The level of the transaction that committed the last version of the key; `None` for the initial one.
    pub fn level_of_latest(&self, key: Key) -> Option<Level> {
        let last = self.engine.versions.list(key.0).last()?;
        (last.writer >= self.engine.base).then(|| self.record(last.writer).level)
    }

    /// The running transactions that have written the key.
    pub fn writers(&self, key: Key) -> impl Iterator<Item = TxnId> + '_ {
        let dirty = self.engine.versions.dirty(key.0).iter();
        dirty.filter(|&&writer| self.engine.txn(writer).state == State::Open).map(|&writer| TxnId(writer))
    }

    /// Whether somebody has committed a version of the key since the running transaction's snapshot was taken: that of
    /// the statement at `mvrc`, of the first statement elsewhere. See [`crate::Reads::Snapshot`].
    pub fn changed_since_snapshot(&self, txn: TxnId, key: Key) -> Result<bool, Error> {
        self.must_be_open(txn)?;
        let last = self.engine.versions.list(key.0).last();
        Ok(last.is_some_and(|last| self.record(last.writer).ended > self.snapshot(txn.0)))
    }

    /// Whether what was committed last of the key was so before all running transactions began.
    pub fn is_old_to_all(&self, key: Key) -> bool {
        let Some(last) = self.engine.versions.list(key.0).last() else { return true };
        let ended = self.record(last.writer).ended;
        self.engine.open.iter().all(|&txn| self.record(txn).began >= ended)
    }

    /// Whether the running transaction could read the last committed version of the key, after what it has read so far.
    pub fn may_read_latest(&mut self, txn: TxnId, key: Key) -> Result<bool, Error> {
        self.must_be_open(txn)?;
        let mut found = std::mem::take(&mut self.candidates);
        let newest = self.engine.newest(txn.0, key.0, &mut found);
        self.candidates = found;
        Ok(newest == Some(self.engine.last_writer(key.0)))
    }

    fn snapshot(&self, txn: Txn) -> i64 {
        self.snapshots[self.engine.txn(txn).session as usize]
    }

    /// Where the transaction looks from a place: who wrote what its snapshot shows of the key, or `None` if that cannot be
    /// read any more within its level.
    pub(crate) fn in_snapshot(&self, txn: Txn, key: u32) -> Option<Option<Txn>> {
        if !self.engine.txn(txn).sight.looks_from_a_place() {
            return None;
        }
        let taken = self.snapshot(txn);
        let versions = self.engine.versions.list(key).iter().rev();
        let shown = versions.map(|version| version.writer).find(|&writer| self.record(writer).ended <= taken);
        let shown = shown.unwrap_or(INIT);
        Some(self.engine.has_place(txn, key, shown).then_some(shown))
    }

    /// Where somebody else has written since the snapshot was taken, a level with write conflicts refuses the write.
    pub(crate) fn is_refused_by_snapshot(&self, txn: TxnId, key: Key) -> bool {
        let conflicts = match self.engine.txn(txn.0).sight {
            Sight::Prefix { conflicts } => conflicts == Conflicts::Refused,
            sight => sight == Sight::Everything,
        };
        conflicts && self.record(txn.0).mode == Reads::Snapshot && self.changed_since_snapshot(txn, key) == Ok(true)
    }

    /// What a running transaction has written to the key: nothing, or that it holds nothing (`Some(None)`), or a value.
    pub fn own_write(&self, txn: TxnId, key: Key) -> Option<Option<&V>> {
        if !self.is_open(txn) {
            return None;
        }
        let write = self.engine.last_write(txn.0, key.0)?;
        Some(self.ops(txn.0)[write as usize].value.as_ref())
    }

    /// What some version of the key holds: the first value that a transaction wrote, or the initial one.
    pub fn any_value(&self, key: Key) -> Option<&V> {
        self.values(key).next()
    }

    /// What the versions of the key hold, and the initial value last.
    pub fn values(&self, key: Key) -> impl Iterator<Item = &V> {
        let versions = self.engine.versions.list(key.0).iter();
        let written =
            versions.filter_map(|version| self.ops(version.writer)[version.operation as usize].value.as_ref());
        written.chain(self.initial(key.0))
    }

    /// The same, or what a transaction wrote that is running or was rolled back, which only `ru` shows.
    pub fn any_value_of_anybody(&self, key: Key) -> Option<&V> {
        let uncommitted = || {
            let writers = self.engine.versions.dirty(key.0).iter();
            let mut values = writers.flat_map(|&writer| self.ops(writer)).filter(|op| op.is_write() && op.key == key.0);
            values.find_map(|op| op.value.as_ref())
        };
        self.any_value(key).or_else(uncommitted)
    }

    /// The entry that a cell was made with: the last one before it.
    pub fn entry_before(&self, key: Key) -> Option<Key> {
        self.spaces.entry_before(key.0).map(Key)
    }

    /// How many keys there are: the next one gets this number.
    pub fn key_count(&self) -> usize {
        self.engine.versions.key_count()
    }

    /// The transaction whose version of the key an open one has seen last, or written itself; `None` if it has seen what
    /// was there before all transactions, or has not looked.
    pub fn writer_seen(&self, txn: TxnId, key: Key) -> Option<TxnId> {
        if self.engine.last_write(txn.0, key.0).is_some() {
            return Some(txn);
        }
        let running = self.engine.running(txn.0);
        let last = running.reads_of(key.0).max()?;
        Some(running.reads[last].source).filter(|&source| source != INIT).map(TxnId)
    }

    /// Whether a transaction has committed.
    pub fn has_committed(&self, txn: TxnId) -> bool {
        self.state(txn.0) == State::Committed
    }

    /// Whether a transaction that has committed comes before the state that an open one looks at, which does not show it.
    pub fn is_before_snapshot(&self, reader: TxnId, other: TxnId) -> bool {
        other.0 >= self.engine.base
            && self.state(other.0) == State::Committed
            && self.engine.txn(other.0).position < self.engine.running(reader.0).seen
    }
}
