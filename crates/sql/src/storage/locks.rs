//! Who holds which lock, who waits for whom, and who would wait for ever.
//!
//! Rows, tables and advisory keys are locked by a connection until its transaction ends (session-level advisory locks:
//! until they are given back). Whoever asks for a lock queues behind those who asked before, as in PostgreSQL, and may
//! also wait for another connection's transaction to end (a unique key that it has inserted). Connections that wait for
//! each other in a circle are in a deadlock; a waiter asks for it when it is time.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::catalog::Oid;
use crate::functions::AdvisoryKey;
use crate::ir::LockStrength;

/// A connection, as locks know it.
pub type Owner = u32;

/// What is locked.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Resource {
    /// A row, by its existence cell.
    Row(u32),
    /// What the constraints of a row span, by the row's existence cell: see [`crate::change::spans`].
    Constraints(u32),
    /// A table.
    Table(Oid),
    /// An advisory lock.
    Advisory(AdvisoryKey),
}

/// How strongly. Each variant belongs to one kind of resource.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Mode {
    /// Of a row.
    Row(LockStrength),
    /// Of a table.
    Table(TableMode),
    /// A shared advisory lock.
    Shared,
    /// An exclusive advisory lock.
    Exclusive,
}

/// PostgreSQL's table locks, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum TableMode {
    AccessShare,
    RowShare,
    RowExclusive,
    ShareUpdateExclusive,
    Share,
    ShareRowExclusive,
    Exclusive,
    AccessExclusive,
}

/// For each table mode, which others it excludes: bit n is the mode with that place in [`TableMode`].
const TABLE_CONFLICTS: [u8; 8] =
    [0b1000_0000, 0b1100_0000, 0b1111_0000, 0b1111_1000, 0b1110_1100, 0b1111_1100, 0b1111_1110, 0b1111_1111];

/// For each row lock, which others it excludes, likewise by [`LockStrength`].
pub(crate) const ROW_CONFLICTS: [u8; 4] = [0b1000, 0b1100, 0b1110, 0b1111];

impl Mode {
    /// Whether two connections may not have these at the same time.
    pub fn conflicts(self, other: Mode) -> bool {
        match (self, other) {
            (Mode::Row(one), Mode::Row(two)) => ROW_CONFLICTS[one as usize] & (1 << two as usize) != 0,
            (Mode::Table(one), Mode::Table(two)) => TABLE_CONFLICTS[one as usize] & (1 << two as usize) != 0,
            (Mode::Shared, Mode::Shared) => false,
            _ => true,
        }
    }

    /// Whether it excludes what queries and changes ask of a table.
    fn is_strong(self) -> bool {
        matches!(self, Mode::Table(mode) if mode >= TableMode::Share)
    }
}

/// How long a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Duration {
    /// Until the transaction ends.
    Transaction,
    /// Until it is given back, or the connection ends.
    Session,
}

#[derive(Clone, Copy, Debug)]
struct Hold {
    owner: Owner,
    mode: Mode,
    duration: Duration,
}

#[derive(Clone, Default, Debug)]
struct Entry {
    holds: Vec<Hold>,
    queue: Vec<(Owner, Mode)>,
}

/// What a connection waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Waiting {
    Lock(Resource, Mode),
    /// The end of these connections' transactions.
    Transactions(Vec<Owner>),
}

/// What comes of asking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// The lock is held.
    Granted,
    /// Somebody else holds it, or asked before.
    Wait,
}

/// Whether locks are left that are to be given back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Released {
    /// Nothing is left.
    All,
    /// The next ones are to be given back.
    Some,
}

/// So many locks are given back at a time: a millisecond's work.
const RELEASED_AT_ONCE: usize = 2_000;

/// A place in the list of locks that a transaction has taken, to come back to.
#[derive(Clone, Copy, Debug)]
pub struct LockMark(usize);

/// All locks of a database.
#[derive(Clone, Default, Debug)]
pub struct Locks {
    entries: FxHashMap<Resource, Entry>,
    /// What each connection's transaction has taken, in order.
    taken: FxHashMap<Owner, Vec<(Resource, Mode)>>,
    waiting: FxHashMap<Owner, Waiting>,
    /// How many table locks are held or waited for that statements have to wait for.
    strong: usize,
}

