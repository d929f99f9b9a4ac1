//! Who wrote a key, by session and in commit order.

use crate::position::Position;

/// A transaction of the store; the initial one is [`INIT`].
pub(crate) type Txn = u32;

/// The initial transaction: it writes every key.
pub(crate) const INIT: Txn = u32::MAX;

/// How many writers of a key that did not commit can be read from at `ru`, besides those that run.
const ROLLED_BACK: usize = 64;

/// A committed write of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version {
    pub(crate) writer: Txn,
    /// Which of its operations it is.
    pub(crate) operation: u32,
    /// The writer's place in the commit order, once that is closed.
    pub(crate) position: Position,
    /// The latest place from which somebody looked at the key and took this version for the newest.
    pub(crate) looked: Position,
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

/// The versions of one key, in commit order: the order of the calls while the commit order is open, `co` once it is
/// closed.
#[derive(Clone, Debug)]
pub(crate) struct Versions {
    pub(crate) list: Vec<Version>,
    /// Ascending by session.
    pub(crate) chains: Vec<Chain>,
    /// Who has written the key without committing: running, and the last ones that were rolled back.
    pub(crate) dirty: Vec<Txn>,
    /// The latest place from which somebody took the initial version for the newest.
    pub(crate) looked: Position,
}

impl Versions {
    pub(crate) fn new() -> Self {
        Versions { list: Vec::new(), chains: Vec::new(), dirty: Vec::new(), looked: Position::FIRST }
    }

    pub(crate) fn push(&mut self, version: Version, session: u32, number: u32) {
        let index = self.list.len() as u32;
        self.list.push(version);
        match self.chains.binary_search_by_key(&session, |chain| chain.session) {
            Ok(at) => self.chains[at].writes.push((number, index)),
            Err(at) => self.chains.insert(at, Chain { session, writes: vec![(number, index)] }),
        }
    }

    /// A writer that was rolled back stays where `ru` can see it, until there are many after it.
    pub(crate) fn rolled_back(&mut self, writer: Txn) {
        let at = self.dirty.iter().position(|&other| other == writer);
        at.into_iter().for_each(|at| _ = self.dirty.remove(at));
        if self.dirty.len() >= ROLLED_BACK {
            self.dirty.remove(0);
        }
        self.dirty.push(writer);
    }

    /// The session's writes.
    pub(crate) fn chain(&self, session: u32) -> Option<&Chain> {
        let at = self.chains.binary_search_by_key(&session, |chain| chain.session).ok()?;
        Some(&self.chains[at])
    }

    /// The index of the version that this transaction of the session wrote.
    pub(crate) fn by(&self, session: u32, number: u32) -> Option<usize> {
        let chain = self.chain(session)?;
        let at = chain.up_to(number).checked_sub(1)?;
        let (write, index) = chain.writes[at];
        (write == number).then_some(index as usize)
    }

    /// For each session, the last version by its transactions up to the number in the clock.
    pub(crate) fn seen_by<'a>(&'a self, clock: &'a [u32]) -> impl Iterator<Item = Seen> + 'a {
        self.chains.iter().filter_map(|chain| {
            let at = chain.up_to(clock[chain.session as usize]).checked_sub(1)?;
            let (number, index) = chain.writes[at];
            Some(Seen { writer: self.list[index as usize].writer, session: chain.session, number })
        })
    }

    /// The place of the version after this one in the commit order (after the initial one for `None`).
    pub(crate) fn next_position(&self, index: Option<usize>) -> Position {
        self.list.get(index.map_or(0, |index| index + 1)).map_or(Position::NEVER, |next| next.position)
    }

    /// How many versions come no later than this place.
    pub(crate) fn up_to(&self, position: Position) -> usize {
        partition_from_end(&self.list, |version| version.position <= position)
    }

    /// How many versions come before this place.
    pub(crate) fn before(&self, position: Position) -> usize {
        partition_from_end(&self.list, |version| version.position < position)
    }
}

/// A version that somebody sees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) writer: Txn,
    pub(crate) session: u32,
    pub(crate) number: u32,
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
