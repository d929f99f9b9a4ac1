//! The clock on the wall, in PostgreSQL's count.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds from 1970 to 2000.
const EPOCH: i64 = 946_684_800;

/// Microseconds since 2000-01-01 UTC.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX) - EPOCH * 1_000_000
}
