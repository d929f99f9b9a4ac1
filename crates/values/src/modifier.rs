//! Type modifiers: what stands in the parentheses after a type's name, packed into `atttypmod`.

use std::fmt::Write;

use crate::error::{Result, SqlError, SqlState};
use crate::{Type, Typed, numeric, scalar};

/// Most characters of a varchar or char.
const MAX_LENGTH: i64 = 10_485_760;
/// Most bits of a bit string.
const MAX_BITS: i64 = 83_886_080;
/// Most digits of the fraction of a second.
const MAX_FRACTION: i64 = 6;

/// The fields that an interval modifier names, as bits; all of them when it names none.
#[allow(missing_docs)]
pub mod fields {
    pub const MONTH: i32 = 1 << 1;
    pub const YEAR: i32 = 1 << 2;
    pub const DAY: i32 = 1 << 3;
    pub const HOUR: i32 = 1 << 10;
    pub const MINUTE: i32 = 1 << 11;
    pub const SECOND: i32 = 1 << 12;
    pub const ALL: i32 = 0x7FFF;
    /// The precision of an interval modifier that names none.
    pub const ANY_PRECISION: i32 = 0xFFFF;

    /// What is written after `interval`, and its bits.
    pub static NAMED: &[(&str, i32)] = &[
        ("year", YEAR),
        ("month", MONTH),
        ("day", DAY),
        ("hour", HOUR),
        ("minute", MINUTE),
        ("second", SECOND),
        ("year to month", YEAR | MONTH),
        ("day to hour", DAY | HOUR),
        ("day to minute", DAY | HOUR | MINUTE),
        ("day to second", DAY | HOUR | MINUTE | SECOND),
        ("hour to minute", HOUR | MINUTE),
        ("hour to second", HOUR | MINUTE | SECOND),
        ("minute to second", MINUTE | SECOND),
    ];
}

/// The type with the modifier that these numbers in parentheses make.
pub fn apply(ty: Type, numbers: &[i64]) -> Result<Typed> {
    let invalid = |message: String| SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message);
    let modifier = match (ty, numbers) {
        (_, []) => -1,
        (Type::NUMERIC, [precision]) => numeric::modifier(*precision, 0)?,
        (Type::NUMERIC, [precision, scale]) => numeric::modifier(*precision, *scale)?,
        (Type::NUMERIC, _) => return Err(invalid("invalid NUMERIC type modifier".to_owned())),
        (Type::VARCHAR, [length]) => checked_length("varchar", *length, MAX_LENGTH)? + 4,
        (Type::BPCHAR, [length]) => checked_length("char", *length, MAX_LENGTH)? + 4,
        (Type::BIT, [length]) => checked_length("bit", *length, MAX_BITS)?,
        (Type::VARBIT, [length]) => checked_length("varbit", *length, MAX_BITS)?,
        (Type::TIME | Type::TIMETZ | Type::TIMESTAMP | Type::TIMESTAMPTZ, [precision]) => {
            let (name, zone) = match ty {
                Type::TIME => ("TIME", ""),
                Type::TIMETZ => ("TIME", " WITH TIME ZONE"),
                Type::TIMESTAMP => ("TIMESTAMP", ""),
                _ => ("TIMESTAMP", " WITH TIME ZONE"),
            };
            // A precision that is too large is reduced, with a warning.
            match precision {
                0.. => (*precision).min(MAX_FRACTION) as i32,
                _ => return Err(invalid(format!("{name}({precision}){zone} precision must not be negative"))),
            }
        }
        (Type::INTERVAL, [precision]) => interval(fields::ALL, Some(*precision))?,
        (Type::VARCHAR | Type::BPCHAR | Type::BIT | Type::VARBIT, _)
        | (Type::TIME | Type::TIMETZ | Type::TIMESTAMP | Type::TIMESTAMPTZ | Type::INTERVAL, _) => {
            return Err(invalid("invalid type modifier".to_owned()));
        }
        _ => {
            let name = super::builtin::by_oid(ty).map_or("", |builtin| builtin.sql_name);
            return Err(SqlError::syntax(format!("type modifier is not allowed for type \"{name}\"")));
        }
    };
    Ok(Typed { ty, modifier })
}

/// The modifier of an interval with these fields and this precision.
pub fn interval(fields: i32, precision: Option<i64>) -> Result<i32> {
    let precision = match precision {
        None => fields::ANY_PRECISION,
        Some(precision @ 0..) => precision.min(MAX_FRACTION) as i32,
        Some(precision) => {
            return Err(SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("INTERVAL({precision}) precision must not be negative"),
            ));
        }
    };
    Ok((fields & fields::ALL) << 16 | precision)
}

/// Fields and precision of an interval's modifier; `None` where it does not say.
pub fn unpack_interval(modifier: i32) -> (Option<i32>, Option<u32>) {
    if modifier < 0 {
        return (None, None);
    }
    let fields = modifier >> 16 & fields::ALL;
    let precision = modifier & fields::ANY_PRECISION;
    ((fields != fields::ALL).then_some(fields), (precision != fields::ANY_PRECISION).then_some(precision as u32))
}

fn checked_length(name: &str, length: i64, most: i64) -> Result<i32> {
    let invalid = |message: String| SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message);
    match length {
        ..1 => Err(invalid(format!("length for type {name} must be at least 1"))),
        _ if length > most => Err(invalid(format!("length for type {name} cannot exceed {most}"))),
        _ => Ok(length as i32),
    }
}

/// The SQL name of a built-in type with a modifier that is not -1; `None` for types that have no modifiers.
pub fn show(ty: Type, modifier: i32) -> Option<String> {
    let length = || scalar::string::length(modifier);
    Some(match ty {
        Type::VARCHAR => format!("character varying({})", length()?),
        Type::BPCHAR => format!("character({})", length()?),
        Type::BIT => format!("bit({modifier})"),
        Type::VARBIT => format!("bit varying({modifier})"),
        Type::NUMERIC => {
            let (precision, scale) = numeric::unpack(modifier)?;
            format!("numeric({precision},{scale})")
        }
        Type::TIME => format!("time({modifier}) without time zone"),
        Type::TIMETZ => format!("time({modifier}) with time zone"),
        Type::TIMESTAMP => format!("timestamp({modifier}) without time zone"),
        Type::TIMESTAMPTZ => format!("timestamp({modifier}) with time zone"),
        Type::INTERVAL => {
            let (wanted, precision) = unpack_interval(modifier);
            let mut name = "interval".to_owned();
            if let Some((words, _)) = fields::NAMED.iter().find(|(_, bits)| Some(*bits) == wanted) {
                let _ = write!(name, " {words}");
            }
            if let Some(precision) = precision {
                let _ = write!(name, "({precision})");
            }
            name
        }
        _ => return None,
    })
}
