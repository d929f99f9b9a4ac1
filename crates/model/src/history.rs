//! A recorded history: sessions of transactions of reads and writes, and what else the recorder knew.
//!
//! Laid out for millions of operations: one flat array of eight-byte operations, grouped by transaction.
//! What few histories have (explicit sources, statement boundaries, times, version orders) lives beside it
//! and costs nothing when absent.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::explanation::Finding;
use crate::level::Level;
use crate::names::{Key, Literal, Name, Names, Value};

/// A transaction, numbered in the order of the history.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TxnId(pub u32);

/// A session, numbered in order of first appearance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SessionId(pub u32);

/// An operation, numbered through the whole history, transaction by transaction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OpId(pub u32);

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpKind {
    /// Reads a key.
    Read,
    /// Writes a key.
    Write,
    /// Learns which version of a key lies beneath the transaction's own write of it: what a list read shows
    /// before the elements that the transaction itself appended. It binds like a read, though an own write
    /// came before it.
    Observe,
}

/// One read or write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Op {
    key_and_kind: u32,
    value: Value,
}

impl Op {
    const KIND: u32 = 0b11 << 30;

    /// Keys are numbered below this.
    pub const MAX_KEYS: u32 = 1 << 30;

    /// An operation of this kind.
    #[inline]
    pub fn new(kind: OpKind, key: Key, value: Value) -> Op {
        let tag = match kind {
            OpKind::Read => 0,
            OpKind::Write => 1,
            OpKind::Observe => 2,
        };
        Op { key_and_kind: key.0 | tag << 30, value }
    }

    /// What it does.
    #[inline]
    pub fn kind(self) -> OpKind {
        match self.key_and_kind >> 30 {
            0 => OpKind::Read,
            1 => OpKind::Write,
            _ => OpKind::Observe,
        }
    }

    /// The key that it reads or writes.
    #[inline]
    pub fn key(self) -> Key {
        Key(self.key_and_kind & !Self::KIND)
    }

    /// The value that it reads or writes.
    #[inline]
    pub fn value(self) -> Value {
        self.value
    }
}

/// How a transaction ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Status {
    /// It committed.
    #[default]
    Committed,
    /// It rolled back: invisible above read uncommitted.
    Aborted,
    /// Nobody knows. It counts as committed if somebody read from it or a known version order names what it wrote, and
    /// as absent otherwise: whatever holds with it present holds with it absent.
    Indeterminate,
}

/// One transaction, without its operations.
#[derive(Clone, Debug)]
pub struct Txn {
    /// The session that ran it.
    pub session: SessionId,
    /// Its name.
    pub name: Name,
    /// How it ended.
    pub status: Status,
    /// The level it was declared to run at, where the history says.
    pub level: Option<Level>,
    /// The file that recorded it, an index into [`History::files`].
    pub file: u16,
    /// The line where it starts, from 1; 0 when it did not come from a file.
    pub line: u32,
    pub(crate) first_op: u32,
    pub(crate) end_op: u32,
}

/// What a constraint's look says about the commit order: a constraint of `second` was evaluated on the version of the key
/// that `first` wrote, or `second` wrote the key after a constraint of `first` had looked at it. Databases evaluate
/// constraints on the newest versions, whatever the level lets a transaction see: so this orders commits, and shows
/// `second` nothing of `first`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ConstraintOrder {
    /// The key that the constraint looked at.
    pub key: Key,
    /// The transaction that commits first.
    pub first: TxnId,
    /// The transaction that commits later.
    pub second: TxnId,
}

/// When a transaction ran, in whatever unit the recorder used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// It had not begun before this.
    pub begin: i64,
    /// Its commit was known to have happened by this; `i64::MAX` if never.
    pub end: i64,
}

