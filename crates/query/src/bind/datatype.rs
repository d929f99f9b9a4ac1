//! Types as SQL writes them.

use crate::parse::ast::{DataType, ObjectName};

use crate::bind::Binder;
use crate::bind::names::qualified;
use crate::error::{Result, SqlError, SqlState};
use crate::types::{Type, Typed, kind, modifier, names};

impl Binder<'_> {
    /// The type that a syntax tree names.
    pub fn data_type(&self, ty: &DataType) -> Result<Typed> {
        let plain = match ty {
            DataType::Integer => Type::INT4,
            DataType::BigInt => Type::INT8,
            DataType::SmallInt => Type::INT2,
            DataType::Boolean => Type::BOOL,
            DataType::Real => Type::FLOAT4,
            DataType::DoublePrecision | DataType::Float(None) => Type::FLOAT8,
            DataType::Float(Some(bits)) => return names::float(number(*bits)),
            DataType::Numeric(None) => Type::NUMERIC,
            DataType::Numeric(Some((precision, None))) => {
                return modifier::apply(Type::NUMERIC, &[number(*precision)]);
            }
            DataType::Numeric(Some((precision, Some(scale)))) => {
                return modifier::apply(Type::NUMERIC, &[number(*precision), *scale]);
            }
            DataType::Varchar(None) => Type::VARCHAR,
            DataType::Varchar(Some(length)) => return modifier::apply(Type::VARCHAR, &[number(*length)]),
            DataType::Character(length) => return modifier::apply(Type::BPCHAR, &[number(length.unwrap_or(1))]),
            DataType::Timestamp { precision, with_zone } => {
                return timed(*precision, if *with_zone { Type::TIMESTAMPTZ } else { Type::TIMESTAMP });
            }
            DataType::Time { precision, with_zone } => {
                return timed(*precision, if *with_zone { Type::TIMETZ } else { Type::TIME });
            }
            DataType::Interval { fields: None, precision: None } => Type::INTERVAL,
            DataType::Array(of, _) => return self.array_type(of),
            DataType::Custom(name, numbers) => return self.named_type(name, numbers),
            other => return names::parse(&other.to_string(), self.env),
        };
        Ok(plain.into())
    }

    fn array_type(&self, of: &DataType) -> Result<Typed> {
        let element = self.data_type(of)?;
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
        let qualified = qualified(name, self.database())?;
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

fn timed(precision: Option<u64>, ty: Type) -> Result<Typed> {
    match precision {
        Some(precision) => modifier::apply(ty, &[number(precision)]),
        None => Ok(ty.into()),
    }
}

fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
