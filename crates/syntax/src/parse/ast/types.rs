//! Names of types.

use super::ObjectName;

/// A type, as SQL writes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DataType {
    /// SMALLINT
    SmallInt,
    /// INTEGER
    Integer,
    /// BIGINT
    BigInt,
    /// REAL
    Real,
    /// DOUBLE PRECISION
    DoublePrecision,
    /// FLOAT, with its number of bits
    Float(Option<u64>),
    /// NUMERIC, with its precision and scale
    Numeric(Option<(u64, Option<i64>)>),
    /// BOOLEAN
    Boolean,
    /// BIT, with its length
    Bit(Option<u64>),
    /// BIT VARYING, with its length
    BitVarying(Option<u64>),
    /// CHARACTER, with its length
    Character(Option<u64>),
    /// CHARACTER VARYING, with its length
    Varchar(Option<u64>),
    /// TIME
    Time {
        /// Digits of the seconds' fraction.
        precision: Option<u64>,
        /// WITH TIME ZONE
        with_zone: bool,
    },
    /// TIMESTAMP
    Timestamp {
        /// Digits of the seconds' fraction.
        precision: Option<u64>,
        /// WITH TIME ZONE
        with_zone: bool,
    },
    /// INTERVAL
    Interval {
        /// `YEAR TO MONTH` and the like.
        fields: Option<IntervalFields>,
        /// Digits of the seconds' fraction.
        precision: Option<u64>,
    },
    /// A type that is an ordinary name, with its modifiers as they are written.
    Custom(ObjectName, Vec<String>),
    /// An array of this type, with its bound.
    Array(Box<DataType>, Option<u64>),
}

/// The fields that an interval keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum IntervalFields {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    YearToMonth,
    DayToHour,
    DayToMinute,
    DayToSecond,
    HourToMinute,
    HourToSecond,
    MinuteToSecond,
}

impl IntervalFields {
    /// As SQL writes them.
    pub fn words(self) -> &'static str {
        match self {
            IntervalFields::Year => "YEAR",
            IntervalFields::Month => "MONTH",
            IntervalFields::Day => "DAY",
            IntervalFields::Hour => "HOUR",
            IntervalFields::Minute => "MINUTE",
            IntervalFields::Second => "SECOND",
            IntervalFields::YearToMonth => "YEAR TO MONTH",
            IntervalFields::DayToHour => "DAY TO HOUR",
            IntervalFields::DayToMinute => "DAY TO MINUTE",
            IntervalFields::DayToSecond => "DAY TO SECOND",
            IntervalFields::HourToMinute => "HOUR TO MINUTE",
            IntervalFields::HourToSecond => "HOUR TO SECOND",
            IntervalFields::MinuteToSecond => "MINUTE TO SECOND",
        }
    }
}
