//! The `.hist` text format, both ways: one transaction a line, so that a diagnostic can point at an operation and a
//! diff reads well.
//!
//! ```text
//! # comment
//! init   x=0 y=0                      initial values; `*=0` for all other keys; without it they are nil
//! order  x 0 1 2                      the order in which writes of x took effect, where it is known
//! alice  t1 @si   r x=0   w y=1       session, transaction, declared level, operations
//! bob    t2 aborted   w x=9           rolled back; `maybe`: nobody knows whether it committed
//! bob    t3 [10..20]  r y=1<t1        when it ran; the transaction that a read takes its value from
//! carol  t4 (r x=0 w x=1) r y=0       one statement in parentheses; `[12]` before it: when it began
//! carol  t5 w l=3 o l=2               `o`: the version beneath the transaction's own write
//! ```
//! A value is a whole number, a word, `nil`, or anything in double quotes.

mod error;
mod parse;
mod print;
mod scan;

pub use error::InputError;
pub use parse::{HistParser, WrittenOp, operations};
pub(crate) use print::op_text;
pub use print::{TxnText, literal_text};

/// The longest line that is read.
pub const MAX_LINE_BYTES: usize = 16 << 20;
