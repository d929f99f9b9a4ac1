//! Values in the wire's binary format, as PostgreSQL's send and receive functions have them.

use std::net::IpAddr;
use std::sync::Arc;

use crate::Env;
use crate::error::{Result, SqlError, SqlState};
use crate::hstore::Pairs;
use crate::json::Json;
use crate::numeric::Numeric;
use crate::{
    ArrayValue, Datum, Form, Interval, RecordShape, RecordValue, Type, Typed, array, cast, datetime, kind, names,
    network, reg, text,
};

/// The version byte before a jsonb's text.
const JSONB_VERSION: u8 = 1;

/// Reads a value.
pub fn input(bytes: &[u8], typed: Typed, env: &dyn Env) -> Result<Datum> {
    let mut reader = Reader { bytes };
    let value = reader.value(typed, env)?;
    if !reader.bytes.is_empty() {
        return Err(invalid("incorrect binary data format"));
    }
    Ok(value)
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self
            .bytes
            .split_at_checked(count)
            .ok_or_else(|| SqlError::new(SqlState::PROTOCOL_VIOLATION, "insufficient data left in message"))?;
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        Ok(self.take(N)?.try_into().expect("as many bytes were taken"))
    }

    fn i16(&mut self) -> Result<i64> {
        Ok(i16::from_be_bytes(self.array()?).into())
    }

    fn i32(&mut self) -> Result<i32> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    fn i64(&mut self) -> Result<i64> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.bytes)
    }

    fn text(&mut self) -> Result<&'a str> {
        utf8(self.rest())
    }

    fn value(&mut self, typed: Typed, env: &dyn Env) -> Result<Datum> {
        let unconstrained = match typed.ty {
            Type::BOOL => Datum::Bool(self.array::<1>()?[0] != 0),
            Type::INT2 => Datum::Int(self.i16()?),
            Type::INT4 => Datum::Int(self.i32()?.into()),
            Type::INT8 | Type::MONEY | Type::XID8 => Datum::Int(self.i64()?),
            Type::OID | Type::XID | Type::CID => Datum::Int((self.i32()? as u32).into()),
            ty if reg::is_reg(ty) => Datum::Int((self.i32()? as u32).into()),
            Type::FLOAT4 => Datum::Float(f32::from_be_bytes(self.array()?).into()),
            Type::FLOAT8 => Datum::Float(f64::from_be_bytes(self.array()?)),
            Type::NUMERIC => Datum::Numeric(Arc::new(Numeric::receive(self.rest())?)),
            Type::BYTEA => Datum::Bytes(self.rest().into()),
            Type::UUID => Datum::Uuid(Box::new(u128::from_be_bytes(self.array()?))),
            Type::DATE => Datum::Date(datetime::checked_date(self.i32()?)?),
            Type::TIME => Datum::Time(datetime::checked_time(self.i64()?)?),
            Type::TIMETZ => {
                let (micros, west) = (datetime::checked_time(self.i64()?)?, self.i32()?);
                Datum::TimeTz(micros, datetime::checked_zone(west)?)
            }
            Type::TIMESTAMP | Type::TIMESTAMPTZ => Datum::Timestamp(datetime::checked_timestamp(self.i64()?)?),
            Type::INTERVAL => {
                let (micros, days, months) = (self.i64()?, self.i32()?, self.i32()?);
                Datum::Interval(Interval { months, days, micros })
            }
            Type::JSONB => match self.array::<1>()? {
                [JSONB_VERSION] => Datum::Jsonb(Arc::new(Json::parse(self.text()?)?)),
                [version] => {
                    return Err(SqlError::new(
                        SqlState::INTERNAL_ERROR,
                        format!("unsupported jsonb version number {version}"),
                    ));
                }
            },
            Type::INET | Type::CIDR => self.network(typed.ty == Type::CIDR)?,
            Type::MACADDR => {
                let pairs: Vec<String> = self.take(6)?.iter().map(|byte| format!("{byte:02x}")).collect();
                Datum::text(pairs.join(":"))
            }
            Type::BIT | Type::VARBIT => self.bits()?,
            Type::HSTORE => self.pairs()?,
            Type::TID => Datum::text(format!("({},{})", self.i32()? as u32, self.i16()? as u16)),
            Type::PG_LSN => {
                let value = self.i64()? as u64;
                Datum::text(format!("{:X}/{:X}", value >> 32, value & 0xFFFF_FFFF))
            }
            Type::RECORD => {
                return Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    "input of anonymous composite types is not implemented",
                ));
            }
            _ => return self.other(typed, env),
        };
        constrain(unconstrained, typed)
    }

    /// What is text on the wire, too, and what is made of other types.
    fn other(&mut self, typed: Typed, env: &dyn Env) -> Result<Datum> {
        let catalog = env.defined();
        if let Some(element) = kind::element(typed.ty, catalog) {
            return self.items(Typed { ty: element, modifier: typed.modifier }, env);
        }
        match catalog.definition(typed.ty).map(|definition| definition.form) {
            Some(Form::Domain(base)) => self.value(base, env),
            Some(Form::Composite(fields)) => self.record(typed.ty, fields, env),
            _ => text::input(self.text()?, typed, env),
        }
    }

    /// The number of pairs, then keys and values, each after its length; -1 is NULL.
    fn pairs(&mut self) -> Result<Datum> {
        let mut pairs = Pairs::default();
        for _ in 0..self.i32()? {
            let mut part = || match self.i32()? {
                -1 => Ok(None),
                length => {
                    let length = usize::try_from(length).map_err(|_| invalid("invalid length of a part"))?;
                    utf8(self.take(length)?).map(|text| Some(text.to_owned()))
                }
            };
            let (key, value) = (part()?, part()?);
            let key = key.ok_or_else(|| {
                SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "null value not allowed for hstore key")
            })?;
            pairs.put(&key, value);
        }
        Ok(Datum::text(pairs.to_string()))
    }

    fn items(&mut self, element: Typed, env: &dyn Env) -> Result<Datum> {
        let (count, flags, ty) = (self.i32()?, self.i32()?, self.i32()? as u32);
        let count = usize::try_from(count).map_err(|_| invalid("invalid number of dimensions"))?;
        if count > array::MAX_DIMENSIONS {
            return Err(array::too_many_dimensions(count));
        }
        if !matches!(flags, 0 | 1) {
            return Err(invalid("invalid array flags"));
        }
        if ty != element.ty.0 {
            let name = |ty| names::display(ty, env.defined());
            return Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!(
                    "binary data has array element type {} ({}) instead of expected {} ({})",
                    ty,
                    name(Type(ty)),
                    element.ty.0,
                    name(element.ty)
                ),
            ));
        }
        let mut dimensions = Vec::with_capacity(count);
        let mut total = usize::from(count > 0);
        for _ in 0..count {
            let (length, lower) = (self.i32()?, self.i32()?);
            let length = usize::try_from(length).map_err(|_| invalid("invalid array dimensions"))?;
            dimensions.push((length, lower));
            total = total.checked_mul(length).filter(|total| *total <= array::MAX_ITEMS).ok_or_else(|| {
                SqlError::new(
                    SqlState::PROGRAM_LIMIT_EXCEEDED,
                    format!("array size exceeds the maximum allowed ({})", array::MAX_ITEMS),
                )
            })?;
        }
        if total == 0 {
            return Ok(Datum::array(element.ty, Vec::new()));
        }
        // Each item has at least its length.
        let mut items = Vec::with_capacity(total.min(self.bytes.len() / 4));
        for _ in 0..total {
            items.push(self.item(element, env)?);
        }
        Ok(Datum::Array(Arc::new(ArrayValue { element: element.ty, dimensions, items })))
    }

    /// A value after its length; -1 is NULL.
    fn item(&mut self, typed: Typed, env: &dyn Env) -> Result<Datum> {
        match self.i32()? {
            -1 => Ok(Datum::Null),
            length => {
                let length = usize::try_from(length).map_err(|_| invalid("insufficient data left in message"))?;
                input(self.take(length)?, typed, env)
            }
        }
    }

    fn record(&mut self, ty: Type, fields: &[(Arc<str>, Typed)], env: &dyn Env) -> Result<Datum> {
        let count = self.i32()?;
        if usize::try_from(count) != Ok(fields.len()) {
            return Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!("wrong number of columns: {count}, expected {}", fields.len()),
            ));
        }
        let mut values = Vec::with_capacity(fields.len());
        for (at, (_, typed)) in fields.iter().enumerate() {
            let sent = self.i32()? as u32;
            if sent != typed.ty.0 {
                let name = |ty| names::display(ty, env.defined());
                return Err(SqlError::new(
                    SqlState::DATATYPE_MISMATCH,
                    format!(
                        "binary data has type {sent} ({}) instead of expected {} ({}) in record column {}",
                        name(Type(sent)),
                        typed.ty.0,
                        name(typed.ty),
                        at + 1
                    ),
                ));
            }
            values.push(self.item(*typed, env)?);
        }
        Ok(Datum::record(Arc::new(RecordShape { ty, fields: fields.to_vec() }), values))
    }

    fn network(&mut self, cidr: bool) -> Result<Datum> {
        let [family, bits, _, length] = self.array()?;
        let address = match (family, length) {
            (2, 4) => IpAddr::from(self.array::<4>()?),
            (3, 16) => IpAddr::from(self.array::<16>()?),
            _ => return Err(invalid("invalid address family in external \"inet\" value")),
        };
        if u32::from(bits) > u32::from(length) * 8 {
            return Err(invalid("invalid bits in external \"inet\" value"));
        }
        Ok(Datum::text(network::show(address, bits, cidr)))
    }

    fn bits(&mut self) -> Result<Datum> {
        let count = usize::try_from(self.i32()?).map_err(|_| invalid("invalid length in external bit string"))?;
        let bytes = self.take(count.div_ceil(8))?;
        let digits: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
        Ok(Datum::text(&digits[..count]))
    }
}

