//! Spaces: keys that are found by bytes, in the order of the bytes.
//!
//! The bytes of all entries are kept once, one after another. A space is a list of short sorted lists, each holding the
//! first bytes of its entries beside their keys, so that a search looks further only where those are the same.

use std::cmp::Ordering;
use std::ops::Bound;

use skew_model::Key;
pub use skew_model::Space;

/// The space of the keys that have names.
pub(crate) const NAMES: Space = Space(0);

/// How many entries a sorted list holds before it is split.
const FULL: usize = 256;

/// What stands for the entry of a key that has none.
const ANONYMOUS: u32 = u32::MAX;

/// All spaces.
#[derive(Clone, Debug)]
pub(crate) struct Spaces {
    spaces: Vec<Index>,
    /// Ascending by key.
    entries: Vec<Entry>,
    /// The bytes of the entries, in their order.
    bytes: Vec<u8>,
    /// For each key, its entry.
    entry_of: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Where its bytes begin; they end where those of the next one begin.
    start: u64,
    space: Space,
    key: u32,
}

#[derive(Clone, Default, Debug)]
struct Index {
    /// None of them is empty.
    lists: Vec<Sorted>,
    /// The first head of each.
    firsts: Vec<u128>,
}

/// Keys, ascending by their bytes.
#[derive(Clone, Default, Debug)]
struct Sorted {
    /// The first bytes of each, as a number.
    heads: Vec<u128>,
    keys: Vec<u32>,
}

/// A place in a space: a list, and an index in it that may be its end.
type At = (usize, usize);

impl Spaces {
    /// One space, for names.
    pub(crate) fn new() -> Self {
        Spaces { spaces: vec![Index::default()], entries: Vec::new(), bytes: Vec::new(), entry_of: Vec::new() }
    }

    /// Another space.
    pub(crate) fn space(&mut self) -> Space {
        self.spaces.push(Index::default());
        Space(self.spaces.len() as u32 - 1)
    }

    /// How many keys there are.
    pub(crate) fn key_count(&self) -> usize {
        self.entry_of.len()
    }

    /// A key without bytes.
    pub(crate) fn anonymous(&mut self) -> u32 {
        self.entry_of.push(ANONYMOUS);
        self.entry_of.len() as u32 - 1
    }

    /// The key at these bytes, and where it is or would be.
    pub(crate) fn find(&self, space: Space, at: &[u8]) -> Result<u32, Missing> {
        let place = self.seek(space, at);
        let lists = &self.spaces[space.0 as usize].lists;
        let (list, index) = normal(lists, place);
        let found = lists.get(list).map(|list| (list.heads[index], list.keys[index]));
        match found {
            Some((found, key)) if self.compare((found, key), (head(at), at)).is_eq() => Ok(key),
            _ => Err(Missing(place)),
        }
    }

    /// A new key at these bytes.
    pub(crate) fn insert(&mut self, space: Space, at: &[u8], missing: Missing) -> u32 {
        let key = self.entry_of.len() as u32;
        self.entry_of.push(self.entries.len() as u32);
        self.entries.push(Entry { start: self.bytes.len() as u64, space, key });
        self.bytes.extend_from_slice(at);
        self.spaces[space.0 as usize].insert(missing.0, head(at), key);
        key
    }

    /// The space and the bytes of a key.
    pub(crate) fn at(&self, key: u32) -> Option<(Space, &[u8])> {
        let &entry = self.entry_of.get(key as usize)?;
        let &Entry { start, space, .. } = self.entries.get(entry as usize)?;
        let end = self.entries.get(entry as usize + 1).map_or(self.bytes.len(), |next| next.start as usize);
        Some((space, &self.bytes[start as usize..end]))
    }

    fn bytes_of(&self, key: u32) -> Option<&[u8]> {
        self.at(key).map(|(_, bytes)| bytes)
    }

    /// The keys between the bounds.
    pub(crate) fn range(&self, space: Space, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Range<'_> {
        let lists = &self.spaces[space.0 as usize].lists;
        let first = match from {
            Bound::Unbounded => (0, 0),
            Bound::Included(at) => self.seek(space, at),
            Bound::Excluded(at) => self.seek_after(space, at),
        };
        let end = match to {
            Bound::Unbounded => (lists.len(), 0),
            Bound::Included(at) => self.seek_after(space, at),
            Bound::Excluded(at) => self.seek(space, at),
        };
        let first = normal(lists, first);
        Range { lists, first, end: normal(lists, end).max(first) }
    }

    /// The last key with bytes before this one.
    pub(crate) fn entry_before(&self, key: u32) -> Option<u32> {
        let after = self.entries.partition_point(|entry| entry.key < key);
        Some(self.entries[after.checked_sub(1)?].key)
    }

