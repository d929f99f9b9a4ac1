//! How a database's reads choose, and how its store behaves.

use skew_store::choice::Point;
use skew_store::strategies::{Bias, Random};
use skew_store::{Choice, Options as StoreOptions, Refusals, RowLocks};

use crate::session::{ChoiceKind, Options};

/// The choice that a database's options ask for.
pub(crate) fn choice(options: &Options) -> Box<dyn Choice + Send> {
    match options.choice {
        ChoiceKind::Random => Box::new(Random::new(options.seed)),
        ChoiceKind::Old => Box::new(Random::biased(options.seed, Bias::Old)),
        ChoiceKind::Fresh => Box::new(Random::biased(options.seed, Bias::Fresh)),
        ChoiceKind::Postgres => Box::new(Newest),
    }
}

/// The store that a database's options ask for.
pub(crate) fn store_options(options: &Options) -> StoreOptions {
    StoreOptions {
        recency: options.recency,
        locks: RowLocks::ByCaller,
        refusals: Refusals::Reported,
        ..StoreOptions::default()
    }
}

/// Picks the newest version that a read may return.
struct Newest;

impl Choice for Newest {
    fn pick(&mut self, point: Point<'_>) -> usize {
        match point {
            Point::Turn(_) => 0,
            Point::Source(read) => read.count - 1,
        }
    }

    fn sees_sources(&self) -> bool {
        true
    }
}
