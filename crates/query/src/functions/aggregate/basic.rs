//! Counting, truth and bits.

use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::define::aggregate;
use crate::functions::{Accumulator, Env, Function, Site};
use crate::types::{Datum, Type as T};

/// The aggregates. `count(*)` has no argument.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    aggregate("count", &[], T::INT8, |_| Box::new(Count(0))),
    aggregate("count", &[T::ANY], T::INT8, |_| Box::new(Count(0))),
    aggregate("bool_and", &[T::BOOL], T::BOOL, |_| Box::new(Truth { seen: [0; 2], all: true })),
    aggregate("every", &[T::BOOL], T::BOOL, |_| Box::new(Truth { seen: [0; 2], all: true })),
    aggregate("bool_or", &[T::BOOL], T::BOOL, |_| Box::new(Truth { seen: [0; 2], all: false })),
    aggregate("bit_and", &[T::INT2], T::INT2, |_| Bits::new(|a, b| a & b)),
    aggregate("bit_and", &[T::INT4], T::INT4, |_| Bits::new(|a, b| a & b)),
    aggregate("bit_and", &[T::INT8], T::INT8, |_| Bits::new(|a, b| a & b)),
    aggregate("bit_or", &[T::INT2], T::INT2, |_| Bits::new(|a, b| a | b)),
    aggregate("bit_or", &[T::INT4], T::INT4, |_| Bits::new(|a, b| a | b)),
    aggregate("bit_or", &[T::INT8], T::INT8, |_| Bits::new(|a, b| a | b)),
    aggregate("bit_xor", &[T::INT2], T::INT2, |_| Bits::new(|a, b| a ^ b)),
    aggregate("bit_xor", &[T::INT4], T::INT4, |_| Bits::new(|a, b| a ^ b)),
    aggregate("bit_xor", &[T::INT8], T::INT8, |_| Bits::new(|a, b| a ^ b)),
];

/// How many rows.
pub(super) struct Count(pub i64);

impl Accumulator for Count {
    fn add(&mut self, _: &mut dyn Env, _: &[Datum]) -> Result<()> {
        self.0 += 1;
        Ok(())
    }

    fn remove(&mut self, _: &mut dyn Env, _: &[Datum]) -> Result<bool> {
        self.0 -= 1;
        Ok(true)
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        Ok(Datum::Int(self.0))
    }
}

/// How many values were false, and how many true.
struct Truth {
    seen: [u64; 2],
    all: bool,
}

impl Accumulator for Truth {
    fn add(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<()> {
        self.seen[usize::from(args.bool(0)?)] += 1;
        Ok(())
    }

    fn remove(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<bool> {
        self.seen[usize::from(args.bool(0)?)] -= 1;
        Ok(true)
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        Ok(match self.seen {
            [0, 0] => Datum::Null,
            [no, yes] => Datum::Bool(if self.all { no == 0 } else { yes > 0 }),
        })
    }
}

struct Bits {
    value: Option<i64>,
    combine: fn(i64, i64) -> i64,
}

impl Bits {
    fn new(combine: fn(i64, i64) -> i64) -> Box<dyn Accumulator> {
        Box::new(Bits { value: None, combine })
    }
}

impl Accumulator for Bits {
    fn add(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<()> {
        let next = args.int(0)?;
        self.value = Some(self.value.map_or(next, |value| (self.combine)(value, next)));
        Ok(())
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        Ok(self.value.map_or(Datum::Null, Datum::Int))
    }
}

/// The type of an aggregate's argument.
pub(super) fn argument(site: &Site<'_>, index: usize) -> T {
    site.args.get(index).map_or(T::UNKNOWN, |typed| typed.ty)
}
