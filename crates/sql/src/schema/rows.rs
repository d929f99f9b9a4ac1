//! What a change of the schema does to rows: filling columns, building indexes, ordering rows anew.
//!
//! What is built becomes the initial state of new cells, so that everybody sees it, whatever the level: nobody could have
//! seen the state before through the new schema.

use std::sync::Arc;

use skew_model::Key;

use crate::catalog::{Oid, Table};
use crate::change::foreign_keys::Deferred;
use crate::client::Granularity;
use crate::error::{Result, SqlError, SqlState};
use crate::exec::RowRef;
use crate::schema::Editor;
use crate::storage::rows::{existence, list};
use crate::storage::table::{BoundIndex, BoundTable};
use crate::storage::world::as_table;
use crate::types::Datum;
use rustc_hash::FxHashSet;

impl Editor<'_, '_> {
    /// Fills a new index.
    pub(super) fn build_index(&mut self, table: Oid, index: Oid) -> Result<()> {
        let bound = self.bound_table(table)?;
        let made = bound.indexes.iter().find(|made| made.oid == index).expect("the index was just made");
        let mut seen = FxHashSet::default();
        self.for_each_row(bound.table(), |world, row| {
            let values = world.look_row(bound.table(), row)?;
            Editor::new(world).build_entry(&bound, made, RowRef::seen(table, row), &values, &mut seen)
        })
    }

    fn build_entry(
        &mut self,
        bound: &Arc<BoundTable>,
        index: &BoundIndex,
        row: RowRef,
        values: &[Datum],
        seen: &mut FxHashSet<Vec<u8>>,
    ) -> Result<()> {
        let Some(keys) = self.index_values(bound, index, values)? else { return Ok(()) };
        if index.unique && !index.is_distinct(&keys) && !seen.insert(index.encode(&keys)) {
            let message = format!("could not create unique index \"{}\"", index.name);
            let error = SqlError::new(SqlState::UNIQUE_VIOLATION, message).constraint(&*index.name);
            let error = match index.key_columns() {
                Some(columns) => {
                    let shown = self.show_key(bound.table(), &columns, &keys);
                    error.detail(format!("Key {shown} is duplicated."))
                }
                None => error,
            };
            return Err(self.of_table(error, bound));
        }
        for (space, count) in index.space.iter().flat_map(|space| (1..=keys.len()).map(move |count| (*space, count))) {
            let mut bytes = index.entry(&keys[..count]);
            bytes.extend(row.key.to_be_bytes());
            let entry = self.db.store.entry(space, &bytes, 0);
            self.db.store.init_new(entry, Datum::Bool(true));
        }
        Ok(())
    }

    /// Orders the rows by the columns of this key, whose index then needs no entries.
    pub(super) fn cluster(&mut self, oid: Oid, keys: &[usize], index: Oid) -> Result<()> {
        self.change_index(index, |index| index.space = None)?;
        self.rewrite(oid, |table| table.clustered = keys.to_vec(), |_, values| Ok(values))
    }

    /// Rewrites all rows into a new space after a change of the table; its indexes are built anew.
    pub(super) fn rewrite(
        &mut self,
        oid: Oid,
        change: impl FnOnce(&mut Table),
        mut convert: impl FnMut(&mut Self, Vec<Datum>) -> Result<Vec<Datum>>,
    ) -> Result<()> {
        let before = self.relation(oid)?;
        let old = as_table(&before)?;
        let mut rows = Vec::new();
        self.for_each_row(old, |world, row| {
            rows.push(world.look_row(old, row)?);
            Ok(())
        })?;
        let space = self.db.store.space();
        self.change_table(oid, |table| {
            change(table);
            table.space = space;
            let mut cells = 0;
            for (at, column) in table.columns.iter_mut().enumerate() {
                if !column.dropped && !table.clustered.contains(&at) {
                    column.cell = cells;
                    cells += 1;
                }
            }
            table.cells = vec![(0, cells)];
            Ok(())
        })?;
        let relation = self.relation(oid)?;
        let table = as_table(&relation)?;
        for &index in &table.indexes {
            let fresh = self.db.store.space();
            self.change_index(index, |index| {
                if index.space.is_some() {
                    index.space = Some(fresh);
                }
            })?;
        }
        let bound = self.bound_table(oid)?;
        let mut seen: Vec<FxHashSet<Vec<u8>>> = bound.indexes.iter().map(|_| FxHashSet::default()).collect();
        for mut values in rows {
            self.check()?;
            values.resize(bound.table().columns.len(), Datum::Null);
            let values = convert(self, values)?;
            let row = self.place_row(oid, bound.table(), &values)?;
            for (index, seen) in bound.indexes.iter().zip(&mut seen) {
                self.build_entry(&bound, index, row, &values, seen)?;
            }
            self.init_row(bound.table(), row.key, &values);
        }
        Ok(())
    }

    fn init_row(&mut self, table: &Table, row: u32, values: &[Datum]) {
        if self.db.options.granularity == Granularity::Row {
            self.db.store.init_new(Key(row), list(values.to_vec()));
            return;
        }
        self.db.store.init_new(Key(row), existence(values, &table.clustered));
        for (position, column) in table.columns.iter().enumerate() {
            if !column.dropped && !table.clustered.contains(&position) {
                let cell = self.cell_key(table, row, column.cell);
                self.db.store.init_new(Key(cell), values[position].clone());
            }
        }
    }

    /// Checks a constraint that was added to a table with rows.
    pub(super) fn check_now(&mut self, check: &Deferred) -> Result<()> {
        self.run_check(check, &mut Vec::new())
    }
}
