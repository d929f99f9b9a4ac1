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
    /// Reads return first what they have not returned before to a session that had seen the same; turns are random.
    Learning,
    /// Each run is steered to where, by the checker, a change of a read or two in an earlier run makes it
    /// non-serializable at its level; what cannot be steered is random.
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
                Box::new(Learner { dice: Dice::new(seed), learned: self.learned.clone(), views: Vec::new() })
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

/// How often sessions that had seen the same were then given which source.
#[derive(Default)]
struct Learned {
    given: FxHashMap<(u64, Option<Place>), u32>,
}

/// Gives each session what it has been given least often.
struct Learner {
    dice: Dice,
    learned: Arc<Mutex<Learned>>,
    /// For each session, what it has seen in this run.
    views: Vec<u64>,
}

impl Choice for Learner {
    fn pick(&mut self, point: Point<'_>) -> usize {
        let read = match point {
            Point::Turn(sessions) => return self.dice.below(sessions.len()),
            Point::Source(read) => read,
        };
        let session = read.reader.session as usize;
        if self.views.len() <= session {
            self.views.resize(session + 1, 0);
        }
        let before = mixed(&(self.views[session], read.reader, read.number));
        let learned = self.learned.clone();
        let mut learned = learned.lock().unwrap_or_else(PoisonError::into_inner);
        let given = |source: &Option<Place>| learned.given.get(&(before, *source)).copied().unwrap_or(0);
        let least = read.sources.iter().map(given).min().unwrap_or(0);
        let rare: Vec<usize> = (0..read.count).filter(|&at| given(&read.sources[at]) == least).collect();
        let chosen = rare[self.dice.below(rare.len())];
        let source = read.sources[chosen];
        *learned.given.entry((before, source)).or_default() += 1;
        self.views[session] = mixed(&(before, source));
        chosen
    }

    fn sees_sources(&self) -> bool {
        true
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
