//! What to change about a violation, in terms of this library: keys, levels and retries instead of SQL.

use skew_model::{Anomaly, Violation};

/// What to change.
pub(crate) fn for_keys(violation: &Violation) -> String {
    let advice = match violation.anomaly {
        Anomaly::LostUpdate => {
            "write with `compare_and_set`, or run both at Level::SNAPSHOT_ISOLATION and repeat them with \
             `Session::retry`"
        }
        Anomaly::WriteSkew | Anomaly::ReadOnlyAnomaly | Anomaly::SerializationCycle | Anomaly::SessionFork => {
            "let both write a key in common, or run both at Level::SERIALIZABLE and repeat them with `Session::retry`"
        }
        Anomaly::ReadSkew | Anomaly::FracturedRead | Anomaly::NonRepeatableRead | Anomaly::LongFork => {
            "run the reader at Level::SNAPSHOT_ISOLATION (`Session::transaction_at`), or keep what belongs together \
             under one key"
        }
        Anomaly::CausalityViolation
        | Anomaly::LostOwnWrite
        | Anomaly::NonMonotonicSession
        | Anomaly::NonMonotonicRead
        | Anomaly::NonMonotonicWrite => "run the reader at Level::CAUSAL_CONSISTENCY or a stronger level",
        Anomaly::StaleRead | Anomaly::ClockContradiction => {
            "check with Recency::Commit, if the database is a single node; otherwise read where it was written"
        }
        _ => return skew_report::fix(violation),
    };
    advice.to_owned()
}
