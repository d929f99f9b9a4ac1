//! The flags that several commands share, and the words that their values are.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use skew_model::{AskedLevel, Level};
use skew_report::Style;
use skew_sql::session::Granularity;
use skew_store::Recency;

use crate::output::{self, Color};

/// What every command understands about its output.
#[derive(Args, Clone)]
pub(crate) struct OutputFlags {
    /// Write the answer to a file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// When to colour
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) color: Color,

    /// Say the result only: no explanation, no progress, no names of written files
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Say more: every reason, every statement
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

impl OutputFlags {
    /// How text should look.
    pub(crate) fn style(&self) -> Style {
        output::style(self.color, self.verbose)
    }

    /// Writes the answer where it was asked for, and names the file.
    pub(crate) fn write(&self, text: &str) -> Result<(), String> {
        output::write(self.output.as_deref(), text)?;
        if let Some(path) = &self.output {
            self.wrote(path);
        }
        Ok(())
    }

    /// Says that a file was written.
    pub(crate) fn wrote(&self, path: &std::path::Path) {
        if !self.quiet {
            eprintln!("skew: wrote {}", path.display());
        }
    }
}

/// Text, or the same as JSON.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextOrJson {
    Text,
    Json,
}

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
        Ok(AskedLevel { level: level @ (Level::Ec | Level::Sser), .. }) => {
            Err(format!("transactions do not run at {level}; the ids are ru rc ra cc mvrc pc psi si ser"))
        }
        Ok(asked) => Ok(asked),
        Err(error) => Err(error.to_string()),
    }
}
