//! What happened, as it will be told: each transaction's operations with their values, and the history made of them.

use rustc_hash::FxHashMap;
use skew_model::{History, HistoryBuilder, Level, Literal, OpKind, Status, TxnId};

use crate::candidates::Reads;
use crate::choice::Place;
use crate::engine::{Engine, State};
use crate::versions::{INIT, Txn};

/// One transaction.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) level: Level,
    pub(crate) mode: Reads,
    /// Where its operations begin among those of ended transactions, once it has ended, and how many there are.
    pub(crate) first: usize,
    pub(crate) count: usize,
    pub(crate) scans: Vec<Scan>,
    /// How many reads from other transactions it has made.
    pub(crate) reads: u32,
    pub(crate) began: i64,
    pub(crate) ended: i64,
}

/// One operation.
#[derive(Clone, Debug)]
pub(crate) struct Op<V> {
    pub(crate) action: Action,
    pub(crate) key: u32,
    pub(crate) value: Option<V>,
    pub(crate) statement: u32,
    /// When the statement began.
    pub(crate) began: i64,
    /// When it happened.
    pub(crate) at: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    Write,
    /// A read of the transaction's own write.
    OwnRead,
    /// A read from this transaction, of the write that is its operation with this number.
    Read(Txn, u32),
}

/// A look at all keys with a prefix: it has also seen that the keys which came later were not there.
#[derive(Clone, Debug)]
pub(crate) struct Scan {
    pub(crate) prefix: String,
    /// How many operations came before.
    pub(crate) at: usize,
    /// How many keys there were.
    pub(crate) keys: usize,
    pub(crate) statement: u32,
    pub(crate) began: i64,
    /// When it was done.
    pub(crate) done: i64,
}

impl Record {
    pub(crate) fn new(level: Level, mode: Reads, began: i64) -> Self {
        Record { level, mode, first: 0, count: 0, scans: Vec::new(), reads: 0, began, ended: began }
    }
}

/// The operations of all transactions: those that have ended in one row, those that run with their sessions.
#[derive(Clone, Debug)]
pub(crate) struct Operations<V> {
    ended: Vec<Op<V>>,
    /// How many have been forgotten.
    forgotten: usize,
    running: Vec<RunningOps<V>>,
}

/// What a session's running transaction has done.
#[derive(Clone, Debug)]
struct RunningOps<V> {
    ops: Vec<Op<V>>,
    /// For each key that it has written, its last write.
    written: FxHashMap<u32, u32>,
}

impl<V> Operations<V> {
    pub(crate) fn new() -> Self {
        Operations { ended: Vec::new(), forgotten: 0, running: Vec::new() }
    }

    /// Makes room for another session.
    pub(crate) fn session(&mut self) {
        self.running.push(RunningOps { ops: Vec::new(), written: FxHashMap::default() });
    }

    /// The operations of a transaction.
    pub(crate) fn of(&self, engine: &Engine, txn: Txn, record: &Record) -> &[Op<V>] {
        let state = engine.txn(txn);
        match state.state {
            State::Open => &self.running[state.session as usize].ops,
            _ if record.count == 0 => &[],
            _ => &self.ended[record.first - self.forgotten..][..record.count],
        }
    }

    /// Which of its operations is the last write of the key.
    pub(crate) fn last_write(&self, engine: &Engine, txn: Txn, record: &Record, key: u32) -> Option<u32> {
        let state = engine.txn(txn);
        if state.state == State::Open {
            return self.running[state.session as usize].written.get(&key).copied();
        }
        let ops = self.of(engine, txn, record);
        ops.iter().rposition(|op| op.action == Action::Write && op.key == key).map(|at| at as u32)
    }

    /// Adds an operation of the session's running transaction; whether it is its first write of the key.
    pub(crate) fn push(&mut self, session: u32, op: Op<V>) -> FirstWrite {
        let running = &mut self.running[session as usize];
        let (write, key, at) = (op.action == Action::Write, op.key, running.ops.len() as u32);
        running.ops.push(op);
        if write && running.written.insert(key, at).is_none() { FirstWrite::Yes } else { FirstWrite::No }
    }

    /// The session's transaction has ended.
    pub(crate) fn end(&mut self, session: u32, record: &mut Record) {
        let running = &mut self.running[session as usize];
        (record.first, record.count) = (self.forgotten + self.ended.len(), running.ops.len());
        self.ended.append(&mut running.ops);
        running.written.clear();
    }

    /// Forgets what comes before all of these transactions, of which some have not ended.
    pub(crate) fn forget_before<'r>(&mut self, kept: impl Iterator<Item = &'r Record>) {
        let all = self.forgotten + self.ended.len();
        let first = kept.filter(|record| record.count > 0).map(|record| record.first).min().unwrap_or(all);
        self.ended.drain(..first - self.forgotten);
        self.forgotten = first;
    }
}

/// Whether a transaction has not written a key before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FirstWrite {
    Yes,
    No,
}

/// A transaction of a run, by its place in the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Footprint {
    /// Which transaction.
    pub place: Place,
    /// Its level.
    pub level: Level,
    /// Which candidates its reads could return.
    pub reads: Reads,
    /// How it ended.
    pub status: Status,
    /// What it read from others and wrote, in order.
    pub steps: Vec<FootprintStep>,
}

/// One operation of a [`Footprint`]. Reads of a transaction's own writes are left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FootprintStep {
    /// A read, with the transaction it took its value from; `None` is the initial one.
    Read {
        /// The key's number.
        key: u32,
        /// The transaction that wrote what was read.
        source: Option<Place>,
        /// Which of that transaction's operations: at `ru` it need not be its last write of the key.
        write: u32,
    },
    /// A write.
    Write {
        /// The key's number.
        key: u32,
    },
}

