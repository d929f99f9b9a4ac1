//! Is my application right on a database that is not serializable?
//!
//! Write the transactions of the application against a [`Db`], spawn the sessions that run them, and assert what must
//! hold. Skew runs the program many times on a database that behaves as badly as the isolation level allows:
//!
//! ```
//! use skew::{Db, Error, Level, Session};
//!
//! fn withdraw(session: &Session, amount: i64) -> Result<(), Error> {
//!     session.transaction(|t| {
//!         let balance: i64 = t.read("balance")?;
//!         if balance >= amount {
//!             t.write("balance", balance - amount)?;
//!             t.write(&format!("paid-{}", session.id().0), amount)?;
//!         }
//!         Ok(())
//!     })
//! }
//!
//! fn program(db: Db) {
//!     db.init("balance", 100);
//!     db.spawn("alice", |session| withdraw(&session, 60));
//!     db.spawn("bob", |session| withdraw(&session, 60));
//!     db.check(|t| {
//!         let paid: i64 = t.scan::<i64>("paid-")?.iter().map(|entry| entry.value).sum();
//!         assert!(paid <= 100, "paid {paid} out of 100");
//!         Ok(())
//!     });
//! }
//!
//! skew::check_random(Level::Ser, 100, program);
//! let found = skew::Check::new(Level::Cc).find(program).expect("causal consistency lets both withdraw");
//! assert!(found.to_string().contains("paid 120 out of 100"));
//! assert!(found.to_string().contains("violated[lost-update]"));
//!
//! let string = found.recording.to_string();
//! assert_eq!(string, "skew1.cc.none.transactions.1");
//! let again = std::panic::catch_unwind(|| skew::replay("skew1.cc.none.transactions.1", program));
//! assert!(again.is_err(), "it fails as it did before");
//! ```
//!
//! Random runs find what is likely; [`explore`] visits every history of a small program, so that a level under which
//! nothing fails is enough:
//!
//! ```
//! # use skew::{Db, Level};
//! # fn program(db: Db) {
//! #     db.spawn("alice", |session| session.transaction(|t| t.write("x", 1)));
//! # }
//! let explored = skew::explore(Level::Ser, program);
//! println!("{} histories, none of them overdraws", explored.histories);
//! ```
//!
//! In a test, call [`check_random`]: it panics with the assertion, the anomaly behind it, the history, and a string with
//! which [`replay`] makes the same run again, in any process.
//!
//! Same program, same seed, same run, on every machine. `SKEW_SEED=7 cargo test` varies the seed of every check,
//! `SKEW_RUNS=100000` the number of runs, and `SKEW_REPLAY=skew1.cc.none.transactions.1 cargo test my_test` makes one run
//! again. If a folder `skew-regressions` is beside the crate's `Cargo.toml`, failing runs are kept there and made again
//! first. Async code runs under the same scheduler ([`Db::spawn_async`]); and a
//! [`Database`] serves threads and async runtimes that schedule themselves.
//!
//! In reading order:
//! - [`Check`]: how a program is run many times
//! - [`Counterexample`]: a run that failed, and what there is to say about it
//! - `advice`: what to change, in terms of keys and levels
//! - `regressions`: runs that failed before, kept beside the crate
//! - [`Json`]: values of any type that serde knows

mod advice;
mod check;
mod counterexample;
mod json;
mod regressions;

pub use check::{Check, check_random, explore, replay};
pub use counterexample::Counterexample;
pub use json::Json;
pub use skew_check::check as check_history;
pub use skew_model::{Anomaly, History, Level, Verdict};
pub use skew_store::{
    AsyncSession, AsyncTransaction, Choice, Config, Content, Database, Db, Ended, Entry, Error, ExploreLimits,
    Explored, Failure, FromValue, Interleaving, JoinHandle, Pick, Reads, Recency, RefusedRuns, Run, Session, Strategy,
    Transaction, Value, picks, run, strategies,
};

#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct LibraryPage;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/check.md")]
struct CheckPage;
