//! What time it is, in PostgreSQL's count: on the wall, or as somebody says who wants the same run again.

use std::time::{SystemTime, UNIX_EPOCH};

use super::connection::SessionState;

/// Seconds from 1970 to 2000.
const EPOCH: i64 = 946_684_800;
/// One second in microseconds.
const SECOND: i64 = 1_000_000;

/// 2026-01-01 UTC, in microseconds since 2000-01-01: when it is whenever a database is explored.
pub const STEADY: i64 = 820_540_800 * SECOND;

/// The clock on the wall.
pub(super) fn wall() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX) - EPOCH * SECOND
}

impl SessionState {
    /// Microseconds since 2000-01-01 UTC.
    pub(crate) fn now(&self) -> i64 {
        match (self.client.clock, &self.transaction) {
            (None, _) => wall(),
            (Some(_), Some(transaction)) => transaction.began,
            (Some(next), None) => next,
        }
    }

    /// When a transaction begins that begins now.
    pub(super) fn begin_time(&mut self) -> i64 {
        let now = self.client.clock.unwrap_or_else(wall);
        self.client.clock = self.client.clock.map(|clock| clock.saturating_add(SECOND));
        now
    }
}