/// Obeys the modifier, as an assignment does.
fn constrain(value: Datum, typed: Typed) -> Result<Datum> {
    if typed.modifier < 0 { Ok(value) } else { cast::constrain(value, typed) }
}

/// Checks that bytes are text.
pub fn utf8(bytes: &[u8]) -> Result<&str> {
    let bad = |at: usize, length: usize| {
        let shown: Vec<String> = bytes[at..].iter().take(length).map(|byte| format!("0x{byte:02x}")).collect();
        SqlError::new(
            SqlState::CHARACTER_NOT_IN_REPERTOIRE,
            format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" ")),
        )
    };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let expected = match bytes[at] {
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF7 => 4,
            _ => 1,
        };
        bad(at, expected)
    })?;
    match bytes.iter().position(|&byte| byte == 0) {
        Some(at) => Err(bad(at, 1)),
        None => Ok(text),
    }
}

fn invalid(message: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_BINARY_REPRESENTATION, message)
}

/// Adds a value that is not NULL, without its length.
pub fn output_into(out: &mut Vec<u8>, datum: &Datum, ty: Type, env: &dyn Env) -> Result<()> {
    match datum {
        Datum::Null => {}
        Datum::Bool(value) => out.push(u8::from(*value)),
        Datum::Int(value) => match ty {
            Type::INT2 => out.extend_from_slice(&(*value as i16).to_be_bytes()),
            Type::INT8 | Type::MONEY | Type::XID8 => out.extend_from_slice(&value.to_be_bytes()),
            _ => out.extend_from_slice(&(*value as u32).to_be_bytes()),
        },
        Datum::Float(value) => match ty {
            Type::FLOAT4 => out.extend_from_slice(&(*value as f32).to_be_bytes()),
            _ => out.extend_from_slice(&value.to_be_bytes()),
        },
        Datum::Numeric(value) => value.send(out),
        Datum::Text(value) => text_into(out, value, ty),
        Datum::Bytes(bytes) => out.extend_from_slice(bytes),
        Datum::Date(days) => out.extend_from_slice(&days.to_be_bytes()),
        Datum::Time(micros) | Datum::Timestamp(micros) => out.extend_from_slice(&micros.to_be_bytes()),
        Datum::TimeTz(micros, zone) => {
            out.extend_from_slice(&micros.to_be_bytes());
            out.extend_from_slice(&zone.to_be_bytes());
        }
        Datum::Interval(interval) => {
            out.extend_from_slice(&interval.micros.to_be_bytes());
            out.extend_from_slice(&interval.days.to_be_bytes());
            out.extend_from_slice(&interval.months.to_be_bytes());
        }
        Datum::Uuid(value) => out.extend_from_slice(&value.to_be_bytes()),
        Datum::Jsonb(json) => {
            out.push(JSONB_VERSION);
            out.extend_from_slice(json.to_string().as_bytes());
        }
        Datum::Array(value) => array_into(out, value, env)?,
        Datum::Record(value) => record_into(out, value, env)?,
        Datum::Enum(label) => out.extend_from_slice(label.text(env.defined()).as_bytes()),
    }
    Ok(())
}

