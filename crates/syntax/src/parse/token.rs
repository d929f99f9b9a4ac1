//! What the lexer makes: a kind and a place in the text. What a literal says is decoded only when somebody takes it.

use crate::parse::keywords::Keyword;

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where its text begins, in bytes.
    pub start: u32,
    /// Where its text ends.
    pub end: u32,
    /// Where it begins, in characters from one: what errors tell.
    pub position: u32,
}

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    /// A word without quotes.
    Word(Keyword),
    /// `"Name"`
    Quoted,
    /// `U&"Name"`
    UnicodeQuoted,
    /// Digits.
    Integer,
    /// A number with a point or an exponent.
    Number,
    /// `'text'`
    String,
    /// `E'text\n'`
    EscapeString,
    /// `U&'text'`
    UnicodeString,
    /// `B'0101'`
    BitString,
    /// `X'1f'`
    HexString,
    /// `$$text$$`
    DollarString,
    /// `$1`
    Parameter(u32),
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    Comma,
    Semicolon,
    Dot,
    /// `..`, between the bounds of a PL/pgSQL range.
    DotDot,
    Colon,
    /// `::`
    TypeCast,
    /// `:=`
    Assign,
    /// `=>`
    Arrow,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Caret,
    Equal,
    Less,
    Greater,
    LessOrEqual,
    GreaterOrEqual,
    NotEqual,
    /// Any other operator.
    Operator,
    /// A character that begins nothing.
    Other,
    /// The end of the text.
    End,
}

impl Kind {
    /// The keyword, if it is a word that is one.
    pub fn keyword(self) -> Keyword {
        match self {
            Kind::Word(keyword) => keyword,
            _ => Keyword::Plain,
        }
    }
}
