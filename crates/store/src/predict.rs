//! Prediction: which reads of a run that was made, answered differently, would make it non-serializable at its level.
//!
//! The transactions of a run can be executed again in thought, on the engine alone, in another order and with other
//! answers within their levels. Of several such runs those are taken first in which most pairs of transactions miss each
//! other's writes, as both sides of a lost update and of a write skew do; the checker confirms that one is not
//! serializable, and the next run is steered there. It is a guess: what a session does may depend on what it reads.
//! Predictions that were made before are not made again.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use skew_check::{Checker, Options};
use skew_model::{History, HistoryBuilder, Level, OpKind, Scope, Status, TxnId};

use crate::candidates::{Candidates, Listing, Reads};
use crate::choice::Place;
use crate::engine::{Engine, Looks, OwnRow, Recency, State};
use crate::record::{Footprint, FootprintStep};
use crate::sight::Sight;
use crate::strategies::Dice;

/// A run to be steered to.
#[derive(Clone, Debug)]
pub(crate) struct Prediction {
    /// The transactions, in an order in which every source comes before its readers.
    pub(crate) order: Vec<Place>,
    /// For each read, by number in its transaction, whom it reads from.
    pub(crate) sources: FxHashMap<(Place, u32), Option<Place>>,
}

/// How many runs are imagined for the next one.
const IMAGINED: usize = 16;

/// How many of them are judged by the checker, the heaviest first.
const JUDGED: usize = 4;

/// Larger runs are not looked at: it would take longer than running them.
const MAX_TXNS: usize = 64;

/// Remembers what was predicted.
pub(crate) struct Predictor {
    dice: Dice,
    predicted: FxHashSet<u64>,
}

/// A run that nobody has made.
struct Imagined {
    /// Its transactions, in the order of their execution.
    run: Vec<Footprint>,
    weight: usize,
}

impl Predictor {
    pub(crate) fn new(seed: u64) -> Predictor {
        Predictor { dice: Dice::new(seed), predicted: FxHashSet::default() }
    }

    /// A non-serializable run of the transactions of this one.
    pub(crate) fn predict(&mut self, run: &[Footprint]) -> Option<Prediction> {
        if run.len() > MAX_TXNS {
            return None;
        }
        self.predicted.insert(identity(run));
        let mut imagined: Vec<Imagined> = (0..IMAGINED).filter_map(|_| self.imagine(run)).collect();
        imagined.sort_by_key(|imagined| std::cmp::Reverse(imagined.weight));
        let best = imagined.into_iter().take(JUDGED).find(|imagined| is_wanted(&imagined.run))?;
        self.predicted.insert(identity(&best.run));
        let order = best.run.iter().map(|print| print.place).collect();
        Some(Prediction { order, sources: sources(&best.run) })
    }

    /// The same transactions in another order and with other answers to their reads, all within their levels; unless
    /// that was predicted before, or is serializable at first sight.
    fn imagine(&mut self, run: &[Footprint]) -> Option<Imagined> {
        let mut engine = Engine::new(Recency::None);
        let sessions = run.iter().map(|print| print.place.session + 1).max()?;
        let keys = run.iter().flat_map(|print| print.steps.iter().map(key_of)).max()? + 1;
        (0..sessions).for_each(|_| _ = engine.session());
        (0..keys).for_each(|_| _ = engine.key());
        let mut left: Vec<&Footprint> = run.iter().collect();
        let mut imagined: Vec<Footprint> = Vec::new();
        while !left.is_empty() {
            let session = left[self.dice.below(left.len())].place.session;
            let next = left.iter().position(|print| print.place.session == session)?;
            let print = self.execute(&mut engine, left.remove(next), &imagined)?;
            imagined.push(print);
        }
        let weight = weight(&imagined);
        let new = weight > 0 && !self.predicted.contains(&identity(&imagined));
        new.then_some(Imagined { run: imagined, weight })
    }

