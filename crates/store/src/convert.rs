//! From what a key holds to what the program wants.

use std::collections::BTreeSet;

use crate::error::Error;
use crate::value::Value;

/// A type that a key's value can be read as.
///
/// A key that is absent can be read as an [`Option`]; as anything else it is [`Error::Kind`].
pub trait FromValue: Sized {
    /// What is wanted, in words: "a number".
    const WANTED: &'static str;

    /// The value as this type, if it is one.
    fn from_value(value: &Value) -> Option<Self>;

    /// What the absence of a value means, if anything.
    fn from_absence() -> Option<Self> {
        None
    }
}

/// What a key holds as the type that the program wants.
pub(crate) fn convert<T: FromValue>(key: &str, value: Option<Value>) -> Result<T, Error> {
    let converted = match &value {
        Some(value) => T::from_value(value),
        None => T::from_absence(),
    };
    converted.ok_or_else(|| Error::Kind {
        key: key.to_owned(),
        found: value.map_or_else(|| "nothing".to_owned(), |value| value.to_string()),
        wanted: T::WANTED,
    })
}

impl FromValue for Value {
    const WANTED: &'static str = "a value";

    fn from_value(value: &Value) -> Option<Self> {
        Some(value.clone())
    }
}

impl<T: FromValue> FromValue for Option<T> {
    const WANTED: &'static str = T::WANTED;

    fn from_value(value: &Value) -> Option<Self> {
        T::from_value(value).map(Some)
    }

    fn from_absence() -> Option<Self> {
        Some(None)
    }
}

impl FromValue for bool {
    const WANTED: &'static str = "true or false";

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(truth) => Some(*truth),
            _ => None,
        }
    }
}

impl FromValue for i64 {
    const WANTED: &'static str = "a number";

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Int(number) => Some(*number),
            _ => None,
        }
    }
}

impl FromValue for i32 {
    const WANTED: &'static str = "a number of 32 bits";

    fn from_value(value: &Value) -> Option<Self> {
        i64::from_value(value)?.try_into().ok()
    }
}

impl FromValue for u32 {
    const WANTED: &'static str = "a number of 32 bits without a sign";

    fn from_value(value: &Value) -> Option<Self> {
        i64::from_value(value)?.try_into().ok()
    }
}

impl FromValue for usize {
    const WANTED: &'static str = "a number without a sign";

    fn from_value(value: &Value) -> Option<Self> {
        i64::from_value(value)?.try_into().ok()
    }
}

impl FromValue for u64 {
    const WANTED: &'static str = "a number without a sign";

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Int(number) => (*number).try_into().ok(),
            // Numbers that are too large for `Value::Int`.
            Value::Text(digits) => digits.parse().ok(),
            _ => None,
        }
    }
}

impl FromValue for f64 {
    const WANTED: &'static str = "a number";

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Int(number) => Some(*number as f64),
            Value::Text(number) => number.parse().ok(),
            _ => None,
        }
    }
}

impl FromValue for String {
    const WANTED: &'static str = "a text";

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text.to_string()),
            _ => None,
        }
    }
}

impl<T: FromValue> FromValue for Vec<T> {
    const WANTED: &'static str = "a list of that kind";

    fn from_value(value: &Value) -> Option<Self> {
        items(value)?.iter().map(T::from_value).collect()
    }
}

impl<T: FromValue + Ord> FromValue for BTreeSet<T> {
    const WANTED: &'static str = "a set of that kind";

    fn from_value(value: &Value) -> Option<Self> {
        items(value)?.iter().map(T::from_value).collect()
    }
}

impl<A: FromValue, B: FromValue> FromValue for (A, B) {
    const WANTED: &'static str = "a pair of that kind";

    fn from_value(value: &Value) -> Option<Self> {
        match items(value)? {
            [a, b] => Some((A::from_value(a)?, B::from_value(b)?)),
            _ => None,
        }
    }
}

impl<A: FromValue, B: FromValue, C: FromValue> FromValue for (A, B, C) {
    const WANTED: &'static str = "a triple of that kind";

    fn from_value(value: &Value) -> Option<Self> {
        match items(value)? {
            [a, b, c] => Some((A::from_value(a)?, B::from_value(b)?, C::from_value(c)?)),
            _ => None,
        }
    }
}

fn items(value: &Value) -> Option<&[Value]> {
    match value {
        Value::List(items) => Some(items),
        _ => None,
    }
}
