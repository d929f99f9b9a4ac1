//! Values: what a cell holds, what an expression comes to.
//!
//! A value does not know its type: types are known when a statement is bound, and several types share a form (all
//! integers are [`Datum::Int`], all texts [`Datum::Text`]). Ranges and lengths are the business of operators and casts.

use std::sync::Arc;

use crate::budget;
use crate::error::Result;
use crate::numeric::Numeric;
use crate::{Definitions, Form, Type, Typed};

/// How many rows can be nested in one another.
const MAX_ROW_LEVELS: usize = 1000;
/// Texts and bytes from this length on are [large](Datum::is_large).
const LARGE_BYTES: usize = 8 << 10;
/// The same for the items of arrays and documents.
const LARGE_ITEMS: usize = 256;

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
    Jsonb(Arc<crate::json::Json>),
    /// An array of any element type.
    Array(Arc<ArrayValue>),
    /// A row value. It knows its fields' names and types, since an anonymous record has no other place for them.
    Record(Arc<RecordValue>),
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

/// A row value.
#[derive(Clone, Debug)]
pub struct RecordValue {
    /// What its fields are called and of which types they are.
    pub shape: Arc<RecordShape>,
    /// The values, one a field.
    pub fields: Vec<Datum>,
}

/// Names and types of a record's fields; made once when a statement is bound, shared by its values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordShape {
    /// `RECORD` for an anonymous one, else the composite type.
    pub ty: Type,
    /// The fields: `f1`, `f2`, … for `ROW(…)`.
    pub fields: Vec<(Arc<str>, Typed)>,
}

impl RecordShape {
    /// The shape of `ROW(…)`: fields `f1`, `f2`, ….
    pub fn row(types: impl IntoIterator<Item = Typed>) -> RecordShape {
        let name = |(at, typed)| (Arc::from(format!("f{}", at + 1)), typed);
        RecordShape { ty: Type::RECORD, fields: types.into_iter().enumerate().map(name).collect() }
    }
}

/// A label of an enum type. Type and place say which label it is; RENAME VALUE gives it another text.
#[derive(Clone, Debug)]
pub struct EnumLabel {
    /// The enum.
    pub ty: Type,
    /// Its place in the order of labels, by which it is known.
    pub order: f32,
    /// Its text when the value was made; [`EnumLabel::text`] is its text now.
    pub label: String,
}

impl EnumLabel {
    /// Its text as the catalog has it.
    pub fn text<'a>(&'a self, catalog: &'a dyn Definitions) -> &'a str {
        let form = catalog.definition(self.ty).map(|definition| definition.form);
        let Some(Form::Enum(labels)) = form else { return &self.label };
        labels.iter().find(|(_, order, _)| *order == self.order).map_or(&self.label, |(_, _, label)| label)
    }
}

impl Datum {
    /// Text.
    pub fn text(text: impl AsRef<str>) -> Datum {
        Datum::Text(text.as_ref().into())
    }

    /// About how many bytes of memory it takes; what it shares with others counts in full.
    pub fn weight(&self) -> usize {
        size_of::<Datum>()
            + match self {
                Datum::Text(text) => text.len(),
                Datum::Bytes(bytes) => bytes.len(),
                Datum::Array(array) => array.items.iter().map(Datum::weight).sum(),
                Datum::Record(record) => record.fields.iter().map(Datum::weight).sum(),
                Datum::Jsonb(json) => json.weight(),
                Datum::Numeric(numeric) => 16 + numeric.weight(),
                _ => 0,
            }
    }

    /// Whether work on it possibly takes long: its length is that of a small file.
    pub fn is_large(&self) -> bool {
        match self {
            Datum::Text(text) => text.len() > LARGE_BYTES,
            Datum::Bytes(bytes) => bytes.len() > LARGE_BYTES,
            Datum::Array(array) => array.items.len() > LARGE_ITEMS || array.items.first().is_some_and(Datum::is_large),
            Datum::Record(record) => record.fields.iter().any(Datum::is_large),
            Datum::Jsonb(json) => json.is_large(LARGE_ITEMS),
            Datum::Numeric(numeric) => numeric.is_large(),
            _ => false,
        }
    }

    /// An error if rows in rows, or documents, are nested so deeply that walking them would exhaust the stack.
    pub fn check_nesting(&self) -> Result<()> {
        fn is_within(value: &Datum, levels: usize) -> bool {
            let Some(levels) = levels.checked_sub(1) else { return false };
            match value {
                Datum::Record(record) => record.fields.iter().all(|field| is_within(field, levels)),
                // All items are of one kind.
                Datum::Array(array) => match array.items.first() {
                    Some(Datum::Record(_) | Datum::Array(_)) => array.items.iter().all(|item| is_within(item, levels)),
                    _ => true,
                },
                _ => true,
            }
        }
        let is_within = match self {
            Datum::Jsonb(json) => json.is_within(crate::json::MAX_DEPTH),
            other => is_within(other, MAX_ROW_LEVELS),
        };
        if is_within { Ok(()) } else { Err(budget::too_deep()) }
    }

    /// A row value.
    pub fn record(shape: Arc<RecordShape>, fields: Vec<Datum>) -> Datum {
        Datum::Record(Arc::new(RecordValue { shape, fields }))
    }

    /// Whether there is no value.
    pub fn is_null(&self) -> bool {
        matches!(self, Datum::Null)
    }
}
