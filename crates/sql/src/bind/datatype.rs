//! Types as SQL writes them.

use crate::parse::ast::{ArrayElemTypeDef, CharacterLength, DataType, ExactNumberInfo, ObjectName, TimezoneInfo};

use crate::bind::Binder;
use crate::bind::names::qualified;
use crate::error::{Result, SqlError, SqlState};
use crate::types::{Type, Typed, kind, modifier, names};

impl Binder<'_> {
    /// The type that a syntax tree names.
    pub fn data_type(&self, ty: &DataType) -> Result<Typed> {
        let plain = match ty {
            DataType::Text => Type::TEXT,
            DataType::Int(None) | DataType::Integer(None) | DataType::Int4(None) => Type::INT4,
            DataType::BigInt(None) | DataType::Int8(None) => Type::INT8,
            DataType::SmallInt(None) | DataType::Int2(None) => Type::INT2,
            DataType::Bool | DataType::Boolean => Type::BOOL,
            DataType::Real | DataType::Float4 => Type::FLOAT4,
            DataType::DoublePrecision | DataType::Float8 => Type::FLOAT8,
            DataType::Date => Type::DATE,
            DataType::Uuid => Type::UUID,
            DataType::JSON => Type::JSON,
            DataType::JSONB => Type::JSONB,
            DataType::Bytea => Type::BYTEA,
            DataType::Regclass => Type::REGCLASS,
            DataType::TsVector => Type::TSVECTOR,
            DataType::TsQuery => Type::TSQUERY,
            DataType::Trigger => Type::TRIGGER,
            DataType::Varchar(length) | DataType::CharacterVarying(length) | DataType::CharVarying(length) => {
                return with_length(Type::VARCHAR, length.as_ref());
            }
            DataType::Character(length) | DataType::Char(length) => {
                let one = CharacterLength::IntegerLength { length: 1, unit: None };
                return with_length(Type::BPCHAR, Some(length.as_ref().unwrap_or(&one)));
            }
            DataType::Numeric(info) | DataType::Decimal(info) | DataType::Dec(info) => return numeric(info),
            DataType::Float(ExactNumberInfo::None) => Type::FLOAT8,
            DataType::Float(ExactNumberInfo::Precision(bits)) => {
                return names::float(i64::try_from(*bits).unwrap_or(0));
            }
            DataType::Timestamp(precision, zone) => {
                return timed(*precision, zone, Type::TIMESTAMP, Type::TIMESTAMPTZ);
            }
            DataType::Time(precision, zone) => return timed(*precision, zone, Type::TIME, Type::TIMETZ),
            DataType::Interval { fields: None, precision: None } => Type::INTERVAL,
            DataType::Array(of) => return self.array_type(of),
            DataType::Custom(name, numbers) => return self.named_type(name, numbers),
            other => return names::parse(&other.to_string(), self.env),
        };
        Ok(plain.into())
    }

    fn array_type(&self, of: &ArrayElemTypeDef) -> Result<Typed> {
        let element = match of {
            ArrayElemTypeDef::AngleBracket(of)
            | ArrayElemTypeDef::SquareBracket(of, _)
            | ArrayElemTypeDef::Parenthesis(of)
            | ArrayElemTypeDef::Qualified(of, _) => self.data_type(of)?,
            ArrayElemTypeDef::None => return Err(SqlError::unsupported("an array without element type")),
        };
        // `int[][]` is the same type as `int[]`.
        if kind::element(element.ty, self.catalog).is_some() {
            return Ok(element);
        }
        Ok(Typed { ty: self.array_over(element.ty)?, modifier: element.modifier })
    }

    /// The array type over a type.
    pub(super) fn array_over(&self, element: Type) -> Result<Type> {
        kind::array_of(element, self.catalog).ok_or_else(|| {
            let message = format!("could not find array type for data type {}", self.type_name(element));
            SqlError::new(SqlState::UNDEFINED_OBJECT, message)
        })
    }

    fn named_type(&self, name: &ObjectName, numbers: &[String]) -> Result<Typed> {
        let qualified = qualified(name)?;
        if qualified.schema.is_none()
            && numbers.is_empty()
            && let Some(ty) = names::lookup(&qualified.name)
        {
            return match ty {
                // Unquoted `char` is character(1); the quoted one is another type.
                Type::BPCHAR if &*qualified.name == "char" => Ok(Type::CHAR_INTERNAL.into()),
                ty => Ok(ty.into()),
            };
        }
        let temporary = qualified.schema.as_deref().filter(|name| *name == "pg_temp");
        let temporary = temporary.and_then(|name| self.schema(name).ok()).map(|schema| &*schema.name);
        let found = names::find(temporary.or(qualified.schema.as_deref()), &qualified.name, self.env);
        let sql = || qualified.schema.as_deref().filter(|schema| *schema != "pg_catalog").is_none();
        let found = found.or_else(|| sql().then(|| names::lookup(&qualified.name)).flatten());
        let Some(ty) = found else {
            let message = format!("type \"{}\" does not exist", qualified.display());
            return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
        };
        let numbers: Option<Vec<i64>> = numbers.iter().map(|number| number.trim().parse().ok()).collect();
        modifier::apply(ty, &numbers.ok_or_else(|| SqlError::syntax("type modifiers must be simple constants"))?)
    }

    /// A type's name as messages show it.
    pub(super) fn type_name(&self, ty: Type) -> String {
        names::display(ty, self.catalog)
    }
}

fn with_length(ty: Type, length: Option<&CharacterLength>) -> Result<Typed> {
    match length {
        None => Ok(ty.into()),
        Some(CharacterLength::IntegerLength { length, .. }) => modifier::apply(ty, &[number(*length)]),
        Some(CharacterLength::Max) => Err(SqlError::unsupported("varchar(max)")),
    }
}

fn numeric(info: &ExactNumberInfo) -> Result<Typed> {
    match info {
        ExactNumberInfo::None => Ok(Type::NUMERIC.into()),
        ExactNumberInfo::Precision(precision) => modifier::apply(Type::NUMERIC, &[number(*precision)]),
        ExactNumberInfo::PrecisionAndScale(precision, scale) => {
            modifier::apply(Type::NUMERIC, &[number(*precision), *scale])
        }
    }
}

fn timed(precision: Option<u64>, zone: &TimezoneInfo, without: Type, with: Type) -> Result<Typed> {
    let ty = match zone {
        TimezoneInfo::WithTimeZone | TimezoneInfo::Tz => with,
        TimezoneInfo::None | TimezoneInfo::WithoutTimeZone => without,
    };
    match precision {
        Some(precision) => modifier::apply(ty, &[number(precision)]),
        None => Ok(ty.into()),
    }
}

fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
