//! EDN as a stream of tokens: no tree, no recursion, one chunk of input and one token in memory.

use std::io::{ErrorKind, Read};

use skew_model::hist::{InputError, MAX_LINE_BYTES};

use crate::error::ReadError;
use crate::numbers::short_number;

const CHUNK_BYTES: usize = 256 << 10;

/// One token. The text of words and strings is in [`Edn::text`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Token {
    Open(Bracket),
    Close(Bracket),
    /// `#name`: says what the next form is.
    Tag,
    Nil,
    Int(i64),
    /// A keyword with its colon, a symbol, or a number that is no 64-bit integer.
    Word,
    Text,
    End,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bracket {
    /// `[…]` and `(…)`.
    Sequence,
    /// `{…}` and `#{…}`.
    Braces,
}

pub(crate) struct Edn<R> {
    input: R,
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    ended: bool,
    broken: Option<std::io::Error>,
    text: Vec<u8>,
    line: u32,
}

impl<R: Read> Edn<R> {
    pub(crate) fn new(input: R) -> Self {
        let buffer = vec![0; CHUNK_BYTES];
        Edn { input, buffer, at: 0, filled: 0, ended: false, broken: None, text: Vec::new(), line: 1 }
    }

    /// The line of the last token.
    pub(crate) fn line(&self) -> u32 {
        self.line
    }

    /// The text of the last word or string.
    pub(crate) fn text(&self) -> Result<&str, InputError> {
        std::str::from_utf8(&self.text).map_err(|_| self.error("this is not UTF-8 text"))
    }

