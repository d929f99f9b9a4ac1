//! Expressions: operators by PostgreSQL's table of precedence. What stands between operators is in [`super::primary`].

use crate::parse::ast::{BinaryOperator, Expr, UnaryOperator};

use crate::budget;
use crate::error::{Result, SqlError};
use crate::parse::cursor::Cursor;
use crate::parse::keywords::Keyword as K;
use crate::parse::token::{Kind, Token};

/// How tightly operators bind.
mod binding {
    pub const OR: u8 = 1;
    pub const AND: u8 = 2;
    pub const NOT: u8 = 3;
    pub const IS: u8 = 4;
    pub const COMPARISON: u8 = 5;
    pub const LIKE: u8 = 6;
    pub const OTHER: u8 = 7;
    pub const SUM: u8 = 8;
    pub const PRODUCT: u8 = 9;
    pub const POWER: u8 = 10;
    pub const AT: u8 = 11;
    pub const COLLATE: u8 = 12;
    pub const SIGN: u8 = 13;
    pub const CAST: u8 = 15;
}

/// Whether an expression may use AND, OR, NOT, IS NULL, IN, LIKE, BETWEEN without parentheses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grammar {
    /// `a_expr` in PostgreSQL's grammar.
    Full,
    /// `b_expr`: where these words would be taken for something else.
    Restricted,
}

/// Chains of AND and OR that are longer than this become balanced trees: programs make very long ones, and it does not
/// matter how they are grouped.
const LONGEST_LEANING: usize = 64;

