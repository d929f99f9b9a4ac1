//! Whom a read may read from: exactly those for which every transaction stays within its level.
//!
//! Valid candidates are found among the last versions of the key: everything before the first one that no version which
//! the reader must see has overwritten is out. Few candidates are listed and tested one by one; among many, one is
//! drawn and tested, and drawn again if it fails, so that a read does not cost more in a longer history. Every valid
//! candidate can be drawn, newer ones more easily than those of the far past; what the reader must see anyway is the way
//! out when luck does not come.

use crate::engine::{Engine, Order, State};
use crate::sight::Sight;
use crate::versions::{INIT, Txn, before, next_position, up_to};

/// More candidates than this are not listed unless the choice asks for it.
const LISTED: usize = 8;

/// How often a candidate is drawn from all of them, and then from each half of what is left.
const DRAWS: usize = 16;

/// Which of the valid candidates the reads of a transaction may return.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Reads {
    /// Any of them.
    #[default]
    Any,
    /// The last one of each session (MonkeyDB §6), for reads that check assertions.
    LatestPerSession,
    /// Those of [`Reads::LatestPerSession`] that are not known to come before another of them: what a store shows when
    /// it has come to rest.
    Settled,
    /// The last one of those of [`Reads::Settled`] that was committed: the latest committed state, for final checks.
    Latest,
    /// The freshest one: see [`crate::Store::read_newest`].
    Newest,
    /// What a snapshot shows, as PostgreSQL takes it: at `mvrc` when the statement begins, at `pc`, `si` and `ser` when the
    /// first statement begins. At the other levels the freshest one. Nothing is chosen.
    Snapshot,
}

/// Whether all candidates are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Listing {
    All,
    Few,
}

/// The candidates of one read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Candidates {
    /// The transactions, oldest version first, when there are few; then all are valid.
    pub(crate) listed: Vec<Txn>,
    /// Otherwise how many there may be; a number below stands for one.
    pub(crate) drawn: usize,
    /// The version that the first number stands for.
    first: usize,
    floors: Vec<Txn>,
    /// What comes before the floors.
    dead: Vec<u32>,
    /// For each session, the first transaction that the reader must not come to see: it comes after what an earlier read
    /// of a key that it writes has returned. Empty if there is none.
    forbidden: Vec<u32>,
}

impl Engine {
    /// Whom the reader may read the key from. There is always somebody, except for a transaction that cannot commit any
    /// more because of what it has written.
    pub(crate) fn candidates(&self, reader: Txn, key: u32, reads: Reads, listing: Listing, found: &mut Candidates) {
        found.listed.clear();
        found.drawn = 0;
        let sight = self.txn(reader).sight;
        match (sight, &self.order) {
            (Sight::Nothing, _) => self.anything(reader, key, found),
            (_, Order::Open(_)) => self.open_range(reader, key, found),
            (sight, _) if sight.looks_from_a_place() => self.place_range(reader, key, found),
            _ => self.closed_range(reader, key, found),
        }
        match reads {
            Reads::Any if listing == Listing::All || found.drawn <= LISTED => {
                let mut valid = std::mem::take(&mut found.listed);
                let sources = (0..found.drawn).map(|number| self.draw(key, found, number));
                valid.extend(sources.filter(|&source| self.is_valid(reader, key, source, found)));
                (found.listed, found.drawn) = (valid, 0);
            }
            Reads::Any => {}
            // At `ru` no order is known but the one in which versions were committed.
            Reads::Latest if sight == Sight::Nothing => {
                found.drawn = 0;
                found.listed.push(self.last_writer(key));
            }
            Reads::LatestPerSession | Reads::Settled | Reads::Latest => self.keep_latest(reader, key, reads, found),
            Reads::Newest | Reads::Snapshot => {
                let newest = (0..found.drawn).rev().map(|number| self.draw(key, found, number));
                let newest = newest.into_iter().find(|&source| self.is_valid(reader, key, source, found));
                (found.listed, found.drawn) = (newest.into_iter().collect(), 0);
            }
        }
    }

    /// The freshest version that the reader may read; at `ru` the last committed one. `None` only for a transaction that
    /// cannot commit any more.
    pub(crate) fn newest(&self, reader: Txn, key: u32, found: &mut Candidates) -> Option<Txn> {
        if self.txn(reader).sight == Sight::Nothing {
            return Some(self.last_writer(key));
        }
        self.candidates(reader, key, Reads::Newest, Listing::Few, found);
        found.listed.first().copied()
    }

    /// Who wrote the last committed version of the key.
    pub(crate) fn last_writer(&self, key: u32) -> Txn {
        self.versions.list(key).last().map_or(INIT, |last| last.writer)
    }

