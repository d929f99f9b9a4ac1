//! How a history is put together, by hand or by a parser.

use rustc_hash::FxHashMap;

use crate::explanation::Finding;
use crate::history::{ConstraintOrder, History, Op, OpId, OpKind, OpLines, SessionId, Span, Status, Txn, TxnId};
use crate::level::Level;
use crate::names::{Key, Literal, Name, Names, Value};

/// Builds a [`History`], transaction after transaction.
///
/// ```
/// use skew_model::{HistoryBuilder, Level};
/// let mut history = HistoryBuilder::new();
/// history.init("x", 0);
/// history.txn("alice", "t1").level(Level::Si).read("x", 0).write("x", 1);
/// history.txn("bob", "t2").read("x", 0).write("x", 2);
/// let history = history.finish();
/// assert_eq!(history.txns().len(), 2);
/// ```
///
/// A transaction's operations may also arrive in pieces, as logs have them: [`HistoryBuilder::resume`] goes on
/// with an earlier transaction, and [`HistoryBuilder::finish`] sorts the pieces.
#[derive(Default)]
pub struct HistoryBuilder {
    history: History,
    session_index: FxHashMap<Name, SessionId>,
    key_index: FxHashMap<Name, Key>,
    current: u32,
    /// The transaction of each operation, once the pieces of transactions interleave.
    owners: Option<Vec<u32>>,
    line: u32,
    lines: Option<Vec<u32>>,
}

impl HistoryBuilder {
    /// An empty history.
    pub fn new() -> Self {
        Self::default()
    }

    /// The table of names and values, for parsers that make values themselves.
    pub fn names(&mut self) -> &mut Names {
        &mut self.history.names
    }

    /// The session of this name, a new one if need be.
    pub fn session(&mut self, name: impl Into<Literal>) -> SessionId {
        let name = self.history.names.name(&name.into());
        let next = SessionId(self.history.sessions.len() as u32);
        *self.session_index.entry(name).or_insert_with(|| {
            self.history.sessions.push(name);
            next
        })
    }

    /// The key of this name, a new one if need be.
    pub fn key(&mut self, name: impl Into<Literal>) -> Key {
        let name = self.history.names.name(&name.into());
        let next = Key(self.history.keys.len() as u32);
        *self.key_index.entry(name).or_insert_with(|| {
            assert!(next.0 < Op::MAX_KEYS, "a history holds fewer than 2^30 keys");
            self.history.keys.push(name);
            next
        })
    }

    /// States the initial value of a key.
    pub fn init(&mut self, key: impl Into<Literal>, value: impl Into<Literal>) {
        let key = self.key(key);
        let value = self.history.names.value(&value.into());
        self.history.initial.insert(key, value);
    }

    /// States the initial value of every key that has none of its own.
    pub fn init_elsewhere(&mut self, value: impl Into<Literal>) {
        self.history.initial_elsewhere = Some(self.history.names.value(&value.into()));
    }

    /// States the initial value of a key by number.
    pub fn init_key(&mut self, key: Key, value: Value) {
        self.history.initial.insert(key, value);
    }

    /// States the order in which writes of a key took effect.
    pub fn version_order(&mut self, key: Key, values: Vec<Value>) {
        self.history.version_orders.insert(key, values);
    }

    /// States that a constraint put two transactions in order.
    pub fn constraint_order(&mut self, order: ConstraintOrder) {
        self.history.constraint_orders.push(order);
    }

    /// Notes what no order of transactions can explain.
    pub fn finding(&mut self, finding: Finding) {
        self.history.findings.push(finding);
    }

    /// Names a file; transactions that begin from now on come from it.
    pub fn file(&mut self, path: impl Into<String>) {
        self.history.files.push(path.into());
    }

    /// The line where the next transaction or operation stands.
    #[inline]
    pub fn at_line(&mut self, line: u32) {
        self.line = line;
    }

    /// From now on remember the line of every operation, not only of every transaction.
    pub fn ops_have_own_lines(&mut self) {
        if self.lines.is_none() {
            let mut lines = vec![0; self.history.ops.len()];
            let consecutive = matches!(self.history.lines, OpLines::Consecutive);
            for txn in &self.history.txns {
                for (at, op) in (txn.first_op..txn.end_op).enumerate() {
                    lines[op as usize] = txn.line + if consecutive { at as u32 } else { 0 };
                }
            }
            self.lines = Some(lines);
        }
    }

    /// Operations stand one a line, starting at their transaction's line. Cheaper than
    /// [`HistoryBuilder::ops_have_own_lines`], and gives way to it.
    pub fn ops_are_consecutive_lines(&mut self) {
        self.history.lines = OpLines::Consecutive;
    }

    /// Begins a transaction; what follows belongs to it.
    pub fn begin(&mut self, session: SessionId, name: impl Into<Literal>) -> TxnId {
        let name = self.history.names.name(&name.into());
        let id = self.history.txns.len() as u32;
        let at = self.history.ops.len() as u32;
        self.history.txns.push(Txn {
            session,
            name,
            status: Status::Committed,
            level: None,
            file: self.history.files.len().saturating_sub(1) as u16,
            line: self.line,
            first_op: at,
            end_op: at,
        });
        self.current = id;
        TxnId(id)
    }

