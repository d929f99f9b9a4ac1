//! Conversions among dates, times, timestamps and intervals.

use crate::error::Result;
use crate::functions::Env;
use crate::types::{Datum, Type, Typed};

pub(crate) fn known(_value: &Datum, _from: Type, _to: Type, _env: &dyn Env) -> Option<Result<Datum>> {
    None
}

pub(crate) fn constrain(value: Datum, _to: Typed) -> Result<Datum> {
    Ok(value)
}
