//! What a check answers. A violated level is a result, not an error; *unknown* is never success.

use std::fmt;

use crate::anomaly::Anomaly;
use crate::explanation::Explanation;
use crate::history::{History, TxnId};
use crate::level::Level;

/// What was asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scope {
    /// Every transaction at this level.
    Level(Level),
    /// Every transaction at the level that the history declares for it.
    Declared,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::Level(level) => level.fmt(f),
            Scope::Declared => f.pad("declared"),
        }
    }
}

/// The answer for one scope.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What was asked.
    pub scope: Scope,
    /// The answer.
    pub outcome: Outcome,
}

/// Holds, violated, or unknown.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It holds, and this is why.
    Holds(Justification),
    /// It does not, and this is why.
    Violated(Box<Violation>),
    /// It could not be decided.
    Unknown(Limit),
}

impl Verdict {
    /// Whether it holds.
    pub fn holds(&self) -> bool {
        matches!(self.outcome, Outcome::Holds(_))
    }

    /// Whether it is violated.
    pub fn violated(&self) -> bool {
        matches!(self.outcome, Outcome::Violated(_))
    }

    /// The violation, if it is one.
    pub fn violation(&self) -> Option<&Violation> {
        match &self.outcome {
            Outcome::Violated(violation) => Some(violation),
            _ => None,
        }
    }
}

/// What justifies *holds*.
#[derive(Clone, Debug)]
pub enum Justification {
    /// A commit order of the committed transactions.
    CommitOrder {
        /// The transactions in that order; the initial one, which comes first, is left out.
        order: Vec<TxnId>,
        /// Whether it was checked against the definition a second time, by a verifier that shares no inference with
        /// the engine that found it.
        verified: bool,
    },
    /// Nothing to order: the level asks only that reads return written values.
    ReadsOnly,
}

/// What makes a level violated.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The name of the shape.
    pub anomaly: Anomaly,
    /// The smallest part of the history that still violates the level: leave out any transaction or operation
    /// and it no longer does. (A cycle through thousands of transactions is left as it is, once making it smaller takes
    /// too long.) Names, files and lines are those of the whole history.
    pub history: History,
    /// Why, in terms of [`Violation::history`].
    pub explanation: Explanation,
    /// The weakest levels that this part breaks.
    pub breaks: Vec<Level>,
    /// The strongest levels that this part still satisfies.
    pub satisfies: Vec<Level>,
}

/// What kept a check from an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Limit {
    /// Reads of values that several writes have: how many, and an example in words of the history.
    AmbiguousReads {
        /// How many such reads.
        count: usize,
        /// The first of them.
        first: crate::explanation::Finding,
    },
    /// The search gave up after this many conflicts.
    Conflicts(u64),
    /// Reachability would need more memory than allowed.
    Memory {
        /// Bytes that it would need.
        needed: u64,
        /// Bytes that it may use.
        allowed: u64,
    },
    /// A transaction declares no level.
    NoDeclaredLevel(TxnId),
    /// The definition asks something of the history that no engine decides at this size, in words.
    NoEngine(&'static str),
    /// The caller gave so many seconds, and they were over.
    Time(u64),
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Limit::AmbiguousReads { count, .. } => write!(f, "{count} reads of values that several writes wrote"),
            Limit::Conflicts(conflicts) => write!(f, "the search gave up after {conflicts} conflicts"),
            Limit::Memory { needed, allowed } => {
                write!(f, "it would need {} of memory and may use {}", bytes(*needed), bytes(*allowed))
            }
            Limit::NoEngine(what) => write!(f, "no engine decides, for so many transactions, {what}"),
            Limit::Time(seconds) => write!(f, "--max-time: {seconds} s were over"),
            Limit::NoDeclaredLevel(_) => f.write_str("a transaction declares no level"),
        }
    }
}

fn bytes(number: u64) -> String {
    match number {
        0..1024 => format!("{number} bytes"),
        1024..1_048_576 => format!("{} KiB", number.div_ceil(1 << 10)),
        1_048_576..1_073_741_824 => format!("{} MiB", number.div_ceil(1 << 20)),
        _ => format!("{} GiB", number.div_ceil(1 << 30)),
    }
}
