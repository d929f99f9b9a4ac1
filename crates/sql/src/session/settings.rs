//! SET, SHOW and RESET: which parameters there are, what values they take, and what clients are told of.

use std::sync::Arc;

use crate::error::{Result, SqlError, SqlState};
use crate::functions::Settings;
use crate::session::transaction::Isolation;

/// What values a parameter takes.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Bool,
    Int,
    /// One of these.
    Choice(&'static [&'static str]),
    /// Milliseconds, with units.
    Time,
    /// Cannot be set.
    Fixed,
}

struct Parameter {
    name: &'static str,
    default: &'static str,
    kind: Kind,
    /// Clients are told when it changes.
    reported: bool,
    /// Shown by SHOW ALL.
    about: &'static str,
}

const fn parameter(name: &'static str, default: &'static str, kind: Kind, about: &'static str) -> Parameter {
    Parameter { name, default, kind, reported: false, about }
}

const fn reported(name: &'static str, default: &'static str, kind: Kind, about: &'static str) -> Parameter {
    Parameter { name, default, kind, reported: true, about }
}

/// The isolation levels' names.
pub(crate) const ISOLATIONS: &[&str] = &["serializable", "repeatable read", "read committed", "read uncommitted"];

/// The version that clients are told.
pub const SERVER_VERSION: &str = "15.8";

