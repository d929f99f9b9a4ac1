//! The formats, by name and by path.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use skew_model::did_you_mean;

/// A format of recorded histories.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// Our own text, one transaction a line.
    Hist,
    /// Our own JSON Lines.
    Jsonl,
    /// Jepsen's EDN, as Elle checks it.
    Elle,
    /// Plume's text, one operation a line.
    Plume,
    /// dbcop's JSON or bincode.
    Dbcop,
    /// Cobra's folder of binary logs.
    Cobra,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 6] =
        [Format::Hist, Format::Jsonl, Format::Elle, Format::Plume, Format::Dbcop, Format::Cobra];

    /// The name that commands use.
    pub fn name(self) -> &'static str {
        match self {
            Format::Hist => "hist",
            Format::Jsonl => "jsonl",
            Format::Elle => "elle",
            Format::Plume => "plume",
            Format::Dbcop => "dbcop",
            Format::Cobra => "cobra",
        }
    }

    /// The format that a path suggests: a folder is Cobra's, a file goes by its extension.
    pub fn of_path(path: &Path) -> Option<Format> {
        if path.is_dir() {
            return Some(Format::Cobra);
        }
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "hist" => Some(Format::Hist),
            "jsonl" | "ndjson" => Some(Format::Jsonl),
            "edn" => Some(Format::Elle),
            "txt" | "plume" => Some(Format::Plume),
            "json" | "bincode" | "bin" => Some(Format::Dbcop),
            _ => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(word: &str) -> Result<Format, UnknownFormat> {
        let known = match word.to_ascii_lowercase().as_str() {
            "edn" | "jepsen" => Some(Format::Elle),
            "json-lines" | "jsonlines" | "ndjson" => Some(Format::Jsonl),
            _ => None,
        };
        let named = |format: &Format| format.name().eq_ignore_ascii_case(word);
        let found = known.or_else(|| Format::ALL.into_iter().find(named));
        found.ok_or_else(|| UnknownFormat(word.to_owned()))
    }
}

/// A word that names no format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownFormat(pub String);

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = Format::ALL.into_iter().map(Format::name).collect();
        let hint = did_you_mean(&self.0, names.iter().copied());
        write!(f, "`{}` is not a format{hint} Formats are {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownFormat {}
