//! The operations of all transactions, as small as they go: those that have ended in one row, those that run with their
//! sessions.

use crate::engine::{Engine, OwnRow, State};
use crate::record::Record;
use crate::telling::Freshness;
use crate::versions::{INIT, Txn};

/// One operation.
#[derive(Clone, Debug)]
pub(crate) struct Op<V> {
    pub(crate) value: Option<V>,
    pub(crate) key: u32,
    /// Whom a read reads from, or one of the kinds below.
    from: u32,
    /// A number, and flags above it.
    number: u32,
    /// When it happened, after its transaction began.
    at: u32,
}

/// The kinds of operations that read from nobody else.
const WRITE: u32 = INIT - 1;
const OWN_READ: u32 = INIT - 2;
const UNDONE_WRITE: u32 = INIT - 3;
const UNDONE_READ: u32 = INIT - 4;
const WITHDRAWAL: u32 = INIT - 5;

/// Newer versions had been committed when a read took place.
const STALE: u32 = 1 << 31;
/// A read took place under the lock of its row.
const LOCKED: u32 = 1 << 30;
/// A write that was undone has been read by others.
const SEEN: u32 = 1 << 29;
const NUMBER: u32 = SEEN - 1;
/// Stands for no number.
const NONE: u32 = NUMBER;

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    /// A write, after this one of the same key by the same transaction.
    Write { before: Option<u32> },
    /// A read of the transaction's own write, its operation with this number.
    OwnRead(u32),
    /// A read from this transaction, of the write that is its operation with this number.
    Read(Txn, u32),
    /// A write that was undone with a savepoint.
    UndoneWrite,
    /// A read of a write that was undone.
    UndoneRead,
    /// What the statement has read of so many keys, from this one on, does not count.
    Withdrawal(u32),
}

impl<V> Op<V> {
    pub(crate) fn new(action: Action, key: u32, value: Option<V>, at: u32) -> Self {
        let (from, number) = match action {
            Action::Write { before } => (WRITE, before.unwrap_or(NONE)),
            Action::OwnRead(write) => (OWN_READ, write),
            Action::Read(source, write) => (source, write),
            Action::UndoneWrite => (UNDONE_WRITE, 0),
            Action::UndoneRead => (UNDONE_READ, 0),
            Action::Withdrawal(count) => (WITHDRAWAL, count),
        };
        debug_assert!(number <= NUMBER, "a transaction has fewer operations than that");
        Op { value, key, from, number, at }
    }

    /// How a read from another transaction came about.
    pub(crate) fn with(mut self, own_row: OwnRow, freshness: Freshness) -> Self {
        self.number |= if own_row == OwnRow::No { 0 } else { LOCKED };
        self.number |= if freshness == Freshness::Stale { STALE } else { 0 };
        self
    }

    pub(crate) fn action(&self) -> Action {
        let number = self.number & NUMBER;
        match self.from {
            WRITE => Action::Write { before: (number != NONE).then_some(number) },
            OWN_READ => Action::OwnRead(number),
            UNDONE_WRITE => Action::UndoneWrite,
            UNDONE_READ => Action::UndoneRead,
            WITHDRAWAL => Action::Withdrawal(number),
            source => Action::Read(source, number),
        }
    }

    pub(crate) fn is_write(&self) -> bool {
        self.from == WRITE
    }

    /// Whether it is a read under the row's lock.
    pub(crate) fn is_locked(&self) -> bool {
        self.number & LOCKED != 0 && matches!(self.action(), Action::Read(..))
    }

    /// Whether it was not undone and takes back nothing that was done before.
    pub(crate) fn stands_alone(&self) -> bool {
        !self.is_locked() && !matches!(self.from, UNDONE_WRITE | UNDONE_READ | WITHDRAWAL)
    }

    /// Whether it returned the last version.
    pub(crate) fn freshness(&self) -> Freshness {
        if self.number & STALE == 0 { Freshness::Last } else { Freshness::Stale }
    }

    /// Whether others have read this write.
    pub(crate) fn is_seen(&self) -> bool {
        self.number & SEEN != 0
    }

    /// How long after the begin of the transaction it happened.
    pub(crate) fn at(&self) -> i64 {
        self.at.into()
    }
}

/// Where a statement begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Statement {
    /// Its first operation.
    pub(crate) first: u32,
    /// Its number in the transaction; statements without operations count too.
    pub(crate) number: u32,
    /// When it began.
    pub(crate) began: i64,
}

/// A transaction with more operations than this is large.
const LARGE: usize = 1 << 14;

/// The operations of all transactions.
#[derive(Clone, Debug)]
pub(crate) struct Operations<V> {
    ended: Vec<Op<V>>,
    statements: Vec<Statement>,
    /// How many of each have been forgotten.
    forgotten: usize,
    forgotten_statements: usize,
    running: Vec<Running<V>>,
}

/// What a session's running transaction has done.
#[derive(Clone, Debug)]
struct Running<V> {
    ops: Vec<Op<V>>,
    statements: Vec<Statement>,
}

