//! How a database's reads choose among the versions that they may return: at random, or as a plan says; and what they
//! have chosen.
//!
//! A read is known by its place: which session in the order of their first transactions, which of its transactions,
//! which of its reads. Runs that do the same have the same places, so that what one run chose can be asked of the next.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use skew_model::Key;
use skew_store::strategies::{Bias, Random};
use skew_store::{Choice, Place, Point};

use crate::session::guide::Guide;
use crate::session::{ChoiceKind, Options};

/// The place of a read in a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ReadPlace {
    /// Its session, numbered from zero by their first transactions.
    pub session: u32,
    /// Its transaction in the session.
    pub txn: u32,
    /// The read in the transaction, among those of other transactions' writes.
    pub read: u32,
}

/// A read that did not return the freshest version that it could have returned.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct StaleRead {
    /// Which read.
    pub place: ReadPlace,
    /// How many versions it went back.
    pub back: u32,
}

/// A read that had a choice.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) place: ReadPlace,
    pub(crate) reader: Place,
    pub(crate) key: Key,
    /// Whom it could have read from, oldest first; `None` is the initial state. Empty if there were many.
    pub(crate) sources: Vec<Option<Place>>,
    pub(crate) back: u32,
}

/// Who decides what reads return.
pub(crate) struct Steering {
    random: Random,
    /// How far these reads go back; all others return the freshest version.
    plan: Option<FxHashMap<ReadPlace, u32>>,
    /// The sessions by their number in the store: their place, and how many transactions they have begun.
    sessions: FxHashMap<u32, (u32, u32)>,
    chosen: Option<Vec<Chosen>>,
    /// Who answers instead, if every way is to be tried.
    guide: Option<Arc<Mutex<Guide>>>,
}

impl Steering {
    /// Reads that choose as the options say.
    pub(crate) fn new(options: &Options) -> Steering {
        let bias = match options.choice {
            // Snapshots ask nobody.
            ChoiceKind::Random | ChoiceKind::Postgres => Bias::Uniform,
            ChoiceKind::Old => Bias::Old,
            ChoiceKind::Fresh => Bias::Fresh,
        };
        let random = Random::biased(options.seed, bias);
        Steering { random, plan: None, sessions: FxHashMap::default(), chosen: None, guide: None }
    }

    /// From now on what is chosen is kept.
    pub(crate) fn keep(&mut self) {
        self.chosen = Some(Vec::new());
    }

    /// These reads go back so far, the others return the freshest version.
    pub(crate) fn follow(&mut self, plan: &[StaleRead]) {
        self.plan = Some(plan.iter().map(|stale| (stale.place, stale.back)).collect());
    }

    /// Whether a run is made by plan, as exploration does.
    pub(crate) fn is_guided(&self) -> bool {
        self.guide.is_some()
    }

    /// The guide answers from now on.
    pub(crate) fn be_guided(&mut self, guide: Arc<Mutex<Guide>>) {
        self.guide = Some(guide);
    }

    /// The session has begun a transaction.
    pub(crate) fn began(&mut self, session: u32) {
        let place = self.sessions.len() as u32;
        let begun = self.sessions.entry(session).or_insert((place, 0));
        begun.1 += 1;
        if let Some(guide) = &self.guide {
            let place = Place { session, txn: begun.1 - 1 };
            guide.lock().unwrap_or_else(PoisonError::into_inner).began(place);
        }
    }

    /// What was chosen since [`Steering::keep`].
    pub(crate) fn chosen(&self) -> &[Chosen] {
        self.chosen.as_deref().unwrap_or_default()
    }
}

impl Choice for Steering {
    fn pick(&mut self, point: Point<'_>) -> usize {
        if let Some(guide) = &self.guide {
            let mut guide = guide.lock().unwrap_or_else(PoisonError::into_inner);
            return match point {
                Point::Source(read) => guide.pick_source(read.reader, read.count, read.sources),
                Point::Turn(_) => guide.pick(point.count()),
            };
        }
        let Point::Source(read) = point else { return self.random.pick(point) };
        let (session, begun) = self.sessions.get(&read.reader.session).copied().unwrap_or((u32::MAX, 1));
        let place = ReadPlace { session, txn: begun - 1, read: read.number };
        let freshest = read.count - 1;
        let picked = match &mut self.plan {
            // Asked again, because the version was not allowed here: a fresher one.
            Some(plan) => match plan.get_mut(&place) {
                Some(back) => freshest.saturating_sub(std::mem::replace(back, back.saturating_sub(1)) as usize),
                None => freshest,
            },
            None => self.random.pick(point),
        };
        if let Some(chosen) = &mut self.chosen {
            let (reader, key, sources) = (read.reader, read.key, read.sources.to_vec());
            // The last answer to the same question counts.
            chosen.pop_if(|last| last.place == place);
            chosen.push(Chosen { place, reader, key, sources, back: (freshest - picked) as u32 });
        }
        picked
    }

    fn sees_sources(&self) -> bool {
        self.chosen.is_some() || self.guide.is_some()
    }
}
