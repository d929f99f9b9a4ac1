//! What a call can answer instead of a value: conflicts that a real database would report too, and misuse.

use std::fmt;

use skew_model::Level;

/// Why a call on the store failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// The transaction cannot go on without leaving its level; it has been rolled back. SQLSTATE 40001.
    Serialization {
        /// The key on which it met the other transaction.
        key: String,
        /// What was in its way.
        why: Refusal,
    },
    /// The transaction and others wait for each other's row locks; it has been rolled back. SQLSTATE 40P01.
    Deadlock {
        /// The key that it wanted to write.
        key: String,
    },
    /// The transaction is over.
    Finished {
        /// How it ended.
        how: Ended,
    },
    /// The session has a transaction open already.
    StillOpen {
        /// The session.
        session: String,
    },
    /// The savepoint is another transaction's.
    Savepoint,
    /// There is nothing to come back to.
    NoCheckpoint,
    /// The store does not run transactions at this level.
    Level(Level),
    /// A key's initial value was given after somebody had looked.
    LateInit {
        /// The key.
        key: String,
    },
    /// The value is not of the kind that was asked for.
    Kind {
        /// The key.
        key: String,
        /// What it holds.
        found: String,
        /// What was wanted.
        wanted: &'static str,
    },
    /// The program gave the transaction up; it has been rolled back.
    Abandoned(String),
}

/// How a transaction ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// It committed.
    Committed,
    /// It was rolled back on request.
    RolledBack,
    /// It was rolled back because of a conflict or a deadlock.
    Refused,
}

/// Why a transaction cannot go on without leaving its level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// Another transaction has written the same, or the state that the transaction looks at is gone.
    Conflict,
    /// At `ser`: its reads and the writes of others leave no place for it in the order of transactions.
    Dependencies(Moment),
}

/// Which call of a transaction was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Moment {
    Read,
    Write,
    Commit,
}

impl Error {
    /// Whether running the transaction again may succeed.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Error::Serialization { .. } | Error::Deadlock { .. })
    }

    /// The SQLSTATE that PostgreSQL gives for it.
    pub fn sqlstate(&self) -> &'static str {
        match self {
            Error::Serialization { .. } => "40001",
            Error::Deadlock { .. } => "40P01",
            Error::Finished { .. } => "25P01",
            Error::StillOpen { .. } => "25001",
            Error::Savepoint => "3B001",
            Error::NoCheckpoint => "55000",
            Error::Level(_) => "0A000",
            Error::LateInit { .. } => "55000",
            Error::Kind { .. } => "42804",
            Error::Abandoned(_) => "P0001",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Serialization { key, .. } => {
                write!(
                    f,
                    "could not serialize access to `{key}` due to a concurrent transaction; rolled back, try again"
                )
            }
            Error::Deadlock { key } => {
                write!(f, "deadlock: waiting for `{key}` would never end; rolled back, try again")
            }
            Error::Finished { how: Ended::Committed } => write!(f, "the transaction has committed; begin another one"),
            Error::Finished { how: Ended::RolledBack } => {
                write!(f, "the transaction was rolled back; begin another one")
            }
            Error::Finished { how: Ended::Refused } => {
                write!(f, "the transaction was rolled back after a conflict; begin it again")
            }
            Error::StillOpen { session } => {
                write!(f, "session `{session}` has a transaction open; commit it or roll it back first")
            }
            Error::Savepoint => write!(f, "the savepoint belongs to another transaction"),
            Error::NoCheckpoint => write!(f, "there is no checkpoint to come back to; make one first"),
            Error::Level(Level::Ec) => {
                write!(
                    f,
                    "the store has sessions at every level: for `ec`, run at `ra` and give each transaction a session"
                )
            }
            Error::Level(level) => write!(f, "the store does not run transactions at `{level}`"),
            Error::LateInit { key } => {
                write!(f, "`{key}` has been used; give initial values before the first transaction")
            }
            Error::Kind { key, found, wanted } => write!(f, "`{key}` holds {found}, which is not {wanted}"),
            Error::Abandoned(why) => write!(f, "rolled back: {why}"),
        }
    }
}

impl std::error::Error for Error {}
