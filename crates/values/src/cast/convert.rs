//! What each built-in conversion does.

use std::sync::Arc;

use crate::Env;
use crate::error::{Result, SqlError, SqlState};
use crate::numeric::Numeric;
use crate::scalar::{float, integer, string};
use crate::{Datum, Type, Typed, bits, datetime, json, reg};

/// The conversion of a value that is not NULL; `None` where there is none but through text. The target's modifier is applied
/// afterwards.
pub(super) fn known(value: &Datum, from: Type, to: Type, env: &dyn Env) -> Option<Result<Datum>> {
    Some(match value {
        Datum::Int(number) => return from_integer(*number, from, to),
        Datum::Float(number) => return from_float(*number, from, to),
        Datum::Numeric(number) => return from_numeric(number, to),
        Datum::Text(text) => return from_text(text, from, to, env),
        Datum::Bool(value) => match to {
            Type::INT4 => Ok(Datum::Int((*value).into())),
            Type::TEXT | Type::VARCHAR | Type::BPCHAR => Ok(Datum::text(if *value { "true" } else { "false" })),
            _ => return None,
        },
        Datum::Date(_) | Datum::Time(_) | Datum::TimeTz(..) | Datum::Timestamp(_) | Datum::Interval(_) => {
            return datetime::cast::known(value, from, to, env);
        }
        Datum::Jsonb(json) => return json::cast(json, to),
        _ => return None,
    })
}

fn is_integer(ty: Type) -> bool {
    matches!(ty, Type::INT2 | Type::INT4 | Type::INT8)
}

fn is_oid_like(ty: Type) -> bool {
    matches!(ty, Type::OID | Type::XID | Type::CID) || reg::is_reg(ty)
}

fn from_integer(number: i64, from: Type, to: Type) -> Option<Result<Datum>> {
    Some(match to {
        _ if from == Type::MONEY => match to {
            Type::NUMERIC => Ok(Datum::Numeric(Arc::new(Numeric::scaled(number.into(), 2)))),
            _ => return None,
        },
        // An oid has the bits of an int4.
        Type::INT4 if is_oid_like(from) => Ok(Datum::Int(i64::from(number as i32))),
        _ if is_integer(to) => integer::fit(number, to).map(Datum::Int),
        _ if is_oid_like(to) => match from {
            Type::INT8 if u32::try_from(number).is_err() => {
                Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "OID out of range"))
            }
            _ => Ok(Datum::Int(i64::from(number as u32))),
        },
        Type::NUMERIC => Ok(Datum::Numeric(Arc::new(Numeric::from(number)))),
        Type::FLOAT8 => Ok(Datum::Float(number as f64)),
        Type::FLOAT4 => Ok(Datum::Float(f64::from(number as f32))),
        Type::BOOL if from == Type::INT4 => Ok(Datum::Bool(number != 0)),
        Type::MONEY => match number.checked_mul(100) {
            Some(cents) => Ok(Datum::Int(cents)),
            None => Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "bigint out of range")),
        },
        Type::CHAR_INTERNAL if from == Type::INT4 => match u8::try_from(number) {
            Ok(0) => Ok(Datum::text("")),
            Ok(byte) if byte < 128 => Ok(Datum::text((byte as char).to_string())),
            _ => Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "\"char\" out of range")),
        },
        _ => return None,
    })
}

/// The lowest bits of an integer, as many as the bit string has; longer ones repeat the sign.
pub(super) fn integer_to_bits(number: i64, modifier: i32) -> Datum {
    let length = usize::try_from(modifier).unwrap_or(1);
    let bit = |place: usize| if number >> place.min(63) & 1 == 1 { '1' } else { '0' };
    Datum::text((0..length).rev().map(bit).collect::<String>())
}

fn from_float(number: f64, from: Type, to: Type) -> Option<Result<Datum>> {
    Some(match to {
        _ if is_integer(to) => float_to_integer(number, to).map(Datum::Int),
        Type::FLOAT8 => Ok(Datum::Float(number)),
        Type::FLOAT4 => float::narrow(number).map(Datum::Float),
        Type::NUMERIC if from == Type::FLOAT4 => Ok(Datum::Numeric(Arc::new(Numeric::from_f32(number)))),
        Type::NUMERIC => Ok(Datum::Numeric(Arc::new(Numeric::from_f64(number)))),
        _ => return None,
    })
}

/// Rounded to the nearest, halves to even.
fn float_to_integer(number: f64, to: Type) -> Result<i64> {
    let (least, most, name) = integer::range(to);
    let rounded = number.round_ties_even();
    // 2^63 is the first that is too large; both bounds of the others are exact.
    let fits = rounded >= least as f64 && if to == Type::INT8 { rounded < most as f64 } else { rounded <= most as f64 };
    if fits {
        return Ok(rounded as i64);
    }
    Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("{name} out of range")))
}

