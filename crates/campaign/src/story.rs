//! Which operations of a failing run its explanation is about: those that experiments have not cleared, on cells that some
//! transaction changed and something looked at afterwards.

use std::collections::BTreeSet;

use skew_model::{Key, OpId, OpKind};

use crate::arena::Seen;
use crate::evidence::Cause;
use crate::trace::{Trace, idle_cells};

/// How much of a run is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum View {
    /// Cells that were changed and looked at afterwards, without reads that experiments have cleared.
    Seen,
    /// Cells that were changed, without reads that experiments have cleared.
    Suspect,
    /// Cells that were changed.
    Changed,
    /// Everything.
    All,
}

/// What is known about the operations of a run.
pub(crate) struct Story {
    keys: Vec<Key>,
    /// Cells that were written and that no transaction changed.
    idle: BTreeSet<Key>,
    /// Cells that overlapping transactions wrote and that nothing read when they had ended, or that experiments have cleared.
    unseen: BTreeSet<Key>,
    /// The names of those.
    unseen_names: BTreeSet<String>,
    /// Reads that can be old without a failure.
    cleared: BTreeSet<OpId>,
}

impl Story {
    /// What is known about a run.
    pub(crate) fn new(seen: &Seen, cause: &Cause) -> Story {
        let trace = Trace::new(seen);
        let history = &seen.recording.history;
        let mut unseen = unseen(&trace);
        let keys = (0..history.key_count() as u32).map(Key);
        unseen.extend(keys.filter(|key| cause.cleared.contains(&history.key_name(*key))));
        let mut cleared = BTreeSet::new();
        if let Some((_, txn, number)) = cause.read.as_ref().filter(|(database, ..)| *database == seen.database) {
            for (at, operation) in seen.recording.operations.iter().enumerate() {
                let op = OpId(at as u32);
                let place = operation.statement.and_then(|statement| trace.statements[statement].place);
                let is_earlier = place.is_some_and(|(own, own_number)| own == *txn && own_number < *number);
                if is_earlier && history.op(op).kind() == OpKind::Read {
                    cleared.insert(op);
                }
            }
        }
        Story {
            keys: history.all_ops().iter().map(|op| op.key()).collect(),
            idle: idle_cells(history),
            unseen_names: unseen.iter().map(|key| history.key_name(*key)).collect(),
            unseen,
            cleared,
        }
    }

    /// From the narrowest view to the whole.
    pub(crate) fn views(&self) -> Vec<View> {
        let mut views = vec![View::All];
        if !self.idle.is_empty() {
            views.insert(0, View::Changed);
        }
        if !self.cleared.is_empty() {
            views.insert(0, View::Suspect);
        }
        if !self.unseen.is_empty() {
            views.insert(0, View::Seen);
        }
        views
    }

    /// Whether a view shows an operation.
    pub(crate) fn shows(&self, view: View, op: OpId) -> bool {
        let Some(key) = self.keys.get(op.0 as usize) else { return true };
        match view {
            View::All => true,
            View::Changed => !self.idle.contains(key),
            View::Suspect => !self.idle.contains(key) && !self.cleared.contains(&op),
            View::Seen => !self.idle.contains(key) && !self.cleared.contains(&op) && !self.unseen.contains(key),
        }
    }

    /// Whether a cell of this name cannot have made the test fail.
    pub(crate) fn is_cleared(&self, name: &str) -> bool {
        self.unseen_names.contains(name)
    }
}

/// The columns, or tables' rows, of cells that were lost as well and cannot have made the test fail.
pub(crate) fn cleared_families(seen: &Seen, cause: &Cause) -> BTreeSet<String> {
    Story::new(seen, cause)
        .unseen_names
        .iter()
        .map(|name| crate::cells::plain_names(&crate::cells::family(name)))
        .collect()
}

/// The cells that overlapping transactions changed and that nothing read afterwards, if something else was read: the test
/// cannot have failed because of a value that it did not look at.
fn unseen(trace: &Trace) -> BTreeSet<Key> {
    let pairs = trace.pairs();
    let involved: BTreeSet<_> = pairs.iter().flat_map(|pair| [pair.first, pair.second]).collect();
    let end = involved.iter().filter_map(|txn| trace.txns.get(txn)).map(|txn| txn.ended).max().unwrap_or(0);
    let written: BTreeSet<Key> =
        involved.iter().filter_map(|txn| trace.txns.get(txn)).flat_map(|txn| txn.writes.iter().copied()).collect();
    let later = trace.txns.values().filter(|txn| txn.began > end);
    let read: BTreeSet<Key> = later.flat_map(|txn| txn.reads.keys().copied()).collect();
    match written.is_disjoint(&read) {
        true => BTreeSet::new(),
        false => written.difference(&read).copied().collect(),
    }
}
