//! Locking rows: who changes a row, or says FOR UPDATE, sees its newest version or none.

use skew_model::Key;
use skew_model::Level;

use crate::error::{Result, SqlError, SqlState};
use crate::exec::{LockOutcome, RowRef};
use crate::ir::{LockStrength, LockWait};
use crate::session::ChoiceKind;
use crate::session::transaction::store_error;
use crate::storage::World;
use crate::storage::locks::{Duration, Mode, Resource, TableMode};
use crate::types::Datum;

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
        if wait != LockWait::Block && !self.db.locks.is_free(self.owner(), &resource, mode) {
            return match wait {
                LockWait::SkipLocked => Ok(LockOutcome::Skipped),
                _ => Err(self.not_available(row)),
            };
        }
        self.lock(&resource, mode, Duration::Transaction)?;
        self.look_again(row)
    }

    /// Locks a row that is about to be written: until the transaction ends where writers lock; elsewhere it only waits
    /// for those who have locked it explicitly.
    pub(crate) fn lock_to_write(&mut self, row: RowRef, strength: LockStrength) -> Result<LockOutcome> {
        let (resource, mode) = (Resource::Row(row.key), Mode::Row(strength));
        if self.writers_lock() {
            self.lock(&resource, mode, Duration::Transaction)?;
            return self.look_again(row);
        }
        let owner = self.owner();
        if !self.db.locks.is_free(owner, &resource, mode) {
            let mark = self.db.locks.mark(owner);
            self.lock(&resource, mode, Duration::Transaction)?;
            self.db.locks.release_since(owner, mark);
            self.db.changed();
            return self.look_again(row);
        }
        Ok(LockOutcome::Locked)
    }

    /// The row is locked: the statement sees its newest version from now on, if it may.
    fn look_again(&mut self, row: RowRef) -> Result<LockOutcome> {
        let keys = self.keys_of(row)?;
        let seen: Vec<(u32, Option<Datum>)> =
            keys.iter().filter_map(|key| self.cells.remove(key).map(|value| (*key, value))).collect();
        let level = self.level();
        let snapshot = matches!(level, Level::Si | Level::Ser | Level::Sser | Level::Psi);
        if snapshot {
            let exact = self.db.options.choice == ChoiceKind::Postgres;
            let keys: Vec<(u32, Option<Datum>)> =
                if exact { keys.into_iter().map(|key| (key, None)).collect() } else { seen.clone() };
            for (key, value) in &keys {
                let changed = match exact {
                    true => self.changed_since_snapshot(*key)?,
                    false => !same(self.look(*key)?.as_ref(), value.as_ref()),
                };
                if changed {
                    let what = if self.look(row.key)?.is_none() { "delete" } else { "update" };
                    let message = format!("could not serialize access due to concurrent {what}");
                    return Err(SqlError::new(SqlState::SERIALIZATION_FAILURE, message));
                }
            }
            self.cells.extend(seen);
            return Ok(LockOutcome::Locked);
        }
        self.newest.insert(row.key);
        let txn = self.txn()?;
        for key in &keys {
            let withdrawn = self.db.store.withdraw_reads(txn, Key(*key), 1);
            withdrawn.map_err(|error| store_error(&error))?;
        }
        if self.read(row.key, row.key)?.is_none() {
            return Ok(LockOutcome::Gone);
        }
        for (key, value) in &seen {
            if !same(self.read(*key, row.key)?.as_ref(), value.as_ref()) {
                return Ok(LockOutcome::Changed(row));
            }
        }
        Ok(LockOutcome::Locked)
    }

    /// The existence cell and the cells of a row.
    fn keys_of(&mut self, row: RowRef) -> Result<Vec<u32>> {
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
    fn changed_since_snapshot(&mut self, key: u32) -> Result<bool> {
        let txn = self.txn()?;
        self.db.store.changed_since_snapshot(txn, Key(key)).map_err(|error| store_error(&error))
    }

    fn not_available(&self, row: RowRef) -> SqlError {
        let name = self.catalog.relation(row.table).map_or_else(String::new, |relation| relation.name.to_string());
        let message = format!("could not obtain lock on row in relation \"{name}\"");
        SqlError::new(SqlState::LOCK_NOT_AVAILABLE, message)
    }
}

/// Whether two cells hold the same for sure. What cannot be told apart cheaply counts as changed, and is checked again.
fn same(one: Option<&Datum>, two: Option<&Datum>) -> bool {
    match (one, two) {
        (None, None) => true,
        (Some(one), Some(two)) => match (one, two) {
            (Datum::Null, Datum::Null) => true,
            (Datum::Bool(one), Datum::Bool(two)) => one == two,
            (Datum::Int(one), Datum::Int(two)) => one == two,
            (Datum::Float(one), Datum::Float(two)) => one.to_bits() == two.to_bits(),
            (Datum::Text(one), Datum::Text(two)) => one == two,
            (Datum::Bytes(one), Datum::Bytes(two)) => one == two,
            (Datum::Date(one), Datum::Date(two)) => one == two,
            (Datum::Time(one), Datum::Time(two)) | (Datum::Timestamp(one), Datum::Timestamp(two)) => one == two,
            (Datum::Uuid(one), Datum::Uuid(two)) => one == two,
            (Datum::Interval(one), Datum::Interval(two)) => one == two,
            (Datum::Numeric(one), Datum::Numeric(two)) => std::sync::Arc::ptr_eq(one, two) || one == two,
            (Datum::Array(one), Datum::Array(two)) => {
                one.items.len() == two.items.len()
                    && one.items.iter().zip(&two.items).all(|(one, two)| same(Some(one), Some(two)))
            }
            (Datum::Jsonb(one), Datum::Jsonb(two)) => std::sync::Arc::ptr_eq(one, two),
            (Datum::Enum(one), Datum::Enum(two)) => one.label == two.label,
            _ => false,
        },
        _ => false,
    }
}
