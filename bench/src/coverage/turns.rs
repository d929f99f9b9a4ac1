//! How clients start: one after another, or mixed by a random delay before each transaction.

use skew_model::SessionId;
use skew_store::Choice;
use skew_store::choice::Point;
use skew_store::strategies::{Dice, Random};

/// Of this many turns, one goes to another client before the current one has ended.
const STAY: usize = 10;

/// How clients start.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Starts {
    /// One after another, as threads do: whoever is on stays on, most of the time.
    Plain,
    /// With a random delay before each transaction: every turn is open.
    Delayed,
}

impl Starts {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Starts::Plain => "plain",
            Starts::Delayed => "delay",
        }
    }
}

/// A random choice with these turns.
pub(crate) fn choice(starts: Starts, seed: u64) -> Box<dyn Choice + Send> {
    match starts {
        Starts::Plain => Box::new(Plain { dice: Dice::new(seed), current: None }),
        Starts::Delayed => Box::new(Random::new(seed)),
    }
}

struct Plain {
    dice: Dice,
    current: Option<SessionId>,
}

impl Choice for Plain {
    fn pick(&mut self, point: Point<'_>) -> usize {
        let sessions = match point {
            Point::Turn(sessions) => sessions,
            Point::Source(read) => return self.dice.below(read.count),
        };
        let current = self.current.and_then(|current| sessions.iter().position(|&session| session == current));
        let stays = self.dice.below(STAY) > 0;
        let picked = if stays { current.unwrap_or(0) } else { self.dice.below(sessions.len()) };
        self.current = Some(sessions[picked]);
        picked
    }
}
