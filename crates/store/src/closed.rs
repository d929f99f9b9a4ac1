//! The closed commit order: every commit gets a place in it, at its end unless a serializable transaction has read old
//! versions and must come before those who overwrote them.
//!
//! A key's versions are kept in the order of their places. A transaction that looks from one place (`pc`, `si`, `ser`,
//! a statement of `mvrc`) has read versions that are all the newest at some place: each read narrows where that can be,
//! from what it has `seen` up to the first overwriting of something it read.
//!
//! Why every commit keeps the others within their levels: a new version of a key is always the last one. Whoever read
//! the key before cannot see the new writer through session order, reads or versions, and did not look from a place
//! after the writer's: places at the end are after all looks, and a place in the middle is taken only after every look
//! that took the last version for the newest (`looked`).

use crate::clocks::join;
use crate::engine::{Conflict, Engine, Known, Looks, Order, OwnRow, Read};
use crate::position::{Position, Positions, has_room};
use crate::sight::{Conflicts, Sight};
use crate::versions::{INIT, Txn};

impl Engine {
    /// Gives every committed transaction a place, in an order that extends the open one.
    pub(crate) fn close_order(&mut self) {
        let Order::Open(_) = self.order else { return };
        let mut positions = Positions::new();
        // Whoever is before another has a smaller past: the sum is a linear extension.
        let weight = |txn: Txn| self.before.row(txn).iter().map(|&number| u64::from(number)).sum::<u64>();
        let mut order: Vec<(u64, Txn)> =
            (self.base..self.base + self.txns.len() as u32).map(|t| (weight(t), t)).collect();
        order.sort_unstable();
        for &(_, txn) in &order {
            self.txn_mut(txn).position = positions.append();
        }
        self.order = Order::Closed(positions);
        self.commits += 1;
        for key in 0..self.keys.len() {
            self.sort_versions(key);
        }
        for session in 0..self.sessions.len() {
            let last = self.sessions[session].last.filter(|&last| last >= self.base);
            self.sessions[session].last_position = last.map_or(Position::FIRST, |last| self.txn(last).position);
        }
        self.close_over_versions(&order);
        for at in 0..self.open.len() {
            self.see_sources(self.open[at]);
        }
    }

    fn sort_versions(&mut self, key: usize) {
        let mut versions = std::mem::replace(&mut self.keys[key], crate::versions::Versions::new());
        for version in &mut versions.list {
            version.position = self.txn(version.writer).position;
        }
        versions.list.sort_by_key(|version| version.position);
        let sorted = &mut self.keys[key];
        (sorted.dirty, sorted.looked) = (versions.dirty, versions.looked);
        for version in versions.list {
            let txn = &self.txns[(version.writer - self.base) as usize];
            sorted.push(version, txn.session, txn.number);
        }
    }

    /// Turns `before` into `(so ∪ wr ∪ ww)⁺`, going through the transactions in commit order.
    fn close_over_versions(&mut self, order: &[(u64, Txn)]) {
        let mut writes = vec![Vec::new(); self.txns.len()];
        for (key, versions) in self.keys.iter().enumerate() {
            for (index, version) in versions.list.iter().enumerate().skip(1) {
                let previous = versions.list[index - 1].writer;
                writes[(version.writer - self.base) as usize].push((key, previous));
            }
        }
        // What causes a transaction comes before it in the order, so its row is complete when it is needed: the causes'
        // own rows are joined through the last cause of each session.
        let numbers = self.by_number();
        for &(_, txn) in order {
            let causes = self.causes.row(txn).to_vec();
            let mut row = causes.clone();
            for (session, &number) in causes.iter().enumerate() {
                let cause = numbers.get(session).and_then(|txns| txns[..number as usize].iter().rev().flatten().next());
                cause.into_iter().for_each(|&cause| join(&mut row, self.before.row(cause)));
            }
            for &(_, previous) in &writes[(txn - self.base) as usize] {
                let (session, number) = self.place(previous);
                join(&mut row, self.before.row(previous));
                row[session] = row[session].max(number);
            }
            self.before.row_mut(txn).copy_from_slice(&row);
        }
    }

    /// For each session, its remembered transactions by number.
    fn by_number(&self) -> Vec<Vec<Option<Txn>>> {
        let mut numbers: Vec<Vec<Option<Txn>>> =
            self.sessions.iter().map(|session| vec![None; session.number as usize]).collect();
        for (at, txn) in self.txns.iter().enumerate() {
            numbers[txn.session as usize][txn.number as usize - 1] = Some(self.base + at as u32);
        }
        numbers
    }

