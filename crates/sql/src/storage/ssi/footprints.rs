//! What serializable transactions have read and written: locks of tables, pages, rows and indexes, which keep nobody out, and
//! the writers of rows.

use std::ops::RangeBounds;

use skew_model::TxnId;

use super::{ByteRange, Checked, Dependencies, ReadLock};
use crate::catalog::Oid;

/// More row locks than this of one page become a lock of the page (`max_pred_locks_per_page`).
const MAX_ROWS_OF_PAGE: usize = 2;
/// More locks than this of one table's rows and pages become a lock of the table (`max_pred_locks_per_relation`).
const MAX_LOCKS_OF_TABLE: usize = 31;

/// More locks than this of one index become a lock of the index.
const MAX_RANGES_OF_INDEX: usize = 31;
/// A transaction that writes more rows of a table than this counts as a writer of all of them.
const MAX_WRITTEN_ROWS: usize = 10_000;

impl Dependencies {
    /// The transaction reads what the lock stands for.
    pub(crate) fn lock(&mut self, txn: TxnId, lock: ReadLock) {
        if self.has(txn) {
            self.locks.entry(lock).or_default().insert(txn);
        }
    }

    /// Whether the transaction has read what the lock stands for.
    pub(crate) fn holds(&self, txn: TxnId, lock: ReadLock) -> bool {
        self.locks.get(&lock).is_some_and(|holders| holders.contains(&txn))
    }

    /// The transaction reads a row of a page, found by an index. Many rows of a page are locked with the page, much of a
    /// table with the table.
    pub(crate) fn lock_row(&mut self, txn: TxnId, table: Oid, page: u32, row: u32) {
        let Some(member) = self.members.get(&txn) else { return };
        let (of_row, of_page) = (ReadLock::Row(table, row), ReadLock::Page(table, page));
        // A transaction's own version is nobody else's to overwrite. What a concurrent writer has committed meanwhile is
        // another version than the one that is read.
        let is_own = self.row_writers.get(&row).is_some_and(|writers| writers.contains(&txn));
        let writers = self.row_writers.get(&row).into_iter().flatten().filter_map(|writer| self.members.get(writer));
        let is_old = writers.filter_map(|writer| writer.committed).any(|committed| committed > member.snapshot);
        if is_own || is_old || [ReadLock::Table(table), of_page, of_row].into_iter().any(|lock| self.holds(txn, lock)) {
            return;
        }
        let Some(member) = self.members.get_mut(&txn) else { return };
        let rows = member.row_locks.entry((table, page)).or_default();
        *rows += 1;
        let locks = member.table_locks.entry(table).or_default();
        let lock = match *rows > MAX_ROWS_OF_PAGE {
            // One lock instead of those of its rows.
            true => {
                *locks = locks.saturating_sub(MAX_ROWS_OF_PAGE - 1);
                of_page
            }
            false => {
                *locks += 1;
                of_row
            }
        };
        let lock = if *locks > MAX_LOCKS_OF_TABLE { ReadLock::Table(table) } else { lock };
        self.locks.entry(lock).or_default().insert(txn);
    }

    /// The transaction overwrites the row itself: whoever else wants to has to wait for it, and is refused then.
    pub(crate) fn unlock_row(&mut self, txn: TxnId, table: Oid, page: u32, row: u32) {
        let lock = ReadLock::Row(table, row);
        let Some(member) = self.members.get_mut(&txn) else { return };
        if self.locks.get_mut(&lock).is_some_and(|holders| holders.remove(&txn)) {
            member.row_locks.entry((table, page)).and_modify(|rows| *rows = rows.saturating_sub(1));
            member.table_locks.entry(table).and_modify(|locks| *locks = locks.saturating_sub(1));
        }
    }

    /// The transaction reads a part of an index of several pages.
    pub(crate) fn lock_range(&mut self, txn: TxnId, index: Oid, range: ByteRange) {
        if !self.has(txn) || self.holds(txn, ReadLock::Index(index)) {
            return;
        }
        let ranges = self.ranges.entry(index).or_default();
        if ranges.iter().filter(|(reader, _)| *reader == txn).count() < MAX_RANGES_OF_INDEX {
            ranges.push((txn, range));
        } else {
            self.lock(txn, ReadLock::Index(index));
        }
    }

    /// The transaction comes to all versions of all rows of a table: it does not see those of concurrent writers.
    pub(crate) fn read_table(&mut self, txn: TxnId, table: Oid) -> Checked {
        let writers = self.table_writers.get(&table).into_iter().flatten().copied().collect();
        self.misses_all(txn, writers)
    }

    /// The same with the versions of one row.
    pub(crate) fn read_row(&mut self, txn: TxnId, table: Oid, row: u32) -> Checked {
        let of_row = self.row_writers.get(&row).into_iter().flatten();
        let writers = of_row.chain(self.bulk_writers.get(&table).into_iter().flatten()).copied().collect();
        self.misses_all(txn, writers)
    }

    /// Versions stand in a table in about the order in which their writers began to write.
    fn misses_all(&mut self, txn: TxnId, mut writers: Vec<TxnId>) -> Checked {
        writers.sort_by_key(|writer| self.members.get(writer).and_then(|member| member.number));
        writers.into_iter().try_for_each(|writer| self.misses(txn, writer))
    }

    /// The transaction overwrites what the holders of a lock have read.
    pub(crate) fn overwrite(&mut self, txn: TxnId, lock: ReadLock) -> Checked {
        let readers: Vec<TxnId> = self.locks.get(&lock).into_iter().flatten().copied().collect();
        readers.into_iter().try_for_each(|reader| self.overwritten(txn, reader))
    }

    /// The transaction inserts an entry into an index, which is found at one of these places.
    pub(crate) fn insert_entry(&mut self, txn: TxnId, index: Oid, places: &[Vec<u8>]) -> Checked {
        self.overwrite(txn, ReadLock::Index(index))?;
        let ranges = self.ranges.get(&index).into_iter().flatten();
        let met = ranges.filter(|(_, range)| places.iter().any(|place| range.contains(place)));
        let readers: Vec<TxnId> = met.map(|(reader, _)| *reader).collect();
        readers.into_iter().try_for_each(|reader| self.overwritten(txn, reader))
    }

    /// The transaction makes a version of a row.
    pub(crate) fn wrote(&mut self, txn: TxnId, table: Oid, row: u32) {
        let Some(member) = self.members.get_mut(&txn) else { return };
        let rows = member.written.entry(table).or_default();
        *rows += 1;
        self.table_writers.entry(table).or_default().insert(txn);
        match *rows > MAX_WRITTEN_ROWS {
            true => self.bulk_writers.entry(table).or_default().insert(txn),
            false => self.row_writers.entry(row).or_default().insert(txn),
        };
    }
}
