//! Locking rows: who changes a row, or says FOR UPDATE, sees its newest version or none.

use skew_model::Key;
use skew_store::RowLock;

use crate::change::Event;
use crate::client::{ChoiceKind, Constraints, Granularity};
use crate::error::{Result, SqlError, SqlState};
use crate::exec::{LockOutcome, RowRef, Run, Tuple};
use crate::ir::{Assignment, LockStrength, LockWait};
use crate::storage::World;
use crate::storage::conflict::{concurrent_delete, concurrent_update, store_error};
use crate::storage::locks::{Duration, Mode, ROW_CONFLICTS, Resource, TableMode};
use crate::storage::same::is_same;
use crate::storage::table::BoundTable;
use crate::storage::world::Provisional;

/// What becomes of the lock of a row whose key another transaction has changed: it is another row of the store then.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moved {
    /// It is locked where it is now.
    Follow,
    /// It is gone.
    IsGone,
}

impl World<'_> {
    /// Locks a row as FOR UPDATE and its kind ask.
    pub(crate) fn lock_row_explicitly(
        &mut self,
        row: RowRef,
        strength: LockStrength,
        wait: LockWait,
    ) -> Result<LockOutcome> {
        self.lock_table(row.table, TableMode::RowShare)?;
        let (resource, mode) = (Resource::Row(row.key), Mode::Row(strength));
        if self.looks_from_exact_snapshot() {
            let minds = self.minds(row, strength)?;
            self.must_be_unchanged(row, strength, &minds)?;
        }
        if wait != LockWait::Block && !self.db.locks.is_free(self.owner(), &resource, mode) {
            return match wait {
                LockWait::SkipLocked => Ok(LockOutcome::Skipped),
                _ => Err(self.not_available(row)),
            };
        }
        let outcome = self.lock_and_look(row, strength, Moved::Follow)?;
        if let LockOutcome::Locked(row) | LockOutcome::Changed(row) = outcome {
            self.has_locked(row.key);
            self.note_lock(row.key, strength);
        }
        if matches!(outcome, LockOutcome::Locked(_)) && self.level().refuses_conflicts() {
            self.see_whole_row(row, strength)?;
        }
        Ok(outcome)
    }

    /// Who locks a row has seen the last change of it, whatever it has read of it: otherwise it cannot lock it.
    fn see_whole_row(&mut self, row: RowRef, strength: LockStrength) -> Result<()> {
        let txn = self.txn()?;
        for key in self.minds(row, strength)?.into_iter().map(Key) {
            let store = &mut self.db.store;
            if !store.may_read_latest(txn, key).map_err(|error| store_error(&error))? {
                return Err(concurrent_update());
            }
            store.see_latest(txn, key).map_err(|error| store_error(&error))?;
        }
        Ok(())
    }

    /// Locks a row that is about to be written: until the transaction ends where writers lock, and where a key goes that
    /// foreign keys refer to; elsewhere it only waits for those who have locked it explicitly.
    pub(crate) fn lock_to_write(&mut self, row: RowRef, strength: LockStrength) -> Result<LockOutcome> {
        self.lock_here_or_moved(row, strength, Moved::Follow)
    }

    /// The same for a row that is to be written only as long as it is where it is: a row that has moved is gone.
    pub(crate) fn lock_in_place(&mut self, row: RowRef, strength: LockStrength) -> Result<LockOutcome> {
        self.lock_here_or_moved(row, strength, Moved::IsGone)
    }

    fn lock_here_or_moved(&mut self, row: RowRef, strength: LockStrength, moved: Moved) -> Result<LockOutcome> {
        if self.writers_lock() {
            return self.lock_and_look(row, strength, moved);
        }
        let (resource, mode) = (Resource::Row(row.key), Mode::Row(strength));
        let owner = self.owner();
        let takes_key = strength == LockStrength::Update
            && self.db.options.constraints == Constraints::Strong
            && !self.bound_table(row.table)?.referrers.is_empty();
        let is_free = self.db.locks.is_free(owner, &resource, mode);
        if !is_free || takes_key {
            let mark = self.db.locks.mark(owner);
            self.lock(&resource, mode, Duration::Transaction)?;
            if !takes_key {
                self.db.in_pieces(|db| db.locks.release_since(owner, mark));
                self.db.changed();
            }
        }
        if is_free { Ok(LockOutcome::Locked(row)) } else { self.look_again(row, strength) }
    }

    /// Locks a row until the transaction ends. One that is not there any more stays unlocked.
    fn lock_and_look(&mut self, row: RowRef, strength: LockStrength, moved: Moved) -> Result<LockOutcome> {
        let owner = self.owner();
        let mark = self.db.locks.mark(owner);
        let (resource, mode) = (Resource::Row(row.key), Mode::Row(strength));
        if self.looks_from_exact_snapshot() {
            let minds = self.minds(row, strength)?;
            self.lock_unless_changed(&resource, mode, &minds)?;
        } else {
            self.lock(&resource, mode, Duration::Transaction)?;
        }
        let outcome = self.look_again(row, strength)?;
        if outcome == LockOutcome::Gone {
            self.db.in_pieces(|db| db.locks.release_since(owner, mark));
            self.db.changed();
            // Where it went it is another row for us, and the same one for whoever follows it.
            if let Some(&(_, place)) = self.db.moved.get(&row.key)
                && self.level().looks_at_statements()
                && moved == Moved::Follow
            {
                return Ok(match self.lock_and_look(RowRef::seen(row.table, place), strength, moved)? {
                    LockOutcome::Locked(row) => LockOutcome::Changed(row.newest()),
                    other => other,
                });
            }
        }
        Ok(outcome)
    }

    /// The row is locked: the statement sees its newest version from now on, if it may.
    fn look_again(&mut self, row: RowRef, strength: LockStrength) -> Result<LockOutcome> {
        match self.level() {
            level if level.has_one_snapshot() || level.refuses_conflicts() => {
                let minds = self.minds(row, strength)?;
                return self.must_be_unchanged(row, strength, &minds);
            }
            level if level.looks_at_statements() && strength == LockStrength::KeyShare => {
                let minds = self.minds(row, strength)?;
                self.hold(&minds, strength)?;
                if !self.have_changed(&minds)? {
                    return Ok(LockOutcome::Locked(row));
                }
            }
            _ => {}
        }
        let keys = self.keys_of(row)?;
        self.hold(&keys, strength)?;
        let mut seen = Vec::new();
        for key in keys.iter().copied().chain(self.found_by.remove(&row.key)) {
            if self.provisional.get(&key) == Some(&Provisional::Sought) {
                seen.push((key, self.withdraw(key)?));
            } else if let Some(value) = self.cells.get(&key) {
                seen.push((key, value.clone()));
            }
        }
        let newest = row.newest();
        if self.read(row.key, newest)?.is_none() {
            self.let_go(&keys)?;
            return Ok(LockOutcome::Gone);
        }
        for (key, seen) in seen {
            if !is_same(self.read(key, newest)?.as_ref(), seen.as_ref()) {
                return Ok(LockOutcome::Changed(newest));
            }
        }
        Ok(LockOutcome::Locked(newest))
    }

    /// The row of these keys is locked: who has written it last is seen by the statements that follow, and who has had a
    /// lock that excludes this one.
    pub(crate) fn hold(&mut self, keys: &[u32], strength: LockStrength) -> Result<()> {
        let txn = self.txn()?;
        let lock = RowLock { kind: strength as usize, excludes: ROW_CONFLICTS[strength as usize] };
        keys.iter().try_for_each(|key| self.db.store.hold(txn, Key(*key), lock).map_err(|error| store_error(&error)))
    }

    /// The row of these keys was gone when it was locked, and the lock is not kept.
    fn let_go(&mut self, keys: &[u32]) -> Result<()> {
        let txn = self.txn()?;
        keys.iter().try_for_each(|key| self.db.store.let_go(txn, Key(*key)).map_err(|error| store_error(&error)))
    }

    /// Where all statements look from one snapshot, a row that has changed since cannot be locked.
    fn must_be_unchanged(&mut self, row: RowRef, strength: LockStrength, keys: &[u32]) -> Result<LockOutcome> {
        if !self.have_changed(keys)? {
            self.must_see_changes(row, keys)?;
            // Exact snapshots show the newest version then; others have to be asked for it.
            let shown = strength == LockStrength::KeyShare || self.db.options.choice == ChoiceKind::Postgres;
            return Ok(LockOutcome::Locked(if shown { row } else { row.newest() }));
        }
        let is_deleted = self.look(row.key)?.is_none() && !self.db.moved.contains_key(&row.key);
        Err(if is_deleted { concurrent_delete() } else { concurrent_update() })
    }

    /// Where writers lock whole rows they conflict by rows: what others have changed of one meanwhile has to be seen, even
    /// if the statement does not need it.
    fn must_see_changes(&mut self, row: RowRef, keys: &[u32]) -> Result<()> {
        if self.writers_lock() {
            for &key in keys {
                if self.changed_since_snapshot(key)? {
                    self.read(key, row.newest())?;
                }
            }
        }
        Ok(())
    }

    /// Whether somebody has committed other values of cells: since the snapshot where snapshots are exact, else than what
    /// the statement has seen.
    pub(super) fn have_changed(&mut self, keys: &[u32]) -> Result<bool> {
        let exact = self.db.options.choice == ChoiceKind::Postgres;
        for &key in keys {
            let changed = match (exact, self.cells.get(&key).cloned()) {
                (true, _) => self.changed_since_snapshot(key)?,
                (false, Some(seen)) => {
                    // What was changed and changed back is not what it was.
                    let txn = self.txn()?;
                    let is_latest =
                        self.db.store.may_read_latest(txn, Key(key)).map_err(|error| store_error(&error))?;
                    !is_latest || !is_same(self.look(key)?.as_ref(), seen.as_ref())
                }
                (false, None) => false,
            };
            if changed {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn looks_from_exact_snapshot(&self) -> bool {
        self.db.options.choice == ChoiceKind::Postgres && self.level().has_one_snapshot()
    }

    /// The cells of a row whose changes matter to who locks it so: who only keeps the key there does not mind others.
    fn minds(&mut self, row: RowRef, strength: LockStrength) -> Result<Vec<u32>> {
        if strength != LockStrength::KeyShare {
            return self.keys_of(row);
        }
        let bound = self.bound_table(row.table)?;
        let table = bound.table();
        let mut keys = vec![row.key];
        for position in bound.referable() {
            if !table.clustered.contains(&position) {
                keys.push(self.cell_key(table, row.key, table.columns[position].cell));
            }
        }
        Ok(keys)
    }

    /// The existence cell and the cells of a row.
    pub(crate) fn keys_of(&mut self, row: RowRef) -> Result<Vec<u32>> {
        if self.db.options.granularity == Granularity::Row {
            return Ok(vec![row.key]);
        }
        let relation = self.relation(row.table)?;
        let table = crate::storage::world::as_table(&relation)?;
        let mut keys = vec![row.key];
        for (position, column) in table.columns.iter().enumerate() {
            if !column.dropped && !table.clustered.contains(&position) {
                keys.push(self.cell_key(table, row.key, column.cell));
            }
        }
        Ok(keys)
    }

    /// Whether somebody has committed a version of a cell since the transaction's snapshot.
    pub(crate) fn changed_since_snapshot(&mut self, key: u32) -> Result<bool> {
        let txn = self.txn()?;
        self.db.store.changed_since_snapshot(txn, Key(key)).map_err(|error| store_error(&error))
    }

    /// The transaction has locked a row without changing it: the row's `xmax` shows it.
    pub(super) fn has_locked(&mut self, row: u32) {
        if let Some(transaction) = &mut self.session.transaction {
            transaction.locked_rows.insert(row);
        }
    }

    /// How strongly a row is locked whose columns get new values: UPDATE if others may refer to one of them.
    pub(super) fn strength(&self, bound: &BoundTable, mut columns: impl Iterator<Item = usize>) -> LockStrength {
        let in_key = |position: usize| bound.referable().any(|key| key == position);
        if columns.any(in_key) { LockStrength::Update } else { LockStrength::NoKeyUpdate }
    }

    /// How strongly an UPDATE locks a row of a tuple: a key column that gets the value that it has is no change of the key.
    /// BEFORE triggers may change whatever the statement names.
    pub(super) fn strength_of_update<'p>(
        &mut self,
        bound: &BoundTable,
        assignments: &'p [Assignment],
        (row, tuple): (RowRef, &Tuple),
        run: &mut Run<'p>,
    ) -> Result<LockStrength> {
        for assignment in assignments {
            let position = assignment.column;
            if !bound.referable().any(|key| key == position) {
                continue;
            }
            if bound.has_before_triggers(Event::Update) || assignment.value.is_volatile() {
                return Ok(LockStrength::Update);
            }
            let new = run.eval(self, &assignment.value, tuple)?;
            // A lock's strength is no look of the statement: the row that is really there decides.
            if !self.look_column(bound.table(), row.key, position)?.is_identical(&new) {
                return Ok(LockStrength::Update);
            }
        }
        Ok(LockStrength::NoKeyUpdate)
    }

    fn not_available(&self, row: RowRef) -> SqlError {
        let name = self.catalog.relation(row.table).map_or_else(String::new, |relation| relation.name.to_string());
        let message = format!("could not obtain lock on row in relation \"{name}\"");
        SqlError::new(SqlState::LOCK_NOT_AVAILABLE, message)
    }
}
