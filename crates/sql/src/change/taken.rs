//! A key that is taken already: what a transaction is told that cannot see by whom.

use std::sync::Arc;

use skew_model::Key;
use skew_store::Moment;

use crate::client::ChoiceKind;
use crate::error::SqlError;
use crate::exec::RowRef;
use crate::storage::World;
use crate::storage::conflict::{dependencies, store_error};
use crate::storage::table::{BoundIndex, BoundKey, BoundTable};
use crate::types::Datum;

impl World<'_> {
    /// A row stands in the way. A serializable transaction that has looked there before and can only have found nothing
    /// is not told about the row: it is to start again.
    pub(crate) fn taken(
        &mut self,
        bound: &Arc<BoundTable>,
        index: &BoundIndex,
        row: RowRef,
        values: &[Datum],
    ) -> SqlError {
        if self.db.options.choice == ChoiceKind::Postgres {
            // A transaction that looks first must not be told about a duplicate which it cannot have seen.
            return match self.inserts_entry(bound, index, values) {
                Ok(()) => self.duplicate(bound, index, values),
                Err(error) => error,
            };
        }
        if !self.level().is_serializable() {
            return self.duplicate(bound, index, values);
        }
        let table = bound.table();
        let columns = index.keys.iter().filter_map(|key| match key {
            BoundKey::Column(position) if !table.clustered.contains(position) => Some(table.columns[*position].cell),
            _ => None,
        });
        let cells: Vec<u32> = columns.map(|cell| self.cell_key(table, row.key, cell)).collect();
        let may_be_seen = std::iter::once(row.key).chain(cells).try_fold(true, |may, key| {
            let txn = self.txn()?;
            let is_own = self.db.store.own_write(txn, Key(key)).is_some();
            let latest = self.db.store.may_read_latest(txn, Key(key)).map_err(|error| store_error(&error))?;
            Ok(may && (is_own || latest))
        });
        match may_be_seen {
            Ok(true) => self.duplicate(bound, index, values),
            Ok(false) => dependencies(Moment::Write),
            Err(error) => error,
        }
    }
}
