//! Values: what a cell holds, what an expression comes to.
//!
//! A value does not know its type: types are known when a statement is bound, and several types share a form (all
//! integers are [`Datum::Int`], all texts [`Datum::Text`]). Ranges and lengths are the business of operators and casts.

use std::sync::Arc;

use crate::types::Type;
use crate::types::numeric::Numeric;

/// A value. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub enum Datum {
    /// No value.
    #[default]
    Null,
    /// bool
    Bool(bool),
    /// int2, int4, int8, oid and the reg… types
    Int(i64),
    /// float4 (rounded to it) and float8
    Float(f64),
    /// numeric
    Numeric(Arc<Numeric>),
    /// text, varchar, char (padded), name, "char", unknown, json, xml, inet and other types kept as text
    Text(Arc<str>),
    /// bytea
    Bytes(Arc<[u8]>),
    /// date: days since 2000-01-01; `i32::MAX` and `i32::MIN` are ±infinity
    Date(i32),
    /// time: microseconds since midnight
    Time(i64),
    /// timetz: microseconds since midnight, and seconds west of UTC
    TimeTz(i64, i32),
    /// timestamp and timestamptz: microseconds since 2000-01-01 (UTC for timestamptz); `i64::MAX` and `MIN` are ±infinity
    Timestamp(i64),
    /// interval
    Interval(Interval),
    /// uuid
    Uuid(Box<u128>),
    /// jsonb
    Jsonb(Arc<crate::types::json::Json>),
    /// An array of any element type.
    Array(Arc<ArrayValue>),
    /// A row value.
    Record(Arc<[Datum]>),
    /// A label of an enum type.
    Enum(Arc<EnumLabel>),
}

/// A span of time. The three parts do not add up to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Interval {
    /// Months.
    pub months: i32,
    /// Days.
    pub days: i32,
    /// Microseconds.
    pub micros: i64,
}

/// An array: items in row-major order. An empty array has no dimensions.
#[derive(Clone, Debug)]
pub struct ArrayValue {
    /// The element type.
    pub element: Type,
    /// Length and lower bound of each dimension.
    pub dimensions: Vec<(usize, i32)>,
    /// The items.
    pub items: Vec<Datum>,
}

/// A label of an enum type.
#[derive(Clone, Debug)]
pub struct EnumLabel {
    /// The enum.
    pub ty: Type,
    /// Its place in the order of labels.
    pub order: f32,
    /// Its text.
    pub label: String,
}

impl Datum {
    /// Text.
    pub fn text(text: impl AsRef<str>) -> Datum {
        Datum::Text(text.as_ref().into())
    }

    /// Whether there is no value.
    pub fn is_null(&self) -> bool {
        matches!(self, Datum::Null)
    }
}
