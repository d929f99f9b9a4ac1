//! Symbolic values: what conditions, predicates and written cells are made of.

use std::sync::Arc;

use skew_sql::catalog::Oid;

use super::access::AccessId;

/// A variable of a program, by its place in [`Program::variables`](super::Program::variables). Steps give it values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Variable(pub usize);

/// A value: a tree over arguments, variables, and what accesses have read. It is worked out where it stands, on what
/// variables hold there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A constant that is not NULL, as the database writes it.
    Constant(Arc<str>),
    /// NULL
    Null,
    /// What a variable holds.
    Variable(Variable),
    /// A column of the row that an access has picked, as its statement saw it before it wrote there; NULL if it has
    /// picked none. Where the access picks several rows, that of any of them, another one each time.
    Column(AccessId, usize),
    /// Whether an access has picked a row.
    Found(AccessId),
    /// A function of values.
    Apply(Function, Vec<Value>),
    /// A value that no other evaluation gives: of a sequence that never gives out a value again, or a new identifier.
    Fresh(Source),
    /// Any value of its type, another one each time it is worked out; with what is not understood.
    Opaque(Arc<str>),
}

/// Where fresh values come from.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Source {
    /// A sequence.
    Sequence(Oid),
    /// A function.
    Function(&'static str),
}

/// A function whose value depends on its arguments alone. All but the logical ones are NULL where an argument is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Function {
    Plus,
    Minus,
    Times,
    Equal,
    Different,
    Less,
    AtMost,
    Greater,
    AtLeast,
    And,
    Or,
    Not,
    IsNull,
}

impl Function {
    /// The function that an operator of SQL on numbers or ordered values is.
    pub fn of_operator(name: &str) -> Option<Function> {
        Some(match name {
            "+" => Function::Plus,
            "-" => Function::Minus,
            "*" => Function::Times,
            "=" => Function::Equal,
            "<>" => Function::Different,
            "<" => Function::Less,
            "<=" => Function::AtMost,
            ">" => Function::Greater,
            ">=" => Function::AtLeast,
            _ => return None,
        })
    }

    /// As it is written between its arguments, or before its argument.
    pub fn symbol(self) -> &'static str {
        match self {
            Function::Plus => "+",
            Function::Minus => "-",
            Function::Times => "*",
            Function::Equal => "=",
            Function::Different => "<>",
            Function::Less => "<",
            Function::AtMost => "<=",
            Function::Greater => ">",
            Function::AtLeast => ">=",
            Function::And => "AND",
            Function::Or => "OR",
            Function::Not => "NOT",
            Function::IsNull => "IS NULL",
        }
    }

    /// Whether it compares two values in the order of their type.
    pub fn compares(self) -> bool {
        use Function::{AtLeast, AtMost, Different, Equal, Greater, Less};
        matches!(self, Equal | Different | Less | AtMost | Greater | AtLeast)
    }
}

impl Value {
    /// A value that is not understood.
    pub fn opaque(why: impl AsRef<str>) -> Value {
        Value::Opaque(Arc::from(why.as_ref()))
    }

    /// Whether a part of it is as asked.
    pub fn any(&self, is: &mut dyn FnMut(&Value) -> bool) -> bool {
        is(self)
            || match self {
                Value::Apply(_, args) => args.iter().any(|arg| arg.any(is)),
                _ => false,
            }
    }

    /// Whether working it out twice gives one value.
    pub fn is_one(&self) -> bool {
        !self.any(&mut |part| matches!(part, Value::Opaque(_) | Value::Fresh(_)))
    }
}
