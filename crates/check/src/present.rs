//! Which transactions take part: the committed ones, and those of unknown fate that must have committed.

use skew_model::{History, OpId, OpKind, Status, TxnId};

use crate::values::{Found, WrittenValues};

/// Which transactions take part.
pub(crate) struct Effective {
    /// Indeterminate transactions that somebody read from; `None` when there are no indeterminate ones at all.
    read_from: Option<Vec<bool>>,
}

impl Effective {
    /// Whether a transaction takes part.
    pub(crate) fn has(&self, history: &History, id: TxnId) -> bool {
        match history.txn(id).status {
            Status::Committed => true,
            Status::Aborted => false,
            Status::Indeterminate => self.read_from.as_ref().is_some_and(|read| read[id.0 as usize]),
        }
    }
}

/// An indeterminate transaction committed if a transaction that took part read from it; otherwise it may as well have
/// never happened, which is what asks least of the rest.
pub(crate) fn effective_txns(history: &History, values: &WrittenValues) -> Effective {
    let is_open = |id: TxnId| history.txn(id).status == Status::Indeterminate;
    if !history.txn_ids().any(is_open) {
        return Effective { read_from: None };
    }
    let mut read_from = vec![false; history.txns().len()];
    let mut todo: Vec<TxnId> = history.txn_ids().filter(|&id| history.txn(id).status == Status::Committed).collect();
    for key in history.ordered_keys() {
        for &value in history.version_order(key).unwrap_or_default() {
            if let Found::Final(source) | Found::Intermediate(source) = values.find(history, key, value)
                && is_open(source)
            {
                read_from[source.0 as usize] = true;
                todo.push(source);
            }
        }
    }
    while let Some(reader) = todo.pop() {
        for (op, index) in history.ops(reader).iter().zip(history.op_ids(reader)) {
            if op.kind() == OpKind::Write {
                continue;
            }
            let found = match history.stated_source(OpId(index)) {
                Some(source) => values.stated(history, source, op.key(), op.value()),
                None => values.find_for(history, Some(reader), op.key(), op.value()),
            };
            if let Found::Final(source) | Found::Intermediate(source) = found
                && is_open(source)
                && !std::mem::replace(&mut read_from[source.0 as usize], true)
            {
                todo.push(source);
            }
        }
    }
    Effective { read_from: Some(read_from) }
}
