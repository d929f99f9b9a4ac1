//! Collations: texts compare by their bytes, so only those that say the same are supported.

use crate::catalog::Oid;
use crate::error::{Result, SqlError, SqlState};

/// The collations that compare bytes, by number.
pub(crate) static COLLATIONS: &[(Oid, &str)] =
    &[(100, "default"), (950, "C"), (951, "POSIX"), (12340, "ucs_basic"), (12341, "C.utf8"), (12341, "C.UTF-8")];

/// The collation with this name; `shown` is how the user wrote it.
pub(crate) fn number(name: &str, shown: &str) -> Result<Oid> {
    if let Some((number, _)) = COLLATIONS.iter().find(|(_, known)| *known == name) {
        return Ok(*number);
    }
    if is_locale(name) {
        return Err(SqlError::unsupported(format_args!("the collation \"{name}\"")));
    }
    let message = format!("collation \"{shown}\" for encoding \"UTF8\" does not exist");
    Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message))
}

/// Whether a name looks like that of a language's order, which a PostgreSQL may have: `en_US`, `de-x-icu`.
fn is_locale(name: &str) -> bool {
    let letters = name.split(['_', '-', '.']).next().unwrap_or_default();
    let language = (2..=3).contains(&letters.len()) && letters.bytes().all(|byte| byte.is_ascii_lowercase());
    name == "unicode" || name.ends_with("-x-icu") || (name.contains(['_', '-', '.']) && language)
}
