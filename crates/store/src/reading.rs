//! Reading: whom a read takes its value from, and what is logged of it.

use skew_model::{Key, TxnId};

use crate::candidates::{Listing, Reads};
use crate::choice::{Choice, Place, Point, Read};
use crate::engine::{Conflict, OwnRow, RowLock, State};
use crate::error::{Error, Moment};
use crate::log::{Action, Op};
use crate::sight::Sight;
use crate::store::{Step, Store};
use crate::telling::Freshness;
use crate::versions::{INIT, Txn};

impl<V: Clone> Store<V> {
    /// What the key holds, as far as the transaction can tell: `None` if it was never written, or deleted.
    pub fn read(&mut self, txn: TxnId, key: Key, choice: &mut dyn Choice) -> Result<Option<V>, Error> {
        self.must_be_open(txn)?;
        if let Some(write) = self.engine.last_write(txn.0, key.0) {
            return Ok(self.read_own(txn.0, key.0, write));
        }
        let Some(source) = self.choose(txn.0, key.0, choice) else {
            return Err(self.refuse(txn.0, Conflict(key.0), Moment::Read));
        };
        Ok(self.take(txn.0, key.0, source, OwnRow::No))
    }

    /// What the freshest version holds that the transaction may read, whatever its other reads return. At `ru` that is
    /// the last committed one; with [`Reads::Snapshot`], where all statements look from one snapshot, what that shows.
    pub fn read_newest(&mut self, txn: TxnId, key: Key) -> Result<Option<V>, Error> {
        self.must_be_open(txn)?;
        if let Some(write) = self.engine.last_write(txn.0, key.0) {
            return Ok(self.read_own(txn.0, key.0, write));
        }
        let mut found = std::mem::take(&mut self.candidates);
        let one_snapshot = self.record(txn.0).mode == Reads::Snapshot
            && matches!(self.engine.txn(txn.0).sight, Sight::Prefix { .. } | Sight::Everything);
        let newest = match one_snapshot.then(|| self.in_snapshot(txn.0, key.0)).flatten() {
            Some(shown) => shown,
            None => self.engine.newest(txn.0, key.0, &mut found),
        };
        self.candidates = found;
        let Some(source) = newest else { return Err(self.refuse(txn.0, Conflict(key.0), Moment::Read)) };
        Ok(self.take(txn.0, key.0, source, OwnRow::No))
    }

    /// What the key holds, for a statement whose caller has locked its row: at `mvrc` the last committed version, whatever
    /// the statement's snapshot shows. What the statement has read of the key before does not count any more. At other
    /// levels it is [`Store::read_newest`].
    pub fn read_under_lock(&mut self, txn: TxnId, key: Key) -> Result<Option<V>, Error> {
        self.must_be_open(txn)?;
        if let Some(write) = self.engine.last_write(txn.0, key.0) {
            return Ok(self.read_own(txn.0, key.0, write));
        }
        if self.engine.txn(txn.0).sight != Sight::StatementPrefix {
            return self.read_newest(txn, key);
        }
        let last = self.engine.last_writer(key.0);
        Ok(self.take(txn.0, key.0, last, OwnRow::Yes))
    }

    /// The caller has locked the row of the key. At `mvrc` the statements that follow see whoever has written it last, as
    /// those do that have read it under its lock, and whoever has had a lock before that excludes it; and if the transaction
    /// writes the key, too, it commits only if nobody has written it since: transactions of other levels take no locks. At
    /// other levels this says nothing.
    pub fn hold(&mut self, txn: TxnId, key: Key, lock: RowLock) -> Result<(), Error> {
        self.must_be_open(txn)?;
        self.engine.hold(txn.0, key.0, lock);
        Ok(())
    }

    /// The row of the key was gone when the caller had locked it, and the lock is given back: what [`Store::hold`] has noted
    /// about it is forgotten.
    pub fn let_go(&mut self, txn: TxnId, key: Key) -> Result<(), Error> {
        self.must_be_open(txn)?;
        self.engine.let_go(txn.0, key.0);
        Ok(())
    }

    /// The transaction sees who has written the key last, without reading it: [`Store::may_read_latest`] says whether it
    /// can. Where statements look at states of their own this says nothing.
    pub fn see_latest(&mut self, txn: TxnId, key: Key) -> Result<(), Error> {
        self.must_be_open(txn)?;
        self.engine.see_last(txn.0, key.0);
        Ok(())
    }

    /// What the statement has read of so many keys, from this one on, does not count any more: it has looked without
    /// making use of it, or it looks again under the lock of their row. What it has read under locks, and of its
    /// transaction's own writes, stands.
    pub fn withdraw_reads(&mut self, txn: TxnId, first: Key, count: u32) -> Result<(), Error> {
        self.must_be_open(txn)?;
        let running = self.engine.running(txn.0);
        let is_read = |key: u32| running.reads_of(key).any(|at| at >= running.first_read);
        if (first.0..first.0 + count).any(is_read) {
            self.log_look(txn.0, |at| Op::new(Action::Withdrawal(count), first.0, None, at));
        }
        Ok(())
    }

