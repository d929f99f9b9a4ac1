//! The outline of a small history: who writes which keys and reads from whom, as bits. For callers who have millions of
//! them to judge, such as exploration: no names, no values, nothing to resolve.
//!
//! The search puts one transaction after the other into the commit order. What a transaction must see comes before it,
//! so its reads are judged as soon as it has its place, and an order that fails is given up at once. Many transactions
//! have too many orders for that: then the answer is unknown, and [`crate::Checker`] has better means.

use skew_model::level::{Sees, Serializable};
use skew_model::{Level, Scope};

/// A set of transactions.
type Set = u16;

/// The most transactions that an outline has.
const MAX_TXNS: usize = Set::BITS as usize;

/// The most keys.
const MAX_KEYS: u32 = u64::BITS;

/// How often transactions are put somewhere before the search is given up.
const PATIENCE: u32 = 20_000;

/// A history of a few committed transactions, in which every operation is a statement of its own and real time does not
/// count.
///
/// ```
/// use skew_check::Outline;
/// use skew_model::{Level, Scope};
///
/// let mut lost_update = Outline::default();
/// for session in 0..2 {
///     lost_update.begin(session, Level::Si);
///     lost_update.read(0, None);
///     lost_update.write(0);
/// }
/// assert_eq!(lost_update.holds(Scope::Level(Level::Pc)), Some(true));
/// assert_eq!(lost_update.holds(Scope::Declared), Some(false));
/// ```
#[derive(Clone, Default, Debug)]
pub struct Outline {
    txns: Vec<Txn>,
    reads: Vec<Read>,
    beyond: bool,
}

#[derive(Clone, Copy, Debug)]
struct Txn {
    level: Level,
    session: u32,
    /// The earlier ones of its session.
    so: Set,
    /// Whom it reads from.
    wr: Set,
    /// The keys that it writes.
    writes: u64,
    /// Where its reads begin.
    first_read: usize,
}

