//! Who may read from whom: transactions, versions and the commit order, without values.
//!
//! While only `ru`, `rc`, `ra` and `cc` transactions run and real time does not count, the commit order is *open*: it is
//! a graph of what the reads so far force ([`crate::open`]), and a read may take any version for which some order
//! remains. Levels that look at the commit order itself would make that question NP-complete (Biswas and Enea, 2019),
//! so the first such transaction *closes* the order ([`crate::closed`]): from then on every commit gets a place in it,
//! and reads are measured against the places. Either way the history so far, with all that its open transactions have
//! read, stays within every transaction's level.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use skew_model::Level;

use crate::choice::Place;
use crate::clocks::{Clocks, join};
use crate::open::Edges;
use crate::position::{Position, Positions};
use crate::running::{BeganAfter, FirstWrite, Read, Running, Write};
use crate::sight::Sight;
use crate::versions::{INIT, Txn, Version, Versions};
use crate::writers::numbered;

/// A transaction as the engine sees it.
#[derive(Clone, Debug)]
pub(crate) struct Transaction {
    pub(crate) session: u32,
    /// Its number in the session, from one.
    pub(crate) number: u32,
    pub(crate) sight: Sight,
    pub(crate) state: State,
    /// How many keys it has written, once it has ended.
    pub(crate) writes: u32,
    /// Where these are among all of them.
    pub(crate) first_write: u64,
    /// Its place in a closed commit order, once it has committed.
    pub(crate) position: Position,
}

impl Transaction {
    /// Whether it has committed writes.
    pub(crate) fn wrote(&self) -> bool {
        self.writes > 0 && self.state == State::Committed
    }
}

/// So many of the last changes of versions are known one by one.
const RECENT: usize = 4096;

/// Up to so many sessions, each has a place of its own, whether others have ended or not.
const FEW_SESSIONS: usize = 64;

/// Whether the statement of a read is about to write the row, under its lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OwnRow {
    Yes,
    /// It was, and has found nothing there: the row is gone, and its lock keeps no other transaction from making another.
    Absent,
    /// The same, and the caller has given the lock back: a later statement that writes the new row has locked that one.
    Gone,
    No,
}

/// Where a transaction stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Open,
    Committed,
    RolledBack,
    /// Rolled back by the store.
    Refused,
}

/// From where a transaction looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Looks {
    /// From any place that its level allows.
    Any,
    /// From the end of the order as of its snapshot: see [`crate::Reads::Snapshot`].
    Exact,
}

/// Whether a statement looks from a snapshot of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Snapshot {
    New,
    Old,
}

/// The transaction cannot go on: it met another one at this key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Conflict(pub(crate) u32);

#[derive(Clone, Debug)]
pub(crate) struct Session {
    /// How many transactions it has begun.
    pub(crate) number: u32,
    pub(crate) open: Option<Txn>,
    pub(crate) running: Running,
    /// Whether its next transaction sees everything that was committed before it begins: see [`crate::Store::sees_all_next`].
    pub(crate) sees_all_next: bool,
    /// Its last committed transaction.
    pub(crate) last: Option<Txn>,
    pub(crate) last_position: Position,
    /// Its transactions that are remembered.
    pub(crate) txns: VecDeque<Txn>,
}

/// What is known of the commit order.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    Open(Edges),
    Closed(Positions),
}

/// Whether whoever begins after a commit was acknowledged must see it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Recency {
    /// The bare level: a read may miss what was committed long ago, as in a replicated store.
    #[default]
    None,
    /// The level with real time: a transaction sees what was committed before it began (a statement, at `mvrc`), as on
    /// a single node.
    Commit,
}

/// A lock of a row: its kind, by a number below [`RowLock::KINDS`], and the kinds that it excludes, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct RowLock {
    pub kind: usize,
    pub excludes: u8,
}

impl RowLock {
    /// So many kinds there are.
    pub const KINDS: usize = 4;
}

