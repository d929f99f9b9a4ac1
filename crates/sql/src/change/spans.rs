//! Constraints are about rows, whatever the level conflicts about.
//!
//! Where conflicts are about cells, two transactions can change different columns of one row without meeting: one sets
//! `a`, the other one `b`, and each finds `CHECK (a + b >= 0)` satisfied on what was there before. No database that has
//! constraints allows that. So a constraint that looks at more than the value that is written *spans* cells (a CHECK of
//! several columns, the columns of a unique index with its expressions and predicate, those of a foreign key, a
//! generated column with its base columns), and
//!
//! - whoever writes one of these cells, or inserts or deletes the row, takes the lock of the row's constraints until its
//!   transaction ends ([`Resource::Constraints`]), at every level;
//! - under the lock the constraint is evaluated once on the newest versions, and on what its own transaction wrote;
//! - the store is told what was looked at ([`skew_store::LooksAt`]): the transaction commits after those who wrote it.
//!   Histories say so, and the checker's commit orders respect it.
//!
//! `docs/constraints.md` has the whole definition, kind by kind.

use std::sync::Arc;

use skew_model::Key;
use skew_store::LooksAt;

use crate::client::Constraints;
use crate::error::Result;
use crate::exec::RowRef;
use crate::storage::World;
use crate::storage::conflict::store_error;
use crate::storage::locks::{Duration, Mode, Resource};
use crate::storage::look::Looked;
use crate::storage::table::BoundTable;

/// Whether other transactions may have done something meanwhile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meanwhile {
    Nothing,
    Waited,
}

impl World<'_> {
    /// Takes the lock of what the constraints of these columns span in a row that is about to be written, and looks at it.
    pub(crate) fn hold_spans(&mut self, bound: &Arc<BoundTable>, row: RowRef, columns: &[usize]) -> Result<()> {
        if columns.is_empty() || self.db.options.constraints == Constraints::Weak {
            return Ok(());
        }
        self.lock(&Resource::Constraints(row.key), Mode::Exclusive, Duration::Transaction)?;
        // A new row is inserted without the lock, and seen before its transaction ends at `ru` alone.
        while let Looked::Open(inserters) = self.look_settled(row.key)? {
            self.wait_for_stakes(&inserters)?;
        }
        self.looks_at_row(bound, row.key, columns, LooksAt::OwnRow)
    }

    /// The same for a place at which a row is about to be inserted. A place that never had a row needs no lock, unless
    /// another running transaction has written there: what that one inserted and deleted again hides what others insert.
    pub(crate) fn hold_place(&mut self, bound: &Arc<BoundTable>, row: RowRef) -> Result<Meanwhile> {
        let columns = bound.spanned_at_all();
        let txn = self.txn()?;
        let is_written = self.db.store.writers(Key(row.key)).any(|writer| writer != txn);
        let is_new = !is_written && self.db.store.any_value(Key(row.key)).is_none();
        if is_new || columns.is_empty() || self.db.options.constraints == Constraints::Weak {
            return Ok(Meanwhile::Nothing);
        }
        let (resource, mode) = (Resource::Constraints(row.key), Mode::Exclusive);
        let meanwhile = match self.db.locks.is_free(self.owner(), &resource, mode) {
            true => Meanwhile::Nothing,
            false => Meanwhile::Waited,
        };
        self.lock(&resource, mode, Duration::Transaction)?;
        if meanwhile == Meanwhile::Nothing {
            self.looks_at_row(bound, row.key, &columns, LooksAt::OwnRow)?;
        }
        Ok(meanwhile)
    }

    /// A constraint is evaluated on the newest versions of a row: whether it is there, and these columns.
    pub(crate) fn looks_at_row(
        &mut self,
        bound: &Arc<BoundTable>,
        row: u32,
        columns: &[usize],
        at: LooksAt,
    ) -> Result<()> {
        if self.db.options.constraints == Constraints::Weak {
            return Ok(());
        }
        let txn = self.txn()?;
        let table = bound.table();
        let cells = columns.iter().filter(|position| !table.clustered.contains(position));
        let cells: Vec<u32> = cells.map(|&position| self.cell_key(table, row, table.columns[position].cell)).collect();
        let mut keys = std::iter::once(row).chain(cells);
        keys.try_for_each(|key| self.db.store.look(txn, Key(key), at).map_err(|error| store_error(&error)))
    }
}
