//! What serializable transactions read and write, as PostgreSQL sees it: whole tables, rows, pages, index pages.
//!
//! A sequential scan reads its table, with rows that do not qualify and rows that are inserted later. An index scan reads
//! the rows that it returns and the page of the index where it looked, so it meets rows that others put into the index
//! there. Dependencies follow from that ([`super::ssi`]); the store's own, which are about cells, are a part of them.
//!
//! Pages are modelled by counting, which in PostgreSQL depends on the size of rows: a table or an index with few rows is one
//! page, the pages of a larger table are rows that were made one after the other. What is read of a larger index is a range
//! of keys.

use std::ops::Bound;
use std::sync::Arc;

use skew_model::{Key, Level, TxnId};

use crate::catalog::{Oid, RelationKind, Space, Table};
use crate::client::ChoiceKind;
use crate::error::Result;
use crate::exec::RowRef;
use crate::storage::World;
use crate::storage::conflict::dangerous;
use crate::storage::rows::Range;
use crate::storage::ssi::ReadLock;
use crate::storage::table::{BoundIndex, BoundTable};
use crate::types::Datum;

/// As many rows of three integers make a page of a table.
const MAX_ROWS_OF_ONE_PAGE: usize = 185;
/// As many entries of 20 bytes make a page of an index, which is filled to 90 percent.
const MAX_ENTRIES_OF_ONE_PAGE: usize = 366;

/// Whether PostgreSQL watches the dependencies of transactions at a level.
pub(crate) fn is_watched(level: Level) -> bool {
    level.is_serializable() && !level.is_strict()
}

