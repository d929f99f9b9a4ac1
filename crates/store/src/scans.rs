//! Scans see what is not there: a key that appears later counts as read, and absent, by whoever looked where it is.

use std::hash::BuildHasher;
use std::ops::Bound;

use rustc_hash::FxBuildHasher;
use skew_model::{Key, TxnId};

use crate::choice::Choice;
use crate::engine::{Order, OwnRow};
use crate::error::Error;
use crate::position::Position;
use crate::record::{Part, Scan};
use crate::running::Looking;
use crate::spaces::{NAMES, Space, after_prefix};
use crate::store::Store;
use crate::versions::{INIT, Txn};

/// More parts of a space than this are not told apart.
const PARTS: usize = 32;

/// Where those have looked who have committed.
#[derive(Clone, Default, Debug)]
pub(crate) struct Scanned {
    /// By space.
    spaces: Vec<ScannedSpace>,
}

#[derive(Clone, Debug)]
struct ScannedSpace {
    /// The parts, each with the latest place from which somebody looked.
    parts: Vec<(Part, Position)>,
    /// The hash of each, so that most of them need not be looked at.
    hashes: Vec<u64>,
    /// The latest place from which somebody looked at a part that is not listed.
    anywhere: Position,
}

impl ScannedSpace {
    fn new() -> Self {
        ScannedSpace { parts: Vec::new(), hashes: Vec::new(), anywhere: Position::FIRST }
    }
}

impl Scanned {
    /// Somebody has looked at the part from this place. What is noted may be more than the part and later than the
    /// place: it only keeps serializable writers from places that nobody forbids.
    fn note(&mut self, part: &Part, from: Position) {
        let index = part.space.0 as usize;
        if self.spaces.len() <= index {
            self.spaces.resize(index + 1, ScannedSpace::new());
        }
        let space = &mut self.spaces[index];
        let hash = FxBuildHasher.hash_one(part);
        let mut same = (0..space.parts.len()).filter(|&at| space.hashes[at] == hash);
        match same.find(|&at| space.parts[at].0 == *part) {
            Some(at) => space.parts[at].1 = from.max(space.parts[at].1),
            None if space.parts.len() < PARTS => {
                space.parts.push((part.clone(), from));
                space.hashes.push(hash);
            }
            None => space.anywhere = from.max(space.anywhere),
        }
    }

    /// The latest place from which somebody looked where this is.
    fn looked(&self, space: Space, at: &[u8]) -> Position {
        let Some(scanned) = self.spaces.get(space.0 as usize) else { return Position::FIRST };
        let parts = scanned.parts.iter().filter(|(part, _)| part.holds(space, at));
        parts.map(|&(_, place)| place).fold(scanned.anywhere, Position::max)
    }
}

impl<V: Clone> Store<V> {
    /// The keys with this prefix that hold something, ascending by name.
    pub fn scan(&mut self, txn: TxnId, prefix: &str, choice: &mut dyn Choice) -> Result<Vec<(Key, V)>, Error> {
        self.must_be_open(txn)?;
        let (from, to) = (Bound::Included(prefix.as_bytes()), after_prefix(prefix.as_bytes()));
        let to = to.as_ref().map(Vec::as_slice);
        let keys: Vec<Key> = self.range(NAMES, from, to).collect();
        let mut found = Vec::new();
        for key in keys {
            if let Some(value) = self.read(txn, key, choice)? {
                found.push((key, value));
            }
        }
        self.note_range(txn, NAMES, from, to)?;
        Ok(found)
    }

    /// The statement has looked at everything between the bounds: keys that are made there later count as read by it,
    /// and absent. The number of this look, for [`Store::narrow_range`].
    pub fn note_range(
        &mut self,
        txn: TxnId,
        space: Space,
        from: Bound<&[u8]>,
        to: Bound<&[u8]>,
    ) -> Result<usize, Error> {
        self.must_be_open(txn)?;
        self.now += 1;
        let Looking { statement, began } = self.engine.running(txn.0).looking;
        let done = self.now;
        let (at, keys) = (self.ops(txn.0).len(), self.spaces.key_count());
        let scan = Scan { part: Part::new(space, from, to), at, keys, statement, began, done };
        let scans = &mut self.record_mut(txn.0).scans;
        // Most transactions look at one range, and there are many of them.
        if scans.is_empty() {
            scans.reserve_exact(1);
        }
        scans.push(scan);
        let number = scans.len() - 1;
        self.noted_ranges += 1;
        Ok(number)
    }

    /// The statement has stopped before it came to the end of what it was going to look at. Where a key was made since then,
    /// the look stays as it was noted: somebody may have been told.
    pub fn narrow_range(&mut self, txn: TxnId, look: usize, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Result<(), Error> {
        self.must_be_open(txn)?;
        let keys = self.spaces.key_count();
        if let Some(scan) = self.record_mut(txn.0).scans.get_mut(look).filter(|scan| scan.keys == keys) {
            let narrow = |one: Bound<&[u8]>, noted: Bound<&[u8]>| match one {
                Bound::Unbounded => noted.map(<[u8]>::to_vec),
                one => one.map(<[u8]>::to_vec),
            };
            let (from, to) = (narrow(from, scan.part.from()), narrow(to, scan.part.to()));
            scan.part = Part::new(scan.part.space, from.as_ref().map(Vec::as_slice), to.as_ref().map(Vec::as_slice));
        }
        Ok(())
    }

    /// The transaction has read all keys with this prefix.
    pub(crate) fn note_scan(&mut self, txn: TxnId, prefix: &str) -> Result<(), Error> {
        let to = after_prefix(prefix.as_bytes());
        self.note_range(txn, NAMES, Bound::Included(prefix.as_bytes()), to.as_ref().map(Vec::as_slice)).map(|_| ())
    }

    /// A new key: whoever looked where it is has seen that it was not there.
    pub(crate) fn was_scanned(&mut self, key: u32) {
        let Some((space, at)) = self.spaces.at(key) else { return };
        for index in 0..self.engine.open.len() {
            let txn = self.engine.open[index];
            let record = &self.records[(txn - self.engine.base) as usize];
            for scan in record.scans.iter().filter(|scan| scan.part.holds(space, at)) {
                self.engine.read_in(txn, scan.statement, key, INIT, OwnRow::No);
            }
        }
        self.engine.versions.look(key, self.scanned.looked(space, at));
    }

    pub(crate) fn remember_scans(&mut self, txn: Txn) {
        let Order::Closed(positions) = &self.engine.order else { return };
        if !self.engine.txn(txn).sight.looks_from_a_place() {
            return;
        }
        let end = positions.end();
        for scan in &self.records[(txn - self.engine.base) as usize].scans {
            self.scanned.note(&scan.part, end);
        }
    }

    /// The keys that a scan would have found, had they been there.
    pub(crate) fn came_later<'s>(&'s self, scan: &'s Scan) -> Box<dyn Iterator<Item = u32> + 's> {
        let Part { space, .. } = scan.part;
        let (from, to) = (scan.part.from(), scan.part.to());
        if (from, to) == (Bound::Unbounded, Bound::Unbounded) || space == NAMES {
            let later = self.spaces.made_since(space, scan.keys as u32);
            return Box::new(later.filter(move |(_, at)| scan.part.holds(space, at)).map(|(key, _)| key));
        }
        Box::new(self.range(space, from, to).map(|key| key.0).filter(|&key| key as usize >= scan.keys))
    }
}
