//! The words of a `.hist` line.

use crate::hist::InputError;
use crate::names::Literal;

/// A line, and how far it has been read.
pub(super) struct Scan<'a> {
    pub text: &'a str,
    pub at: usize,
    pub line: u32,
}

impl<'a> Scan<'a> {
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// An error about what starts at this byte of the line.
    pub(super) fn error(&self, at: usize, message: impl Into<String>) -> InputError {
        InputError::at(self.line, self.text[..at].chars().count() as u32 + 1, message)
    }

    /// Skips space and a comment.
    pub(super) fn space(&mut self) {
        let rest = self.rest();
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        if trimmed.starts_with('#') {
            self.at = self.text.len();
        }
    }

    pub(super) fn done(&self) -> bool {
        self.at == self.text.len()
    }

    pub(super) fn more(&mut self) -> bool {
        self.space();
        !self.done()
    }

    pub(super) fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    pub(super) fn eat_text(&mut self, wanted: &str) -> bool {
        let found = self.rest().starts_with(wanted);
        if found {
            self.at += wanted.len();
        }
        found
    }

    pub(super) fn eat_word(&mut self, wanted: &str) -> bool {
        let mut ahead = Scan { ..*self };
        let found = ahead.word() == wanted;
        if found {
            self.at = ahead.at;
        }
        found
    }

    pub(super) fn expect(&mut self, wanted: char) -> Result<(), InputError> {
        if self.eat(wanted) {
            return Ok(());
        }
        let found = self.peek().map_or("the end of the line".to_owned(), |c| format!("`{c}`"));
        Err(self.error(self.at, format!("expected `{wanted}`, found {found}")))
    }

    pub(super) fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    pub(super) fn number(&mut self) -> Result<i64, InputError> {
        let start = self.at;
        let rest = self.rest();
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        let end = rest.len() - digits.len() + digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        self.at += end;
        rest[..end].parse().map_err(|_| self.error(start, "expected a whole number"))
    }

    pub(super) fn literal(&mut self, what: &str) -> Result<Literal, InputError> {
        let start = self.at;
        if self.eat('"') {
            return self.quoted(start);
        }
        let word = self.word();
        if word.is_empty() {
            let found = self.peek().map_or("the end of the line".to_owned(), |c| format!("`{c}`"));
            return Err(self.error(start, format!("expected {what}, found {found}")));
        }
        Ok(bare_literal(word))
    }

    /// A name is text, even if it looks like a number.
    pub(super) fn name(&mut self, what: &str) -> Result<String, InputError> {
        let start = self.at;
        match self.literal(what)? {
            Literal::Text(text) => Ok(text),
            _ => Ok(self.text[start..self.at].to_owned()),
        }
    }

    pub(super) fn quoted(&mut self, start: usize) -> Result<Literal, InputError> {
        let mut text = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((at, c)) = chars.next() {
            let escaped = match c {
                '"' => {
                    self.at += at + 1;
                    return Ok(Literal::Text(text));
                }
                '\\' => chars.next().map(|(_, c)| c),
                c => {
                    text.push(c);
                    continue;
                }
            };
            text.push(match escaped {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('0') => '\0',
                Some(c @ ('"' | '\\')) => c,
                _ => {
                    return Err(self
                        .error(start, "an unknown escape in a quoted text")
                        .hint("write \\\\ for a backslash"));
                }
            });
        }
        Err(self.error(start, "this quoted text is not closed").hint("add `\"`"))
    }
}

/// What bare words are made of.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/' | '+' | '$' | '%' | '~')
}

/// What a bare word stands for.
pub(super) fn bare_literal(word: &str) -> Literal {
    if word == "nil" {
        return Literal::Nil;
    }
    match word.parse::<i64>() {
        // `007` and `+7` are words: printing them as 7 would change them.
        Ok(number) if number.to_string() == word => Literal::Int(number),
        _ => Literal::Text(word.to_owned()),
    }
}
