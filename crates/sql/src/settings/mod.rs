//! SET, SHOW and RESET: which parameters there are, what values they take, and what clients are told of.

pub(crate) mod parameters;

use std::sync::Arc;

use crate::error::{Result, SqlError, SqlState};
use crate::functions::{Ready, Settings};
use crate::parse::statement::Isolation;
use crate::settings::parameters::{Kind, Parameter, find, invalid};

/// Reads a setting that every statement asks for.
fn keep_ready(ready: &mut Ready, name: &str, value: &str) {
    let time = || milliseconds(value).map_or(0, |time| time.max(0).unsigned_abs());
    match name {
        "statement_timeout" => ready.statement_timeout = time(),
        "lock_timeout" => ready.lock_timeout = time(),
        "idle_in_transaction_session_timeout" => ready.idle_in_transaction_timeout = time(),
        "idle_session_timeout" => ready.idle_session_timeout = time(),
        "deadlock_timeout" => ready.deadlock_timeout = time(),
        "default_transaction_isolation" => {
            ready.isolation = Isolation::named(value).unwrap_or(Isolation::ReadCommitted);
        }
        "default_transaction_read_only" => ready.read_only = value == "on",
        "default_transaction_deferrable" => ready.deferrable = value == "on",
        _ => {}
    }
}

/// The defaults of a connection, which RESET comes back to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Defaults(Vec<(String, String)>);

fn unrecognized(name: &str) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_OBJECT, format!("unrecognized configuration parameter \"{name}\""))
}

/// Sets a parameter; `None` is its default. Says under which name and with which value clients are to be told, if so.
pub(crate) fn set(
    settings: &mut Arc<Settings>,
    defaults: &Defaults,
    name: &str,
    value: Option<&str>,
) -> Result<Option<(String, String)>> {
    let Some(known) = find(name) else {
        must_be_custom(name)?;
        let settings = Arc::make_mut(settings);
        settings.others.insert(name.to_lowercase(), value.unwrap_or_default().to_owned());
        return Ok(None);
    };
    let default = || {
        let own = defaults.0.iter().rev().find(|(set, _)| set.eq_ignore_ascii_case(name));
        own.map_or(known.default.as_str(), |(_, value)| value.as_str()).to_owned()
    };
    known.must_be_settable()?;
    let value = match value {
        Some(value) => normalize(known, value)?,
        None => default(),
    };
    store(Arc::make_mut(settings), known.name, value.clone());
    Ok(known.is_reported().then(|| (known.name.to_owned(), value)))
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
            keep_ready(&mut settings.ready, name, &value);
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
            (None, Some(known)) => known.default.clone(),
            (None, None) => return Err(unrecognized(name)),
        },
    })
}

/// Whether Skew does what the parameter says; it keeps the others and does nothing with them.
pub(crate) fn has_effect(name: &str) -> bool {
    const WITH_EFFECT: &[&str] = &[
        "application_name",
        "bytea_output",
        "check_function_bodies",
        "client_encoding",
        "client_min_messages",
        "datestyle",
        "deadlock_timeout",
        "default_transaction_deferrable",
        "default_transaction_isolation",
        "default_transaction_read_only",
        "extra_float_digits",
        "idle_in_transaction_session_timeout",
        "idle_session_timeout",
        "intervalstyle",
        "lock_timeout",
        "plpgsql.check_asserts",
        "search_path",
        "standard_conforming_strings",
        "statement_timeout",
        "timezone",
        "transaction_deferrable",
        "transaction_isolation",
        "transaction_read_only",
    ];
    WITH_EFFECT.contains(&name.to_lowercase().as_str())
}

/// What SHOW ALL lists: the name as PostgreSQL writes it, the value, what it is about.
pub(crate) fn all(settings: &Settings) -> Vec<(&'static str, String, &'static str)> {
    let about = |known: &Parameter| match (known.context, has_effect(known.name)) {
        ("internal", _) => "Cannot be changed.",
        (_, true) => "Works as in PostgreSQL.",
        (_, false) => "Accepted, without an effect.",
    };
    let listed = parameters::all().iter().filter(|known| !known.is_hidden());
    listed.map(|known| (known.name, show(settings, known.name).unwrap_or_default(), about(known))).collect()
}

/// The name as PostgreSQL writes it.
pub(crate) fn canonical(name: &str) -> String {
    find(name).map_or_else(|| name.to_owned(), |known| known.name.to_owned())
}

/// What a client is told when it connects.
pub(crate) fn startup(settings: &Settings) -> Vec<(String, String)> {
    let told = parameters::all().iter().filter(|known| known.is_reported());
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
    match known.kind {
        Kind::Text => normalize_text(known.name, value),
        _ => known.normalize(value),
    }
}

/// Refuses a name that is neither known nor that of a parameter that anybody can make up: `some.name`.
fn must_be_custom(name: &str) -> Result<()> {
    if !name.contains('.') {
        return Err(unrecognized(name));
    }
    let simple = |part: &str| {
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
    };
    if name.split('.').all(simple) {
        return Ok(());
    }
    let message = format!("invalid configuration parameter name \"{name}\"");
    let detail = "Custom parameter names must be two or more simple identifiers separated by dots.";
    Err(SqlError::new(SqlState::INVALID_NAME, message).detail(detail))
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
