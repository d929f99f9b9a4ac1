//! What a history says, resolved: who committed, which transaction every read takes its value from, what every
//! transaction writes, and the operations that no commit order can explain.
//!
//! Every engine starts from here. Transactions are *nodes*: 0 is the initial transaction, the committed ones follow
//! in the order of the history. Reads that a transaction answers from its own writes are settled here and forgotten.

use rustc_hash::{FxHashMap, FxHashSet};
use skew_model::level::Serializable;
use skew_model::{Finding, FindingKind, History, Key, Level, Op, OpId, OpKind, Scope, TxnId, Value};

use crate::present::effective_txns;
use crate::values::{Found, WrittenValues};
use crate::versions::VersionOrder;

/// A committed transaction; 0 is the initial one.
pub(crate) type Node = u32;

/// The initial transaction.
pub(crate) const INIT: Node = 0;

/// "No such node": the transaction is not part of what is checked.
pub(crate) const ABSENT: Node = u32::MAX;

/// What may be switched before a history is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Assumptions {
    /// Whether session order counts.
    pub sessions: bool,
    /// Whether "ended before the other began" counts as session order.
    pub real_time: bool,
}

impl Default for Assumptions {
    fn default() -> Self {
        Assumptions { sessions: true, real_time: false }
    }
}

/// A read that takes its value from another transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub key: u32,
    pub source: Node,
    pub op: u32,
}

/// The statement of a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Statement {
    /// Its first operation.
    pub start: u32,
    /// Whether it writes the key that is read.
    pub own_row: bool,
    /// Whether the statement writes anything.
    pub writes: bool,
}

/// A history, resolved.
pub struct Facts<'h> {
    pub(crate) history: &'h History,
    pub(crate) assumptions: Assumptions,
    /// The transaction of each node; the entry of [`INIT`] is meaningless.
    pub(crate) txns: Vec<TxnId>,
    /// The node of each transaction, or [`ABSENT`].
    pub(crate) nodes: Vec<Node>,
    read_starts: Vec<u32>,
    reads: Vec<Read>,
    /// For each read, its statement and whether that writes the key; empty where every operation is a statement.
    statements: Vec<Statement>,
    write_starts: Vec<u32>,
    writes: Vec<u32>,
    /// The nodes whose last write of a key leaves no row there: it writes `nil`.
    deletions: FxHashSet<(Node, u32)>,
    /// Some transactions declare a level that is serializable among its own transactions only, and others do not.
    apart: bool,
    /// The nodes of each session, in session order.
    pub(crate) sessions: Vec<Vec<Node>>,
    /// The version orders that the recorder knew, by key.
    pub(crate) version_orders: Vec<VersionOrder>,
    /// Whom constraints put before whom, and at which key.
    pub(crate) constraint_orders: Vec<(Node, Node, u32)>,
    /// What no commit order can explain, in the order of the history.
    pub(crate) findings: Vec<Finding>,
    /// Reads of values that several transactions wrote. They bind nothing here.
    pub(crate) ambiguous: Vec<Finding>,
}

