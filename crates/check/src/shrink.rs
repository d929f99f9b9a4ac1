//! The smallest part of a history that still violates a scope.
//!
//! Leaving transactions out only weakens what the rest demands, so one pass over them leaves none that could go; for
//! operations the pass is repeated until nothing changes. A write stays while a read of its key in the same transaction
//! rests on it: without the write the read would demand something else.
//!
//! The work has a limit: of a cycle through thousands of transactions, what is left then is still violated, but may not
//! be the smallest part.

use std::cell::Cell;

use rustc_hash::FxHashSet;
use skew_model::level::Sees;
use skew_model::{Finding, FindingKind, History, Key, Level, OpId, OpKind, Scope, TxnId, Value};

use crate::decide::{Decision, Limits, decide};
use crate::facts::{Assumptions, Facts, INIT, Node};
use crate::versions::ambiguous_versions;

/// Shrinks to a part in which no transaction and no operation can go.
pub(crate) fn shrink(facts: &Facts, scope: Scope, core: &[Node], limits: &Limits) -> History {
    let ambiguous = ambiguous_versions(facts.history);
    let (assumptions, deletions) = (facts.assumptions, facts.deletion_count());
    let still = Still { scope, assumptions, limits: *limits, ambiguous, deletions, checked: Cell::new(0) };
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
        while start < part.txns().len() && part.txns().len() > 1 && !still.is_tired() {
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
            if op as usize >= part.all_ops().len() || still.is_tired() || still.rests_on(&part, OpId(op)) {
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
    history.select(keep, |op| !orphan.contains(&op.0) || history.op(op).kind() == OpKind::Write)
}

struct Still {
    scope: Scope,
    assumptions: Assumptions,
    limits: Limits,
    /// Versions of known orders that several transactions wrote. Leaving one of those out would settle what the whole
    /// history leaves open.
    ambiguous: Vec<(Key, Value)>,
    /// How many rows transactions of the whole history delete.
    deletions: usize,
    /// How many operations have been checked again so far.
    checked: Cell<usize>,
}

/// The most operations to check again while shrinking: some seconds of work.
const MAX_CHECKED: usize = 1_000_000;

impl Still {
    fn is_tired(&self) -> bool {
        self.checked.get() > MAX_CHECKED
    }

    /// Whether a read rests on a write of its own transaction: it returns it, or shares its statement, at levels that
    /// look at statements.
    fn rests_on(&self, part: &History, write: OpId) -> bool {
        let (op, ids) = (part.op(write), part.op_ids(part.txn_of(write)));
        let statement = |op: u32| (ids.start..=op).rev().find(|&op| op == ids.start || !part.joined(OpId(op)));
        let shares = self.is_of(|level| level.looks_at_statements() || level.sees(Sees::EarlierReads));
        // Where a statement that writes looks at rows in another way, all its reads rest on its writes.
        let shares_all = self.is_of(|level| level.sees(Sees::ReadsInTurn) || level.sees(Sees::LockedReads));
        let rests = |other: u32| {
            let read = part.op(OpId(other));
            let (reads, same_key) = (read.kind() != OpKind::Write, read.key() == op.key());
            let same_statement = || statement(other) == statement(write.0);
            reads && (same_key && (other > write.0 || shares && same_statement()) || shares_all && same_statement())
        };
        op.kind() == OpKind::Write && ids.clone().any(rests)
    }

    /// Whether a property of levels is one of the level that is asked about, or possibly of a declared one.
    fn is_of(&self, property: impl Fn(Level) -> bool) -> bool {
        match self.scope {
            Scope::Level(level) => property(level),
            Scope::Declared => true,
        }
    }

    /// The writers of ambiguous versions.
    fn twins(&self, history: &History) -> Vec<TxnId> {
        let writes = |txn: TxnId| {
            let mut writes = history.ops(txn).iter().filter(|op| op.kind() == OpKind::Write);
            writes.any(|op| self.ambiguous.contains(&(op.key(), op.value())))
        };
        if self.ambiguous.is_empty() { Vec::new() } else { history.txn_ids().filter(|&txn| writes(txn)).collect() }
    }

    fn violates(&self, part: &History) -> bool {
        self.checked.set(self.checked.get() + part.all_ops().len());
        if !self.ambiguous.is_empty() && ambiguous_versions(part).len() != self.ambiguous.len() {
            return false;
        }
        let facts = Facts::new(part, self.assumptions);
        // Without a deletion, the next writer of the row would overwrite it instead of inserting another one.
        if facts.deletion_count() != self.deletions && self.is_of(|level| level.sees(Sees::RowConflicts)) {
            return false;
        }
        matches!(decide(&facts, self.scope, &self.limits), Decision::Violated(_))
    }
}

/// The part of a history that shows a finding, and the finding in it: the operations involved, and the write that makes
/// an intermediate one intermediate.
pub(crate) fn around_finding(history: &History, finding: &Finding) -> (History, Finding) {
    let mut ops: Vec<OpId> = finding.op.into_iter().chain(finding.other).collect();
    if let (FindingKind::IntermediateRead, Some(write)) = (finding.kind, finding.other) {
        let key = history.op(write).key();
        let mut ids = history.op_ids(history.txn_of(write)).rev().map(OpId);
        ops.extend(ids.find(|&op| history.op(op).kind() == OpKind::Write && history.op(op).key() == key));
    }
    let mut txns: FxHashSet<TxnId> = ops.iter().map(|&op| history.txn_of(op)).collect();
    txns.extend(finding.op.and_then(|op| history.stated_source(op)).flatten());
    ops.sort_unstable();
    ops.dedup();
    let part = history.select(|txn| txns.contains(&txn), |op| ops.contains(&op));
    let moved = |op: Option<OpId>| op.and_then(|op| ops.binary_search(&op).ok()).map(|at| OpId(at as u32));
    (part, Finding { kind: finding.kind, op: moved(finding.op), other: moved(finding.other) })
}