    /// The entries of a space whose keys are not below this one, in the order in which they were made.
    pub(crate) fn made_since(&self, space: Space, key: u32) -> impl Iterator<Item = (u32, &[u8])> + '_ {
        let first = self.entries.partition_point(|entry| entry.key < key);
        let later = self.entries[first..].iter().filter(move |entry| entry.space == space);
        later.map(|entry| (entry.key, self.bytes_of(entry.key).unwrap_or_default()))
    }

    /// How far everything reaches.
    pub(crate) fn extent(&self) -> Extent {
        Extent { keys: self.entry_of.len(), entries: self.entries.len(), spaces: self.spaces.len() }
    }

    /// Takes away what is beyond.
    pub(crate) fn truncate(&mut self, extent: Extent) {
        self.spaces.truncate(extent.spaces);
        for entry in extent.entries..self.entries.len() {
            let Entry { space, key, .. } = self.entries[entry];
            if (space.0 as usize) < extent.spaces {
                let place = self.seek(space, self.bytes_of(key).unwrap_or_default());
                let place = normal(&self.spaces[space.0 as usize].lists, place);
                self.spaces[space.0 as usize].remove(place);
            }
        }
        let end = self.entries.get(extent.entries).map_or(self.bytes.len(), |first| first.start as usize);
        self.bytes.truncate(end);
        self.entries.truncate(extent.entries);
        self.entry_of.truncate(extent.keys);
    }

    /// The first place whose bytes are not below these.
    fn seek(&self, space: Space, at: &[u8]) -> At {
        self.partition(space, at, |order| order == Ordering::Less)
    }

    /// The first place whose bytes are above these.
    fn seek_after(&self, space: Space, at: &[u8]) -> At {
        self.partition(space, at, |order| order != Ordering::Greater)
    }

    /// The first place whose comparison with the bytes is not one of those that come before.
    fn partition(&self, space: Space, at: &[u8], before: impl Fn(Ordering) -> bool) -> At {
        let wanted = head(at);
        let compare = |head: u128, key: u32| self.compare((head, key), (wanted, at));
        let Index { lists, firsts } = &self.spaces[space.0 as usize];
        let after = partition_point(lists.len(), |at| before(compare(firsts[at], lists[at].keys[0])));
        let Some(chosen) = after.checked_sub(1) else { return (0, 0) };
        let list = &lists[chosen];
        (chosen, partition_point(list.keys.len(), |at| before(compare(list.heads[at], list.keys[at]))))
    }

    /// How an entry compares with bytes, by their heads first.
    fn compare(&self, (found, key): (u128, u32), (wanted, at): (u128, &[u8])) -> Ordering {
        found.cmp(&wanted).then_with(|| match at.len() < HEAD {
            true => Ordering::Equal,
            false => self.bytes_of(key).unwrap_or_default().cmp(at),
        })
    }
}

/// How far the keys reach: they are made one after another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    keys: usize,
    entries: usize,
    spaces: usize,
}

impl Extent {
    pub(crate) fn keys(&self) -> usize {
        self.keys
    }
}

/// Where a key would be that is not there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missing(At);

impl Index {
    fn insert(&mut self, (list, index): At, head: u128, key: u32) {
        if self.lists.is_empty() {
            self.lists.push(Sorted::default());
            self.firsts.push(head);
        }
        if index == 0 {
            self.firsts[list] = head;
        }
        let last = list + 1 == self.lists.len();
        let chosen = &mut self.lists[list];
        if chosen.keys.len() < FULL {
            return chosen.insert(index, head, key);
        }
        // Entries that come in ascending order fill their lists; others split them.
        let middle = if last && index == FULL { FULL } else { FULL / 2 };
        let mut upper = Sorted { heads: chosen.heads.split_off(middle), keys: chosen.keys.split_off(middle) };
        if index < middle || index == middle && middle < FULL {
            chosen.insert(index, head, key);
        } else {
            upper.insert(index - middle, head, key);
        }
        self.firsts.insert(list + 1, upper.heads[0]);
        self.lists.insert(list + 1, upper);
    }
}

impl Index {
    fn remove(&mut self, (list, index): At) {
        self.lists[list].heads.remove(index);
        self.lists[list].keys.remove(index);
        match self.lists[list].heads.first() {
            Some(&first) => self.firsts[list] = first,
            None => {
                self.lists.remove(list);
                self.firsts.remove(list);
            }
        }
    }
}

impl Sorted {
    fn insert(&mut self, index: usize, head: u128, key: u32) {
        self.heads.insert(index, head);
        self.keys.insert(index, key);
    }
}

