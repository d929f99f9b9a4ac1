//! The smallest part of a history that still violates a scope.
//!
//! Leaving transactions out only weakens what the rest demands, so one pass over them leaves none that could go; for
//! operations the pass is repeated until nothing changes.

use rustc_hash::FxHashSet;
use skew_model::{History, OpId, OpKind, Scope, TxnId};

use crate::decide::{Decision, Limits, decide};
use crate::facts::{ABSENT, Assumptions, Facts, INIT, Node};

/// Shrinks to a part in which no transaction and no operation can go.
pub(crate) fn shrink(facts: &Facts, scope: Scope, core: &[Node], limits: &Limits) -> History {
    let still = Still { scope, assumptions: facts.assumptions, limits: *limits };
    let wanted: FxHashSet<TxnId> = core.iter().map(|&node| facts.txns[node as usize]).collect();
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
        |txn| keep(txn) && facts.nodes[txn.0 as usize] != ABSENT,
        |op| !orphan.contains(&op.0) || history.op(op).kind() == OpKind::Write,
    )
}

struct Still {
    scope: Scope,
    assumptions: Assumptions,
    limits: Limits,
}

impl Still {
    fn violates(&self, part: &History) -> bool {
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
