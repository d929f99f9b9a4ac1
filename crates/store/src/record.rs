//! What is remembered of each transaction besides its operations, and the outline of it that others get to see.

use std::ops::Bound;

use skew_model::{Level, Status};

use crate::candidates::Reads;
use crate::choice::Place;
use crate::engine::{Recency, State};
use crate::log::Kept;
use crate::spaces::{Space, within};
use crate::versions::{INIT, Txn};

/// One transaction.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Its session's number.
    pub(crate) session: u32,
    pub(crate) level: Level,
    pub(crate) mode: Reads,
    /// Where its operations are, once it has ended.
    pub(crate) kept: Kept,
    pub(crate) scans: Vec<Scan>,
    /// Whom constraints put before it, once it has committed, and the keys that they looked at.
    pub(crate) commits_after: Vec<(Txn, u32)>,
    /// How many reads from other transactions it has made.
    pub(crate) reads: u32,
    pub(crate) began: i64,
    pub(crate) ended: i64,
}

impl Record {
    pub(crate) fn new(session: u32, level: Level, mode: Reads, began: i64) -> Self {
        let (kept, scans, commits_after) = (Kept::default(), Vec::new(), Vec::new());
        Record { session, level, mode, kept, scans, commits_after, reads: 0, began, ended: began }
    }
}

/// A look at all keys of a part of a space: it has also seen that the keys which came later were not there.
#[derive(Clone, Debug)]
pub(crate) struct Scan {
    pub(crate) part: Part,
    /// How many operations came before.
    pub(crate) at: usize,
    /// How many keys there were.
    pub(crate) keys: usize,
    pub(crate) statement: u32,
    pub(crate) began: i64,
    /// When it was done.
    pub(crate) done: i64,
}

/// A part of a space.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Part {
    pub(crate) space: Space,
    from: Bound<Bytes>,
    to: Bound<Bytes>,
}

/// Bytes; those of most keys need no memory of their own.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Bytes {
    Short { length: u8, bytes: [u8; SHORT] },
    Long(Box<[u8]>),
}

const SHORT: usize = 22;

impl Bytes {
    fn new(all: &[u8]) -> Bytes {
        if all.len() > SHORT {
            return Bytes::Long(all.into());
        }
        let mut bytes = [0; SHORT];
        bytes[..all.len()].copy_from_slice(all);
        Bytes::Short { length: all.len() as u8, bytes }
    }

    fn all(&self) -> &[u8] {
        match self {
            Bytes::Short { length, bytes } => &bytes[..usize::from(*length)],
            Bytes::Long(bytes) => bytes,
        }
    }
}

impl Part {
    pub(crate) fn new(space: Space, from: Bound<&[u8]>, to: Bound<&[u8]>) -> Part {
        Part { space, from: from.map(Bytes::new), to: to.map(Bytes::new) }
    }

    pub(crate) fn from(&self) -> Bound<&[u8]> {
        self.from.as_ref().map(Bytes::all)
    }

    pub(crate) fn to(&self) -> Bound<&[u8]> {
        self.to.as_ref().map(Bytes::all)
    }

    /// Whether a key of the space is in this part.
    pub(crate) fn holds(&self, space: Space, at: &[u8]) -> bool {
        self.space == space && within(at, self.from(), self.to())
    }
}

/// A key's value before anybody who is remembered wrote it.
#[derive(Clone, Debug)]
pub(crate) struct Initial<V> {
    pub(crate) value: Option<V>,
    /// Who wrote it, [`INIT`] if it was always there.
    writer: Txn,
    operation: u32,
}

impl<V> Initial<V> {
    /// It was there from the beginning.
    pub(crate) fn new(value: Option<V>) -> Self {
        Initial { value, writer: INIT, operation: 0 }
    }

    /// It is a forgotten transaction's version, written by this one of its operations.
    pub(crate) fn settled_by(value: Option<V>, (writer, operation): (Txn, u32)) -> Self {
        Initial { value, writer, operation }
    }

    /// The forgotten transaction whose version it is, and which of its operations wrote it.
    pub(crate) fn settled(&self) -> Option<(Txn, u32)> {
        (self.writer != INIT).then_some((self.writer, self.operation))
    }

    /// As if it had been there from the beginning.
    pub(crate) fn unsettle(&mut self) {
        self.writer = INIT;
    }
}

/// Whether begin and end of transactions are told: they mean something only where recency does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Times {
    Told,
    Left,
}

impl Times {
    /// What a store with this recency tells from the start.
    pub(crate) fn of(recency: Recency) -> Times {
        if recency == Recency::Commit { Times::Told } else { Times::Left }
    }
}

/// A transaction of a run, by its place in the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Footprint {
    /// Which transaction.
    pub place: Place,
    /// Its level.
    pub level: Level,
    /// Which candidates its reads could return.
    pub reads: Reads,
    /// How it ended.
    pub status: Status,
    /// What it read from others and wrote, in order.
    pub steps: Vec<FootprintStep>,
}

/// One operation of a [`Footprint`]. Reads of a transaction's own writes are left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FootprintStep {
    /// A read, with the transaction it took its value from; `None` is the initial one.
    Read {
        /// The key's number.
        key: u32,
        /// The transaction that wrote what was read.
        source: Option<Place>,
        /// Which of that transaction's operations: at `ru` it need not be its last write of the key.
        write: u32,
    },
    /// A write.
    Write {
        /// The key's number.
        key: u32,
    },
}

pub(crate) fn status(state: State) -> Status {
    match state {
        State::Committed => Status::Committed,
        State::Open | State::RolledBack | State::Refused => Status::Aborted,
    }
}
