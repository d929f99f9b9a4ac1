//! How a database's store behaves.

use skew_store::{Forgetting, Options as StoreOptions, Refusals, RowLocks};

use crate::session::Options;

/// The store that a database's options ask for.
pub(crate) fn store_options(options: &Options) -> StoreOptions {
    StoreOptions {
        recency: options.recency,
        locks: RowLocks::ByCaller,
        refusals: Refusals::Reported,
        forgetting: Forgetting::WhenAsked,
        max_operations: Some(KEPT_OPERATIONS),
        ..StoreOptions::default()
    }
}

/// The history of a database that runs for long is kept from about so many operations ago: 80 megabytes. Reads cannot
/// return what was overwritten before that, which no level asks for.
const KEPT_OPERATIONS: usize = 2_000_000;
