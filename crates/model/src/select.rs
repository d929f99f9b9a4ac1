//! The part of a history that some of its transactions and operations make.
//!
//! Leaving out transactions only weakens what a history demands: every constraint of every level comes from a read,
//! and a read whose source is left out is left out with it. So if a part violates a level, the whole does. The same goes
//! for operations, except for a write on which a read of its own transaction rests: one that it answers, or one of the
//! same row in the same statement. Whoever shrinks keeps those.

use rustc_hash::FxHashMap;

use crate::history::{ConstraintOrder, History, OpId, OpLines, TxnId};
use crate::names::Value;

impl History {
    /// The part made of the transactions that `keep_txn` wants and, of those, the operations that `keep` wants.
    /// Names, values and places stay.
    pub fn select(&self, keep_txn: impl Fn(TxnId) -> bool, keep: impl Fn(OpId) -> bool) -> History {
        let mut part = History {
            names: self.names.clone(),
            files: self.files.clone(),
            sessions: self.sessions.clone(),
            keys: self.keys.clone(),
            initial: self.initial.clone(),
            initial_elsewhere: self.initial_elsewhere,
            ..History::default()
        };
        let mut lines = Vec::new();
        let mut op_moved: FxHashMap<OpId, OpId> = FxHashMap::default();
        let mut txn_moved: FxHashMap<TxnId, TxnId> = FxHashMap::default();
        for id in self.txn_ids() {
            if !keep_txn(id) {
                continue;
            }
            let first_op = part.ops.len() as u32;
            let mut statement_has_ops = false;
            let mut statement_begin = None;
            for op in self.op_ids(id).map(OpId) {
                if !self.joined(op) {
                    statement_has_ops = false;
                    statement_begin = self.statement_begin(op);
                }
                if !keep(op) {
                    continue;
                }
                let moved = OpId(part.ops.len() as u32);
                part.ops.push(self.op(op));
                lines.push(self.line_of(op));
                op_moved.insert(op, moved);
                if statement_has_ops {
                    part.joined.insert(moved);
                } else if let Some(begin) = statement_begin {
                    part.statement_begins.insert(moved, begin);
                }
                statement_has_ops = true;
            }
            let mut txn = self.txn(id).clone();
            (txn.first_op, txn.end_op) = (first_op, part.ops.len() as u32);
            let moved = TxnId(part.txns.len() as u32);
            txn_moved.insert(id, moved);
            if let Some(span) = self.span(id) {
                part.spans.insert(moved, span);
            }
            part.txns.push(txn);
        }
        part.lines = if self.ops_have_own_lines() { OpLines::Each(lines) } else { OpLines::OfTxn };
        for (op, moved) in &op_moved {
            if let Some(source) = self.sources.get(op) {
                match source {
                    None => drop(part.sources.insert(*moved, None)),
                    Some(txn) => {
                        if let Some(txn) = txn_moved.get(txn) {
                            part.sources.insert(*moved, Some(*txn));
                        }
                    }
                }
            }
        }
        part.keep_orders_of_written_values(self);
        part.constraint_orders.extend(self.constraint_orders.iter().filter_map(|order| {
            let (first, second) = (*txn_moved.get(&order.first)?, *txn_moved.get(&order.second)?);
            Some(ConstraintOrder { first, second, ..*order })
        }));
        for finding in &self.findings {
            let moved = |op: Option<OpId>| op.and_then(|op| op_moved.get(&op).copied());
            let (op, other) = (moved(finding.op), moved(finding.other));
            if op.is_some() == finding.op.is_some() && other.is_some() == finding.other.is_some() {
                part.findings.push(crate::explanation::Finding { kind: finding.kind, op, other });
            }
        }
        part
    }

    /// The part made of these operations, in all transactions.
    pub fn select_ops(&self, keep: impl Fn(OpId) -> bool) -> History {
        self.select(|_| true, keep)
    }

    fn keep_orders_of_written_values(&mut self, whole: &History) {
        if whole.version_orders.is_empty() {
            return;
        }
        let mentioned: rustc_hash::FxHashSet<_> = self.ops.iter().map(|op| (op.key(), op.value())).collect();
        for (&key, order) in &whole.version_orders {
            let kept: Vec<Value> = order.iter().copied().filter(|&value| mentioned.contains(&(key, value))).collect();
            if !kept.is_empty() {
                self.version_orders.insert(key, kept);
            }
        }
    }
}
