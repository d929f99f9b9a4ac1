//! Text → JSON values, with PostgreSQL's complaints about text that is none.

use super::{Json, MAX_DEPTH, VALUE_WORK};
use crate::budget;
use crate::error::{Result, SqlError, SqlState};
use crate::numeric::Numeric;

pub(super) fn parse(text: &str) -> Result<Json> {
    let mut parser = Parser::new(text);
    let value = build(&mut parser, 0)?;
    parser.end()?;
    Ok(value)
}

pub(super) fn validate(text: &str) -> Result<()> {
    let mut parser = Parser::new(text);
    parser.lenient = true;
    parser.skip_value(0)?;
    parser.end()
}

/// Reads tokens, and knows where it is.
pub(super) struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// Escapes that stand for no character are let through: the type json does not look at what they mean.
    lenient: bool,
}

/// What a value begins with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    Object,
    Array,
    String,
    Number,
    Word,
}

impl<'a> Parser<'a> {
    pub fn new(text: &'a str) -> Parser<'a> {
        Parser { text, at: 0, lenient: false }
    }

    pub fn at(&self) -> usize {
        self.at
    }

    pub fn skip_space(&mut self) {
        let space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        self.at += self.text.as_bytes()[self.at..].iter().take_while(space).count();
    }

    pub fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.text.as_bytes().get(self.at).copied()
    }

    pub fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// What the value here begins with, or the error that says what was expected.
    pub fn start(&mut self, expected: &str) -> Result<Start> {
        budget::step(VALUE_WORK)?;
        match self.peek() {
            Some(b'{') => Ok(Start::Object),
            Some(b'[') => Ok(Start::Array),
            Some(b'"') => Ok(Start::String),
            Some(b'-' | b'0'..=b'9') => Ok(Start::Number),
            Some(_) if ["true", "false", "null"].contains(&self.token()) => Ok(Start::Word),
            _ => Err(self.unexpected(expected)),
        }
    }

