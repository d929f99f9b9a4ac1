//! Names of types, in casts, columns and signatures.

use crate::parse::ast::{DataType, Ident, IntervalFields};

use crate::error::Result;
use crate::parse::cursor::Cursor;
use crate::parse::ddl::TypeName;
use crate::parse::keywords::Keyword as K;
use crate::parse::token::Kind;

impl Cursor<'_> {
    /// A type, with the brackets of an array.
    pub(crate) fn data_type(&mut self) -> Result<DataType> {
        let simple = self.simple_type()?;
        self.array_bounds(simple)
    }

    /// A type of a signature or a variable.
    pub fn type_name(&mut self) -> Result<TypeName> {
        let set = self.accept_word(K::Setof);
        let one = self.one_type()?;
        Ok(if set { TypeName::SetOf(Box::new(one)) } else { one })
    }

    fn one_type(&mut self) -> Result<TypeName> {
        if let Some(copied) = self.copied_type()? {
            return Ok(copied);
        }
        Ok(TypeName::Plain(self.data_type()?))
    }

    /// `name%TYPE`, `name%ROWTYPE`, if that is what follows.
    fn copied_type(&mut self) -> Result<Option<TypeName>> {
        let mark = self.mark();
        if !matches!(self.kind(), Kind::Quoted | Kind::UnicodeQuoted | Kind::Word(_)) {
            return Ok(None);
        }
        let first = self.take_ident()?;
        if let Ok(name) = self.qualified(first)
            && self.accept(Kind::Percent)
        {
            if self.accept_word(K::Type) {
                return Ok(Some(TypeName::TypeOf(name)));
            }
            if self.accept_text("rowtype") {
                return Ok(Some(TypeName::RowTypeOf(name)));
            }
        }
        self.back_to(mark);
        Ok(None)
    }

    fn array_bounds(&mut self, element: DataType) -> Result<DataType> {
        let mut data_type = element;
        if self.accept_word(K::Array) {
            let mut size = None;
            if self.accept(Kind::LeftBracket) {
                size = Some(self.length()?);
                self.expect(Kind::RightBracket)?;
            }
            return Ok(DataType::Array(Box::new(data_type), size));
        }
        while self.accept(Kind::LeftBracket) {
            let size = if self.kind() == Kind::Integer { Some(self.length()?) } else { None };
            self.expect(Kind::RightBracket)?;
            data_type = DataType::Array(Box::new(data_type), size);
        }
        Ok(data_type)
    }

    /// A type without array brackets.
    pub(crate) fn simple_type(&mut self) -> Result<DataType> {
        if let Some(known) = self.keyword_type()? {
            return Ok(known);
        }
        let first = self.function_name()?;
        self.generic_type(first)
    }

    /// A type whose first word has been taken.
    pub(crate) fn generic_type(&mut self, first: Ident) -> Result<DataType> {
        let name = self.qualified(first)?;
        let mut modifiers = Vec::new();
        if self.accept(Kind::LeftParen) {
            modifiers = self.list(|cursor| {
                let mark = cursor.mark();
                cursor.expr()?;
                Ok(cursor.text_since(mark).to_owned())
            })?;
            self.expect(Kind::RightParen)?;
        }
        Ok(DataType::Custom(name, modifiers))
    }

    /// A type that begins with a keyword and has a grammar of its own.
    pub(crate) fn keyword_type(&mut self) -> Result<Option<DataType>> {
        let keyword = self.keyword();
        let simple = match keyword {
            K::Int | K::Integer => DataType::Integer,
            K::Smallint => DataType::SmallInt,
            K::Bigint => DataType::BigInt,
            K::Real => DataType::Real,
            K::Boolean => DataType::Boolean,
            K::Double if self.keyword_at(1) == K::Precision => {
                self.take();
                DataType::DoublePrecision
            }
            K::Float
            | K::Dec
            | K::Decimal
            | K::Numeric
            | K::Bit
            | K::Char
            | K::Character
            | K::Nchar
            | K::Varchar
            | K::National
            | K::Time
            | K::Timestamp
            | K::Interval => {
                self.take();
                return self.long_type(keyword).map(Some);
            }
            _ => return Ok(None),
        };
        self.take();
        Ok(Some(simple))
    }

    fn long_type(&mut self, keyword: K) -> Result<DataType> {
        match keyword {
            K::Float => Ok(DataType::Float(self.optional_length()?)),
            K::Dec | K::Decimal | K::Numeric => Ok(DataType::Numeric(self.precision_and_scale()?)),
            K::Bit => {
                let varying = self.accept_word(K::Varying);
                let length = self.optional_length()?;
                Ok(if varying { DataType::BitVarying(length) } else { DataType::Bit(length) })
            }
            K::National => {
                if !self.accept_word(K::Character) && !self.accept_word(K::Char) {
                    return Err(self.unexpected());
                }
                self.character_type(false)
            }
            K::Varchar => self.character_type(true),
            K::Char | K::Character | K::Nchar => self.character_type(false),
            K::Time => {
                let precision = self.optional_length()?;
                Ok(DataType::Time { precision, with_zone: self.time_zone()? })
            }
            K::Timestamp => {
                let precision = self.optional_length()?;
                Ok(DataType::Timestamp { precision, with_zone: self.time_zone()? })
            }
            _ => self.interval_type(),
        }
    }

    fn character_type(&mut self, varying: bool) -> Result<DataType> {
        let varying = self.accept_word(K::Varying) || varying;
        let length = self.optional_length()?;
        Ok(if varying { DataType::Varchar(length) } else { DataType::Character(length) })
    }

    /// WITH TIME ZONE, WITHOUT TIME ZONE
    fn time_zone(&mut self) -> Result<bool> {
        // WITH and WITHOUT may begin something else.
        Ok(self.accept_words(&[K::With, K::Time, K::Zone]) || {
            self.accept_words(&[K::Without, K::Time, K::Zone]);
            false
        })
    }

    fn interval_type(&mut self) -> Result<DataType> {
        if let Some(precision) = self.optional_length()? {
            return Ok(DataType::Interval { fields: None, precision: Some(precision) });
        }
        let (fields, precision) = self.interval_fields()?;
        Ok(DataType::Interval { fields, precision })
    }

    /// `YEAR TO MONTH` and the like, with the precision of seconds.
    pub(crate) fn interval_fields(&mut self) -> Result<(Option<IntervalFields>, Option<u64>)> {
        let first = self.keyword();
        let single = match first {
            K::Year => IntervalFields::Year,
            K::Month => IntervalFields::Month,
            K::Day => IntervalFields::Day,
            K::Hour => IntervalFields::Hour,
            K::Minute => IntervalFields::Minute,
            K::Second => IntervalFields::Second,
            _ => return Ok((None, None)),
        };
        self.take();
        if first == K::Second {
            return Ok((Some(single), self.optional_length()?));
        }
        if !self.accept_word(K::To) {
            return Ok((Some(single), None));
        }
        let fields = match (first, self.keyword()) {
            (K::Year, K::Month) => IntervalFields::YearToMonth,
            (K::Day, K::Hour) => IntervalFields::DayToHour,
            (K::Day, K::Minute) => IntervalFields::DayToMinute,
            (K::Day, K::Second) => IntervalFields::DayToSecond,
            (K::Hour, K::Minute) => IntervalFields::HourToMinute,
            (K::Hour, K::Second) => IntervalFields::HourToSecond,
            (K::Minute, K::Second) => IntervalFields::MinuteToSecond,
            _ => return Err(self.unexpected()),
        };
        let seconds = self.keyword() == K::Second;
        self.take();
        Ok((Some(fields), if seconds { self.optional_length()? } else { None }))
    }

    fn precision_and_scale(&mut self) -> Result<Option<(u64, Option<i64>)>> {
        if !self.accept(Kind::LeftParen) {
            return Ok(None);
        }
        let precision = self.length()?;
        let scale = if self.accept(Kind::Comma) { Some(self.signed_integer()?) } else { None };
        self.expect(Kind::RightParen)?;
        Ok(Some((precision, scale)))
    }

    fn optional_length(&mut self) -> Result<Option<u64>> {
        if !self.accept(Kind::LeftParen) {
            return Ok(None);
        }
        let length = self.length()?;
        self.expect(Kind::RightParen)?;
        Ok(Some(length))
    }

    fn length(&mut self) -> Result<u64> {
        let token = self.expect(Kind::Integer)?;
        self.text_of(token).parse().map_err(|_| self.unexpected_at(token))
    }
}
