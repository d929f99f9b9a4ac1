//! The order of lanes from left to right, and of transactions from top to bottom.

use skew_model::{EdgeKind, History, SessionId, TxnId};

use crate::arrows::Arrow;

/// The sessions of these transactions, as recorded.
pub(crate) fn lane_order(history: &History, txns: &[TxnId]) -> Vec<SessionId> {
    let mut sessions: Vec<SessionId> = txns.iter().map(|id| history.txn(*id).session).collect();
    sessions.sort_unstable();
    sessions.dedup();
    sessions
}

/// Session order and reads first; where they form a cycle, as recorded.
pub(crate) fn placing_order(history: &History, txns: &[TxnId], arrows: &[Arrow]) -> Vec<TxnId> {
    let mut left: Vec<TxnId> = txns.to_vec();
    let mut order = Vec::new();
    while !left.is_empty() {
        let waits = |id: TxnId| {
            let session = |other: &TxnId| *other < id && history.txn(*other).session == history.txn(id).session;
            let read = |arrow: &Arrow| {
                arrow.to == id
                    && arrow.from != id
                    && matches!(arrow.kind, EdgeKind::Wr(_))
                    && left.contains(&arrow.from)
            };
            left.iter().any(session) || arrows.iter().any(read)
        };
        let next = left.iter().position(|id| !waits(*id)).unwrap_or(0);
        order.push(left.remove(next));
    }
    order
}
