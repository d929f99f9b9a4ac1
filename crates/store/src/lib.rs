//! A key-value store that behaves as badly as its isolation level allows, and explores every way.
//!
//! In reading order:
//! - [`choice`]: the one place where nondeterminism enters
//! - `sight`: what a level lets a transaction see, from the level's definition
//! - `versions`, `clocks`, `position`: who wrote what, what comes before what, places in a commit order
//! - `engine`, `open`, `closed`: who may read from whom, while the commit order is open and once it is closed
//! - `candidates`: whom a read may read from
//! - `locks`, [`store`], `record`, [`retention`]: the store itself, its history, and bounded memory

mod candidates;
pub mod choice;
mod clocks;
mod closed;
mod engine;
mod error;
mod locks;
mod open;
mod position;
mod record;
pub mod retention;
mod sight;
pub mod store;
mod versions;

pub use candidates::Reads;
pub use choice::Choice;
pub use engine::Recency;
pub use error::{Ended, Error};
pub use record::{Footprint, FootprintStep};
pub use store::{Options, Step, Store};