    /// Begins a transaction and offers its operations as a chain of calls.
    pub fn txn(&mut self, session: &str, name: &str) -> TxnBuilder<'_> {
        let session = self.session(session);
        let id = self.begin(session, name);
        TxnBuilder { builder: self, id }
    }

    /// Goes on with an earlier transaction.
    pub fn resume(&mut self, id: TxnId) {
        if self.current == id.0 {
            return;
        }
        if self.owners.is_none() {
            let mut owners = vec![0; self.history.ops.len()];
            for (index, txn) in self.history.txns.iter().enumerate() {
                owners[txn.first_op as usize..txn.end_op as usize].fill(index as u32);
            }
            self.owners = Some(owners);
        }
        self.current = id.0;
    }

    /// Adds an operation to the current transaction.
    #[inline]
    pub fn op(&mut self, kind: OpKind, key: Key, value: Value) -> OpId {
        let id = OpId(self.history.ops.len() as u32);
        self.history.ops.push(Op::new(kind, key, value));
        if let Some(owners) = &mut self.owners {
            owners.push(self.current);
        } else {
            self.history.txns[self.current as usize].end_op = id.0 + 1;
        }
        if let Some(lines) = &mut self.lines {
            lines.push(self.line);
        }
        id
    }

    /// How many operations there are so far.
    pub fn op_count(&self) -> usize {
        self.history.ops.len()
    }

    /// How many transactions there are so far.
    pub fn txn_count(&self) -> usize {
        self.history.txns.len()
    }

    /// How a transaction ended.
    pub fn status(&mut self, id: TxnId, status: Status) {
        self.history.txns[id.0 as usize].status = status;
    }

    /// The level that a transaction was declared to run at.
    pub fn level(&mut self, id: TxnId, level: Level) {
        self.history.txns[id.0 as usize].level = Some(level);
    }

    /// When a transaction ran.
    pub fn span(&mut self, id: TxnId, begin: i64, end: i64) {
        self.history.spans.insert(id, Span { begin, end });
    }

    /// Which transaction a read takes its value from; `None` is the initial one.
    pub fn source(&mut self, read: OpId, source: Option<TxnId>) {
        self.history.sources.insert(read, source);
    }

    /// Puts an operation into the same statement as the one before it in its transaction.
    pub fn join(&mut self, op: OpId) {
        self.history.joined.insert(op);
    }

    /// When the statement that starts with this operation began.
    pub fn statement_begin(&mut self, op: OpId, begin: i64) {
        self.history.statement_begins.insert(op, begin);
    }

    /// The finished history.
    pub fn finish(mut self) -> History {
        if let Some(lines) = self.lines.take() {
            self.history.lines = OpLines::Each(lines);
        }
        if let Some(owners) = self.owners.take() {
            group_by_txn(&mut self.history, &owners);
        }
        self.history.ops.shrink_to_fit();
        self.history.txns.shrink_to_fit();
        self.history
    }
}

/// Sorts interleaved operations by transaction, keeping program order, and renumbers what refers to them.
fn group_by_txn(history: &mut History, owners: &[u32]) {
    let mut next = vec![0u32; history.txns.len() + 1];
    for &owner in owners {
        next[owner as usize + 1] += 1;
    }
    for index in 1..next.len() {
        next[index] += next[index - 1];
    }
    for (index, txn) in history.txns.iter_mut().enumerate() {
        (txn.first_op, txn.end_op) = (next[index], next[index + 1]);
    }
    let mut moved = vec![0u32; owners.len()];
    for (op, &owner) in owners.iter().enumerate() {
        moved[op] = next[owner as usize];
        next[owner as usize] += 1;
    }
    let place = |op: OpId| OpId(moved[op.0 as usize]);
    let mut ops = history.ops.clone();
    for (op, &to) in history.ops.iter().zip(&moved) {
        ops[to as usize] = *op;
    }
    history.ops = ops;
    match &mut history.lines {
        OpLines::Each(lines) => {
            let mut sorted = vec![0; lines.len()];
            for (&line, &to) in lines.iter().zip(&moved) {
                sorted[to as usize] = line;
            }
            *lines = sorted;
        }
        // Interleaved operations are not consecutive; the transaction's line is the best that is left.
        lines => *lines = OpLines::OfTxn,
    }
    history.sources = std::mem::take(&mut history.sources).into_iter().map(|(op, txn)| (place(op), txn)).collect();
    history.joined = std::mem::take(&mut history.joined).into_iter().map(place).collect();
    history.statement_begins =
        std::mem::take(&mut history.statement_begins).into_iter().map(|(op, at)| (place(op), at)).collect();
    for finding in &mut history.findings {
        finding.op = finding.op.map(place);
        finding.other = finding.other.map(place);
    }
}

/// The operations of one transaction, as a chain of calls. See [`HistoryBuilder::txn`].
pub struct TxnBuilder<'a> {
    builder: &'a mut HistoryBuilder,
    id: TxnId,
}

impl TxnBuilder<'_> {
    /// Reads a key and finds this value.
    pub fn read(self, key: impl Into<Literal>, value: impl Into<Literal>) -> Self {
        self.op(OpKind::Read, key, value)
    }

    /// Writes a key.
    pub fn write(self, key: impl Into<Literal>, value: impl Into<Literal>) -> Self {
        self.op(OpKind::Write, key, value)
    }

    fn op(self, kind: OpKind, key: impl Into<Literal>, value: impl Into<Literal>) -> Self {
        let key = self.builder.key(key);
        let value = self.builder.history.names.value(&value.into());
        self.builder.op(kind, key, value);
        self
    }

    /// It was declared to run at this level.
    pub fn level(self, level: Level) -> Self {
        self.builder.level(self.id, level);
        self
    }

    /// It rolled back.
    pub fn aborted(self) -> Self {
        self.builder.status(self.id, Status::Aborted);
        self
    }

    /// Nobody knows whether it committed.
    pub fn indeterminate(self) -> Self {
        self.builder.status(self.id, Status::Indeterminate);
        self
    }

    /// When it ran.
    pub fn span(self, begin: i64, end: i64) -> Self {
        self.builder.span(self.id, begin, end);
        self
    }

    /// Its number.
    pub fn id(&self) -> TxnId {
        self.id
    }
}
