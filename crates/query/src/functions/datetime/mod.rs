//! Functions and operators of dates, times and intervals.

pub(super) mod arithmetic;
pub(super) mod clock;
pub(super) mod format;
pub(super) mod make;
pub(super) mod overlaps;
pub(super) mod parts;
pub(super) mod series;

use std::sync::Arc;

use crate::error::Result;
use crate::functions::Env;
use crate::types::Datum;
use crate::types::datetime::zone::{self, Zone};

/// The connection's time zone.
fn session_zone(env: &dyn Env) -> Arc<Zone> {
    zone::of_setting(&env.settings().time_zone)
}

/// A timetz: microseconds, and seconds west of UTC.
fn timetz(args: &[Datum], index: usize) -> Result<(i64, i32)> {
    match args.get(index) {
        Some(Datum::TimeTz(micros, west)) => Ok((*micros, *west)),
        _ => Err(crate::error::SqlError::new(
            crate::error::SqlState::INTERNAL_ERROR,
            "a value is not of type time with time zone as it was bound",
        )),
    }
}