#[derive(Clone, Debug)]
pub(crate) struct Engine {
    pub(crate) recency: Recency,
    pub(crate) sessions: Vec<Session>,
    /// The places of those that have ended, the first one first.
    closed: VecDeque<u32>,
    pub(crate) txns: Vec<Transaction>,
    /// The first transaction that is remembered.
    pub(crate) base: Txn,
    pub(crate) versions: Versions,
    /// The keys that ended transactions have written, in the order in which they ended.
    pub(crate) written: VecDeque<u32>,
    /// How many of these have been forgotten.
    pub(crate) written_before: u64,
    /// `(so ∪ wr)⁺`.
    pub(crate) causes: Clocks,
    /// While the order is open, everything that must come before; once it is closed, `(so ∪ wr ∪ ww)⁺`.
    pub(crate) before: Clocks,
    pub(crate) order: Order,
    /// For each session, its last committed transaction's number.
    pub(crate) committed: Vec<u32>,
    /// For each session, how many of its transactions have been forgotten; everybody sees those.
    pub(crate) forgotten: Vec<u32>,
    /// The place of the last of them.
    pub(crate) forgotten_position: Position,
    pub(crate) open: Vec<Txn>,
    /// How often the versions of keys have changed.
    pub(crate) commits: u64,
    /// Who did so the last times.
    pub(crate) recent: VecDeque<Txn>,
    /// How often transactions that look from a place have read.
    pub(crate) looks: u64,
    /// Where those have committed that held a lock of a key's row last, by its kind; without real time only.
    pub(crate) held_until: FxHashMap<u32, [Position; RowLock::KINDS]>,
    /// Whose constraints have looked at the last version of a key, the last transaction of each session: whoever writes
    /// the key next commits after them.
    pub(crate) lookers: FxHashMap<u32, Vec<Txn>>,
    pub(crate) serializable: Serialized,
}

/// What happens-before between serializable transactions rests on (SERTOTAL, Bernardi and Gotsman 2016): it is total, so
/// that a transaction of a causal level which sees one of them sees the earlier ones, too.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Serialized {
    /// The last one that has committed.
    last: Option<Txn>,
    /// Some have places before others that had committed already, so their clocks do not tell all that is before them.
    out_of_order: bool,
    /// Transactions of causal levels have begun: from now on every place is after the last one.
    pub(crate) by_clocks: bool,
}

impl Engine {
    pub(crate) fn new(recency: Recency) -> Self {
        let order = match recency {
            Recency::None => Order::Open(Edges::new()),
            Recency::Commit => Order::Closed(Positions::new()),
        };
        Engine {
            recency,
            sessions: Vec::new(),
            closed: VecDeque::new(),
            txns: Vec::new(),
            base: 0,
            versions: Versions::default(),
            written: VecDeque::new(),
            written_before: 0,
            causes: Clocks::new(),
            before: Clocks::new(),
            order,
            committed: Vec::new(),
            forgotten: Vec::new(),
            forgotten_position: Position::FIRST,
            open: Vec::new(),
            commits: 1,
            serializable: Serialized::default(),
            recent: VecDeque::new(),
            looks: 0,
            held_until: FxHashMap::default(),
            lookers: FxHashMap::default(),
        }
    }

    /// Goes on with the sessions and the keys of another engine, whose transactions are all forgotten.
    pub(crate) fn take_over(&mut self, other: Engine) {
        self.versions = other.versions;
        other.sessions.iter().for_each(|_| _ = self.session());
        self.closed = other.closed;
    }

    /// A new session, at the place of one that was closed or at a new one.
    pub(crate) fn session(&mut self) -> u32 {
        if let Some(place) = self.free_place() {
            return place;
        }
        let (last_position, txns) = (Position::FIRST, VecDeque::new());
        let (open, running, last, sees_all_next) = (None, Running::new(), None, false);
        self.sessions.push(Session { number: 0, open, running, sees_all_next, last, last_position, txns });
        self.committed.push(0);
        self.forgotten.push(0);
        self.causes.widen(self.sessions.len());
        self.before.widen(self.sessions.len());
        self.sessions.len() as u32 - 1
    }

    /// The place of a session that was closed. The new session goes on where that one ended, which is more than its level
    /// asks for unless real time counts or all of that has been forgotten: so while there are few sessions, each gets a
    /// place of its own.
    fn free_place(&mut self) -> Option<u32> {
        let &place = self.closed.front()?;
        let all_forgotten = self.sessions[place as usize].number == self.forgotten[place as usize];
        if !all_forgotten && self.recency == Recency::None && self.sessions.len() < FEW_SESSIONS {
            return None;
        }
        if all_forgotten {
            let session = &mut self.sessions[place as usize];
            (session.last, session.last_position) = (None, Position::FIRST);
        }
        self.closed.pop_front()
    }

    /// The session at this place has ended.
    pub(crate) fn close_session(&mut self, place: u32) {
        self.sessions[place as usize].running = Running::new();
        if !self.closed.contains(&place) {
            self.closed.push_back(place);
        }
    }

    pub(crate) fn key(&mut self) -> u32 {
        self.versions.push_key()
    }

    pub(crate) fn txn(&self, txn: Txn) -> &Transaction {
        &self.txns[(txn - self.base) as usize]
    }

    pub(crate) fn txn_mut(&mut self, txn: Txn) -> &mut Transaction {
        &mut self.txns[(txn - self.base) as usize]
    }

    /// What a running transaction has.
    pub(crate) fn running(&self, txn: Txn) -> &Running {
        &self.sessions[self.txn(txn).session as usize].running
    }

