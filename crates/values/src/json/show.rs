//! JSON values as text.

use std::fmt::{self, Write};

use super::{Json, VALUE_WORK};
use crate::budget;

impl fmt::Display for Json {
    /// As jsonb is shown: a space after each colon and comma.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if budget::is_over(VALUE_WORK) {
            return Ok(());
        }
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Number(number) => write!(f, "{number}"),
            Json::String(text) => write_quoted(f, text),
            Json::Array(items) => {
                f.write_char('[')?;
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{item}")?;
                }
                f.write_char(']')
            }
            Json::Object(entries) => {
                f.write_char('{')?;
                for (at, (key, value)) in entries.iter().enumerate() {
                    if at > 0 {
                        f.write_str(", ")?;
                    }
                    write_quoted(f, key)?;
                    write!(f, ": {value}")?;
                }
                f.write_char('}')
            }
        }
    }
}

impl Json {
    /// What `jsonb_pretty` gives.
    pub fn pretty(&self) -> String {
        let mut out = String::new();
        self.pretty_into(&mut out, 0);
        out
    }

    fn pretty_into(&self, out: &mut String, depth: usize) {
        let line = |out: &mut String, depth: usize| {
            out.push('\n');
            out.extend(std::iter::repeat_n("    ", depth));
        };
        if budget::is_over(VALUE_WORK) {
            return;
        }
        match self {
            Json::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    line(out, depth + 1);
                    item.pretty_into(out, depth + 1);
                }
                line(out, depth);
                out.push(']');
            }
            Json::Object(entries) => {
                out.push('{');
                for (at, (key, value)) in entries.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    line(out, depth + 1);
                    quote(out, key);
                    out.push_str(": ");
                    value.pretty_into(out, depth + 1);
                }
                line(out, depth);
                out.push('}');
            }
            scalar => {
                let _ = write!(out, "{scalar}");
            }
        }
    }
}

/// Adds a string with its quotes and escapes.
pub fn quote(out: &mut String, text: &str) {
    let _ = write_quoted(out, text);
}

fn write_quoted(out: &mut impl Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0C => "\\f",
            0..0x20 => "",
            _ => continue,
        };
        out.write_str(&text[plain..at])?;
        plain = at + 1;
        match escape {
            "" => write!(out, "\\u{byte:04x}")?,
            _ => out.write_str(escape)?,
        }
    }
    out.write_str(&text[plain..])?;
    out.write_char('"')
}
