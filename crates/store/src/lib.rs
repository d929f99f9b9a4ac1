//! A key-value store that behaves as badly as its isolation level allows, and explores every way.
//!
//! In reading order:
//! - [`choice`]: the one place where nondeterminism enters; [`strategies`], [`picks`]: ways to choose
//! - `sight`: what a level lets a transaction see, from the level's definition
//! - `versions`, `clocks`, `position`: who wrote what, what comes before what, places in a commit order
//! - `running`, `engine`, `writers`, `open`, `closed`: who may read from whom, while the commit order is open and once it is closed
//! - `candidates`: whom a read may read from
//! - `spaces`, `keys`, `scans`: how keys are found, and what scans did not find
//! - `locks`, `sessions`, [`store`], `reading`, `looking`, `constraints`, `savepoint`, `around`: the store itself
//! - `log`, `record`, `telling`, `tale`, `events`, [`retention`], `checkpoint`: its history, bounded memory, and coming back
//! - `value`, `convert`: what keys hold
//! - `shared`, `call`, `database`, `session`, `transaction`: the store for threads and for async code
//! - `fiber`, `panics`, `scheduler`, `db`, `run()`: programs whose interleaving is chosen too
//! - [`campaign`], `predict`: many runs, and strategies that learn from them
//! - [`explore()`]: every history of a program, once
//! - [`replay`]: a run as a short string; [`witness`]: as a file that says every step

mod around;
mod call;
pub mod campaign;
mod candidates;
mod checkpoint;
pub mod choice;
mod clocks;
mod closed;
mod constraints;
mod convert;
mod database;
mod db;
mod engine;
mod error;
mod events;
mod explore;
mod fiber;
mod keys;
mod locks;
mod log;
mod looking;
mod open;
mod panics;
pub mod picks;
mod position;
mod predict;
mod reading;
mod record;
pub mod replay;
pub mod retention;
mod run;
mod running;
mod savepoint;
mod scans;
mod scheduler;
mod session;
mod sessions;
mod shared;
mod sight;
mod spaces;
pub mod store;
pub mod strategies;
mod tale;
mod telling;
mod transaction;
mod value;
mod versions;
pub mod witness;
mod writers;

pub use around::Suspended;
pub use campaign::{Campaign, Strategy};
pub use choice::{Choice, Place, Point};
pub use constraints::LooksAt;
pub use convert::FromValue;
pub use database::Database;
pub use db::{Db, JoinHandle};
pub use error::{Ended, Error, Moment, Refusal};
pub use events::{KeyEvent, KeyEventKind, RangeLook, TxnEvents};
pub use explore::{End, ExploreLimits, Explored, NotRepeatable, RefusedRuns, explore};
pub use picks::Pick;
pub use record::{Footprint, FootprintStep};
pub use run::{Config, Failure, Interleaving, Run, run};
pub use savepoint::Mark;
pub use session::{AsyncSession, Session};
pub use skew_model::Key;
pub use spaces::{Range, Space};
pub use store::{Forgetting, Options, Reads, Recency, Refusals, RowLock, RowLocks, Step, Store};
pub use telling::{FinishedTelling, Freshness, Telling, TellingStatus, Told, ToldOperation};
pub use transaction::{AsyncTransaction, Content, Entry, Transaction};
pub use value::Value;
