//! min and max.

use std::cmp::Ordering;

use crate::error::Result;
use crate::functions::aggregate::basic::argument;
use crate::functions::args::Args;
use crate::functions::define::aggregate;
use crate::functions::{Accumulator, Env, Function, Site};
use crate::types::compare::compare;
use crate::types::{Datum, Type as T};

macro_rules! extremes {
    ($($ty:ident,)*) => {
        &[$(aggregate("max", &[T::$ty], T::$ty, maximum), aggregate("min", &[T::$ty], T::$ty, minimum),)*]
    };
}

/// The aggregates, for the types that PostgreSQL has them for.
pub(in crate::functions) static FUNCTIONS: &[Function] = extremes! {
    INT2, INT4, INT8, OID, FLOAT4, FLOAT8, NUMERIC, MONEY, TEXT, BPCHAR, INET, TID, PG_LSN,
    DATE, TIME, TIMETZ, TIMESTAMP, TIMESTAMPTZ, INTERVAL, ANYARRAY, ANYENUM,
};

pub(in crate::functions) fn maximum(site: &Site<'_>) -> Box<dyn Accumulator> {
    Box::new(Extreme { value: Datum::Null, ty: argument(site, 0), wanted: Ordering::Greater })
}

pub(in crate::functions) fn minimum(site: &Site<'_>) -> Box<dyn Accumulator> {
    Box::new(Extreme { value: Datum::Null, ty: argument(site, 0), wanted: Ordering::Less })
}

struct Extreme {
    value: Datum,
    ty: T,
    /// How a value compares that takes the place of the one before.
    wanted: Ordering,
}

impl Accumulator for Extreme {
    fn add(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<()> {
        let next = args.at(0);
        if self.value.is_null() || compare(next, &self.value, self.ty) == self.wanted {
            self.value = next.clone();
        }
        Ok(())
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        Ok(self.value.clone())
    }
}
