//! The store: sessions, transactions and their operations. Deterministic, single-threaded, and never waits by itself.

use skew_model::{Key, Level, SessionId, TxnId};

pub use crate::candidates::Reads;
use crate::candidates::{Candidates, Listing};
use crate::checkpoint::Checkpoint;
use crate::choice::{Choice, Place, Point, Read};
pub use crate::engine::Recency;
use crate::engine::{Conflict, Engine, Looks, OwnRow, Snapshot, State};
use crate::error::{Ended, Error};
use crate::locks::{Lock, Locks};
use crate::log::{Action, Op, Operations};
use crate::record::{Initial, Record, Times};
pub use crate::savepoint::Mark;
use crate::scans::Scanned;
use crate::sessions::Sessions;
use crate::sight::{Sight, explorable};
use crate::spaces::Spaces;
use crate::telling::Freshness;
use crate::versions::{INIT, Txn};

/// How a store behaves.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Whether what was committed before a transaction began must be seen.
    pub recency: Recency,
    /// How many of the last transactions are remembered at least; all of them by default. See [`crate::retention`].
    pub retention: Option<usize>,
    /// Fewer are remembered if they have many more operations than this together; any number by default.
    pub max_operations: Option<usize>,
    /// Who takes the row locks of `mvrc`.
    pub locks: RowLocks,
    /// What becomes of a transaction whose call is refused.
    pub refusals: Refusals,
}

/// Who takes the row locks of `mvrc`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum RowLocks {
    /// The store, one a key: calls may come to [`Step::Wait`].
    #[default]
    ByStore,
    /// Whoever uses the store, whose rows have several keys: calls never wait.
    ByCaller,
}

/// What becomes of a transaction when a read or a write is refused because it cannot be made within the level.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Refusals {
    /// It is rolled back.
    #[default]
    RollBack,
    /// It stays open, as if the call had not been made: it may go back to a savepoint. A refused commit rolls back all
    /// the same.
    Reported,
}

/// At which level a store runs transactions.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Strength {
    /// At the one that they ask for.
    #[default]
    Asked,
    /// At the strongest weaker one that can be explored by histories; what comes out is checked in the end.
    Explorable,
}

/// What a call that may have to wait for a row lock comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step<T> {
    /// Done.
    Done(T),
    /// This transaction holds the row: call again when it has ended.
    Wait(TxnId),
}

/// A key-value store that behaves as badly as the level of each transaction allows.
#[derive(Clone, Debug)]
pub struct Store<V> {
    pub(crate) options: Options,
    pub(crate) strength: Strength,
    pub(crate) engine: Engine,
    pub(crate) sessions: Sessions,
    pub(crate) spaces: Spaces,
    /// By key; those that come later hold nothing.
    pub(crate) initials: Vec<Initial<V>>,
    pub(crate) records: Vec<Record>,
    pub(crate) operations: Operations<V>,
    pub(crate) locks: Locks,
    pub(crate) scanned: Scanned,
    pub(crate) times: Times,
    pub(crate) now: i64,
    /// When the running statement of each session began.
    pub(crate) statements: Vec<i64>,
    /// When the snapshot of each session was taken, where reads are exact.
    pub(crate) snapshots: Vec<i64>,
    /// Nothing is forgotten before so many transactions have begun.
    pub(crate) next_forgetting: u32,
    /// Nor before so many operations have been made.
    pub(crate) next_forgetting_at: usize,
    pub(crate) checkpoint: Option<Checkpoint<V>>,
    candidates: Candidates,
    sources: Vec<Option<Place>>,
}

impl<V: Clone> Store<V> {
    /// An empty store.
    pub fn new(options: Options) -> Store<V> {
        Store {
            options,
            strength: Strength::Asked,
            engine: Engine::new(options.recency),
            sessions: Sessions::default(),
            spaces: Spaces::new(),
            initials: Vec::new(),
            records: Vec::new(),
            operations: Operations::new(),
            locks: Locks::default(),
            scanned: Scanned::default(),
            times: Times::of(options.recency),
            now: 0,
            statements: Vec::new(),
            snapshots: Vec::new(),
            next_forgetting: 0,
            next_forgetting_at: 0,
            checkpoint: None,
            candidates: Candidates::default(),
            sources: Vec::new(),
        }
    }

    /// Begins a transaction.
    pub fn begin(&mut self, session: SessionId, level: Level, reads: Reads) -> Result<TxnId, Error> {
        Sight::of(level).ok_or(Error::Level(level))?;
        let run_at = if self.strength == Strength::Explorable { explorable(level) } else { level };
        let sight = Sight::of(run_at).ok_or(Error::Level(run_at))?;
        if self.engine.sessions[session.0 as usize].open.is_some() {
            return Err(Error::StillOpen { session: self.session_name(session).to_owned() });
        }
        if level == Level::Sser {
            self.times = Times::Told;
        }
        self.now += 1;
        self.statements[session.0 as usize] = self.now;
        self.snapshots[session.0 as usize] = self.now;
        let looks = if reads == Reads::Snapshot { Looks::Exact } else { Looks::Any };
        let txn = self.engine.begin(session.0, run_at, sight, looks);
        self.records.push(Record::new(self.sessions.number(session.0), level, reads, self.now));
        Ok(TxnId(txn))
    }

