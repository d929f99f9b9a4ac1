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
use crate::engine::{Conflict, Engine, Looks, Order, OwnRow, RowLock};
use crate::position::{Position, Positions, has_room};
use crate::running::{Bounds, FEW, Read};
use crate::sight::{Conflicts, Sight};
use crate::versions::{INIT, Txn, next_position};
use crate::writers::numbered;

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
        self.everything_changed();
        let (txns, base) = (&self.txns, self.base);
        // Only these have versions.
        let mut written: Vec<u32> = self.written.iter().copied().collect();
        written.sort_unstable();
        written.dedup();
        for &key in &written {
            let position = |writer: Txn| txns[(writer - base) as usize].position;
            self.versions.place(key, position, |writer| numbered(txns, base, writer));
        }
        for session in 0..self.sessions.len() {
            let last = self.sessions[session].last.filter(|&last| last >= self.base);
            self.sessions[session].last_position = last.map_or(Position::FIRST, |last| self.txn(last).position);
        }
        self.place_lookers();
        self.close_over_versions(&order, &written);
        for at in 0..self.open.len() {
            self.see_sources(self.open[at]);
        }
    }

    /// Turns `before` into `(so ∪ wr ∪ ww)⁺`, going through the transactions in commit order.
    fn close_over_versions(&mut self, order: &[(u64, Txn)], written: &[u32]) {
        let mut writes = vec![Vec::new(); self.txns.len()];
        for &key in written {
            for pair in self.versions.list(key).windows(2) {
                writes[(pair[1].writer - self.base) as usize].push(pair[0].writer);
            }
        }
        // What causes a transaction comes before it in the order, so its row is complete when it is needed: the causes'
        // own rows are joined through the last cause of each session.
        for &(_, txn) in order {
            let causes = self.causes.row(txn).to_vec();
            let mut row = causes.clone();
            for (session, &number) in causes.iter().enumerate().take(self.sessions.len()) {
                let known = number.saturating_sub(self.forgotten[session]) as usize;
                if let Some(&cause) = known.checked_sub(1).and_then(|last| self.sessions[session].txns.get(last)) {
                    join(&mut row, self.before.row(cause));
                }
            }
            for &previous in &writes[(txn - self.base) as usize] {
                let (session, number) = self.place(previous);
                join(&mut row, self.before.row(previous));
                row[session] = row[session].max(number);
            }
            self.before.row_mut(txn).copy_from_slice(&row);
        }
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
        let by_statement = sight == Sight::StatementPrefix;
        let looks_along =
            |at: usize| !by_statement || at >= running.first_read && running.reads[at].own_row == OwnRow::No;
        // What was found before holds, unless somebody has changed versions.
        let mut known = running.known.get();
        if known.commits != self.commits {
            match self.changes_since(known.commits) {
                Some(changes) if known.reads - if by_statement { running.first_read } else { 0 } > FEW => {
                    for writer in changes {
                        let read = |key: u32| running.reads_of(key).any(|at| at < known.reads && looks_along(at));
                        if self.txn(writer).position < known.overwritten && self.writes_of(writer).any(read) {
                            known.overwritten = self.txn(writer).position;
                        }
                    }
                }
                _ => {
                    (known.reads, known.overwritten) =
                        (if by_statement { running.first_read } else { 0 }, Position::NEVER)
                }
            }
            known.commits = self.commits;
        }
        let new = (known.reads..running.reads.len()).filter(|&at| looks_along(at));
        let new = new.map(|at| self.overwriting(&running.reads[at]));
        known.overwritten = new.fold(known.overwritten, Position::min);
        known.reads = running.reads.len();
        running.known.set(known);
        known.overwritten
    }

    /// The place of the version after the one that was read.
    fn overwriting(&self, read: &Read) -> Position {
        next_position(self.versions.list(read.key), self.version_of(read.source, read.key))
    }

    /// A place that the transaction comes after: what it sees, and who wrote (or looked at) what it writes. Between
    /// commits it may miss what others have looked at since.
    pub(crate) fn lower_bound(&self, txn: Txn) -> Position {
        let running = self.running(txn);
        let seen = running.seen.max(running.seen_next);
        let sight = self.txn(txn).sight;
        let looks = match sight {
            Sight::Prefix { conflicts: Conflicts::Refused } => 0,
            Sight::Everything => self.looks - running.looks_made,
            _ => return seen,
        };
        let mut bounds = running.bounds.get();
        if (bounds.commits, bounds.looks) != (self.commits, looks) {
            bounds = Bounds { commits: self.commits, looks, writes: 0, lower: Position::FIRST };
        }
        let new = running.writes[bounds.writes..].iter().map(|write| self.bound_of_write(txn, sight, write.key));
        bounds.lower = new.fold(bounds.lower, Position::max);
        bounds.writes = running.writes.len();
        running.bounds.set(bounds);
        bounds.lower.max(seen)
    }

    fn bound_of_write(&self, txn: Txn, sight: Sight, key: u32) -> Position {
        match sight {
            Sight::Everything => self.last_position(key).max(self.versions.looked(key)).max(self.open_looks(txn, key)),
            _ => self.last_position(key),
        }
    }

    fn last_position(&self, key: u32) -> Position {
        self.versions.list(key).last().map_or(Position::FIRST, |last| last.position)
    }

    /// How far the other open transactions that have read the last version of the key see at least.
    fn open_looks(&self, txn: Txn, key: u32) -> Position {
        let last = self.last_writer(key);
        let forgotten = |source: Txn| source == INIT || source < self.base;
        let others = self.open.iter().filter(|&&open| open != txn && self.txn(open).sight.looks_from_a_place());
        let read_it = others.filter(|&&open| {
            let running = self.running(open);
            let mut sources = running.reads_of(key).map(|at| running.reads[at].source);
            sources.any(|source| source == last || last == INIT && forgotten(source))
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
        let writes =
            state.writes.iter().map(|write| self.last_position(write.key).max(self.versions.looked(write.key)));
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
        let sight = self.txn(txn).sight;
        let upper = self.overwritten(txn);
        let read_only = self.running(txn).writes.is_empty();
        let in_the_middle = sight == Sight::Everything && upper != Position::NEVER;
        if in_the_middle {
            self.running(txn).bounds.take();
        }
        let mut lower = self.lower_bound(txn);
        if in_the_middle && !read_only {
            lower = lower.max(self.exact_looks(txn));
        }
        self.see_overwritten(txn);
        let conflict = || Conflict(self.conflicting_key(txn));
        match sight {
            Sight::Everything if read_only && lower >= upper => return Err(conflict()),
            Sight::Everything if in_the_middle && self.serializable.by_clocks => return Err(conflict()),
            Sight::Prefix { .. } if !self.fits(sight, lower, upper) => return Err(conflict()),
            Sight::StatementPrefix if !self.rows_are_last(txn) => return Err(conflict()),
            Sight::CausesAndVersions if !self.sees_what_it_read(txn) => return Err(conflict()),
            _ => {}
        }
        let Order::Closed(positions) = &mut self.order else { unreachable!("the order is closed") };
        let position = match sight {
            // Nobody can tell where exactly it was.
            Sight::Everything if read_only => lower,
            Sight::Everything if in_the_middle => match positions.between(lower, upper) {
                Some(position) => position,
                None => return Err(Conflict(self.conflicting_key(txn))),
            },
            _ => positions.append(),
        };
        if sight == Sight::Everything {
            self.serialize(txn, in_the_middle);
        }
        self.remember_looks(txn, if sight == Sight::Everything { position } else { lower });
        Ok(position)
    }

    /// Whoever it overwrites becomes a cause through version order.
    fn see_overwritten(&mut self, txn: Txn) {
        for at in 0..self.running(txn).writes.len() {
            let key = self.running(txn).writes[at].key;
            if let Some(last) = self.versions.list(key).last().map(|last| last.writer) {
                self.comes_after(txn, last);
            }
        }
    }

    fn comes_after(&mut self, txn: Txn, other: Txn) {
        let (session, number) = self.place(other);
        if self.before.row(txn)[session] < number {
            self.before.join(txn, other);
            self.before.row_mut(txn)[session] = number;
        }
    }

    /// At `psi`: nothing that it read is overwritten by somebody whom it sees.
    fn sees_what_it_read(&self, txn: Txn) -> bool {
        let row = self.before.row(txn);
        self.running(txn).reads.iter().all(|read| {
            let next = self.version_of(read.source, read.key).map_or(0, |index| index + 1);
            self.versions.list(read.key).get(next).is_none_or(|next| {
                let (session, number) = self.place(next.writer);
                row[session] < number
            })
        })
    }

    /// The transaction holds the lock of the key's row: at `mvrc` its next statements see who has written the key, and who
    /// has held a lock before that excludes this one.
    pub(crate) fn hold(&mut self, txn: Txn, key: u32, lock: RowLock) {
        if self.txn(txn).sight == Sight::StatementPrefix {
            let last = self.last_position(key);
            let known = self.held_until.get(&key).into_iter().flat_map(|kinds| kinds.iter().enumerate());
            let excluded = known.filter(|(kind, _)| lock.excludes & (1 << kind) != 0).map(|(_, position)| *position);
            let held = excluded.max().unwrap_or(Position::FIRST);
            let running = self.running_mut(txn);
            running.seen_next = running.seen_next.max(last).max(held);
            running.held.push((key, last, lock.kind));
        }
    }

    /// The row of the key was gone, so that the lock on it, the last one of this key, is not kept: another transaction may
    /// make the row again.
    pub(crate) fn let_go(&mut self, txn: Txn, key: u32) {
        let running = self.running_mut(txn);
        if let Some(at) = running.held.iter().rposition(|(known, ..)| *known == key) {
            running.held.remove(at);
        }
        let statement = running.statement;
        let is_it = |read: &&mut Read| read.statement == statement && read.key == key && read.own_row == OwnRow::Absent;
        let first = running.first_read;
        running.reads[first..].iter_mut().filter(is_it).for_each(|read| read.own_row = OwnRow::Gone);
    }

    /// Where the transaction looks at one state, who has written the key last is in it.
    pub(crate) fn see_last(&mut self, txn: Txn, key: u32) {
        let Some(last) = self.versions.list(key).last() else { return };
        let (writer, position) = (last.writer, last.position);
        match self.txn(txn).sight {
            Sight::Prefix { .. } | Sight::Everything => {
                let running = self.running_mut(txn);
                running.seen = running.seen.max(position);
                running.seen_next = running.seen_next.max(position);
            }
            Sight::CausesAndVersions => self.comes_after(txn, writer),
            _ => {}
        }
    }

    /// At `mvrc`: nobody has overwritten a row that it read under its lock, or holds and writes. Only transactions of other
    /// levels, which take no locks, can have. A row that was gone is not kept: one that is made in its place is no conflict,
    /// as long as the statement has not seen it elsewhere. A later statement of the reader may change the new row: it
    /// locks that row then.
    ///
    /// ```text
    /// T1  UPDATE … WHERE id = 1   waits for T2      finds no row                        DELETE … WHERE id = 1, commits
    /// T2  DELETE … WHERE id = 1            commits
    /// T3                                                         INSERT id 1, commits
    /// ```
    fn rows_are_last(&self, txn: Txn) -> bool {
        let running = self.running(txn);
        let own_rows = || running.reads.iter().filter(|read| read.own_row != OwnRow::No);
        let position = |source: Txn| match source {
            source if source == INIT || source < self.base => Position::FIRST,
            source => self.txn(source).position,
        };
        let mut rows = own_rows();
        let mut held = running.held.iter().filter(|(key, ..)| running.last_write(*key).is_some());
        rows.all(|read| {
            let overwritten = self.overwriting(read);
            let is_gone = match read.own_row {
                OwnRow::Gone => true,
                OwnRow::Absent => running.last_write(read.key).is_none(),
                OwnRow::No | OwnRow::Yes => false,
            };
            let mut beside = own_rows().filter(|other| other.statement == read.statement);
            overwritten == Position::NEVER || is_gone && beside.all(|other| position(other.source) < overwritten)
        }) && held.all(|&(key, last, _)| self.last_position(key) <= last)
    }

    /// A key to blame: one that it read and somebody has overwritten, or one that it writes.
    fn conflicting_key(&self, txn: Txn) -> u32 {
        let state = self.running(txn);
        let overwritten = state.reads.iter().find(|read| self.overwriting(read) != Position::NEVER);
        overwritten
            .map(|read| read.key)
            .or(state.writes.first().map(|write| write.key))
            .expect("who neither reads nor writes fits")
    }

    /// Nobody may later put a version between what it read and the place from which it looked.
    fn remember_looks(&mut self, txn: Txn, place: Position) {
        if !self.txn(txn).sight.looks_from_a_place() {
            return;
        }
        for at in 0..self.running(txn).reads.len() {
            let read = self.running(txn).reads[at];
            let next = self.version_of(read.source, read.key).map_or(0, |index| index + 1);
            if next == self.versions.list(read.key).len() {
                self.versions.look(read.key, place);
            }
        }
    }
}
