//! The databases' own levels, by the names that SQL has for them, and every word that asks for a level.
//!
//! A SQL name (`read committed`, `REPEATABLE-READ`, `Serializable`) means what the target database does at that level:
//! PostgreSQL, unless MariaDB is asked for. A short id (`rc`) and the long name of a definition (`read atomic`) mean the
//! definition. The definition `rc` and PostgreSQL's READ COMMITTED are different levels: the second one is `pg-rc`. Every
//! command, SQL and file reads levels through
//! [`AskedLevel`], so a word means the same everywhere.

use std::fmt;
use std::str::FromStr;

use crate::level::{DEFINITIONS, Level};
use crate::nearest::did_you_mean;

/// A database whose levels SQL's names mean.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Target {
    /// PostgreSQL.
    #[default]
    Postgres,
    /// MariaDB with InnoDB.
    Mariadb,
}

impl Target {
    /// All of them.
    pub const ALL: [Target; 2] = [Target::Postgres, Target::Mariadb];

    /// The word for it on the command line.
    pub fn id(self) -> &'static str {
        match self {
            Target::Postgres => "postgres",
            Target::Mariadb => "mariadb",
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Target::Postgres => "PostgreSQL",
            Target::Mariadb => "MariaDB",
        }
    }
}

/// A level by its SQL name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "the names say what they are")]
pub enum SqlLevel {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

impl SqlLevel {
    /// All of them, weakest first.
    pub const ALL: [SqlLevel; 4] =
        [SqlLevel::ReadUncommitted, SqlLevel::ReadCommitted, SqlLevel::RepeatableRead, SqlLevel::Serializable];

    /// The level with this name, in any spelling: `REPEATABLE READ`, `repeatable-read`, `RepeatableRead`.
    pub fn named(word: &str) -> Option<SqlLevel> {
        let plain = plain(word);
        SqlLevel::ALL.into_iter().find(|level| self::plain(level.name()) == plain)
    }

    /// Its name, as SQL shows it.
    pub fn name(self) -> &'static str {
        match self {
            SqlLevel::ReadUncommitted => "read uncommitted",
            SqlLevel::ReadCommitted => "read committed",
            SqlLevel::RepeatableRead => "repeatable read",
            SqlLevel::Serializable => "serializable",
        }
    }

    /// What a database does at this level. PostgreSQL's READ UNCOMMITTED is its READ COMMITTED.
    pub fn level_of(self, target: Target) -> Level {
        match (target, self) {
            (Target::Postgres, SqlLevel::ReadUncommitted | SqlLevel::ReadCommitted) => Level::PgRc,
            (Target::Postgres, SqlLevel::RepeatableRead) => Level::PgRr,
            (Target::Postgres, SqlLevel::Serializable) => Level::PgSer,
            (Target::Mariadb, SqlLevel::ReadUncommitted) => Level::Ru,
            (Target::Mariadb, SqlLevel::ReadCommitted) => Level::MariaRc,
            (Target::Mariadb, SqlLevel::RepeatableRead) => Level::MariaRr,
            (Target::Mariadb, SqlLevel::Serializable) => Level::MariaSer,
        }
    }

    /// The definition that comes closest to what PostgreSQL does at this level. Its READ UNCOMMITTED is its READ
    /// COMMITTED.
    pub fn level(self) -> Level {
        match self {
            SqlLevel::ReadUncommitted | SqlLevel::ReadCommitted => Level::Mvrc,
            SqlLevel::RepeatableRead => Level::Si,
            SqlLevel::Serializable => Level::Ser,
        }
    }
}

/// A level as it was asked for: by SQL's name, or by that of a definition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AskedLevel {
    /// The definition; for SQL's names, the one that the store runs for PostgreSQL's level. [`AskedLevel::of`] is the level
    /// that is meant.
    pub level: Level,
    /// What SQL calls it, if that is how it was asked for.
    pub sql: Option<SqlLevel>,
}

impl AskedLevel {
    /// The level that is meant: a definition, or the own level of the database.
    pub fn of(self, target: Target) -> Level {
        self.sql.map_or(self.level, |sql| sql.level_of(target))
    }

    /// The word that asks for the same again.
    pub fn word(self) -> &'static str {
        self.sql.map_or(self.level.id(), SqlLevel::name)
    }
}

impl From<Level> for AskedLevel {
    fn from(level: Level) -> AskedLevel {
        AskedLevel { level, sql: None }
    }
}

