//! The store: sessions, transactions and their operations. Deterministic, single-threaded, and never waits by itself.

use skew_model::{Key, Level, SessionId, TxnId};

use crate::candidates::Candidates;
pub use crate::candidates::Reads;
use crate::checkpoint::Checkpoint;
use crate::choice::Place;
use crate::engine::{Conflict, Engine, Looks, Snapshot, State};
pub use crate::engine::{Recency, RowLock};
use crate::error::{Ended, Error, Moment, Refusal};
use crate::locks::{Lock, Locks};
use crate::log::{Action, Op, Operations};
use crate::record::{Initial, Record, Times};
use crate::running::Looking;
pub use crate::savepoint::Mark;
use crate::scans::Scanned;
use crate::sessions::Sessions;
use crate::sight::{Sight, explorable};
use crate::spaces::Spaces;
use crate::versions::Txn;

/// How a store behaves.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Whether what was committed before a transaction began must be seen.
    pub recency: Recency,
    /// How many of the last transactions are remembered at least; all of them by default. See [`crate::retention`].
    pub retention: Option<usize>,
    /// Fewer are remembered if they have many more operations than this together, any number by default. What is kept of a
    /// transaction itself counts as a few operations, the more the more sessions there are.
    pub max_operations: Option<usize>,
    /// Who takes the row locks of `mvrc`.
    pub locks: RowLocks,
    /// What becomes of a transaction whose call is refused.
    pub refusals: Refusals,
    /// When what is too old is forgotten.
    pub forgetting: Forgetting,
}

