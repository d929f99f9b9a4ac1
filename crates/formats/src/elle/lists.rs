//! What list reads say: version orders, observations, and findings.
//!
//! Lists grow long and are read often, so only the longest one of each key is kept; every other list must be the
//! beginning of it.

use rustc_hash::{FxHashMap, FxHashSet};
use skew_model::{Finding, FindingKind, HistoryBuilder, Key, OpId, OpKind, Value};

#[derive(Default)]
pub(super) struct Lists {
    keys: Vec<ListKey>,
    /// The elements of the longest lists.
    elements: FxHashSet<(Key, Value)>,
    appends: FxHashMap<(Key, Value), Append>,
    /// The number of the current transaction.
    txn: u64,
}

#[derive(Default)]
struct ListKey {
    longest: Vec<Value>,
    longest_read: Option<OpId>,
    /// The transaction that the rest is about.
    txn: u64,
    own_appends: Vec<Value>,
    /// Whether the transaction has seen which version of others it builds on.
    knows_version: bool,
}

#[derive(Clone, Copy)]
struct Append {
    op: OpId,
    /// Whether its transaction failed.
    failed: bool,
}

impl Lists {
    pub(super) fn begin_txn(&mut self) {
        self.txn += 1;
    }

    /// Notes that an operation appended an element.
    pub(super) fn append(&mut self, key: Key, element: Value, append: OpId, failed: bool) {
        self.key(key).own_appends.push(element);
        let known = self.appends.entry((key, element)).or_insert(Append { op: append, failed });
        if known.failed && !failed {
            *known = Append { op: append, failed };
        }
    }

    /// Adds a list read to the current transaction.
    pub(super) fn read(&mut self, builder: &mut HistoryBuilder, key: Key, list: &[Value]) {
        let read = builder.op(OpKind::Read, key, list.last().copied().unwrap_or(Value::NIL));
        let state = self.key(key);
        if state.own_appends.is_empty() {
            state.knows_version = true;
        } else if !state.knows_version
            && let Some(beneath) = list.strip_suffix(state.own_appends.as_slice())
        {
            builder.op(OpKind::Observe, key, beneath.last().copied().unwrap_or(Value::NIL));
            state.knows_version = true;
        }
        if let Some(kind) = self.compare(key, list, read) {
            let other = match kind {
                FindingKind::IncompatibleOrder => self.key(key).longest_read,
                _ => None,
            };
            builder.finding(Finding { kind, op: Some(read), other });
        }
    }

    /// Holds a list against the longest one, which it may replace.
    fn compare(&mut self, key: Key, list: &[Value], read: OpId) -> Option<FindingKind> {
        self.key(key);
        let state = &mut self.keys[key.0 as usize];
        let known = state.longest.len();
        if list.len() <= known && state.longest.starts_with(list) {
            return None;
        }
        if !list.starts_with(&state.longest) {
            let mut seen = FxHashSet::default();
            let twice = !list.iter().all(|&element| seen.insert(element));
            return Some(if twice { FindingKind::DuplicateElement } else { FindingKind::IncompatibleOrder });
        }
        let new = &list[known..];
        if let Some(twice) = new.iter().position(|&element| !self.elements.insert((key, element))) {
            for &element in &new[..twice] {
                self.elements.remove(&(key, element));
            }
            return Some(FindingKind::DuplicateElement);
        }
        state.longest.extend_from_slice(new);
        state.longest_read = Some(read);
        None
    }

    /// States the version orders, and what is wrong with elements inside the lists. The last element of a list is
    /// what its read reads, so that one is judged with all other reads.
    pub(super) fn finish(self, builder: &mut HistoryBuilder) {
        for (index, state) in self.keys.into_iter().enumerate() {
            let key = Key(index as u32);
            let Some((_, inner)) = state.longest.split_last() else { continue };
            let mut thin_air = false;
            for &element in inner {
                let (kind, other) = match self.appends.get(&(key, element)) {
                    Some(append) if append.failed => (FindingKind::AbortedRead, Some(append.op)),
                    None if !std::mem::replace(&mut thin_air, true) => (FindingKind::ThinAirRead, None),
                    _ => continue,
                };
                builder.finding(Finding { kind, op: state.longest_read, other });
            }
            builder.version_order(key, state.longest);
        }
    }

    /// What is known of a key, with nothing left of earlier transactions.
    fn key(&mut self, key: Key) -> &mut ListKey {
        let index = key.0 as usize;
        if index >= self.keys.len() {
            self.keys.resize_with(index + 1, ListKey::default);
        }
        let state = &mut self.keys[index];
        if state.txn != self.txn {
            state.txn = self.txn;
            state.own_appends.clear();
            state.knows_version = false;
        }
        state
    }
}
