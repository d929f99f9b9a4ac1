//! `jsonpath`: what a path is, and how it is shown.
//!
//! A value of the type is kept as its text; [`Path::parse`] reads it, [`run`] follows it.

mod parse;
pub mod run;

use std::fmt;

use crate::error::Result;
use crate::json::{Json, quote};

/// A path.
#[derive(Clone, Debug)]
pub struct Path {
    /// Whether what is not there is an error.
    pub(crate) strict: bool,
    pub(crate) root: Expr,
}

#[derive(Clone, Debug)]
pub(crate) enum Expr {
    /// `$`
    Root,
    /// `@`
    Current,
    /// `last`
    Last,
    Literal(Json),
    /// `$name`
    Variable(String),
    Step(Box<Expr>, Step),
    Arithmetic(Arithmetic, Box<[Expr; 2]>),
    /// A sign: whether it is a minus.
    Sign(bool, Box<Expr>),
    Compare(Compare, Box<[Expr; 2]>),
    And(Box<[Expr; 2]>),
    Or(Box<[Expr; 2]>),
    Not(Box<Expr>),
    Exists(Box<Expr>),
    IsUnknown(Box<Expr>),
    StartsWith(Box<[Expr; 2]>),
    LikeRegex {
        text: Box<Expr>,
        pattern: String,
        flags: String,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Key(String),
    /// `.*`
    AnyKey,
    /// `.**{from to to}`; no end is `last`
    Depth {
        from: u32,
        to: Option<u32>,
    },
    /// `[*]`
    AnyItem,
    /// `[1, 2 to last]`
    Items(Vec<(Expr, Option<Expr>)>),
    /// `?(…)`
    Filter(Box<Expr>),
    Method(Method),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Compare {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Method {
    Type,
    Size,
    Double,
    Ceiling,
    Floor,
    Abs,
    KeyValue,
}

impl Arithmetic {
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Arithmetic::Add => "+",
            Arithmetic::Subtract => "-",
            Arithmetic::Multiply => "*",
            Arithmetic::Divide => "/",
            Arithmetic::Modulo => "%",
        }
    }
}

impl Compare {
    fn symbol(self) -> &'static str {
        match self {
            Compare::Equal => "==",
            Compare::NotEqual => "!=",
            Compare::Less => "<",
            Compare::LessOrEqual => "<=",
            Compare::Greater => ">",
            Compare::GreaterOrEqual => ">=",
        }
    }
}

impl Method {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Method::Type => "type",
            Method::Size => "size",
            Method::Double => "double",
            Method::Ceiling => "ceiling",
            Method::Floor => "floor",
            Method::Abs => "abs",
            Method::KeyValue => "keyvalue",
        }
    }
}

impl Path {
    /// Reads a path.
    pub fn parse(text: &str) -> Result<Path> {
        parse::parse(text)
    }
}

impl Expr {
    /// Whether it is true, false or unknown, rather than a sequence of items.
    pub(crate) fn is_predicate(&self) -> bool {
        matches!(
            self,
            Expr::Compare(..)
                | Expr::And(_)
                | Expr::Or(_)
                | Expr::Not(_)
                | Expr::Exists(_)
                | Expr::IsUnknown(_)
                | Expr::StartsWith(_)
                | Expr::LikeRegex { .. }
        )
    }

    /// How tightly it binds.
    fn priority(&self) -> u8 {
        match self {
            Expr::Or(_) => 0,
            Expr::And(_) => 1,
            Expr::Compare(..) | Expr::StartsWith(_) => 2,
            Expr::Arithmetic(Arithmetic::Add | Arithmetic::Subtract, _) => 3,
            Expr::Arithmetic(..) => 4,
            Expr::Sign(..) => 5,
            _ => 6,
        }
    }

    /// Shows it, in parentheses if it is asked for and makes a difference.
    fn show(&self, out: &mut String, parentheses: bool) {
        let pair = |out: &mut String, operator: &str, operands: &[Expr; 2]| {
            if parentheses {
                out.push('(');
            }
            operands[0].show(out, operands[0].priority() <= self.priority());
            out.push_str(operator);
            operands[1].show(out, operands[1].priority() <= self.priority());
            if parentheses {
                out.push(')');
            }
        };
        match self {
            Expr::Root => out.push('$'),
            Expr::Current => out.push('@'),
            Expr::Last => out.push_str("last"),
            Expr::Literal(json) => out.push_str(&json.to_string()),
            Expr::Variable(name) => {
                out.push('$');
                quote(out, name);
            }
            Expr::Step(from, step) => {
                match &**from {
                    // A number's own point would be taken for its fraction.
                    Expr::Literal(Json::Number(number)) => out.push_str(&format!("({number})")),
                    from => from.show(out, true),
                }
                step.show(out);
            }
            Expr::Arithmetic(operator, operands) => pair(out, &format!(" {} ", operator.symbol()), operands),
            Expr::Compare(operator, operands) => pair(out, &format!(" {} ", operator.symbol()), operands),
            Expr::And(operands) => pair(out, " && ", operands),
            Expr::Or(operands) => pair(out, " || ", operands),
            Expr::StartsWith(operands) => pair(out, " starts with ", operands),
            Expr::Sign(minus, operand) => {
                out.push_str(if parentheses { "(" } else { "" });
                out.push(if *minus { '-' } else { '+' });
                operand.show(out, operand.priority() <= self.priority());
                out.push_str(if parentheses { ")" } else { "" });
            }
            Expr::Not(inner) => {
                out.push_str("!(");
                inner.show(out, false);
                out.push(')');
            }
            Expr::Exists(inner) => {
                out.push_str("exists (");
                inner.show(out, false);
                out.push(')');
            }
            Expr::IsUnknown(inner) => {
                out.push('(');
                inner.show(out, false);
                out.push_str(") is unknown");
            }
            Expr::LikeRegex { text, pattern, flags } => {
                out.push_str(if parentheses { "(" } else { "" });
                text.show(out, text.priority() <= self.priority());
                out.push_str(" like_regex ");
                quote(out, pattern);
                if !flags.is_empty() {
                    out.push_str(" flag ");
                    quote(out, flags);
                }
                out.push_str(if parentheses { ")" } else { "" });
            }
        }
    }
}

impl Step {
    fn show(&self, out: &mut String) {
        match self {
            Step::Key(key) => {
                out.push('.');
                quote(out, key);
            }
            Step::AnyKey => out.push_str(".*"),
            Step::Depth { from, to } => {
                out.push_str(".**");
                match (from, to) {
                    (0, None) => {}
                    (from, Some(to)) if from == to => out.push_str(&format!("{{{from}}}")),
                    (from, Some(to)) => out.push_str(&format!("{{{from} to {to}}}")),
                    (&u32::MAX, None) => out.push_str("{last}"),
                    (from, None) => out.push_str(&format!("{{{from} to last}}")),
                }
            }
            Step::AnyItem => out.push_str("[*]"),
            Step::Items(ranges) => {
                out.push('[');
                for (at, (from, to)) in ranges.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    from.show(out, false);
                    if let Some(to) = to {
                        out.push_str(" to ");
                        to.show(out, false);
                    }
                }
                out.push(']');
            }
            Step::Filter(condition) => {
                out.push_str("?(");
                condition.show(out, false);
                out.push(')');
            }
            Step::Method(method) => out.push_str(&format!(".{}()", method.name())),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.root.show(&mut out, true);
        write!(f, "{}{out}", if self.strict { "strict " } else { "" })
    }
}