/// Where the operations of an ended transaction are.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Kept {
    first: usize,
    count: u32,
    first_statement: usize,
    statements: u32,
}

impl Kept {
    /// How many operations there are.
    pub(crate) fn count(&self) -> usize {
        self.count as usize
    }
}

impl<V> Operations<V> {
    /// How many operations of ended transactions are remembered.
    pub(crate) fn len(&self) -> usize {
        self.ended.len()
    }

    /// How many ended transactions have made.
    pub(crate) fn made(&self) -> usize {
        self.forgotten + self.ended.len()
    }

    pub(crate) fn new() -> Self {
        Operations {
            ended: Vec::new(),
            statements: Vec::new(),
            forgotten: 0,
            forgotten_statements: 0,
            running: Vec::new(),
        }
    }

    /// Makes room for another session.
    pub(crate) fn session(&mut self) {
        self.running.push(Running { ops: Vec::new(), statements: Vec::new() });
    }

    /// Forgets everything. No transaction is running.
    pub(crate) fn clear(&mut self) {
        let (ended, statements) = (Vec::new(), Vec::new());
        let running = std::mem::take(&mut self.running);
        *self = Operations { ended, statements, forgotten: 0, forgotten_statements: 0, running };
    }

    /// The operations of a transaction.
    pub(crate) fn of(&self, engine: &Engine, txn: Txn, record: &Record) -> &[Op<V>] {
        let state = engine.txn(txn);
        match state.state {
            State::Open => &self.running[state.session as usize].ops,
            _ if record.kept.count == 0 => &[],
            _ => &self.ended[record.kept.first - self.forgotten..][..record.kept.count as usize],
        }
    }

    /// Its statements that have operations.
    pub(crate) fn statements(&self, engine: &Engine, txn: Txn, record: &Record) -> &[Statement] {
        let (state, kept) = (engine.txn(txn), &record.kept);
        match state.state {
            State::Open => &self.running[state.session as usize].statements,
            _ if kept.statements == 0 => &[],
            _ => &self.statements[kept.first_statement - self.forgotten_statements..][..kept.statements as usize],
        }
    }

    /// How many operations the session's running transaction has.
    pub(crate) fn count(&self, session: u32) -> u32 {
        self.running[session as usize].ops.len() as u32
    }

    /// Adds an operation of the session's running transaction.
    pub(crate) fn push(&mut self, session: u32, op: Op<V>, statement: u32, began: i64) {
        let running = &mut self.running[session as usize];
        if running.statements.last().is_none_or(|last| last.number != statement) {
            running.statements.push(Statement { first: running.ops.len() as u32, number: statement, began });
        }
        running.ops.push(op);
    }

    /// An operation of the session's running transaction.
    pub(crate) fn running_op(&mut self, session: u32, at: u32) -> &mut Op<V> {
        &mut self.running[session as usize].ops[at as usize]
    }

    /// Somebody has read a running transaction's write.
    pub(crate) fn see(&mut self, session: u32, at: u32) {
        self.running[session as usize].ops[at as usize].number |= SEEN;
    }

    /// The session's transaction has ended.
    pub(crate) fn end(&mut self, session: u32) -> Kept {
        let running = &mut self.running[session as usize];
        let kept = Kept {
            first: self.forgotten + self.ended.len(),
            count: running.ops.len() as u32,
            first_statement: self.forgotten_statements + self.statements.len(),
            statements: running.statements.len() as u32,
        };
        if running.ops.len() > self.ended.len().max(LARGE) {
            // What is large is not copied: what is small comes in before it.
            let _ = running.ops.splice(0..0, self.ended.drain(..));
            self.ended = std::mem::take(&mut running.ops);
        } else {
            self.ended.append(&mut running.ops);
            running.ops.shrink_to(LARGE);
        }
        self.statements.append(&mut running.statements);
        kept
    }

    /// Forgets what comes before all of these transactions, of which some have not ended.
    pub(crate) fn forget_before<'r>(&mut self, kept: impl Iterator<Item = &'r Record>) {
        let all = (self.forgotten + self.ended.len(), self.forgotten_statements + self.statements.len());
        let places =
            kept.filter(|record| record.kept.count > 0).map(|Record { kept, .. }| (kept.first, kept.first_statement));
        let (first, first_statement) = places.min().unwrap_or(all);
        self.ended.drain(..first - self.forgotten);
        self.statements.drain(..first_statement - self.forgotten_statements);
        (self.forgotten, self.forgotten_statements) = (first, first_statement);
        // What a large transaction took is given back.
        if self.ended.capacity() > 4 * self.ended.len() {
            self.ended.shrink_to(2 * self.ended.len());
        }
    }
}

impl<V> Op<V> {
    /// A savepoint has undone it: what it wrote stays where it was read.
    pub(crate) fn undo(&mut self) {
        self.from = match self.action() {
            Action::Write { .. } => UNDONE_WRITE,
            Action::OwnRead(_) => UNDONE_READ,
            _ => return,
        };
        self.number &= SEEN;
    }
}