const PARAMETERS: &[Parameter] = &[
    reported("application_name", "", Kind::Text, "The application's name."),
    parameter("bytea_output", "hex", Kind::Choice(&["hex", "escape"]), "The output format of bytea."),
    parameter("check_function_bodies", "on", Kind::Bool, "Checks function bodies when they are made."),
    reported("client_encoding", "UTF8", Kind::Text, "The client's encoding."),
    parameter("client_min_messages", "notice", Kind::Choice(LEVELS), "Which messages are sent."),
    parameter("constraint_exclusion", "partition", Kind::Text, "Accepted."),
    parameter("cursor_tuple_fraction", "0.1", Kind::Text, "Accepted."),
    parameter("data_checksums", "off", Kind::Fixed, "Accepted."),
    reported("DateStyle", "ISO, MDY", Kind::Text, "How dates are shown and read."),
    parameter(
        "deadlock_timeout",
        "1s",
        Kind::Time,
        "With the choice of PostgreSQL: how long a statement waits for a lock before it looks for a deadlock.",
    ),
    parameter("default_table_access_method", "heap", Kind::Text, "Accepted."),
    parameter("default_tablespace", "", Kind::Text, "Accepted."),
    parameter("default_text_search_config", "pg_catalog.english", Kind::Text, "Accepted."),
    parameter("default_toast_compression", "pglz", Kind::Text, "Accepted."),
    parameter("default_transaction_deferrable", "off", Kind::Bool, "Accepted."),
    parameter("default_transaction_isolation", "read committed", Kind::Choice(ISOLATIONS), "New transactions' level."),
    reported("default_transaction_read_only", "off", Kind::Bool, "New transactions only read."),
    parameter("effective_cache_size", "4GB", Kind::Text, "Accepted."),
    parameter("enable_seqscan", "on", Kind::Bool, "Accepted."),
    parameter("enable_indexscan", "on", Kind::Bool, "Accepted."),
    parameter("enable_bitmapscan", "on", Kind::Bool, "Accepted."),
    parameter("enable_hashjoin", "on", Kind::Bool, "Accepted."),
    parameter("enable_mergejoin", "on", Kind::Bool, "Accepted."),
    parameter("enable_nestloop", "on", Kind::Bool, "Accepted."),
    parameter("escape_string_warning", "on", Kind::Bool, "Accepted."),
    parameter("extra_float_digits", "1", Kind::Int, "How many digits floats are shown with."),
    parameter("geqo", "on", Kind::Bool, "Accepted."),
    parameter("gin_fuzzy_search_limit", "0", Kind::Int, "Accepted."),
    parameter("hot_standby", "on", Kind::Bool, "Accepted."),
    parameter("idle_in_transaction_session_timeout", "0", Kind::Time, "How long a client is idle in a transaction."),
    parameter("idle_session_timeout", "0", Kind::Time, "How long a client is idle between transactions."),
    reported("in_hot_standby", "off", Kind::Fixed, "Whether this is a standby."),
    reported("integer_datetimes", "on", Kind::Fixed, "Times are integers."),
    reported("IntervalStyle", "postgres", Kind::Choice(INTERVAL_STYLES), "How intervals are shown."),
    reported("is_superuser", "on", Kind::Fixed, "Whether the user is a superuser."),
    parameter("jit", "off", Kind::Bool, "Accepted."),
    parameter("lc_collate", "C.UTF-8", Kind::Fixed, "The collation."),
    parameter("lc_ctype", "C.UTF-8", Kind::Fixed, "The character classes."),
    parameter("lc_messages", "C", Kind::Text, "Accepted."),
    parameter("lc_monetary", "C", Kind::Text, "Accepted."),
    parameter("lc_numeric", "C", Kind::Text, "Accepted."),
    parameter("lc_time", "C", Kind::Text, "Accepted."),
    parameter("lock_timeout", "0", Kind::Time, "How long a statement waits for a lock."),
    parameter("log_min_duration_statement", "-1", Kind::Time, "Accepted."),
    parameter("log_statement", "none", Kind::Text, "Accepted."),
    parameter("maintenance_work_mem", "64MB", Kind::Text, "Accepted."),
    parameter("max_connections", "10000", Kind::Fixed, "How many connections there may be."),
    parameter("max_identifier_length", "63", Kind::Fixed, "How long names may be."),
    parameter("max_index_keys", "32", Kind::Fixed, "How many keys an index may have."),
    parameter("max_parallel_workers_per_gather", "0", Kind::Int, "Accepted."),
    parameter("password_encryption", "scram-sha-256", Kind::Text, "Accepted."),
    parameter("plan_cache_mode", "auto", Kind::Text, "Accepted."),
    parameter("quote_all_identifiers", "off", Kind::Bool, "Accepted."),
    parameter("random_page_cost", "4", Kind::Text, "Accepted."),
    parameter("role", "none", Kind::Text, "Accepted."),
    parameter("row_security", "on", Kind::Bool, "Accepted."),
    parameter("search_path", "\"$user\", public", Kind::Text, "Where names are looked for."),
    reported("server_encoding", "UTF8", Kind::Fixed, "The server's encoding."),
    reported("server_version", SERVER_VERSION, Kind::Fixed, "The server's version."),
    parameter("server_version_num", "150008", Kind::Fixed, "The server's version as a number."),
    parameter("session_replication_role", "origin", Kind::Choice(&["origin", "replica", "local"]), "Accepted."),
    parameter("shared_buffers", "128MB", Kind::Fixed, "Accepted."),
    reported("standard_conforming_strings", "on", Kind::Bool, "Backslashes in strings are just backslashes."),
    parameter("statement_timeout", "0", Kind::Time, "How long a statement may take."),
    parameter("synchronize_seqscans", "on", Kind::Bool, "Accepted."),
    parameter("synchronous_commit", "on", Kind::Text, "Accepted."),
    parameter("tcp_keepalives_idle", "0", Kind::Int, "Accepted."),
    parameter("temp_buffers", "8MB", Kind::Text, "Accepted."),
    reported("TimeZone", "UTC", Kind::Text, "The time zone."),
    parameter("transaction_deferrable", "off", Kind::Bool, "This transaction is deferrable."),
    parameter("transaction_isolation", "read committed", Kind::Choice(ISOLATIONS), "This transaction's level."),
    parameter("transaction_read_only", "off", Kind::Bool, "This transaction only reads."),
    parameter("transform_null_equals", "off", Kind::Bool, "Accepted when off."),
    parameter("vacuum_freeze_min_age", "50000000", Kind::Int, "Accepted."),
    parameter("wal_level", "replica", Kind::Fixed, "Accepted."),
    parameter("work_mem", "4MB", Kind::Text, "Accepted."),
    parameter("xmlbinary", "base64", Kind::Text, "Accepted."),
    parameter("xmloption", "content", Kind::Text, "Accepted."),
    reported("session_authorization", "", Kind::Text, "The user."),
];

const LEVELS: &[&str] = &["debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error"];
const INTERVAL_STYLES: &[&str] = &["postgres", "postgres_verbose", "sql_standard", "iso_8601"];

/// Settings that every statement asks for, read once when they are set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    /// In milliseconds; 0: none.
    pub(crate) statement_timeout: u64,
    pub(crate) lock_timeout: u64,
    pub(crate) idle_in_transaction_timeout: u64,
    pub(crate) idle_session_timeout: u64,
    pub(crate) deadlock_timeout: u64,
    pub(crate) isolation: Isolation,
    pub(crate) read_only: bool,
    pub(crate) deferrable: bool,
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

impl Ready {
    fn set(&mut self, name: &str, value: &str) {
        let time = || milliseconds(value).map_or(0, |time| time.max(0).unsigned_abs());
        match name {
            "statement_timeout" => self.statement_timeout = time(),
            "lock_timeout" => self.lock_timeout = time(),
            "idle_in_transaction_session_timeout" => self.idle_in_transaction_timeout = time(),
            "idle_session_timeout" => self.idle_session_timeout = time(),
            "deadlock_timeout" => self.deadlock_timeout = time(),
            "default_transaction_isolation" => {
                self.isolation = Isolation::named(value).unwrap_or(Isolation::ReadCommitted);
            }
            "default_transaction_read_only" => self.read_only = value == "on",
            "default_transaction_deferrable" => self.deferrable = value == "on",
            _ => {}
        }
    }
}

