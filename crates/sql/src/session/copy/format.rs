//! The options of COPY.

use crate::error::{Result, SqlError, SqlState};
use crate::parse::statement::CopyOption;

/// How the data looks.
#[derive(Clone, Debug)]
pub(crate) struct Format {
    pub(crate) binary: bool,
    pub(crate) csv: bool,
    pub(crate) delimiter: u8,
    pub(crate) null: String,
    pub(crate) header: bool,
    pub(crate) quote: u8,
    pub(crate) escape: u8,
    pub(crate) force_quote: bool,
}

impl Format {
    pub(crate) fn new(options: &[(String, CopyOption)]) -> Result<Format> {
        let mut format = Format {
            binary: false,
            csv: false,
            delimiter: b'\t',
            null: "\\N".to_owned(),
            header: false,
            quote: b'"',
            escape: b'"',
            force_quote: false,
        };
        let (mut delimiter, mut null, mut escape) = (None, None, None);
        for (name, value) in options {
            let text = match value {
                CopyOption::Value(text) => text.as_str(),
                CopyOption::None => "true",
                CopyOption::All => "*",
                CopyOption::Columns(_) => return Err(SqlError::unsupported(format!("COPY with {name} for columns"))),
            };
            match name.as_str() {
                "format" => match text.to_lowercase().as_str() {
                    "text" => {}
                    "csv" => format.csv = true,
                    "binary" => format.binary = true,
                    other => {
                        let message = format!("COPY format \"{other}\" not recognized");
                        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
                    }
                },
                "delimiter" => delimiter = Some(one_byte("delimiter", text)?),
                "null" => null = Some(text.to_owned()),
                "header" => format.header = !matches!(text.to_lowercase().as_str(), "false" | "off" | "0"),
                "quote" => format.quote = one_byte("quote", text)?,
                "escape" => escape = Some(one_byte("escape", text)?),
                "force_quote" => format.force_quote = true,
                "encoding" if matches!(text.to_uppercase().as_str(), "UTF8" | "UTF-8" | "SQL_ASCII") => {}
                "freeze" => {}
                other => return Err(SqlError::unsupported(format!("the COPY option {other}"))),
            }
        }
        if format.csv {
            (format.delimiter, format.null) = (b',', String::new());
        }
        format.delimiter = delimiter.unwrap_or(format.delimiter);
        format.null = null.unwrap_or(format.null);
        format.escape = escape.unwrap_or(format.quote);
        Ok(format)
    }
}

fn one_byte(what: &str, text: &str) -> Result<u8> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        _ => {
            let message = format!("COPY {what} must be a single one-byte character");
            Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message))
        }
    }
}
