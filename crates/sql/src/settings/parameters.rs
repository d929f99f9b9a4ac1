//! The configuration parameters of PostgreSQL 15: their types, units, ranges and defaults, and how values are read and shown.
//!
//! `parameters.txt` is a list of its `pg_settings`, a line a parameter: name, type, unit, least and greatest value, choices,
//! default, context and category. Those about files, sockets and certificates are left out: there are none here.

use std::sync::LazyLock;

use crate::error::{Result, SqlError, SqlState};

/// What values a parameter takes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Kind {
    Text,
    Bool,
    Int {
        min: f64,
        max: f64,
    },
    Real {
        min: f64,
        max: f64,
    },
    /// One of these, with commas between.
    Choice(&'static str),
}

/// A parameter.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// The unit of numbers, empty for none.
    pub(crate) unit: &'static str,
    /// As a number in its unit, or as text.
    pub(crate) boot: &'static str,
    /// As SHOW shows the default.
    pub(crate) default: String,
    /// When it can be set: `user` and `superuser` parameters at any time.
    pub(crate) context: &'static str,
    pub(crate) category: &'static str,
    key: String,
}

static PARAMETERS: LazyLock<Vec<Parameter>> = LazyLock::new(|| {
    let mut all: Vec<Parameter> = include_str!("parameters.txt").lines().filter_map(parameter).collect();
    all.sort_by(|one, other| one.key.cmp(&other.key));
    all
});

fn parameter(line: &'static str) -> Option<Parameter> {
    let fields: Vec<&'static str> = line.split('\t').collect();
    let &[name, vartype, unit, min, max, choices, boot, context, category] = fields.as_slice() else { return None };
    let range = || Some((min.parse().ok()?, max.parse().ok()?));
    let kind = match vartype {
        "bool" => Kind::Bool,
        "integer" => range().map(|(min, max)| Kind::Int { min, max })?,
        "real" => range().map(|(min, max)| Kind::Real { min, max: if max > 1.7e308 { f64::MAX } else { max } })?,
        "enum" => Kind::Choice(choices),
        _ => Kind::Text,
    };
    let default = match kind {
        Kind::Int { .. } | Kind::Real { .. } => show_number(boot.parse().ok()?, unit),
        _ => boot.to_owned(),
    };
    Some(Parameter { name, kind, unit, boot, default, context, category, key: name.to_lowercase() })
}

/// The parameter with this name, in any case.
pub(crate) fn find(name: &str) -> Option<&'static Parameter> {
    let key = name.to_lowercase();
    PARAMETERS.binary_search_by(|known| known.key.cmp(&key)).ok().map(|at| &PARAMETERS[at])
}

/// All of them, in the order of their names.
pub(crate) fn all() -> &'static [Parameter] {
    &PARAMETERS
}

/// Units with their size in the smallest one: bytes, or microseconds.
const MEMORY: &[(&str, f64)] =
    &[("TB", 1_099_511_627_776.0), ("GB", 1_073_741_824.0), ("MB", 1_048_576.0), ("kB", 1024.0), ("B", 1.0)];
const TIME: &[(&str, f64)] = &[("d", 86_400e6), ("h", 3_600e6), ("min", 60e6), ("s", 1e6), ("ms", 1000.0), ("us", 1.0)];

/// The units that a parameter with this unit can be written in, and the size of its own.
fn units(unit: &str) -> Option<(&'static [(&'static str, f64)], f64)> {
    let size = |units: &[(&str, f64)]| units.iter().find(|(name, _)| *name == unit).map(|(_, size)| *size);
    match unit {
        "8kB" => Some((MEMORY, 8192.0)),
        _ => size(MEMORY).map(|size| (MEMORY, size)).or_else(|| size(TIME).map(|size| (TIME, size))),
    }
}

impl Parameter {
    /// Whether clients are told when it changes.
    pub(crate) fn is_reported(&self) -> bool {
        const REPORTED: &[&str] = &[
            "application_name",
            "client_encoding",
            "DateStyle",
            "default_transaction_read_only",
            "in_hot_standby",
            "integer_datetimes",
            "IntervalStyle",
            "is_superuser",
            "server_encoding",
            "server_version",
            "session_authorization",
            "standard_conforming_strings",
            "TimeZone",
        ];
        REPORTED.contains(&self.name)
    }

    /// Whether SHOW ALL and `pg_settings` leave it out.
    pub(crate) fn is_hidden(&self) -> bool {
        self.category.is_empty()
    }

