//! Histories of different runs, made comparable.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use skew_model::{History, OpId, OpKind, Status, Txn, TxnId};

/// A history as text that does not depend on the order in which its transactions ran: each by its session and its
/// number there, and the order in which constraints put them. What was rolled back is left out.
pub fn canonical(history: &History) -> String {
    let places = places(history);
    let committed = history.txn_ids().filter(|&id| history.txn(id).status == Status::Committed);
    let mut lines: Vec<String> = committed.map(|id| line(history, id, &places)).collect();
    for order in history.constraint_orders() {
        let [first, second] = [order.first, order.second].map(|txn| &places[txn.0 as usize]);
        lines.push(format!("constraint {} {first} {second}", history.key_name(order.key)));
    }
    lines.sort();
    lines.join("\n")
}

/// Each transaction by its session and its number there.
pub(super) fn places(history: &History) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let place = |txn: &Txn| {
        let session = history.session_name(txn.session);
        let count = counts.entry(session.clone()).or_default();
        *count += 1;
        format!("{session}.{count}")
    };
    history.txns().iter().map(place).collect()
}

/// A transaction and its operations.
pub(super) fn line(history: &History, id: TxnId, places: &[String]) -> String {
    let mut line = places[id.0 as usize].clone();
    for at in history.op_ids(id) {
        let op = history.op(OpId(at));
        let (key, value) = (history.key_name(op.key()), history.value_text(op.value()));
        match op.kind() {
            OpKind::Write => _ = write!(line, " w {key}={value}"),
            _ => {
                let source = match history.stated_source(OpId(at)) {
                    Some(Some(writer)) => places[writer.0 as usize].as_str(),
                    Some(None) => "init",
                    None => "own",
                };
                _ = write!(line, " r {key}={value}<{source}");
            }
        }
    }
    line
}
