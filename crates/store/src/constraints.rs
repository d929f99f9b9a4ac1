//! Constraints look at the newest versions, whatever the level of their transaction sees: what that says of the commit order.
//!
//! A database evaluates a constraint on what is really there. The look shows the transaction nothing (its next read of the
//! same key may return an older version), but it puts commits in order: a transaction whose constraint has looked at a
//! version commits after the version's writer, and before whoever overwrites it.
//!
//! ```text
//! init  a=0 b=0                     CHECK (a + b >= 0)
//! s1    t1  w a=5
//! s2    t2  w b=-5                  fine, because its constraint looked at a=5: t1 commits before t2
//! constraint a t1 t2
//! ```
//!
//! While the commit order is open, the look is an edge of its graph. Once it is closed, commits get the last place, which
//! comes after everything that was looked at; only a serializable transaction can get a place in the middle, so for it the
//! look is a read. At levels with write conflicts, writers of cells of a row that one constraint spans conflict:
//! a transaction has to see what its constraints look at in the rows that it writes.

use skew_model::{Key, TxnId};

use crate::engine::{Conflict, Engine, Looks, Order, OwnRow};
use crate::error::{Error, Moment};
use crate::position::Position;
use crate::sight::{Conflicts, Sight};
use crate::store::Store;
use crate::versions::{INIT, Txn};

/// Where a constraint looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LooksAt {
    /// At a row that its transaction writes.
    OwnRow,
    /// At another row.
    OtherRow,
}

impl<V: Clone> Store<V> {
    /// A constraint of the transaction is evaluated on the newest version of the key: see [`Store::latest`]. Refused where
    /// the transaction's level cannot have it commit after the writer of that version.
    pub fn look(&mut self, txn: TxnId, key: Key, at: LooksAt) -> Result<(), Error> {
        self.must_be_open(txn)?;
        let mut found = std::mem::take(&mut self.candidates);
        let may_see = !self.engine.must_see_looked_at(txn.0, key.0, at)
            || self.engine.newest(txn.0, key.0, &mut found) == Some(self.engine.last_writer(key.0));
        self.candidates = found;
        if !may_see {
            return Err(self.refuse(txn.0, Conflict(key.0), Moment::Write));
        }
        self.engine.look(txn.0, key.0, at);
        Ok(())
    }
}

impl Engine {
    /// The commit order is being closed: what constraints have looked at so far stays as it was before their places.
    pub(crate) fn place_lookers(&mut self) {
        let places: Vec<(u32, Position)> = self
            .lookers
            .iter()
            .flat_map(|(&key, lookers)| lookers.iter().map(move |&looker| (key, looker)))
            .filter(|&(_, looker)| looker >= self.base)
            .map(|(key, looker)| (key, self.txn(looker).position))
            .collect();
        places.into_iter().for_each(|(key, position)| self.versions.look(key, position));
    }

    /// Whether the transaction has to see the version that its constraint looks at.
    fn must_see_looked_at(&self, txn: Txn, key: u32, at: LooksAt) -> bool {
        let exact = self.running(txn).looks == Looks::Exact;
        let conflicts = match self.txn(txn).sight {
            Sight::Everything => true,
            Sight::CausesAndVersions | Sight::Prefix { conflicts: Conflicts::Refused } => at == LooksAt::OwnRow,
            _ => false,
        };
        // Whoever overwrites the version itself meets its writer in any case.
        conflicts && !exact && self.last_write(txn, key).is_none()
    }

    fn look(&mut self, txn: Txn, key: u32, at: LooksAt) {
        let last = self.last_writer(key);
        if self.must_see_looked_at(txn, key, at) {
            match self.txn(txn).sight {
                Sight::Everything => self.read(txn, key, last, OwnRow::No),
                _ => self.see_last(txn, key),
            }
        }
        // What Skew does exactly as PostgreSQL does is serializable among reads and writes alone.
        let untold = self.txn(txn).sight == Sight::Everything && self.running(txn).looks == Looks::Exact;
        if untold || !self.running_mut(txn).looked_at.insert(key) {
            return;
        }
        if last != INIT && last >= self.base {
            self.commits_after(txn, last, key);
        }
    }

    /// A constraint has looked at the key: the open transaction commits after this one.
    fn commits_after(&mut self, txn: Txn, first: Txn, key: u32) {
        if matches!(self.order, Order::Open(_)) {
            self.follow(first, txn);
        }
        let same_session = self.txn(first).session == self.txn(txn).session;
        let known = &mut self.running_mut(txn).commits_after;
        if !same_session && known.last().is_none_or(|(last, _)| *last != first) {
            known.push((first, key));
        }
    }

    /// The transaction commits at this place: it comes after those whose constraints have looked at what it overwrites, and
    /// whoever overwrites what its own ones have looked at comes later.
    pub(crate) fn settle_looks(&mut self, txn: Txn, position: Position) {
        if !self.lookers.is_empty() {
            for at in 0..self.running(txn).writes.len() {
                let key = self.running(txn).writes[at].key;
                for first in self.lookers.remove(&key).unwrap_or_default() {
                    if first >= self.base {
                        self.commits_after(txn, first, key);
                    }
                }
            }
        }
        let running = self.running_mut(txn);
        // The first look at what each transaction wrote says it all.
        running.commits_after.sort_by_key(|(first, _)| *first);
        running.commits_after.dedup_by_key(|(first, _)| *first);
        let session = self.txn(txn).session;
        for key in std::mem::take(&mut self.running_mut(txn).looked_at) {
            if self.last_write(txn, key).is_some() {
                continue;
            }
            if let Order::Closed(_) = self.order {
                self.versions.look(key, position);
            }
            let (base, txns) = (self.base, &self.txns);
            let lookers = self.lookers.entry(key).or_default();
            lookers.retain(|&other| other >= base && txns[(other - base) as usize].session != session);
            lookers.push(txn);
        }
    }
}
