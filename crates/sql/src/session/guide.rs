//! Every way that reads can be answered, one run after the other.
//!
//! Read by read, that is every history of every level. Where transactions see each other as a whole or not at all (`ra`
//! and what is stronger, `mvrc` apart) it is enough to try who sees whom: fewer runs, and those that somebody expects to
//! show something can come first.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use skew_store::Place;
use skew_store::strategies::Dice;

/// Tries every way: the answers of one run are the first of the next, the last of them that can be is another one.
#[derive(Clone, Debug, Default)]
pub struct Guide {
    answers: Vec<(u32, u32)>,
    at: usize,
    views: Option<Views>,
    /// What is not decided by an earlier run is decided by chance.
    dice: Option<Dice>,
}

/// Who sees whom.
#[derive(Clone, Debug, Default)]
struct Views {
    whole: bool,
    expected: BTreeMap<(usize, usize), bool>,
    /// The call whose turn it is, and those that the transactions of this run belong to.
    now: Option<usize>,
    calls: FxHashMap<Place, usize>,
    seen: FxHashMap<(Place, Place), bool>,
}

/// Whether a transaction sees another one as a whole or not at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seeing {
    /// All its reads see the same transactions.
    Whole,
    /// Each of its reads sees others.
    ByRead,
}

impl Guide {
    /// Asks who sees whom instead of what each read returns. What is expected is tried first, by the numbers of the reading
    /// and of the writing call in the client; others are expected to be seen.
    pub fn by_views(seeing: Seeing, expected: BTreeMap<(usize, usize), bool>) -> Guide {
        let views = Views { whole: seeing == Seeing::Whole, expected, ..Views::default() };
        Guide { views: Some(views), ..Guide::default() }
    }

    /// One run, whose answers are random: the same ones for the same seed.
    pub fn random(seed: u64) -> Guide {
        Guide { dice: Some(Dice::new(seed)), ..Guide::default() }
    }

    /// One of so many.
    pub fn pick(&mut self, count: usize) -> usize {
        let at = self.at;
        self.at += 1;
        match self.answers.get_mut(at) {
            // The run is a function of the answers, so the same question has as many alternatives as before.
            Some((chosen, among)) => {
                *among = count as u32;
                (*chosen as usize).min(count - 1)
            }
            None => {
                let chosen = self.dice.as_mut().map_or(0, |dice| dice.below(count));
                self.answers.push((chosen as u32, count as u32));
                chosen
            }
        }
    }

    /// Prepares the next run; false: there is none.
    pub fn next_run(&mut self) -> bool {
        self.answers.truncate(self.at);
        self.at = 0;
        if let Some(views) = &mut self.views {
            (views.now, views.calls, views.seen) = Default::default();
        }
        while let Some((chosen, among)) = self.answers.pop() {
            if chosen + 1 < among {
                self.answers.push((chosen + 1, among));
                return true;
            }
        }
        false
    }

    /// Prepares the same run again.
    pub fn same_run(&mut self) {
        self.at = 0;
        if let Some(views) = &mut self.views {
            (views.now, views.calls, views.seen) = Default::default();
        }
    }

    /// It is the turn of this call of the client.
    pub(crate) fn turn_of(&mut self, call: usize) {
        if let Some(views) = &mut self.views {
            views.now = Some(call);
        }
    }

    /// A transaction has begun.
    pub(crate) fn began(&mut self, place: Place) {
        if let Some(views) = &mut self.views
            && let Some(call) = views.now
        {
            views.calls.insert(place, call);
        }
    }

    /// Whom a read takes its value from: one of the sources, if they are known, oldest first.
    pub(crate) fn pick_source(&mut self, reader: Place, count: usize, sources: &[Option<Place>]) -> usize {
        if self.views.is_none() || sources.len() != count {
            return self.pick(count);
        }
        // Of those that it sees, the last one; whatever is the oldest alternative it cannot miss.
        let seen = (1..count).rev().find(|at| sources[*at].is_some_and(|writer| self.sees(reader, writer)));
        seen.unwrap_or(0)
    }

    fn sees(&mut self, reader: Place, writer: Place) -> bool {
        let Some(views) = &self.views else { return false };
        if let Some(known) = views.seen.get(&(reader, writer)) {
            return *known;
        }
        let calls = views.calls.get(&reader).zip(views.calls.get(&writer));
        let expected = calls.and_then(|(reader, writer)| views.expected.get(&(*reader, *writer))).copied();
        let answer = (self.pick(2) == 0) == expected.unwrap_or(true);
        if let Some(views) = self.views.as_mut().filter(|views| views.whole) {
            views.seen.insert((reader, writer), answer);
        }
        answer
    }
}
