//! Going through tokens: looking ahead, taking what is expected, and saying where it went wrong.

use std::cell::{Cell, OnceCell};

use crate::parse::ast::{Ident, ObjectName, Span};

use crate::budget::{self, Active, Share};
use crate::error::{Result, SqlError, SqlState};
use crate::parse::keywords::{Class, Keyword};
use crate::parse::lexer;
use crate::parse::literal;
use crate::parse::token::{Kind, Token};

/// A place in the tokens of a text.
pub struct Cursor<'a> {
    /// The text.
    pub text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    /// A run of opening parentheses that was looked through: its first token, and the one after its last.
    parentheses: Cell<(usize, usize)>,
    /// For each opening parenthesis the closing one, once that was asked for.
    closings: OnceCell<Vec<usize>>,
    _budget: Active,
}

impl<'a> Cursor<'a> {
    /// At the beginning of a text.
    pub fn new(text: &'a str) -> Result<Cursor<'a>> {
        Ok(Cursor {
            text,
            tokens: lexer::tokens(text)?,
            at: 0,
            parentheses: Cell::default(),
            closings: OnceCell::new(),
            _budget: budget::begin_alone(),
        })
    }

    /// The next token.
    pub fn peek(&self) -> Token {
        self.tokens[self.at]
    }

    /// The kind of the next token.
    pub fn kind(&self) -> Kind {
        self.tokens[self.at].kind
    }

    /// The kind of a later token.
    pub fn kind_at(&self, ahead: usize) -> Kind {
        self.tokens.get(self.at + ahead).map_or(Kind::End, |token| token.kind)
    }

    /// How many opening parentheses follow. Every one of a long run asks, so what was counted is kept.
    pub fn parentheses(&self) -> usize {
        let (first, end) = self.parentheses.get();
        if (first..end).contains(&self.at) {
            return end - self.at;
        }
        let is_open = |token: &&Token| token.kind == Kind::LeftParen;
        let count = self.tokens[self.at..].iter().take_while(is_open).count();
        self.parentheses.set((self.at, self.at + count));
        count
    }

    /// How far ahead the parenthesis closes that opens so far ahead; the end of the text if it does not.
    pub fn closing(&self, ahead: usize) -> usize {
        let closings = self.closings.get_or_init(|| {
            let mut closings = vec![self.tokens.len() - 1; self.tokens.len()];
            let mut open = Vec::new();
            for (at, token) in self.tokens.iter().enumerate() {
                match token.kind {
                    Kind::LeftParen => open.push(at),
                    Kind::RightParen => _ = open.pop().map(|opening: usize| closings[opening] = at),
                    _ => {}
                }
            }
            closings
        });
        closings[self.at + ahead] - self.at
    }

    /// The keyword that is next, if one is.
    pub fn keyword(&self) -> Keyword {
        self.kind().keyword()
    }

    /// The keyword at a later place.
    pub fn keyword_at(&self, ahead: usize) -> Keyword {
        self.kind_at(ahead).keyword()
    }

    /// Takes the next token. The end is never passed.
    pub fn take(&mut self) -> Token {
        let token = self.tokens[self.at];
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    /// The last token that was taken.
    pub fn last(&self) -> Token {
        self.tokens[self.at.saturating_sub(1)]
    }

    /// The text of a token.
    pub fn text_of(&self, token: Token) -> &'a str {
        &self.text[token.start as usize..token.end as usize]
    }

    /// Where it stands, to come back to.
    pub fn mark(&self) -> usize {
        self.at
    }

    /// Goes back to a mark.
    pub fn back_to(&mut self, mark: usize) {
        self.at = mark;
    }

    /// The text from a mark up to here, without white space around it.
    pub fn text_since(&self, mark: usize) -> &'a str {
        if self.at == mark {
            return "";
        }
        &self.text[self.tokens[mark].start as usize..self.tokens[self.at - 1].end as usize]
    }

    /// Takes a token of this kind, if it is next.
    pub fn accept(&mut self, kind: Kind) -> bool {
        let found = self.kind() == kind;
        if found {
            self.at += 1;
        }
        found
    }

    /// Takes a token of this kind.
    pub fn expect(&mut self, kind: Kind) -> Result<Token> {
        if self.kind() == kind { Ok(self.take()) } else { Err(self.unexpected()) }
    }

    /// Takes these keywords, if they are next.
    pub fn accept_words(&mut self, keywords: &[Keyword]) -> bool {
        let found = keywords.iter().enumerate().all(|(ahead, &keyword)| self.keyword_at(ahead) == keyword);
        if found {
            self.at += keywords.len();
        }
        found
    }

    /// Takes this keyword, if it is next.
    pub fn accept_word(&mut self, keyword: Keyword) -> bool {
        self.accept(Kind::Word(keyword))
    }

    /// Takes this keyword.
    pub fn expect_word(&mut self, keyword: Keyword) -> Result<Token> {
        self.expect(Kind::Word(keyword))
    }

    /// Takes these keywords.
    pub fn expect_words(&mut self, keywords: &[Keyword]) -> Result<()> {
        keywords.iter().try_for_each(|&keyword| self.expect_word(keyword).map(drop))
    }

    /// Whether the next token is this word, which need not be a keyword.
    pub fn at_text(&self, word: &str) -> bool {
        matches!(self.kind(), Kind::Word(_)) && self.text_of(self.peek()).eq_ignore_ascii_case(word)
    }