impl Locks {
    /// Asks for a lock. Who is told to wait asks again when something has changed, and keeps its place in the queue
    /// until it is granted or [gives up](Locks::stop_waiting).
    pub fn ask(&mut self, owner: Owner, resource: &Resource, mode: Mode, duration: Duration) -> Asked {
        if self.holds(owner, resource, mode, duration) {
            self.stop_waiting(owner);
            return Asked::Granted;
        }
        if self.blockers(owner, resource, mode).is_empty() {
            self.stop_waiting(owner);
            self.entries.entry(resource.clone()).or_default().holds.push(Hold { owner, mode, duration });
            self.strong += usize::from(mode.is_strong());
            if duration == Duration::Transaction {
                self.taken.entry(owner).or_default().push((resource.clone(), mode));
            }
            return Asked::Granted;
        }
        self.wait(owner, Waiting::Lock(resource.clone(), mode))
    }

    /// How many resources are locked or waited for.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// Whether the lock could be had at once. Who does not want to wait is not let past those who do, except for rows.
    pub fn is_free(&self, owner: Owner, resource: &Resource, mode: Mode) -> bool {
        let Some(entry) = self.entries.get(resource) else { return true };
        if entry.holds.iter().any(|hold| hold.owner == owner && hold.mode == mode) {
            return true;
        }
        let queued = || entry.queue.iter().any(|(_, asked)| asked.conflicts(mode));
        self.blockers(owner, resource, mode).is_empty() && (matches!(resource, Resource::Row(_)) || !queued())
    }

    /// Waits for the end of these connections' transactions.
    pub fn wait_for(&mut self, owner: Owner, others: Vec<Owner>) -> Asked {
        self.wait(owner, Waiting::Transactions(others))
    }

    fn wait(&mut self, owner: Owner, waiting: Waiting) -> Asked {
        if self.waiting.get(&owner) != Some(&waiting) {
            self.stop_waiting(owner);
            if let Waiting::Lock(resource, mode) = &waiting {
                self.entries.entry(resource.clone()).or_default().queue.push((owner, *mode));
                self.strong += usize::from(mode.is_strong());
            }
            self.waiting.insert(owner, waiting);
        }
        Asked::Wait
    }

    /// The connection waits no longer.
    pub fn stop_waiting(&mut self, owner: Owner) {
        if let Some(Waiting::Lock(resource, mode)) = self.waiting.remove(&owner)
            && let Some(entry) = self.entries.get_mut(&resource)
        {
            entry.queue.retain(|(waiter, _)| *waiter != owner);
            self.strong -= usize::from(mode.is_strong());
            self.drop_if_empty(&resource);
        }
    }

    /// Whether the connection waits for somebody.
    pub fn is_waiting(&self, owner: Owner) -> bool {
        self.waiting.contains_key(&owner)
    }

    /// Whom the connection waits for.
    pub fn blockers_of(&self, owner: Owner) -> Vec<Owner> {
        match self.waiting.get(&owner) {
            None => Vec::new(),
            Some(Waiting::Transactions(others)) => others.clone(),
            Some(Waiting::Lock(resource, mode)) => self.blockers(owner, resource, *mode),
        }
    }

    /// Where the transaction stands with its locks.
    pub fn mark(&self, owner: Owner) -> LockMark {
        LockMark(self.taken.get(&owner).map_or(0, Vec::len))
    }

    /// Gives back some of what the transaction has taken since, the last ones first. There may be many: the caller lets
    /// others go on before it gives back the next ones.
    pub fn release_since(&mut self, owner: Owner, mark: LockMark) -> Released {
        let Some(taken) = self.taken.get_mut(&owner) else { return Released::All };
        let first = mark.0.max(taken.len().saturating_sub(RELEASED_AT_ONCE)).min(taken.len());
        for (resource, mode) in taken.split_off(first) {
            self.release(owner, &resource, mode, Duration::Transaction);
        }
        if first > mark.0 {
            return Released::Some;
        }
        if first == 0 {
            self.taken.remove(&owner);
        }
        Released::All
    }

