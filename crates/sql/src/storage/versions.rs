//! `xmin` and `xmax`: which transactions have written and locked the version of a row that a statement sees.

use skew_model::{Key, TxnId};

use crate::error::Result;
use crate::exec::RowRef;
use crate::storage::World;
use crate::types::Datum;

/// The number of the first transaction, as PostgreSQL counts them.
const FIRST: i64 = 700;

/// What a transaction is called in SQL.
pub(crate) fn transaction_number(txn: TxnId) -> i64 {
    i64::from(txn.0) + FIRST
}

impl World<'_> {
    /// `xmin`: the last transaction that has written a cell of the row, of those that the statement sees. The whole row is
    /// read by this.
    pub(crate) fn writer_of_row(&mut self, row: RowRef) -> Result<Datum> {
        let txn = self.txn()?;
        let mut writer = None;
        for key in self.keys_of(row)? {
            self.read(key, row)?;
            writer = writer.max(self.db.store.writer_seen(txn, Key(key)));
        }
        // Rows that were there before the first transaction count as written by the one before it.
        Ok(Datum::Int(writer.map_or(FIRST - 1, transaction_number)))
    }

    /// `xmax`: the transaction itself if it has locked the row, else one that is about to change it, else 0.
    pub(crate) fn locker_of_row(&mut self, row: RowRef) -> Result<Datum> {
        let txn = self.txn()?;
        let locked = self.session.transaction.as_ref().is_some_and(|own| own.locked_rows.contains(&row.key));
        if locked {
            return Ok(Datum::Int(transaction_number(txn)));
        }
        let mut writer = None;
        for key in self.keys_of(row)? {
            writer = writer.max(self.db.store.writers(Key(key)).filter(|&other| other != txn).max());
        }
        Ok(Datum::Int(writer.map_or(0, transaction_number)))
    }
}
