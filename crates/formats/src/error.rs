//! What may go wrong: the stream breaks, the text is not a history, the format cannot say what a history holds.

use std::fmt;
use std::io;

use skew_model::hist::InputError;

use crate::format::Format;

/// Why a history could not be read.
#[derive(Debug)]
pub enum ReadError {
    /// The stream or file broke.
    Io(io::Error),
    /// What it holds is not a history in this format.
    Input(InputError),
}

impl ReadError {
    pub(crate) fn in_file(self, file: &str) -> ReadError {
        match self {
            ReadError::Input(error) => ReadError::Input(error.in_file(file)),
            broken => broken,
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Io(error) => write!(f, "cannot read: {error}"),
            ReadError::Input(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        ReadError::Io(error)
    }
}

impl From<InputError> for ReadError {
    fn from(error: InputError) -> Self {
        ReadError::Input(error)
    }
}

/// Every format's answer to a file that holds nothing.
pub(crate) fn no_transaction(hint: &str) -> InputError {
    InputError::at(0, 0, "there is no transaction in it").hint(hint)
}

/// Why a history could not be written.
#[derive(Debug)]
pub enum WriteError {
    /// The stream or file broke.
    Io(io::Error),
    /// The format has no way to say this.
    CannotExpress {
        /// The format.
        format: Format,
        /// What it cannot say.
        what: String,
    },
}

impl WriteError {
    pub(crate) fn cannot(format: Format, what: impl Into<String>) -> WriteError {
        WriteError::CannotExpress { format, what: what.into() }
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::Io(error) => write!(f, "cannot write: {error}"),
            WriteError::CannotExpress { format, what } => {
                write!(f, "the {format} format cannot express {what}")?;
                if *format != Format::Jsonl { f.write_str("; jsonl can hold everything") } else { Ok(()) }
            }
        }
    }
}

impl std::error::Error for WriteError {}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        WriteError::Io(error)
    }
}
