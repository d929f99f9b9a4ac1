//! Values as bytes that compare as the values do: the keys of tables and indexes, of groups and hash joins.
//!
//! Equal values have equal bytes (`1.0` and `1.00`, `-0.0` and `0.0`, one month and thirty days), and no encoding is the
//! beginning of another, so keys of several columns are just put one after the other.

use crate::compare::{interval_key, timetz_key};
use crate::numeric::Numeric;
use crate::scalar::string::unpadded;
use crate::{ArrayValue, Datum, RecordValue, Type};

const NULL_FIRST: u8 = 0x00;
const VALUE: u8 = 0x01;
const NULL_LAST: u8 = 0x02;

/// Adds a value to a key.
pub fn encode(out: &mut Vec<u8>, datum: &Datum, ty: Type, descending: bool, nulls_first: bool) {
    if datum.is_null() {
        return out.push(if nulls_first { NULL_FIRST } else { NULL_LAST });
    }
    out.push(VALUE);
    let start = out.len();
    encode_value(out, datum, ty);
    if descending {
        for byte in &mut out[start..] {
            *byte = !*byte;
        }
    }
}

/// The first value of a key and what comes after it, for the types whose encoding tells; `descending` as it was encoded.
pub fn decode(key: &[u8], ty: Type, descending: bool) -> Option<(Datum, &[u8])> {
    let (&mark, bytes) = key.split_first()?;
    if mark != VALUE {
        return Some((Datum::Null, bytes));
    }
    let upright: Vec<u8> = if descending { bytes.iter().map(|byte| !byte).collect() } else { bytes.to_vec() };
    let (value, length) = decode_value(&upright, ty)?;
    Some((value, &bytes[length..]))
}

/// A value and how many bytes it takes.
fn decode_value(bytes: &[u8], ty: Type) -> Option<(Datum, usize)> {
    let eight = || bytes.first_chunk::<8>().map(|eight| u64::from_be_bytes(*eight));
    let int = || eight().map(|bits| bits as i64 ^ i64::MIN);
    Some(match ty {
        Type::BOOL => (Datum::Bool(*bytes.first()? == 1), 1),
        Type::INT2 | Type::INT4 | Type::INT8 | Type::OID => (Datum::Int(int()?), 8),
        Type::FLOAT4 | Type::FLOAT8 => {
            let bits = eight()?;
            (Datum::Float(f64::from_bits(if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits })), 8)
        }
        Type::DATE => (Datum::Date(int()?.try_into().ok()?), 8),
        Type::TIME => (Datum::Time(int()?), 8),
        Type::TIMESTAMP | Type::TIMESTAMPTZ => (Datum::Timestamp(int()?), 8),
        Type::UUID => (Datum::Uuid(Box::new(u128::from_be_bytes(*bytes.first_chunk::<16>()?))), 16),
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME => {
            let (bytes, length) = decode_bytes(bytes)?;
            (Datum::Text(String::from_utf8(bytes).ok()?.into()), length)
        }
        Type::BYTEA => {
            let (bytes, length) = decode_bytes(bytes)?;
            (Datum::Bytes(bytes.into()), length)
        }
        _ => return None,
    })
}

fn decode_bytes(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    loop {
        match (bytes.get(at)?, bytes.get(at + 1)) {
            (0, Some(0xFF)) => {
                found.push(0);
                at += 2;
            }
            (0, _) => return Some((found, at + 2)),
            (&byte, _) => {
                found.push(byte);
                at += 1;
            }
        }
    }
}

/// What is equal exactly when the values are (NULL is equal to NULL): for DISTINCT, GROUP BY and hash joins.
pub fn hash_key(out: &mut Vec<u8>, datum: &Datum, ty: Type) {
    encode(out, datum, ty, false, false);
}

/// The smallest key that is larger than all keys that begin like this one; `None` if there is none.
pub fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte != 0xFF)?;
    let mut next = prefix[..=last].to_vec();
    next[last] += 1;
    Some(next)
}