/// The defaults of a connection, which RESET comes back to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Defaults(Vec<(String, String)>);

fn find(name: &str) -> Option<&'static Parameter> {
    PARAMETERS.iter().find(|parameter| parameter.name.eq_ignore_ascii_case(name))
}

fn unrecognized(name: &str) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_OBJECT, format!("unrecognized configuration parameter \"{name}\""))
}

fn invalid(name: &str, value: &str) -> SqlError {
    let message = format!("invalid value for parameter \"{name}\": \"{value}\"");
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

/// Sets a parameter; `None` is its default. Says under which name and with which value clients are to be told, if so.
pub(crate) fn set(
    settings: &mut Arc<Settings>,
    defaults: &Defaults,
    name: &str,
    value: Option<&str>,
) -> Result<Option<(String, String)>> {
    let Some(known) = find(name) else {
        if !name.contains('.') {
            return Err(unrecognized(name));
        }
        let settings = Arc::make_mut(settings);
        settings.others.insert(name.to_lowercase(), value.unwrap_or_default().to_owned());
        return Ok(None);
    };
    let default = || {
        let own = defaults.0.iter().rev().find(|(set, _)| set.eq_ignore_ascii_case(name));
        own.map_or(known.default, |(_, value)| value.as_str()).to_owned()
    };
    let value = match value {
        Some(value) => normalize(known, value)?,
        None => default(),
    };
    if matches!(known.kind, Kind::Fixed) {
        let message = format!("parameter \"{}\" cannot be changed", known.name);
        return Err(SqlError::new(SqlState::CANT_CHANGE_RUNTIME_PARAM, message));
    }
    store(Arc::make_mut(settings), known.name, value.clone());
    Ok(known.reported.then(|| (known.name.to_owned(), value)))
}

fn store(settings: &mut Settings, name: &str, value: String) {
    match name {
        "TimeZone" => settings.time_zone = value,
        "DateStyle" => settings.date_style = value,
        "IntervalStyle" => settings.interval_style = value,
        "extra_float_digits" => settings.extra_float_digits = value.parse().unwrap_or(1),
        "bytea_output" => settings.bytea_output = value,
        "search_path" => settings.search_path = split_list(&value),
        _ => {
            settings.ready.set(name, &value);
            settings.others.insert(name.to_lowercase(), value);
        }
    }
}

/// What SHOW answers.
pub(crate) fn show(settings: &Settings, name: &str) -> Result<String> {
    let lower = name.to_lowercase();
    Ok(match lower.as_str() {
        "timezone" => settings.time_zone.clone(),
        "datestyle" => settings.date_style.clone(),
        "intervalstyle" => settings.interval_style.clone(),
        "extra_float_digits" => settings.extra_float_digits.to_string(),
        "bytea_output" => settings.bytea_output.clone(),
        "search_path" => join_list(&settings.search_path),
        _ => match (settings.others.get(&lower), find(name)) {
            (Some(value), _) => value.clone(),
            (None, Some(known)) => known.default.to_owned(),
            (None, None) => return Err(unrecognized(name)),
        },
    })
}

/// All parameters: name as PostgreSQL writes it, value, what it is about.
pub(crate) fn all(settings: &Settings) -> Vec<(&'static str, String, &'static str)> {
    let value = |name: &str| show(settings, name).unwrap_or_default();
    let mut all: Vec<_> = PARAMETERS.iter().map(|known| (known.name, value(known.name), known.about)).collect();
    all.sort_by_key(|(name, ..)| name.to_lowercase());
    all
}

/// The name as PostgreSQL writes it.
pub(crate) fn canonical(name: &str) -> String {
    find(name).map_or_else(|| name.to_owned(), |known| known.name.to_owned())
}

/// What a client is told when it connects.
pub(crate) fn startup(settings: &Settings) -> Vec<(String, String)> {
    let told = PARAMETERS.iter().filter(|known| known.reported);
    told.map(|known| (known.name.to_owned(), show(settings, known.name).unwrap_or_default())).collect()
}

/// Settings of the startup message become the connection's defaults.
pub(crate) fn connect(settings: &mut Arc<Settings>, defaults: &mut Defaults, given: &[(String, String)]) {
    for (name, value) in given {
        if matches!(name.as_str(), "user" | "database" | "replication" | "options") {
            continue;
        }
        let nothing = Defaults::default();
        // What a client sets in passing is not a reason to refuse it.
        if set(settings, &nothing, name, Some(value)).is_ok() {
            let shown = show(settings, name).unwrap_or_default();
            defaults.0.push((name.clone(), shown));
        }
    }
}

/// The settings with which the client connected.
pub(crate) fn restore(settings: &mut Arc<Settings>, defaults: &Defaults) {
    for (name, value) in &defaults.0 {
        if let Some(known) = find(name) {
            store(Arc::make_mut(settings), known.name, value.clone());
        }
    }
}

fn normalize(known: &Parameter, value: &str) -> Result<String> {
    let bad = || invalid(known.name, value);
    Ok(match known.kind {
        Kind::Fixed => value.to_owned(),
        Kind::Text => normalize_text(known.name, value)?,
        Kind::Bool => match value.to_lowercase().as_str() {
            "on" | "true" | "yes" | "1" | "t" | "y" => "on".to_owned(),
            "off" | "false" | "no" | "0" | "f" | "n" => "off".to_owned(),
            _ => {
                let message = format!("parameter \"{}\" requires a Boolean value", known.name);
                return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
            }
        },
        Kind::Int => value.trim().parse::<i64>().map_err(|_| bad())?.to_string(),
        Kind::Choice(choices) => {
            let lower = value.to_lowercase();
            choices.iter().find(|choice| **choice == lower).ok_or_else(bad)?.to_string()
        }
        Kind::Time => show_time(milliseconds(value).ok_or_else(bad)?),
    })
}

fn normalize_text(name: &str, value: &str) -> Result<String> {
    match name {
        "TimeZone" => {
            let zone = value.trim();
            crate::types::datetime::zone::canonical(zone).ok_or_else(|| invalid(name, value))
        }
        "DateStyle" => date_style(value).ok_or_else(|| invalid(name, value)),
        "client_encoding" => match value.to_uppercase().replace(['-', '_'], "").as_str() {
            "UTF8" | "UNICODE" => Ok("UTF8".to_owned()),
            "SQLASCII" => Ok("SQL_ASCII".to_owned()),
            _ => Err(SqlError::unsupported(format!("client encoding {value}"))),
        },
        _ => Ok(value.to_owned()),
    }
}

fn date_style(value: &str) -> Option<String> {
    let (mut style, mut order) = ("ISO", "MDY");
    for word in value.split([',', ' ']).filter(|word| !word.is_empty()) {
        match word.to_uppercase().as_str() {
            "ISO" => style = "ISO",
            "POSTGRES" => style = "Postgres",
            "SQL" => style = "SQL",
            "GERMAN" => style = "German",
            "MDY" | "US" | "NONEURO" | "NONEUROPEAN" => order = "MDY",
            "DMY" | "EURO" | "EUROPEAN" => order = "DMY",
            "YMD" => order = "YMD",
            _ => return None,
        }
    }
    Some(format!("{style}, {order}"))
}

/// A time with its unit, in milliseconds.
pub(crate) fn milliseconds(value: &str) -> Option<i64> {
    let value = value.trim();
    let split = value.find(|c: char| !c.is_ascii_digit() && c != '-' && c != '.').unwrap_or(value.len());
    let number: f64 = value[..split].parse().ok()?;
    let factor = match value[split..].trim() {
        "" | "ms" => 1.0,
        "us" => 0.001,
        "s" => 1000.0,
        "min" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        _ => return None,
    };
    Some((number * factor).round() as i64)
}

fn show_time(milliseconds: i64) -> String {
    for (unit, factor) in [("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000)] {
        if milliseconds > 0 && milliseconds % factor == 0 {
            return format!("{}{unit}", milliseconds / factor);
        }
    }
    if milliseconds > 0 { format!("{milliseconds}ms") } else { milliseconds.to_string() }
}

/// `"$user", public` → its names.
fn split_list(value: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = value.trim();
    while !rest.is_empty() {
        let name;
        if let Some(quoted) = rest.strip_prefix('"') {
            let end = quoted.find('"').unwrap_or(quoted.len());
            name = quoted[..end].to_owned();
            rest = quoted.get(end + 1..).unwrap_or_default();
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            name = rest[..end].trim().to_lowercase();
            rest = &rest[end..];
        }
        if !name.is_empty() {
            names.push(name);
        }
        rest = rest.trim_start().trim_start_matches(',').trim_start();
    }
    names
}

fn join_list(names: &[String]) -> String {
    let plain = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    let shown: Vec<String> = names
        .iter()
        .map(|name| if plain(name) { name.clone() } else { format!("\"{}\"", name.replace('"', "\"\"")) })
        .collect();
    shown.join(", ")
}