/// A recorded history. Built by [`crate::HistoryBuilder`] or parsed.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub(crate) names: Names,
    pub(crate) files: Vec<String>,
    pub(crate) sessions: Vec<Name>,
    pub(crate) keys: Vec<Name>,
    pub(crate) txns: Vec<Txn>,
    pub(crate) ops: Vec<Op>,
    pub(crate) initial: FxHashMap<Key, Value>,
    pub(crate) initial_elsewhere: Option<Value>,
    pub(crate) lines: OpLines,
    pub(crate) sources: FxHashMap<OpId, Option<TxnId>>,
    pub(crate) joined: FxHashSet<OpId>,
    pub(crate) spans: FxHashMap<TxnId, Span>,
    pub(crate) statement_begins: FxHashMap<OpId, i64>,
    pub(crate) version_orders: FxHashMap<Key, Vec<Value>>,
    pub(crate) constraint_orders: Vec<ConstraintOrder>,
    pub(crate) findings: Vec<Finding>,
}

/// Where in the file the operations of a transaction stand.
#[derive(Clone, Debug, Default)]
pub(crate) enum OpLines {
    /// All on the transaction's line.
    #[default]
    OfTxn,
    /// One a line, starting at the transaction's line.
    Consecutive,
    /// One line number an operation.
    Each(Vec<u32>),
}

impl History {
    /// The transactions, in the order of the history; each session's are in session order.
    pub fn txns(&self) -> &[Txn] {
        &self.txns
    }

    /// One transaction.
    pub fn txn(&self, id: TxnId) -> &Txn {
        &self.txns[id.0 as usize]
    }

    /// The ids of all transactions.
    pub fn txn_ids(&self) -> impl Iterator<Item = TxnId> + use<> {
        (0..self.txns.len() as u32).map(TxnId)
    }

    /// The operations of a transaction, in program order.
    #[inline]
    pub fn ops(&self, id: TxnId) -> &[Op] {
        let txn = &self.txns[id.0 as usize];
        &self.ops[txn.first_op as usize..txn.end_op as usize]
    }

    /// The numbers of a transaction's operations.
    pub fn op_ids(&self, id: TxnId) -> Range<u32> {
        let txn = &self.txns[id.0 as usize];
        txn.first_op..txn.end_op
    }

    /// Every operation, grouped by transaction.
    pub fn all_ops(&self) -> &[Op] {
        &self.ops
    }

    /// One operation.
    pub fn op(&self, id: OpId) -> Op {
        self.ops[id.0 as usize]
    }

    /// The transaction that an operation belongs to.
    pub fn txn_of(&self, op: OpId) -> TxnId {
        TxnId(self.txns.partition_point(|txn| txn.end_op <= op.0) as u32)
    }

    /// How many sessions there are.
    pub fn session_count(&self) -> usize {
        self.sessions.len()
    }

    /// How many keys there are.
    pub fn key_count(&self) -> usize {
        self.keys.len()
    }

    /// The initial value of a key.
    #[inline]
    pub fn initial(&self, key: Key) -> Value {
        if self.initial.is_empty() {
            return self.initial_elsewhere.unwrap_or(Value::NIL);
        }
        self.initial.get(&key).copied().or(self.initial_elsewhere).unwrap_or(Value::NIL)
    }

    /// The initial values that the history states key by key, in key order.
    pub fn stated_initials(&self) -> Vec<(Key, Value)> {
        let mut stated: Vec<_> = self.initial.iter().map(|(&key, &value)| (key, value)).collect();
        stated.sort_unstable();
        stated
    }

    /// The initial value that the history states for all other keys.
    pub fn initial_elsewhere(&self) -> Option<Value> {
        self.initial_elsewhere
    }

    /// The transaction that a read is stated to take its value from: `Some(None)` is the initial one.
    pub fn stated_source(&self, op: OpId) -> Option<Option<TxnId>> {
        if self.sources.is_empty() {
            return None;
        }
        self.sources.get(&op).copied()
    }

    /// Whether this operation belongs to the same statement as the one before it.
    pub fn joined(&self, op: OpId) -> bool {
        !self.joined.is_empty() && self.joined.contains(&op)
    }

    /// Whether any statement has more than one operation.
    pub fn has_statements(&self) -> bool {
        !self.joined.is_empty()
    }

