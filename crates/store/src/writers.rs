//! Who has written what, as the engine asks for it: versions by their writers, what a clock shows of a key, what a
//! transaction has written, and who has changed versions lately.

use crate::engine::{Engine, Transaction};
use crate::versions::{Chain, INIT, Numbered, Txn, Version};

/// So many of the last versions of a key are looked at before all sessions are.
const NEAR: usize = 16;

impl Engine {
    /// The same by numbers.
    pub(crate) fn numbered(&self, txn: Txn) -> Numbered {
        numbered(&self.txns, self.base, txn)
    }

    /// Which version of the key the transaction wrote, if it did (and committed).
    pub(crate) fn version_of(&self, txn: Txn, key: u32) -> Option<usize> {
        if txn == INIT || txn < self.base {
            return None;
        }
        let (list, chains) = (self.versions.list(key), self.versions.chains(key));
        if chains.is_empty() {
            return list.iter().rposition(|version| version.writer == txn);
        }
        let Numbered { session, number } = self.numbered(txn);
        let chain = &chains[chains.binary_search_by_key(&session, |chain| chain.session).ok()?];
        let (write, index) = chain.writes[chain.up_to(number).checked_sub(1)?];
        (write == number).then_some(index as usize)
    }

    /// For each session, the last version of the key by its transactions up to the number in the clock.
    pub(crate) fn each_seen(&self, key: u32, clock: &[u32], mut found: impl FnMut(Txn, Numbered)) {
        let (list, chains) = (self.versions.list(key), self.versions.chains(key));
        // A clock may have been taken when there were fewer sessions.
        let limit = |session: u32| clock.get(session as usize).copied().unwrap_or(0);
        if chains.is_empty() {
            for (index, version) in list.iter().enumerate() {
                let place = self.numbered(version.writer);
                let is_seen = |place: Numbered| place.number <= limit(place.session);
                let mut later = list[index + 1..].iter().map(|later| self.numbered(later.writer));
                if is_seen(place) && !later.any(|later| later.session == place.session && is_seen(later)) {
                    found(version.writer, place);
                }
            }
            return;
        }
        for chain in chains {
            if let Some(at) = chain.up_to(limit(chain.session)).checked_sub(1) {
                let (number, index) = chain.writes[at];
                found(list[index as usize].writer, Numbered { session: chain.session, number });
            }
        }
    }

    /// In a closed order, the last version of the key by transactions up to the numbers in the clock.
    pub(crate) fn last_seen(&self, key: u32, clock: &[u32]) -> Option<usize> {
        let (list, chains) = (self.versions.list(key), self.versions.chains(key));
        let is_seen = |version: &Version| {
            let (session, number) = self.place(version.writer);
            number <= clock[session]
        };
        // Most often it is one of the last.
        let near = if chains.is_empty() { 0 } else { list.len().saturating_sub(NEAR) };
        let last = list[near..].iter().rposition(is_seen).map(|at| near + at);
        last.or_else(|| {
            let of_session = |chain: &Chain| {
                let last = chain.up_to(clock[chain.session as usize]).checked_sub(1)?;
                Some(chain.writes[last].1 as usize)
            };
            chains.iter().filter_map(of_session).max()
        })
    }

    /// The keys that an ended transaction has written.
    pub(crate) fn writes_of(&self, txn: Txn) -> impl Iterator<Item = u32> + '_ {
        let Transaction { first_write, writes, .. } = *self.txn(txn);
        let first = (first_write.saturating_sub(self.written_before)) as usize;
        self.written.range(first..first + writes as usize).copied()
    }

    /// Who has changed versions since there were so many changes; `None` if that was too long ago.
    pub(crate) fn changes_since(&self, commits: u64) -> Option<impl Iterator<Item = Txn> + '_> {
        let count = usize::try_from(self.commits - commits).ok()?;
        let first = self.recent.len().checked_sub(count)?;
        Some(self.recent.range(first..).copied())
    }

    /// All versions may have changed.
    pub(crate) fn everything_changed(&mut self) {
        self.commits += 1;
        self.recent.clear();
    }

    /// Forgets what the transactions before this one have written.
    pub(crate) fn forget_writes(&mut self, before: Txn) {
        let kept = self.txns[(before - self.base) as usize..].iter().filter(|txn| txn.writes > 0);
        let all = self.written_before + self.written.len() as u64;
        let first = kept.map(|txn| txn.first_write).min().unwrap_or(all);
        self.written.drain(..(first - self.written_before) as usize);
        self.written_before = first;
    }
}

/// Where a transaction comes among those of its session.
pub(crate) fn numbered(txns: &[Transaction], base: Txn, txn: Txn) -> Numbered {
    let Transaction { session, number, .. } = txns[(txn - base) as usize];
    Numbered { session, number }
}