/// Whether begin and end of transactions are told: they mean something only where recency does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Times {
    Told,
    Left,
}

/// What the history is made from.
pub(crate) struct Recorded<'a, V> {
    pub(crate) engine: &'a Engine,
    pub(crate) sessions: &'a [String],
    pub(crate) keys: &'a [KeyRecord<V>],
    pub(crate) records: &'a [Record],
    pub(crate) operations: &'a Operations<V>,
    pub(crate) times: Times,
}

/// A key's name and initial value.
#[derive(Clone, Debug)]
pub(crate) struct KeyRecord<V> {
    pub(crate) name: String,
    pub(crate) initial: Option<V>,
    /// The forgotten transaction whose version the initial value is, and which of its operations wrote it.
    pub(crate) settled: Option<(Txn, u32)>,
}

impl<V> Recorded<'_, V> {
    pub(crate) fn history(&self, literal: &mut dyn FnMut(&V) -> Literal) -> History {
        self.tell(Judged::AsItWas, literal)
    }

    /// The history in which transactions that were rolled back have committed what they read from others.
    pub(crate) fn judged(&self, literal: &mut dyn FnMut(&V) -> Literal) -> History {
        self.tell(Judged::AllCommitted, literal)
    }

    fn tell(&self, judged: Judged, literal: &mut dyn FnMut(&V) -> Literal) -> History {
        let mut builder = HistoryBuilder::new();
        let sessions: Vec<_> = self.sessions.iter().map(|name| builder.session(name.as_str())).collect();
        for key in self.keys {
            builder.key(key.name.as_str());
            if let Some(initial) = &key.initial {
                builder.init(key.name.as_str(), literal(initial));
            }
        }
        for (at, record) in self.records.iter().enumerate() {
            let txn = self.engine.base + at as u32;
            let session = sessions[self.engine.txn(txn).session as usize];
            let id = builder.begin(session, format!("t{}", txn + 1));
            builder.level(id, record.level);
            let (status, part) = judged.of(status(self.engine.txn(txn).state));
            builder.status(id, status);
            if self.times == Times::Told && status == Status::Committed {
                builder.span(id, record.began, record.ended);
            }
            self.tell_operations(txn, part, &mut builder, literal);
        }
        builder.finish()
    }

    fn tell_operations(
        &self,
        txn: Txn,
        part: Part,
        builder: &mut HistoryBuilder,
        literal: &mut dyn FnMut(&V) -> Literal,
    ) {
        let record = &self.records[(txn - self.engine.base) as usize];
        let ops = self.operations.of(self.engine, txn, record);
        let mut last_statement = u32::MAX;
        let mut add = |builder: &mut HistoryBuilder, op: &Op<V>| {
            let kind = if op.action == Action::Write { OpKind::Write } else { OpKind::Read };
            let source = match op.action {
                Action::Read(source, write) if self.is_left_out(source, write, op.key) => return,
                Action::Read(source, _) => Some(self.told(source)),
                _ if part == Part::Reads => return,
                _ => None,
            };
            let key = builder.key(self.keys[op.key as usize].name.as_str());
            let value = op.value.as_ref().map_or(Literal::Nil, &mut *literal);
            let value = builder.names().value(&value);
            let id = builder.op(kind, key, value);
            if let Some(source) = source {
                builder.source(id, source);
            }
            if op.statement == last_statement {
                builder.join(id);
            } else if self.times == Times::Told {
                builder.statement_begin(id, op.began);
            }
            last_statement = op.statement;
        };
        let mut scans = record.scans.iter().peekable();
        for at in 0..=ops.len() {
            while let Some(scan) = scans.next_if(|scan| scan.at == at) {
                for key in self.came_later(scan) {
                    let Scan { statement, began, .. } = *scan;
                    add(builder, &Op { action: Action::Read(INIT, 0), key, value: None, statement, began, at: began });
                }
            }
            if let Some(op) = ops.get(at) {
                add(builder, op);
            }
        }
    }

    /// The keys that a scan would have found, had they been there.
    fn came_later<'s>(&'s self, scan: &'s Scan) -> impl Iterator<Item = u32> + 's {
        let later = self.keys.iter().enumerate().skip(scan.keys);
        later.filter(|(_, key)| key.name.starts_with(&scan.prefix)).map(|(at, _)| at as u32)
    }

    /// A read of a forgotten version that is not the initial value now.
    fn is_left_out(&self, source: Txn, write: u32, key: u32) -> bool {
        let settled = self.keys[key as usize].settled;
        match source {
            INIT => settled.is_some(),
            _ => source < self.engine.base && settled != Some((source, write)),
        }
    }

    fn told(&self, source: Txn) -> Option<TxnId> {
        (source != INIT && source >= self.engine.base).then(|| TxnId(source - self.engine.base))
    }
}

/// How transactions that were rolled back are told.
#[derive(Clone, Copy)]
enum Judged {
    AsItWas,
    /// As committed, with what they read.
    AllCommitted,
}

/// How much of a transaction is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Whole,
    /// What it read from others.
    Reads,
}

impl Judged {
    fn of(self, status: Status) -> (Status, Part) {
        match self {
            Judged::AllCommitted if status != Status::Committed => (Status::Committed, Part::Reads),
            _ => (status, Part::Whole),
        }
    }
}

pub(crate) fn status(state: State) -> Status {
    match state {
        State::Committed => Status::Committed,
        State::Open | State::RolledBack | State::Refused => Status::Aborted,
    }
}
