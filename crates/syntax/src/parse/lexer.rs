//! Text → tokens, by PostgreSQL's lexical rules (`standard_conforming_strings` is on).

use crate::error::{Result, SqlError};
use crate::parse::keywords::Keyword;
use crate::parse::token::{Kind, Token};

/// The tokens of a text, the last one of kind [`Kind::End`].
pub fn tokens(text: &str) -> Result<Vec<Token>> {
    let mut lexer = Lexer::new(text);
    let mut tokens = Vec::with_capacity(text.len() / 4 + 2);
    loop {
        let token = lexer.next()?;
        tokens.push(token);
        if token.kind == Kind::End {
            return Ok(tokens);
        }
    }
}

/// Makes one token after the other.
pub(super) struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// Up to this byte characters have been counted: so many, from one.
    counted: (usize, u32),
    ascii: bool,
}

const OPERATOR: &[u8] = b"+-*/<>=~!@#%^&|`?";

fn starts_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn continues_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { ascii: text.is_ascii(), ..Lexer::of_the_beginning(text) }
    }

    /// For a text of which only the beginning is looked at.
    pub(super) fn of_the_beginning(text: &'a str) -> Lexer<'a> {
        Lexer { text, bytes: text.as_bytes(), at: 0, counted: (0, 1), ascii: false }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn position(&mut self, byte: usize) -> u32 {
        if self.ascii {
            return byte as u32 + 1;
        }
        let (from, characters) = self.counted;
        let more = self.bytes[from..byte].iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u32;
        self.counted = (byte, characters + more);
        self.counted.1
    }

    fn failed(&mut self, start: usize, what: &str) -> SqlError {
        let near = &self.text[start..self.at.max(start)];
        let position = self.position(start) as usize;
        SqlError::syntax(format!("{what} at or near \"{near}\"")).at(position)
    }

    pub(super) fn next(&mut self) -> Result<Token> {
        self.skip_space()?;
        let start = self.at;
        let position = self.position(start);
        let kind = self.kind(start)?;
        Ok(Token { kind, start: start as u32, end: self.at as u32, position })
    }

    fn kind(&mut self, start: usize) -> Result<Kind> {
        if start == self.bytes.len() {
            return Ok(Kind::End);
        }
        let byte = self.bytes[start];
        match byte {
            b'e' | b'E' if self.peek(1) == b'\'' => self.string(start, 1, Kind::EscapeString),
            b'b' | b'B' if self.peek(1) == b'\'' => self.string(start, 1, Kind::BitString),
            b'x' | b'X' if self.peek(1) == b'\'' => self.string(start, 1, Kind::HexString),
            b'n' | b'N' if self.peek(1) == b'\'' => self.string(start, 1, Kind::String),
            b'u' | b'U' if self.peek(1) == b'&' && self.peek(2) == b'\'' => self.string(start, 2, Kind::UnicodeString),
            b'u' | b'U' if self.peek(1) == b'&' && self.peek(2) == b'"' => {
                self.quoted_name(start, 2, Kind::UnicodeQuoted)
            }
            b'\'' => self.string(start, 0, Kind::String),
            b'"' => self.quoted_name(start, 0, Kind::Quoted),
            b'$' => self.dollar(start),
            b'.' if self.peek(1) == b'.' => Ok(self.symbol(2, Kind::DotDot)),
            b'0'..=b'9' => self.number(start),
            b'.' if self.peek(1).is_ascii_digit() => self.number(start),
            b'(' => Ok(self.symbol(1, Kind::LeftParen)),
            b')' => Ok(self.symbol(1, Kind::RightParen)),
            b'[' => Ok(self.symbol(1, Kind::LeftBracket)),
            b']' => Ok(self.symbol(1, Kind::RightBracket)),
            b',' => Ok(self.symbol(1, Kind::Comma)),
            b';' => Ok(self.symbol(1, Kind::Semicolon)),
            b'.' => Ok(self.symbol(1, Kind::Dot)),
            b':' if self.peek(1) == b':' => Ok(self.symbol(2, Kind::TypeCast)),
            b':' if self.peek(1) == b'=' => Ok(self.symbol(2, Kind::Assign)),
            b':' => Ok(self.symbol(1, Kind::Colon)),
            _ if starts_word(byte) => Ok(self.word(start)),
            _ if OPERATOR.contains(&byte) => Ok(self.operator(start)),
            _ => Ok(self.symbol(1, Kind::Other)),
        }
    }

    fn symbol(&mut self, length: usize, kind: Kind) -> Kind {
        self.at += length;
        kind
    }

    /// Skips white space and comments.
    fn skip_space(&mut self) -> Result<()> {
        loop {
            match self.peek(0) {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0c | 0x0b if self.at < self.bytes.len() => self.at += 1,
                b'-' if self.peek(1) == b'-' => self.skip_line(),
                b'/' if self.peek(1) == b'*' => self.skip_block()?,
                _ => return Ok(()),
            }
        }
    }

    fn skip_line(&mut self) {
        while self.at < self.bytes.len() && !matches!(self.bytes[self.at], b'\n' | b'\r') {
            self.at += 1;
        }
    }

    fn skip_block(&mut self) -> Result<()> {
        let start = self.at;
        let mut depth = 0;
        loop {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'*') => {
                    depth += 1;
                    self.at += 2;
                }
                (b'*', b'/') => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                _ if self.at >= self.bytes.len() => return Err(self.failed(start, "unterminated /* comment")),
                _ => self.at += 1,
            }
        }
    }

    fn word(&mut self, start: usize) -> Kind {
        while self.at < self.bytes.len() && continues_word(self.bytes[self.at]) {
            self.at += 1;
        }
        let word = &self.bytes[start..self.at];
        const LONGEST: usize = 17;
        if word.len() > LONGEST {
            return Kind::Word(Keyword::Plain);
        }
        let mut lower = [0; LONGEST];
        for (to, from) in lower.iter_mut().zip(word) {
            *to = from.to_ascii_lowercase();
        }
        Kind::Word(Keyword::of(&lower[..word.len()]))
    }

    /// A literal in single quotes, and those that continue it on the next lines.
    fn string(&mut self, start: usize, prefix: usize, kind: Kind) -> Result<Kind> {
        self.at += prefix + 1;
        let escapes = kind == Kind::EscapeString;
        loop {
            match self.peek(0) {
                _ if self.at >= self.bytes.len() => {
                    let what = match kind {
                        Kind::BitString => "unterminated bit string literal",
                        Kind::HexString => "unterminated hexadecimal string literal",
                        _ => "unterminated quoted string",
                    };
                    return Err(self.failed(start, what));
                }
                b'\\' if escapes => self.at = (self.at + 2).min(self.bytes.len()),
                b'\'' if self.peek(1) == b'\'' => self.at += 2,
                b'\'' => {
                    self.at += 1;
                    if !self.continues()? {
                        break;
                    }
                }
                _ => self.at += 1,
            }
        }
        // A backslash may have skipped the first byte of a longer character.
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
        Ok(kind)
    }

    /// After a closing quote: white space with a line break, then a quote, goes on with the same literal.
    fn continues(&mut self) -> Result<bool> {
        let end = self.at;
        if !matches!(self.peek(0), b' ' | b'\t' | b'\n' | b'\r' | 0x0c | b'-') {
            return Ok(false);
        }
        let mut line_break = false;
        loop {
            match self.peek(0) {
                b'\n' | b'\r' => {
                    line_break = true;
                    self.at += 1;
                }
                b' ' | b'\t' | 0x0c => self.at += 1,
                b'-' if self.peek(1) == b'-' => self.skip_line(),
                b'\'' if line_break => {
                    self.at += 1;
                    return Ok(true);
                }
                _ => {
                    self.at = end;
                    return Ok(false);
                }
            }
        }
    }

    fn quoted_name(&mut self, start: usize, prefix: usize, kind: Kind) -> Result<Kind> {
        self.at += prefix + 1;
        let name = self.at;
        loop {
            match self.peek(0) {
                _ if self.at >= self.bytes.len() => {
                    return Err(self.failed(start, "unterminated quoted identifier"));
                }
                b'"' if self.peek(1) == b'"' => self.at += 2,
                b'"' => break,
                _ => self.at += 1,
            }
        }
        let empty = self.at == name;
        self.at += 1;
        if empty { Err(self.failed(start, "zero-length delimited identifier")) } else { Ok(kind) }
    }

    /// `$1`, or a literal between `$tag$`s.
    fn dollar(&mut self, start: usize) -> Result<Kind> {
        if self.peek(1).is_ascii_digit() {
            return self.parameter(start);
        }
        let mut end = start + 1;
        while end < self.bytes.len()
            && (starts_word(self.bytes[end]) || (end > start + 1 && self.bytes[end].is_ascii_digit()))
        {
            end += 1;
        }
        if self.bytes.get(end) != Some(&b'$') {
            return Ok(self.symbol(1, Kind::Other));
        }
        let tag = &self.text[start..=end];
        match self.text[end + 1..].find(tag) {
            Some(body) => {
                self.at = end + 1 + body + tag.len();
                Ok(Kind::DollarString)
            }
            None => {
                self.at = self.bytes.len();
                Err(self.failed(start, "unterminated dollar-quoted string"))
            }
        }
    }

    fn parameter(&mut self, start: usize) -> Result<Kind> {
        self.at += 1;
        while self.peek(0).is_ascii_digit() {
            self.at += 1;
        }
        if starts_word(self.peek(0)) {
            self.at += 1;
            self.finish_character();
            return Err(self.failed(start, "trailing junk after parameter"));
        }
        match self.text[start + 1..self.at].parse::<u32>() {
            Ok(number) if number <= i32::MAX as u32 => Ok(Kind::Parameter(number)),
            _ => Err(self.failed(start, "parameter number too large")),
        }
    }

    fn number(&mut self, start: usize) -> Result<Kind> {
        let mut kind = Kind::Integer;
        self.digits();
        if self.peek(0) == b'.' && self.peek(1) != b'.' {
            kind = Kind::Number;
            self.at += 1;
            self.digits();
        }
        if matches!(self.peek(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
            if self.peek(1 + sign).is_ascii_digit() {
                kind = Kind::Number;
                self.at += 1 + sign;
                self.digits();
            }
        }
        if self.at < self.bytes.len() && starts_word(self.bytes[self.at]) {
            self.at += 1;
            self.finish_character();
            return Err(self.failed(start, "trailing junk after numeric literal"));
        }
        Ok(kind)
    }

    fn digits(&mut self) {
        while self.peek(0).is_ascii_digit() {
            self.at += 1;
        }
    }

    fn finish_character(&mut self) {
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
    }

    /// The longest run of operator characters, but not into a comment, and not with a trailing + or - unless one of the
    /// characters says that it cannot be a sign.
    fn operator(&mut self, start: usize) -> Kind {
        let mut end = start;
        while end < self.bytes.len() && OPERATOR.contains(&self.bytes[end]) {
            if end > start && (self.bytes[end..].starts_with(b"--") || self.bytes[end..].starts_with(b"/*")) {
                break;
            }
            end += 1;
        }
        let run = &self.bytes[start..end];
        if run.len() > 1 && matches!(run[run.len() - 1], b'+' | b'-') {
            let signs_belong = run.iter().any(|byte| b"~!@#%^&|`?".contains(byte));
            while !signs_belong && end > start + 1 && matches!(self.bytes[end - 1], b'+' | b'-') {
                end -= 1;
            }
        }
        self.at = end;
        match &self.bytes[start..end] {
            b"+" => Kind::Plus,
            b"-" => Kind::Minus,
            b"*" => Kind::Star,
            b"/" => Kind::Slash,
            b"%" => Kind::Percent,
            b"^" => Kind::Caret,
            b"=" => Kind::Equal,
            b"<" => Kind::Less,
            b">" => Kind::Greater,
            b"<=" => Kind::LessOrEqual,
            b">=" => Kind::GreaterOrEqual,
            b"<>" | b"!=" => Kind::NotEqual,
            b"=>" => Kind::Arrow,
            _ => Kind::Operator,
        }
    }
}
