//! stddev and variance: exact numbers by their sums, floats by updating the sum of squared deviations (Youngs, Cramer).

use crate::error::Result;
use crate::functions::args::Args;
use crate::functions::define::aggregate;
use crate::functions::numeric::exact;
use crate::functions::{Accumulator, Env, Function};
use crate::types::numeric::Numeric;
use crate::types::{Datum, Type as T};

/// Which of the four it is.
#[derive(Clone, Copy)]
struct Kind {
    /// Of a sample rather than of the whole population.
    sample: bool,
    /// The square root of the variance.
    root: bool,
}

const VAR_POP: Kind = Kind { sample: false, root: false };
const VAR_SAMP: Kind = Kind { sample: true, root: false };
const STDDEV_POP: Kind = Kind { sample: false, root: true };
const STDDEV_SAMP: Kind = Kind { sample: true, root: true };

macro_rules! spreads {
    ($($name:literal $kind:ident,)*) => {
        &[$(
            aggregate($name, &[T::INT2], T::NUMERIC, |_| Exact::new($kind)),
            aggregate($name, &[T::INT4], T::NUMERIC, |_| Exact::new($kind)),
            aggregate($name, &[T::INT8], T::NUMERIC, |_| Exact::new($kind)),
            aggregate($name, &[T::NUMERIC], T::NUMERIC, |_| Exact::new($kind)),
            aggregate($name, &[T::FLOAT4], T::FLOAT8, |_| Float::new($kind)),
            aggregate($name, &[T::FLOAT8], T::FLOAT8, |_| Float::new($kind)),
        )*]
    };
}

/// The aggregates.
pub(in crate::functions) static FUNCTIONS: &[Function] = spreads! {
    "var_pop" VAR_POP, "var_samp" VAR_SAMP, "variance" VAR_SAMP,
    "stddev_pop" STDDEV_POP, "stddev_samp" STDDEV_SAMP, "stddev" STDDEV_SAMP,
};

struct Exact {
    kind: Kind,
    count: i64,
    sum: Numeric,
    squares: Numeric,
}

impl Exact {
    fn new(kind: Kind) -> Box<dyn Accumulator> {
        Box::new(Exact { kind, count: 0, sum: Numeric::ZERO, squares: Numeric::ZERO })
    }
}

impl Accumulator for Exact {
    fn add(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<()> {
        let from_integer;
        let next = match args.at(0) {
            Datum::Int(value) => {
                from_integer = Numeric::from(*value);
                &from_integer
            }
            _ => args.numeric(0)?,
        };
        self.sum = self.sum.add(next)?;
        self.squares = self.squares.add(&next.multiply(next)?)?;
        self.count += 1;
        Ok(())
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        let needed = if self.kind.sample { 2 } else { 1 };
        if self.count < needed {
            return Ok(Datum::Null);
        }
        if !self.sum.is_finite() {
            return Ok(exact(Numeric::NAN));
        }
        let count = Numeric::from(self.count);
        let deviation = count.multiply(&self.squares)?.subtract(&self.sum.multiply(&self.sum)?)?;
        if deviation <= Numeric::ZERO {
            return Ok(exact(Numeric::ZERO));
        }
        let over = count.multiply(&Numeric::from(self.count - i64::from(self.kind.sample)))?;
        let variance = deviation.divide(&over)?;
        Ok(exact(if self.kind.root { variance.root_of_scale()? } else { variance }))
    }
}

struct Float {
    kind: Kind,
    count: f64,
    sum: f64,
    deviation: f64,
}

impl Float {
    fn new(kind: Kind) -> Box<dyn Accumulator> {
        Box::new(Float { kind, count: 0.0, sum: 0.0, deviation: 0.0 })
    }
}

impl Accumulator for Float {
    fn add(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<()> {
        let next = args.float(0)?;
        self.count += 1.0;
        self.sum += next;
        if self.count > 1.0 {
            let off = next * self.count - self.sum;
            self.deviation += off * off / (self.count * (self.count - 1.0));
        }
        if !next.is_finite() {
            self.deviation = f64::NAN;
        }
        Ok(())
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        let over = if self.kind.sample { self.count - 1.0 } else { self.count };
        if over <= 0.0 {
            return Ok(Datum::Null);
        }
        let variance = self.deviation / over;
        Ok(Datum::Float(if self.kind.root { variance.sqrt() } else { variance }))
    }
}
