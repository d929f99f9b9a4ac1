//! The pull executor: bound statements → rows.
//!
//! Operators hand each other [`Tuple`]s of references to rows; an expression that looks at a column reads that cell, and
//! nothing else is read. What a statement can reach of the world is its [`Context`].
//!
//! - [`context`]: what the executor asks of storage, locks and functions
//! - [`tuple`]: what flows between operators
//! - [`run`]: what one statement keeps while it runs

pub mod context;
pub mod run;
pub mod tuple;

pub use context::{AccessRange, Context, Limits, LockOutcome, Resume, RowCursor, RowRef};
pub use run::Run;
pub use tuple::{Slot, Tuple};
