//! The nouns of Skew. Nothing here reads a file, asks the time, rolls dice or prints.
//!
//! In reading order:
//! - [`names`]: compact names of sessions, transactions and keys, and the values that operations carry
//! - [`history`]: sessions of transactions of reads and writes, as recorded
//! - [`builder`]: how a history is put together, by hand or by a parser
//! - [`select`]: the part of a history that some transactions make
//! - [`hist`]: the `.hist` text format, both ways
//! - [`level`]: the isolation levels, each defined once, as data
//! - [`sql_level`]: the databases' own levels, and every word that asks for a level
//! - [`anomaly`]: the named shapes of violations, as data
//! - [`topic`]: other words that people look up, such as phantom, each with a page
//! - [`nearest`]: the known word that a misspelled one most likely means
//! - [`verdict`]: what a check answers: holds, violated, unknown
//! - [`explanation`]: why a level is violated, as data that renderers turn into words and pictures
//! - [`witness`]: a run that shows something, to be replayed
//! - [`campaign`]: many runs of somebody's own tests, and why one of them broke
//! - [`robust`]: whether every run of an application is serializable at a level

pub mod anomaly;
pub mod builder;
pub mod campaign;
pub mod explanation;
pub mod hist;
pub mod history;
pub mod level;
pub mod names;
pub mod nearest;
pub mod robust;
pub mod select;
pub mod sql_level;
pub mod topic;
pub mod verdict;
pub mod witness;

pub use anomaly::Anomaly;
pub use builder::HistoryBuilder;
pub use explanation::{Cycle, Edge, EdgeKind, Explanation, Finding, FindingKind, Reason};
pub use history::{ConstraintOrder, History, Op, OpId, OpKind, SessionId, Status, Txn, TxnId};
pub use level::Level;
pub use names::{Key, Literal, Name, Space, Value};
pub use nearest::{did_you_mean, nearest};
pub use sql_level::{AskedLevel, SqlLevel, Target};
pub use topic::Topic;
pub use verdict::{Justification, Limit, Outcome, Scope, Verdict, Violation};
pub use witness::{Witness, WitnessAction, WitnessSource, WitnessStep};

/// A history from `.hist` text, for tests and examples.
///
/// ```
/// let history = skew_model::history!("
///     init  x=0 y=0
///     alice t1  r x=0  w y=1
///     bob   t2  r y=0  w x=1
/// ");
/// assert_eq!(history.txns().len(), 2);
/// ```
/// Panics with the parser's message when the text is not a history; parse untrusted text with
/// [`History::parse`].
#[macro_export]
macro_rules! history {
    ($text:expr) => {
        match $crate::History::parse($text) {
            Ok(history) => history,
            Err(error) => panic!("not a history: {error}"),
        }
    };
}
