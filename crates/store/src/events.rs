//! What a transaction did with keys and which parts of spaces it looked at, in order: the raw material for comparing an
//! analysis of programs with their executions.

use std::ops::Bound;

use skew_model::{Key, Level, Status, TxnId};

use crate::log::Action;
use crate::record::status;
use crate::spaces::Space;
use crate::store::Store;
use crate::telling::Counts;

/// A transaction's operations that count, and its looks at ranges.
#[derive(Clone, Debug)]
pub struct TxnEvents<'s, V> {
    /// The store's number for the transaction.
    pub txn: TxnId,
    /// Its level.
    pub level: Level,
    /// How it ended.
    pub status: Status,
    /// What it read and wrote, in order. What a savepoint undid and reads that were withdrawn are left out.
    pub operations: Vec<KeyEvent<'s, V>>,
    /// The ranges that it looked at, in order.
    pub looks: Vec<RangeLook<'s>>,
}

/// An operation on a key.
#[derive(Clone, Copy, Debug)]
pub struct KeyEvent<'s, V> {
    /// The number of the statement: how often [`Store::statement`] had been called.
    pub statement: u32,
    /// What it did.
    pub kind: KeyEventKind,
    /// The key.
    pub key: Key,
    /// What was read or written; `None`: there is nothing.
    pub value: Option<&'s V>,
}

/// What an operation does with its key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyEventKind {
    /// It reads what another transaction wrote, or the initial value.
    Read,
    /// It reads what its own transaction wrote.
    OwnRead,
    /// It writes.
    Write,
}

/// A look at all keys of a range: also at those that are not there.
#[derive(Clone, Copy, Debug)]
pub struct RangeLook<'s> {
    /// The number of the statement.
    pub statement: u32,
    /// The space.
    pub space: Space,
    /// Where the range begins.
    pub from: Bound<&'s [u8]>,
    /// Where it ends.
    pub to: Bound<&'s [u8]>,
}

impl<V: Clone> Store<V> {
    /// What the remembered transactions did, in the order in which they began.
    pub fn events(&self) -> Vec<TxnEvents<'_, V>> {
        let txns = self.engine.base..self.engine.base + self.records.len() as u32;
        txns.map(|txn| self.events_of(txn)).collect()
    }

    fn events_of(&self, txn: u32) -> TxnEvents<'_, V> {
        let (record, ops, counting) = (self.record(txn), self.ops(txn), self.counting(txn));
        let mut statements = self.statements_of(txn).iter().peekable();
        let (mut statement, mut operations) = (0, Vec::with_capacity(ops.len()));
        for (at, op) in ops.iter().enumerate() {
            while let Some(next) = statements.next_if(|next| next.first as usize <= at) {
                statement = next.number;
            }
            let kind = match op.action() {
                _ if counting[at] == Counts::No => continue,
                Action::Read(..) => KeyEventKind::Read,
                Action::OwnRead(_) => KeyEventKind::OwnRead,
                Action::Write { .. } => KeyEventKind::Write,
                Action::UndoneWrite | Action::UndoneRead | Action::Withdrawal(_) => continue,
            };
            operations.push(KeyEvent { statement, kind, key: Key(op.key), value: op.value.as_ref() });
        }
        let looks = record.scans.iter().map(|scan| RangeLook {
            statement: scan.statement,
            space: scan.part.space,
            from: scan.part.from(),
            to: scan.part.to(),
        });
        let status = status(self.engine.txn(txn).state);
        TxnEvents { txn: TxnId(txn), level: record.level, status, operations, looks: looks.collect() }
    }
}