/// The keys of a part of a space, ascending by their bytes; from the other end, descending.
#[derive(Clone, Debug)]
pub struct Range<'a> {
    lists: &'a [Sorted],
    first: At,
    end: At,
}

impl Iterator for Range<'_> {
    type Item = Key;

    fn next(&mut self) -> Option<Key> {
        if self.first >= self.end {
            return None;
        }
        let (list, index) = self.first;
        self.first = normal(self.lists, (list, index + 1));
        Some(Key(self.lists[list].keys[index]))
    }
}

impl DoubleEndedIterator for Range<'_> {
    fn next_back(&mut self) -> Option<Key> {
        if self.first >= self.end {
            return None;
        }
        let (list, index) = self.end;
        self.end = match index.checked_sub(1) {
            Some(before) => (list, before),
            None => (list - 1, self.lists[list - 1].keys.len() - 1),
        };
        let (list, index) = self.end;
        Some(Key(self.lists[list].keys[index]))
    }
}

/// The end of a list is the beginning of the next one.
fn normal(lists: &[Sorted], (list, index): At) -> At {
    if lists.get(list).is_some_and(|list| index == list.keys.len()) { (list + 1, 0) } else { (list, index) }
}

/// How many of the numbers below `count` come before, which are the first ones.
fn partition_point(count: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        if before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// How many bytes a head has.
const HEAD: usize = 16;

/// The first bytes and how many there are, as a number. Where two of these differ, they are in the order of the bytes;
/// where those of fewer than [`HEAD`] bytes are the same, so are the bytes.
fn head(bytes: &[u8]) -> u128 {
    let mut head = [0; HEAD];
    let length = bytes.len().min(HEAD - 1);
    head[..length].copy_from_slice(&bytes[..length]);
    // Of bytes that begin the same, those that end first come first: what they lack is no more than zeros.
    head[HEAD - 1] = bytes.len().min(HEAD) as u8;
    u128::from_be_bytes(head)
}

/// Whether the bytes are between the bounds.
pub(crate) fn within(bytes: &[u8], from: Bound<&[u8]>, to: Bound<&[u8]>) -> bool {
    let after = match from {
        Bound::Unbounded => true,
        Bound::Included(from) => bytes >= from,
        Bound::Excluded(from) => bytes > from,
    };
    let before = match to {
        Bound::Unbounded => true,
        Bound::Included(to) => bytes <= to,
        Bound::Excluded(to) => bytes < to,
    };
    after && before
}

/// What comes after all bytes that start like this.
pub(crate) fn after_prefix(prefix: &[u8]) -> Bound<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            return Bound::Excluded(end);
        }
    }
    Bound::Unbounded
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::strategies::Dice;

    fn bytes(dice: &mut Dice) -> Vec<u8> {
        (0..dice.below(20)).map(|_| [0, 1, 7, 255][dice.below(4)]).collect()
    }

    /// Keys in any order, and in ascending order, are found as in a map of the standard library.
    #[test]
    fn ranges_are_those_of_a_sorted_map() {
        for seed in 0..20 {
            let mut dice = Dice::new(seed);
            let mut spaces = Spaces::new();
            let space = spaces.space();
            let mut expected: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
            for number in 0..4000_u32 {
                let at = if seed % 2 == 0 { bytes(&mut dice) } else { number.to_be_bytes().to_vec() };
                let found = match spaces.find(space, &at) {
                    Ok(key) => key,
                    Err(missing) => spaces.insert(space, &at, missing),
                };
                assert_eq!(found, *expected.entry(at.clone()).or_insert(found), "seed {seed}");
                assert_eq!(spaces.at(found), Some((space, &at[..])), "seed {seed}");
                spaces.anonymous();
            }
            for _ in 0..500 {
                let (from, to) = (bytes(&mut dice), bytes(&mut dice));
                let bound = |kind: usize, at: Vec<u8>| match kind {
                    0 => Bound::Unbounded,
                    1 => Bound::Included(at),
                    _ => Bound::Excluded(at),
                };
                let (from, to) = (bound(dice.below(3), from), bound(dice.below(3), to));
                let (from, to) = (as_slice(&from), as_slice(&to));
                let wanted = expected.iter().filter(|(at, _)| within(at, from, to)).map(|(_, &key)| Key(key));
                let wanted: Vec<Key> = wanted.collect();
                assert!(spaces.range(space, from, to).eq(wanted.iter().copied()), "seed {seed}");
                assert!(spaces.range(space, from, to).rev().eq(wanted.iter().rev().copied()), "seed {seed}");
            }
        }
    }

    fn as_slice(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
        bound.as_ref().map(Vec::as_slice)
    }
}