    pub(crate) fn running_mut(&mut self, txn: Txn) -> &mut Running {
        let session = self.txn(txn).session as usize;
        &mut self.sessions[session].running
    }

    /// Begins a transaction; the level is one that the store runs.
    pub(crate) fn begin(&mut self, session: u32, level: Level, sight: Sight, looks: Looks) -> Txn {
        if sight.needs_closed_order() {
            self.close_order();
        }
        let mut sees_all = std::mem::take(&mut self.sessions[session as usize].sees_all_next);
        if matches!(sight, Sight::Causes | Sight::CausesAndVersions) {
            self.serializable.by_clocks = true;
            // A transaction that sees everything sees all earlier ones of each.
            sees_all |= self.serializable.out_of_order;
        }
        let timed = self.recency == Recency::Commit || level.is_strict() || sees_all;
        let txn = self.base + self.txns.len() as u32;
        let seen = self.first_seen(session, timed);
        let asks = matches!(sight, Sight::Nothing | Sight::EarlierSources | Sight::SessionAndSources);
        let began_after = (timed && asks).then(|| self.began_after());
        let state = &mut self.sessions[session as usize];
        state.number += 1;
        state.open = Some(txn);
        state.txns.push_back(txn);
        state.running.begin(seen, began_after, looks);
        self.open.push(txn);
        let number = state.number;
        self.txns.push(Transaction {
            session,
            number,
            sight,
            state: State::Open,
            writes: 0,
            first_write: 0,
            position: Position::NEVER,
        });
        self.begin_clocks(txn, timed);
        txn
    }

    /// Who has ended by now.
    fn began_after(&self) -> BeganAfter {
        let ended = self.sessions.iter().map(|session| session.number - u32::from(session.open.is_some()));
        BeganAfter { committed: self.committed.clone(), ended: ended.collect() }
    }

    fn first_seen(&self, session: u32, timed: bool) -> Position {
        match &self.order {
            Order::Closed(positions) if timed => positions.end(),
            _ => self.sessions[session as usize].last_position.max(self.forgotten_position),
        }
    }

    fn begin_clocks(&mut self, txn: Txn, timed: bool) {
        self.causes.push();
        self.before.push();
        if let Order::Open(edges) = &mut self.order {
            edges.push();
        }
        let session = self.txn(txn).session;
        let is_open = matches!(self.order, Order::Open(_));
        let seen = if timed && !is_open { &self.committed } else { &self.forgotten };
        for clocks in [&mut self.causes, &mut self.before] {
            join(clocks.row_mut(txn), seen);
        }
        // In an open order each session's last transaction may come to have more before it, so each gets an edge.
        let sessions = if timed && is_open { 0..self.sessions.len() } else { session as usize..session as usize + 1 };
        for at in sessions {
            if let Some(last) = self.sessions[at].last.filter(|&last| last >= self.base) {
                self.follow(last, txn);
                self.add_cause(last, txn);
            }
        }
    }

    /// Makes `from` and what caused it causes of `to`, an open transaction.
    pub(crate) fn add_cause(&mut self, from: Txn, to: Txn) {
        let (session, number) = self.place(from);
        let both = [Some(&mut self.causes), matches!(self.order, Order::Closed(_)).then_some(&mut self.before)];
        for clocks in both.into_iter().flatten() {
            // Who is known has brought its causes along.
            if clocks.row(to)[session] < number {
                clocks.join(to, from);
                clocks.row_mut(to)[session] = number;
            }
        }
    }

    /// A serializable transaction commits at a place that is the last one, or is not.
    pub(crate) fn serialize(&mut self, txn: Txn, out_of_order: bool) {
        if let Some(last) = self.serializable.last.filter(|&last| last >= self.base) {
            self.add_cause(last, txn);
        }
        self.serializable.last = Some(txn);
        self.serializable.out_of_order |= out_of_order;
    }

    /// The transaction's session and number in it.
    pub(crate) fn place(&self, txn: Txn) -> (usize, u32) {
        let txn = self.txn(txn);
        (txn.session as usize, txn.number)
    }

    /// The same as the program knows it; `None` for the initial transaction.
    pub(crate) fn place_of(&self, txn: Txn) -> Option<Place> {
        if txn == INIT || txn < self.base {
            return None;
        }
        let (session, number) = self.place(txn);
        Some(Place { session: session as u32, txn: number - 1 })
    }

