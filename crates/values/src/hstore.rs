//! The type `hstore` of the extension with that name: keys with values, which may be NULL.
//!
//! A value is kept as its text in the one form that PostgreSQL shows: keys by length and then by bytes, each once.

use std::collections::BTreeMap;

use crate::error::{Result, SqlError, SqlState};

/// The pairs, in the order of the type: shorter keys first.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct Pairs(BTreeMap<(usize, String), Option<String>>);

fn place(key: &str) -> (usize, String) {
    (key.len(), key.to_owned())
}

impl Pairs {
    /// Reads `a=>1, "b c"=>"x", d=>NULL`. Of a key that is there twice the first counts.
    pub(crate) fn parse(text: &str) -> Result<Pairs> {
        let mut scanner = Scanner { text, rest: text.trim_start() };
        let mut pairs = Pairs::default();
        while !scanner.rest.is_empty() {
            let (key, _) = scanner.item("=>")?;
            scanner.rest = scanner.rest.trim_start();
            scanner.rest = scanner.rest.strip_prefix("=>").ok_or_else(|| scanner.error())?.trim_start();
            let (value, quoted) = scanner.item(",")?;
            let value = (quoted || !value.eq_ignore_ascii_case("null")).then_some(value);
            pairs.0.entry(place(&key)).or_insert(value);
            scanner.rest = scanner.rest.trim_start();
            match scanner.rest.strip_prefix(',') {
                Some(rest) => scanner.rest = rest.trim_start(),
                None if scanner.rest.is_empty() => break,
                None => return Err(scanner.error()),
            }
        }
        Ok(pairs)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Option<String>> {
        self.0.get(&place(key))
    }

    /// Adds a pair, in the place of one with the same key.
    pub(crate) fn put(&mut self, key: &str, value: Option<String>) {
        self.0.insert(place(key), value);
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<Option<String>> {
        self.0.remove(&place(key))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.0.iter().map(|((_, key), value)| (key.as_str(), value.as_deref()))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl std::fmt::Display for Pairs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        for (number, (key, value)) in self.iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            write!(f, "{comma}{}=>{}", quoted(key), value.map_or("NULL".to_owned(), quoted))?;
        }
        Ok(())
    }
}

struct Scanner<'a> {
    text: &'a str,
    rest: &'a str,
}

impl Scanner<'_> {
    fn error(&self) -> SqlError {
        let message = match self.rest.chars().next() {
            Some(c) => {
                let at = self.text.len() - self.rest.len();
                format!("Syntax error near \"{c}\" at position {at}")
            }
            None => "Unexpected end of string".to_owned(),
        };
        SqlError::new(SqlState::INTERNAL_ERROR, message)
    }

    /// A key or a value, and whether it was quoted. Without quotes it ends at white space or at `end`.
    fn item(&mut self, end: &str) -> Result<(String, bool)> {
        let quoted = self.rest.starts_with('"');
        let mut out = String::new();
        let mut chars = self.rest.char_indices().skip(usize::from(quoted));
        let mut stopped = None;
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some((_, escaped)) => out.push(escaped),
                    None => break,
                },
                '"' if quoted => {
                    stopped = Some(at + 1);
                    break;
                }
                _ if !quoted && (c.is_whitespace() || self.rest[at..].starts_with(end) || (end == "," && c == '"')) => {
                    stopped = Some(at);
                    break;
                }
                _ => out.push(c),
            }
        }
        match stopped {
            Some(at) => self.rest = &self.rest[at..],
            None if quoted => {
                self.rest = "";
                return Err(self.error());
            }
            None => self.rest = "",
        }
        if out.is_empty() && !quoted {
            return Err(self.error());
        }
        Ok((out, quoted))
    }
}