    /// An open transaction goes on in the closed order.
    fn see_sources(&mut self, txn: Txn) {
        let session = self.sessions[self.txn(txn).session as usize].last_position;
        let sources = self.running(txn).reads.iter().filter(|read| read.source != INIT && read.source >= self.base);
        let seen = sources.map(|read| self.txn(read.source).position).fold(session, Position::max);
        let running = self.running_mut(txn);
        (running.seen, running.seen_next) = (seen, seen);
    }

    /// The reader has read from the source.
    pub(crate) fn read_closed(&mut self, reader: Txn, source: Txn, own_row: OwnRow) {
        if source == INIT || source < self.base {
            return;
        }
        let position = self.txn(source).position;
        let reader = self.running_mut(reader);
        reader.seen_next = reader.seen_next.max(position);
        if own_row == OwnRow::No {
            reader.seen = reader.seen.max(position);
        }
    }

    /// The first place at which something that the transaction has read is overwritten; for a level whose statements
    /// look separately, that the current statement has read.
    pub(crate) fn overwritten(&self, reader: Txn) -> Position {
        let (sight, running) = (self.txn(reader).sight, self.running(reader));
        let looks_along = |read: &&Read| {
            sight != Sight::StatementPrefix || read.statement == running.statement && read.own_row == OwnRow::No
        };
        // What was found before holds until the next commit.
        let known = match running.known.get() {
            known if known.commits == self.commits => known,
            _ => Known::NOTHING,
        };
        let new = running.reads[known.reads..].iter().filter(looks_along).map(|read| self.overwriting(read));
        let overwritten = new.fold(known.overwritten, Position::min);
        running.known.set(Known { commits: self.commits, reads: running.reads.len(), overwritten });
        overwritten
    }

    /// The place of the version after the one that was read.
    fn overwriting(&self, read: &Read) -> Position {
        self.keys[read.key as usize].next_position(self.version_of(read.source, read.key))
    }

    /// A place that the transaction comes after: what it sees, and who wrote (or looked at) what it writes.
    pub(crate) fn lower_bound(&self, txn: Txn) -> Position {
        let state = self.running(txn);
        let mut lower = state.seen.max(state.seen_next);
        match self.txn(txn).sight {
            Sight::Prefix { conflicts: Conflicts::Refused } => {
                for &key in &state.writes {
                    lower = lower.max(self.last_position(key));
                }
            }
            Sight::Everything => {
                for &key in &state.writes {
                    lower =
                        lower.max(self.last_position(key)).max(self.last_looked(key)).max(self.open_looks(txn, key));
                }
            }
            _ => {}
        }
        lower
    }

    fn last_position(&self, key: u32) -> Position {
        self.keys[key as usize].list.last().map_or(Position::FIRST, |last| last.position)
    }

    fn last_looked(&self, key: u32) -> Position {
        let versions = &self.keys[key as usize];
        versions.list.last().map_or(versions.looked, |last| last.looked)
    }

    /// How far the other open transactions that have read the last version of the key see at least.
    fn open_looks(&self, txn: Txn, key: u32) -> Position {
        let last = self.keys[key as usize].list.last().map_or(INIT, |last| last.writer);
        let others = self.open.iter().filter(|&&open| open != txn && self.txn(open).sight.looks_from_a_place());
        let read_it = others.filter(|&&open| {
            let forgotten = |source: Txn| source == INIT || source < self.base;
            let reads = &self.running(open).reads;
            reads.iter().any(|read| read.key == key && (read.source == last || last == INIT && forgotten(read.source)))
        });
        read_it.map(|&open| self.lower_bound_without_looks(open)).max().unwrap_or(Position::FIRST)
    }

    /// How far the snapshots of open transactions reach that are to be exact: nobody may commit before that any more. A
    /// serializable one does not count, because it can be refused when it reads.
    fn exact_looks(&self, txn: Txn) -> Position {
        let others = self.open.iter().filter(|&&open| open != txn && self.txn(open).sight != Sight::Everything);
        let exact = others.map(|&open| self.running(open)).filter(|running| running.looks == Looks::Exact);
        exact.map(|running| running.seen).max().unwrap_or(Position::FIRST)
    }

    /// Its `seen` and, at `ser`, the writers that it comes after; other open transactions' looks bound only commits.
    fn lower_bound_without_looks(&self, txn: Txn) -> Position {
        let state = self.running(txn);
        let writes = state.writes.iter().map(|&key| self.last_position(key).max(self.last_looked(key)));
        let wrote = if self.txn(txn).sight == Sight::Everything { writes.max() } else { None };
        state.seen.max(state.seen_next).max(wrote.unwrap_or(Position::FIRST))
    }

