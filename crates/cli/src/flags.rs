//! The flags that every command has. Those of commands with a database are in `database_flags`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use skew_report::Style;

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
