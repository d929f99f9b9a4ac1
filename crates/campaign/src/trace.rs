//! A run as the gate saw it: which statement belongs to which transaction, when it took effect, what it waited for, and
//! which transactions overlapped and met at a cell.

use std::collections::{BTreeMap, BTreeSet};

use skew_model::{History, Key, OpId, OpKind};
use skew_server::scheduler::{GateEvent, TxnPlace};

use crate::arena::Seen;
use crate::cells::{NOTHING, is_row};

/// A run as the gate saw it.
pub(crate) struct Trace {
    /// For each statement of the recording.
    pub(crate) statements: Vec<Placed>,
    /// The transactions, by their place.
    pub(crate) txns: BTreeMap<TxnPlace, GateTxn>,
}

/// A statement at the gate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placed {
    /// Its transaction, and its number in it.
    pub(crate) place: Option<(TxnPlace, u32)>,
    /// The moment at which it took effect: after its last wait for a lock.
    pub(crate) effect: usize,
    /// The statement of the recording that ended what it waited for.
    pub(crate) waited_for: Option<usize>,
}

/// A transaction at the gate.
#[derive(Clone, Debug, Default)]
pub(crate) struct GateTxn {
    /// Its statements of the recording.
    pub(crate) statements: Vec<usize>,
    /// When its first statement went.
    pub(crate) began: usize,
    /// When it ended; the end of the run if it did not.
    pub(crate) ended: usize,
    /// The cells that it read from others, and the statements that did.
    pub(crate) reads: BTreeMap<Key, BTreeSet<usize>>,
    /// The cells whose value it changed.
    pub(crate) writes: BTreeSet<Key>,
}

/// Two transactions that overlapped and met at a cell that one of them changed. The first one ended first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Pair {
    /// The transaction that ended first.
    pub(crate) first: TxnPlace,
    /// The other one.
    pub(crate) second: TxnPlace,
}

impl Trace {
    /// The trace of a run.
    pub(crate) fn new(seen: &Seen) -> Trace {
        let mut statements = place_statements(seen);
        let events = &seen.turns.events;
        let mut txns: BTreeMap<TxnPlace, GateTxn> = BTreeMap::new();
        for (at, event) in events.iter().enumerate() {
            match event {
                GateEvent::Went { txn, .. } => {
                    txns.entry(*txn).or_insert_with(|| GateTxn {
                        began: at,
                        ended: events.len(),
                        ..GateTxn::default()
                    });
                }
                GateEvent::Ended(txn) => {
                    if let Some(txn) = txns.get_mut(txn) {
                        txn.ended = at;
                    }
                }
                GateEvent::Resumed(_) | GateEvent::Joined(_) => {}
            }
        }
        for (at, placed) in statements.iter().enumerate() {
            if let Some(txn) = placed.place.and_then(|(txn, _)| txns.get_mut(&txn)) {
                txn.statements.push(at);
            }
        }
        note_waits(seen, &mut statements, &txns);
        note_cells(seen, &statements, &mut txns);
        Trace { statements, txns }
    }

    /// The pairs of transactions that overlapped and met at a cell.
    pub(crate) fn pairs(&self) -> Vec<Pair> {
        let all: Vec<(&TxnPlace, &GateTxn)> = self.txns.iter().collect();
        let mut pairs = Vec::new();
        for (number, (one, a)) in all.iter().enumerate() {
            for (other, b) in &all[number + 1..] {
                let overlap = a.began < b.ended && b.began < a.ended;
                if one.member != other.member && overlap && (meets(a, b) || meets(b, a)) {
                    let (first, second) = if a.ended <= b.ended { (**one, **other) } else { (**other, **one) };
                    pairs.push(Pair { first, second });
                }
            }
        }
        pairs.sort_unstable();
        pairs
    }

    /// The transaction of a statement.
    pub(crate) fn txn_of(&self, statement: usize) -> Option<TxnPlace> {
        self.statements.get(statement)?.place.map(|(txn, _)| txn)
    }

    /// When a connection came.
    pub(crate) fn joined(seen: &Seen, member: u32) -> usize {
        seen.turns.events.iter().position(|event| *event == GateEvent::Joined(member)).unwrap_or(0)
    }

    /// The statements of the recording in the order in which they took effect.
    pub(crate) fn effect_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.statements.len()).collect();
        order.sort_by_key(|&at| self.statements[at].effect);
        order
    }
}

/// Whether one changed a cell that the other read or changed.
fn meets(one: &GateTxn, other: &GateTxn) -> bool {
    one.writes.iter().any(|key| other.reads.contains_key(key) || other.writes.contains(key))
}