    /// Whether a place is left for a transaction that comes after the one and before the other.
    pub(crate) fn fits(&self, sight: Sight, lower: Position, upper: Position) -> bool {
        match sight {
            Sight::Everything => has_room(lower, upper),
            _ => lower < upper,
        }
    }

    /// Whether the transaction can still commit after writing the key, as things stand.
    pub(crate) fn may_write(&self, txn: Txn, key: u32) -> Result<(), Conflict> {
        let state = self.txn(txn);
        let fine = match state.sight {
            Sight::Prefix { conflicts: Conflicts::Refused } | Sight::Everything => {
                self.fits(state.sight, self.lower_bound(txn), self.overwritten(txn))
            }
            _ => true,
        };
        if fine { Ok(()) } else { Err(Conflict(key)) }
    }

    /// Checks that the transaction can commit and gives it its place.
    pub(crate) fn commit_closed(&mut self, txn: Txn) -> Result<Position, Conflict> {
        let (mut lower, upper) = (self.lower_bound(txn), self.overwritten(txn));
        let sight = self.txn(txn).sight;
        if sight == Sight::Everything && upper != Position::NEVER {
            lower = lower.max(self.exact_looks(txn));
        }
        let read_only = self.running(txn).writes.is_empty();
        self.see_overwritten(txn);
        let conflict = || Conflict(self.conflicting_key(txn));
        let place = match sight {
            Sight::Everything if upper != Position::NEVER => Some(lower),
            Sight::Everything if read_only => Some(lower),
            Sight::Prefix { .. } if !self.fits(sight, lower, upper) => return Err(conflict()),
            Sight::StatementPrefix if !self.rows_are_last(txn) => return Err(conflict()),
            Sight::CausesAndVersions if !self.sees_what_it_read(txn) => return Err(conflict()),
            _ => None,
        };
        let Order::Closed(positions) = &mut self.order else { unreachable!("the order is closed") };
        let position = match place {
            None => positions.append(),
            Some(lower) if upper == Position::NEVER => positions.after(lower),
            Some(lower) => match positions.between(lower, upper) {
                Some(position) => position,
                None => return Err(Conflict(self.conflicting_key(txn))),
            },
        };
        self.remember_looks(txn, if sight == Sight::Everything { position } else { lower });
        Ok(position)
    }

    /// Whoever it overwrites becomes a cause through version order.
    fn see_overwritten(&mut self, txn: Txn) {
        for at in 0..self.running(txn).writes.len() {
            let key = self.running(txn).writes[at];
            if let Some(last) = self.keys[key as usize].list.last().map(|last| last.writer) {
                let (session, number) = self.place(last);
                self.before.join(txn, last);
                let row = self.before.row_mut(txn);
                row[session] = row[session].max(number);
            }
        }
    }

    /// At `psi`: nothing that it read is overwritten by somebody whom it sees.
    fn sees_what_it_read(&self, txn: Txn) -> bool {
        let row = self.before.row(txn);
        self.running(txn).reads.iter().all(|read| {
            let versions = &self.keys[read.key as usize];
            let next = self.version_of(read.source, read.key).map_or(0, |index| index + 1);
            versions.list.get(next).is_none_or(|next| {
                let (session, number) = self.place(next.writer);
                row[session] < number
            })
        })
    }

    /// At `mvrc`: nobody has overwritten a row that it read under its lock. Only transactions of other levels, which
    /// take no locks, can have.
    fn rows_are_last(&self, txn: Txn) -> bool {
        let mut own_rows = self.running(txn).reads.iter().filter(|read| read.own_row == OwnRow::Yes);
        own_rows.all(|read| self.overwriting(read) == Position::NEVER)
    }

    /// A key to blame: one that it read and somebody has overwritten, or one that it writes.
    fn conflicting_key(&self, txn: Txn) -> u32 {
        let state = self.running(txn);
        let overwritten = state.reads.iter().find(|read| self.overwriting(read) != Position::NEVER);
        overwritten.map(|read| read.key).or(state.writes.first().copied()).expect("who neither reads nor writes fits")
    }

    /// Nobody may later put a version between what it read and the place from which it looked.
    fn remember_looks(&mut self, txn: Txn, place: Position) {
        if !self.txn(txn).sight.looks_from_a_place() {
            return;
        }
        for at in 0..self.running(txn).reads.len() {
            let read = self.running(txn).reads[at];
            let index = self.version_of(read.source, read.key);
            let versions = &mut self.keys[read.key as usize];
            let looked = match index {
                Some(index) => &mut versions.list[index].looked,
                None => &mut versions.looked,
            };
            *looked = (*looked).max(place);
        }
    }
}