    /// The transaction has taken something back: who waits for its end looks again whether there is still reason to.
    pub fn reconsider(&mut self, owner: Owner) {
        for waiting in self.waiting.values_mut() {
            if let Waiting::Transactions(others) = waiting {
                others.retain(|other| *other != owner);
            }
        }
    }

    /// The transaction has ended: gives back some of its locks.
    pub fn release_transaction(&mut self, owner: Owner) -> Released {
        self.stop_waiting(owner);
        self.reconsider(owner);
        self.release_since(owner, LockMark(0))
    }

    /// Gives one lock of the session back; says whether it was held.
    pub fn unlock(&mut self, owner: Owner, resource: &Resource, mode: Mode) -> bool {
        self.release(owner, resource, mode, Duration::Session)
    }

    /// Gives all locks of the session back.
    pub fn unlock_all(&mut self, owner: Owner) {
        let held = |entry: &Entry| entry.holds.iter().any(|hold| hold.owner == owner);
        let resources: Vec<Resource> =
            self.entries.iter().filter(|(_, entry)| held(entry)).map(|(resource, _)| resource.clone()).collect();
        for resource in resources {
            let entry = self.entries.get_mut(&resource).expect("the entry was just found");
            entry.holds.retain(|hold| hold.owner != owner || hold.duration == Duration::Transaction);
            self.drop_if_empty(&resource);
        }
    }

    /// Whether a query or a change may have to wait for a table.
    pub fn may_exclude_statements(&self) -> bool {
        self.strong > 0
    }

    /// Whether the transaction holds a lock of a row that is at least so strong.
    pub fn holds_row(&self, owner: Owner, row: u32, strength: LockStrength) -> bool {
        self.holds(owner, &Resource::Row(row), Mode::Row(strength), Duration::Transaction)
    }

    /// Every lock that is held or waited for: resource, owner, mode, and whether it is held.
    pub fn list(&self) -> Vec<(Resource, Owner, Mode, bool)> {
        let mut all = Vec::new();
        for (resource, entry) in &self.entries {
            all.extend(entry.holds.iter().map(|hold| (resource.clone(), hold.owner, hold.mode, true)));
            all.extend(entry.queue.iter().map(|(owner, mode)| (resource.clone(), *owner, *mode, false)));
        }
        all.sort_by_key(|(_, owner, mode, _)| (*owner, *mode));
        all
    }

    fn holds(&self, owner: Owner, resource: &Resource, mode: Mode, duration: Duration) -> bool {
        // A session's lock counts how often it was taken; a transaction's does not need to be taken twice.
        duration == Duration::Transaction
            && self.entries.get(resource).is_some_and(|entry| {
                let own = |hold: &Hold| hold.owner == owner && hold.duration == duration;
                entry.holds.iter().any(|hold| own(hold) && (hold.mode == mode || covers(hold.mode, mode)))
            })
    }

    fn blockers(&self, owner: Owner, resource: &Resource, mode: Mode) -> Vec<Owner> {
        let Some(entry) = self.entries.get(resource) else { return Vec::new() };
        let held = entry.holds.iter().filter(|hold| hold.owner != owner && hold.mode.conflicts(mode));
        let mut blockers: Vec<Owner> = held.map(|hold| hold.owner).collect();
        let own = || entry.holds.iter().filter(|hold| hold.owner == owner);
        let passes_queue = match resource {
            // A row's lock is shared with those who hold it, whoever else waits; only who has to wait queues.
            Resource::Row(_) => {
                let shares = blockers.is_empty() && !entry.holds.is_empty();
                own().next().is_some() || shares && !entry.queue.iter().any(|(waiter, _)| *waiter == owner)
            }
            Resource::Table(_) | Resource::Advisory(_) | Resource::Constraints(_) => false,
        };
        if !passes_queue {
            // Who waits for us anyway does not come before us.
            let waits_for_us = |asked: Mode| own().any(|hold| hold.mode.conflicts(asked));
            let before = entry.queue.iter().take_while(|(waiter, asked)| *waiter != owner && !waits_for_us(*asked));
            blockers.extend(before.filter(|(_, asked)| asked.conflicts(mode)).map(|(waiter, _)| *waiter));
        }
        blockers
    }

    /// Whether the connection waits for itself, through others: waiting would never end.
    pub fn is_in_deadlock(&self, owner: Owner) -> bool {
        self.circle_of(owner).is_some()
    }

