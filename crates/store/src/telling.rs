//! What a store tells of itself: the history, who read from whom, and what exploration has to know.

use rustc_hash::FxHashMap;
use skew_check::Outline;
use skew_model::{History, Key, Literal, TxnId};

use crate::engine::State;
use crate::log::{Action, Op, Statement};
use crate::record::{Footprint, FootprintStep, Times, status};
use crate::spaces::NAMES;
use crate::store::{Reads, Store};
use crate::tale::{Judged, Progress, Tale, Words};
use crate::versions::{INIT, Txn};

/// A history, with what it leaves out of each operation.
#[derive(Clone, Debug)]
pub struct Told {
    /// What happened.
    pub history: History,
    /// For each operation of the history, by number, where it comes from.
    pub operations: Vec<ToldOperation>,
}

/// Where an operation of a history comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ToldOperation {
    /// The store's transaction.
    pub txn: TxnId,
    /// The statement's number in it: how often [`Store::statement`] had been called.
    pub statement: u32,
    /// For a read, whether it returned the last version.
    pub freshness: Freshness,
}

/// Whether a read returned the last version that was committed when it took place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Freshness {
    /// The last one. Writes and reads of a transaction's own writes count as this.
    Last,
    /// Newer ones had been committed.
    Stale,
}

/// A history that is being told in pieces.
pub struct Telling<V> {
    tale: Tale<V>,
    /// The store has not been reset since.
    generation: u64,
}

/// A history that has been told to its end.
pub struct FinishedTelling<V>(Tale<V>);

impl<V: Clone> FinishedTelling<V> {
    /// What was told. It takes a while, and does not need the store.
    pub fn told(self) -> Told {
        self.0.finish()
    }
}

/// What has become of a telling.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TellingStatus {
    /// There is more to tell.
    More,
    /// All has been told.
    Done,
    /// The store was reset meanwhile: what was to be told is gone.
    Gone,
}

impl<V: Clone> Telling<V> {
    /// Tells about so many operations more, with names for keys and literals for values.
    pub fn go_on(
        &mut self,
        store: &Store<V>,
        operations: usize,
        name: &mut dyn FnMut(Key) -> String,
        literal: &mut dyn FnMut(&V) -> Literal,
    ) -> TellingStatus {
        if self.generation != store.generation {
            return TellingStatus::Gone;
        }
        match self.tale.go_on(store, operations, &mut Words { name, literal }) {
            Progress::More => TellingStatus::More,
            Progress::Done => TellingStatus::Done,
        }
    }

    /// How many operations it has told.
    pub fn operations(&self) -> usize {
        self.tale.told()
    }
}

impl<V: Clone> Store<V> {
    /// Everything that happened, transactions in the order in which they began.
    pub fn history(&self, mut literal: impl FnMut(&V) -> Literal) -> History {
        self.tale(Judged::AsItWas, &mut |key| self.key_name(key).into_owned(), &mut literal).history
    }

    /// The same with names for keys, of which only those that were used are told, and where each operation comes from.
    pub fn told(&self, mut name: impl FnMut(Key) -> String, mut literal: impl FnMut(&V) -> Literal) -> Told {
        let words = &mut Words { name: &mut name, literal: &mut literal };
        Tale::begin(self, Judged::AsItWas).tell(self, words)
    }

    /// The same in pieces, between which the store goes on: what has happened until now is going to be told. Until the
    /// telling is [given back](Store::end_telling), nothing is forgotten.
    pub fn begin_telling(&mut self) -> Telling<V> {
        self.tellings += 1;
        Telling { tale: Tale::begin(self, Judged::AsItWas), generation: self.generation }
    }

    /// A telling is over, or is given up. What it has told; `None` if it had not come to its end.
    pub fn end_telling(&mut self, telling: Telling<V>) -> Option<FinishedTelling<V>> {
        // A reset has forgotten all tellings of before.
        self.tellings -= usize::from(telling.generation == self.generation);
        telling.tale.is_done().then_some(FinishedTelling(telling.tale))
    }

    /// The history in which transactions that were rolled back have committed what they read.
    pub(crate) fn judged_history(&self, mut literal: impl FnMut(&V) -> Literal) -> History {
        self.tale(Judged::AllCommitted, &mut |key| self.key_name(key).into_owned(), &mut literal).history
    }

    /// The same history in outline; `None` where statements of several operations, scans, real time or what was undone or
    /// forgotten play a part, which outlines do not have.
    pub(crate) fn judged_outline(&self) -> Option<Outline> {
        if self.engine.base != 0 || self.times == Times::Told || self.checkpoint.is_some() {
            return None;
        }
        let mut outline = Outline::default();
        for (txn, record) in (0..).zip(&self.records) {
            let (ops, commits) = (self.ops(txn), self.engine.txn(txn).state == State::Committed);
            let statements = self.statements_of(txn);
            let one_each =
                ops.len() == statements.len() && statements.is_sorted_by(|one, next| one.number < next.number);
            if !record.scans.is_empty() || !record.commits_after.is_empty() || !one_each {
                return None;
            }
            match record.mode {
                // A final check would be within its level with an older state, too, but that is not what is left.
                Reads::Settled | Reads::Latest => outline.begin_after_all(record.session, record.level),
                _ => outline.begin(record.session, record.level),
            }
            for op in ops {
                match op.action() {
                    Action::Read(INIT, _) => outline.read(op.key, None),
                    Action::Read(source, _) => outline.read(op.key, Some(source as usize)),
                    Action::Write { .. } if commits => outline.write(op.key),
                    Action::Write { .. } | Action::OwnRead(_) => {}
                    Action::UndoneWrite | Action::UndoneRead | Action::Withdrawal(_) => return None,
                }
            }
        }
        Some(outline)
    }

