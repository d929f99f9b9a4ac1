//! The settings of a connection that functions and statements look at.

use std::collections::BTreeMap;

use skew_syntax::parse::statement::Isolation;

/// The settings that change what values look like and where names are found.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The name of the database.
    pub database: String,
    /// TimeZone
    pub time_zone: String,
    /// DateStyle: output style and order, as PostgreSQL shows it (`ISO, MDY`).
    pub date_style: String,
    /// IntervalStyle
    pub interval_style: String,
    /// extra_float_digits
    pub extra_float_digits: i32,
    /// bytea_output
    pub bytea_output: String,
    /// search_path: the names as set (`"$user"` included).
    pub search_path: Vec<String>,
    /// standard_conforming_strings and everything else, by lower-case name, as text.
    pub others: BTreeMap<String, String>,
    /// Those of the others that every statement asks for.
    pub ready: Ready,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            database: String::new(),
            time_zone: "UTC".to_owned(),
            date_style: "ISO, MDY".to_owned(),
            interval_style: "postgres".to_owned(),
            extra_float_digits: 1,
            bytea_output: "hex".to_owned(),
            search_path: vec!["$user".to_owned(), "public".to_owned()],
            others: BTreeMap::new(),
            ready: Ready::default(),
        }
    }
}

/// Settings that every statement asks for, read once when they are set. Times are in milliseconds; 0: none.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Ready {
    pub statement_timeout: u64,
    pub lock_timeout: u64,
    pub idle_in_transaction_timeout: u64,
    pub idle_session_timeout: u64,
    pub deadlock_timeout: u64,
    pub isolation: Isolation,
    pub read_only: bool,
    pub deferrable: bool,
}

impl Default for Ready {
    fn default() -> Ready {
        let isolation = Isolation::ReadCommitted;
        Ready {
            statement_timeout: 0,
            lock_timeout: 0,
            idle_in_transaction_timeout: 0,
            idle_session_timeout: 0,
            deadlock_timeout: 1000,
            isolation,
            read_only: false,
            deferrable: false,
        }
    }
}
