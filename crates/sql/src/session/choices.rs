//! How a database's reads choose, and how its store behaves.

use skew_store::strategies::{Bias, Random};
use skew_store::{Choice, Options as StoreOptions, Refusals, RowLocks};

use crate::session::{ChoiceKind, Options};

/// The choice that a database's options ask for.
pub(crate) fn choice(options: &Options) -> Box<dyn Choice + Send> {
    match options.choice {
        // Snapshots ask nobody.
        ChoiceKind::Random | ChoiceKind::Postgres => Box::new(Random::new(options.seed)),
        ChoiceKind::Old => Box::new(Random::biased(options.seed, Bias::Old)),
        ChoiceKind::Fresh => Box::new(Random::biased(options.seed, Bias::Fresh)),
    }
}

/// The store that a database's options ask for.
pub(crate) fn store_options(options: &Options) -> StoreOptions {
    StoreOptions {
        recency: options.recency,
        locks: RowLocks::ByCaller,
        refusals: Refusals::Reported,
        max_operations: Some(KEPT_OPERATIONS),
        ..StoreOptions::default()
    }
}

/// The history of a database that runs for long is kept from about so many operations ago: 160 megabytes.
const KEPT_OPERATIONS: usize = 4_000_000;