impl World<'_> {
    /// The transaction, if it is serializable and Skew does as PostgreSQL does.
    fn serializable(&mut self) -> Result<Option<TxnId>> {
        if self.db.options.choice != ChoiceKind::Postgres || !is_watched(self.level()) {
            return Ok(None);
        }
        let txn = self.txn()?;
        Ok(Some(txn).filter(|&txn| self.db.dependencies.has(txn)))
    }

    /// A sequential scan begins.
    pub(super) fn reads_table(&mut self, table: Oid, is_empty: bool) -> Result<()> {
        let Some(txn) = self.serializable()? else { return Ok(()) };
        let dependencies = &mut self.db.dependencies;
        dependencies.lock(txn, ReadLock::Table(table));
        if !is_empty {
            dependencies.check_read(txn).map_err(dangerous)?;
        }
        dependencies.read_table(txn, table).map_err(dangerous)
    }

    /// An index scan looks at a part of an index.
    pub(super) fn reads_index(&mut self, table: &Table, index: Option<Oid>, range: &Range) -> Result<()> {
        let (Some(txn), Some(index)) = (self.serializable()?, index) else { return Ok(()) };
        match self.has_at_most(table.space, MAX_ENTRIES_OF_ONE_PAGE) {
            true => self.db.dependencies.lock(txn, ReadLock::Index(index)),
            false => self.db.dependencies.lock_range(txn, index, (range.from.clone(), range.to.clone())),
        }
        Ok(())
    }

    /// An index scan comes to a row, which the statement sees or not.
    pub(super) fn meets_row(&mut self, row: RowRef) -> Result<()> {
        let Some(txn) = self.serializable()? else { return Ok(()) };
        let key = Key(row.key);
        if self.db.store.any_value(key).is_some() || self.db.store.writers(key).next().is_some() {
            self.db.dependencies.check_read(txn).map_err(dangerous)?;
        }
        self.db.dependencies.read_row(txn, row.table, row.key).map_err(dangerous)
    }

    /// Whether an index entry that the statement does not see leads to a version of its row all the same: it was made beside
    /// the transaction, or removed by whomever since its snapshot.
    pub(super) fn is_entry_changing(&mut self, entry: u32) -> Result<bool> {
        let is_written = self.db.store.writers(Key(entry)).next().is_some();
        Ok(is_written || self.changed_since_snapshot(entry)?)
    }

    /// An index scan returns a row.
    pub(super) fn reads_row(&mut self, row: RowRef) -> Result<()> {
        let Some(txn) = self.serializable()? else { return Ok(()) };
        if !self.db.dependencies.holds(txn, ReadLock::Table(row.table)) {
            let page = self.page_of(row.table, row.key);
            self.db.dependencies.lock_row(txn, row.table, page, row.key);
        }
        Ok(())
    }

    /// A row is about to be changed or deleted, or (`None`) inserted.
    pub(crate) fn overwrites(&mut self, table: Oid, row: Option<u32>) -> Result<()> {
        let Some(txn) = self.serializable()? else { return Ok(()) };
        let page = row.map(|row| self.page_of(table, row));
        let dependencies = &mut self.db.dependencies;
        dependencies.check_write(txn).map_err(dangerous)?;
        if let (Some(row), Some(page)) = (row, page) {
            dependencies.overwrite(txn, ReadLock::Row(table, row)).map_err(dangerous)?;
            dependencies.overwrite(txn, ReadLock::Page(table, page)).map_err(dangerous)?;
        }
        dependencies.overwrite(txn, ReadLock::Table(table)).map_err(dangerous)?;
        if let (Some(row), Some(page)) = (row, page) {
            dependencies.unlock_row(txn, table, page, row);
        }
        Ok(())
    }

    /// A version of a row is made.
    pub(super) fn makes_version(&mut self, row: RowRef) -> Result<()> {
        let Some(txn) = self.serializable()? else { return Ok(()) };
        self.db.dependencies.wrote(txn, row.table, row.key);
        Ok(())
    }

    /// A row with these values gets an entry in an index, or would get one if there were no duplicate.
    pub(crate) fn inserts_entry(
        &mut self,
        bound: &Arc<BoundTable>,
        index: &BoundIndex,
        values: &[Datum],
    ) -> Result<()> {
        let Some(txn) = self.serializable()? else { return Ok(()) };
        let Some(keys) = self.index_values(bound, index, values)? else { return Ok(()) };
        let places: Vec<Vec<u8>> = match index.space {
            // An index has an entry for each number of its first keys.
            Some(_) => (1..=keys.len()).map(|count| index.entry(&keys[..count])).collect(),
            None => vec![index.encode(&keys)],
        };
        let dependencies = &mut self.db.dependencies;
        dependencies.check_write(txn).map_err(dangerous)?;
        dependencies.insert_entry(txn, index.oid, &places).map_err(dangerous)
    }

    /// Entries in all indexes: a version of a row that changes an indexed column gets new ones everywhere.
    pub(super) fn inserts_entries(&mut self, bound: &Arc<BoundTable>, values: &[Datum]) -> Result<()> {
        bound.indexes.iter().try_for_each(|index| self.inserts_entry(bound, index, values))
    }

    /// The page of a table on which a row is. Keys of the store are numbered as they are made, those of a row with its cells
    /// and index entries one after the other.
    fn page_of(&self, table: Oid, row: u32) -> u32 {
        let Some(table) = self.catalog.table(table) else { return 0 };
        if self.has_at_most(table.space, MAX_ROWS_OF_ONE_PAGE) {
            return 0;
        }
        let cells = table.cells.last().map_or(0, |(_, cells)| *cells);
        let indexes = table.indexes.iter().filter_map(|&index| self.catalog.relation(index));
        let entries = indexes.map(|index| match &index.kind {
            RelationKind::Index(index) if index.space.is_some() => index.keys.len() as u32,
            _ => 0,
        });
        let keys_of_row = 1 + cells + entries.sum::<u32>();
        1 + row / (keys_of_row * MAX_ROWS_OF_ONE_PAGE as u32)
    }

    fn has_at_most(&self, space: Space, max_rows: usize) -> bool {
        let rows = self.db.store.range(space, Bound::Unbounded, Bound::Unbounded);
        rows.take(max_rows + 1).count() <= max_rows
    }
}