    /// Whether the connection waits for a table or an advisory lock that another waiter of the same one cannot get before
    /// the connection gives it up. PostgreSQL sees this without waiting.
    pub fn is_in_deadlock_here(&self, owner: Owner) -> bool {
        let Some(Waiting::Lock(resource @ (Resource::Table(_) | Resource::Advisory(_)), mode)) =
            self.waiting.get(&owner)
        else {
            return false;
        };
        let Some(entry) = self.entries.get(resource) else { return false };
        let excludes = |holder: Owner, asked: Mode| {
            entry.holds.iter().any(|hold| hold.owner == holder && hold.mode.conflicts(asked))
        };
        entry.queue.iter().any(|(other, asked)| *other != owner && excludes(owner, *asked) && excludes(*other, *mode))
    }

    /// Ends a deadlock in which a connection waits only because another one has asked before it: it goes first then. Says
    /// whether there was one. As in PostgreSQL the last such place of the circle is tried first.
    pub fn reorder_queues(&mut self, owner: Owner) -> bool {
        let Some(circle) = self.circle_of(owner) else { return false };
        for at in (0..circle.len()).rev() {
            let (waiter, blocker) = (circle[at], circle[(at + 1) % circle.len()]);
            let Some(Waiting::Lock(resource @ (Resource::Table(_) | Resource::Advisory(_)), mode)) =
                self.waiting.get(&waiter).cloned()
            else {
                continue;
            };
            let Some(entry) = self.entries.get(&resource) else { continue };
            if entry.holds.iter().any(|hold| hold.owner == blocker && hold.mode.conflicts(mode)) {
                continue;
            }
            let before = entry.queue.clone();
            let place = |owner: Owner| before.iter().position(|(queued, _)| *queued == owner);
            let (Some(from), Some(to)) = (place(waiter), place(blocker)) else { continue };
            // Right before the one that is in the way; or before all that are.
            let first = before.iter().position(|(_, asked)| asked.conflicts(mode)).unwrap_or(to);
            for to in [to, first] {
                let Some(entry) = self.entries.get_mut(&resource) else { break };
                entry.queue.clone_from(&before);
                let moved = entry.queue.remove(from);
                entry.queue.insert(to.min(from), moved);
                if before.iter().all(|(queued, _)| !self.is_in_deadlock(*queued)) {
                    return true;
                }
            }
            if let Some(entry) = self.entries.get_mut(&resource) {
                entry.queue = before;
            }
        }
        false
    }

    /// The connections of a circle of waiting, each waiting for the next one, beginning with this one.
    fn circle_of(&self, owner: Owner) -> Option<Vec<Owner>> {
        let mut seen = FxHashSet::default();
        let mut path = vec![(owner, self.blockers_of(owner))];
        while let Some((_, open)) = path.last_mut() {
            match open.pop() {
                Some(next) if next == owner => return Some(path.into_iter().map(|(owner, _)| owner).collect()),
                Some(next) if seen.insert(next) => path.push((next, self.blockers_of(next))),
                Some(_) => {}
                None => _ = path.pop(),
            }
        }
        None
    }

    fn release(&mut self, owner: Owner, resource: &Resource, mode: Mode, duration: Duration) -> bool {
        let Some(entry) = self.entries.get_mut(resource) else { return false };
        let ours = |hold: &Hold| hold.owner == owner && hold.mode == mode && hold.duration == duration;
        let Some(at) = entry.holds.iter().position(ours) else { return false };
        entry.holds.remove(at);
        self.strong -= usize::from(mode.is_strong());
        self.drop_if_empty(resource);
        true
    }

    fn drop_if_empty(&mut self, resource: &Resource) {
        if self.entries.get(resource).is_some_and(|entry| entry.holds.is_empty() && entry.queue.is_empty()) {
            self.entries.remove(resource);
        }
    }
}

/// Whether who holds the first needs not ask for the second.
fn covers(held: Mode, asked: Mode) -> bool {
    match (held, asked) {
        (Mode::Row(held), Mode::Row(asked)) => held >= asked,
        (Mode::Table(TableMode::AccessExclusive), Mode::Table(_)) => true,
        _ => false,
    }
}
