//! A run that shows something, step by step, so that it can be replayed: who did what in which order, what each read
//! saw, and why it was kept.

use crate::anomaly::Anomaly;
use crate::level::Level;
use crate::names::Literal;

/// A run, to be replayed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    /// What was wrong, in words.
    pub failure: String,
    /// The string that repeats the run of the program itself, where there is one.
    pub recording: Option<String>,
    /// Whether reads had to see what was committed before they began.
    pub real_time: bool,
    /// Initial values.
    pub init: Vec<(String, Literal)>,
    /// The sessions, in the order in which they were made.
    pub sessions: Vec<String>,
    /// What they did, in the order in which it happened.
    pub steps: Vec<WitnessStep>,
    /// The same as a history, in `.hist` text.
    pub history: String,
    /// The anomaly that the history shows, if it is not serializable.
    pub anomaly: Option<Anomaly>,
}

/// One step of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WitnessStep {
    /// The session that made it.
    pub session: String,
    /// What it did.
    pub action: WitnessAction,
}

/// What a session did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WitnessAction {
    /// It began a transaction.
    Begin {
        /// The transaction's name.
        txn: String,
        /// Its level.
        level: Level,
    },
    /// It read a key.
    Read {
        /// The key.
        key: String,
        /// What it saw; nil if there was nothing.
        value: Literal,
        /// Who had written that.
        from: WitnessSource,
        /// Whether it goes on with the statement of the step before.
        joined: bool,
    },
    /// It wrote a key.
    Write {
        /// The key.
        key: String,
        /// The value; nil deletes.
        value: Literal,
        /// Whether it goes on with the statement of the step before.
        joined: bool,
    },
    /// It had read all keys with a prefix, and so seen that no others were there.
    Scan {
        /// The prefix.
        prefix: String,
        /// Whether it goes on with the statement of the step before.
        joined: bool,
    },
    /// It committed.
    Commit,
    /// It rolled back.
    Rollback,
    /// The store rolled it back.
    Refused,
}

/// Who wrote what a read saw.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WitnessSource {
    /// Nobody: it is the initial value.
    Initial,
    /// The transaction itself.
    Own,
    /// The transaction with this name.
    Txn(String),
}