impl Cursor<'_> {
    /// An expression.
    pub(crate) fn expr(&mut self) -> Result<Expr> {
        self.boxed_expr().map(|expr| *expr)
    }

    /// An expression in its box: what recurs hands boxes on, so that nesting costs little stack.
    pub(crate) fn boxed_expr(&mut self) -> Result<Box<Expr>> {
        self.operators(0, Grammar::Full)
    }

    /// An expression after which words like NOT NULL or AND mean something else.
    pub(crate) fn restricted_expr(&mut self) -> Result<Box<Expr>> {
        self.operators(0, Grammar::Restricted)
    }

    /// An expression of operators that bind more tightly than `least`.
    fn operators(&mut self, least: u8, grammar: Grammar) -> Result<Box<Expr>> {
        self.deeper(|cursor| {
            let left = cursor.prefixed(grammar)?;
            cursor.infixes(left, least, grammar)
        })
    }

    /// The rest of an expression whose first operand is there.
    pub(crate) fn rest_of_expr(&mut self, left: Box<Expr>) -> Result<Box<Expr>> {
        self.infixes(left, 0, Grammar::Full)
    }

    fn prefixed(&mut self, grammar: Grammar) -> Result<Box<Expr>> {
        let (op, binds) = match self.kind() {
            Kind::Word(K::Not) if grammar == Grammar::Full => (UnaryOperator::Not, binding::NOT - 1),
            Kind::Minus => (UnaryOperator::MINUS, binding::SIGN - 1),
            Kind::Plus => (UnaryOperator::PLUS, binding::SIGN - 1),
            Kind::Operator => (self.prefix_operator()?, binding::OTHER),
            _ => return self.primary(),
        };
        self.take();
        if op == UnaryOperator::Not && self.keyword() == K::Exists && self.kind_at(1) == Kind::LeftParen {
            return self.not_exists();
        }
        let expr = self.operators(binds, grammar)?;
        Ok(unary(op, expr))
    }

    fn not_exists(&mut self) -> Result<Box<Expr>> {
        let mut exists = self.operators(binding::NOT - 1, Grammar::Full)?;
        if let Expr::Exists { negated: negated @ false, .. } = &mut *exists {
            *negated = true;
            return Ok(exists);
        }
        Ok(unary(UnaryOperator::Not, exists))
    }

    fn prefix_operator(&self) -> Result<UnaryOperator> {
        const SYMBOLS: [&str; 10] = ["~", "@", "|/", "||/", "!!", "#", "@-@", "@@", "?-", "?|"];
        let text = self.text_of(self.peek());
        let known = SYMBOLS.into_iter().find(|symbol| *symbol == text).map(UnaryOperator::Symbol);
        known.ok_or_else(|| SqlError::unsupported(format!("the prefix operator {text}")))
    }

    fn infixes(&mut self, mut left: Box<Expr>, least: u8, grammar: Grammar) -> Result<Box<Expr>> {
        // What cannot be chained without parentheses: `a < b < c`, `a LIKE b LIKE c`.
        let mut alone = 0;
        for length in 1.. {
            budget::chain(length)?;
            let Some(binds) = self.infix_binding(grammar) else { return Ok(left) };
            if binds <= least {
                return Ok(left);
            }
            let chained = matches!(binds, binding::COMPARISON | binding::LIKE);
            if chained && alone == binds {
                return Err(self.unexpected());
            }
            alone = if chained { binds } else { 0 };
            left = match binds {
                binding::OR => self.connected(left, K::Or, BinaryOperator::Or)?,
                binding::AND => self.connected(left, K::And, BinaryOperator::And)?,
                _ => self.infix(left, binds, grammar)?,
            };
        }
        Err(budget::too_deep())
    }

    /// AND or OR of any number of operands.
    fn connected(&mut self, first: Box<Expr>, word: K, op: BinaryOperator) -> Result<Box<Expr>> {
        let binds = if word == K::Or { binding::OR } else { binding::AND };
        let mut operands = vec![first];
        while self.accept_word(word) {
            operands.push(self.operators(binds, Grammar::Full)?);
        }
        Ok(balanced(operands, &op))
    }

    /// How tightly the operator that follows binds; `None` if none follows.
    fn infix_binding(&self, grammar: Grammar) -> Option<u8> {
        let full = grammar == Grammar::Full;
        Some(match self.kind() {
            Kind::Plus | Kind::Minus => binding::SUM,
            Kind::Star | Kind::Slash | Kind::Percent => binding::PRODUCT,
            Kind::Caret => binding::POWER,
            Kind::Equal | Kind::Less | Kind::Greater | Kind::LessOrEqual | Kind::GreaterOrEqual | Kind::NotEqual => {
                binding::COMPARISON
            }
            Kind::TypeCast => binding::CAST,
            Kind::Operator => binding::OTHER,
            Kind::Word(keyword) => match keyword {
                K::Or if full => binding::OR,
                K::And if full => binding::AND,
                K::Is if full => binding::IS,
                K::Is if self.keyword_at(1) == K::Distinct => binding::IS,
                K::Is if self.keyword_at(1) == K::Not && self.keyword_at(2) == K::Distinct => binding::IS,
                K::Isnull | K::Notnull if full => binding::IS,
                K::Between | K::In | K::Like | K::Ilike | K::Similar if full => binding::LIKE,
                K::Not if full => match self.keyword_at(1) {
                    K::Between | K::In | K::Like | K::Ilike | K::Similar => binding::LIKE,
                    _ => return None,
                },
                K::Overlaps if full => binding::OTHER,
                K::Operator if self.kind_at(1) == Kind::LeftParen => binding::OTHER,
                K::At if full && self.keyword_at(1) == K::Time => binding::AT,
                K::Collate if full => binding::COLLATE,
                _ => return None,
            },
            _ => return None,
        })
    }

    fn infix(&mut self, left: Box<Expr>, binds: u8, grammar: Grammar) -> Result<Box<Expr>> {
        let token = self.take();
        match token.kind {
            Kind::TypeCast => self.type_cast(left),
            Kind::Word(K::Is) => self.is(left, grammar),
            Kind::Word(K::Isnull) => Ok(boxed(Expr::IsNull(left))),
            Kind::Word(K::Notnull) => Ok(boxed(Expr::IsNotNull(left))),
            Kind::Word(K::Not) => {
                let token = self.take();
                self.matching(left, token.kind.keyword(), true)
            }
            Kind::Word(keyword @ (K::Between | K::In | K::Like | K::Ilike | K::Similar)) => {
                self.matching(left, keyword, false)
            }
            Kind::Word(K::At) => {
                self.expect_words(&[K::Time, K::Zone])?;
                let time_zone = self.operators(binds, grammar)?;
                Ok(at_time_zone(left, time_zone))
            }
            Kind::Word(K::Collate) => {
                let collation = self.any_name()?;
                Ok(boxed(Expr::Collate { expr: left, collation }))
            }
            _ => {
                let op = self.binary_operator(token)?;
                if self.at_quantifier() {
                    return self.quantified(left, op);
                }
                let right = self.operators(binds, grammar)?;
                Ok(binary(left, op, right))
            }
        }
    }

    fn type_cast(&mut self, expr: Box<Expr>) -> Result<Box<Expr>> {
        let data_type = self.data_type()?;
        Ok(boxed(Expr::Cast { expr, data_type }))
    }

    /// A name that may be that of anything, like a collation's.
    pub fn any_name(&mut self) -> Result<crate::parse::ast::ObjectName> {
        let first = self.label()?;
        self.qualified(first)
    }

    fn at_quantifier(&self) -> bool {
        matches!(self.keyword(), K::Any | K::Some | K::All)
    }

    /// `op ANY (…)`, `op ALL (…)`
    fn quantified(&mut self, left: Box<Expr>, compare_op: BinaryOperator) -> Result<Box<Expr>> {
        let keyword = self.take().kind.keyword();
        let right = self.any_operand()?;
        Ok(boxed(match keyword {
            K::All => Expr::AllOp { left, compare_op, right },
            _ => Expr::AnyOp { left, compare_op, right },
        }))
    }

    /// The array or subquery after ANY and ALL, without its parentheses.
    fn any_operand(&mut self) -> Result<Box<Expr>> {
        if self.kind() != Kind::LeftParen {
            return Err(self.unexpected());
        }
        Ok(without_parentheses(self.parenthesized_expr()?))
    }

    fn is(&mut self, expr: Box<Expr>, grammar: Grammar) -> Result<Box<Expr>> {
        let negated = self.accept_word(K::Not);
        let keyword = self.keyword();
        if grammar == Grammar::Restricted && keyword != K::Distinct {
            return Err(self.unexpected());
        }
        let made = match (keyword, negated) {
            (K::Null, false) => Expr::IsNull(expr),
            (K::Null, true) => Expr::IsNotNull(expr),
            (K::True, false) => Expr::IsTrue(expr),
            (K::True, true) => Expr::IsNotTrue(expr),
            (K::False, false) => Expr::IsFalse(expr),
            (K::False, true) => Expr::IsNotFalse(expr),
            (K::Unknown, false) => Expr::IsUnknown(expr),
            (K::Unknown, true) => Expr::IsNotUnknown(expr),
            (K::Distinct, _) => {
                self.take();
                self.expect_word(K::From)?;
                let right = self.operators(binding::IS, grammar)?;
                return Ok(distinct(expr, right, negated));
            }
            (K::Document | K::Of, _) => {
                return Err(SqlError::unsupported(format!("IS {}", keyword.text().to_uppercase())));
            }
            (K::Nfc | K::Nfd | K::Nfkc | K::Nfkd | K::Normalized, _) => {
                return Err(SqlError::unsupported("IS NORMALIZED"));
            }
            _ => return Err(self.unexpected()),
        };
        self.take();
        Ok(boxed(made))
    }

    /// BETWEEN, IN, LIKE, ILIKE, SIMILAR TO.
    fn matching(&mut self, left: Box<Expr>, keyword: K, negated: bool) -> Result<Box<Expr>> {
        match keyword {
            K::Between => self.between(left, negated),
            K::In => self.in_list(left, negated),
            _ => self.like(left, keyword, negated),
        }
    }

    fn between(&mut self, expr: Box<Expr>, negated: bool) -> Result<Box<Expr>> {
        let symmetric = self.accept_word(K::Symmetric);
        if !symmetric {
            self.accept_word(K::Asymmetric);
        }
        let low = self.restricted_expr()?;
        self.expect_word(K::And)?;
        let high = self.operators(binding::LIKE, Grammar::Full)?;
        if !symmetric {
            return Ok(boxed(Expr::Between { expr, negated, low, high }));
        }
        // As PostgreSQL does it: between in one order or in the other.
        let one = Expr::Between { expr: expr.clone(), negated, low: low.clone(), high: high.clone() };
        let other = Expr::Between { expr, negated, low: high, high: low };
        let op = if negated { BinaryOperator::And } else { BinaryOperator::Or };
        Ok(boxed(Expr::Nested(binary(boxed(one), op, boxed(other)))))
    }

    fn in_list(&mut self, expr: Box<Expr>, negated: bool) -> Result<Box<Expr>> {
        if self.kind() != Kind::LeftParen {
            return Err(self.unexpected());
        }
        if self.at_subquery() {
            return Ok(boxed(match *self.parenthesized_expr()? {
                Expr::Subquery(subquery) => Expr::InSubquery { expr, subquery, negated },
                Expr::Nested(item) => Expr::InList { expr, list: vec![*item], negated },
                Expr::Tuple(list) => Expr::InList { expr, list, negated },
                other => Expr::InList { expr, list: vec![other], negated },
            }));
        }
        let list = self.parenthesized(Self::expr)?;
        Ok(boxed(Expr::InList { expr, list, negated }))
    }

    fn like(&mut self, left: Box<Expr>, keyword: K, negated: bool) -> Result<Box<Expr>> {
        if keyword == K::Similar {
            self.expect_word(K::To)?;
        } else {
            let symbol = match (keyword, negated) {
                (K::Like, false) => "~~",
                (K::Like, true) => "!~~",
                (_, false) => "~~*",
                (_, true) => "!~~*",
            };
            if self.at_quantifier() {
                return self.quantified(left, BinaryOperator::Symbol(symbol.into()));
            }
        }
        let expr = left;
        let pattern = self.operators(binding::LIKE, Grammar::Full)?;
        let escape_char = match self.accept_word(K::Escape) {
            true => Some(self.operators(binding::LIKE, Grammar::Full)?),
            false => None,
        };
        Ok(boxed(match keyword {
            K::Like => Expr::Like { negated, expr, pattern, escape_char },
            K::Ilike => Expr::ILike { negated, expr, pattern, escape_char },
            _ => Expr::SimilarTo { negated, expr, pattern, escape_char },
        }))
    }

    /// The operator that a token, which has been taken, stands for.
    fn binary_operator(&mut self, token: Token) -> Result<BinaryOperator> {
        Ok(match token.kind {
            Kind::Word(K::Overlaps) => BinaryOperator::Overlaps,
            Kind::Word(_) => self.named_operator()?,
            // As PostgreSQL reads it.
            Kind::NotEqual => BinaryOperator::Symbol("<>".into()),
            _ => BinaryOperator::Symbol(self.text_of(token).into()),
        })
    }

    /// `OPERATOR(schema.op)`, after its first word.
    fn named_operator(&mut self) -> Result<BinaryOperator> {
        self.expect(Kind::LeftParen)?;
        let mut schema = Vec::new();
        while matches!(self.kind(), Kind::Word(_) | Kind::Quoted) {
            schema.push(self.label()?);
            self.expect(Kind::Dot)?;
        }
        let token = self.take();
        let text = self.text_of(token);
        if text.is_empty() || !text.bytes().all(|byte| b"+-*/<>=~!@#%^&|`?".contains(&byte)) {
            return Err(self.unexpected_at(token));
        }
        let symbol = text.to_owned();
        self.expect(Kind::RightParen)?;
        Ok(BinaryOperator::Qualified { schema, symbol })
    }
}