    /// The next operations belong to a new statement.
    pub(crate) fn statement(&mut self, txn: Txn) -> Snapshot {
        let sight = self.txn(txn).sight;
        let running = self.running(txn);
        let exact = running.looks == Looks::Exact;
        let untouched = running.statement == 0 && running.reads.is_empty() && running.writes.is_empty();
        let taken = sight == Sight::StatementPrefix || exact && untouched;
        let now = match &self.order {
            Order::Closed(positions) if taken && (exact || self.recency == Recency::Commit) => positions.end(),
            _ => Position::FIRST,
        };
        let running = self.running_mut(txn);
        running.statement += 1;
        running.first_read = running.reads.len();
        if sight == Sight::StatementPrefix {
            running.forget_known();
        }
        running.seen = running.seen.max(running.seen_next).max(now);
        if taken { Snapshot::New } else { Snapshot::Old }
    }

    /// The transaction reads the key from the source, one of its candidates.
    pub(crate) fn read(&mut self, txn: Txn, key: u32, source: Txn, own_row: OwnRow) {
        let running = self.running(txn);
        let statement = if own_row == OwnRow::No { running.looking.statement } else { running.statement };
        self.read_in(txn, statement, key, source, own_row);
    }

    /// The same as part of an earlier statement: a look at a range that turns out to have included the key.
    pub(crate) fn read_in(&mut self, txn: Txn, statement: u32, key: u32, source: Txn, own_row: OwnRow) {
        let sight = self.txn(txn).sight;
        if sight == Sight::Nothing {
            return;
        }
        match self.order {
            Order::Open(_) => self.read_open(txn, key, source),
            Order::Closed(_) => self.read_closed(txn, source, own_row),
        }
        if source != INIT && source >= self.base {
            self.add_cause(source, txn);
        }
        self.looks += u64::from(sight.looks_from_a_place());
        let reader = self.running_mut(txn);
        reader.looks_made += u64::from(sight.looks_from_a_place());
        reader.add_read(Read { key, source, statement, own_row });
    }

    /// Which of its operations was the last write of the key.
    pub(crate) fn last_write(&self, txn: Txn, key: u32) -> Option<u32> {
        self.running(txn).last_write(key)
    }

    /// The transaction's operation with this number writes the key.
    pub(crate) fn write(&mut self, txn: Txn, key: u32, operation: u32) -> Result<(), Conflict> {
        if self.running_mut(txn).write(key, operation) == FirstWrite::No {
            return Ok(());
        }
        self.versions.write(key, txn);
        match self.order {
            Order::Open(_) => Ok(()),
            Order::Closed(_) => self.may_write(txn, key),
        }
    }

    /// The transaction's last write of the key is undone; the one before is its operation with this number.
    pub(crate) fn unwrite(&mut self, txn: Txn, key: u32, before: Option<u32>) {
        if self.running_mut(txn).unwrite(key, before) == FirstWrite::Yes {
            self.versions.unwrite(key, txn);
        }
    }

    /// Commits, or says where it cannot.
    pub(crate) fn commit(&mut self, txn: Txn) -> Result<(), Conflict> {
        let position = match self.order {
            Order::Open(_) => Position::FIRST,
            Order::Closed(_) => self.commit_closed(txn)?,
        };
        self.settle_looks(txn, position);
        let (session, number) = self.place(txn);
        let writes = &self.sessions[session].running.writes;
        for &Write { key, operation } in writes {
            let version = Version { position, writer: txn, operation };
            self.versions.commit(key, version, |writer| numbered(&self.txns, self.base, writer));
        }
        if !writes.is_empty() {
            self.commits += 1;
            self.recent.push_back(txn);
            if self.recent.len() > RECENT {
                self.recent.pop_front();
            }
        }
        let state = &mut self.sessions[session];
        if self.recency == Recency::None {
            for &(key, _, kind) in &state.running.held {
                let kinds = self.held_until.entry(key).or_insert([Position::FIRST; RowLock::KINDS]);
                kinds.get_mut(kind).into_iter().for_each(|until| *until = position);
            }
        }
        (state.last, state.last_position) = (Some(txn), position);
        self.committed[session] = number;
        self.txn_mut(txn).position = position;
        self.end(txn, State::Committed);
        Ok(())
    }

    /// Rolls back. What the transaction wrote stays where `ru` can see it.
    pub(crate) fn roll_back(&mut self, txn: Txn, state: State) {
        for at in 0..self.running(txn).writes.len() {
            let key = self.running(txn).writes[at].key;
            self.versions.roll_back(key, txn);
        }
        self.end(txn, state);
    }

    fn end(&mut self, txn: Txn, state: State) {
        self.open.retain(|&open| open != txn);
        let session = self.txn(txn).session as usize;
        let first_write = self.written_before + self.written.len() as u64;
        let writes = &self.sessions[session].running.writes;
        let count = writes.len() as u32;
        self.written.extend(writes.iter().map(|write| write.key));
        let ended = self.txn_mut(txn);
        (ended.state, ended.writes, ended.first_write) = (state, count, first_write);
        self.sessions[session].open = None;
    }
}
