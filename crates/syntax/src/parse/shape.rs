//! A statement without the literals that are written in it: what is the same when a client sends it again with other values.
//!
//! Literals become parameters that no client has: `$9001`, `$9002`, … in their order. The result is SQL, so that it parses to
//! a tree, can be changed there, printed, and filled with the literals of any statement of the same shape. Where a literal
//! stands at a place that takes no parameter (`interval '1 day'`), the text does not parse so, and keeps its literals.

use crate::parse::lexer::tokens;
use crate::parse::statement;
use crate::parse::token::{Kind, Token};

/// The number before that of the first parameter that stands for a literal.
pub const FIRST: u32 = 9000;

/// A statement without its literals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The text with parameters in their place, one space between tokens.
    pub text: String,
    /// The literals, as they were written.
    pub literals: Vec<String>,
}

impl Shape {
    /// The shape of a statement; `None` for a text that is no SQL.
    pub fn of(sql: &str) -> Option<Shape> {
        let all = tokens(sql).ok()?;
        let tokens = all.split_last()?.1;
        let tokens = &tokens[..tokens.iter().rposition(|token| token.kind != Kind::Semicolon).map_or(0, |at| at + 1)];
        let (shape, whole) = (without_literals(sql, tokens), spaced(sql, tokens));
        match statement(&shape.text) {
            Ok(Some(_)) => Some(shape),
            _ => Some(Shape { text: whole, literals: Vec::new() }),
        }
    }

    /// A text of this shape, or one made of it, with these literals.
    pub fn fill(template: &str, literals: &[String]) -> String {
        let Ok(tokens) = tokens(template) else { return template.to_owned() };
        let (mut out, mut copied) = (String::with_capacity(template.len()), 0);
        for token in tokens {
            let Kind::Parameter(number) = token.kind else { continue };
            let Some(literal) = number.checked_sub(FIRST + 1).and_then(|at| literals.get(at as usize)) else {
                continue;
            };
            out.push_str(&template[copied..token.start as usize]);
            out.push_str(literal);
            copied = token.end as usize;
        }
        out.push_str(&template[copied..]);
        out
    }

    /// The same text with its own literals.
    pub fn whole(&self) -> String {
        Shape::fill(&self.text, &self.literals)
    }
}

/// Parameters of a client in a text, replaced by what `value` says for each.
pub fn with_parameters(sql: &str, value: impl Fn(u32) -> Option<String>) -> String {
    let Ok(tokens) = tokens(sql) else { return sql.to_owned() };
    let (mut out, mut copied) = (String::with_capacity(sql.len()), 0);
    for token in tokens {
        let Kind::Parameter(number) = token.kind else { continue };
        let Some(value) = value(number) else { continue };
        out.push_str(&sql[copied..token.start as usize]);
        out.push_str(&value);
        copied = token.end as usize;
    }
    out.push_str(&sql[copied..]);
    out
}

fn text_of<'a>(sql: &'a str, token: &Token) -> &'a str {
    &sql[token.start as usize..token.end as usize]
}

fn is_literal(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Integer
            | Kind::Number
            | Kind::String
            | Kind::EscapeString
            | Kind::UnicodeString
            | Kind::BitString
            | Kind::HexString
            | Kind::DollarString
    )
}

/// Whether a minus after this token is the sign of a number.
fn begins_value(before: Option<&Token>) -> bool {
    before.is_some_and(|token| {
        matches!(
            token.kind,
            Kind::LeftParen | Kind::Comma | Kind::Equal | Kind::Less | Kind::Greater | Kind::Plus | Kind::Star
        )
    })
}

fn without_literals(sql: &str, tokens: &[Token]) -> Shape {
    let (mut text, mut literals) = (String::with_capacity(sql.len()), Vec::new());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let is_signed = token.kind == Kind::Minus
            && begins_value(at.checked_sub(1).and_then(|before| tokens.get(before)))
            && tokens.get(at + 1).is_some_and(|next| matches!(next.kind, Kind::Integer | Kind::Number));
        let last = if is_signed { &tokens[at + 1] } else { token };
        if !text.is_empty() {
            text.push(' ');
        }
        if is_literal(last.kind) {
            literals.push(sql[token.start as usize..last.end as usize].to_owned());
            text.push_str(&format!("${}", FIRST as usize + literals.len()));
        } else {
            text.push_str(text_of(sql, token));
        }
        at += 1 + usize::from(is_signed);
    }
    Shape { text, literals }
}

fn spaced(sql: &str, tokens: &[Token]) -> String {
    tokens.iter().map(|token| text_of(sql, token)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(sql: &str) -> (String, Vec<String>) {
        let shape = Shape::of(sql).expect("SQL");
        (shape.text, shape.literals)
    }

    #[test]
    fn statements_that_differ_in_literals_have_one_shape() {
        let (text, literals) = shape("UPDATE t1 SET n = -12.5 WHERE name = 'it''s'  AND\n id = $1;");
        assert_eq!(text, "UPDATE t1 SET n = $9001 WHERE name = $9002 AND id = $1");
        assert_eq!(literals, ["-12.5", "'it''s'"]);
        assert_eq!(Shape::fill(&text, &literals), "UPDATE t1 SET n = -12.5 WHERE name = 'it''s' AND id = $1");
        assert_eq!(shape("update t set n = n - 1").0, "update t set n = n - $9001");
    }

    #[test]
    fn a_literal_that_can_be_no_parameter_stays() {
        let (text, literals) = shape("SELECT a FROM t WHERE d > now() - interval '1 day'");
        assert_eq!(text, "SELECT a FROM t WHERE d > now ( ) - interval '1 day'");
        assert!(literals.is_empty());
    }

    #[test]
    fn parameters_are_replaced_by_values() {
        let values = |number: u32| (number == 2).then(|| "'x'".to_owned());
        assert_eq!(with_parameters("a = $1 AND b = $2", values), "a = $1 AND b = 'x'");
    }
}
