//! Time zones.

/// The name of a time zone as the time zone database spells it.
pub fn canonical(name: &str) -> Option<String> {
    (name.eq_ignore_ascii_case("utc")).then(|| "UTC".to_owned())
}
