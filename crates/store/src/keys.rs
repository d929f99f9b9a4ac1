//! How the keys of a store are made and found: by name, by bytes in a space, or as the cells that follow another key.

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Bound;

use skew_model::Key;

use crate::error::Error;
use crate::record::{Initial, Record};
use crate::spaces::{NAMES, Range, Space};
use crate::store::Store;
use crate::versions::Txn;

impl<V: Clone> Store<V> {
    /// The key with this name.
    pub fn key(&mut self, name: &str) -> Key {
        self.entry(NAMES, name.as_bytes(), 0)
    }

    /// A new space, without keys.
    pub fn space(&mut self) -> Space {
        self.spaces.space()
    }

    /// The key at these bytes. If there is none it is made, and followed by so many keys without bytes: `Key(key.0 + 1)`
    /// and on.
    pub fn entry(&mut self, space: Space, at: &[u8], cells: u32) -> Key {
        let missing = match self.spaces.find(space, at) {
            Ok(key) => return Key(key),
            Err(missing) => missing,
        };
        let key = self.spaces.insert(space, at, missing);
        self.new_key(key);
        self.was_scanned(key);
        self.cells(cells);
        Key(key)
    }

    /// The key at these bytes, if there is one.
    pub fn find(&self, space: Space, at: &[u8]) -> Option<Key> {
        self.spaces.find(space, at).ok().map(Key)
    }

    /// The keys between the bounds, ascending by their bytes; from the other end, descending.
    pub fn range(&self, space: Space, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Range<'_> {
        self.spaces.range(space, from, to)
    }

    /// The space of a key and its bytes in it; `None` for a key without bytes.
    pub fn at(&self, key: Key) -> Option<(Space, &[u8])> {
        self.spaces.at(key.0)
    }

    /// So many new keys without bytes, one after another; the first one.
    pub fn cells(&mut self, count: u32) -> Key {
        let first = Key(self.spaces.key_count() as u32);
        for _ in 0..count {
            let key = self.spaces.anonymous();
            self.new_key(key);
        }
        first
    }

    fn new_key(&mut self, key: u32) {
        let number = self.engine.key();
        debug_assert_eq!(number, key, "the engine numbers keys as they are made");
    }

    /// What the key is called: its name, or where it is.
    pub fn key_name(&self, key: Key) -> Cow<'_, str> {
        match self.spaces.at(key.0) {
            Some((NAMES, name)) => String::from_utf8_lossy(name),
            Some((space, at)) => Cow::Owned(place_name(space, at)),
            None => Cow::Owned(self.cell_name(key)),
        }
    }

    /// A key without bytes is called after the last one before it that has some.
    fn cell_name(&self, key: Key) -> String {
        let entry = self.spaces.entry_before(key.0).map(Key);
        entry.map_or(format!("+{}", key.0), |entry| format!("{}+{}", self.key_name(entry), key.0 - entry.0))
    }

    /// Gives a key that has just been made, in a space that nobody has looked at, the value that it has before anybody
    /// writes it.
    pub fn init_new(&mut self, key: Key, value: V) {
        self.set_initial(key.0, Initial::new(Some(value)));
    }

    /// Gives a key the value that it has before anybody writes it.
    pub fn init(&mut self, key: Key, value: V) -> Result<(), Error> {
        let used = !self.records.is_empty() || self.engine.base > 0;
        let written = !self.engine.versions.list(key.0).is_empty();
        let looked = |(at, record): (usize, &Record)| {
            let ops = self.operations.of(&self.engine, self.engine.base + at as u32, record);
            ops.iter().any(|op| op.key == key.0) || !record.scans.is_empty()
        };
        if used && (written || self.engine.base > 0 || self.records.iter().enumerate().any(looked)) {
            return Err(Error::LateInit { key: self.key_name(key).into_owned() });
        }
        self.set_initial(key.0, Initial::new(Some(value)));
        Ok(())
    }

    /// What the key holds before anybody who is remembered writes it.
    pub(crate) fn initial(&self, key: u32) -> Option<&V> {
        self.initials.get(key as usize)?.value.as_ref()
    }

    /// Who wrote that and has been forgotten.
    pub(crate) fn settled(&self, key: u32) -> Option<(Txn, u32)> {
        self.initials.get(key as usize)?.settled()
    }

    pub(crate) fn set_initial(&mut self, key: u32, initial: Initial<V>) {
        let at = key as usize;
        if self.initials.len() <= at {
            self.initials.resize(at + 1, Initial::new(None));
        }
        self.initials[at] = initial;
    }
}

fn place_name(space: Space, at: &[u8]) -> String {
    let mut name = format!("s{}:", space.0);
    at.iter().for_each(|byte| _ = write!(name, "{byte:02x}"));
    name
}