/// Types that are kept as text but are not text on the wire.
fn text_into(out: &mut Vec<u8>, value: &str, ty: Type) {
    match ty {
        Type::INET | Type::CIDR => {
            let Some((address, bits)) = network::read(value) else { return };
            let (family, octets) = match address {
                IpAddr::V4(address) => (2, address.octets().to_vec()),
                IpAddr::V6(address) => (3, address.octets().to_vec()),
            };
            out.extend_from_slice(&[family, bits, u8::from(ty == Type::CIDR), octets.len() as u8]);
            out.extend_from_slice(&octets);
        }
        Type::MACADDR => out.extend(value.split(':').filter_map(|pair| u8::from_str_radix(pair, 16).ok())),
        Type::BIT | Type::VARBIT => {
            out.extend_from_slice(&(value.len() as i32).to_be_bytes());
            let byte =
                |chunk: &[u8]| chunk.iter().enumerate().fold(0, |byte, (at, digit)| byte | (digit - b'0') << (7 - at));
            out.extend(value.as_bytes().chunks(8).map(byte));
        }
        Type::TID => {
            let (block, place) = names::tid_key(value);
            out.extend_from_slice(&block.to_be_bytes());
            out.extend_from_slice(&place.to_be_bytes());
        }
        Type::PG_LSN => out.extend_from_slice(&names::lsn_key(value).to_be_bytes()),
        Type::HSTORE => {
            let pairs = Pairs::parse(value).unwrap_or_default();
            out.extend_from_slice(&(pairs.len() as i32).to_be_bytes());
            for part in pairs.iter().flat_map(|(key, value)| [Some(key), value]) {
                out.extend_from_slice(&part.map_or(-1, |part| part.len() as i32).to_be_bytes());
                out.extend_from_slice(part.unwrap_or_default().as_bytes());
            }
        }
        _ => out.extend_from_slice(value.as_bytes()),
    }
}

