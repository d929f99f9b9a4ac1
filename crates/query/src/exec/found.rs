//! Sets of values that `IN` looks into: built once, asked often.

use std::sync::Arc;

use crate::exec::key_table::KeyTable;
use crate::exec::keys;
use crate::types::{ArrayValue, Datum, Type};

/// Fewer values than this are gone through one by one.
pub(crate) const LEAST_TO_HASH: usize = 8;

/// Rows of values, by their keys.
#[derive(Default)]
pub(crate) struct Found {
    keys: KeyTable,
    /// Some row has a NULL.
    nulls: bool,
}

/// A set made of an array or of a list of constants.
pub(crate) struct FoundItems {
    /// The array it was made of: another one needs another set.
    pub(crate) array: Option<Arc<ArrayValue>>,
    pub(crate) found: Arc<Found>,
}

impl Found {
    /// The values of one column.
    pub(crate) fn of<'v>(values: impl Iterator<Item = &'v Datum>, ty: Type) -> Found {
        let mut found = Found::default();
        let mut key = Vec::new();
        for value in values {
            key.clear();
            keys::append(&mut key, value, ty);
            found.add(&key, value.is_null());
        }
        found
    }

    /// Adds a row; true if it is new.
    pub(crate) fn add(&mut self, key: &[u8], null: bool) -> bool {
        self.nulls |= null;
        !null && self.keys.insert(key).1
    }

    /// Whether there is no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.keys.len() == 0 && !self.nulls
    }

    /// Whether a row without NULLs is in it: true, false, or unknown because of NULLs in the set.
    pub(crate) fn contains(&self, key: &[u8]) -> Option<bool> {
        match self.keys.find(key).is_some() {
            true => Some(true),
            false if self.nulls => None,
            false => Some(false),
        }
    }
}
