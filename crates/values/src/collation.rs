//! Collations: which there are, and the order of texts that each says.
//!
//! Texts compare by their bytes unless a collation of the provider `icu` says otherwise. Such an order is used through
//! *keys*: bytes that compare as the texts do ([`key`]), which the binder puts in the place of the texts where their order
//! matters. A deterministic collation only orders: texts are equal if their bytes are. Under one that is not
//! deterministic, texts with equal keys are equal.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex};

use icu_collator::options::{AlternateHandling, CaseLevel, CollatorOptions, Strength};
use icu_collator::{Collator, CollatorBorrowed, CollatorPreferences};
use icu_locale_core::Locale;
use icu_locale_core::extensions::unicode::Key;

use crate::error::{Result, SqlError, SqlState};
use crate::{Definitions, Oid};

/// The collations that compare bytes, by number.
pub static COLLATIONS: &[(Oid, &str)] =
    &[(100, "default"), (950, "C"), (951, "POSIX"), (12340, "ucs_basic"), (12341, "C.utf8"), (12341, "C.UTF-8")];

/// The collations `…-x-icu` that PostgreSQL has from the start: number and language.
static LANGUAGES: LazyLock<Vec<(Oid, &'static str)>> = LazyLock::new(|| {
    let line = |line: &'static str| line.split_once('\t').and_then(|(oid, tag)| Some((oid.parse().ok()?, tag)));
    include_str!("collations.txt").lines().filter_map(line).collect()
});

/// An order of texts.
#[derive(Clone, PartialEq, Debug)]
pub struct Order {
    /// The number of its collation.
    pub oid: Oid,
    /// The language, with its options, as BCP 47 writes it.
    pub locale: Arc<str>,
    /// Whether texts that the language takes for equal are different all the same.
    pub deterministic: bool,
}

/// The collation of the database.
pub const DEFAULT: Oid = 100;

/// The collations that PostgreSQL has from the start besides those of [`COLLATIONS`]: number, name and language.
pub fn languages() -> impl Iterator<Item = (Oid, String, &'static str)> {
    LANGUAGES.iter().map(|(oid, tag)| (*oid, format!("{tag}-x-icu"), *tag))
}

/// The collation with this name, in a schema of the path or the one that is given; `shown` is how the user wrote it.
pub fn number(name: &str, shown: &str, schemas: &[Oid], catalog: &dyn Definitions) -> Result<Oid> {
    let known = || COLLATIONS.iter().find(|(_, known)| *known == name).map(|(oid, _)| *oid);
    let language = || languages().find(|(_, known, _)| known == name).map(|(oid, ..)| oid);
    let users = |schema: &Oid| catalog.collation_in(*schema, name);
    if let Some(found) = known().or_else(language).or_else(|| schemas.iter().find_map(users)) {
        return Ok(found);
    }
    if is_system_locale(name) {
        return Err(SqlError::unsupported(format_args!("the collation \"{name}\"")));
    }
    Err(missing(shown))
}

/// `42704`
pub fn missing(shown: &str) -> SqlError {
    let message = format!("collation \"{shown}\" for encoding \"UTF8\" does not exist");
    SqlError::new(SqlState::UNDEFINED_OBJECT, message)
}

/// Whether a name looks like that of a locale of the operating system, which a PostgreSQL may have: `en_US.utf8`.
fn is_system_locale(name: &str) -> bool {
    let letters = name.split(['_', '.']).next().unwrap_or_default();
    let language = (2..=3).contains(&letters.len()) && letters.bytes().all(|byte| byte.is_ascii_lowercase());
    name == "unicode" || (name.contains(['_', '.']) && language)
}

/// The name of a collation.
pub fn name(oid: Oid, catalog: &dyn Definitions) -> Option<String> {
    let known = COLLATIONS.iter().find(|(number, _)| *number == oid).map(|(_, name)| (*name).to_owned());
    let language = || languages().find(|(number, ..)| *number == oid).map(|(_, name, _)| name);
    known.or_else(language).or_else(|| catalog.collation(oid).map(|user| user.name.to_owned()))
}

/// The order that a collation says; `None` is that of bytes.
pub fn order(oid: Oid, catalog: &dyn Definitions) -> Option<Order> {
    if let Some(user) = catalog.collation(oid) {
        let (locale, deterministic) = (user.locale?.clone(), user.deterministic);
        return Some(Order { oid, locale, deterministic });
    }
    let (_, tag) = LANGUAGES.iter().find(|(number, _)| *number == oid)?;
    Some(Order { oid, locale: (*tag).into(), deterministic: true })
}

/// Whether ICU knows what a locale asks for.
pub fn must_be_locale(locale: &str) -> Result<()> {
    collator(locale).map(|_| ())
}

/// What is compared in the place of a text.
pub fn key(text: &str, locale: &str, deterministic: bool) -> Result<Vec<u8>> {
    let mut key = Vec::new();
    let Ok(()) = collator(locale)?.write_sort_key_to(text, &mut key);
    if deterministic {
        // Texts that the order does not tell apart are compared by their bytes.
        key.push(0);
        key.extend_from_slice(text.as_bytes());
    }
    Ok(key)
}

/// The collator of a locale, made when it is first needed.
fn collator(locale: &str) -> Result<Arc<CollatorBorrowed<'static>>> {
    static MADE: Mutex<BTreeMap<String, Arc<CollatorBorrowed<'static>>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(known) = made.get(locale) {
        return Ok(known.clone());
    }
    let collator = Arc::new(make(locale)?);
    made.insert(locale.to_owned(), collator.clone());
    Ok(collator)
}

fn make(locale: &str) -> Result<CollatorBorrowed<'static>> {
    let bad = || {
        let message = format!("could not open collator for locale \"{locale}\": U_ILLEGAL_ARGUMENT_ERROR");
        SqlError::new(SqlState::INTERNAL_ERROR, message)
    };
    let parsed: Locale = locale.replace('_', "-").parse().map_err(|_| bad())?;
    let mut options = CollatorOptions::default();
    for (key, value) in parsed.extensions.unicode.keywords.iter() {
        set(&mut options, key, &value.to_string()).ok_or_else(|| {
            SqlError::unsupported(format_args!("the option {key}-{value} of the locale \"{locale}\""))
        })?;
    }
    Collator::try_new(CollatorPreferences::from(&parsed), options).map_err(|_| bad())
}

/// Options that are not part of a collator's preferences.
fn set(options: &mut CollatorOptions, key: &Key, value: &str) -> Option<()> {
    match (key.as_str(), value) {
        ("co" | "kn" | "kf", _) => {}
        ("ks", "level1") => options.strength = Some(Strength::Primary),
        ("ks", "level2") => options.strength = Some(Strength::Secondary),
        ("ks", "level3") => options.strength = Some(Strength::Tertiary),
        ("ks", "level4") => options.strength = Some(Strength::Quaternary),
        ("ks", "identic") => options.strength = Some(Strength::Identical),
        ("kc", "" | "true") => options.case_level = Some(CaseLevel::On),
        ("kc", "false") => options.case_level = Some(CaseLevel::Off),
        ("ka", "noignore") => options.alternate_handling = Some(AlternateHandling::NonIgnorable),
        ("ka", "shifted") => options.alternate_handling = Some(AlternateHandling::Shifted),
        _ => return None,
    }
    Some(())
}