    /// What the key holds, for a statement that goes on to write it if that is wanted. At `mvrc` the statement looks at
    /// its snapshot first; if it wants to write what it sees there, the row is locked and its last version is read.
    pub fn read_for_update(
        &mut self,
        txn: TxnId,
        key: Key,
        wants: &dyn Fn(Option<&V>) -> bool,
        choice: &mut dyn Choice,
    ) -> Result<Step<Option<V>>, Error> {
        self.must_be_open(txn)?;
        if self.engine.txn(txn.0).sight != Sight::StatementPrefix || self.engine.last_write(txn.0, key.0).is_some() {
            return self.read(txn, key, choice).map(Step::Done);
        }
        let Some(seen) = self.choose(txn.0, key.0, choice) else {
            return Err(self.refuse(txn.0, Conflict(key.0), Moment::Read));
        };
        if !wants(self.value_of(seen, self.write_of(seen, key.0), key.0)) {
            return Ok(Step::Done(self.take(txn.0, key.0, seen, OwnRow::No)));
        }
        if let Some(holder) = self.lock(txn.0, key.0)? {
            return Ok(Step::Wait(holder));
        }
        let last = self.engine.last_writer(key.0);
        Ok(Step::Done(self.take(txn.0, key.0, last, OwnRow::Yes)))
    }

    fn choose(&mut self, txn: Txn, key: u32, choice: &mut dyn Choice) -> Option<Txn> {
        let mut found = std::mem::take(&mut self.candidates);
        let reads = self.record(txn).mode;
        if matches!(reads, Reads::Newest | Reads::Snapshot) {
            let by_snapshot = (reads == Reads::Snapshot).then(|| self.in_snapshot(txn, key)).flatten();
            let chosen = by_snapshot.unwrap_or_else(|| self.engine.newest(txn, key, &mut found));
            self.candidates = found;
            return chosen;
        }
        let listing = if choice.sees_sources() { Listing::All } else { Listing::Few };
        self.engine.candidates(txn, key, reads, listing, &mut found);
        let place = self.place(txn).expect("a running transaction has a place");
        let number = self.record(txn).reads;
        let mut ask = |count: usize, sources: &[Option<Place>]| {
            let picked = choice.pick(Point::Source(Read { reader: place, number, key: Key(key), count, sources }));
            assert!(picked < count, "a choice picks one of the alternatives");
            picked
        };
        let chosen = match (found.drawn, found.listed.len()) {
            (0, 0 | 1) => found.listed.first().copied(),
            (0, count) => {
                self.sources.clear();
                let places = found.listed.iter().map(|&source| self.engine.place_of(source));
                self.sources.extend(places);
                Some(found.listed[ask(count, &self.sources)])
            }
            _ => self.engine.draw_valid(txn, key, &found, |count| ask(count, &[])),
        };
        self.candidates = found;
        chosen
    }

    /// The transaction reads what it has written itself.
    fn read_own(&mut self, txn: Txn, key: u32, write: u32) -> Option<V> {
        let value = self.ops(txn)[write as usize].value.clone();
        self.log(txn, Action::OwnRead(write), key, value.clone());
        value
    }

    /// The transaction reads the key from the source.
    fn take(&mut self, txn: Txn, key: u32, source: Txn, own_row: OwnRow) -> Option<V> {
        let write = self.write_of(source, key);
        let value = self.value_of(source, write, key).cloned();
        let own_row = if own_row == OwnRow::Yes && value.is_none() { OwnRow::Absent } else { own_row };
        let freshness = if source == self.engine.last_writer(key) { Freshness::Last } else { Freshness::Stale };
        let action = match write {
            Some(write) => Action::Read(source, write),
            // The forgotten writer of what has become the initial value is told from others that are forgotten later.
            None => self.settled(key).map_or(Action::Read(INIT, 0), |(writer, write)| Action::Read(writer, write)),
        };
        if let Some(write) = write.filter(|_| self.engine.txn(source).state == State::Open) {
            self.operations.see(self.engine.txn(source).session, write);
        }
        self.engine.read(txn, key, source, own_row);
        let op = |at: u32| Op::new(action, key, value.clone(), at).with(own_row, freshness);
        match own_row {
            OwnRow::Yes | OwnRow::Absent | OwnRow::Gone => self.log_op(txn, op),
            OwnRow::No => self.log_look(txn, op),
        }
        self.record_mut(txn).reads += 1;
        value
    }

    /// What the source wrote to the key, with this one of its operations.
    fn value_of(&self, source: Txn, write: Option<u32>, key: u32) -> Option<&V> {
        match write {
            None => self.initial(key),
            Some(write) => self.ops(source)[write as usize].value.as_ref(),
        }
    }

    /// Which of the source's operations wrote what is read of it; `None` for the initial transaction.
    fn write_of(&self, source: Txn, key: u32) -> Option<u32> {
        if source == INIT || source < self.engine.base {
            return None;
        }
        if let Some(version) = self.engine.version_of(source, key) {
            return Some(self.engine.versions.list(key)[version].operation);
        }
        if self.engine.txn(source).state == State::Open {
            return self.engine.last_write(source, key);
        }
        let written = self.ops(source).iter().rposition(|op| op.is_write() && op.key == key);
        written.map(|at| at as u32)
    }
}
