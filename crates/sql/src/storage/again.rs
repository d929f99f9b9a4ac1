//! Keys that are taken again: where Skew does as PostgreSQL does, a row that is inserted with the key of a deleted one is
//! another row.
//!
//! Rows live at their primary keys, so elsewhere it is the same one. Here whoever still sees the deleted row, or waits for
//! it, must not meet the new one in its place: REPEATABLE READ would refuse the INSERT, READ COMMITTED would go on with a
//! row that it has never asked for. The new row gets a place right behind the old one, unless nobody can see that any more.

use skew_model::{Key, Level};
use skew_store::Moment;

use crate::catalog::Table;
use crate::client::{ChoiceKind, Constraints};
use crate::error::Result;
use crate::storage::World;
use crate::storage::conflict::{dependencies, store_error};

impl World<'_> {
    /// The row for a new tuple with these bytes as its key.
    pub(super) fn place_at(&mut self, table: &Table, mut bytes: Vec<u8>) -> Result<u32> {
        let first = self.row_at(table, &bytes);
        let exact =
            self.db.options.choice == ChoiceKind::Postgres && self.db.options.constraints == Constraints::Strong;
        if !exact || self.is_unseen(first) {
            return Ok(first);
        }
        self.comes_after_deletion(first)?;
        let known = self.db.again.get(&first).map_or(&[][..], Vec::as_slice);
        if let Some(&free) = known.iter().find(|&&row| self.is_unseen(row)) {
            return Ok(free);
        }
        let number = known.len() as u32;
        bytes.extend(number.to_be_bytes());
        let row = self.row_at(table, &bytes);
        self.db.again.entry(first).or_default().push(row);
        Ok(row)
    }

    /// A serializable transaction that takes the key of a row comes after the serializable transaction that deleted the row:
    /// the deleter looked for the key, and would have found the new row. Where the transaction has read what the deleter
    /// overwrote, it cannot. (PostgreSQL looks at dependencies among serializable transactions only.)
    fn comes_after_deletion(&mut self, row: u32) -> Result<()> {
        let is_serializable = Level::is_serializable;
        let deleted_by = self.db.store.level_of_latest(Key(row));
        if !is_serializable(self.level()) || !deleted_by.is_some_and(is_serializable) {
            return Ok(());
        }
        let txn = self.txn()?;
        if self.db.store.own_write(txn, Key(row)).is_some() {
            return Ok(());
        }
        if !self.db.store.may_read_latest(txn, Key(row)).map_err(|error| store_error(&error))? {
            return Err(dependencies(Moment::Write));
        }
        self.db.store.see_latest(txn, Key(row)).map_err(|error| store_error(&error))
    }

    /// The rows at a key besides this one, which is the first that was there.
    pub(crate) fn rows_again(&self, first: u32) -> Vec<u32> {
        self.db.again.get(&first).cloned().unwrap_or_default()
    }

    /// Whether nobody who is running may see a row here.
    fn is_unseen(&self, row: u32) -> bool {
        let store = &self.db.store;
        let own = self.session.transaction.as_ref().and_then(|transaction| transaction.id);
        let own_row = own.and_then(|txn| store.own_write(txn, Key(row))).flatten();
        let others = store.writers(Key(row)).any(|writer| Some(writer) != own);
        own_row.is_none() && !others && store.latest(Key(row)).is_none() && store.is_old_to_all(Key(row))
    }
}