/// Finds each statement of the recording at the gate: both lists are in the same order, client by client.
fn place_statements(seen: &Seen) -> Vec<Placed> {
    let recorded = &seen.recording.statements;
    let mut went: BTreeMap<u32, Vec<(usize, TxnPlace, u32, &str)>> = BTreeMap::new();
    let mut members: Vec<u32> = Vec::new();
    for (at, event) in seen.turns.events.iter().enumerate() {
        if let GateEvent::Went { txn, statement, text } = event
            && !text.is_empty()
        {
            if !members.contains(&txn.member) {
                members.push(txn.member);
            }
            went.entry(txn.member).or_default().push((at, *txn, *statement, text));
        }
    }
    let mut members = members.into_iter().peekable();
    let mut of_connection: BTreeMap<usize, (u32, usize)> = BTreeMap::new();
    let mut known = BTreeSet::new();
    let mut effect = 0;
    let mut placed = Vec::with_capacity(recorded.len());
    for statement in recorded {
        if known.insert(statement.connection)
            && let Some(&member) = members.peek()
        {
            // A client that asked only for what was refused before its turn is not at the gate.
            let first = went[&member].first().map(|(.., text)| *text);
            let mut own = recorded.iter().filter(|one| one.connection == statement.connection);
            if own.any(|one| Some(&*one.text) == first) {
                of_connection.insert(statement.connection, (member, 0));
                members.next();
            }
        }
        let found = of_connection.get_mut(&statement.connection).and_then(|(member, next)| {
            let list = &went[member];
            let at = list[*next..].iter().position(|(.., text)| *text == &*statement.text)? + *next;
            *next = at + 1;
            Some(list[at])
        });
        placed.push(match found {
            Some((at, txn, number, _)) => {
                effect = at;
                Placed { place: Some((txn, number)), effect: at, waited_for: None }
            }
            None => Placed { place: None, effect, waited_for: None },
        });
    }
    placed
}

/// A statement that waited for a lock took effect when it went on.
fn note_waits(seen: &Seen, statements: &mut [Placed], txns: &BTreeMap<TxnPlace, GateTxn>) {
    for (at, event) in seen.turns.events.iter().enumerate() {
        let GateEvent::Resumed(member) = event else { continue };
        let is_own = |placed: &Placed| placed.place.is_some_and(|(txn, _)| txn.member == *member) && placed.effect < at;
        let Some(waiting) = statements.iter().rposition(is_own) else { continue };
        // The statement that went right before is the end of the transaction that held the lock.
        let last = seen.turns.events[..at].iter().rev().find_map(|event| match event {
            GateEvent::Went { txn, .. } if txn.member != *member => Some(*txn),
            _ => None,
        });
        let holder = last.and_then(|txn| txns.get(&txn)).and_then(|txn| txn.statements.last().copied());
        statements[waiting].effect = at;
        statements[waiting].waited_for = holder;
    }
}

/// What transactions read from others and what they changed.
fn note_cells(seen: &Seen, statements: &[Placed], txns: &mut BTreeMap<TxnPlace, GateTxn>) {
    let history = &seen.recording.history;
    let idle = idle_cells(history);
    for (at, operation) in seen.recording.operations.iter().enumerate() {
        let op = history.op(OpId(at as u32));
        let Some(statement) = operation.statement else { continue };
        let Some(txn) = statements[statement].place.and_then(|(txn, _)| txns.get_mut(&txn)) else { continue };
        match op.kind() {
            OpKind::Read | OpKind::Observe => _ = txn.reads.entry(op.key()).or_default().insert(statement),
            OpKind::Write if idle.contains(&op.key()) => {}
            OpKind::Write => _ = txn.writes.insert(op.key()),
        }
    }
}

/// The cells that were written and that no transaction changed, but for the one that made them: an object mapper that
/// saves every column writes them as it has read them.
pub(crate) fn idle_cells(history: &History) -> BTreeSet<Key> {
    let mut values: BTreeMap<Key, (BTreeSet<String>, usize)> = BTreeMap::new();
    for op in history.all_ops() {
        if op.kind() == OpKind::Write {
            let (values, writes) = values.entry(op.key()).or_default();
            values.insert(history.value_text(op.value()));
            *writes += 1;
        }
    }
    let is_idle = |(key, (values, writes)): &(Key, (BTreeSet<String>, usize))| {
        let initial = history.value_text(history.initial(*key));
        let is_as_at_first = values.iter().all(|value| *value == initial);
        // The first write made the row.
        let is_as_made = initial == NOTHING && values.len() == 1 && *writes > 1;
        !is_row(&history.key_name(*key)) && (is_as_at_first || is_as_made)
    };
    values.into_iter().filter(is_idle).map(|(key, _)| key).collect()
}
