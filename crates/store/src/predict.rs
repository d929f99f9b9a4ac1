//! Prediction: which reads of a run that was made, answered differently, would make it non-serializable at its level.
//!
//! The run's transactions with other sources for one or two reads are a history that the checker can judge before
//! anybody runs it. It is a guess: what a session does next may depend on what it reads. Predictions that were made
//! before are not made again.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use skew_check::{Checker, Options};
use skew_model::{History, HistoryBuilder, Level, OpKind, Scope, Status, TxnId};

use crate::choice::Place;
use crate::record::{Footprint, FootprintStep};
use crate::strategies::Dice;

/// A run to be steered to.
#[derive(Clone, Debug)]
pub(crate) struct Prediction {
    /// The transactions, in an order in which every source comes before its readers.
    pub(crate) order: Vec<Place>,
    /// For each read, by number in its transaction, whom it reads from.
    pub(crate) sources: FxHashMap<(Place, u32), Option<Place>>,
}

/// How many changes of a run are judged before its successor is left to chance.
const TRIES: usize = 24;

/// Larger runs are not judged: it would take longer than running them.
const MAX_TXNS: usize = 200;

/// Remembers what was predicted.
pub(crate) struct Predictor {
    dice: Dice,
    predicted: FxHashSet<u64>,
}

/// A read of a run.
#[derive(Clone, Copy)]
struct Read {
    reader: usize,
    number: u32,
    key: u32,
}

impl Predictor {
    pub(crate) fn new(seed: u64) -> Predictor {
        Predictor { dice: Dice::new(seed), predicted: FxHashSet::default() }
    }

    /// A non-serializable run near this one.
    pub(crate) fn predict(&mut self, run: &[Footprint]) -> Option<Prediction> {
        if run.len() > MAX_TXNS {
            return None;
        }
        let reads = reads(run);
        self.predicted.insert(identity(run));
        for attempt in 0..TRIES {
            let mut changed = run.to_vec();
            for _ in 0..1 + attempt % 2 {
                self.change(&mut changed, &reads)?;
            }
            let Some(order) = order(&changed) else { continue };
            if !self.predicted.insert(identity(&changed)) {
                continue;
            }
            let history = history(&changed);
            let checker = Checker::new(&history, Options::default());
            let declared = checker.holds(Scope::Declared);
            if declared == Some(true) && checker.holds(Scope::Level(Level::Ser)) == Some(false) {
                return Some(Prediction { order, sources: sources(&changed) });
            }
        }
        None
    }

    /// Lets a random read read from another writer of its key. `None` if there is nothing to change.
    fn change(&mut self, run: &mut [Footprint], reads: &[Read]) -> Option<()> {
        if reads.is_empty() {
            return None;
        }
        let read = reads[self.dice.below(reads.len())];
        let writers = run.iter().enumerate().filter(|&(at, print)| at != read.reader && writes(print, read.key));
        let places: Vec<Option<Place>> =
            [None].into_iter().chain(writers.map(|(_, print)| Some(print.place))).collect();
        let chosen = places[self.dice.below(places.len())];
        let mut number = 0;
        for step in &mut run[read.reader].steps {
            if let FootprintStep::Read { source, .. } = step {
                if number == read.number {
                    *source = chosen;
                }
                number += 1;
            }
        }
        Some(())
    }
}

fn writes(print: &Footprint, key: u32) -> bool {
    print.status == Status::Committed && print.steps.contains(&FootprintStep::Write { key })
}

fn reads(run: &[Footprint]) -> Vec<Read> {
    let mut reads = Vec::new();
    for (reader, print) in run.iter().enumerate() {
        let keys = print.steps.iter().filter_map(|step| match *step {
            FootprintStep::Read { key, .. } => Some(key),
            FootprintStep::Write { .. } => None,
        });
        reads.extend(keys.enumerate().map(|(number, key)| Read { reader, number: number as u32, key }));
    }
    reads
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

/// An order in which every session goes on and every source comes before its readers, as near to the run's as can be.
fn order(run: &[Footprint]) -> Option<Vec<Place>> {
    let mut order: Vec<Place> = Vec::new();
    let mut left: Vec<&Footprint> = run.iter().collect();
    while !left.is_empty() {
        let waits = |print: &Footprint| {
            let earlier =
                left.iter().any(|other| other.place.session == print.place.session && other.place < print.place);
            earlier || reads_from(print).iter().flatten().any(|source| left.iter().any(|other| other.place == *source))
        };
        let next = left.iter().position(|print| !waits(print))?;
        order.push(left.remove(next).place);
    }
    Some(order)
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
            let (FootprintStep::Read { key, .. } | FootprintStep::Write { key }) = *step;
            let name = builder.key(i64::from(key));
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
