//! Row locks, and who waits for whom. Only `mvrc` takes them.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::versions::Txn;

/// Who holds which row, and who waits.
#[derive(Clone, Default, Debug)]
pub(crate) struct Locks {
    holders: FxHashMap<u32, Txn>,
    /// The rows that each transaction holds.
    held: FxHashMap<Txn, Vec<u32>>,
    waits: FxHashMap<Txn, Txn>,
}

/// What asking for a lock comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lock {
    Held,
    /// Somebody else holds it.
    Wait(Txn),
    /// Somebody else holds it, and waits for the asker.
    Deadlock,
}

impl Locks {
    pub(crate) fn ask(&mut self, txn: Txn, key: u32) -> Lock {
        self.waits.remove(&txn);
        let holder = match self.holders.entry(key) {
            Entry::Occupied(held) => *held.get(),
            Entry::Vacant(free) => {
                self.held.entry(txn).or_default().push(key);
                *free.insert(txn)
            }
        };
        if holder == txn {
            return Lock::Held;
        }
        let mut at = holder;
        while let Some(&next) = self.waits.get(&at) {
            if next == txn {
                return Lock::Deadlock;
            }
            at = next;
        }
        self.waits.insert(txn, holder);
        Lock::Wait(holder)
    }

    /// The transaction has ended.
    pub(crate) fn release(&mut self, txn: Txn) {
        self.waits.remove(&txn);
        for key in self.held.remove(&txn).unwrap_or_default() {
            self.holders.remove(&key);
        }
    }
}