impl From<SqlLevel> for AskedLevel {
    fn from(sql: SqlLevel) -> AskedLevel {
        AskedLevel { level: sql.level(), sql: Some(sql) }
    }
}

/// `READ COMMITTED (mvrc)`, or `mvrc`.
impl fmt::Display for AskedLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.sql {
            Some(sql) => f.pad(&format!("{} ({})", sql.name().to_ascii_uppercase(), self.level)),
            None => f.pad(self.level.id()),
        }
    }
}

impl FromStr for AskedLevel {
    type Err = UnknownLevel;

    fn from_str(word: &str) -> Result<AskedLevel, UnknownLevel> {
        if let Some(sql) = SqlLevel::named(word) {
            return Ok(sql.into());
        }
        let plain = plain(word);
        let named = DEFINITIONS
            .iter()
            .find(|definition| [definition.id].iter().chain(definition.aliases).any(|name| self::plain(name) == plain));
        named.map(|definition| definition.level.into()).ok_or_else(|| UnknownLevel(word.to_owned()))
    }
}

/// The level that a word asks for, where SQL's names mean PostgreSQL's levels.
impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(word: &str) -> Result<Level, UnknownLevel> {
        word.parse::<AskedLevel>().map(|asked| asked.of(Target::default()))
    }
}

/// All words that name levels: ids, other names of definitions, SQL's names.
pub fn level_words() -> impl Iterator<Item = &'static str> {
    let definitions = DEFINITIONS.iter().flat_map(|definition| [definition.id].into_iter().chain(names(definition)));
    SqlLevel::ALL.into_iter().map(SqlLevel::name).chain(definitions)
}

fn names(definition: &'static crate::level::Definition) -> impl Iterator<Item = &'static str> {
    definition.aliases.iter().copied()
}

/// A word that names no level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownLevel(pub String);

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<_> = DEFINITIONS.iter().map(|definition| definition.id).collect();
        let sql: Vec<_> = SqlLevel::ALL.iter().map(|level| level.name()).collect();
        write!(
            f,
            "`{}` is not an isolation level{} The definitions are {}; the databases' levels are {}",
            self.0,
            did_you_mean(&self.0, level_words()),
            ids.join(", "),
            sql.join(", ")
        )
    }
}

impl std::error::Error for UnknownLevel {}

/// A name without what differs between spellings.
fn plain(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '-' | '_') && !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sql_names_mean_the_databases_levels_and_ids_the_definitions() {
        for spelling in ["read committed", "READ-COMMITTED", "read_committed", "ReadCommitted"] {
            assert_eq!(spelling.parse(), Ok(AskedLevel::from(SqlLevel::ReadCommitted)), "{spelling}");
        }
        assert_eq!("read-committed".parse(), Ok(Level::PgRc));
        assert_eq!("rc".parse(), Ok(AskedLevel::from(Level::Rc)));
        assert_eq!("repeatable-read".parse(), Ok(Level::PgRr));
        assert_eq!("read uncommitted".parse(), Ok(Level::PgRc));
        let asked: AskedLevel = "repeatable read".parse().expect("a level");
        assert_eq!(asked.of(Target::Mariadb), Level::MariaRr);
        assert_eq!("ru".parse(), Ok(Level::Ru));
        assert_eq!("Snapshot Isolation".parse(), Ok(AskedLevel::from(Level::Si)));
    }

    #[test]
    fn no_word_names_two_levels() {
        let words: Vec<String> = level_words().map(plain).collect();
        let distinct: std::collections::BTreeSet<&String> = words.iter().collect();
        assert_eq!(words.len(), distinct.len());
    }

    #[test]
    fn an_unknown_level_is_told_with_the_nearest_known_one() {
        let message = "serialisable".parse::<Level>().expect_err("it is misspelled").to_string();
        assert!(
            message.starts_with("`serialisable` is not an isolation level; did you mean `serializable`? "),
            "{message}"
        );
        let message = "strong".parse::<Level>().expect_err("it is none").to_string();
        assert!(message.starts_with("`strong` is not an isolation level. The definitions are ru, "), "{message}");
    }

    #[test]
    fn a_level_is_shown_by_the_name_that_asked_for_it() {
        assert_eq!(AskedLevel::from(SqlLevel::RepeatableRead).to_string(), "REPEATABLE READ (si)");
        assert_eq!(AskedLevel::from(Level::Si).to_string(), "si");
    }
}
