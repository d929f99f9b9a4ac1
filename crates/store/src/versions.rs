//! Who wrote each key, in commit order and by session.
//!
//! Most keys of a large table have been written once. Such a key has its version in place; what more there is to know of
//! the others is kept apart.

use crate::position::Position;

/// A transaction of the store; the initial one is [`INIT`].
pub(crate) type Txn = u32;

/// The initial transaction: it writes every key.
pub(crate) const INIT: Txn = u32::MAX;

/// How many writers of a key that did not commit can be read from at `ru`, besides those that run.
const ROLLED_BACK: usize = 64;

/// Up to so many versions are looked through one by one; beyond, they are also kept by session.
const SHORT: usize = 4;

/// A committed write of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version {
    /// The writer's place in the commit order, once that is closed.
    pub(crate) position: Position,
    pub(crate) writer: Txn,
    /// Which of its operations it is.
    pub(crate) operation: u32,
}

/// One session's writes of a key: numbers of its transactions, ascending, with the index of the version.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) session: u32,
    pub(crate) writes: Vec<(u32, u32)>,
}

impl Chain {
    /// How many of the writes are by transactions up to this number.
    pub(crate) fn up_to(&self, number: u32) -> usize {
        partition_from_end(&self.writes, |&(write, _)| write <= number)
    }
}

/// The versions of all keys, in commit order: the order of the calls while the commit order is open, `co` once it is
/// closed.
#[derive(Clone, Default, Debug)]
pub(crate) struct Versions {
    keys: Vec<Written>,
    many: Vec<Many>,
    /// Which of these are not used.
    free: Vec<u32>,
}

/// One key. There is one for every cell of every table, so that every byte counts: what [`By`] says is told by values
/// that no version has.
#[derive(Clone, Copy, Debug)]
struct Written {
    version: Version,
    /// The latest place from which somebody looked at the key and took its last version for the newest.
    looked: Position,
}

const NOBODY: Written = Written::new(By::Nobody);

/// Stands for the writer of a key that nobody has written.
const NO_WRITER: Txn = INIT;
/// Stands for the writer of a key of which there is more to know.
const MANY_WRITERS: Txn = INIT - 1;
/// Stands for the operation of a writer that has not committed.
const UNCOMMITTED: u32 = u32::MAX;

impl Written {
    const fn new(by: By) -> Written {
        Written { version: by.encoded(), looked: Position::FIRST }
    }

    fn by(&self) -> By {
        match self.version {
            Version { writer: NO_WRITER, .. } => By::Nobody,
            Version { writer: MANY_WRITERS, operation, .. } => By::Many(operation),
            Version { operation: UNCOMMITTED, writer, .. } => By::Dirty(writer),
            version => By::One(version),
        }
    }

    fn set(&mut self, by: By) {
        self.version = by.encoded();
    }
}

/// Who has written a key.
#[derive(Clone, Copy, Debug)]
enum By {
    Nobody,
    /// This transaction alone, and it has not committed.
    Dirty(Txn),
    One(Version),
    Many(u32),
}

impl By {
    const fn encoded(self) -> Version {
        let (writer, operation) = match self {
            By::Nobody => (NO_WRITER, 0),
            By::Dirty(writer) => (writer, UNCOMMITTED),
            By::One(version) => return version,
            By::Many(many) => (MANY_WRITERS, many),
        };
        Version { position: Position::FIRST, writer, operation }
    }
}

#[derive(Clone, Default, Debug)]
struct Many {
    list: Vec<Version>,
    /// Ascending by session; empty while the list is short.
    chains: Vec<Chain>,
    /// Who has written the key without committing: running, and the last ones that were rolled back.
    dirty: Vec<Txn>,
}

/// Where a transaction comes among those of its session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Numbered {
    pub(crate) session: u32,
    pub(crate) number: u32,
}

impl Versions {
    pub(crate) fn push_key(&mut self) -> u32 {
        self.keys.push(NOBODY);
        self.keys.len() as u32 - 1
    }

