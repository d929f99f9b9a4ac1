//! Our own JSON Lines: one transaction a line, and everything that a history holds.
//!
//! ```text
//! {"skew":"history","version":1,"initial":{"x":0},"initial_elsewhere":0,"order":{"x":[0,1]}}
//! {"session":"alice","txn":"t1","level":"si","ops":[{"r":"x","v":0},{"w":"y","v":1}]}
//! {"session":"bob","txn":"t2","status":"aborted","begin":10,"end":20,"ops":[{"r":"y","v":0,"from":"init"}]}
//! {"finding":"incompatible-order","op":[1,0],"other":[0,0]}
//! ```
//! The first line may be left out. It states initial values (of all other keys: `initial_elsewhere`) and the orders
//! in which writes took effect. As field names, `5` and `nil` are the number and nil, `"5"` in quotes of its own is
//! the text, and any other text is itself. `keys` lists all keys where their order is not that of appearance.
//!
//! A transaction has a `session` and a name `txn`, both a string or a number, and `ops`. It may have a `level`, a
//! `status` (`committed`, which is the default, `aborted`, or `maybe` when nobody knows), and the times `begin` and
//! `end`; without `end` it was never known to end. An operation is `r` (read), `w` (write) or `o` (the version
//! beneath the transaction's own write) with a key, and a value `v`: a number, a string, or null for nil. A read may
//! say which transaction it takes its value from (`from`, `"init"` for the initial one). `"s":true` puts an operation
//! into the statement of the one before it; `at` is when a statement began.
//!
//! A finding is what a recorder noticed that no order of transactions explains: its kind, and the operations as the
//! places (from 0) of a transaction in the file and of the operation in it.
//!
//! Field names that are not listed here are errors.

mod read;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;

use skew_model::FindingKind;

const FINDINGS: [(FindingKind, &str); 8] = [
    (FindingKind::ThinAirRead, "thin-air-read"),
    (FindingKind::InternalRead, "internal-read"),
    (FindingKind::FutureRead, "future-read"),
    (FindingKind::AbortedRead, "aborted-read"),
    (FindingKind::IntermediateRead, "intermediate-read"),
    (FindingKind::IncompatibleOrder, "incompatible-order"),
    (FindingKind::DuplicateElement, "duplicate-element"),
    (FindingKind::AmbiguousRead, "ambiguous-read"),
];