    /// `vartype` of `pg_settings`.
    pub(crate) fn type_name(&self) -> &'static str {
        match self.kind {
            Kind::Text => "string",
            Kind::Bool => "bool",
            Kind::Int { .. } => "integer",
            Kind::Real { .. } => "real",
            Kind::Choice(_) => "enum",
        }
    }

    /// Refuses a parameter that no session can set.
    pub(crate) fn must_be_settable(&self) -> Result<()> {
        let when = match self.context {
            "internal" => "cannot be changed",
            "postmaster" => "cannot be changed without restarting the server",
            "sighup" => "cannot be changed now",
            "backend" | "superuser-backend" => "cannot be set after connection start",
            _ => return Ok(()),
        };
        let message = format!("parameter \"{}\" {when}", self.name);
        Err(SqlError::new(SqlState::CANT_CHANGE_RUNTIME_PARAM, message))
    }

    /// A value as SHOW shows it; texts are returned as they are.
    pub(crate) fn normalize(&self, value: &str) -> Result<String> {
        Ok(match self.kind {
            Kind::Text => value.to_owned(),
            Kind::Bool => match boolean(value) {
                Some(on) => if on { "on" } else { "off" }.to_owned(),
                None => {
                    let message = format!("parameter \"{}\" requires a Boolean value", self.name);
                    return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
                }
            },
            Kind::Choice(choices) => self.choice(value, choices)?,
            Kind::Int { min, max } => show_number(self.in_range(self.integer(value)?, min, max)?, self.unit),
            Kind::Real { min, max } => {
                let number = self.number(value)?.ok_or_else(|| invalid(self.name, value))?;
                show_number(self.in_range(number, min, max)?, self.unit)
            }
        })
    }

    /// A shown value as `pg_settings` has it: a number in the parameter's unit.
    pub(crate) fn in_base_unit(&self, shown: &str) -> String {
        match self.kind {
            Kind::Int { .. } | Kind::Real { .. } if !self.unit.is_empty() => {
                self.number(shown).ok().flatten().map_or_else(|| shown.to_owned(), |number| general(number, 6))
            }
            _ => shown.to_owned(),
        }
    }

    fn in_range(&self, value: f64, min: f64, max: f64) -> Result<f64> {
        if (min..=max).contains(&value) {
            return Ok(value);
        }
        let space = if self.unit.is_empty() { "" } else { " " };
        let (value, min, max) = (general(value, 6), general(min, 6), general(max, 6));
        let (unit, name) = (self.unit, self.name);
        let message =
            format!("{value}{space}{unit} is outside the valid range for parameter \"{name}\" ({min} .. {max})");
        Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message))
    }

    fn integer(&self, value: &str) -> Result<f64> {
        let number = self.number(value)?.ok_or_else(|| invalid(self.name, value))?.round_ties_even();
        if number < f64::from(i32::MIN) || number > f64::from(i32::MAX) {
            return Err(invalid(self.name, value).hint("Value exceeds integer range."));
        }
        Ok(number)
    }

    /// A number in the parameter's unit; `None` if the text is none.
    fn number(&self, value: &str) -> Result<Option<f64>> {
        let text = value.trim();
        let (number, rest) = match split_number(text) {
            Some(split) => split,
            None => return Ok(None),
        };
        let written = rest.trim();
        if written.is_empty() {
            return Ok(Some(number));
        }
        let Some((known, own)) = units(self.unit) else { return Ok(None) };
        match known.iter().find(|(name, _)| *name == written) {
            Some((_, size)) => Ok(Some(number * size / own)),
            None => {
                let hint = match known[0].0 {
                    "TB" => "Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\".",
                    _ => "Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\".",
                };
                Err(invalid(self.name, value).hint(hint))
            }
        }
    }

    fn choice(&self, value: &str, choices: &str) -> Result<String> {
        let lower = value.to_lowercase();
        let known = |name: &str| choices.split(',').any(|choice| choice == name);
        // Words that are accepted and not listed.
        let meant = match lower.as_str() {
            "true" | "yes" | "1" if known("on") => "on",
            "false" | "no" | "0" if known("off") => "off",
            "debug" if known("debug2") => "debug2",
            "info" if known("notice") => return Ok(lower),
            other => other,
        };
        choices.split(',').find(|choice| choice.eq_ignore_ascii_case(meant)).map(str::to_owned).ok_or_else(|| {
            let list = choices.replace(',', ", ");
            invalid(self.name, value).hint(format!("Available values: {list}."))
        })
    }
}

