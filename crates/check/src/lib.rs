//! Histories to verdicts: which isolation levels a recorded history satisfies, and why not the others.
//!
//! In reading order:
//! - [`facts`], with `values`, `present`, `versions`: the history resolved: who committed, who read from whom, what no
//!   order can explain
//! - [`oracle`]: the definition read literally, over all commit orders; every engine is tested against it
//! - [`Outline`]: the same for a few transactions as bits, by a search that gives up early
//! - `base`, `graph`, `clock`, `writers`: what every commit order respects, and graphs and clocks as flat arrays
//! - `static_edges`, `causal`: what `rc`, `ra`, `ec` and `cc` force, by counting and by clocks
//! - `events`, `reach`, `saturate`: the prefix levels, `psi` and mixtures as events in time, and what follows
//! - `estimate`, `schedule`, `refine`, `choose`: guesses at a commit order, and a SAT solver for what is left
//! - `verify`: is this commit order good enough?
//! - `core`, `shrink`, `explain`, `classify`: the smallest violating part, why it violates, and its name
//! - [`checker`]: puts it all together
//! - [`critical`], `potential`: circles of dependencies that a level allows, in this execution or in another one of the
//!   same transactions

mod base;
mod causal;
pub mod checker;
mod choose;
mod classify;
mod clock;
mod core;
pub mod critical;
mod decide;
mod estimate;
mod events;
mod explain;
pub mod facts;
mod graph;
pub mod oracle;
mod outline;
mod potential;
mod present;
mod reach;
mod refine;
mod saturate;
mod schedule;
mod shrink;
mod static_edges;
mod values;
mod verify;
mod versions;
mod writers;

pub use checker::{Checker, Options, check};
pub use decide::Limits;
pub use facts::{Assumptions, Facts};
pub use outline::Outline;