    /// Executes a transaction with random answers. `None` if it meets a conflict.
    fn execute(&mut self, engine: &mut Engine, print: &Footprint, before: &[Footprint]) -> Option<Footprint> {
        let txn = engine.begin(print.place.session, print.level, Sight::of(print.level)?, Looks::Any);
        let mut print = print.clone();
        let mut written: Vec<u32> = Vec::new();
        let mut found = Candidates::default();
        for step in &mut print.steps {
            match step {
                FootprintStep::Write { key } if written.contains(key) => {}
                FootprintStep::Write { key } => {
                    engine.write(txn, *key, 0).ok()?;
                    written.push(*key);
                }
                FootprintStep::Read { key, source, .. } => {
                    engine.candidates(txn, *key, Reads::Any, Listing::All, &mut found);
                    let chosen = *found.listed.get(self.dice.below(found.listed.len().max(1)))?;
                    engine.read(txn, *key, chosen, OwnRow::No);
                    // The engine numbers transactions as they begin.
                    *source = before.get(chosen as usize).map(|print| print.place);
                }
            }
        }
        match print.status {
            Status::Committed => engine.commit(txn).ok()?,
            _ => engine.roll_back(txn, State::RolledBack),
        }
        Some(print)
    }
}

/// Whether the run is within its levels and not serializable.
fn is_wanted(run: &[Footprint]) -> bool {
    let history = history(run);
    let checker = Checker::new(&history, Options::default());
    checker.holds(Scope::Declared) == Some(true) && checker.holds(Scope::Level(Level::Ser)) == Some(false)
}

/// How many pairs of transactions miss each other's writes.
fn weight(run: &[Footprint]) -> usize {
    let at = |place: Place| run.iter().position(|print| print.place == place).expect("a source ran");
    // For each transaction, what it depends on, as bits.
    let mut past: Vec<u64> = Vec::new();
    for (reader, print) in run.iter().enumerate() {
        let session = (0..reader).filter(|&other| run[other].place.session == print.place.session);
        let sources = reads_from(print).into_iter().flatten().map(at);
        past.push(session.chain(sources).fold(0, |bits, other| bits | past[other] | 1 << other));
    }
    let misses = |reader: usize, writer: usize| {
        let known = past[reader] >> writer & 1 == 1;
        let overwrites = |step: &FootprintStep| match *step {
            FootprintStep::Read { key, source, .. } => {
                let source = source.map(at);
                let before = source.is_some_and(|source| source == writer || past[source] >> writer & 1 == 1);
                !before && writes(&run[writer], key)
            }
            FootprintStep::Write { .. } => false,
        };
        !known && run[reader].steps.iter().any(overwrites)
    };
    let pairs = (0..run.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    pairs.filter(|&(a, b)| misses(a, b) && misses(b, a)).count()
}

fn writes(print: &Footprint, key: u32) -> bool {
    print.status == Status::Committed && print.steps.contains(&FootprintStep::Write { key })
}

fn key_of(step: &FootprintStep) -> u32 {
    let (FootprintStep::Read { key, .. } | FootprintStep::Write { key }) = *step;
    key
}

fn sources(run: &[Footprint]) -> FxHashMap<(Place, u32), Option<Place>> {
    let mut sources = FxHashMap::default();
    for print in run {
        let read_from = print.steps.iter().filter_map(|step| match *step {
            FootprintStep::Read { source, .. } => Some(source),
            FootprintStep::Write { .. } => None,
        });
        sources.extend(read_from.enumerate().map(|(number, source)| ((print.place, number as u32), source)));
    }
    sources
}

fn identity(run: &[Footprint]) -> u64 {
    let mut prints: Vec<_> = run.iter().map(|print| (print.place, reads_from(print))).collect();
    prints.sort();
    let mut hasher = FxHasher::default();
    prints.hash(&mut hasher);
    hasher.finish()
}

fn reads_from(print: &Footprint) -> Vec<Option<Place>> {
    let source = |step: &FootprintStep| match *step {
        FootprintStep::Read { source, .. } => Some(source),
        FootprintStep::Write { .. } => None,
    };
    print.steps.iter().filter_map(source).collect()
}

fn history(run: &[Footprint]) -> History {
    let mut builder = HistoryBuilder::new();
    let id = |place: Place| TxnId(run.iter().position(|print| print.place == place).expect("a source ran") as u32);
    for print in run {
        let session = builder.session(i64::from(print.place.session));
        let txn = builder.begin(session, format!("t{}.{}", print.place.session, print.place.txn));
        builder.level(txn, print.level);
        builder.status(txn, print.status);
        for step in &print.steps {
            let name = builder.key(i64::from(key_of(step)));
            let value = builder.names().int(0);
            builder.init_key(name, value);
            match *step {
                FootprintStep::Write { .. } => _ = builder.op(OpKind::Write, name, value),
                FootprintStep::Read { source, .. } => {
                    let read = builder.op(OpKind::Read, name, value);
                    builder.source(read, source.map(id));
                }
            }
        }
    }
    builder.finish()
}
