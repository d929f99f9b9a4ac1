//! The smallest part of a history that still violates a scope.
//!
//! Leaving transactions out only weakens what the rest demands, so one pass over them leaves none that could go; for
//! operations the pass is repeated until nothing changes.

use rustc_hash::FxHashSet;
use skew_model::{History, Key, OpId, OpKind, Scope, TxnId, Value};

use crate::decide::{Decision, Limits, decide};
use crate::facts::{Assumptions, Facts, INIT, Node, ambiguous_versions};

/// Shrinks to a part in which no transaction and no operation can go.
pub(crate) fn shrink(facts: &Facts, scope: Scope, core: &[Node], limits: &Limits) -> History {
    let ambiguous = ambiguous_versions(facts.history);
    let still = Still { scope, assumptions: facts.assumptions, limits: *limits, ambiguous };
    let mut wanted: FxHashSet<TxnId> = core.iter().map(|&node| facts.txns[node as usize]).collect();
    wanted.extend(still.twins(facts.history));
    let mut part = restrict(facts.history, facts.assumptions, &|txn| wanted.contains(&txn));
    if !still.violates(&part) {
        // The core should suffice; if it ever does not, the whole history does.
        part = restrict(facts.history, facts.assumptions, &|_| true);
    }
    let mut chunk = part.txns().len() / 2;
    while chunk > 0 {
        let mut start = 0;
        while start < part.txns().len() && part.txns().len() > 1 {
            let gone = start as u32..(start + chunk) as u32;
            let smaller = restrict(&part, facts.assumptions, &|txn| !gone.contains(&txn.0));
            if still.violates(&smaller) {
                part = smaller;
            } else {
                start += chunk;
            }
        }
        chunk /= 2;
    }
    shrink_ops(part, &still)
}

fn shrink_ops(mut part: History, still: &Still) -> History {
    loop {
        let before = part.all_ops().len();
        for op in (0..before as u32).rev() {
            if op as usize >= part.all_ops().len() {
                continue;
            }
            let smaller = part.select_ops(|other| other.0 != op);
            if still.violates(&smaller) {
                part = smaller;
            }
        }
        if part.all_ops().len() == before {
            let bare = part.select(|txn| !part.ops(txn).is_empty(), |_| true);
            return if still.violates(&bare) { bare } else { part };
        }
    }
}

/// Some transactions of a history, without the reads whose sources are left out.
fn restrict(history: &History, assumptions: Assumptions, keep: &dyn Fn(TxnId) -> bool) -> History {
    let facts = Facts::new(history, assumptions);
    let orphan: FxHashSet<u32> = facts
        .all_reads()
        .iter()
        .filter(|read| read.source != INIT && !keep(facts.txns[read.source as usize]))
        .map(|read| read.op)
        .chain(facts.ambiguous.iter().chain(&facts.findings).filter_map(|finding| finding.op).map(|op| op.0))
        .collect();
    history.select(
        &keep,
        |op| !orphan.contains(&op.0) || history.op(op).kind() == OpKind::Write,
    )
}

struct Still {
    scope: Scope,
    assumptions: Assumptions,
    limits: Limits,
    /// Versions of known orders that several transactions wrote. Leaving one of those out would settle what the whole
    /// history leaves open.
    ambiguous: Vec<(Key, Value)>,
}

impl Still {
    /// The writers of ambiguous versions.
    fn twins(&self, history: &History) -> Vec<TxnId> {
        let writes = |txn: TxnId| {
            let mut writes = history.ops(txn).iter().filter(|op| op.kind() == OpKind::Write);
            writes.any(|op| self.ambiguous.contains(&(op.key(), op.value())))
        };
        if self.ambiguous.is_empty() { Vec::new() } else { history.txn_ids().filter(|&txn| writes(txn)).collect() }
    }

    fn violates(&self, part: &History) -> bool {
        if !self.ambiguous.is_empty() && ambiguous_versions(part).len() != self.ambiguous.len() {
            return false;
        }
        let facts = Facts::new(part, self.assumptions);
        matches!(decide(&facts, self.scope, &self.limits), Decision::Violated(_))
    }
}

/// The part of a history that shows a finding: the operations involved, and what their transactions write to the same
/// keys.
pub(crate) fn around_finding(history: &History, ops: &[OpId]) -> History {
    let txns: FxHashSet<TxnId> = ops.iter().map(|&op| history.txn_of(op)).collect();
    let keys: FxHashSet<_> = ops.iter().map(|&op| history.op(op).key()).collect();
    let is_write = |op: OpId| history.op(op).kind() == OpKind::Write && keys.contains(&history.op(op).key());
    history.select(|txn| txns.contains(&txn), |op| ops.contains(&op) || is_write(op))
}