    /// Draws until a candidate is valid; `None` only for a transaction that cannot commit any more.
    pub(crate) fn draw_valid(
        &self,
        reader: Txn,
        key: u32,
        found: &Candidates,
        mut ask: impl FnMut(usize) -> usize,
    ) -> Option<Txn> {
        let mut pick = |count: usize| if count == 1 { 0 } else { ask(count) };
        let octaves = found.drawn.ilog2() as usize + 1;
        for _ in 0..DRAWS {
            // The last, the last two, four, eight, …, the smaller of two throws: a version from the far past is possible,
            // and rare.
            let newest = found.drawn.min(1 << pick(octaves).min(pick(octaves)));
            let source = self.draw(key, found, found.drawn - newest + pick(newest));
            if self.is_valid(reader, key, source, found) {
                return Some(source);
            }
        }
        let mut range = found.drawn;
        while range > 1 {
            for _ in 0..DRAWS {
                let source = self.draw(key, found, pick(range));
                if self.is_valid(reader, key, source, found) {
                    return Some(source);
                }
            }
            range /= 2;
        }
        let first = self.draw(key, found, 0);
        let mut rest = [first, INIT].into_iter().chain(found.floors.iter().copied());
        rest.find(|&source| self.is_valid(reader, key, source, found))
    }

    /// The candidate that a number below `drawn` stands for.
    pub(crate) fn draw(&self, key: u32, candidates: &Candidates, number: usize) -> Txn {
        let list = self.versions.list(key);
        match candidates.first + number {
            0 => INIT,
            index if index <= list.len() => list[index - 1].writer,
            index => self.versions.dirty(key)[index - 1 - list.len()],
        }
    }

    /// Whether the drawn candidate is valid.
    pub(crate) fn is_valid(&self, reader: Txn, key: u32, source: Txn, candidates: &Candidates) -> bool {
        let sight = self.txn(reader).sight;
        match &self.order {
            _ if sight == Sight::Nothing => !self.ended_before(reader, source),
            Order::Open(_) if self.leads_to(source, &candidates.forbidden) => false,
            Order::Open(_) => self.is_valid_open(reader, source, &candidates.floors, &candidates.dead),
            Order::Closed(_) if sight.looks_from_a_place() => self.has_place(reader, key, source),
            Order::Closed(_) => self.is_valid_closed(reader, source),
        }
    }

    /// At `ru`: whatever any transaction has written, where real time counts from the last version on that was committed
    /// before the reader began.
    fn anything(&self, reader: Txn, key: u32, candidates: &mut Candidates) {
        let began_after = self.running(reader).began_after.as_ref();
        let last = began_after.and_then(|began_after| self.last_seen(key, &began_after.committed));
        candidates.floors.clear();
        candidates.first = last.map_or(0, |last| 1 + last);
        candidates.drawn = 1 + self.versions.list(key).len() + self.versions.dirty(key).len() - candidates.first;
    }

    /// Whether the transaction was rolled back before the reader began, where real time counts.
    fn ended_before(&self, reader: Txn, source: Txn) -> bool {
        let Some(began_after) = &self.running(reader).began_after else { return false };
        if source == INIT || source < self.base || self.txn(source).state == State::Committed {
            return false;
        }
        let (session, number) = self.place(source);
        number <= began_after.ended[session]
    }

    /// From the first version on that does not come before what the reader must see.
    fn open_range(&self, reader: Txn, key: u32, candidates: &mut Candidates) {
        self.floors(reader, key, &mut candidates.floors);
        let (list, chains) = (self.versions.list(key), self.versions.chains(key));
        if candidates.floors.is_empty() {
            candidates.dead.clear();
            candidates.dead.resize(self.before.width(), 0);
            candidates.first = 0;
        } else {
            self.keep_last(&mut candidates.floors, &mut candidates.dead);
            let dead = &candidates.dead;
            let in_chains = chains.iter().filter_map(|chain| {
                let first = chain.up_to(dead[chain.session as usize]);
                chain.writes.get(first).map(|&(_, index)| index as usize)
            });
            let is_alive = |writer: Txn| {
                let (session, number) = self.place(writer);
                number > dead[session]
            };
            let alive = match chains {
                [] => list.iter().position(|version| is_alive(version.writer)),
                _ => in_chains.min(),
            };
            candidates.first = 1 + alive.expect("a version that must be seen is not before itself");
        }
        candidates.drawn = 1 + list.len() - candidates.first;
        self.forbidden(reader, &mut candidates.forbidden);
    }

