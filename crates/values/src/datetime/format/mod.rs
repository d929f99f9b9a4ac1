//! `to_char`, `to_timestamp` and `to_date`: dates and times by templates such as `YYYY-MM-DD HH24:MI:SS`.

mod read;
mod resolve;
mod show;
mod template;

pub use read::{to_date, to_timestamp};
pub use show::{interval_to_char, timestamp_to_char};
