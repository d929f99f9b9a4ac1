//! What may be and what must be, as types: a [`May`] set can only be widened, a [`Must`] set only be narrowed.
//!
//! An analysis that goes wrong usually forgets a possibility or keeps a guarantee too long. Neither can be written with
//! these types: their fields are private, no operation takes an element out of a `May` set or puts one into a `Must` set
//! that exists.

use std::collections::BTreeSet;

/// What may happen: whatever happens is among these.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct May<T: Ord> {
    set: BTreeSet<T>,
}

impl<T: Ord> Default for May<T> {
    fn default() -> Self {
        May { set: BTreeSet::new() }
    }
}

impl<T: Ord + Clone> May<T> {
    /// One of these.
    pub fn any(of: impl IntoIterator<Item = T>) -> May<T> {
        May { set: of.into_iter().collect() }
    }

    /// One more may happen.
    pub fn widen(&mut self, by: T) {
        self.set.insert(by);
    }

    /// What may happen on one of two ways.
    pub fn join(mut self, other: &May<T>) -> May<T> {
        self.set.extend(other.set.iter().cloned());
        self
    }

    /// Whether it may.
    pub fn has(&self, one: &T) -> bool {
        self.set.contains(one)
    }

    /// Whether nothing of the kind may happen.
    pub fn is_never(&self) -> bool {
        self.set.is_empty()
    }

    /// All of it, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.set.iter()
    }
}

/// What happens for sure: each of these does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Must<T: Ord> {
    set: BTreeSet<T>,
}

impl<T: Ord> Default for Must<T> {
    fn default() -> Self {
        Must { set: BTreeSet::new() }
    }
}

impl<T: Ord + Clone> Must<T> {
    /// All of these.
    pub fn all(of: impl IntoIterator<Item = T>) -> Must<T> {
        Must { set: of.into_iter().collect() }
    }

    /// Only what passes is still sure.
    pub fn narrow(&mut self, keep: impl Fn(&T) -> bool) {
        self.set.retain(|one| keep(one));
    }

    /// Nothing of it is sure any more.
    pub fn give_up(&mut self) {
        self.set.clear();
    }

    /// What is sure on both of two ways.
    pub fn join(mut self, other: &Must<T>) -> Must<T> {
        self.set.retain(|one| other.set.contains(one));
        self
    }

    /// Whether it is sure.
    pub fn has(&self, one: &T) -> bool {
        self.set.contains(one)
    }

    /// Whether nothing is sure.
    pub fn is_nothing(&self) -> bool {
        self.set.is_empty()
    }

    /// All of it, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.set.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining_widens_what_may_be_and_narrows_what_must_be() {
        let may = May::any([1, 2]).join(&May::any([2, 3]));
        assert_eq!(may.iter().copied().collect::<Vec<_>>(), [1, 2, 3]);
        let must = Must::all([1, 2]).join(&Must::all([2, 3]));
        assert_eq!(must.iter().copied().collect::<Vec<_>>(), [2]);
    }
}
