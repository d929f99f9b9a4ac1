//! The store: sessions, transactions and their operations. Deterministic, single-threaded, and never waits by itself.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use skew_model::{Key, Level, SessionId, TxnId};

pub use crate::candidates::Reads;
use crate::candidates::{Candidates, Listing};
use crate::choice::{Choice, Place, Point, Read};
pub use crate::engine::Recency;
use crate::engine::{Conflict, Engine, Order, OwnRow, State};
use crate::error::{Ended, Error};
use crate::locks::{Lock, Locks};
use crate::position::Position;
use crate::record::{Action, FirstWrite, KeyRecord, Op, Operations, Record, Scan, Times};
use crate::sight::{Sight, explorable};
use crate::versions::{INIT, Txn};

/// How a store behaves.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Whether what was committed before a transaction began must be seen.
    pub recency: Recency,
    /// How many of the last transactions are remembered at least; all of them by default. See [`crate::retention`].
    pub retention: Option<usize>,
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
    pub(crate) sessions: Vec<String>,
    pub(crate) keys: Vec<KeyRecord<V>>,
    key_numbers: FxHashMap<String, u32>,
    keys_by_name: BTreeMap<String, u32>,
    pub(crate) records: Vec<Record>,
    pub(crate) operations: Operations<V>,
    locks: Locks,
    /// For each prefix that somebody scanned, the latest place from which.
    scanned: BTreeMap<String, Position>,
    pub(crate) times: Times,
    now: i64,
    /// When the running statement of each session began.
    statements: Vec<i64>,
    /// Nothing is forgotten before so many transactions have begun.
    pub(crate) next_forgetting: u32,
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
            sessions: Vec::new(),
            keys: Vec::new(),
            key_numbers: FxHashMap::default(),
            keys_by_name: BTreeMap::new(),
            records: Vec::new(),
            operations: Operations::new(),
            locks: Locks::default(),
            scanned: BTreeMap::new(),
            times: if options.recency == Recency::Commit { Times::Told } else { Times::Left },
            now: 0,
            statements: Vec::new(),
            next_forgetting: 0,
            candidates: Candidates::default(),
            sources: Vec::new(),
        }
    }

    /// A new session. Sessions are numbered in the order of these calls.
    pub fn session(&mut self, name: &str) -> SessionId {
        self.sessions.push(name.to_owned());
        self.operations.session();
        self.statements.push(0);
        SessionId(self.engine.session())
    }

    /// The session's name.
    pub fn session_name(&self, session: SessionId) -> &str {
        &self.sessions[session.0 as usize]
    }

    /// All sessions' names, in order.
    pub(crate) fn session_names(&self) -> impl Iterator<Item = &str> {
        self.sessions.iter().map(String::as_str)
    }

    /// The key with this name.
    pub fn key(&mut self, name: &str) -> Key {
        if let Some(&key) = self.key_numbers.get(name) {
            return Key(key);
        }
        let key = self.engine.key();
        self.key_numbers.insert(name.to_owned(), key);
        self.keys_by_name.insert(name.to_owned(), key);
        self.keys.push(KeyRecord { name: name.to_owned(), initial: None, settled: None });
        self.was_scanned(key, name);
        Key(key)
    }

    /// The key's name.
    pub fn key_name(&self, key: Key) -> &str {
        &self.keys[key.0 as usize].name
    }

    /// Gives a key the value that it has before anybody writes it.
    pub fn init(&mut self, key: Key, value: V) -> Result<(), Error> {
        let used = !self.records.is_empty() || self.engine.base > 0;
        let written = !self.engine.keys[key.0 as usize].list.is_empty();
        let looked = |(at, record): (usize, &Record)| {
            let ops = self.operations.of(&self.engine, self.engine.base + at as u32, record);
            ops.iter().any(|op| op.key == key.0) || !record.scans.is_empty()
        };
        if used && (written || self.engine.base > 0 || self.records.iter().enumerate().any(looked)) {
            return Err(Error::LateInit { key: self.key_name(key).to_owned() });
        }
        self.keys[key.0 as usize].initial = Some(value);
        Ok(())
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
        let txn = self.engine.begin(session.0, run_at, sight);
        self.records.push(Record::new(level, reads, self.now));
        Ok(TxnId(txn))
    }

    /// The operations that follow belong to a new statement.
    pub fn statement(&mut self, txn: TxnId) -> Result<(), Error> {
        self.must_be_open(txn)?;
        self.now += 1;
        self.statements[self.engine.txn(txn.0).session as usize] = self.now;
        self.engine.statement(txn.0);
        Ok(())
    }

    /// What the key holds, as far as the transaction can tell: `None` if it was never written, or deleted.
    pub fn read(&mut self, txn: TxnId, key: Key, choice: &mut dyn Choice) -> Result<Option<V>, Error> {
        self.must_be_open(txn)?;
        if let Some(write) = self.last_write(txn.0, key.0) {
            let value = self.ops(txn.0)[write as usize].value.clone();
            self.log(txn.0, Action::OwnRead, key.0, value.clone());
            return Ok(value);
        }
        let Some(source) = self.choose(txn.0, key.0, choice) else {
            return Err(self.refuse(txn.0, Conflict(key.0)));
        };
        Ok(self.take(txn.0, key.0, source, OwnRow::No))
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
        if self.engine.txn(txn.0).sight != Sight::StatementPrefix || self.last_write(txn.0, key.0).is_some() {
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
        let last = self.engine.keys[key.0 as usize].list.last().map_or(INIT, |last| last.writer);
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
        let first = self.log(txn.0, Action::Write, key.0, value);
        if first == FirstWrite::Yes
            && let Err(conflict) = self.engine.write(txn.0, key.0)
        {
            return Err(self.refuse(txn.0, conflict));
        }
        Ok(Step::Done(()))
    }

    /// The keys with this prefix that hold something, ascending by name.
    pub fn scan(&mut self, txn: TxnId, prefix: &str, choice: &mut dyn Choice) -> Result<Vec<(Key, V)>, Error> {
        self.must_be_open(txn)?;
        let from = self.keys_by_name.range(prefix.to_owned()..);
        let keys: Vec<u32> = from.take_while(|(name, _)| name.starts_with(prefix)).map(|(_, &key)| key).collect();
        let mut found = Vec::new();
        for key in keys {
            if let Some(value) = self.read(txn, Key(key), choice)? {
                found.push((Key(key), value));
            }
        }
        self.note_scan(txn, prefix);
        Ok(found)
    }

    /// The transaction has read all keys with this prefix.
    pub(crate) fn note_scan(&mut self, txn: TxnId, prefix: &str) {
        self.now += 1;
        let (session, statement) = (self.engine.txn(txn.0).session, self.engine.running(txn.0).statement);
        let (began, done) = (self.statements[session as usize], self.now);
        let (at, keys) = (self.ops(txn.0).len(), self.keys.len());
        let scan = Scan { prefix: prefix.to_owned(), at, keys, statement, began, done };
        self.record_mut(txn.0).scans.push(scan);
    }

    /// Commits.
    pub fn commit(&mut self, txn: TxnId) -> Result<(), Error> {
        self.must_be_open(txn)?;
        self.engine.commit(txn.0).map_err(|conflict| self.refuse(txn.0, conflict))?;
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
        let key = ops.iter().find(|op| op.action == Action::Write).or(ops.first()).map_or(0, |op| op.key);
        self.refuse(txn.0, Conflict(key))
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

    /// The transaction reads the key from the source.
    fn take(&mut self, txn: Txn, key: u32, source: Txn, own_row: OwnRow) -> Option<V> {
        let value = self.value_of(source, key);
        let write = if source == INIT { None } else { self.last_write(source, key) };
        self.engine.read(txn, key, source, own_row);
        self.log(txn, Action::Read(source, write.unwrap_or(0)), key, value.clone());
        self.record_mut(txn).reads += 1;
        value
    }

    /// What the source wrote to the key.
    fn value_of(&self, source: Txn, key: u32) -> Option<V> {
        if source == INIT {
            return self.keys[key as usize].initial.clone();
        }
        let write = self.last_write(source, key).expect("a source has written the key");
        self.ops(source)[write as usize].value.clone()
    }

    fn lock(&mut self, txn: Txn, key: u32) -> Result<Option<TxnId>, Error> {
        match self.locks.ask(txn, key) {
            Lock::Held => Ok(None),
            Lock::Wait(holder) => Ok(Some(TxnId(holder))),
            Lock::Deadlock => {
                self.engine.roll_back(txn, State::Refused);
                self.end(txn);
                Err(Error::Deadlock { key: self.keys[key as usize].name.clone() })
            }
        }
    }

    fn refuse(&mut self, txn: Txn, conflict: Conflict) -> Error {
        self.engine.roll_back(txn, State::Refused);
        self.end(txn);
        Error::Serialization { key: self.keys[conflict.0 as usize].name.clone() }
    }

    fn end(&mut self, txn: Txn) {
        self.locks.release(txn);
        self.now += 1;
        let session = self.engine.txn(txn).session;
        let record = &mut self.records[(txn - self.engine.base) as usize];
        record.ended = self.now;
        self.operations.end(session, record);
        if let Some(keep) = self.options.retention {
            self.forget(keep);
        }
    }

    fn log(&mut self, txn: Txn, action: Action, key: u32, value: Option<V>) -> FirstWrite {
        self.now += 1;
        let (session, statement) = (self.engine.txn(txn).session, self.engine.running(txn).statement);
        let began = self.statements[session as usize];
        self.operations.push(session, Op { action, key, value, statement, began, at: self.now })
    }

    /// What the transaction has done.
    pub(crate) fn ops(&self, txn: Txn) -> &[Op<V>] {
        self.operations.of(&self.engine, txn, self.record(txn))
    }

    pub(crate) fn last_write(&self, txn: Txn, key: u32) -> Option<u32> {
        self.operations.last_write(&self.engine, txn, self.record(txn), key)
    }

    /// A new key: whoever scanned its prefix has seen that it was not there.
    fn was_scanned(&mut self, key: u32, name: &str) {
        for at in 0..self.engine.open.len() {
            let txn = self.engine.open[at];
            if self.record(txn).scans.iter().any(|scan| name.starts_with(&scan.prefix)) {
                self.engine.read(txn, key, INIT, OwnRow::No);
            }
        }
        let looks = self.scanned.iter().filter(|(prefix, _)| name.starts_with(prefix.as_str()));
        if let Some(looked) = looks.map(|(_, &position)| position).max() {
            self.engine.keys[key as usize].looked = looked;
        }
    }

    fn remember_scans(&mut self, txn: Txn) {
        let Order::Closed(positions) = &self.engine.order else { return };
        if !self.engine.txn(txn).sight.looks_from_a_place() {
            return;
        }
        let end = positions.end();
        let prefixes: Vec<String> = self.record(txn).scans.iter().map(|scan| scan.prefix.clone()).collect();
        self.scanned.extend(prefixes.into_iter().map(|prefix| (prefix, end)));
    }

    fn must_be_open(&self, txn: TxnId) -> Result<(), Error> {
        let how = match self.state(txn.0) {
            State::Open => return Ok(()),
            State::Committed => Ended::Committed,
            State::RolledBack => Ended::RolledBack,
            State::Refused => Ended::Refused,
        };
        Err(Error::Finished { how })
    }

    fn state(&self, txn: Txn) -> State {
        if txn < self.engine.base { State::Committed } else { self.engine.txn(txn).state }
    }

    pub(crate) fn record(&self, txn: Txn) -> &Record {
        &self.records[(txn - self.engine.base) as usize]
    }

    fn record_mut(&mut self, txn: Txn) -> &mut Record {
        &mut self.records[(txn - self.engine.base) as usize]
    }

    pub(crate) fn place(&self, txn: Txn) -> Option<Place> {
        self.engine.place_of(txn)
    }
}
