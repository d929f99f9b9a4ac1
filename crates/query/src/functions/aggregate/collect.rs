//! string_agg and array_agg.

use std::sync::Arc;

use crate::error::{Result, SqlError, SqlState};
use crate::functions::aggregate::basic::argument;
use crate::functions::args::Args;
use crate::functions::define::aggregate;
use crate::functions::{Accumulator, Env, Function, Site};
use crate::types::{ArrayValue, Datum, Type as T};

/// The aggregates. They see NULLs: string_agg skips them, array_agg keeps them.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    aggregate("string_agg", &[T::TEXT, T::TEXT], T::TEXT, |_| Box::new(Texts(None))).with_nulls(),
    aggregate("string_agg", &[T::BYTEA, T::BYTEA], T::BYTEA, |_| Box::new(Bytes(None))).with_nulls(),
    aggregate("array_agg", &[T::ANYNONARRAY], T::ANYARRAY, items).with_nulls(),
    aggregate("array_agg", &[T::ANYARRAY], T::ANYARRAY, |_| Box::new(Arrays(Vec::new()))).with_nulls(),
];

struct Texts(Option<String>);

impl Accumulator for Texts {
    fn keeps(&self) -> bool {
        true
    }

    fn add(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<()> {
        if args.at(0).is_null() {
            return Ok(());
        }
        match &mut self.0 {
            None => self.0 = Some(args.text(0)?.to_owned()),
            Some(text) => {
                if !args.at(1).is_null() {
                    text.push_str(args.text(1)?);
                }
                text.push_str(args.text(0)?);
            }
        }
        Ok(())
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        Ok(self.0.as_ref().map_or(Datum::Null, Datum::text))
    }
}

struct Bytes(Option<Vec<u8>>);

impl Accumulator for Bytes {
    fn keeps(&self) -> bool {
        true
    }

    fn add(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<()> {
        if args.at(0).is_null() {
            return Ok(());
        }
        match &mut self.0 {
            None => self.0 = Some(args.bytes(0)?.to_owned()),
            Some(bytes) => {
                if !args.at(1).is_null() {
                    bytes.extend_from_slice(args.bytes(1)?);
                }
                bytes.extend_from_slice(args.bytes(0)?);
            }
        }
        Ok(())
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        Ok(self.0.as_ref().map_or(Datum::Null, |bytes| Datum::Bytes(bytes.as_slice().into())))
    }
}

fn items(site: &Site<'_>) -> Box<dyn Accumulator> {
    Box::new(Items { element: argument(site, 0), items: Vec::new() })
}

struct Items {
    element: T,
    items: Vec<Datum>,
}

impl Accumulator for Items {
    fn keeps(&self) -> bool {
        true
    }

    fn add(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<()> {
        self.items.push(args.at(0).clone());
        Ok(())
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        if self.items.is_empty() {
            return Ok(Datum::Null);
        }
        Ok(Datum::array(self.element, self.items.clone()))
    }
}

/// Arrays of one shape become an array with one more dimension.
struct Arrays(Vec<Arc<ArrayValue>>);

impl Accumulator for Arrays {
    fn keeps(&self) -> bool {
        true
    }

    fn add(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<()> {
        if args.at(0).is_null() {
            return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "cannot accumulate null arrays"));
        }
        let next = args.array(0)?;
        if next.items.is_empty() {
            return Err(SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, "cannot accumulate empty arrays"));
        }
        if self.0.first().is_some_and(|first| first.dimensions != next.dimensions) {
            let message = "cannot accumulate arrays of different dimensionality";
            return Err(SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message));
        }
        self.0.push(next.clone());
        Ok(())
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        let Some(first) = self.0.first() else { return Ok(Datum::Null) };
        let mut dimensions = vec![(self.0.len(), 1)];
        dimensions.extend(&first.dimensions);
        let items = self.0.iter().flat_map(|array| array.items.iter().cloned()).collect();
        Ok(Datum::Array(Arc::new(ArrayValue { element: first.element, dimensions, items })))
    }
}
