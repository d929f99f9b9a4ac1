//! The type `hstore` of the extension with that name: keys with values, which may be NULL.
//!
//! A value is kept as its text in the one form that PostgreSQL shows: keys by length and then by bytes, each once.

use std::collections::BTreeMap;

use crate::error::{Result, SqlError, SqlState};
use crate::{ArrayValue, Datum, json};

/// The pairs, in the order of the type: shorter keys first.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Pairs(BTreeMap<(usize, String), Option<String>>);

fn place(key: &str) -> (usize, String) {
    (key.len(), key.to_owned())
}

impl Pairs {
    /// Reads `a=>1, "b c"=>"x", d=>NULL`. Of a key that is there twice the first counts.
    pub fn parse(text: &str) -> Result<Pairs> {
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

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Option<String>> {
        self.0.get(&place(key))
    }

    /// Adds a pair, in the place of one with the same key.
    pub fn put(&mut self, key: &str, value: Option<String>) {
        self.0.insert(place(key), value);
    }

    /// Takes a pair out.
    pub fn remove(&mut self, key: &str) -> Option<Option<String>> {
        self.0.remove(&place(key))
    }

    /// Keys and values, in the order of the type.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.0.iter().map(|((_, key), value)| (key.as_str(), value.as_deref()))
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
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

/// The pairs of an array: keys and values in turn, or a matrix with two columns.
pub fn of_array(array: &ArrayValue) -> Result<Datum> {
    match array.dimensions.as_slice() {
        [] | [_] if array.items.len() % 2 == 1 => return Err(array_error("array must have even number of elements")),
        [] | [_] | [_, (2, _)] => {}
        [_, _] => return Err(array_error("array must have two columns")),
        _ => return Err(array_error("wrong number of array subscripts")),
    }
    let mut pairs = Pairs::default();
    // Of a key that is there twice the first counts.
    for pair in array.items.chunks(2).rev() {
        let key = as_text(&pair[0]).ok_or_else(null_key)?;
        pairs.put(key, pair.get(1).and_then(as_text).map(str::to_owned));
    }
    Ok(Datum::text(pairs.to_string()))
}

/// An object whose values are texts.
pub fn as_json(text: &str) -> Result<String> {
    let quoted = |text: &str| {
        let mut out = String::new();
        json::quote(&mut out, text);
        out
    };
    let pair =
        |(key, value): (&str, Option<&str>)| format!("{}: {}", quoted(key), value.map_or("null".to_owned(), &quoted));
    Ok(format!("{{{}}}", Pairs::parse(text)?.iter().map(pair).collect::<Vec<_>>().join(", ")))
}

/// The text of an item, if it is one.
pub fn as_text(item: &Datum) -> Option<&str> {
    if let Datum::Text(text) = item { Some(text) } else { None }
}

/// `22004`
pub fn null_key() -> SqlError {
    SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "null value not allowed for hstore key")
}

/// `2202E`
pub fn array_error(message: &str) -> SqlError {
    SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message)
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