    pub(crate) fn key_count(&self) -> usize {
        self.keys.len()
    }

    /// The versions of a key.
    pub(crate) fn list(&self, key: u32) -> &[Version] {
        let written = &self.keys[key as usize];
        match written.by() {
            By::Nobody | By::Dirty(_) => &[],
            By::One(_) => std::slice::from_ref(&written.version),
            By::Many(many) => &self.many[many as usize].list,
        }
    }

    /// The same by session, ascending, unless there are few.
    pub(crate) fn chains(&self, key: u32) -> &[Chain] {
        match self.keys[key as usize].by() {
            By::Many(many) => &self.many[many as usize].chains,
            _ => &[],
        }
    }

    /// Who has written the key without committing.
    pub(crate) fn dirty(&self, key: u32) -> &[Txn] {
        let written = &self.keys[key as usize];
        match written.by() {
            By::Dirty(_) => std::slice::from_ref(&written.version.writer),
            By::Many(many) => &self.many[many as usize].dirty,
            _ => &[],
        }
    }

    /// The latest place from which somebody took the last version for the newest.
    pub(crate) fn looked(&self, key: u32) -> Position {
        self.keys[key as usize].looked
    }

    pub(crate) fn look(&mut self, key: u32, from: Position) {
        let looked = &mut self.keys[key as usize].looked;
        *looked = from.max(*looked);
    }

    /// The transaction writes the key for the first time.
    pub(crate) fn write(&mut self, key: u32, writer: Txn) {
        match self.keys[key as usize].by() {
            By::Nobody => self.keys[key as usize].set(By::Dirty(writer)),
            _ => self.many(key).dirty.push(writer),
        }
    }

    /// The transaction has not written the key after all.
    pub(crate) fn unwrite(&mut self, key: u32, writer: Txn) {
        match self.keys[key as usize].by() {
            By::Dirty(_) => self.keys[key as usize].set(By::Nobody),
            _ => self.many(key).dirty.retain(|&other| other != writer),
        }
    }

    /// The version of a transaction that has written the key, which comes last.
    pub(crate) fn commit(&mut self, key: u32, version: Version, numbered: impl Fn(Txn) -> Numbered) {
        self.keys[key as usize].looked = Position::FIRST;
        if let By::Dirty(_) = self.keys[key as usize].by() {
            self.keys[key as usize].set(By::One(version));
            return;
        }
        let many = self.many(key);
        many.dirty.retain(|&writer| writer != version.writer);
        many.push(version, numbered);
    }

    /// A writer that was rolled back stays where `ru` can see it, until there are many after it.
    pub(crate) fn roll_back(&mut self, key: u32, writer: Txn) {
        if let By::Dirty(_) = self.keys[key as usize].by() {
            return;
        }
        let dirty = &mut self.many(key).dirty;
        dirty.retain(|&other| other != writer);
        if dirty.len() >= ROLLED_BACK {
            dirty.remove(0);
        }
        dirty.push(writer);
    }

    /// Gives the versions their places, and puts them in that order.
    pub(crate) fn place(&mut self, key: u32, position: impl Fn(Txn) -> Position, numbered: impl Fn(Txn) -> Numbered) {
        let written = &mut self.keys[key as usize];
        match written.by() {
            By::Nobody | By::Dirty(_) => {}
            By::One(version) => written.version.position = position(version.writer),
            By::Many(many) => {
                let many = &mut self.many[many as usize];
                many.chains.clear();
                let mut list = std::mem::take(&mut many.list);
                list.iter_mut().for_each(|version| version.position = position(version.writer));
                list.sort_by_key(|version| version.position);
                list.into_iter().for_each(|version| many.push(version, &numbered));
            }
        }
    }

