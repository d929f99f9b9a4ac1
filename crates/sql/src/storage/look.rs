//! The committed state, as constraints look at it: not recorded as reads, because every database enforces constraints on
//! what is really there, whatever the level.

use skew_model::Key;
use skew_model::TxnId;

use crate::catalog::{Oid, Table};
use crate::client::Granularity;
use crate::error::Result;
use crate::session::database::State;
use crate::storage::World;
use crate::storage::locks::Owner;
use crate::storage::rows::{field, key_part};
use crate::types::Datum;

/// What is really in a cell.
#[derive(Clone, Debug)]
pub(crate) enum Looked {
    /// This, by a committed transaction or by our own.
    Settled(Option<Datum>),
    /// These running transactions have written it and have not ended.
    Open(Vec<Stake>),
}

/// What a running transaction is about to change.
#[derive(Clone, Debug)]
pub(crate) enum Stake {
    /// It has written a cell.
    Cell { txn: TxnId, cell: u32 },
    /// It is about to put a key into a unique index.
    Claim { owner: Owner, claim: Claim },
}

/// A key of a unique index, encoded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Claim {
    pub(crate) index: Oid,
    pub(crate) key: Vec<u8>,
}

impl Stake {
    /// Who has it, as long as it has not come to an end or been taken back.
    pub(crate) fn holder(&self, state: &State) -> Option<Owner> {
        match self {
            Stake::Cell { txn, cell } => {
                let owner = state.running.get(txn).copied()?;
                state.store.writers(Key(*cell)).any(|writer| writer == *txn).then_some(owner)
            }
            Stake::Claim { owner, claim } => {
                state.claims.get(owner).is_some_and(|claims| claims.contains(claim)).then_some(*owner)
            }
        }
    }
}

impl World<'_> {
    /// What a cell holds: our own write, else the last committed one.
    pub(crate) fn look(&mut self, key: u32) -> Result<Option<Datum>> {
        let txn = self.txn()?;
        Ok(match self.db.store.own_write(txn, Key(key)) {
            Some(own) => own.cloned(),
            None => self.db.store.latest(Key(key)).cloned(),
        })
    }

    /// The same, unless somebody else is about to change it.
    pub(crate) fn look_settled(&mut self, key: u32) -> Result<Looked> {
        let txn = self.txn()?;
        if let Some(own) = self.db.store.own_write(txn, Key(key)) {
            return Ok(Looked::Settled(own.cloned()));
        }
        let others = self.db.store.writers(Key(key)).filter(|&writer| writer != txn);
        let writers: Vec<Stake> = others.map(|txn| Stake::Cell { txn, cell: key }).collect();
        if writers.is_empty() {
            return Ok(Looked::Settled(self.db.store.latest(Key(key)).cloned()));
        }
        Ok(Looked::Open(writers))
    }

    /// A column of a row, as it really is. A row that is gone, and that the transaction still sees, is as it was.
    pub(crate) fn look_column(&mut self, table: &Table, row: u32, position: usize) -> Result<Datum> {
        let column = &table.columns[position];
        let value = if self.db.options.granularity == Granularity::Row {
            field(self.look_or_remember(row, row)?.as_ref(), position)
        } else if let Some(at) = table.clustered.iter().position(|&clustered| clustered == position) {
            Some(key_part(self.look_or_remember(row, row)?.as_ref(), at, table.clustered.len()))
        } else {
            let cell = self.cell_key(table, row, column.cell);
            self.look_or_remember(cell, row)?
        };
        Ok(value.unwrap_or_else(|| column.missing.clone()))
    }

    /// What a column of a row holds in its committed versions.
    pub(crate) fn column_versions(&mut self, table: &Table, row: u32, position: usize) -> Vec<Datum> {
        let column = &table.columns[position];
        if self.db.options.granularity == Granularity::Row {
            return self.db.store.values(Key(row)).filter_map(|value| field(Some(value), position)).collect();
        }
        if let Some(at) = table.clustered.iter().position(|&clustered| clustered == position) {
            let width = table.clustered.len();
            return self
                .db
                .store
                .any_value(Key(row))
                .map(|value| key_part(Some(value), at, width))
                .into_iter()
                .collect();
        }
        let cell = self.cell_key(table, row, column.cell);
        let held: Vec<Datum> = self.db.store.values(Key(cell)).cloned().collect();
        if held.is_empty() { vec![column.missing.clone()] } else { held }
    }

    /// What a cell of a row holds; if the row is not there, what somebody has written to the cell.
    fn look_or_remember(&mut self, cell: u32, row: u32) -> Result<Option<Datum>> {
        let held = self.look(cell)?;
        if held.is_none() && self.look(row)?.is_none() {
            return Ok(self.db.store.any_value_of_anybody(Key(cell)).cloned());
        }
        Ok(held)
    }

    /// A whole row, as it really is. Dropped columns are NULL.
    pub(crate) fn look_row(&mut self, table: &Table, row: u32) -> Result<Vec<Datum>> {
        let positions = 0..table.columns.len();
        positions
            .map(|at| if table.columns[at].dropped { Ok(Datum::Null) } else { self.look_column(table, row, at) })
            .collect()
    }

    /// A whole row as it will be when a running transaction has committed; nothing if it is not there then.
    pub(crate) fn look_row_after(
        &mut self,
        table: &Table,
        row: u32,
        ends: Option<TxnId>,
    ) -> Result<Option<Vec<Datum>>> {
        let Some(existence) = self.look_after(row, ends)? else { return Ok(None) };
        let mut values = Vec::with_capacity(table.columns.len());
        for (position, column) in table.columns.iter().enumerate() {
            let value = if column.dropped {
                Some(Datum::Null)
            } else if self.db.options.granularity == Granularity::Row {
                field(Some(&existence), position)
            } else if let Some(at) = table.clustered.iter().position(|&clustered| clustered == position) {
                Some(key_part(Some(&existence), at, table.clustered.len()))
            } else {
                let cell = self.cell_key(table, row, column.cell);
                self.look_after(cell, ends)?
            };
            values.push(value.unwrap_or_else(|| column.missing.clone()));
        }
        Ok(Some(values))
    }

    fn look_after(&mut self, key: u32, ends: Option<TxnId>) -> Result<Option<Datum>> {
        let own = self.txn()?;
        if self.db.store.own_write(own, Key(key)).is_none()
            && let Some(written) = ends.and_then(|ends| self.db.store.own_write(ends, Key(key)))
        {
            return Ok(written.cloned());
        }
        self.look(key)
    }

    /// The rows of a table that are really there.
    pub(crate) fn look_rows(&mut self, table: &Table) -> Result<Vec<u32>> {
        let mut rows = Vec::new();
        self.for_each_row(table, |_, row| {
            rows.push(row);
            Ok(())
        })?;
        Ok(rows)
    }

    /// Does something with each row of a table that is really there. Between two rows other statements go on, which cannot
    /// change the table: its lock is held.
    pub(crate) fn for_each_row(
        &mut self,
        table: &Table,
        mut act: impl FnMut(&mut Self, u32) -> Result<()>,
    ) -> Result<()> {
        let everything = (std::ops::Bound::Unbounded, std::ops::Bound::Unbounded);
        let keys: Vec<Key> = self.db.store.range(table.space, everything.0, everything.1).collect();
        for key in keys {
            self.check()?;
            if self.look(key.0)?.is_some() {
                act(self, key.0)?;
            }
        }
        Ok(())
    }
}