    /// The bytes of the last word.
    pub(crate) fn word(&self) -> &[u8] {
        &self.text
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> InputError {
        InputError::at(self.line, 0, message)
    }

    /// The next token; what `#_` discards is passed over.
    pub(crate) fn token(&mut self) -> Result<Token, ReadError> {
        loop {
            match self.raw()? {
                Some(token) => return Ok(token),
                None => self.skip()?,
            }
        }
    }

    /// The next token if it is a small number that the chunk holds whole: most tokens of a list read are, and this
    /// is several times faster than [`Edn::token`].
    #[inline]
    pub(crate) fn small_number(&mut self) -> Option<i64> {
        let mut rest = self.buffer.get(self.at..self.filled)?;
        if let [b' ' | b',', after @ ..] = rest {
            rest = after;
        }
        let (number, digits) = short_number(rest)?;
        if !is_delimiter(rest[digits]) {
            return None;
        }
        self.at = self.filled - rest.len() + digits;
        Some(number)
    }

    /// Passes over one form.
    pub(crate) fn skip(&mut self) -> Result<(), ReadError> {
        let mut needed = 1u64;
        while needed > 0 {
            match self.raw()? {
                None => needed += 1,
                Some(Token::Tag) => {}
                Some(Token::Open(_)) => {
                    self.leave(1)?;
                    needed -= 1;
                }
                Some(Token::Close(_)) => return Err(self.error("a bracket closes that was not opened").into()),
                Some(Token::End) => return Err(self.truncated()),
                Some(_) => needed -= 1,
            }
        }
        Ok(())
    }

    /// Passes over everything until this many open brackets are closed.
    pub(crate) fn leave(&mut self, mut depth: u64) -> Result<(), ReadError> {
        while depth > 0 {
            match self.raw()? {
                Some(Token::Open(_)) => depth += 1,
                Some(Token::Close(_)) => depth -= 1,
                Some(Token::End) => return Err(self.truncated()),
                _ => {}
            }
        }
        Ok(())
    }

    pub(crate) fn truncated(&self) -> ReadError {
        self.error("the file ends in the middle of a form").hint("it was probably cut off; copy it again").into()
    }

    /// The next token, or nothing for `#_`.
    #[inline]
    fn raw(&mut self) -> Result<Option<Token>, ReadError> {
        self.space();
        let byte = self.peek();
        Ok(Some(match byte {
            b'[' | b'(' => self.bump(Token::Open(Bracket::Sequence)),
            b']' | b')' => self.bump(Token::Close(Bracket::Sequence)),
            b'{' => self.bump(Token::Open(Bracket::Braces)),
            b'}' => self.bump(Token::Close(Bracket::Braces)),
            b'0'..=b'9' | b'-' | b'+' => self.number()?,
            b'"' => self.string()?,
            b'#' => return self.dispatch(),
            b'\\' => {
                self.text.clear();
                self.take();
                if self.peek() != 0 {
                    self.take();
                }
                self.rest_of_word()?
            }
            0 => self.end()?,
            _ => {
                self.text.clear();
                self.rest_of_word()?
            }
        }))
    }

    fn dispatch(&mut self) -> Result<Option<Token>, ReadError> {
        self.at += 1;
        match self.peek() {
            b'_' => {
                self.at += 1;
                Ok(None)
            }
            b'{' => Ok(Some(self.bump(Token::Open(Bracket::Braces)))),
            b'"' => self.string().map(Some),
            _ => {
                self.text.clear();
                self.rest_of_word()?;
                Ok(Some(Token::Tag))
            }
        }
    }

    #[inline]
    fn space(&mut self) {
        loop {
            match self.peek() {
                b'\n' => self.line = self.line.saturating_add(1),
                b' ' | b',' | b'\t' | b'\r' | 0x0c => {}
                b';' => {
                    while !matches!(self.peek(), b'\n' | 0) || self.is_nul() {
                        self.at += 1;
                    }
                    continue;
                }
                _ => return,
            }
            self.at += 1;
        }
    }

    #[inline]
    fn number(&mut self) -> Result<Token, ReadError> {
        let sign = self.peek();
        let signed = matches!(sign, b'-' | b'+');
        self.at += usize::from(signed);
        let (mut number, mut digits) = (0i64, 0);
        while digits < 18 {
            let digit = self.peek().wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            number = number * 10 + i64::from(digit);
            digits += 1;
            self.at += 1;
        }
        if digits > 0 && is_delimiter(self.peek()) {
            return Ok(Token::Int(if sign == b'-' { -number } else { number }));
        }
        self.text.clear();
        if signed {
            self.text.push(sign);
        }
        if digits > 0 {
            self.text.extend_from_slice(number.to_string().as_bytes());
        }
        self.rest_of_word()?;
        let text = self.text.strip_suffix(b"N").unwrap_or(&self.text);
        let whole = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
        Ok(whole.map_or(Token::Word, Token::Int))
    }

    fn string(&mut self) -> Result<Token, ReadError> {
        self.at += 1;
        self.text.clear();
        loop {
            match self.peek() {
                b'"' => return Ok(self.bump(Token::Text)),
                0 if !self.is_nul() => return Err(self.broken_or_truncated()),
                b'\\' => {
                    self.at += 1;
                    self.escape()?;
                }
                byte => {
                    self.line = self.line.saturating_add(u32::from(byte == b'\n'));
                    self.take();
                }
            }
            self.check_length()?;
        }
    }

    fn escape(&mut self) -> Result<(), ReadError> {
        let byte = match self.peek() {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 8,
            b'f' => 12,
            b'0' => 0,
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'u' => return self.unicode(),
            0 if !self.is_nul() => return Err(self.broken_or_truncated()),
            _ => return Err(self.error("an unknown escape in a string").into()),
        };
        self.text.push(byte);
        self.at += 1;
        Ok(())
    }

    fn unicode(&mut self) -> Result<(), ReadError> {
        self.at += 1;
        let mut code = 0u32;
        for _ in 0..4 {
            let digit = char::from(self.peek()).to_digit(16);
            code = code * 16 + digit.ok_or_else(|| self.error("\\u takes four hexadecimal digits"))?;
            self.at += 1;
        }
        // Half of a surrogate pair has no UTF-8 form; nothing depends on which character it was.
        let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        self.text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    /// Adds what is left of a word to the text.
    fn rest_of_word(&mut self) -> Result<Token, ReadError> {
        while !is_delimiter(self.peek()) {
            let rest = &self.buffer[self.at..self.filled];
            let end = rest.iter().position(|&byte| is_delimiter(byte)).unwrap_or(rest.len());
            self.text.extend_from_slice(&rest[..end]);
            self.at += end;
            self.check_length()?;
        }
        if self.is_nul() || self.text.is_empty() {
            return Err(self.error("a byte that has no place in EDN").hint("check that the file is text").into());
        }
        Ok(if self.text == b"nil" { Token::Nil } else { Token::Word })
    }

    fn check_length(&self) -> Result<(), ReadError> {
        if self.text.len() <= MAX_LINE_BYTES {
            return Ok(());
        }
        let message = format!("a string or a word is longer than {} MiB", MAX_LINE_BYTES >> 20);
        Err(self.error(message).hint("check that every `\"` is closed").into())
    }

    fn end(&mut self) -> Result<Token, ReadError> {
        if self.is_nul() {
            return Err(self.error("a byte that has no place in EDN").hint("check that the file is text").into());
        }
        match self.broken.take() {
            Some(error) => Err(error.into()),
            None => Ok(Token::End),
        }
    }

    fn broken_or_truncated(&mut self) -> ReadError {
        self.broken.take().map_or_else(|| self.truncated(), ReadError::Io)
    }

    #[inline]
    fn bump(&mut self, token: Token) -> Token {
        self.at += 1;
        token
    }

    /// Moves the next byte to the text.
    #[inline]
    fn take(&mut self) {
        let byte = self.peek();
        self.text.push(byte);
        self.at += 1;
    }

    /// Whether the next byte is a NUL that the file really has.
    fn is_nul(&mut self) -> bool {
        self.peek() == 0 && self.at < self.filled
    }

    /// The next byte, 0 at the end.
    #[inline]
    fn peek(&mut self) -> u8 {
        if self.at < self.filled { self.buffer[self.at] } else { self.refill() }
    }

    #[cold]
    fn refill(&mut self) -> u8 {
        while !self.ended {
            match self.input.read(&mut self.buffer) {
                Ok(0) => self.ended = true,
                Ok(count) => {
                    (self.at, self.filled) = (0, count);
                    return self.buffer[0];
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.broken = Some(error);
                    self.ended = true;
                }
            }
        }
        // Bytes past the end may have been passed over; the end stays where it is.
        self.at = self.filled;
        0
    }
}

#[inline]
fn is_delimiter(byte: u8) -> bool {
    DELIMITERS[usize::from(byte)]
}

static DELIMITERS: [bool; 256] = {
    let mut table = [false; 256];
    let delimiters = b" ,\n\t\r\x0c[](){}\";\0";
    let mut index = 0;
    while index < delimiters.len() {
        table[delimiters[index] as usize] = true;
        index += 1;
    }
    table
};
