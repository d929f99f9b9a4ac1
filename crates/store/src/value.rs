//! What keys hold: numbers, truth values, texts, and lists of values.
//!
//! A value is cheap to clone, because every read of every run clones one. The absence of a value is not a value: it is
//! `None` where a key may be absent.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use skew_model::Literal;

/// What a key holds.
///
/// ```
/// use skew_store::Value;
///
/// assert_eq!(Value::from(7).to_string(), "7");
/// assert_eq!(Value::from(vec!["milk", "tea"]).to_string(), "[milk, tea]");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Text.
    Text(Arc<str>),
    /// Values in a row: lists, sets in ascending order, and tuples.
    List(Arc<[Value]>),
}

impl Value {
    /// The value as a history records it: numbers are numbers, everything else is text as people read it.
    pub fn literal(&self) -> Literal {
        match self {
            Value::Int(number) => Literal::Int(*number),
            other => Literal::Text(other.to_string()),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(truth) => truth.fmt(f),
            Value::Int(number) => number.fmt(f),
            Value::Text(text) => f.pad(text),
            Value::List(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        f.write_str(", ")?;
                    }
                    item.fmt(f)?;
                }
                f.write_str("]")
            }
        }
    }
}

impl From<&Value> for Value {
    fn from(value: &Value) -> Self {
        value.clone()
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Value::Bool(truth)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Int(number)
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Self {
        Value::Int(number.into())
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Value::Int(number.into())
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Value::Int(i64::try_from(number).expect("a count or an index is below 2^63"))
    }
}

/// Numbers from 2^63 on become texts, which are read as `u64` again.
impl From<u64> for Value {
    fn from(number: u64) -> Self {
        i64::try_from(number).map_or_else(|_| Value::Text(number.to_string().into()), Value::Int)
    }
}

/// A text that is read as `f64` again, exactly: values have an order and an equality, which fractions do not.
impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Text(format!("{number:?}").into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.into())
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Value::Text(text.as_str().into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text.into())
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        items.into_iter().collect()
    }
}

impl<T: Into<Value>, const N: usize> From<[T; N]> for Value {
    fn from(items: [T; N]) -> Self {
        items.into_iter().collect()
    }
}

impl<T: Into<Value>> From<BTreeSet<T>> for Value {
    fn from(items: BTreeSet<T>) -> Self {
        items.into_iter().collect()
    }
}

impl<A: Into<Value>, B: Into<Value>> From<(A, B)> for Value {
    fn from((a, b): (A, B)) -> Self {
        Value::from([a.into(), b.into()])
    }
}

impl<A: Into<Value>, B: Into<Value>, C: Into<Value>> From<(A, B, C)> for Value {
    fn from((a, b, c): (A, B, C)) -> Self {
        Value::from([a.into(), b.into(), c.into()])
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Value::List(items.into_iter().map(Into::into).collect())
    }
}
