//! The order of lanes from left to right, and of transactions from top to bottom.

use skew_model::{EdgeKind, History, SessionId, TxnId};

use crate::arrows::{Arrow, Role};

/// Sessions in the order that keeps arrows short; as recorded where that makes no difference or there are many.
pub(crate) fn lane_order(history: &History, txns: &[TxnId], arrows: &[Arrow]) -> Vec<SessionId> {
    let mut sessions: Vec<SessionId> = Vec::new();
    for id in txns {
        if !sessions.contains(&history.txn(*id).session) {
            sessions.push(history.txn(*id).session);
        }
    }
    if sessions.len() < 3 || sessions.len() > 6 {
        return sessions;
    }
    let spans: Vec<(usize, usize, usize)> = arrows
        .iter()
        .filter_map(|arrow| {
            let lane = |id: TxnId| sessions.iter().position(|session| *session == history.txn(id).session);
            let weight = if matches!(arrow.role, Role::Cycle(_)) { 3 } else { 1 };
            Some((lane(arrow.from)?, lane(arrow.to)?, weight))
        })
        .collect();
    let mut best: (usize, Vec<usize>) = (usize::MAX, Vec::new());
    permute(&mut Vec::new(), sessions.len(), &mut |order| {
        let at = |lane: usize| order.iter().position(|other| *other == lane).unwrap_or(0);
        let cost = spans.iter().map(|(from, to, weight)| at(*from).abs_diff(at(*to)) * weight).sum();
        if cost < best.0 {
            best = (cost, order.to_vec());
        }
    });
    best.1.iter().map(|lane| sessions[*lane]).collect()
}

fn permute(order: &mut Vec<usize>, len: usize, visit: &mut dyn FnMut(&[usize])) {
    if order.len() == len {
        return visit(order);
    }
    for next in 0..len {
        if !order.contains(&next) {
            order.push(next);
            permute(order, len, visit);
            order.pop();
        }
    }
}

/// Session order and reads first; where they go in circles, as recorded.
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