    /// Whether a later token is this word, which need not be a keyword.
    pub fn is_text_at(&self, ahead: usize, word: &str) -> bool {
        self.tokens
            .get(self.at + ahead)
            .is_some_and(|token| matches!(token.kind, Kind::Word(_)) && self.text_of(*token).eq_ignore_ascii_case(word))
    }

    /// Takes this word, if it is next; it need not be a keyword.
    pub fn accept_text(&mut self, word: &str) -> bool {
        let found = self.at_text(word);
        if found {
            self.at += 1;
        }
        found
    }

    /// Takes an operator with this text, if it is next.
    pub fn accept_operator(&mut self, operator: &str) -> bool {
        let found = self.kind() == Kind::Operator && self.text_of(self.peek()) == operator;
        if found {
            self.at += 1;
        }
        found
    }

    /// The error that the next token should not be there.
    pub fn unexpected(&self) -> SqlError {
        self.unexpected_at(self.peek())
    }

    /// The error that a token should not be there.
    pub fn unexpected_at(&self, token: Token) -> SqlError {
        let position = token.position as usize;
        match token.kind {
            Kind::End => SqlError::syntax("syntax error at end of input").at(position),
            _ => SqlError::syntax(format!("syntax error at or near \"{}\"", self.text_of(token))).at(position),
        }
    }

    /// Nothing may be left but a semicolon.
    pub fn expect_end(&mut self) -> Result<()> {
        while self.accept(Kind::Semicolon) {}
        if self.kind() == Kind::End { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Runs a parser one level deeper, if the stack allows it.
    pub fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        budget::deeper(Share::Trees)?;
        parse(self)
    }

    /// One or more, with commas.
    pub fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.accept(Kind::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// One or more in parentheses.
    pub fn parenthesized<T>(&mut self, item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.expect(Kind::LeftParen)?;
        let items = self.list(item)?;
        self.expect(Kind::RightParen)?;
        Ok(items)
    }

    /// The span of a token, as [`crate::parse`] describes it.
    pub fn span(&self, token: Token) -> Span {
        Span { position: token.position }
    }

    /// Takes the next token as a name; the caller has seen that it can be one.
    pub fn take_ident(&mut self) -> Result<Ident> {
        let token = self.take();
        let quoted = matches!(token.kind, Kind::Quoted | Kind::UnicodeQuoted);
        Ok(Ident { value: literal::name(self.text, token)?, quoted, span: self.span(token) })
    }

    /// Whether the next token can be the name of a column or a table.
    pub fn at_column_name(&self) -> bool {
        self.is_name(0, &[Class::Unreserved, Class::ColumnName])
    }

    /// Whether the token so many ahead is a name, or a keyword of one of these classes.
    pub fn is_name(&self, ahead: usize, classes: &[Class]) -> bool {
        match self.kind_at(ahead) {
            Kind::Quoted | Kind::UnicodeQuoted | Kind::Word(Keyword::Plain) => true,
            Kind::Word(keyword) => classes.contains(&keyword.class()),
            _ => false,
        }
    }

    /// The name of a column, a table, an alias.
    pub fn ident(&mut self) -> Result<Ident> {
        if self.at_column_name() { self.take_ident() } else { Err(self.unexpected()) }
    }

    /// A label: any word, reserved ones too.
    pub fn label(&mut self) -> Result<Ident> {
        match self.kind() {
            Kind::Quoted | Kind::UnicodeQuoted | Kind::Word(_) => self.take_ident(),
            _ => Err(self.unexpected()),
        }
    }

    /// The name of a function or a type.
    pub fn function_name(&mut self) -> Result<Ident> {
        if self.is_name(0, &[Class::Unreserved, Class::TypeOrFunctionName]) {
            self.take_ident()
        } else {
            Err(self.unexpected())
        }
    }

    /// A name as text.
    pub fn name(&mut self) -> Result<String> {
        Ok(self.ident()?.value)
    }

    /// A name, maybe qualified.
    pub fn object_name(&mut self) -> Result<ObjectName> {
        let first = self.ident()?;
        self.qualified(first)
    }

    /// The rest of a name whose first part has been taken.
    pub fn qualified(&mut self, first: Ident) -> Result<ObjectName> {
        let mut parts = vec![first];
        while self.accept(Kind::Dot) {
            parts.push(self.label()?);
        }
        Ok(ObjectName(parts))
    }

    /// Whether a string literal is next.
    pub fn at_string(&self) -> bool {
        matches!(self.kind(), Kind::String | Kind::EscapeString | Kind::UnicodeString | Kind::DollarString)
    }

    /// The text of a string literal.
    pub fn string(&mut self) -> Result<String> {
        if !self.at_string() {
            return Err(self.unexpected());
        }
        let token = self.take();
        if token.kind == Kind::UnicodeString && self.accept_word(Keyword::Uescape) {
            return Err(SqlError::unsupported("UESCAPE"));
        }
        literal::string(self.text, token)
    }

    /// An integer with an optional sign.
    pub fn signed_integer(&mut self) -> Result<i64> {
        let negative = self.accept(Kind::Minus) || {
            self.accept(Kind::Plus);
            false
        };
        let token = self.peek();
        if token.kind != Kind::Integer && token.kind != Kind::Number {
            return Err(self.unexpected());
        }
        let text = format!("{}{}", if negative { "-" } else { "" }, self.text_of(token));
        let value = text.parse().map_err(|_| {
            if token.kind == Kind::Number {
                self.unexpected()
            } else {
                SqlError::new(
                    SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
                    format!("value \"{text}\" is out of range for type bigint"),
                )
            }
        })?;
        self.take();
        Ok(value)
    }
}
