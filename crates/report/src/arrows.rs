//! The arrows of a picture: the cycle, the edges that its reasons rest on, and what else was read.

use skew_model::{Edge, EdgeKind, Explanation, Finding, FindingKind, History, OpId, OpKind, TxnId};

use crate::marks::{from_op, to_op};
use crate::reasons::because;
use crate::words::{finding_notes, label, sentence, txn};

/// In a larger history only the explanation's own arrows are drawn.
const MAX_OPS: usize = 1000;
/// If more than this many other reads could be drawn, none is: arrows that hide the cycle explain nothing.
const MAX_CONTEXT: usize = 24;

/// Why an arrow is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// An edge of the cycle, counted from 1: thick and dark.
    Cycle(usize),
    /// An edge that a reason rests on.
    Reason,
    /// What else was read.
    Context,
}

/// An arrow from an operation to an operation: the first transaction comes before the second.
pub(crate) struct Arrow {
    pub(crate) from: TxnId,
    pub(crate) to: TxnId,
    pub(crate) kind: EdgeKind,
    pub(crate) from_op: Option<OpId>,
    pub(crate) to_op: Option<OpId>,
    pub(crate) role: Role,
    /// `rw(x)`.
    pub(crate) label: String,
    /// A sentence for whoever points at it.
    pub(crate) title: String,
}

/// The arrows of a cycle or a finding.
pub(crate) fn arrows(history: &History, leaf: &Explanation) -> Vec<Arrow> {
    let mut arrows = Vec::new();
    match leaf {
        Explanation::Cycle(cycle) => {
            for (index, edge) in cycle.edges.iter().enumerate() {
                arrows.push(arrow(history, edge, Role::Cycle(index + 1)));
            }
            for edge in &cycle.edges {
                add_reasons(history, edge, &mut arrows);
            }
        }
        Explanation::Finding(finding) => arrows.extend(finding_arrow(history, finding)),
        Explanation::Cases { .. } => {}
    }
    add_context(history, &mut arrows);
    arrows
}

/// The number of the arrow that draws an edge.
pub(crate) fn find(arrows: &[Arrow], edge: &Edge) -> Option<usize> {
    arrows.iter().position(|arrow| same(arrow, edge))
}

fn same(arrow: &Arrow, edge: &Edge) -> bool {
    (arrow.from, arrow.to, arrow.kind) == (edge.from, edge.to, edge.kind)
}

/// The operations that the explanation is about.
pub(crate) fn struck(arrows: &[Arrow], leaf: &Explanation) -> Vec<OpId> {
    let main = arrows.iter().filter(|arrow| matches!(arrow.role, Role::Cycle(_)));
    let mut ops: Vec<OpId> = main.flat_map(|arrow| [arrow.from_op, arrow.to_op]).flatten().collect();
    if let Explanation::Finding(finding) = leaf {
        ops.extend([finding.op, finding.other].into_iter().flatten());
    }
    ops
}

fn arrow(history: &History, edge: &Edge, role: Role) -> Arrow {
    Arrow {
        from: edge.from,
        to: edge.to,
        kind: edge.kind,
        from_op: from_op(history, edge),
        to_op: to_op(history, edge),
        role,
        label: label(history, edge.kind),
        title: format!(
            "{} comes before {}: {}",
            txn(history, edge.from),
            txn(history, edge.to),
            sentence(history, edge)
        ),
    }
}

fn add_reasons(history: &History, edge: &Edge, arrows: &mut Vec<Arrow>) {
    let Some(because) = because(history, edge) else { return };
    for edge in because.path {
        if find(arrows, edge).is_none() {
            arrows.push(arrow(history, edge, Role::Reason));
        }
        add_reasons(history, edge, arrows);
    }
}

fn finding_arrow(history: &History, finding: &Finding) -> Option<Arrow> {
    let (read, write) = (finding.op?, finding.other?);
    if !matches!(finding.kind, FindingKind::AbortedRead | FindingKind::IntermediateRead) {
        return None;
    }
    let kind = EdgeKind::Wr(history.op(read).key());
    let (note, other_note) = finding_notes(history, finding);
    Some(Arrow {
        from: history.txn_of(write),
        to: history.txn_of(read),
        kind,
        from_op: Some(write),
        to_op: Some(read),
        role: Role::Cycle(0),
        label: label(history, kind),
        title: format!("{note}; {other_note}"),
    })
}

fn add_context(history: &History, arrows: &mut Vec<Arrow>) {
    if history.all_ops().len() > MAX_OPS {
        return;
    }
    let own = arrows.len();
    for to in history.txn_ids() {
        for read in history.op_ids(to).map(OpId) {
            let Source::Write(write) = source(history, read) else { continue };
            let (from, kind) = (history.txn_of(write), EdgeKind::Wr(history.op(read).key()));
            let known = |arrow: &Arrow| (arrow.from, arrow.to, arrow.kind) == (from, to, kind);
            if from == to || arrows.iter().any(known) {
                continue;
            }
            arrows.push(Arrow {
                from,
                to,
                kind,
                from_op: Some(write),
                to_op: Some(read),
                role: Role::Context,
                label: label(history, kind),
                title: format!("{} read what {} wrote", txn(history, to), txn(history, from)),
            });
        }
    }
    if arrows.len() > own + MAX_CONTEXT {
        arrows.truncate(own);
    }
}

/// Where a read took its value from, as far as the history itself says.
pub(crate) enum Source {
    /// It is not a read, or nobody can tell.
    Open,
    /// The initial state.
    Initial,
    /// This write.
    Write(OpId),
}

/// Where a read took its value from.
pub(crate) fn source(history: &History, read: OpId) -> Source {
    let op = history.op(read);
    if op.kind() == OpKind::Write {
        return Source::Open;
    }
    let writes = |other: &OpId| {
        let other = history.op(*other);
        other.kind() == OpKind::Write && other.key() == op.key() && other.value() == op.value()
    };
    match history.stated_source(read) {
        Some(None) => return Source::Initial,
        Some(Some(id)) => {
            return history.op_ids(id).map(OpId).rfind(writes).map_or(Source::Open, Source::Write);
        }
        None => {}
    }
    let mut found = (0..history.all_ops().len() as u32).map(OpId).filter(writes);
    match (found.next(), found.next()) {
        (None, _) if history.initial(op.key()) == op.value() => Source::Initial,
        (Some(write), None) if history.initial(op.key()) != op.value() => Source::Write(write),
        _ => Source::Open,
    }
}