fn array_into(out: &mut Vec<u8>, value: &ArrayValue, env: &dyn Env) -> Result<()> {
    let dimensions = if value.items.is_empty() { &[][..] } else { &value.dimensions[..] };
    out.extend_from_slice(&(dimensions.len() as i32).to_be_bytes());
    out.extend_from_slice(&i32::from(value.items.iter().any(Datum::is_null)).to_be_bytes());
    out.extend_from_slice(&value.element.0.to_be_bytes());
    for (length, lower) in dimensions {
        out.extend_from_slice(&(*length as i32).to_be_bytes());
        out.extend_from_slice(&lower.to_be_bytes());
    }
    value.items.iter().try_for_each(|item| item_into(out, item, value.element, env))
}

fn record_into(out: &mut Vec<u8>, value: &RecordValue, env: &dyn Env) -> Result<()> {
    out.extend_from_slice(&(value.fields.len() as i32).to_be_bytes());
    for (field, (_, typed)) in value.fields.iter().zip(&value.shape.fields) {
        out.extend_from_slice(&typed.ty.0.to_be_bytes());
        item_into(out, field, typed.ty, env)?;
    }
    Ok(())
}

/// A value after its length; -1 is NULL.
fn item_into(out: &mut Vec<u8>, item: &Datum, ty: Type, env: &dyn Env) -> Result<()> {
    if item.is_null() {
        out.extend_from_slice(&(-1i32).to_be_bytes());
        return Ok(());
    }
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    output_into(out, item, ty, env)?;
    let length = i32::try_from(out.len() - start - 4)
        .map_err(|_| SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "value is too large for the wire"))?;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    Ok(())
}
