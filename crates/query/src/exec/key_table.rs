//! A set of keys, numbered in the order in which they came: what groups, hash joins and DISTINCT look things up in.
//!
//! A key is bytes (see [`crate::exec::keys`]). Keys share their memory, and the key of an integer or of any other short
//! value is right where it is looked for: with many keys, time is what waiting for memory takes.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

/// An empty place in the table.
const EMPTY: u32 = u32::MAX;

/// Numbered keys, each with something that belongs to it.
#[derive(Default)]
pub(crate) struct KeyTable<T = ()> {
    entries: Vec<Entry<T>>,
    /// What keys have beyond their first bytes, one after the other.
    rest: Vec<u8>,
    /// Part of the hash and the number of a key, at the place that the hash says or after it. A power of two, at most
    /// half full.
    places: Vec<(u32, u32)>,
}

struct Entry<T> {
    first: u128,
    /// Where the rest of the key begins.
    start: usize,
    /// How long the key is.
    length: u32,
    hash: u32,
    value: T,
}

impl<T> KeyTable<T> {
    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// What belongs to a key.
    pub(crate) fn find(&self, key: &[u8]) -> Option<&T> {
        if self.places.is_empty() {
            return None;
        }
        let number = self.search(key, first_bytes(key), hash(key)).ok()?;
        Some(&self.entries[number].value)
    }

    /// The number of a key, and what belongs to it: if the key is new, this.
    pub(crate) fn insert_with(&mut self, key: &[u8], value: impl FnOnce() -> T) -> Inserted<'_, T> {
        if self.places.len() < 2 * (self.entries.len() + 1) {
            self.grow();
        }
        let (first, hash) = (first_bytes(key), hash(key));
        let (number, is_new) = match self.search(key, first, hash) {
            Ok(number) => (number, false),
            Err(place) => {
                let number = self.entries.len();
                self.places[place] = (hash, u32::try_from(number).expect("memory ends before numbers do"));
                let start = self.rest.len();
                self.rest.extend_from_slice(rest_of(key));
                let length = u32::try_from(key.len()).expect("values are shorter than four gigabytes");
                self.entries.push(Entry { first, start, length, hash, value: value() });
                (number, true)
            }
        };
        Inserted { number, is_new, value: &mut self.entries[number].value }
    }

    /// Forgets all keys.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.rest.clear();
        self.places.fill((0, EMPTY));
    }

    /// About how many bytes a key takes.
    pub(crate) fn weight(key: &[u8]) -> usize {
        // The lists grow: the old ones and the new ones are there at the same time.
        2 * (rest_of(key).len() + size_of::<Entry<T>>()) + 3 * size_of::<(u32, u32)>()
    }

    /// The number of a key, or the place where it would be.
    fn search(&self, key: &[u8], first: u128, hash: u32) -> Result<usize, usize> {
        let mask = self.places.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            let (known, number) = self.places[place];
            if number == EMPTY {
                return Err(place);
            }
            if known == hash && self.is(number as usize, key, first) {
                return Ok(number as usize);
            }
            place = (place + 1) & mask;
        }
    }

    fn is(&self, number: usize, key: &[u8], first: u128) -> bool {
        let entry = &self.entries[number];
        if entry.first != first || entry.length as usize != key.len() {
            return false;
        }
        let rest = rest_of(key);
        rest.is_empty() || self.rest[entry.start..entry.start + rest.len()] == *rest
    }

    fn grow(&mut self) {
        let length = (self.places.len() * 2).max(16);
        self.places.clear();
        self.places.resize(length, (0, EMPTY));
        for (number, entry) in self.entries.iter().enumerate() {
            let mut place = entry.hash as usize & (length - 1);
            while self.places[place].1 != EMPTY {
                place = (place + 1) & (length - 1);
            }
            self.places[place] = (entry.hash, u32::try_from(number).expect("memory ends before numbers do"));
        }
    }
}

impl KeyTable {
    /// The number of a key, and whether it is new.
    pub(crate) fn insert(&mut self, key: &[u8]) -> (usize, bool) {
        let inserted = self.insert_with(key, || ());
        (inserted.number, inserted.is_new)
    }
}

/// A key in the table.
pub(crate) struct Inserted<'t, T> {
    pub(crate) number: usize,
    pub(crate) is_new: bool,
    pub(crate) value: &'t mut T,
}

/// The first bytes of a key as a number that is in order as they are.
pub(crate) fn first_bytes(key: &[u8]) -> u128 {
    let mut first = [0; size_of::<u128>()];
    let known = key.len().min(first.len());
    first[..known].copy_from_slice(&key[..known]);
    u128::from_be_bytes(first)
}

/// What comes after the first bytes.
pub(crate) fn rest_of(key: &[u8]) -> &[u8] {
    key.get(size_of::<u128>()..).unwrap_or_default()
}

fn hash(key: &[u8]) -> u32 {
    let hash = FxBuildHasher.hash_one(key);
    (hash ^ hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::KeyTable;

    #[test]
    fn keys_are_numbered_in_the_order_in_which_they_came() {
        let mut table = KeyTable::default();
        assert_eq!(table.find(b"a"), None);
        for round in 0..2 {
            for number in 0..1000_usize {
                assert_eq!(table.insert(number.to_string().as_bytes()), (number, round == 0));
            }
        }
        assert_eq!((table.find(b"999"), table.find(b"1000")), (Some(&()), None));
        assert_eq!(table.insert(b""), (1000, true));
        assert_eq!((table.find(b""), table.len()), (Some(&()), 1001));
        table.clear();
        assert_eq!(table.find(b"1"), None);
        assert_eq!(table.insert(b"1"), (0, true));
    }

    #[test]
    fn long_keys_are_told_apart_by_their_ends_and_lengths() {
        let mut table = KeyTable::default();
        let keys: [&[u8]; 5] = [b"0123456789abcdef", b"0123456789abcdefg", b"0123456789abcdefh", b"a", b"a\0"];
        let numbers = keys.map(|key| table.insert(key));
        assert_eq!(numbers, [(0, true), (1, true), (2, true), (3, true), (4, true)]);
        assert_eq!(keys.map(|key| table.insert(key).0), [0, 1, 2, 3, 4]);
    }
}
