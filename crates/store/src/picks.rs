//! The answers of a choice as data: recorded, taken up again, and counted through.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::choice::{Choice, Place, Point};

/// One answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pick {
    /// The alternative that was taken.
    pub chosen: u32,
    /// How many there were.
    pub among: u32,
}

/// Two owners of one choice: the run that asks it, and who wants to look at it afterwards.
impl<C: Choice + ?Sized> Choice for Arc<Mutex<C>> {
    fn pick(&mut self, point: Point<'_>) -> usize {
        self.lock().unwrap_or_else(PoisonError::into_inner).pick(point)
    }

    fn sees_sources(&self) -> bool {
        self.lock().unwrap_or_else(PoisonError::into_inner).sees_sources()
    }

    fn began(&mut self, txn: Place) {
        self.lock().unwrap_or_else(PoisonError::into_inner).began(txn);
    }

    fn refuses(&mut self, txn: Place) -> bool {
        self.lock().unwrap_or_else(PoisonError::into_inner).refuses(txn)
    }
}

impl<C: Choice + ?Sized> Choice for Box<C> {
    fn pick(&mut self, point: Point<'_>) -> usize {
        (**self).pick(point)
    }

    fn sees_sources(&self) -> bool {
        (**self).sees_sources()
    }

    fn began(&mut self, txn: Place) {
        (**self).began(txn);
    }

    fn refuses(&mut self, txn: Place) -> bool {
        (**self).refuses(txn)
    }
}

/// Keeps what another choice answers.
#[derive(Clone, Debug)]
pub struct Recorder<C> {
    choice: C,
    picks: Vec<Pick>,
    on: bool,
}

impl<C: Choice> Recorder<C> {
    /// Records this choice.
    pub fn new(choice: C) -> Recorder<C> {
        Recorder { choice, picks: Vec::new(), on: true }
    }

    /// Passes this choice on, for databases that live long.
    pub(crate) fn off(choice: C) -> Recorder<C> {
        Recorder { choice, picks: Vec::new(), on: false }
    }

    /// The answers so far.
    pub fn picks(&self) -> &[Pick] {
        &self.picks
    }

    /// Ends the recording.
    pub(crate) fn take_picks(&mut self) -> Vec<Pick> {
        self.on = false;
        std::mem::take(&mut self.picks)
    }
}

impl<C: Choice> Choice for Recorder<C> {
    fn pick(&mut self, point: Point<'_>) -> usize {
        let among = point.count();
        let chosen = self.choice.pick(point);
        assert!(chosen < among, "a choice answers with one of the alternatives");
        if self.on {
            self.picks.push(Pick { chosen: chosen as u32, among: among as u32 });
        }
        chosen
    }

    fn sees_sources(&self) -> bool {
        self.choice.sees_sources()
    }

    fn began(&mut self, txn: Place) {
        self.choice.began(txn);
    }

    /// Recorded as a pick like any other, where it is asked.
    fn refuses(&mut self, txn: Place) -> bool {
        let refused = self.choice.refuses(txn);
        if self.on {
            self.picks.push(Pick { chosen: u32::from(refused), among: 2 });
        }
        refused
    }
}

/// Answers as it did before: with the picks of an earlier run. Where they end it takes the first alternative.
#[derive(Clone, Debug)]
pub struct Replay {
    picks: Vec<u32>,
    next: usize,
    divergence: Option<Divergence>,
    /// Whether the picks were made with all sources listed.
    listed: bool,
}

impl Replay {
    /// Takes these alternatives, in this order.
    pub fn new(picks: Vec<u32>) -> Replay {
        Replay { picks, next: 0, divergence: None, listed: false }
    }

    /// The same, for picks that were made with or without all sources listed.
    pub(crate) fn listed(self, listed: bool) -> Replay {
        Replay { listed, ..self }
    }

    /// Where the program asked for something else than when the picks were recorded, after the run has ended.
    pub fn divergence(&self) -> Option<Divergence> {
        let unused = self.picks.len().saturating_sub(self.next);
        let left_over = Divergence::LeftOver { unused, picks: self.picks.len() };
        self.divergence.or_else(|| (unused > 0).then_some(left_over))
    }
}

impl Choice for Replay {
    fn pick(&mut self, point: Point<'_>) -> usize {
        let chosen = self.picks.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        if (chosen as usize) < point.count() {
            return chosen as usize;
        }
        let missing = Divergence::Missing { at: self.next, chosen, among: point.count() };
        self.divergence.get_or_insert(missing);
        0
    }

    fn sees_sources(&self) -> bool {
        self.listed
    }

    fn refuses(&mut self, _: Place) -> bool {
        let chosen = self.picks.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        chosen == 1
    }
}

/// How a program differs from the one whose picks were recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Divergence {
    /// The recorded alternative does not exist.
    Missing {
        /// The number of the pick, from one.
        at: usize,
        /// The alternative, from zero.
        chosen: u32,
        /// How many there are now.
        among: usize,
    },
    /// The run ended before all picks were used.
    LeftOver {
        /// How many were not used.
        unused: usize,
        /// How many there are.
        picks: usize,
    },
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Divergence::Missing { at, chosen, among } => {
                write!(f, "pick {at} took alternative {} and now there are {among}", chosen + 1)
            }
            Divergence::LeftOver { unused, picks } => write!(f, "the run ended with {unused} of {picks} picks unused"),
        }
    }
}

/// Counts through all answers, depth first: the last answer that has an alternative left changes first.
///
/// ```
/// use skew_store::{Config, picks::Exhaustive, run};
/// use std::sync::{Arc, Mutex};
///
/// let choice = Arc::new(Mutex::new(Exhaustive::default()));
/// let mut runs = 1;
/// # fn program(db: skew_store::Db) {}
/// run(&Config::default(), Box::new(choice.clone()), program);
/// while choice.lock().expect("nothing panics").next_run() {
///     run(&Config::default(), Box::new(choice.clone()), program);
///     runs += 1;
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Exhaustive {
    picks: Vec<Pick>,
    next: usize,
    divergence: Option<Divergence>,
}

impl Exhaustive {
    /// Turns to the next sequence of answers; call it between runs. False when all have been given.
    #[must_use]
    pub fn next_run(&mut self) -> bool {
        self.picks.truncate(self.next);
        self.next = 0;
        while let Some(pick) = self.picks.pop() {
            if pick.chosen + 1 < pick.among {
                self.picks.push(Pick { chosen: pick.chosen + 1, ..pick });
                return true;
            }
        }
        false
    }

    /// Where the program asked for something else than in the run before: it does not depend on the answers alone.
    pub fn divergence(&self) -> Option<Divergence> {
        self.divergence
    }
}

impl Choice for Exhaustive {
    fn pick(&mut self, point: Point<'_>) -> usize {
        let among = point.count() as u32;
        let pick = match self.picks.get(self.next) {
            Some(&pick) if pick.among == among => pick,
            Some(pick) => {
                let changed = Divergence::Missing { at: self.next + 1, chosen: pick.chosen, among: point.count() };
                self.divergence.get_or_insert(changed);
                self.picks.truncate(self.next);
                Pick { chosen: 0, among }
            }
            None => Pick { chosen: 0, among },
        };
        if self.next == self.picks.len() {
            self.picks.push(pick);
        }
        self.next += 1;
        pick.chosen as usize
    }

    /// An alternative that is no alternative would be a run too many.
    fn sees_sources(&self) -> bool {
        true
    }
}
