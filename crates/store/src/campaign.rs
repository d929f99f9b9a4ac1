//! Many runs of one program: strategies that choose for one run after another, and may learn from each.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHasher};

use crate::choice::{Choice, Place, Point};
use crate::predict::{Prediction, Predictor};
use crate::run::Run;
use crate::strategies::{Bias, Dice, Pct, Random};

/// How the runs of a campaign choose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// At random; reads may prefer old or fresh versions.
    Random(Bias),
    /// Sessions have priorities that change at so many random turns; reads are random.
    Pct {
        /// How often priorities change in a run.
        changes: usize,
    },
    /// What was done least often in the runs so far: reads return what they have not returned before, sessions take
    /// turns as they have not before.
    Learning,
    /// Each run is steered to where, by the checker, other answers to the reads of the run before are within their level
    /// and not serializable, as many transactions as possible missing each other; what cannot be steered is random.
    Predictive,
}

/// Runs of one program, one after another.
pub struct Campaign {
    strategy: Strategy,
    seed: u64,
    made: u64,
    turns: usize,
    learned: Arc<Mutex<Learned>>,
    predictor: Predictor,
    prediction: Option<Prediction>,
}

impl Campaign {
    /// A campaign that is a function of its seed and of what the runs do.
    pub fn new(strategy: Strategy, seed: u64) -> Campaign {
        let predictor = Predictor::new(Dice::seed_of_run(seed, u64::MAX));
        Campaign { strategy, seed, made: 0, turns: 16, learned: Arc::default(), predictor, prediction: None }
    }

    /// How the next run chooses.
    pub fn choice(&mut self) -> Box<dyn Choice + Send> {
        let seed = Dice::seed_of_run(self.seed, self.made);
        match self.strategy {
            Strategy::Random(bias) => Box::new(Random::biased(seed, bias)),
            Strategy::Pct { changes } => Box::new(Pct::new(seed, changes, self.turns)),
            Strategy::Learning => {
                let learned = self.learned.clone();
                let dice = Dice::new(seed);
                Box::new(Learner { dice, learned, views: Vec::new(), begun: Vec::new(), order: 0 })
            }
            Strategy::Predictive => match self.prediction.take() {
                Some(prediction) => Box::new(Steered { dice: Dice::new(seed), prediction, begun: Vec::new() }),
                None => Box::new(Random::new(seed)),
            },
        }
    }

    /// The run has been made.
    pub fn learn(&mut self, run: &Run) {
        self.made += 1;
        self.turns = run.picks.len().max(1);
        if self.strategy == Strategy::Predictive {
            self.prediction = self.predictor.predict(&run.footprints());
        }
    }
}

/// How often which alternative was taken where.
#[derive(Default)]
struct Learned {
    taken: FxHashMap<(u64, u64), u32>,
}

impl Learned {
    /// The alternatives that were taken least often: first by the whole situation, then by its rough outline.
    fn rarest(&self, situation: u64, outline: u64, alternatives: &[u64]) -> Vec<usize> {
        let times = |place: u64, alternative: u64| self.taken.get(&(place, alternative)).copied().unwrap_or(0);
        let count = |&alternative: &u64| (times(situation, alternative), times(outline, alternative));
        let counts: Vec<(u32, u32)> = alternatives.iter().map(count).collect();
        let least = counts.iter().min().copied().unwrap_or_default();
        (0..counts.len()).filter(|&at| counts[at] == least).collect()
    }

    fn take(&mut self, situation: u64, outline: u64, alternative: u64) {
        *self.taken.entry((situation, alternative)).or_default() += 1;
        *self.taken.entry((outline, alternative)).or_default() += 1;
    }
}

/// Does what was done least often: the situation of a read is all that its session has seen, its outline only which read
/// it is; the situation of a turn is who has begun what in which order, its outline only how much.
struct Learner {
    dice: Dice,
    learned: Arc<Mutex<Learned>>,
    /// For each session, what it has seen in this run.
    views: Vec<u64>,
    /// For each session, how many transactions it has begun.
    begun: Vec<u32>,
    /// The order in which they began.
    order: u64,
}

impl Choice for Learner {
    fn pick(&mut self, point: Point<'_>) -> usize {
        let learned = self.learned.clone();
        let mut learned = learned.lock().unwrap_or_else(PoisonError::into_inner);
        let (situation, outline, alternatives) = match point {
            Point::Turn(sessions) => {
                let alternatives: Vec<u64> = sessions.iter().map(|session| u64::from(session.0)).collect();
                (mixed(&("turn", self.order)), mixed(&("turn", &self.begun)), alternatives)
            }
            Point::Source(read) => {
                let view = self.views.get(read.reader.session as usize).copied().unwrap_or(0);
                let outline = mixed(&(read.reader, read.number));
                (mixed(&(view, outline)), outline, read.sources.iter().map(mixed).collect())
            }
        };
        let rarest = learned.rarest(situation, outline, &alternatives);
        let chosen = rarest[self.dice.below(rarest.len())];
        learned.take(situation, outline, alternatives[chosen]);
        if let Point::Source(read) = point {
            let session = read.reader.session as usize;
            self.views.resize(self.views.len().max(session + 1), 0);
            self.views[session] = mixed(&(situation, alternatives[chosen]));
        }
        chosen
    }

    fn sees_sources(&self) -> bool {
        true
    }

    fn began(&mut self, txn: Place) {
        let session = txn.session as usize;
        self.begun.resize(self.begun.len().max(session + 1), 0);
        self.begun[session] += 1;
        self.order = mixed(&(self.order, txn));
    }
}

fn mixed(value: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Follows a prediction as far as the run does.
struct Steered {
    dice: Dice,
    prediction: Prediction,
    begun: Vec<Place>,
}

impl Choice for Steered {
    fn pick(&mut self, point: Point<'_>) -> usize {
        match point {
            Point::Turn(sessions) => {
                let next = self.prediction.order.iter().filter(|place| !self.begun.contains(place));
                let at = next.filter_map(|place| sessions.iter().position(|session| session.0 == place.session)).next();
                at.unwrap_or_else(|| self.dice.below(sessions.len()))
            }
            Point::Source(read) => {
                let wanted = self.prediction.sources.get(&(read.reader, read.number));
                let at = wanted.and_then(|wanted| read.sources.iter().position(|source| source == wanted));
                at.unwrap_or_else(|| self.dice.below(read.count))
            }
        }
    }

    fn sees_sources(&self) -> bool {
        true
    }

    fn began(&mut self, txn: Place) {
        self.begun.push(txn);
    }
}
