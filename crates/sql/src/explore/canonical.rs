//! Histories of different runs, made comparable.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use skew_model::{History, OpId, OpKind, Status};

/// A history as text that does not depend on the order in which its transactions ran: each by its session and its
/// number there. What was rolled back is left out.
pub fn canonical(history: &History) -> String {
    let mut places = Vec::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for txn in history.txns() {
        let session = history.session_name(txn.session);
        let count = counts.entry(session.clone()).or_default();
        *count += 1;
        places.push(format!("{session}.{count}"));
    }
    let mut lines = Vec::new();
    for id in history.txn_ids() {
        if history.txn(id).status != Status::Committed {
            continue;
        }
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
        lines.push(line);
    }
    lines.sort();
    lines.join("\n")
}
