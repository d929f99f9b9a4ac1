//! Text → paths.

use super::{Arithmetic, Compare, Expr, Method, Path, Step};
use crate::error::{Result, SqlError, SqlState};
use crate::json::Json;
use crate::numeric::Numeric;

/// How deep expressions may be nested.
const MAX_DEPTH: usize = 200;

pub(super) fn parse(text: &str) -> Result<Path> {
    let tokens = tokens(text)?;
    if tokens.is_empty() {
        return Err(SqlError::new(
            SqlState::INVALID_TEXT_REPRESENTATION,
            format!("invalid input syntax for type jsonpath: \"{text}\""),
        ));
    }
    let mut parser = Parser { tokens, at: 0, depth: 0, in_filter: 0, in_subscript: 0 };
    let strict = parser.accept_word("strict");
    if !strict {
        parser.accept_word("lax");
    }
    let root = parser.or()?;
    match parser.peek() {
        None => Ok(Path { strict, root }),
        Some(_) => Err(parser.unexpected()),
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Token {
    Word(String),
    String(String),
    Number(String),
    Variable(String),
    Symbol(&'static str),
}

static SYMBOLS: &[&str] = &[
    "**", "==", "!=", "<>", "<=", ">=", "&&", "||", "$", "@", ".", "*", "(", ")", "[", "]", "{", "}", ",", "?", "+",
    "-", "/", "%", "<", ">", "!",
];

fn syntax(message: String) -> SqlError {
    SqlError::syntax(message)
}

fn tokens(text: &str) -> Result<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("/*") {
            let end = comment
                .find("*/")
                .ok_or_else(|| syntax("unexpected end of comment at end of jsonpath input".into()))?;
            rest = &comment[end + 2..];
            continue;
        }
        let Some(first) = rest.chars().next() else { return Ok(tokens) };
        if first == '"' {
            tokens.push(Token::String(string(&mut rest)?));
        } else if let Some(after) =
            rest.strip_prefix('$').filter(|after| after.starts_with(is_name) || after.starts_with('"'))
        {
            rest = after;
            let name = if rest.starts_with('"') { string(&mut rest)? } else { name(&mut rest) };
            tokens.push(Token::Variable(name));
        } else if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|char: char| char.is_ascii_digit()))
        {
            tokens.push(Token::Number(number(&mut rest)?));
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            tokens.push(Token::Symbol(symbol));
            rest = &rest[symbol.len()..];
        } else if is_name(first) || first == '\\' {
            tokens.push(Token::Word(name(&mut rest)));
        } else {
            return Err(syntax(format!("syntax error at or near \"{first}\" of jsonpath input")));
        }
    }
}

fn is_name(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_' || !char.is_ascii()
}

fn name(rest: &mut &str) -> String {
    let end = rest.find(|char| !is_name(char)).unwrap_or(rest.len()).max(1);
    let (name, after) = rest.split_at(end);
    *rest = after;
    name.to_owned()
}