#[inline(never)]
fn boxed(expr: Expr) -> Box<Expr> {
    Box::new(expr)
}

#[inline(never)]
fn binary(left: Box<Expr>, op: BinaryOperator, right: Box<Expr>) -> Box<Expr> {
    Box::new(Expr::BinaryOp { left, op, right })
}

#[inline(never)]
fn unary(op: UnaryOperator, expr: Box<Expr>) -> Box<Expr> {
    Box::new(Expr::UnaryOp { op, expr })
}

#[inline(never)]
fn at_time_zone(timestamp: Box<Expr>, time_zone: Box<Expr>) -> Box<Expr> {
    Box::new(Expr::AtTimeZone { timestamp, time_zone })
}

#[inline(never)]
fn distinct(left: Box<Expr>, right: Box<Expr>, negated: bool) -> Box<Expr> {
    Box::new(if negated { Expr::IsNotDistinctFrom(left, right) } else { Expr::IsDistinctFrom(left, right) })
}

#[inline(never)]
fn without_parentheses(expr: Box<Expr>) -> Box<Expr> {
    match *expr {
        Expr::Nested(inner) => inner,
        other => Box::new(other),
    }
}

/// A tree of these operands in their order.
fn balanced(mut operands: Vec<Box<Expr>>, op: &BinaryOperator) -> Box<Expr> {
    let joined = |left, right| binary(left, op.clone(), right);
    if operands.len() <= LONGEST_LEANING {
        return operands.into_iter().reduce(joined).expect("a chain has an operand");
    }
    let right = operands.split_off(operands.len() / 2);
    joined(balanced(operands, op), balanced(right, op))
}