/// When a store forgets what is older than its options ask for.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Forgetting {
    /// Whenever a transaction has ended.
    #[default]
    WithEachEnd,
    /// When the user of the store calls [`Store::forget`]: ends of large transactions take less time at once.
    WhenAsked,
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
    /// How often the remembered transactions have looked at ranges.
    pub(crate) noted_ranges: usize,
    pub(crate) times: Times,
    pub(crate) now: i64,
    /// When the running statement of each session began.
    pub(crate) statements: Vec<i64>,
    /// When the snapshot of each session was taken, where reads are exact.
    pub(crate) snapshots: Vec<i64>,
    /// Nothing is forgotten before so many transactions have begun.
    pub(crate) next_forgetting: u32,
    /// Nor before so many operations have been made and transactions begun.
    pub(crate) next_forgetting_at: usize,
    /// How many histories are being told in pieces: nothing is forgotten meanwhile.
    pub(crate) tellings: usize,
    /// Grows when transactions are counted from the beginning.
    pub(crate) generation: u64,
    pub(crate) checkpoint: Option<Checkpoint<V>>,
    /// Buffers that are used again.
    pub(crate) candidates: Candidates,
    pub(crate) sources: Vec<Option<Place>>,
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
            noted_ranges: 0,
            times: Times::of(options.recency),
            now: 0,
            statements: Vec::new(),
            snapshots: Vec::new(),
            next_forgetting: 0,
            next_forgetting_at: 0,
            tellings: 0,
            generation: 0,
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
        if level.is_strict() {
            self.times = Times::Told;
        }
        self.now += 1;
        self.statements[session.0 as usize] = self.now;
        self.snapshots[session.0 as usize] = self.now;
        let looks = if reads == Reads::Snapshot { Looks::Exact } else { Looks::Any };
        let txn = self.engine.begin(session.0, run_at, sight, looks);
        self.engine.running_mut(txn).looking = Looking { statement: 0, began: self.now };
        self.records.push(Record::new(self.sessions.number(session.0), level, reads, self.now));
        Ok(TxnId(txn))
    }

    /// The session's next transaction sees everything that was committed before it begins, whatever the recency.
    ///
    /// This is what makes retries end, at every level: **a transaction that is tried again after a refusal is refused only
    /// because of transactions that commit after it began.** Without it the bare level would allow the same stale snapshot,
    /// and with it the same refusal, for ever. With it each commit refuses each session at most once, so that of `n`
    /// transactions in `s` sessions no more than `n * s` tries are refused, and one more for each transaction that began with
    /// a stale snapshot. The front doors call this when they report a refusal to a client, whether the store or their own
    /// locks and constraints have refused. The store does not do it by itself, since exploration has to show all that the
    /// bare level allows after a refusal.
    pub fn sees_all_next(&mut self, session: SessionId) {
        self.engine.sessions[session.0 as usize].sees_all_next = true;
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
        let running = self.engine.running_mut(txn.0);
        running.looking = Looking { statement: running.statement, began: self.now };
        Ok(())
    }

    /// How many statements the running transaction has begun.
    pub fn statement_number(&self, txn: TxnId) -> Result<u32, Error> {
        self.must_be_open(txn)?;
        Ok(self.engine.running(txn.0).statement)
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
        written.map(Step::Done).map_err(|conflict| self.refuse(txn.0, conflict, Moment::Write))
    }

    /// Commits.
    pub fn commit(&mut self, txn: TxnId) -> Result<(), Error> {
        self.must_be_open(txn)?;
        self.engine.commit(txn.0).map_err(|conflict| self.refuse_all(txn.0, conflict, Moment::Commit))?;
        self.remember_scans(txn.0);
        self.record_mut(txn.0).commits_after = std::mem::take(&mut self.engine.running_mut(txn.0).commits_after);
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
        self.refuse_all(txn.0, Conflict(key), Moment::Commit)
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

    pub(crate) fn lock(&mut self, txn: Txn, key: u32) -> Result<Option<TxnId>, Error> {
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
    pub(crate) fn refuse(&mut self, txn: Txn, conflict: Conflict, moment: Moment) -> Error {
        match self.options.refusals {
            Refusals::RollBack => self.refuse_all(txn, conflict, moment),
            Refusals::Reported => self.refusal(txn, conflict, moment),
        }
    }

    /// The transaction is refused as a whole.
    fn refuse_all(&mut self, txn: Txn, conflict: Conflict, moment: Moment) -> Error {
        let refusal = self.refusal(txn, conflict, moment);
        self.engine.roll_back(txn, State::Refused);
        self.end(txn);
        refusal
    }

    fn refusal(&self, txn: Txn, conflict: Conflict, moment: Moment) -> Error {
        let why = match self.engine.txn(txn).sight {
            Sight::Everything => Refusal::Dependencies(moment),
            _ => Refusal::Conflict,
        };
        Error::Serialization { key: self.key_name(Key(conflict.0)).into_owned(), why }
    }

    fn end(&mut self, txn: Txn) {
        self.locks.release(txn);
        self.now += 1;
        let session = self.engine.txn(txn).session;
        let record = &mut self.records[(txn - self.engine.base) as usize];
        record.ended = self.now;
        record.kept = self.operations.end(session);
        self.engine.sessions[session as usize].running.end();
        if self.options.forgetting == Forgetting::WithEachEnd {
            self.forget();
        }
    }

    pub(crate) fn log(&mut self, txn: Txn, action: Action, key: u32, value: Option<V>) {
        self.log_op(txn, |at| Op::new(action, key, value, at));
    }

    pub(crate) fn log_op(&mut self, txn: Txn, op: impl FnOnce(u32) -> Op<V>) {
        self.now += 1;
        let (session, statement) = (self.engine.txn(txn).session, self.engine.running(txn).statement);
        let began = self.statements[session as usize];
        self.push_op(txn, op, Looking { statement, began });
    }

    /// The same for an operation of the statement that looks.
    pub(crate) fn log_look(&mut self, txn: Txn, op: impl FnOnce(u32) -> Op<V>) {
        self.now += 1;
        self.push_op(txn, op, self.engine.running(txn).looking);
    }

    fn push_op(&mut self, txn: Txn, op: impl FnOnce(u32) -> Op<V>, of: Looking) {
        let at = u32::try_from(self.now - self.record(txn).began).unwrap_or(u32::MAX);
        self.operations.push(self.engine.txn(txn).session, op(at), of.statement, of.began);
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

    pub(crate) fn state(&self, txn: Txn) -> State {
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

    /// Where a transaction is in its session: the same in every run that does the same.
    pub fn place_of(&self, txn: TxnId) -> Option<Place> {
        self.place(txn.0)
    }

    pub(crate) fn place(&self, txn: Txn) -> Option<Place> {
        self.engine.place_of(txn)
    }
}