    /// When a transaction ran, if the history says.
    pub fn span(&self, id: TxnId) -> Option<Span> {
        self.spans.get(&id).copied()
    }

    /// Whether any transaction has a time.
    pub fn has_times(&self) -> bool {
        !self.spans.is_empty()
    }

    /// When the statement that starts with this operation began, if the history says.
    pub fn statement_begin(&self, op: OpId) -> Option<i64> {
        self.statement_begins.get(&op).copied()
    }

    /// Whether any statement has a time.
    pub fn has_statement_times(&self) -> bool {
        !self.statement_begins.is_empty()
    }

    /// The order in which writes of a key took effect, where the recorder knows it. It may stop early:
    /// writes that it does not mention come after those that it does.
    pub fn version_order(&self, key: Key) -> Option<&[Value]> {
        self.version_orders.get(&key).map(Vec::as_slice)
    }

    /// The keys with a known version order, in key order.
    pub fn ordered_keys(&self) -> Vec<Key> {
        let mut keys: Vec<_> = self.version_orders.keys().copied().collect();
        keys.sort_unstable();
        keys
    }

    /// The same history, without what constraints say about the commit order.
    #[must_use]
    pub fn without_constraint_orders(&self) -> History {
        History { constraint_orders: Vec::new(), ..self.clone() }
    }

    /// The pairs of transactions that constraints put in order, where the recorder knows it.
    pub fn constraint_orders(&self) -> &[ConstraintOrder] {
        &self.constraint_orders
    }

    /// What the parser noticed that no order of transactions can explain.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The files that recorded it.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// The line of an operation, from 1; 0 when it did not come from a file.
    pub fn line_of(&self, op: OpId) -> u32 {
        let txn = self.txn(self.txn_of(op));
        match &self.lines {
            OpLines::OfTxn => txn.line,
            OpLines::Consecutive if txn.line == 0 => 0,
            OpLines::Consecutive => txn.line + (op.0 - txn.first_op),
            OpLines::Each(lines) => lines[op.0 as usize],
        }
    }

    /// Whether operations stand on lines of their own in the file.
    pub fn ops_have_own_lines(&self) -> bool {
        !matches!(self.lines, OpLines::OfTxn)
    }

    /// The name of a transaction as people read it: `t7`, `transfer`.
    pub fn txn_name(&self, id: TxnId) -> String {
        named(&self.names.name_literal(self.txn(id).name), "t")
    }

    /// The name of a session as people read it: `s7`, `alice`.
    pub fn session_name(&self, id: SessionId) -> String {
        named(&self.names.name_literal(self.sessions[id.0 as usize]), "s")
    }

    /// The name of a key as people read it.
    pub fn key_name(&self, key: Key) -> String {
        named(&self.names.name_literal(self.keys[key.0 as usize]), "")
    }

    /// The literal behind a key's name.
    pub fn key_literal(&self, key: Key) -> Literal {
        self.names.name_literal(self.keys[key.0 as usize])
    }

    /// The literal behind a transaction's name.
    pub fn txn_literal(&self, id: TxnId) -> Literal {
        self.names.name_literal(self.txn(id).name)
    }

    /// The literal behind a session's name.
    pub fn session_literal(&self, id: SessionId) -> Literal {
        self.names.name_literal(self.sessions[id.0 as usize])
    }

    /// What a value stands for.
    pub fn literal(&self, value: Value) -> Literal {
        self.names.literal(value)
    }

    /// A value as `.hist` writes it.
    pub fn value_text(&self, value: Value) -> String {
        crate::hist::literal_text(&self.names.literal(value))
    }

    /// An operation as `.hist` writes it: `r x=0`.
    pub fn op_text(&self, id: OpId) -> String {
        crate::hist::op_text(self, id)
    }
}

fn named(literal: &Literal, prefix: &str) -> String {
    match literal {
        Literal::Nil => "nil".to_owned(),
        Literal::Int(number) => format!("{prefix}{number}"),
        Literal::Text(text) => text.clone(),
    }
}