    /// Forgets the transactions before this one.
    pub(crate) fn forget(&mut self, key: u32, before: Txn, numbered: impl Fn(Txn) -> Numbered) {
        let written = &mut self.keys[key as usize];
        match written.by() {
            By::One(Version { writer, .. }) | By::Dirty(writer) if writer < before => written.set(By::Nobody),
            By::Many(index) => {
                let many = &mut self.many[index as usize];
                many.dirty.retain(|&writer| writer >= before);
                let mut list = std::mem::take(&mut many.list);
                list.retain(|version| version.writer >= before);
                many.chains.clear();
                list.into_iter().for_each(|version| many.push(version, &numbered));
                self.simplify(key, index);
            }
            _ => {}
        }
    }

    /// Few versions need no more than their place.
    fn simplify(&mut self, key: u32, index: u32) {
        let many = &self.many[index as usize];
        let by = match (&many.list[..], &many.dirty[..]) {
            ([], []) => By::Nobody,
            ([], &[writer]) => By::Dirty(writer),
            (&[version], []) => By::One(version),
            _ => return,
        };
        self.keys[key as usize].set(by);
        self.many[index as usize] = Many::default();
        self.free.push(index);
    }

    /// Nobody has written any key, or looked at it.
    pub(crate) fn clear(&mut self) {
        self.keys.fill(NOBODY);
        self.many = Vec::new();
        self.free = Vec::new();
    }

    /// Nobody has written the key, or looked at it.
    pub(crate) fn clear_key(&mut self, key: u32) {
        if let By::Many(index) = std::mem::replace(&mut self.keys[key as usize], NOBODY).by() {
            self.many[index as usize] = Many::default();
            self.free.push(index);
        }
    }

    /// Only the first keys stay.
    pub(crate) fn truncate(&mut self, keys: usize) {
        (keys as u32..self.keys.len() as u32).for_each(|key| self.clear_key(key));
        self.keys.truncate(keys);
    }

    /// What more there is to know of a key.
    fn many(&mut self, key: u32) -> &mut Many {
        let mut many = Many::default();
        match self.keys[key as usize].by() {
            By::Many(many) => return &mut self.many[many as usize],
            By::Nobody => {}
            By::Dirty(writer) => many.dirty.push(writer),
            By::One(version) => many.list.push(version),
        }
        let index = self.free.pop().unwrap_or(self.many.len() as u32);
        if index as usize == self.many.len() {
            self.many.push(many);
        } else {
            self.many[index as usize] = many;
        }
        self.keys[key as usize].set(By::Many(index));
        &mut self.many[index as usize]
    }
}

impl Many {
    fn push(&mut self, version: Version, numbered: impl Fn(Txn) -> Numbered) {
        self.list.push(version);
        if self.list.len() <= SHORT {
            return;
        }
        let chained = if self.chains.is_empty() { 0 } else { self.list.len() - 1 };
        for index in chained..self.list.len() {
            let Numbered { session, number } = numbered(self.list[index].writer);
            let write = (number, index as u32);
            match self.chains.binary_search_by_key(&session, |chain| chain.session) {
                Ok(at) => self.chains[at].writes.push(write),
                Err(at) => self.chains.insert(at, Chain { session, writes: vec![write] }),
            }
        }
    }
}

/// The place of the version after this one in the commit order (after the initial one for `None`).
pub(crate) fn next_position(list: &[Version], index: Option<usize>) -> Position {
    list.get(index.map_or(0, |index| index + 1)).map_or(Position::NEVER, |next| next.position)
}

/// How many versions come no later than this place.
pub(crate) fn up_to(list: &[Version], position: Position) -> usize {
    partition_from_end(list, |version| version.position <= position)
}

/// How many versions come before this place.
pub(crate) fn before(list: &[Version], position: Position) -> usize {
    partition_from_end(list, |version| version.position < position)
}

/// `partition_point`, for a point that is most often near the end: looks at the last, then ever further back, so that a
/// long list costs no more than a short one.
pub(crate) fn partition_from_end<T>(list: &[T], before: impl Fn(&T) -> bool) -> usize {
    let (mut end, mut step) = (list.len(), 1);
    while end > 0 {
        let start = end.saturating_sub(step);
        if before(&list[start]) {
            return start + list[start..end].partition_point(before);
        }
        (end, step) = (start, step * 2);
    }
    0
}