impl Txn {
    fn level_under(&self, scope: Scope) -> Level {
        match scope {
            Scope::Level(level) => level,
            Scope::Declared => self.level,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Read {
    key: u32,
    source: Option<usize>,
    /// Whom earlier reads of its transaction read from.
    earlier: Set,
}

impl Outline {
    /// Begins the next transaction. Those of one session come in its order.
    pub fn begin(&mut self, session: u32, level: Level) {
        self.beyond |= self.txns.len() == MAX_TXNS;
        let before = self.txns.iter().enumerate().filter(|(_, txn)| txn.session == session);
        let so = if self.beyond { 0 } else { before.fold(0, |set, (at, _)| set | one(at)) };
        self.txns.push(Txn { level, session, so, wr: 0, writes: 0, first_read: self.reads.len() });
    }

    /// Begins the next transaction, which sees what all before it have left, whatever their sessions are: it follows them in
    /// session order.
    pub fn begin_after_all(&mut self, session: u32, level: Level) {
        self.begin(session, level);
        let last = self.txns.len() - 1;
        if !self.beyond {
            self.txns[last].so = (0..last).fold(0, |set, at| set | one(at));
        }
    }

    /// The transaction that was begun last writes the key.
    pub fn write(&mut self, key: u32) {
        self.beyond |= key >= MAX_KEYS;
        if let Some(txn) = self.txns.last_mut().filter(|_| !self.beyond) {
            txn.writes |= 1 << key;
        }
    }

    /// The transaction that was begun last reads the key from another one, by its number; `None` is the initial one.
    /// Reads of its own writes are left out.
    pub fn read(&mut self, key: u32, source: Option<usize>) {
        self.beyond |= key >= MAX_KEYS || source.is_some_and(|source| source >= MAX_TXNS);
        if let Some(txn) = self.txns.last_mut().filter(|_| !self.beyond) {
            self.reads.push(Read { key, source, earlier: txn.wr });
            txn.wr |= source.map_or(0, one);
        }
    }

    /// Whether some commit order satisfies the level of every transaction. `None` is unknown: it is too large, or the level
    /// is one that looks at more than outlines have (`ru`, `sser`).
    pub fn holds(&self, scope: Scope) -> Option<bool> {
        let known = |level: Level| {
            let definition = level.definition();
            definition.committed_reads && definition.target.is_none() && !level.is_strict()
        };
        if self.beyond || !self.txns.iter().all(|txn| known(txn.level_under(scope))) {
            return None;
        }
        let mut conflicts = [0; MAX_TXNS];
        for (at, txn) in self.txns.iter().enumerate() {
            let meets = |other: usize| other != at && self.txns[other].writes & txn.writes != 0;
            conflicts[at] = (0..self.txns.len()).filter(|&other| meets(other)).fold(0, |set, other| set | one(other));
        }
        let is_marked =
            |at: &usize| self.txns[*at].level_under(scope).definition().serializable == Serializable::InHappensBefore;
        let marked = (0..self.txns.len()).filter(is_marked).fold(0, |set, at| set | one(at));
        let mut search = Search {
            outline: self,
            scope,
            marked,
            conflicts,
            before: [0; MAX_TXNS],
            causes: [0; MAX_TXNS],
            causes_and_versions: [0; MAX_TXNS],
            patience: PATIENCE,
        };
        let found = search.place_rest(0);
        (found || search.patience > 0).then_some(found)
    }

    fn reads_of(&self, at: usize) -> &[Read] {
        let end = self.txns.get(at + 1).map_or(self.reads.len(), |next| next.first_read);
        &self.reads[self.txns[at].first_read..end]
    }
}

/// A commit order that is being built from its beginning. Who has a place has its past.
struct Search<'a> {
    outline: &'a Outline,
    scope: Scope,
    /// Happens-before is total on them (SERTOTAL).
    marked: Set,
    /// Who writes a common key.
    conflicts: [Set; MAX_TXNS],
    /// Who comes before in the order.
    before: [Set; MAX_TXNS],
    /// `(so ∪ wr)⁺`.
    causes: [Set; MAX_TXNS],
    /// `(so ∪ wr ∪ ww)⁺`, with `ww` from the order.
    causes_and_versions: [Set; MAX_TXNS],
    patience: u32,
}

impl Search<'_> {
    fn place_rest(&mut self, placed: Set) -> bool {
        let count = self.outline.txns.len();
        if placed.count_ones() as usize == count {
            return true;
        }
        for at in (0..count).filter(|&at| placed & one(at) == 0) {
            if self.patience == 0 {
                return false;
            }
            if self.place(at, placed) && self.place_rest(placed | one(at)) {
                return true;
            }
        }
        false
    }

    /// Puts a transaction right after those who have a place; whether it can be there.
    fn place(&mut self, at: usize, placed: Set) -> bool {
        let txn = &self.outline.txns[at];
        let so = if txn.level_under(self.scope).definition().sessions { txn.so } else { 0 };
        let direct = so | txn.wr;
        if direct & !placed != 0 {
            return false;
        }
        self.patience -= 1;
        self.before[at] = placed;
        let direct = if self.marked & one(at) == 0 { direct } else { direct | self.marked & placed };
        self.causes[at] = with_past(direct, &self.causes);
        let versions = direct | self.conflicts[at] & placed;
        self.causes_and_versions[at] = with_past(versions, &self.causes_and_versions);
        self.outline.reads_of(at).iter().all(|read| {
            // Every other writer of the key that must be seen comes before the source.
            let (source, before) = read.source.map_or((0, 0), |source| (one(source), self.before[source]));
            let late = self.must_see(at, read) & !source & !before;
            members(late).all(|other| self.outline.txns[other].writes & 1 << read.key == 0)
        })
    }

    fn must_see(&self, at: usize, read: &Read) -> Set {
        let txn = &self.outline.txns[at];
        let definition = txn.level_under(self.scope).definition();
        let seen = definition.sees.iter().fold(0, |seen, sees| {
            seen | match sees {
                // Every operation is a statement.
                Sees::EarlierReads | Sees::StatementReads | Sees::ReadsInTurn => read.earlier,
                Sees::OwnStatementRow | Sees::LockedReads => 0,
                Sees::Reads | Sees::PlainReads => txn.wr,
                Sees::Session => txn.so,
                Sees::Causes => self.causes[at],
                Sees::CausesAndVersions => self.causes_and_versions[at],
                // Outlines have no values: every write leaves a row.
                Sees::Conflicts | Sees::RowConflicts => self.conflicts[at] & self.before[at],
                Sees::Everything => self.before[at],
            }
        });
        if definition.prefix { with_past(seen, &self.before) } else { seen }
    }
}

fn one(at: usize) -> Set {
    1 << at
}

fn members(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(first)
    })
}

/// A set and everything in its members' pasts.
fn with_past(set: Set, past: &[Set; MAX_TXNS]) -> Set {
    members(set).fold(set, |all, member| all | past[member])
}