    /// The operations that follow belong to a new statement.
    pub fn statement(&mut self, txn: TxnId) -> Result<(), Error> {
        self.must_be_open(txn)?;
        self.now += 1;
        let session = self.engine.txn(txn.0).session as usize;
        self.statements[session] = self.now;
        if self.engine.statement(txn.0) == Snapshot::New {
            self.snapshots[session] = self.now;
        }
        Ok(())
    }

    /// How many statements the running transaction has begun.
    pub fn statement_number(&self, txn: TxnId) -> Result<u32, Error> {
        self.must_be_open(txn)?;
        Ok(self.engine.running(txn.0).statement)
    }

    /// What the key holds, as far as the transaction can tell: `None` if it was never written, or deleted.
    pub fn read(&mut self, txn: TxnId, key: Key, choice: &mut dyn Choice) -> Result<Option<V>, Error> {
        self.must_be_open(txn)?;
        if let Some(write) = self.engine.last_write(txn.0, key.0) {
            return Ok(self.read_own(txn.0, key.0, write));
        }
        let Some(source) = self.choose(txn.0, key.0, choice) else {
            return Err(self.refuse(txn.0, Conflict(key.0)));
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
        let Some(source) = newest else { return Err(self.refuse(txn.0, Conflict(key.0))) };
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

    /// The statement looks again at so many keys, from this one on, under the lock of their row: what it has read of them
    /// before, other than its transaction's own writes, does not count any more. Only `mvrc` looks again.
    pub fn withdraw_reads(&mut self, txn: TxnId, first: Key, count: u32) -> Result<(), Error> {
        self.must_be_open(txn)?;
        if self.engine.txn(txn.0).sight == Sight::StatementPrefix {
            self.log(txn.0, Action::Withdrawal(count), first.0, None);
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
            return Err(self.refuse(txn.0, Conflict(key.0)));
        };
        if !wants(self.value_of(seen, key.0).as_ref()) {
            return Ok(Step::Done(self.take(txn.0, key.0, seen, OwnRow::No)));
        }
        if let Some(holder) = self.lock(txn.0, key.0)? {
            return Ok(Step::Wait(holder));
        }
        let last = self.engine.last_writer(key.0);
        Ok(Step::Done(self.take(txn.0, key.0, last, OwnRow::Yes)))
    }

    /// Writes the key, or deletes it (`None`). At `mvrc` the row is locked until the transaction ends.
    pub fn write(&mut self, txn: TxnId, key: Key, value: Option<V>) -> Result<Step<()>, Error> {
        self.must_be_open(txn)?;
        if self.engine.txn(txn.0).sight == Sight::StatementPrefix
            && let Some(holder) = self.lock(txn.0, key.0)?
        {
            return Ok(Step::Wait(holder));
        }
        let before = self.engine.last_write(txn.0, key.0);
        let number = self.operations.count(self.engine.txn(txn.0).session);
        let written = match self.is_refused_by_snapshot(txn, key) {
            true => Err(Conflict(key.0)),
            false => self.engine.write(txn.0, key.0, number),
        };
        if written.is_err() && self.options.refusals == Refusals::Reported {
            self.engine.unwrite(txn.0, key.0, before);
        } else {
            self.log(txn.0, Action::Write { before }, key.0, value);
        }
        written.map(Step::Done).map_err(|conflict| self.refuse(txn.0, conflict))
    }

    /// Commits.
    pub fn commit(&mut self, txn: TxnId) -> Result<(), Error> {
        self.must_be_open(txn)?;
        self.engine.commit(txn.0).map_err(|conflict| self.refuse_all(txn.0, conflict))?;
        self.remember_scans(txn.0);
        self.end(txn.0);
        Ok(())
    }

    /// Whether the level that the transaction asked for has conflicts, and it runs at a weaker one that has none.
    pub(crate) fn may_be_refused(&self, txn: TxnId) -> bool {
        self.strength == Strength::Explorable
            && self.is_open(txn)
            && Sight::of(self.record(txn.0).level).is_some_and(Sight::refuses)
    }

    /// Rolls back as after a conflict.
    pub(crate) fn refuse_commit(&mut self, txn: TxnId) -> Error {
        let ops = self.ops(txn.0);
        let key = ops.iter().find(|op| op.is_write()).or(ops.first()).map_or(0, |op| op.key);
        self.refuse_all(txn.0, Conflict(key))
    }

    /// Rolls back.
    pub fn rollback(&mut self, txn: TxnId) -> Result<(), Error> {
        self.must_be_open(txn)?;
        self.engine.roll_back(txn.0, State::RolledBack);
        self.end(txn.0);
        Ok(())
    }

    /// Whether the transaction is running.
    pub fn is_open(&self, txn: TxnId) -> bool {
        self.state(txn.0) == State::Open
    }

    /// How many transactions have begun, and are remembered.
    pub fn remembered(&self) -> usize {
        self.records.len()
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
            let picked = choice.pick(Point::Source(Read { reader: place, number, count, sources }));
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
        let value = self.value_of(source, key);
        let freshness = if source == self.engine.last_writer(key) { Freshness::Last } else { Freshness::Stale };
        if source != INIT && source >= self.engine.base && self.engine.txn(source).state == State::Open {
            self.operations.see(self.engine.txn(source).session, write.unwrap_or(0));
        }
        self.engine.read(txn, key, source, own_row);
        let action = Action::Read(source, write.unwrap_or(0));
        self.log_op(txn, |at| Op::new(action, key, value.clone(), at).with(own_row, freshness));
        self.record_mut(txn).reads += 1;
        value
    }

    /// What the source wrote to the key.
    fn value_of(&self, source: Txn, key: u32) -> Option<V> {
        match self.write_of(source, key) {
            None => self.initial(key).cloned(),
            Some(write) => self.ops(source)[write as usize].value.clone(),
        }
    }

    /// Which of the source's operations wrote what is read of it; `None` for the initial transaction.
    pub(crate) fn write_of(&self, source: Txn, key: u32) -> Option<u32> {
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

    fn lock(&mut self, txn: Txn, key: u32) -> Result<Option<TxnId>, Error> {
        if self.options.locks == RowLocks::ByCaller {
            return Ok(None);
        }
        match self.locks.ask(txn, key) {
            Lock::Held => Ok(None),
            Lock::Wait(holder) => Ok(Some(TxnId(holder))),
            Lock::Deadlock => {
                self.engine.roll_back(txn, State::Refused);
                self.end(txn);
                Err(Error::Deadlock { key: self.key_name(Key(key)).into_owned() })
            }
        }
    }

    /// A call is refused.
    fn refuse(&mut self, txn: Txn, conflict: Conflict) -> Error {
        match self.options.refusals {
            Refusals::RollBack => self.refuse_all(txn, conflict),
            Refusals::Reported => Error::Serialization { key: self.key_name(Key(conflict.0)).into_owned() },
        }
    }

    /// The transaction is refused as a whole.
    fn refuse_all(&mut self, txn: Txn, conflict: Conflict) -> Error {
        self.engine.roll_back(txn, State::Refused);
        self.end(txn);
        Error::Serialization { key: self.key_name(Key(conflict.0)).into_owned() }
    }

    fn end(&mut self, txn: Txn) {
        self.locks.release(txn);
        self.now += 1;
        let session = self.engine.txn(txn).session;
        let record = &mut self.records[(txn - self.engine.base) as usize];
        record.ended = self.now;
        record.kept = self.operations.end(session);
        self.forget();
    }

    fn log(&mut self, txn: Txn, action: Action, key: u32, value: Option<V>) {
        self.log_op(txn, |at| Op::new(action, key, value, at));
    }

    fn log_op(&mut self, txn: Txn, op: impl FnOnce(u32) -> Op<V>) {
        self.now += 1;
        let (session, statement) = (self.engine.txn(txn).session, self.engine.running(txn).statement);
        let began = self.statements[session as usize];
        let at = u32::try_from(self.now - self.record(txn).began).unwrap_or(u32::MAX);
        self.operations.push(session, op(at), statement, began);
    }

    /// What the transaction has done.
    pub(crate) fn ops(&self, txn: Txn) -> &[Op<V>] {
        self.operations.of(&self.engine, txn, self.record(txn))
    }

    pub(crate) fn must_be_open(&self, txn: TxnId) -> Result<(), Error> {
        let how = match self.state(txn.0) {
            State::Open => return Ok(()),
            State::Committed => Ended::Committed,
            State::RolledBack => Ended::RolledBack,
            State::Refused => Ended::Refused,
        };
        Err(Error::Finished { how })
    }

    fn state(&self, txn: Txn) -> State {
        match txn.checked_sub(self.engine.base) {
            None => State::Committed,
            // Who ran before a reset is gone.
            Some(at) => self.engine.txns.get(at as usize).map_or(State::RolledBack, |txn| txn.state),
        }
    }

    pub(crate) fn record(&self, txn: Txn) -> &Record {
        &self.records[(txn - self.engine.base) as usize]
    }

    pub(crate) fn record_mut(&mut self, txn: Txn) -> &mut Record {
        &mut self.records[(txn - self.engine.base) as usize]
    }

    pub(crate) fn place(&self, txn: Txn) -> Option<Place> {
        self.engine.place_of(txn)
    }
}
