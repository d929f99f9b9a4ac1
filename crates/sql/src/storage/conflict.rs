//! Transactions that have to start again, as PostgreSQL words it: `40001` with its reasons.

use skew_store::{Error as StoreError, Moment, Refusal};

use crate::error::{SqlError, SqlState};
use crate::storage::ssi::Danger;
use crate::storage::versions::transaction_number;

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
    among_dependencies(&format!("identification as a pivot, during {when}"))
}

/// The serializable transaction is part of a dangerous structure.
pub(crate) fn dangerous(danger: Danger) -> SqlError {
    among_dependencies(&match danger {
        Danger::PivotWrites => "identification as a pivot, during write".to_owned(),
        Danger::DoomedReads => "identification as a pivot, during conflict out checking".to_owned(),
        Danger::DoomedWrites => "identification as a pivot, during conflict in checking".to_owned(),
        Danger::DoomedCommits => "identification as a pivot, during commit attempt".to_owned(),
        Danger::ReadsFromPivot(pivot) => {
            format!("conflict out to pivot {}, during read", transaction_number(pivot))
        }
    })
}

/// The store's error as PostgreSQL would word it.
pub(crate) fn store_error(error: &StoreError) -> SqlError {
    match error {
        StoreError::Serialization { why: Refusal::Conflict, .. } => concurrent_update(),
        StoreError::Serialization { why: Refusal::Dependencies(moment), .. } => dependencies(*moment),
        StoreError::Deadlock { .. } => deadlock(),
        StoreError::Finished { .. } => {
            let message = "current transaction is aborted, commands ignored until end of transaction block";
            SqlError::new(SqlState::IN_FAILED_SQL_TRANSACTION, message)
        }
        other => SqlError::new(SqlState::INTERNAL_ERROR, other.to_string()),
    }
}

/// Waiting would never end.
pub(crate) fn deadlock() -> SqlError {
    SqlError::new(SqlState::DEADLOCK_DETECTED, "deadlock detected").hint("See server log for query details.")
}

fn among_dependencies(reason: &str) -> SqlError {
    refused("could not serialize access due to read/write dependencies among transactions")
        .detail(format!("Reason code: Canceled on {reason}."))
        .hint("The transaction might succeed if retried.")
}

fn refused(message: &str) -> SqlError {
    SqlError::new(SqlState::SERIALIZATION_FAILURE, message)
}
