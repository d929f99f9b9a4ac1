//! Scans: which rows an access path leads to, whether they exist, and what their cells hold.

use std::ops::Bound;

use skew_model::Key;

use crate::catalog::{Index, IndexKeyKind, Oid, RelationKind, Space, Table};
use crate::client::Granularity;
use crate::error::{Result, SqlError};
use crate::exec::{AccessRange, RowCursor, RowRef};
use crate::storage::World;
use crate::storage::locks::TableMode;
use crate::storage::table::entry_tag;
use crate::storage::world::as_table;
use crate::types::encode::encode;
use crate::types::{ArrayValue, Datum, Type};

/// A range of a space.
pub(crate) struct Range {
    pub(crate) from: Bound<Vec<u8>>,
    pub(crate) to: Bound<Vec<u8>>,
}

impl World<'_> {
    /// Begins to look at rows.
    pub(crate) fn open_scan(&mut self, oid: Oid, access: &AccessRange) -> Result<RowCursor> {
        let relation = self.relation(oid)?;
        let table = as_table(&relation)?;
        self.lock_table(oid, TableMode::AccessShare)?;
        let mut cursor = RowCursor::default();
        match access {
            AccessRange::Index { index, equal, from, to } if self.may_use(*index)? => {
                let relation = self.relation(*index)?;
                let RelationKind::Index(index) = &relation.kind else {
                    return Err(SqlError::unsupported("a lookup in something that is no index"));
                };
                cursor.index = Some(relation.oid);
                for values in equal {
                    cursor.look = None;
                    self.open_range(oid, table, index, values, (from.as_ref(), to.as_ref()), &mut cursor)?;
                }
            }
            _ => {
                let everything = Range { from: Bound::Unbounded, to: Bound::Unbounded };
                let (keys, look) = self.note(table.space, &everything)?;
                cursor.look = Some(look);
                self.reads_table(oid, keys.is_empty())?;
                cursor.candidates.extend(keys.into_iter().map(|key| (RowRef::seen(oid, key.0), None)));
            }
        }
        Ok(cursor)
    }

    /// The next row that exists for the statement.
    pub(crate) fn next_in_scan(&mut self, cursor: &mut RowCursor) -> Result<Option<RowRef>> {
        while let Some(&(row, entry)) = cursor.candidates.get(cursor.reached) {
            cursor.reached += 1;
            self.check()?;
            let looks_again = cursor.seeks && self.level().looks_at_statements();
            let row = if looks_again { row.sought() } else { row };
            let is_found = match entry {
                Some(entry) => self.read(entry, row)?.is_some(),
                None => true,
            };
            let comes_to_it = |world: &mut Self| match entry {
                Some(entry) if !is_found => world.is_entry_changing(entry),
                _ => Ok(true),
            };
            if cursor.index.is_some() && comes_to_it(self)? {
                self.meets_row(row)?;
            }
            if let Some(entry) = entry {
                if !is_found {
                    continue;
                }
                if looks_again {
                    self.found_by.insert(row.key, entry);
                }
            }
            if self.read(row.key, row)?.is_some() {
                if cursor.index.is_some() {
                    self.reads_row(row)?;
                }
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    /// A scan ends before its end: rows that are made behind the last one that was reached are not in its way.
    pub(crate) fn stop_scan(&mut self, cursor: &RowCursor) -> Result<()> {
        let reached = cursor.reached.checked_sub(1).and_then(|last| cursor.candidates.get(last));
        let (Some(look), Some((row, entry))) = (cursor.look, reached) else { return Ok(()) };
        let Some((_, bytes)) = self.db.store.at(Key(entry.unwrap_or(row.key))) else { return Ok(()) };
        let bytes = bytes.to_vec();
        let last = Bound::Included(&bytes[..]);
        let (from, to) = if cursor.backwards { (last, Bound::Unbounded) } else { (Bound::Unbounded, last) };
        let txn = self.txn()?;
        let narrowed = self.db.store.narrow_range(txn, look, from, to);
        narrowed.map_err(|error| crate::storage::conflict::store_error(&error))
    }

    /// The value of a column.
    pub(crate) fn read_column(&mut self, row: RowRef, position: usize) -> Result<Datum> {
        // What is there to know of the column, without holding on to its table.
        if let Some(table) = self.catalog.table(row.table)
            && self.db.options.granularity == Granularity::Cell
        {
            if let Some(at) = table.clustered.iter().position(|&clustered| clustered == position) {
                let of = table.clustered.len();
                let existence = self.read(row.key, row)?;
                return Ok(key_part(existence.as_ref(), at, of));
            }
            if let Some(cell) = cell_in_place(table, row.key, table.columns[position].cell)
                && let Some(value) = self.read(cell, row)?
            {
                return Ok(value);
            }
        }
        let relation = self.relation(row.table)?;
        let table = as_table(&relation)?;
        let column = &table.columns[position];
        let value = match self.db.options.granularity {
            Granularity::Row => field(self.read(row.key, row)?.as_ref(), position),
            Granularity::Cell => {
                let cell = self.cell_key(table, row.key, column.cell);
                self.read(cell, row)?
            }
        };
        Ok(value.unwrap_or_else(|| column.missing.clone()))
    }

    /// The store's key of a cell: the row's, where rows are one key.
    pub(crate) fn cell_key(&mut self, table: &Table, row: u32, cell: u32) -> u32 {
        if self.db.options.granularity == Granularity::Row {
            return row;
        }
        if let Some(key) = cell_in_place(table, row, cell) {
            return key;
        }
        let state = &mut *self.db;
        state.added_cells.entry((row, cell)).or_insert_with(|| state.store.cells(1)).0
    }

    /// Weak levels let cells of one row come from different transactions, so an entry over several cells, or over a
    /// condition, may be missing for a row that has the values.
    fn may_use(&self, index: Oid) -> Result<bool> {
        let relation = self.relation(index)?;
        let RelationKind::Index(index) = &relation.kind else { return Ok(false) };
        let plain =
            index.predicate.is_none() && index.keys.iter().all(|key| matches!(key.what, IndexKeyKind::Column(_)));
        Ok(plain || self.rows_are_whole())
    }

    /// Whether concurrent writers of one row exclude each other.
    pub(crate) fn rows_are_whole(&self) -> bool {
        let level = self.level();
        level.looks_at_statements()
            || level.refuses_conflicts()
            || level.has_one_snapshot()
            || self.db.options.granularity == Granularity::Row
    }

    fn open_range(
        &mut self,
        oid: Oid,
        table: &Table,
        index: &Index,
        equal: &[Datum],
        (from, to): (Option<&(Datum, bool)>, Option<&(Datum, bool)>),
        cursor: &mut RowCursor,
    ) -> Result<()> {
        let Some(space) = index.space else {
            return self.open_clustered(oid, table, index, equal, (from, to), cursor);
        };
        let whole = self.rows_are_whole();
        let first = if whole { equal } else { &equal[..equal.len().min(1)] };
        let bounds = if first.len() == equal.len() { (from, to) } else { (None, None) };
        let range = self.range_of(table, index, first, bounds)?;
        self.reads_index(table, cursor.index, &range)?;
        let (entries, look) = self.note(space, &range)?;
        cursor.look = cursor.candidates.is_empty().then_some(look);
        for entry in entries {
            let row = self.row_of_entry(entry);
            cursor.candidates.push((RowRef::seen(oid, row), Some(entry.0)));
        }
        Ok(())
    }

    fn open_clustered(
        &mut self,
        oid: Oid,
        table: &Table,
        index: &Index,
        equal: &[Datum],
        (from, to): (Option<&(Datum, bool)>, Option<&(Datum, bool)>),
        cursor: &mut RowCursor,
    ) -> Result<()> {
        if equal.len() == index.keys.len() {
            // One row: its existence cell is read, there or not. Nothing else could appear.
            let bytes = self.encode_key(table, index, equal)?;
            let key = self.row_at(table, &bytes);
            let to = after(bytes.clone()).map_or(Bound::Unbounded, Bound::Excluded);
            self.reads_index(table, cursor.index, &Range { from: Bound::Included(bytes), to })?;
            cursor.candidates.push((RowRef::seen(oid, key), None));
            cursor.candidates.extend(self.rows_again(key).into_iter().map(|key| (RowRef::seen(oid, key), None)));
            return Ok(());
        }
        let range = self.range_of(table, index, equal, (from, to))?;
        self.reads_index(table, cursor.index, &range)?;
        let (keys, look) = self.note(table.space, &range)?;
        cursor.look = cursor.candidates.is_empty().then_some(look);
        cursor.candidates.extend(keys.into_iter().map(|key| (RowRef::seen(oid, key.0), None)));
        Ok(())
    }

    /// The row of a space at these bytes, made if it was never there.
    pub(crate) fn row_at(&mut self, table: &Table, bytes: &[u8]) -> u32 {
        let cells = match self.db.options.granularity {
            Granularity::Cell => table.cells.last().map_or(0, |(_, cells)| *cells),
            Granularity::Row => 0,
        };
        self.db.store.entry(table.space, bytes, cells).0
    }

    /// The row that an index entry leads to.
    pub(crate) fn row_of_entry(&self, entry: Key) -> u32 {
        let (_, bytes) = self.db.store.at(entry).expect("an entry has its place in a space");
        let tail = bytes.last_chunk::<4>().expect("an entry ends with its row");
        u32::from_be_bytes(*tail)
    }

    /// The keys of a range, which the statement has looked at from now on, and the number of this look.
    fn note(&mut self, space: Space, range: &Range) -> Result<(Vec<Key>, usize)> {
        let txn = self.txn()?;
        let (from, to) = (as_slice(&range.from), as_slice(&range.to));
        let keys = self.db.store.range(space, from, to).collect();
        let noted = self.db.store.note_range(txn, space, from, to);
        let look = noted.map_err(|error| crate::storage::conflict::store_error(&error))?;
        Ok((keys, look))
    }

    /// The bytes of index values.
    pub(crate) fn encode_key(&self, table: &Table, index: &Index, values: &[Datum]) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(16);
        for (key, value) in index.keys.iter().zip(values) {
            let ty = key_type(table, &key.what);
            encode(&mut bytes, value, ty, key.descending, key.nulls_first);
        }
        Ok(bytes)
    }

    /// The range of an index: equal on the first keys, between the bounds on the next one.
    fn range_of(
        &self,
        table: &Table,
        index: &Index,
        equal: &[Datum],
        (from, to): (Option<&(Datum, bool)>, Option<&(Datum, bool)>),
    ) -> Result<Range> {
        let used = equal.len() + usize::from(from.is_some() || to.is_some());
        let mut prefix = Vec::from_iter(index.space.map(|_| entry_tag(used)));
        prefix.extend(self.encode_key(table, index, equal)?);
        let next = index.keys.get(equal.len());
        let (from, to) = if next.is_some_and(|key| key.descending) { (to, from) } else { (from, to) };
        let bytes = |value: &Datum| {
            let mut bytes = prefix.clone();
            if let Some(key) = next {
                encode(&mut bytes, value, key_type(table, &key.what), key.descending, key.nulls_first);
            }
            bytes
        };
        let from = match from {
            None if prefix.is_empty() => Bound::Unbounded,
            None => Bound::Included(prefix.clone()),
            Some((value, true)) => Bound::Included(bytes(value)),
            Some((value, false)) => after(bytes(value)).map_or(Bound::Unbounded, Bound::Included),
        };
        let to = match to {
            None => after(prefix.clone()).map_or(Bound::Unbounded, Bound::Excluded),
            Some((value, true)) => after(bytes(value)).map_or(Bound::Unbounded, Bound::Excluded),
            Some((value, false)) => Bound::Excluded(bytes(value)),
        };
        Ok(Range { from, to })
    }
}

/// The store's key of a cell that is right after its row: the column was there when the row was made.
fn cell_in_place(table: &Table, row: u32, cell: u32) -> Option<u32> {
    let since = table.cells.iter().rev().find(|(first, _)| row >= *first);
    since.is_some_and(|(_, cells)| cell < *cells).then_some(row + 1 + cell)
}

/// The type of an index key. Expressions are kept with the type that they were encoded with.
pub(crate) fn key_type(table: &Table, what: &IndexKeyKind) -> Type {
    match what {
        IndexKeyKind::Column(position) => table.columns[*position].typed.ty,
        IndexKeyKind::Expr(expr) => expr.ty(),
    }
}

/// The first bytes after everything that begins with these.
pub(crate) fn after(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    while let Some(last) = bytes.pop() {
        if last < u8::MAX {
            bytes.push(last + 1);
            return Some(bytes);
        }
    }
    None
}

pub(crate) fn as_slice(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    match bound {
        Bound::Included(bytes) => Bound::Included(bytes),
        Bound::Excluded(bytes) => Bound::Excluded(bytes),
        Bound::Unbounded => Bound::Unbounded,
    }
}

/// What an existence cell holds: the values of the clustered columns.
pub(crate) fn existence(values: &[Datum], clustered: &[usize]) -> Datum {
    match clustered {
        [] => Datum::Bool(true),
        [only] => values[*only].clone(),
        several => list(several.iter().map(|&position| values[position].clone()).collect()),
    }
}

/// A list of values in one cell.
pub(crate) fn list(items: Vec<Datum>) -> Datum {
    Datum::Array(ArrayValue { element: Type::ANY, dimensions: Vec::new(), items }.into())
}

/// One of the clustered columns.
pub(crate) fn key_part(existence: Option<&Datum>, at: usize, of: usize) -> Datum {
    match existence {
        Some(only) if of == 1 => only.clone(),
        whole => field(whole, at).unwrap_or_default(),
    }
}

/// One of a list of values.
pub(crate) fn field(whole: Option<&Datum>, at: usize) -> Option<Datum> {
    match whole {
        Some(Datum::Array(list)) => list.items.get(at).cloned(),
        _ => None,
    }
}
