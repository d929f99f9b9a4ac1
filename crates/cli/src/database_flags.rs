//! The flags of commands that run transactions, and the words that their values are.

use clap::{Args, ValueEnum};
use skew_model::{AskedLevel, Level, Target};
use skew_sql::session::Granularity;
use skew_store::Recency;

/// What two transactions conflict on.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GranularityArgument {
    #[value(alias = "columns", alias = "column")]
    Cell,
    #[value(alias = "rows")]
    Row,
}

impl From<GranularityArgument> for Granularity {
    fn from(argument: GranularityArgument) -> Granularity {
        match argument {
            GranularityArgument::Cell => Granularity::Cell,
            GranularityArgument::Row => Granularity::Row,
        }
    }
}

/// Whether a transaction sees what was committed before it began.
#[derive(Args, Clone, Copy)]
pub(crate) struct RecencyFlags {
    /// Whether what was committed before a transaction began is always seen: `commit`, as on a single server, or `none`,
    /// the bare level
    #[arg(long, value_enum, default_value = "commit")]
    recency: RecencyArgument,

    /// Reads possibly go to a replica that lags: the same as --recency none
    #[arg(long, conflicts_with = "recency")]
    replicated: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RecencyArgument {
    Commit,
    None,
}

impl RecencyFlags {
    pub(crate) fn recency(self) -> Recency {
        match self.replicated || self.recency == RecencyArgument::None {
            true => Recency::None,
            false => Recency::Commit,
        }
    }
}

/// The value of --recency.
pub(crate) fn recency_word(recency: Recency) -> &'static str {
    match recency {
        Recency::None => "none",
        Recency::Commit => "commit",
    }
}

/// The level and the recency of a result: `READ COMMITTED (mvrc, recency commit)`.
pub(crate) fn level_words(isolation: Option<AskedLevel>, recency: Recency) -> String {
    let recency = recency_word(recency);
    match isolation {
        None => format!("the levels that transactions ask for (recency {recency})"),
        Some(AskedLevel { level, sql: Some(sql) }) => {
            format!("{} ({level}, recency {recency})", sql.name().to_ascii_uppercase())
        }
        Some(AskedLevel { level, sql: None }) => format!("{level} (recency {recency})"),
    }
}

/// A level that transactions can run at, by SQL's name or by id.
pub(crate) fn parse_isolation(word: &str) -> Result<AskedLevel, String> {
    match word.parse::<AskedLevel>() {
        Ok(AskedLevel { level, sql: None }) if level == Level::Ec || level.is_strict() || is_without_locks(level) => {
            Err(format!("transactions do not run at {level}; the ids are ru rc ra cc mvrc pc psi si ser"))
        }
        Ok(asked) => Ok(asked),
        Err(error) => Err(error.to_string()),
    }
}

/// Whether a level needs locks that the weak database does not have.
pub(crate) fn is_without_locks(level: Level) -> bool {
    level.definition().target == Some(Target::Mariadb)
}
