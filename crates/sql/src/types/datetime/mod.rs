//! Dates, times, timestamps, intervals.

pub mod cast;
pub mod zone;

use crate::error::{Result, SqlError};
use crate::functions::Env;
use crate::types::Interval;

macro_rules! later {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $out:ty;)*) => { $(
        #[allow(missing_docs)]
        pub fn $name($($arg: $ty),*) -> Result<$out> {
            let _ = ($($arg),*);
            Err(SqlError::unsupported("date and time input"))
        }
    )* };
}
later! {
    parse_date(text: &str, env: &dyn Env) -> i32;
    parse_time(text: &str, modifier: i32, env: &dyn Env) -> i64;
    parse_timetz(text: &str, modifier: i32, env: &dyn Env) -> (i64, i32);
    parse_timestamp(text: &str, modifier: i32, env: &dyn Env) -> i64;
    parse_timestamptz(text: &str, modifier: i32, env: &dyn Env) -> i64;
    parse_interval(text: &str, modifier: i32, env: &dyn Env) -> Interval;
}
macro_rules! later_show {
    ($($name:ident($($arg:ident: $ty:ty),*);)*) => { $(
        #[allow(missing_docs)]
        pub fn $name(out: &mut String, $($arg: $ty),*) {
            let _ = (out, $($arg),*);
        }
    )* };
}
later_show! {
    show_date(days: i32, env: &dyn Env);
    show_time(micros: i64);
    show_timetz(micros: i64, zone: i32);
    show_timestamp(micros: i64, env: &dyn Env);
    show_timestamptz(micros: i64, env: &dyn Env);
    show_interval(interval: &Interval, env: &dyn Env);
}
