//! What a database answered, as data.

use std::fmt;
use std::io;

use super::message::Message;

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) type_oid: u32,
}

/// The result of one statement: its columns and rows, and the command tag (`UPDATE 1`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) columns: Vec<Column>,
    pub(crate) values: Vec<Vec<Option<String>>>,
    pub(crate) tag: String,
}

/// An error or a notice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerError {
    pub(crate) severity: String,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) detail: String,
    pub(crate) constraint: String,
}

/// Everything between a request and *ready for query*.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) results: Vec<Rows>,
    pub(crate) error: Option<ServerError>,
    pub(crate) notices: Vec<ServerError>,
    /// Types of a prepared statement's parameters, where they were asked for.
    pub(crate) parameters: Vec<u32>,
    /// `I` idle, `T` in a transaction, `E` in a failed one.
    pub(crate) status: u8,
    /// The connection broke, and why.
    pub(crate) lost: Option<String>,
}

/// An answer in one of three cases.
pub(crate) enum Outcome<'a> {
    /// All statements ran.
    Done(&'a [Rows]),
    /// The server refused.
    Failed(&'a ServerError),
    /// The server did not answer to the end.
    Lost(&'a str),
}

impl Answer {
    pub(super) fn lost(error: &io::Error) -> Answer {
        Answer { lost: Some(error.to_string()), ..Answer::default() }
    }

    pub(crate) fn outcome(&self) -> Outcome<'_> {
        match (&self.lost, &self.error) {
            (Some(why), _) => Outcome::Lost(why),
            (None, Some(error)) => Outcome::Failed(error),
            (None, None) => Outcome::Done(&self.results),
        }
    }

    /// The SQLSTATE of an error, `lost` for a broken connection, nothing for success.
    pub(crate) fn code(&self) -> Option<&str> {
        match self.outcome() {
            Outcome::Done(_) => None,
            Outcome::Failed(error) => Some(&error.code),
            Outcome::Lost(_) => Some("lost"),
        }
    }

    /// The rows of the last statement.
    pub(crate) fn rows(&self) -> &[Vec<Option<String>>] {
        self.results.last().map_or(&[], |rows| &rows.values)
    }

    /// Turns anything but success into an error of the harness.
    pub(crate) fn ok(self) -> io::Result<Answer> {
        match self.outcome() {
            Outcome::Done(_) => Ok(self),
            Outcome::Failed(error) => Err(io::Error::other(error.to_string())),
            Outcome::Lost(why) => Err(io::Error::other(format!("the connection broke: {why}"))),
        }
    }
}

impl ServerError {
    pub(super) fn decode(message: &mut Message) -> io::Result<ServerError> {
        let mut error = ServerError::default();
        loop {
            let field = message.byte()?;
            if field == 0 {
                return Ok(error);
            }
            let value = message.text()?;
            match field {
                b'S' => error.severity = value,
                b'C' => error.code = value,
                b'M' => error.message = value,
                b'D' => error.detail = value,
                b'n' => error.constraint = value,
                _ => {}
            }
        }
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.severity, self.code, self.message)
    }
}