    pub fn end(&mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.unexpected("end of input")),
        }
    }

    /// Goes over a value and checks it.
    pub fn skip_value(&mut self, depth: usize) -> Result<()> {
        match self.start("JSON value")? {
            Start::Object => self.object(depth, |parser, depth, _| parser.skip_value(depth)),
            Start::Array => self.array(depth, Parser::skip_value),
            Start::String => self.string().map(drop),
            Start::Number => self.number().map(drop),
            Start::Word => {
                self.at += self.token().len();
                Ok(())
            }
        }
    }

    /// Goes over an array; the parser stands at each of its items.
    pub fn array(&mut self, depth: usize, mut item: impl FnMut(&mut Self, usize) -> Result<()>) -> Result<()> {
        self.enter(depth)?;
        if self.accept(b']') {
            return Ok(());
        }
        loop {
            self.start("JSON value")?;
            item(self, depth + 1)?;
            if self.accept(b']') {
                return Ok(());
            }
            if !self.accept(b',') {
                return Err(self.unexpected("\",\" or \"]\""));
            }
        }
    }

    /// Goes over an object; the parser stands at the value of each key.
    pub fn object(
        &mut self,
        depth: usize,
        mut entry: impl FnMut(&mut Self, usize, String) -> Result<()>,
    ) -> Result<()> {
        self.enter(depth)?;
        if self.accept(b'}') {
            return Ok(());
        }
        let mut expected = "string or \"}\"";
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.unexpected(expected));
            }
            let key = self.string()?;
            if !self.accept(b':') {
                return Err(self.unexpected("\":\""));
            }
            entry(self, depth + 1, key)?;
            if self.accept(b'}') {
                return Ok(());
            }
            if !self.accept(b',') {
                return Err(self.unexpected("\",\" or \"}\""));
            }
            expected = "string";
        }
    }

    fn enter(&mut self, depth: usize) -> Result<()> {
        self.at += 1;
        if depth >= MAX_DEPTH {
            return Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded"));
        }
        Ok(())
    }

    /// Reads a number.
    pub fn number(&mut self) -> Result<&'a str> {
        let bytes = &self.text.as_bytes()[self.at..];
        let digits =
            |from: usize| bytes[from.min(bytes.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut end = usize::from(bytes[0] == b'-');
        let whole = digits(end);
        let mut valid = whole > 0 && (whole == 1 || bytes[end] != b'0');
        end += whole;
        if bytes.get(end) == Some(&b'.') {
            let fraction = digits(end + 1);
            valid &= fraction > 0;
            end += 1 + fraction;
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + sign);
            valid &= exponent > 0;
            end += 1 + sign + exponent;
        }
        let junk = word_length(&self.text[self.at + end..]);
        if !valid || junk > 0 {
            let end = self.at + end + junk;
            return Err(self.fail(format!("Token \"{}\" is invalid.", &self.text[self.at..end]), end));
        }
        let number = &self.text[self.at..self.at + end];
        self.at += end;
        Ok(number)
    }

    /// Reads a string.
    pub fn string(&mut self) -> Result<String> {
        let start = self.at;
        self.at += 1;
        let mut value = String::new();
        loop {
            let bytes = &self.text.as_bytes()[self.at..];
            let ends = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
            let plain = budget::position(bytes, ends)?.unwrap_or(bytes.len());
            value.push_str(&self.text[self.at..self.at + plain]);
            self.at += plain;
            match bytes.get(plain) {
                None => {
                    let token = &self.text[start..];
                    return Err(self.fail(format!("Token \"{token}\" is invalid."), self.text.len()));
                }
                Some(b'"') => {
                    self.at += 1;
                    return Ok(value);
                }
                Some(b'\\') => self.escape(&mut value, start)?,
                Some(&control) => {
                    let detail = format!("Character with value 0x{control:02x} must be escaped.");
                    return Err(self.fail(detail, self.at));
                }
            }
        }
    }

    fn escape(&mut self, value: &mut String, start: usize) -> Result<()> {
        let Some(escaped) = self.text[self.at + 1..].chars().next() else {
            let token = &self.text[start..];
            return Err(self.fail(format!("Token \"{token}\" is invalid."), self.text.len()));
        };
        let plain = match escaped {
            '"' | '\\' | '/' => escaped,
            'b' => '\x08',
            'f' => '\x0C',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode_escape(value),
            _ => {
                let end = self.at + 1 + escaped.len_utf8();
                return Err(self.fail(format!("Escape sequence \"\\{escaped}\" is invalid."), end));
            }
        };
        value.push(plain);
        self.at += 2;
        Ok(())
    }

    fn unicode_escape(&mut self, value: &mut String) -> Result<()> {
        let high = self.hex()?;
        if self.lenient {
            return Ok(());
        }
        let char = match high {
            0xD800..0xDC00 => {
                if !self.text[self.at..].starts_with("\\u") {
                    return Err(self.fail("Unicode low surrogate must follow a high surrogate.".to_owned(), self.at));
                }
                let low = self.hex()?;
                match low {
                    0xDC00..0xE000 => char::from_u32(0x10000 + (high - 0xD800) * 0x400 + (low - 0xDC00)),
                    0xD800..0xDC00 => {
                        let detail = "Unicode high surrogate must not follow a high surrogate.";
                        return Err(self.fail(detail.to_owned(), self.at));
                    }
                    _ => None,
                }
            }
            0 => {
                return Err(SqlError::new(SqlState::UNTRANSLATABLE_CHARACTER, "unsupported Unicode escape sequence")
                    .detail("\\u0000 cannot be converted to text.")
                    .within(self.context(self.at)));
            }
            _ => char::from_u32(high),
        };
        match char {
            Some(char) => value.push(char),
            None => {
                let detail = "Unicode low surrogate must follow a high surrogate.";
                return Err(self.fail(detail.to_owned(), self.at));
            }
        }
        Ok(())
    }

    /// The four digits after `\u`.
    fn hex(&mut self) -> Result<u32> {
        let digits = self.text.as_bytes().get(self.at + 2..self.at + 6).unwrap_or_default();
        if digits.len() < 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
            let detail = "\"\\u\" must be followed by four hexadecimal digits.";
            let mut end = (self.at + 6).min(self.text.len());
            while !self.text.is_char_boundary(end) {
                end += 1;
            }
            return Err(self.fail(detail.to_owned(), end));
        }
        let value = digits.iter().fold(0, |value, digit| value * 16 + (*digit as char).to_digit(16).unwrap_or(0));
        self.at += 6;
        Ok(value)
    }

    /// The token here, as complaints name it: a whole word, or one character.
    pub fn token(&self) -> &'a str {
        let rest = &self.text[self.at..];
        match word_length(rest) {
            0 => &rest[..rest.chars().next().map_or(0, char::len_utf8)],
            length => &rest[..length],
        }
    }

    fn invalid_token(&self) -> SqlError {
        let token = self.token();
        self.fail(format!("Token \"{token}\" is invalid."), self.at + token.len())
    }

    fn unexpected(&mut self, expected: &str) -> SqlError {
        if self.peek().is_none() {
            return self.fail("The input string ended unexpectedly.".to_owned(), self.text.len());
        }
        let start = self.at;
        let first = self.text.as_bytes()[start];
        // What is not a token at all is complained about as such, wherever it stands.
        match first {
            b'"' => {
                if let Err(error) = self.string() {
                    return error;
                }
            }
            b'-' | b'0'..=b'9' => {
                if let Err(error) = self.number() {
                    return error;
                }
            }
            b'{' | b'}' | b'[' | b']' | b',' | b':' => self.at += 1,
            _ if ["true", "false", "null"].contains(&self.token()) => self.at += self.token().len(),
            _ => return self.invalid_token(),
        }
        let token = &self.text[start..self.at];
        self.fail(format!("Expected {expected}, but found \"{token}\"."), self.at)
    }

    fn fail(&self, detail: String, end: usize) -> SqlError {
        SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, "invalid input syntax for type json")
            .detail(detail)
            .within(self.context(end))
    }

    /// The line up to the error, its beginning left out where that is long.
    fn context(&self, end: usize) -> String {
        const SHOWN: usize = 50;
        let before = &self.text[..end];
        let number = before.matches('\n').count() + 1;
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let mut start = line_start;
        while end - start >= SHOWN {
            start += self.text[start..].chars().next().map_or(1, char::len_utf8);
        }
        let skipped = start - line_start > 3;
        let start = if skipped { start } else { line_start };
        let more = self.text[end..].bytes().next().is_some_and(|byte| byte != b'\n' && byte != b'\r');
        format!(
            "JSON data, line {number}: {}{}{}",
            if skipped { "..." } else { "" },
            &self.text[start..end],
            if more { "..." } else { "" }
        )
    }
}

/// How much of a text is letters, digits and the like.
fn word_length(text: &str) -> usize {
    let word = |char: &char| char.is_ascii_alphanumeric() || *char == '_' || !char.is_ascii();
    text.chars().take_while(word).map(char::len_utf8).sum()
}

fn build(parser: &mut Parser<'_>, depth: usize) -> Result<Json> {
    Ok(match parser.start("JSON value")? {
        Start::Object => {
            let mut entries = Vec::new();
            parser.object(depth, |parser, depth, key| budget::push(&mut entries, (key, build(parser, depth)?)))?;
            Json::object(entries)
        }
        Start::Array => {
            let mut items = Vec::new();
            parser.array(depth, |parser, depth| budget::push(&mut items, build(parser, depth)?))?;
            Json::Array(items)
        }
        Start::String => Json::String(parser.string()?),
        Start::Number => Json::Number(Numeric::parse(parser.number()?)?),
        Start::Word => {
            let word = parser.token();
            parser.at += word.len();
            match word {
                "true" => Json::Bool(true),
                "false" => Json::Bool(false),
                _ => Json::Null,
            }
        }
    })
}
