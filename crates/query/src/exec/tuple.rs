//! Tuples: what flows between the operators of a plan, one slot for each FROM item.

use std::sync::Arc;

use crate::exec::{RowRef, RowVersion};
use crate::types::Datum;

/// What a FROM item contributes to a tuple.
#[derive(Clone, Debug, Default)]
pub enum Slot {
    /// The missing side of an outer join: every column is NULL.
    #[default]
    Missing,
    /// A row of a table: its cells are read when an expression looks at them.
    Row(RowRef),
    /// Values.
    Values(Arc<[Datum]>),
}

/// How many slots need no memory of their own.
const INLINE: usize = 2;

/// A list of slots.
#[derive(Clone, Debug, Default)]
pub struct Tuple {
    length: usize,
    first: [Slot; INLINE],
    rest: Vec<Slot>,
}

impl FromIterator<Slot> for Tuple {
    fn from_iter<I: IntoIterator<Item = Slot>>(slots: I) -> Tuple {
        let mut tuple = Tuple::default();
        slots.into_iter().for_each(|slot| tuple.push(slot));
        tuple
    }
}

impl Tuple {
    /// A tuple with one slot.
    pub fn of(slot: Slot) -> Tuple {
        Tuple { length: 1, first: [slot, Slot::Missing], rest: Vec::new() }
    }

    /// A tuple with one slot of values.
    pub fn values(values: Arc<[Datum]>) -> Tuple {
        Tuple::of(Slot::Values(values))
    }

    /// A tuple whose slots are all missing.
    pub fn missing(slots: usize) -> Tuple {
        Tuple { length: slots, first: Default::default(), rest: vec![Slot::Missing; slots.saturating_sub(INLINE)] }
    }

    /// How many slots it has.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// A slot. Slots that are not there are missing.
    pub fn slot(&self, index: usize) -> &Slot {
        static MISSING: Slot = Slot::Missing;
        match index.checked_sub(INLINE) {
            None => &self.first[index],
            Some(index) => self.rest.get(index).unwrap_or(&MISSING),
        }
    }

    /// The same rows as the statement sees them, if there are some that it looks for to lock them.
    pub fn as_seen(&self) -> Option<Tuple> {
        let is_sought = |slot: &Slot| matches!(slot, Slot::Row(row) if row.version == RowVersion::Sought);
        let slots = || (0..self.length).map(|index| self.slot(index));
        let seen = |slot: &Slot| match slot {
            Slot::Row(row) if is_sought(slot) => Slot::Row(RowRef::seen(row.table, row.key)),
            other => other.clone(),
        };
        slots().any(is_sought).then(|| slots().map(seen).collect())
    }

    /// Adds a slot.
    pub fn push(&mut self, slot: Slot) {
        match self.first.get_mut(self.length) {
            Some(place) => *place = slot,
            None => self.rest.push(slot),
        }
        self.length += 1;
    }

    /// Replaces a slot.
    pub fn set(&mut self, index: usize, slot: Slot) {
        let place = match index.checked_sub(INLINE) {
            None => self.first.get_mut(index),
            Some(index) => self.rest.get_mut(index),
        };
        *place.expect("slots are counted when a plan is bound") = slot;
    }

    /// The slots.
    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.first.iter().take(self.length).chain(self.rest.iter())
    }

    /// The slots, as many as there are to be.
    pub(crate) fn into_slots(self, length: usize) -> impl Iterator<Item = Slot> {
        let slots = self.first.into_iter().take(self.length).chain(self.rest);
        slots.chain(std::iter::repeat(Slot::Missing)).take(length)
    }

    /// These slots, then the other's.
    pub fn joined(&self, right: &Tuple) -> Tuple {
        let mut tuple = self.clone();
        tuple.rest.reserve((self.length + right.length).saturating_sub(INLINE + tuple.rest.len()));
        right.slots().for_each(|slot| tuple.push(slot.clone()));
        tuple
    }

    /// The slots from `from` on, as a tuple of their own.
    pub fn tail(&self, from: usize) -> Tuple {
        self.slots().skip(from).cloned().collect()
    }
}
