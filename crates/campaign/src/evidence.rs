//! A failing run, and what experiments have shown about it.

use std::collections::BTreeSet;

use skew_model::campaign::{Experiment, RunLine};
use skew_server::scheduler::{Forced, TxnPlace};
use skew_sql::session::steering::StaleRead;

use crate::arena::Seen;

/// Stale reads, by database.
pub(crate) type Kept = BTreeSet<(String, StaleRead)>;
/// What is forced on transactions, by database.
pub(crate) type ForcedIn = Vec<(String, Forced)>;

/// A run that failed, with all that is known about it.
pub(crate) struct Failing {
    pub(crate) line: RunLine,
    pub(crate) output: String,
    pub(crate) seen: Vec<Seen>,
    pub(crate) cause: String,
}

/// What experiments have shown about a failure.
#[derive(Default)]
pub(crate) struct Cause {
    /// How many there were, if the cause was found.
    pub(crate) experiment: Option<Experiment>,
    /// What was forced in the run that failed with as few overlaps as possible.
    pub(crate) forced: ForcedIn,
    /// The run that gave the order of turns.
    pub(crate) order: Option<Vec<Seen>>,
    /// The read that has to be old: its database, its transaction and the statement's number.
    pub(crate) read: Option<(String, TxnPlace, u32)>,
    /// Cells that were lost as well, and whose right value lets no run pass.
    pub(crate) cleared: BTreeSet<String>,
    /// The run that passed, in which nothing that the failure needs overlapped.
    pub(crate) serial: Option<Vec<Seen>>,
    /// Whether the run fails even if no two transactions that meet at a cell overlap.
    pub(crate) fails_serially: bool,
}