fn encode_value(out: &mut Vec<u8>, datum: &Datum, ty: Type) {
    match datum {
        Datum::Null => {}
        Datum::Bool(value) => out.push(u8::from(*value)),
        Datum::Int(value) => encode_i64(out, *value),
        Datum::Float(value) => encode_float(out, *value),
        Datum::Numeric(value) => encode_numeric(out, value),
        Datum::Text(text) => match ty {
            Type::BPCHAR => encode_bytes(out, unpadded(text).as_bytes()),
            Type::CITEXT => encode_bytes(out, text.to_lowercase().as_bytes()),
            Type::INET | Type::CIDR => encode_bytes(out, &crate::network::key(text)),
            Type::PG_LSN => encode_i64(out, crate::names::lsn_key(text) as i64 ^ i64::MIN),
            Type::TID => {
                let (block, offset) = crate::names::tid_key(text);
                encode_i64(out, i64::from(block) << 16 | i64::from(offset));
            }
            _ => encode_bytes(out, text.as_bytes()),
        },
        Datum::Bytes(bytes) => encode_bytes(out, bytes),
        Datum::Date(days) => encode_i64(out, i64::from(*days)),
        Datum::Time(micros) | Datum::Timestamp(micros) => encode_i64(out, *micros),
        Datum::TimeTz(micros, zone) => {
            let (instant, zone) = timetz_key(*micros, *zone);
            encode_i64(out, instant);
            encode_i64(out, i64::from(zone));
        }
        Datum::Interval(interval) => {
            out.extend_from_slice(&((interval_key(interval) ^ i128::MIN) as u128).to_be_bytes());
        }
        Datum::Uuid(value) => out.extend_from_slice(&value.to_be_bytes()),
        Datum::Jsonb(json) => json.encode(out),
        Datum::Array(array) => encode_array(out, array),
        Datum::Record(record) => encode_record(out, record),
        Datum::Enum(label) => {
            let bits = label.order.to_bits();
            let ordered = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
            out.extend_from_slice(&ordered.to_be_bytes());
        }
    }
}

fn encode_i64(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(&((value ^ i64::MIN) as u64).to_be_bytes());
}

/// The bits of a positive float are ordered like integers, those of a negative one the other way round.
fn encode_float(out: &mut Vec<u8>, value: f64) {
    let value = if value == 0.0 { 0.0 } else { value };
    let bits = if value.is_nan() { f64::NAN.to_bits() & !(1 << 63) } else { value.to_bits() };
    let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    out.extend_from_slice(&ordered.to_be_bytes());
}

/// Bytes with an end that sorts before any other byte; a zero byte inside is marked.
pub fn encode_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    for chunk in bytes.split_inclusive(|&byte| byte == 0) {
        out.extend_from_slice(chunk);
        if chunk.last() == Some(&0) {
            out.push(0xFF);
        }
    }
    out.extend_from_slice(&[0, 0]);
}

/// The sign, the exponent of the first digit, the digits two by two, an end. Negative: all of it but the sign inverted.
pub fn encode_numeric(out: &mut Vec<u8>, value: &Numeric) {
    const NEGATIVE_INFINITY: u8 = 0x10;
    const NEGATIVE: u8 = 0x20;
    const ZERO: u8 = 0x30;
    const POSITIVE: u8 = 0x40;
    const INFINITY: u8 = 0x50;
    const NAN: u8 = 0x60;
    let Some((negative, exponent, digits)) = value.scientific() else {
        out.push(match value {
            _ if value.is_nan() => NAN,
            _ if value.is_negative() => NEGATIVE_INFINITY,
            _ => INFINITY,
        });
        return;
    };
    if digits.is_empty() {
        return out.push(ZERO);
    }
    out.push(if negative { NEGATIVE } else { POSITIVE });
    let start = out.len();
    out.extend_from_slice(&(((exponent as i32) ^ i32::MIN) as u32).to_be_bytes());
    for pair in digits.as_bytes().chunks(2) {
        let tens = (pair[0] - b'0') * 10;
        out.push(1 + tens + pair.get(1).map_or(0, |ones| ones - b'0'));
    }
    out.push(0);
    if negative {
        for byte in &mut out[start..] {
            *byte = !*byte;
        }
    }
}

/// Each item after a mark, an end that sorts before items, then the shape.
fn encode_array(out: &mut Vec<u8>, array: &ArrayValue) {
    for item in &array.items {
        encode(out, item, array.element, false, false);
    }
    out.push(NULL_FIRST);
    out.push(array.dimensions.len() as u8);
    for (length, lower) in &array.dimensions {
        encode_i64(out, *length as i64);
        encode_i64(out, i64::from(*lower));
    }
}

fn encode_record(out: &mut Vec<u8>, record: &RecordValue) {
    for (field, (_, typed)) in record.fields.iter().zip(&record.shape.fields) {
        encode(out, field, typed.ty, false, false);
    }
    out.push(NULL_FIRST);
}