    fn tale(
        &self,
        judged: Judged,
        name: &mut dyn FnMut(Key) -> String,
        literal: &mut dyn FnMut(&V) -> Literal,
    ) -> Told {
        let words = &mut Words { name, literal };
        let mut tale = Tale::begin(self, judged);
        for key in self.named_keys() {
            tale.key(self, key.0, words);
        }
        tale.tell(self, words)
    }

    /// The keys that have names, in the order in which they were made.
    pub(crate) fn named_keys(&self) -> impl Iterator<Item = Key> + '_ {
        self.spaces.made_since(NAMES, 0).map(|(key, _)| Key(key))
    }

    /// Whether a transaction began before another one had ended.
    pub(crate) fn overlaps(&self) -> bool {
        let next = self.records.iter().skip(1);
        self.records.iter().zip(next).any(|(first, second)| second.began < first.ended)
    }

    /// Whether a transaction has looked for keys by prefix.
    pub(crate) fn scans(&self) -> bool {
        self.records.iter().any(|record| !record.scans.is_empty())
    }

    /// The names of all keys that have one.
    pub(crate) fn key_names(&self) -> Vec<String> {
        self.named_keys().map(|key| self.key_name(key).into_owned()).collect()
    }

    /// Who read from whom, transactions in the order in which they began.
    pub fn footprints(&self) -> Vec<Footprint> {
        let txns = self.engine.base..self.engine.base + self.records.len() as u32;
        txns.map(|txn| self.footprint(txn)).collect()
    }

    fn footprint(&self, txn: Txn) -> Footprint {
        let record = self.record(txn);
        let ops = self.ops(txn);
        let counts = if ops.iter().all(Op::stands_alone) { Vec::new() } else { self.counting(txn) };
        let steps = ops.iter().enumerate().filter_map(|(at, op)| match op.action() {
            _ if counts.get(at) == Some(&Counts::No) => None,
            Action::Write { .. } => Some(FootprintStep::Write { key: op.key }),
            Action::Read(source, write) => Some(FootprintStep::Read { key: op.key, source: self.place(source), write }),
            Action::OwnRead(_) | Action::UndoneWrite | Action::UndoneRead | Action::Withdrawal(_) => None,
        });
        let steps = steps.collect();
        let status = status(self.engine.txn(txn).state);
        let place = self.place(txn).expect("a transaction that is remembered has a place");
        Footprint { place, level: record.level, reads: record.mode, status, steps }
    }

    /// The statements of a transaction that have operations.
    pub(crate) fn statements_of(&self, txn: Txn) -> &[Statement] {
        self.operations.statements(&self.engine, txn, self.record(txn))
    }

    /// For each operation of a transaction, whether it counts.
    pub(crate) fn counting(&self, txn: Txn) -> Vec<Counts> {
        counting(self.ops(txn), self.statements_of(txn))
    }
}

/// For each operation of a transaction, whether it counts: it was not undone, nor did its statement look again at the key
/// under its lock, or withdraw what it had read.
pub(crate) fn counting<V>(ops: &[Op<V>], statements: &[Statement]) -> Vec<Counts> {
    let ranges = || {
        statements.iter().enumerate().map(|(at, statement)| {
            let end = statements.get(at + 1).map_or(ops.len(), |next| next.first as usize);
            (statement.number, statement.first as usize..end)
        })
    };
    // Where each statement looked again at a key for the last time.
    let mut looked_again: FxHashMap<(u32, u32), usize> = FxHashMap::default();
    for (statement, range) in ranges() {
        for at in range {
            let op = &ops[at];
            if let Action::Withdrawal(count) = op.action() {
                looked_again.extend((op.key..op.key + count).map(|key| ((statement, key), at)));
            }
        }
    }
    let mut counting = Vec::with_capacity(ops.len());
    for (statement, range) in ranges() {
        counting.extend(range.map(|at| match ops[at].action() {
            Action::UndoneWrite | Action::UndoneRead | Action::Withdrawal(_) => Counts::No,
            Action::Read(..)
                if !ops[at].is_locked()
                    && looked_again.get(&(statement, ops[at].key)).is_some_and(|&again| again > at) =>
            {
                Counts::No
            }
            _ => Counts::Yes,
        }));
    }
    counting
}

/// Whether an operation counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Counts {
    Yes,
    No,
}
