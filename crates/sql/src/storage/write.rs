//! Inserting, changing and deleting rows, with their index entries. Constraints are checked elsewhere.

use std::sync::Arc;

use crate::catalog::{Oid, Table};
use crate::client::{ChoiceKind, Granularity};
use crate::error::Result;
use crate::exec::RowRef;
use crate::ir::LockStrength;
use crate::storage::World;
use crate::storage::rows::{existence, list};
use crate::storage::same::equal;
use crate::storage::table::{BoundIndex, BoundKey, BoundTable};
use crate::storage::world::Provisional;
use crate::types::Datum;
use crate::types::encode::encode;

impl World<'_> {
    /// The row of a new tuple: where it is to be.
    pub(crate) fn place_row(&mut self, oid: Oid, table: &Table, values: &[Datum]) -> Result<RowRef> {
        let key = if table.clustered.is_empty() {
            let number = self.db.new_row();
            self.row_at(table, &number.to_be_bytes())
        } else {
            let mut bytes = Vec::with_capacity(16);
            for &position in &table.clustered {
                encode(&mut bytes, &values[position], table.columns[position].typed.ty, false, false);
            }
            self.place_at(table, bytes)?
        };
        Ok(RowRef::seen(oid, key))
    }

    /// Writes a whole new row.
    pub(crate) fn insert_row(&mut self, bound: &Arc<BoundTable>, row: RowRef, values: &[Datum]) -> Result<()> {
        let table = bound.table();
        self.inserts_entries(bound, values)?;
        self.makes_version(row)?;
        self.db.moved.remove(&row.key);
        self.keep_view(row.key, row)?;
        if self.db.options.granularity == Granularity::Row {
            self.write(row.key, Some(list(values.to_vec())))?;
        } else {
            self.write(row.key, Some(existence(values, &table.clustered)))?;
            for (position, column) in table.columns.iter().enumerate() {
                if column.dropped || table.clustered.contains(&position) {
                    continue;
                }
                let cell = self.cell_key(table, row.key, column.cell);
                self.keep_view(cell, row)?;
                self.write(cell, Some(values[position].clone()))?;
            }
        }
        for index in &bound.indexes {
            if let Some(keys) = self.index_values(bound, index, values)? {
                self.write_entries(index, &keys, row, true)?;
            }
        }
        self.wrote();
        Ok(())
    }

    /// Changes columns of a row, which becomes another one if its key changes. The other columns are not looked at,
    /// except for index entries.
    pub(crate) fn update_row(
        &mut self,
        bound: &Arc<BoundTable>,
        row: RowRef,
        changes: &[(usize, Datum)],
    ) -> Result<RowRef> {
        let table = bound.table();
        let old = self.look_row(table, row.key)?;
        let mut new = old.clone();
        for (position, value) in changes {
            new[*position] = value.clone();
        }
        let same = |position: usize| equal(table, position, &old[position], &new[position]);
        if !table.clustered.iter().all(|&position| same(position)) {
            let place = self.place_row(row.table, table, &new)?;
            if place.key != row.key {
                self.delete_row(bound, row)?;
                self.insert_row(bound, place, &new)?;
                let txn = self.txn()?;
                self.db.moved.insert(row.key, (txn, place.key));
                return Ok(place);
            }
        }
        self.overwrites(row.table, Some(row.key))?;
        let changed = |index: &BoundIndex| (0..new.len()).any(|at| !same(at) && index.looks_at_any([at].into_iter()));
        if bound.indexes.iter().any(changed) {
            self.inserts_entries(bound, &new)?;
        }
        self.makes_version(row)?;
        if self.db.options.granularity == Granularity::Row {
            self.keep_view(row.key, row)?;
            self.write(row.key, Some(list(new.clone())))?;
        } else {
            let mut written = 0;
            for (position, value) in changes {
                let is_kept = |position: usize| self.keeps_key(bound, position) && old[position].is_identical(value);
                if table.clustered.contains(position) || is_kept(*position) {
                    continue;
                }
                let cell = self.cell_key(table, row.key, table.columns[*position].cell);
                self.keep_view(cell, row)?;
                self.write(cell, Some(value.clone()))?;
                written += 1;
            }
            if written == 0 {
                self.renew_unchanged(bound, row, &old)?;
            }
            self.renew_locked(row)?;
        }
        for index in &bound.indexes {
            let changed = || changes.iter().map(|(position, _)| *position);
            if index.looks_at_any(changed()) {
                let named: Vec<usize> = changed().collect();
                self.move_entries(bound, index, row, (&old, &new), &named)?;
            }
        }
        self.wrote();
        Ok(row)
    }

    /// Whether a column that is assigned its own value is left alone: PostgreSQL asks whether a key has changed, and a
    /// transaction that keeps the key there does not mind a version with the same one.
    fn keeps_key(&self, bound: &BoundTable, position: usize) -> bool {
        self.db.options.choice == ChoiceKind::Postgres && bound.referable().any(|key| key == position)
    }

    /// In PostgreSQL an update that changes nothing makes a new version too: some cell that is no part of a key shows it.
    fn renew_unchanged(&mut self, bound: &BoundTable, row: RowRef, old: &[Datum]) -> Result<()> {
        let table = bound.table();
        let mut others = (0..table.columns.len()).filter(|&at| {
            !table.columns[at].dropped && !table.clustered.contains(&at) && !bound.referable().any(|key| key == at)
        });
        if self.db.options.choice == ChoiceKind::Postgres
            && let Some(position) = others.next()
        {
            let cell = self.cell_key(table, row.key, table.columns[position].cell);
            self.keep_view(cell, row)?;
            self.write(cell, Some(old[position].clone()))?;
        }
        Ok(())
    }

    /// In PostgreSQL who changes a row that it has locked FOR UPDATE makes a version that counts as one with another key,
    /// for whoever wants to keep the key there.
    fn renew_locked(&mut self, row: RowRef) -> Result<()> {
        let exact = self.db.options.choice == ChoiceKind::Postgres;
        if !exact || !self.db.locks.holds_row(self.owner(), row.key, LockStrength::Update) {
            return Ok(());
        }
        let existence = self.look(row.key)?;
        self.keep_view(row.key, row)?;
        self.write(row.key, existence)
    }

    /// Deletes a row.
    pub(crate) fn delete_row(&mut self, bound: &Arc<BoundTable>, row: RowRef) -> Result<()> {
        let table = bound.table();
        self.overwrites(row.table, Some(row.key))?;
        self.makes_version(row)?;
        if self.rows_are_whole() && !bound.indexes.is_empty() {
            let old = self.look_row(table, row.key)?;
            for index in &bound.indexes {
                if let Some(keys) = self.index_values(bound, index, &old)? {
                    self.write_entries(index, &keys, row, false)?;
                }
            }
        }
        self.keep_view(row.key, row)?;
        self.write(row.key, None)?;
        self.wrote();
        Ok(())
    }

    fn move_entries(
        &mut self,
        bound: &Arc<BoundTable>,
        index: &BoundIndex,
        row: RowRef,
        (old, new): (&[Datum], &[Datum]),
        named: &[usize],
    ) -> Result<()> {
        let before = self.index_values(bound, index, old)?;
        let after = self.index_values(bound, index, new)?;
        let is_whole = self.rows_are_whole();
        for count in 1..=index.keys.len() {
            let [before, after] = [&before, &after].map(|keys| keys.as_ref().map(|keys| index.entry(&keys[..count])));
            let is_named = index.keys[..count].iter().any(|key| match key {
                BoundKey::Column(position) => named.contains(position),
                BoundKey::Expr(_) => true,
            });
            if before == after && (is_whole || !is_named) {
                continue;
            }
            // Where concurrent writers of a row do not exclude each other, an old entry stays: a reader could otherwise miss
            // both the old one and the new one. Reading the cells tells what the row really has.
            if let Some(before) = before.filter(|_| is_whole) {
                self.write_entry(index, before, row, false)?;
            }
            if let Some(after) = after {
                self.write_entry(index, after, row, true)?;
            }
        }
        Ok(())
    }

    /// Writes the entries of a row in an index that has its own space.
    pub(crate) fn write_entries(
        &mut self,
        index: &BoundIndex,
        keys: &[Datum],
        row: RowRef,
        present: bool,
    ) -> Result<()> {
        (1..=keys.len()).try_for_each(|count| self.write_entry(index, index.entry(&keys[..count]), row, present))
    }

    fn write_entry(&mut self, index: &BoundIndex, mut bytes: Vec<u8>, row: RowRef, present: bool) -> Result<()> {
        let Some(space) = index.space else { return Ok(()) };
        bytes.extend(row.key.to_be_bytes());
        let entry = self.db.store.entry(space, &bytes, 0);
        self.keep_view(entry.0, row)?;
        self.write(entry.0, present.then_some(Datum::Bool(true)))
    }

    /// The values of a row's index entry; nothing if the index leaves the row out.
    pub(crate) fn index_values(
        &mut self,
        bound: &Arc<BoundTable>,
        index: &BoundIndex,
        values: &[Datum],
    ) -> Result<Option<Vec<Datum>>> {
        if let Some(condition) = &index.predicate
            && !matches!(self.eval_over(condition, values)?, Datum::Bool(true))
        {
            return Ok(None);
        }
        let _ = bound;
        let mut keys = Vec::with_capacity(index.keys.len());
        for key in &index.keys {
            keys.push(match key {
                BoundKey::Column(position) => values[*position].clone(),
                BoundKey::Expr(expr) => self.eval_over(expr, values)?,
            });
        }
        Ok(Some(keys))
    }

    /// What another part of the statement looks at is kept in the cache as it was before.
    fn keep_view(&mut self, key: u32, row: RowRef) -> Result<()> {
        if !self.around.is_empty() {
            self.keep_views_around(key, row)?;
        }
        self.under_lock.remove(&key);
        if self.seen_across.contains(row.table) {
            if !self.cells.contains_key(&key) {
                self.read(key, RowRef::seen(row.table, row.key))?;
                self.provisional.insert(key, Provisional::Kept);
            }
        } else {
            self.cells.remove(&key);
        }
        Ok(())
    }

    fn wrote(&mut self) {
        if let Some(transaction) = &mut self.session.transaction {
            transaction.wrote = true;
        }
    }
}