/// A decimal or hexadecimal number at the start of a text, and what follows it.
fn split_number(text: &str) -> Option<(f64, &str)> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        return Some((i64::from_str_radix(&digits[..end], 16).ok()? as f64, &digits[end..]));
    }
    // The longest beginning that reads as a number: "1e3" is one, "1 s" and "1 EB" begin with one.
    let candidate = text.find(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c))).unwrap_or(text.len());
    let readable = |end: &usize| text[..*end].parse::<f64>().is_ok();
    let end = (1..=candidate).rev().find(readable)?;
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// A number in a unit, in the largest unit in which it is whole.
fn show_number(value: f64, unit: &str) -> String {
    let Some((known, own)) = units(unit).filter(|_| value > 0.0) else { return general(value, 6) };
    let whole = known.iter().find(|(_, size)| value * own % size == 0.0);
    match whole {
        Some((name, size)) => format!("{}{name}", general(value * own / size, 6)),
        None => format!("{}{unit}", general(value, 6)),
    }
}

/// `%g`: whole numbers in full, others with so many digits.
fn general(value: f64, digits: usize) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| text.trim_end_matches('0').trim_end_matches('.').to_owned();
    if (-4..digits as i32).contains(&exponent) {
        let places = (digits as i32 - 1 - exponent).max(0) as usize;
        return trim(&format!("{value:.places$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    let mantissa = if mantissa.contains('.') { trim(mantissa) } else { mantissa.to_owned() };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// A truth value: any beginning of the words that tells them apart.
fn boolean(value: &str) -> Option<bool> {
    let value = value.to_lowercase();
    let begins = |word: &str, least: usize| value.len() >= least && word.starts_with(&value);
    match value.as_str() {
        "1" => Some(true),
        "0" => Some(false),
        _ if begins("true", 1) || begins("yes", 1) || begins("on", 2) => Some(true),
        _ if begins("false", 1) || begins("no", 1) || begins("off", 2) => Some(false),
        _ => None,
    }
}

/// `22023`
pub(crate) fn invalid(name: &str, value: &str) -> SqlError {
    let message = format!("invalid value for parameter \"{name}\": \"{value}\"");
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: &str, value: &str) -> String {
        find(name).expect("a parameter").normalize(value).unwrap_or_else(|error| error.fields().message.clone())
    }

    #[test]
    fn values_are_shown_in_the_largest_whole_unit() {
        assert_eq!(shown("work_mem", "65536"), "64MB");
        assert_eq!(shown("work_mem", "0x10000"), "64MB");
        assert_eq!(shown("effective_cache_size", "1GB"), "1GB");
        assert_eq!(shown("statement_timeout", "1.5h"), "90min");
        assert_eq!(shown("lock_timeout", "1e3"), "1s");
        assert_eq!(shown("vacuum_cost_delay", "5000us"), "5ms");
        assert_eq!(shown("vacuum_cost_delay", "1500us"), "1500us");
        assert_eq!(shown("random_page_cost", "1.10"), "1.1");
        assert_eq!(find("autovacuum_analyze_scale_factor").expect("a parameter").default, "0.1");
        assert_eq!(find("WORK_MEM").expect("a parameter").in_base_unit("64MB"), "65536");
    }

    #[test]
    fn values_outside_of_the_range_are_refused() {
        assert_eq!(
            shown("work_mem", "1kB"),
            "1 kB is outside the valid range for parameter \"work_mem\" (64 .. 2147483647)"
        );
        assert_eq!(
            shown("random_page_cost", "-1"),
            "-1 is outside the valid range for parameter \"random_page_cost\" (0 .. 1.79769e+308)"
        );
        assert_eq!(shown("jit", "o"), "parameter \"jit\" requires a Boolean value");
        assert_eq!(shown("synchronous_commit", "yes"), "on");
        assert_eq!(shown("client_min_messages", "debug"), "debug2");
    }

    #[test]
    fn every_default_is_a_value_of_its_parameter() {
        for parameter in all().iter().filter(|parameter| !parameter.boot.is_empty()) {
            let shown = parameter.normalize(parameter.boot).map_err(|error| error.fields().message.clone());
            assert_eq!(shown.as_ref(), Ok(&parameter.default), "{}", parameter.name);
        }
    }
}