impl<'h> Facts<'h> {
    /// Resolves a history.
    pub fn new(history: &'h History, assumptions: Assumptions) -> Facts<'h> {
        let values = WrittenValues::of(history);
        let present = effective_txns(history, &values);
        let mut facts = Facts {
            history,
            assumptions,
            txns: vec![TxnId(u32::MAX)],
            nodes: vec![ABSENT; history.txns().len()],
            read_starts: Vec::new(),
            reads: Vec::new(),
            statements: Vec::new(),
            write_starts: Vec::new(),
            writes: Vec::new(),
            deletions: FxHashSet::default(),
            apart: false,
            sessions: vec![Vec::new(); history.session_count()],
            version_orders: Vec::new(),
            constraint_orders: Vec::new(),
            findings: history.findings().to_vec(),
            ambiguous: Vec::new(),
        };
        for id in history.txn_ids() {
            if present.has(history, id) {
                let node = facts.txns.len() as Node;
                facts.nodes[id.0 as usize] = node;
                facts.sessions[history.txn(id).session.0 as usize].push(node);
                facts.txns.push(id);
            }
        }
        let apart = facts.serializable(Scope::Declared, Serializable::AmongThemselves).count();
        facts.apart = apart > 0 && apart + 1 < facts.len();
        facts.resolve(&values);
        facts.order_versions(&values);
        let orders = history.constraint_orders().iter();
        let nodes = orders.map(|order| {
            let node = |txn: TxnId| facts.nodes[txn.0 as usize];
            (node(order.first), node(order.second), order.key.0)
        });
        facts.constraint_orders =
            nodes.filter(|&(first, second, _)| first != ABSENT && second != ABSENT && first != second).collect();
        facts
    }

    fn resolve(&mut self, values: &WrittenValues) {
        let mut own = OwnWrites::new(self.history.key_count());
        self.read_starts = vec![0, 0];
        self.write_starts = vec![0, 0];
        for node in 1..self.txns.len() {
            let id = self.txns[node];
            own.next_txn();
            let first_write = self.writes.len();
            for (op, index) in self.history.ops(id).iter().zip(self.history.op_ids(id)) {
                let key = op.key().0;
                match op.kind() {
                    OpKind::Write => {
                        if own.write(key, op.value()) {
                            self.writes.push(key);
                        }
                    }
                    OpKind::Read => match own.value(key) {
                        Some(value) => {
                            let elsewhere =
                                self.history.stated_source(OpId(index)).is_some_and(|source| source != Some(id));
                            if value != op.value() || elsewhere {
                                self.find(FindingKind::InternalRead, index, Some((id, op.key(), value)));
                            }
                        }
                        None => self.resolve_read(id, index, values),
                    },
                    OpKind::Observe => self.resolve_read(id, index, values),
                }
            }
            self.writes[first_write..].sort_unstable();
            let deleted = self.writes[first_write..].iter().filter(|&&key| own.value(key) == Some(Value::NIL));
            self.deletions.extend(deleted.map(|&key| (node as Node, key)));
            self.put_own_rows_last(self.read_starts[node] as usize);
            self.read_starts.push(self.reads.len() as u32);
            self.write_starts.push(self.writes.len() as u32);
        }
    }

    /// Within a statement, reads of rows that it writes itself come last: they are looked at again under their locks.
    fn put_own_rows_last(&mut self, first: usize) {
        if !self.history.has_statements() || self.reads.len() == first {
            return;
        }
        let ids = self.history.op_ids(self.history.txn_of(OpId(self.reads[first].op)));
        let mut starts = Vec::with_capacity(ids.len());
        let mut written: FxHashSet<(u32, u32)> = FxHashSet::default();
        let mut writing: FxHashSet<u32> = FxHashSet::default();
        for op in ids.clone() {
            let start = if op > ids.start && self.history.joined(OpId(op)) { starts[starts.len() - 1] } else { op };
            starts.push(start);
            if self.history.op(OpId(op)).kind() == OpKind::Write {
                written.insert((start, self.history.op(OpId(op)).key().0));
                writing.insert(start);
            }
        }
        let statement = |read: &Read| {
            let start = starts[(read.op - ids.start) as usize];
            Statement { start, own_row: written.contains(&(start, read.key)), writes: writing.contains(&start) }
        };
        self.reads[first..].sort_by_key(|read| (statement(read).start, statement(read).own_row));
        self.statements.extend(self.reads[first..].iter().map(statement));
    }

    /// The statement of a read, by its number among all reads.
    pub(crate) fn statement(&self, read: u32) -> Statement {
        let each = Statement { start: self.reads[read as usize].op, own_row: false, writes: false };
        self.statements.get(read as usize).copied().unwrap_or(each)
    }

    fn resolve_read(&mut self, id: TxnId, op: u32, values: &WrittenValues) {
        let read = self.history.op(OpId(op));
        let (key, value) = (read.key(), read.value());
        let found = match self.history.stated_source(OpId(op)) {
            Some(source) => values.stated(self.history, source, key, value),
            None => values.find_for(self.history, Some(id), key, value),
        };
        match found {
            Found::Nobody => self.find(FindingKind::ThinAirRead, op, None),
            Found::Initial => self.reads.push(Read { key: key.0, source: INIT, op }),
            Found::Several => {
                self.ambiguous.push(Finding { kind: FindingKind::AmbiguousRead, op: Some(OpId(op)), other: None })
            }
            Found::Final(txn) | Found::Intermediate(txn) => {
                let source = self.nodes[txn.0 as usize];
                let write = Some((txn, key, value));
                if txn == id {
                    self.find(FindingKind::FutureRead, op, write);
                } else if source == ABSENT {
                    self.find(FindingKind::AbortedRead, op, write);
                } else if matches!(found, Found::Intermediate(_)) {
                    self.find(FindingKind::IntermediateRead, op, write);
                } else {
                    self.reads.push(Read { key: key.0, source, op });
                }
            }
        }
    }

    fn find(&mut self, kind: FindingKind, op: u32, write: Option<(TxnId, Key, Value)>) {
        let other = write.and_then(|(txn, key, value)| self.write_op(txn, key, value));
        self.findings.push(Finding { kind, op: Some(OpId(op)), other });
    }

    /// The last operation of a transaction that writes this value to this key.
    pub(crate) fn write_op(&self, txn: TxnId, key: Key, value: Value) -> Option<OpId> {
        let ids = self.history.op_ids(txn);
        ids.rev().map(OpId).find(|&id| {
            let op = self.history.op(id);
            op.kind() == OpKind::Write && op.key() == key && op.value() == value
        })
    }

    fn order_versions(&mut self, values: &WrittenValues) {
        let mut orders = Vec::new();
        let mut mentioned = FxHashSet::default();
        for key in self.history.ordered_keys() {
            let order = self.history.version_order(key).unwrap_or_default();
            mentioned.extend(order.iter().map(|&value| (key.0, value)));
            // A transaction stands where the version that it leaves behind stands.
            let writers = order.iter().filter_map(|&value| match values.find(self.history, key, value) {
                Found::Final(txn) => Some(self.nodes[txn.0 as usize]),
                Found::Several => {
                    let is_it = |op: &Op| op.kind() == OpKind::Write && op.key() == key && op.value() == value;
                    let op = self.history.all_ops().iter().position(is_it).map(|op| OpId(op as u32));
                    self.ambiguous.push(Finding { kind: FindingKind::AmbiguousRead, op, other: None });
                    None
                }
                _ => None,
            });
            let known = writers.filter(|&node| node != ABSENT).collect();
            orders.push(VersionOrder { key: key.0, known, later: Vec::new() });
        }
        if orders.is_empty() {
            return;
        }
        let index: FxHashMap<u32, usize> = orders.iter().enumerate().map(|(at, order)| (order.key, at)).collect();
        for node in 1..self.len() as Node {
            let mut left = FxHashMap::default();
            for op in self.history.ops(self.txns[node as usize]).iter().filter(|op| op.kind() == OpKind::Write) {
                left.insert(op.key().0, op.value());
            }
            for (key, value) in left {
                if let Some(&at) = index.get(&key).filter(|_| !mentioned.contains(&(key, value))) {
                    orders[at].later.push(node);
                }
            }
        }
        self.version_orders = orders;
    }

    /// What no commit order can explain.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The number of a transaction among the nodes that commit orders are made of, if it takes part; 0 is the initial
    /// one.
    pub fn node(&self, txn: TxnId) -> Option<u32> {
        self.nodes.get(txn.0 as usize).copied().filter(|&node| node != ABSENT)
    }

    /// How many nodes there are, the initial transaction included.
    pub(crate) fn len(&self) -> usize {
        self.txns.len()
    }

    /// The reads of a node from other transactions, in program order; see [`Facts::put_own_rows_last`].
    #[inline]
    pub(crate) fn reads(&self, node: Node) -> &[Read] {
        &self.reads[self.read_starts[node as usize] as usize..self.read_starts[node as usize + 1] as usize]
    }

    /// The number of a node's first read among all reads.
    pub(crate) fn first_read(&self, node: Node) -> u32 {
        self.read_starts[node as usize]
    }

    /// The node that a read, by its number among all reads, belongs to.
    pub(crate) fn reader(&self, read: u32) -> Node {
        self.read_starts.partition_point(|&start| start <= read) as Node - 1
    }

    /// Every read, node after node.
    pub(crate) fn all_reads(&self) -> &[Read] {
        &self.reads
    }

    /// The keys that a node writes, sorted. Nothing for the initial transaction, which writes them all.
    #[inline]
    pub(crate) fn writes(&self, node: Node) -> &[u32] {
        &self.writes[self.write_starts[node as usize] as usize..self.write_starts[node as usize + 1] as usize]
    }

    /// The number of a node's write of a key among all writes.
    pub(crate) fn write_slot(&self, node: Node, key: u32) -> Option<u32> {
        self.writes(node).binary_search(&key).ok().map(|at| self.write_starts[node as usize] + at as u32)
    }

    /// How many writes there are, counting a key once a transaction.
    pub(crate) fn write_count(&self) -> usize {
        self.writes.len()
    }

    /// Whether a node writes a key.
    pub(crate) fn writes_key(&self, node: Node, key: u32) -> bool {
        node == INIT || self.writes(node).binary_search(&key).is_ok()
    }

    /// How many keys there are.
    pub(crate) fn key_count(&self) -> usize {
        self.history.key_count()
    }

    /// Whether a node leaves no row at a key: what it writes there last is `nil`.
    pub(crate) fn deletes(&self, node: Node, key: u32) -> bool {
        self.deletions.contains(&(node, key))
    }

    /// How many rows nodes delete, each counted for each node that leaves none there.
    pub(crate) fn deletion_count(&self) -> usize {
        self.deletions.len()
    }

    /// The keys at which some node leaves no row.
    pub(crate) fn deleted_keys(&self) -> FxHashSet<u32> {
        self.deletions.iter().map(|&(_, key)| key).collect()
    }

    /// The level of a node under this scope. Where it is serializable among its own kind only, this is what it has beside
    /// the others; [`Facts::serializable`] tells the rest.
    pub(crate) fn level(&self, node: Node, scope: Scope) -> Level {
        match scope {
            Scope::Level(level) => level,
            Scope::Declared if self.apart => self.declared(node).beside_others(),
            Scope::Declared => self.declared(node),
        }
    }

    fn declared(&self, node: Node) -> Level {
        self.history.txn(self.txns[node as usize]).level.unwrap_or(Level::Ser)
    }

    /// The nodes of a scope at levels that are serializable in this way.
    pub(crate) fn serializable(&self, scope: Scope, how: Serializable) -> impl Iterator<Item = Node> + '_ {
        let level = move |node: Node| match scope {
            Scope::Level(level) => level,
            Scope::Declared => self.declared(node),
        };
        (1..self.len() as Node).filter(move |&node| level(node).definition().serializable == how)
    }