    /// From the last version on that the reader must see.
    fn closed_range(&self, reader: Txn, key: u32, candidates: &mut Candidates) {
        let last = match self.clock(reader, reader) {
            Some(clock) => self.last_seen(key, clock),
            None => {
                self.floors(reader, key, &mut candidates.floors);
                candidates.floors.iter().filter_map(|&floor| self.version_of(floor, key)).max()
            }
        };
        candidates.floors.clear();
        candidates.floors.extend(last.map(|last| self.versions.list(key)[last].writer));
        candidates.first = last.map_or(0, |last| 1 + last);
        candidates.drawn = 1 + self.versions.list(key).len() - candidates.first;
    }

    /// The versions that are the newest at a place from which the reader may look.
    fn place_range(&self, reader: Txn, key: u32, candidates: &mut Candidates) {
        let list = self.versions.list(key);
        let sight = self.txn(reader).sight;
        let lower = if sight == Sight::StatementPrefix { self.running(reader).seen } else { self.lower_bound(reader) };
        let upper = self.overwritten(reader);
        candidates.first = up_to(list, lower);
        let end = before(list, upper);
        candidates.drawn = 1 + end.max(candidates.first) - candidates.first;
    }

    /// Whether a place is left for the reader when it takes the source's version for the newest.
    pub(crate) fn has_place(&self, reader: Txn, key: u32, source: Txn) -> bool {
        let sight = self.txn(reader).sight;
        let seen = if sight == Sight::StatementPrefix { self.running(reader).seen } else { self.lower_bound(reader) };
        let index = self.version_of(source, key);
        let list = self.versions.list(key);
        let lower = index.map_or(seen, |index| seen.max(list[index].position));
        let upper = self.overwritten(reader).min(next_position(list, index));
        self.fits(sight, lower, upper)
    }

    /// Whether nothing that the reader has read would be overwritten by somebody whom it now sees.
    fn is_valid_closed(&self, reader: Txn, source: Txn) -> bool {
        if source == INIT || self.is_cause(source, reader) {
            return true;
        }
        let mut in_question = Vec::new();
        self.reads_in_question(reader, source, &mut in_question);
        in_question.into_iter().map(|at| &self.running(reader).reads[at]).all(|read| {
            let shown = self.clock(reader, source).and_then(|clock| self.last_seen(read.key, clock));
            let shown = shown.max(self.version_of(source, read.key));
            shown <= self.version_of(read.source, read.key)
        })
    }

    /// What comes before a transaction as far as the reader's level asks about it, where it asks for all of that.
    fn clock(&self, reader: Txn, txn: Txn) -> Option<&[u32]> {
        match self.txn(reader).sight {
            Sight::Causes => Some(self.causes.row(txn)),
            Sight::CausesAndVersions => Some(self.before.row(txn)),
            _ => None,
        }
    }

    fn keep_latest(&self, reader: Txn, key: u32, reads: Reads, candidates: &mut Candidates) {
        let (list, chains) = (self.versions.list(key), self.versions.chains(key));
        let valid = |source: Txn| self.is_valid(reader, key, source, candidates);
        let mut latest: Vec<usize> = Vec::new();
        for chain in chains {
            let indices = chain.writes.iter().rev().map(|&(_, index)| index as usize);
            let within = indices.take_while(|&index| index + 1 >= candidates.first);
            latest.extend(within.into_iter().find(|&index| valid(list[index].writer)));
        }
        if chains.is_empty() {
            let session = |index: usize| self.txn(list[index].writer).session;
            for index in (candidates.first.saturating_sub(1)..list.len()).rev() {
                if !latest.iter().any(|&later| session(later) == session(index)) && valid(list[index].writer) {
                    latest.push(index);
                }
            }
        }
        latest.sort_unstable();
        let mut listed: Vec<Txn> = latest.into_iter().map(|index| list[index].writer).collect();
        if reads != Reads::LatestPerSession {
            let all = listed.clone();
            listed.retain(|&txn| !all.iter().any(|&other| self.comes_before(txn, other)));
        }
        if listed.is_empty() && valid(INIT) {
            listed.push(INIT);
        }
        if reads == Reads::Latest {
            listed.drain(..listed.len().saturating_sub(1));
        }
        (candidates.listed, candidates.drawn) = (listed, 0);
    }

    /// Whether the order, as far as it is known, has the one before the other.
    fn comes_before(&self, first: Txn, second: Txn) -> bool {
        match self.order {
            Order::Open(_) => {
                let (session, number) = self.place(first);
                self.before.row(second)[session] >= number
            }
            Order::Closed(_) => self.txn(first).position < self.txn(second).position,
        }
    }
}