/// A string: escapes are JSON's, and a few more.
fn string(rest: &mut &str) -> Result<String> {
    let mut end = 1;
    let bytes = rest.as_bytes();
    while bytes.get(end).is_some_and(|byte| *byte != b'"') {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    if end >= bytes.len() {
        return Err(syntax("unterminated quoted string at end of jsonpath input".to_owned()));
    }
    let (quoted, after) = rest.split_at(end + 1);
    *rest = after;
    let plain = quoted.replace("\\'", "'").replace("\\v", "\\u000b").replace('\n', "\\n").replace('\t', "\\t");
    match Json::parse(&plain)? {
        Json::String(value) => Ok(value),
        _ => Err(syntax("syntax error in jsonpath input".to_owned())),
    }
}

fn number(rest: &mut &str) -> Result<String> {
    let bytes = rest.as_bytes();
    let digits = |from: usize| bytes[from.min(bytes.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') && (digits(end + 1) > 0 || !rest[end + 1..].starts_with(is_name)) {
        end += 1 + digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if digits(end + 1 + sign) > 0 {
            end += 1 + sign + digits(end + 1 + sign);
        }
    }
    let (number, after) = rest.split_at(end);
    if let Some(junk) = after.chars().next().filter(|char| is_name(*char)) {
        return Err(syntax(format!(
            "trailing junk after numeric literal at or near \"{number}{junk}\" of jsonpath input"
        )));
    }
    *rest = after;
    Ok(number.to_owned())
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    in_filter: usize,
    in_subscript: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn accept(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Symbol(found)) if *found == symbol);
        self.at += usize::from(found);
        found
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(found)) if found.eq_ignore_ascii_case(word));
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &str) -> Result<()> {
        if self.accept(symbol) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> SqlError {
        match self.peek() {
            None => syntax("syntax error at end of jsonpath input".to_owned()),
            Some(token) => {
                let shown = match token {
                    Token::Word(text) | Token::Number(text) | Token::Variable(text) | Token::String(text) => {
                        text.as_str()
                    }
                    Token::Symbol(symbol) => symbol,
                };
                syntax(format!("syntax error at or near \"{shown}\" of jsonpath input"))
            }
        }
    }

    fn or(&mut self) -> Result<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded"));
        }
        let mut left = self.and()?;
        while self.accept("||") {
            left = Expr::Or(Box::new([left, self.and()?]));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn and(&mut self) -> Result<Expr> {
        let mut left = self.comparison()?;
        while self.accept("&&") {
            left = Expr::And(Box::new([left, self.comparison()?]));
        }
        Ok(left)
    }

    fn comparison(&mut self) -> Result<Expr> {
        if self.accept("!") {
            let inner = if matches!(self.peek(), Some(Token::Word(word)) if word == "exists") {
                self.comparison()?
            } else {
                self.expect("(")?;
                let inner = self.or()?;
                self.expect(")")?;
                inner
            };
            return Ok(Expr::Not(Box::new(inner)));
        }
        if self.accept_word("exists") {
            self.expect("(")?;
            let inner = self.or()?;
            self.expect(")")?;
            return Ok(Expr::Exists(Box::new(inner)));
        }
        let left = self.sum()?;
        if left.is_predicate() {
            if self.accept_word("is") {
                return if self.accept_word("unknown") {
                    Ok(Expr::IsUnknown(Box::new(left)))
                } else {
                    Err(self.unexpected())
                };
            }
            return Ok(left);
        }
        static COMPARISONS: &[(&str, Compare)] = &[
            ("==", Compare::Equal),
            ("!=", Compare::NotEqual),
            ("<>", Compare::NotEqual),
            ("<=", Compare::LessOrEqual),
            (">=", Compare::GreaterOrEqual),
            ("<", Compare::Less),
            (">", Compare::Greater),
        ];
        for (symbol, operator) in COMPARISONS {
            if self.accept(symbol) {
                return Ok(Expr::Compare(*operator, Box::new([left, self.sum()?])));
            }
        }
        if self.accept_word("starts") {
            if !self.accept_word("with") {
                return Err(self.unexpected());
            }
            return Ok(Expr::StartsWith(Box::new([left, self.sum()?])));
        }
        if self.accept_word("like_regex") {
            let pattern = self.string()?;
            let flags = if self.accept_word("flag") { self.string()? } else { String::new() };
            return Ok(Expr::LikeRegex { text: Box::new(left), pattern, flags });
        }
        Ok(left)
    }

    fn string(&mut self) -> Result<String> {
        match self.peek() {
            Some(Token::String(text)) => {
                let text = text.clone();
                self.at += 1;
                Ok(text)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn sum(&mut self) -> Result<Expr> {
        let mut left = self.product()?;
        loop {
            let operator = match self.peek() {
                Some(Token::Symbol("+")) => Arithmetic::Add,
                Some(Token::Symbol("-")) => Arithmetic::Subtract,
                _ => return Ok(left),
            };
            self.at += 1;
            left = Expr::Arithmetic(operator, Box::new([left, self.product()?]));
        }
    }

    fn product(&mut self) -> Result<Expr> {
        let mut left = self.signed()?;
        loop {
            let operator = match self.peek() {
                Some(Token::Symbol("*")) => Arithmetic::Multiply,
                Some(Token::Symbol("/")) => Arithmetic::Divide,
                Some(Token::Symbol("%")) => Arithmetic::Modulo,
                _ => return Ok(left),
            };
            self.at += 1;
            left = Expr::Arithmetic(operator, Box::new([left, self.signed()?]));
        }
    }

    fn signed(&mut self) -> Result<Expr> {
        let minus = match self.peek() {
            Some(Token::Symbol("-")) => true,
            Some(Token::Symbol("+")) => false,
            _ => return self.steps(),
        };
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded"));
        }
        let operand = self.signed()?;
        self.depth -= 1;
        Ok(match operand {
            Expr::Literal(Json::Number(number)) if minus => Expr::Literal(Json::Number(number.negate())),
            Expr::Literal(Json::Number(number)) => Expr::Literal(Json::Number(number)),
            operand => Expr::Sign(minus, Box::new(operand)),
        })
    }

    fn primary(&mut self) -> Result<Expr> {
        let Some(token) = self.peek().cloned() else { return Err(self.unexpected()) };
        self.at += 1;
        Ok(match token {
            Token::Symbol("$") => Expr::Root,
            Token::Symbol("@") if self.in_filter > 0 => Expr::Current,
            Token::Symbol("@") => return Err(syntax("@ is not allowed in root expressions".to_owned())),
            Token::Symbol("(") => {
                let inner = self.or()?;
                self.expect(")")?;
                inner
            }
            Token::Variable(name) => Expr::Variable(name),
            Token::String(text) => Expr::Literal(Json::String(text)),
            Token::Number(text) => Expr::Literal(Json::Number(Numeric::parse(&text)?)),
            Token::Word(word) => match word.as_str() {
                "true" => Expr::Literal(Json::Bool(true)),
                "false" => Expr::Literal(Json::Bool(false)),
                "null" => Expr::Literal(Json::Null),
                "last" if self.in_subscript > 0 => Expr::Last,
                "last" => return Err(syntax("LAST is allowed only in array subscripts".to_owned())),
                _ => {
                    self.at -= 1;
                    return Err(self.unexpected());
                }
            },
            Token::Symbol(_) => {
                self.at -= 1;
                return Err(self.unexpected());
            }
        })
    }

    fn steps(&mut self) -> Result<Expr> {
        let mut value = self.primary()?;
        loop {
            let step = if self.accept(".") {
                self.member()?
            } else if self.accept("[") {
                self.subscripts()?
            } else if self.accept("?") {
                self.expect("(")?;
                self.in_filter += 1;
                let condition = self.or()?;
                self.in_filter -= 1;
                if !condition.is_predicate() {
                    return Err(self.unexpected());
                }
                self.expect(")")?;
                Step::Filter(Box::new(condition))
            } else {
                return Ok(value);
            };
            value = Expr::Step(Box::new(value), step);
        }
    }

    fn member(&mut self) -> Result<Step> {
        if self.accept("**") {
            return self.depths();
        }
        if self.accept("*") {
            return Ok(Step::AnyKey);
        }
        let Some(token) = self.peek().cloned() else { return Err(self.unexpected()) };
        self.at += 1;
        match token {
            Token::String(key) => Ok(Step::Key(key)),
            Token::Word(word) if self.accept("(") => self.method(&word),
            Token::Word(word) => Ok(Step::Key(word)),
            _ => {
                self.at -= 1;
                Err(self.unexpected())
            }
        }
    }

    fn method(&mut self, name: &str) -> Result<Step> {
        static METHODS: &[Method] = &[
            Method::Type,
            Method::Size,
            Method::Double,
            Method::Ceiling,
            Method::Floor,
            Method::Abs,
            Method::KeyValue,
        ];
        if name == "datetime" {
            return Err(SqlError::unsupported("jsonpath method .datetime()"));
        }
        let method = METHODS.iter().find(|method| method.name() == name);
        let method = *method.ok_or_else(|| syntax("syntax error at or near \"(\" of jsonpath input".to_owned()))?;
        self.expect(")")?;
        Ok(Step::Method(method))
    }

    fn depths(&mut self) -> Result<Step> {
        if !self.accept("{") {
            return Ok(Step::Depth { from: 0, to: None });
        }
        let from = self.level()?;
        let to = if self.accept_word("to") { self.level()? } else { from };
        self.expect("}")?;
        Ok(Step::Depth { from: from.unwrap_or(u32::MAX), to })
    }

    /// A number, or `last`.
    fn level(&mut self) -> Result<Option<u32>> {
        if self.accept_word("last") {
            return Ok(None);
        }
        match self.peek() {
            Some(Token::Number(text)) => {
                let level = text.parse().map_err(|_| self.unexpected())?;
                self.at += 1;
                Ok(Some(level))
            }
            _ => Err(self.unexpected()),
        }
    }

    fn subscripts(&mut self) -> Result<Step> {
        if self.accept("*") {
            self.expect("]")?;
            return Ok(Step::AnyItem);
        }
        self.in_subscript += 1;
        let mut ranges = Vec::new();
        loop {
            let from = self.sum()?;
            let to = if self.accept_word("to") { Some(self.sum()?) } else { None };
            ranges.push((from, to));
            if !self.accept(",") {
                break;
            }
        }
        self.in_subscript -= 1;
        self.expect("]")?;
        Ok(Step::Items(ranges))
    }
}
