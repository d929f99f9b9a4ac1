//! A client's text, `alice: f(1); g(2) | bob: f(1)`, split into sessions and calls by the tokens of SQL: what stands in
//! quotes, parentheses or comments separates nothing.

use crate::explore::{Client, FINALLY};
use crate::parse::lexer::tokens;
use crate::parse::token::{Kind, Token};

const READS: &str = "a client reads `alice: f(1); g(2) | bob: f(1)`";

impl Client {
    /// Reads a client.
    pub fn parse(text: &str) -> Result<Client, String> {
        let tokens = tokens(text).map_err(|error| format!("{}; {READS}", error.fields().message))?;
        let tokens = &tokens[..tokens.len() - 1];
        let mut sessions: Vec<(String, Vec<String>)> = Vec::new();
        for (at, part) in split(tokens, |token| &text[token.start as usize..token.end as usize] == "|").enumerate() {
            let (name, part) = match part {
                [name, colon, calls @ ..] if is_name(name) && colon.kind == Kind::Colon => {
                    (text_of(text, &[*name]), calls)
                }
                _ => (format!("s{}", at + 1), part),
            };
            let calls = split(part, |token| token.kind == Kind::Semicolon).map(|call| text_of(text, call));
            let calls: Vec<String> = calls.filter(|call| !call.is_empty()).collect();
            if calls.is_empty() {
                return Err(format!("session {name} calls nothing; {READS}"));
            }
            if sessions.iter().any(|(other, _)| *other == name) {
                return Err(format!("there are two sessions called {name}"));
            }
            sessions.push((name, calls));
        }
        if sessions.iter().all(|(name, _)| name == FINALLY) {
            return Err(format!("nothing is called before `{FINALLY}`; a client reads `f(1) | g(2) | finally: h()`"));
        }
        Ok(Client { sessions })
    }
}

/// The parts of a text between separators that stand outside of parentheses and brackets.
fn split(tokens: &[Token], separates: impl Fn(&Token) -> bool) -> impl Iterator<Item = &[Token]> {
    let mut depth = 0_usize;
    tokens.split(move |token| {
        match token.kind {
            Kind::LeftParen | Kind::LeftBracket => depth += 1,
            Kind::RightParen | Kind::RightBracket => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && separates(token)
    })
}

/// A session's name: a word, or a number.
fn is_name(token: &Token) -> bool {
    matches!(token.kind, Kind::Word(_) | Kind::Integer)
}

/// The text from the first token to the last one.
fn text_of(text: &str, tokens: &[Token]) -> String {
    match tokens {
        [] => String::new(),
        [first, .., last] => text[first.start as usize..last.end as usize].to_owned(),
        [only] => text[only.start as usize..only.end as usize].to_owned(),
    }
}
