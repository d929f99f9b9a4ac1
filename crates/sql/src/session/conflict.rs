//! Transactions that have to start again, as PostgreSQL words it: `40001` with its reasons.

use skew_store::Moment;

use crate::error::{SqlError, SqlState};

/// Another transaction has changed a row that this one was to change or to lock.
pub(crate) fn concurrent_update() -> SqlError {
    refused("could not serialize access due to concurrent update")
}

/// Another transaction has deleted a row that this one was to change or to lock.
pub(crate) fn concurrent_delete() -> SqlError {
    refused("could not serialize access due to concurrent delete")
}

/// What the serializable transaction has read, and what others have written since, fits into no serial order.
pub(crate) fn dependencies(moment: Moment) -> SqlError {
    let when = match moment {
        Moment::Read => "conflict out checking",
        Moment::Write => "write",
        Moment::Commit => "commit attempt",
    };
    refused("could not serialize access due to read/write dependencies among transactions")
        .detail(format!("Reason code: Canceled on identification as a pivot, during {when}."))
        .hint("The transaction might succeed if retried.")
}

fn refused(message: &str) -> SqlError {
    SqlError::new(SqlState::SERIALIZATION_FAILURE, message)
}