    /// The nodes that are serializable among themselves only, where there are others beside them.
    pub(crate) fn serializable_apart(&self, scope: Scope) -> impl Iterator<Item = Node> + '_ {
        let is_mixed = scope == Scope::Declared && self.apart;
        self.serializable(scope, Serializable::AmongThemselves).filter(move |_| is_mixed)
    }

    /// Whether session order binds a node under this scope.
    pub(crate) fn in_session(&self, node: Node, scope: Scope) -> bool {
        self.assumptions.sessions && self.level(node, scope).definition().sessions
    }

    /// When the statements of a node began, by their first operations, as far as recorded and possible: a statement
    /// begins while its transaction runs.
    pub(crate) fn statement_begins(&self, node: Node) -> impl Iterator<Item = (u32, i64)> + '_ {
        let txn = self.txns[node as usize];
        let span = self.history.span(txn);
        let begins = self.history.op_ids(txn).filter_map(|op| Some((op, self.history.statement_begin(OpId(op))?)));
        begins.filter(move |&(_, begin)| span.is_none_or(|span| span.begin <= begin && begin <= span.end))
    }

    /// Whether real time binds a node under this scope.
    pub(crate) fn timed(&self, node: Node, scope: Scope) -> bool {
        let level = self.level(node, scope);
        self.history.has_times() && level.definition().sessions && (self.assumptions.real_time || level.is_strict())
    }

    /// Whether real time binds any node under this scope.
    pub(crate) fn any_timed(&self, scope: Scope) -> bool {
        self.history.has_times()
            && match scope {
                Scope::Level(level) => self.assumptions.real_time || level.is_strict(),
                Scope::Declared => (1..self.len() as Node).any(|node| self.timed(node, scope)),
            }
    }
}

/// The last value that the current transaction wrote to each key.
struct OwnWrites {
    stamps: Vec<u32>,
    values: Vec<Value>,
    stamp: u32,
}

impl OwnWrites {
    fn new(keys: usize) -> Self {
        OwnWrites { stamps: vec![0; keys], values: vec![Value::NIL; keys], stamp: 0 }
    }

    fn next_txn(&mut self) {
        self.stamp += 1;
    }

    /// Notes a write; says whether it is the first one to the key.
    fn write(&mut self, key: u32, value: Value) -> bool {
        self.values[key as usize] = value;
        std::mem::replace(&mut self.stamps[key as usize], self.stamp) != self.stamp
    }

    fn value(&self, key: u32) -> Option<Value> {
        (self.stamps[key as usize] == self.stamp).then(|| self.values[key as usize])
    }
}
