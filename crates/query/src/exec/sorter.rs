//! Things in the order of their keys: stable, without moving the things while it sorts.

use crate::error::Result;
use crate::exec::key_table::{first_bytes, rest_of};
use crate::sort::sort_by;

/// Things to be sorted by keys whose bytes are in order (see [`crate::exec::keys`]).
pub(crate) struct Sorter<T> {
    /// What keys have beyond their first bytes, one after the other.
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    items: Vec<Option<T>>,
}

/// Where a key is and what it belongs to. Most comparisons need no more than its first bytes.
struct Entry {
    first: u128,
    start: usize,
    length: u32,
    item: u32,
}

impl<T> Default for Sorter<T> {
    fn default() -> Self {
        Sorter { bytes: Vec::new(), entries: Vec::new(), items: Vec::new() }
    }
}

impl<T> Sorter<T> {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds one.
    pub(crate) fn push(&mut self, key: &[u8], item: T) {
        let start = self.bytes.len();
        let rest = rest_of(key);
        self.bytes.extend_from_slice(rest);
        self.entries.push(Entry {
            first: first_bytes(key),
            start,
            length: u32::try_from(rest.len()).expect("values are shorter than four gigabytes"),
            item: u32::try_from(self.items.len()).expect("memory ends before numbers do"),
        });
        self.items.push(Some(item));
    }

    /// Keeps the first `most` of them.
    pub(crate) fn cut(&mut self, most: usize) -> Result<()> {
        self.sort()?;
        self.entries.truncate(most);
        let (old_bytes, mut old_items) = (std::mem::take(&mut self.bytes), std::mem::take(&mut self.items));
        for entry in &mut self.entries {
            let key = &old_bytes[entry.start..entry.start + entry.length as usize];
            entry.start = self.bytes.len();
            self.bytes.extend_from_slice(key);
            let item = old_items[entry.item as usize].take();
            entry.item = u32::try_from(self.items.len()).expect("fewer than before");
            self.items.push(item);
        }
        Ok(())
    }

    /// All of them in order.
    pub(crate) fn into_sorted(mut self) -> Result<impl Iterator<Item = T>> {
        self.sort()?;
        let mut items = self.items;
        Ok(self.entries.into_iter().map(move |entry| items[entry.item as usize].take().expect("each is given once")))
    }

    fn sort(&mut self) -> Result<()> {
        let bytes = &self.bytes;
        let rest = |entry: &Entry| &bytes[entry.start..entry.start + entry.length as usize];
        let compare = |left: &Entry, right: &Entry| {
            let order = left.first.cmp(&right.first);
            order.then_with(|| if left.length | right.length == 0 { order } else { rest(left).cmp(rest(right)) })
        };
        let entries = std::mem::take(&mut self.entries);
        self.entries = sort_by(entries, |entry| entry.length as usize, compare)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Sorter;

    fn sorted(keys: &[&str], most: usize) -> Vec<usize> {
        let mut sorter = Sorter::default();
        keys.iter().enumerate().for_each(|(number, key)| sorter.push(key.as_bytes(), number));
        sorter.cut(most).expect("there is time");
        assert_eq!(sorter.len(), most.min(keys.len()));
        sorter.into_sorted().expect("there is time").collect()
    }

    #[test]
    fn equal_keys_stay_in_their_order_and_long_keys_are_compared_to_their_end() {
        assert_eq!(sorted(&["b", "a", "b", "a"], 9), [1, 3, 0, 2]);
        let long = ["0123456789abcdefghij", "0123456789abcdefghia", "0123456789abcdef"];
        assert_eq!(sorted(&long, 9), [2, 1, 0]);
        assert_eq!(sorted(&long, 2), [2, 1]);
    }
}
