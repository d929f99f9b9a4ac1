//! Where serializable transactions have looked: what PostgreSQL asks before it reports a duplicate key.
//!
//! ```text
//! T1  looks for key 1, finds nothing   inserts key 1   commits
//! T2  looks for key 1, finds nothing                            inserts key 1
//! ```
//! Each has read what the other one writes, so T2 cannot come before or after T1, and is told to start again. A program
//! that looks first must never see the duplicate. If only one of them has looked, they do come one after the other, and
//! the duplicate is what the second one is told.

use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use skew_model::{Key, Level, TxnId};

use crate::catalog::Space;
use crate::error::Result;
use crate::exec::RowRef;
use crate::session::ChoiceKind;
use crate::storage::World;
use crate::storage::rows::{Range, as_slice};
use crate::storage::table::{BoundIndex, BoundTable};
use crate::types::Datum;

/// More looks than this are not remembered at a time.
const MAX_LOOKS: usize = 20_000;

/// A part of a space that a serializable transaction has looked at.
#[derive(Clone, Debug)]
pub(crate) struct SerializableLook {
    txn: TxnId,
    space: Space,
    from: Bound<Vec<u8>>,
    to: Bound<Vec<u8>>,
}

impl SerializableLook {
    fn covers(&self, (space, bytes): &(Space, Vec<u8>)) -> bool {
        let range: (Bound<&[u8]>, Bound<&[u8]>) = (as_slice(&self.from), as_slice(&self.to));
        self.space == *space && range.contains(&bytes[..])
    }
}

impl World<'_> {
    /// The statement looks at a part of a space.
    pub(super) fn remember_look(&mut self, space: Space, range: &Range) -> Result<()> {
        let is_exact = self.db.options.choice == ChoiceKind::Postgres && self.level() == Level::Ser;
        if is_exact && self.db.serializable_looks.len() < MAX_LOOKS {
            let txn = self.txn()?;
            let (from, to) = (range.from.clone(), range.to.clone());
            self.db.serializable_looks.push(SerializableLook { txn, space, from, to });
        }
        Ok(())
    }

    /// Whether the transaction and another one that ran beside it have both looked where a row is that it cannot see and
    /// that has the key which it is about to insert.
    pub(crate) fn have_both_looked(
        &mut self,
        bound: &Arc<BoundTable>,
        index: &BoundIndex,
        row: RowRef,
        values: &[Datum],
    ) -> Result<bool> {
        let txn = self.txn()?;
        if self.level() != Level::Ser || !self.changed_since_snapshot(row.key)? {
            return Ok(false);
        }
        let keys = self.index_values(bound, index, values)?.unwrap_or_default();
        let mut places: Vec<(Space, Vec<u8>)> = match index.space {
            // An index has an entry for each number of its first keys.
            Some(space) => (1..=keys.len()).map(|count| (space, index.entry(&keys[..count]))).collect(),
            None => vec![(bound.table().space, index.encode(&keys))],
        };
        places.extend(self.db.store.at(Key(row.key)).map(|(space, bytes)| (space, bytes.to_vec())));
        let state = &*self.db;
        let looks = || state.serializable_looks.iter().filter(|look| places.iter().any(|place| look.covers(place)));
        let is_beside = |other: TxnId| {
            let lives = state.running.contains_key(&other) || state.store.has_committed(other);
            other != txn && lives && !state.store.is_before_snapshot(txn, other)
        };
        Ok(looks().any(|look| look.txn == txn) && looks().any(|look| is_beside(look.txn)))
    }
}