fn from_numeric(number: &Numeric, to: Type) -> Option<Result<Datum>> {
    Some(match to {
        _ if is_integer(to) => {
            let (least, most, name) = integer::range(to);
            number.to_integer(least, most, name).map(Datum::Int)
        }
        Type::FLOAT8 => number.to_f64().map(Datum::Float),
        Type::FLOAT4 => number.to_f32().map(Datum::Float),
        Type::MONEY => {
            let cents = number.multiply(&Numeric::from(100));
            cents.and_then(|cents| cents.to_integer(i64::MIN, i64::MAX, "bigint")).map(Datum::Int)
        }
        _ => return None,
    })
}

fn from_text(text: &Arc<str>, from: Type, to: Type, env: &dyn Env) -> Option<Result<Datum>> {
    let string_source = matches!(from, Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::CHAR_INTERNAL);
    let same = || Ok(Datum::Text(text.clone()));
    Some(match to {
        Type::TEXT | Type::VARCHAR if from == Type::BPCHAR => Ok(Datum::text(string::unpadded(text))),
        Type::TEXT | Type::VARCHAR | Type::BPCHAR if string_source => same(),
        Type::NAME if from == Type::BPCHAR => Ok(Datum::text(string::fit_name(string::unpadded(text)))),
        Type::NAME if string_source => Ok(Datum::text(string::fit_name(text))),
        Type::CHAR_INTERNAL if string_source => Ok(Datum::text(string::fit_single(text))),
        Type::REGCLASS if string_source => reg::parse(text, Type::REGCLASS, env).map(Datum::Int),
        Type::INT4 if from == Type::CHAR_INTERNAL => Ok(Datum::Int(text.bytes().next().unwrap_or(0).into())),
        Type::INT4 | Type::INT8 if from == Type::BIT => bits_to_integer(text, to).map(Datum::Int),
        Type::BIT | Type::VARBIT if matches!(from, Type::BIT | Type::VARBIT) => same(),
        Type::INET if from == Type::CIDR => {
            let (address, bits) = crate::network::read(text)?;
            Ok(Datum::text(crate::network::show(address, bits, false)))
        }
        Type::CIDR if from == Type::INET => {
            let (address, bits) = crate::network::read(text)?;
            Ok(Datum::text(crate::network::show(crate::network::masked(address, bits), bits, true)))
        }
        // As text, an inet always shows its bits.
        Type::TEXT | Type::VARCHAR | Type::BPCHAR if from == Type::INET => {
            let (address, bits) = crate::network::read(text)?;
            Ok(Datum::text(crate::network::show(address, bits, true)))
        }
        _ => return None,
    })
}

fn bits_to_integer(text: &str, to: Type) -> Result<i64> {
    let (width, name) = if to == Type::INT8 { (64, "bigint") } else { (32, "integer") };
    if text.len() > width {
        return Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, format!("{name} out of range")));
    }
    let value = u64::from_str_radix(text, 2).unwrap_or(0);
    Ok(if width == 64 { value as i64 } else { i64::from(value as u32 as i32) })
}

/// Obeys a type's modifier.
pub(super) fn constrain(value: Datum, to: Typed, explicit: bool) -> Result<Datum> {
    if to.modifier < 0 {
        return Ok(value);
    }
    Ok(match (&value, to.ty) {
        (Datum::Text(text), Type::VARCHAR) => {
            let fitted = string::fit_varchar(text, to.modifier, explicit)?;
            if fitted.len() == text.len() { value } else { Datum::text(fitted) }
        }
        (Datum::Text(text), Type::BPCHAR) => {
            let fitted = string::fit_char(text, to.modifier, explicit)?;
            if fitted.len() == text.len() { value } else { Datum::text(fitted) }
        }
        (Datum::Text(text), Type::BIT) => Datum::text(bits::fit_bit(text.to_string(), to.modifier, explicit)?),
        (Datum::Text(text), Type::VARBIT) => Datum::text(bits::fit_varbit(text.to_string(), to.modifier, explicit)?),
        (Datum::Numeric(number), Type::NUMERIC) => {
            Datum::Numeric(Arc::new(Numeric::clone(number).constrain(to.modifier)?))
        }
        (Datum::Time(_) | Datum::TimeTz(..) | Datum::Timestamp(_) | Datum::Interval(_), _) => {
            datetime::cast::constrain(value, to)?
        }
        _ => value,
    })
}
