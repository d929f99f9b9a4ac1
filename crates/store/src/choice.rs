//! The one place where nondeterminism enters: whose turn it is, and which version a read returns.
//!
//! A [`Choice`] answers [`Point`]s. Everything else in this crate is a function of the answers, so the list of answers
//! (the *picks*) is the run: see [`crate::replay`].

use skew_model::{Key, SessionId};

/// A transaction by its place in the program: the same in every run, whatever the interleaving.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The session, numbered in the order in which the program made them.
    pub session: u32,
    /// The transaction's number in its session, from zero.
    pub txn: u32,
}

/// Something to be decided between two or more alternatives.
#[derive(Clone, Copy, Debug)]
pub enum Point<'a> {
    /// Whose turn is it? One of these sessions, in ascending order.
    Turn(&'a [SessionId]),
    /// Which transaction does this read take its value from?
    Source(Read<'a>),
}

/// A read that is about to be answered.
#[derive(Clone, Copy, Debug)]
pub struct Read<'a> {
    /// The reading transaction.
    pub reader: Place,
    /// How many reads of other transactions' writes it has made before.
    pub number: u32,
    /// What is read.
    pub key: Key,
    /// How many alternatives there are, oldest commit first.
    pub count: usize,
    /// The alternatives, all of them valid; `None` is the initial transaction. Empty where there are many and
    /// [`Choice::sees_sources`] does not ask for them: then a pick may turn out to be invalid, and the store asks again.
    pub sources: &'a [Option<Place>],
}

impl Point<'_> {
    /// How many alternatives there are.
    pub fn count(&self) -> usize {
        match self {
            Point::Turn(sessions) => sessions.len(),
            Point::Source(read) => read.count,
        }
    }
}

/// Decides.
pub trait Choice {
    /// One of `0..point.count()`; there are at least two.
    fn pick(&mut self, point: Point<'_>) -> usize;

    /// Whether the alternatives of a read are to be listed, however many there are. Who picks blindly does without, and
    /// reads cost the same in a long history as in a short one.
    fn sees_sources(&self) -> bool {
        false
    }

    /// Whether this transaction is refused when it commits, though nothing forces that yet. Only exploration does so.
    fn refuses(&mut self, _txn: Place) -> bool {
        false
    }

    /// This transaction has begun.
    fn began(&mut self, _txn: Place) {}
}
