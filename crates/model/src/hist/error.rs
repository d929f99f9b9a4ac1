//! What is wrong with a text: where, what, and what to do about it.

use std::fmt;

/// Text that could not be understood: where, what, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputError {
    /// The file, once somebody who knows it has filled it in.
    pub file: Option<String>,
    /// The line, from 1; 0 when the whole input is meant.
    pub line: u32,
    /// The column in characters, from 1; 0 when the whole line is meant.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl InputError {
    /// An error about a line.
    pub fn at(line: u32, column: u32, message: impl Into<String>) -> Self {
        InputError { file: None, line, column, message: message.into(), hint: None }
    }

    /// The same with what to do next.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with the file.
    pub fn in_file(mut self, file: impl Into<String>) -> Self {
        self.file.get_or_insert(file.into());
        self
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
        }
        match (self.line, self.column) {
            (0, _) => {}
            (line, 0) => write!(f, "{line}: ")?,
            (line, column) => write!(f, "{line}:{column}: ")?,
        }
        if self.file.is_some() && self.line == 0 {
            f.write_str(" ")?;
        }
        f.write_str(&self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for InputError {}
