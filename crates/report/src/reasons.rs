//! Why an inferred edge is there: the path behind it, in words, as deep as asked.
//!
//! Most edges stand in the history: a session, a read. Two kinds are inferred. An `rw` edge needs that the version
//! that was read is older than the one that overwrote it, and a `ww` edge often follows from a third transaction
//! that had to see one version and read the other. Each carries its path, whose edges may be inferred in turn.

use skew_model::{Edge, History, OpId, Reason, TxnId};

use crate::words::{pair, sentence, txn};

/// What an inferred edge rests on.
pub(crate) struct Because<'a> {
    /// What the path shows: "x=1 of t1 is older than x=2 of t2".
    pub(crate) claim: String,
    /// The path.
    pub(crate) path: &'a [Edge],
    /// The operation that the path is about, to point at, and what to say there.
    pub(crate) shown: Option<(OpId, String)>,
}

/// What an edge rests on, if it is inferred.
pub(crate) fn because<'a>(history: &History, edge: &'a Edge) -> Option<Because<'a>> {
    match &edge.reason {
        Reason::Overwrote { read, write, older } => {
            let writer = older.first()?.from;
            let read_pair = pair(history, *read);
            let claim = format!(
                "{read_pair} of {} is older than {} of {}",
                txn(history, writer),
                pair(history, *write),
                txn(history, edge.to)
            );
            let same = |op: &OpId| {
                let (op, read) = (history.op(*op), history.op(*read));
                op.key() == read.key() && op.value() == read.value() && op.kind() == skew_model::OpKind::Write
            };
            let wrote = history.op_ids(writer).map(OpId).find(same);
            let note = format!("the {read_pair} that {} read", txn(history, edge.from));
            Some(Because { claim, path: older, shown: wrote.map(|op| (op, note)) })
        }
        Reason::Ignored { read, seen, .. } if !seen.is_empty() => {
            let reader = history.txn_of(*read);
            let claim = format!("{} had to see {}", txn(history, reader), txn(history, edge.from));
            let note = format!("{} read {} of {}", txn(history, reader), pair(history, *read), txn(history, edge.to));
            Some(Because { claim, path: seen, shown: Some((*read, note)) })
        }
        Reason::Older { path } => {
            let claim = format!("{} committed before {}", txn(history, edge.from), txn(history, edge.to));
            Some(Because { claim, path, shown: None })
        }
        _ => None,
    }
}

/// One line of a list of reasons.
pub(crate) struct Line {
    /// How deep it stands.
    pub(crate) depth: usize,
    /// The line.
    pub(crate) text: String,
}

/// The reasons of an edge as lines: one level, or all of them.
pub(crate) fn lines(history: &History, edge: &Edge, expand: bool) -> Vec<Line> {
    let mut lines = Vec::new();
    collect(history, edge, 0, if expand { MOST_DEPTH } else { 1 }, &mut lines);
    lines
}

const MOST_DEPTH: usize = 64;

fn collect(history: &History, edge: &Edge, depth: usize, levels: usize, lines: &mut Vec<Line>) {
    let Some(Because { claim, path, .. }) = because(history, edge) else { return };
    let more = |edge: &Edge| if levels <= 1 && because(history, edge).is_some() { " …" } else { "" };
    if let [only] = path {
        lines.push(Line { depth, text: format!("= because {claim}: {}{}", sentence(history, only), more(only)) });
        if levels > 1 {
            collect(history, only, depth + 1, levels - 1, lines);
        }
        return;
    }
    lines.push(Line { depth, text: format!("= because {claim}:") });
    for edge in path {
        let order = format!("{} comes before {}", txn(history, edge.from), txn(history, edge.to));
        lines.push(Line { depth: depth + 1, text: format!("{order}: {}{}", sentence(history, edge), more(edge)) });
        if levels > 1 {
            collect(history, edge, depth + 2, levels - 1, lines);
        }
    }
}

/// The transactions that an edge involves, those of its shown reasons among them.
pub(crate) fn involved(history: &History, edge: &Edge, levels: usize, txns: &mut Vec<TxnId>) {
    txns.extend([edge.from, edge.to]);
    let Some(Because { path, shown, .. }) = because(history, edge) else { return };
    if levels > 0 || names_its_reader(edge) {
        txns.extend(shown.map(|(op, _)| history.txn_of(op)));
    }
    if levels > 0 {
        for edge in path {
            involved(history, edge, levels - 1, txns);
        }
    }
}

/// The operations that the shown reasons of an edge point at.
pub(crate) fn shown(history: &History, edge: &Edge, levels: usize, ops: &mut Vec<(OpId, String)>) {
    let Some(Because { path, shown: op, .. }) = because(history, edge) else { return };
    if levels > 0 || names_its_reader(edge) {
        ops.extend(op);
    }
    if levels > 0 {
        for edge in path {
            shown(history, edge, levels - 1, ops);
        }
    }
}

/// Whether the edge's own sentence speaks of a third transaction.
fn names_its_reader(edge: &Edge) -> bool {
    matches!(edge.reason, Reason::Ignored { .. })
}
