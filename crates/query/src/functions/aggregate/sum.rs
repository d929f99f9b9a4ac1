//! sum and avg: whole numbers and exact ones exactly, floats one after the other.

use crate::error::Result;
use crate::functions::args::{Args, out_of_range};
use crate::functions::arithmetic::{fit, float_result};
use crate::functions::define::aggregate;
use crate::functions::numeric::exact;
use crate::functions::{Accumulator, Env, Function, Site};
use crate::types::datetime::arithmetic::{interval_divided, interval_plus};
use crate::types::numeric::Numeric;
use crate::types::{Datum, Interval, Type as T};

/// The aggregates.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    aggregate("sum", &[T::INT2], T::INT8, whole_sum),
    aggregate("sum", &[T::INT4], T::INT8, whole_sum),
    aggregate("sum", &[T::INT8], T::NUMERIC, whole_sum),
    aggregate("sum", &[T::MONEY], T::MONEY, whole_sum),
    aggregate("sum", &[T::NUMERIC], T::NUMERIC, |_| Box::new(Exact { sum: None, count: 0, average: false })),
    aggregate("sum", &[T::FLOAT4], T::FLOAT4, float_sum),
    aggregate("sum", &[T::FLOAT8], T::FLOAT8, float_sum),
    aggregate("sum", &[T::INTERVAL], T::INTERVAL, |_| Box::new(Spans { sum: None, count: 0, average: false })),
    aggregate("avg", &[T::INTERVAL], T::INTERVAL, |_| Box::new(Spans { sum: None, count: 0, average: true })),
    aggregate("avg", &[T::INT2], T::NUMERIC, whole_average),
    aggregate("avg", &[T::INT4], T::NUMERIC, whole_average),
    aggregate("avg", &[T::INT8], T::NUMERIC, whole_average),
    aggregate("avg", &[T::NUMERIC], T::NUMERIC, |_| Box::new(Exact { sum: None, count: 0, average: true })),
    aggregate("avg", &[T::FLOAT4], T::FLOAT8, float_average),
    aggregate("avg", &[T::FLOAT8], T::FLOAT8, float_average),
];

fn whole_sum(site: &Site<'_>) -> Box<dyn Accumulator> {
    Box::new(Whole { sum: 0, count: 0, returns: site.returns.ty, average: false })
}

fn whole_average(site: &Site<'_>) -> Box<dyn Accumulator> {
    Box::new(Whole { sum: 0, count: 0, returns: site.returns.ty, average: true })
}

fn float_sum(site: &Site<'_>) -> Box<dyn Accumulator> {
    Box::new(Float { sum: 0.0, count: 0, finite: true, returns: site.returns.ty, average: false })
}

fn float_average(_: &Site<'_>) -> Box<dyn Accumulator> {
    Box::new(Float { sum: 0.0, count: 0, finite: true, returns: T::FLOAT8, average: true })
}

/// Integers: no sum of rows that fit in memory leaves 128 bits.
struct Whole {
    sum: i128,
    count: i64,
    returns: T,
    average: bool,
}

impl Accumulator for Whole {
    fn add(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<()> {
        self.sum += i128::from(args.int(0)?);
        self.count += 1;
        Ok(())
    }

    fn remove(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<bool> {
        self.sum -= i128::from(args.int(0)?);
        self.count -= 1;
        Ok(true)
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        if self.count == 0 {
            return Ok(Datum::Null);
        }
        if self.average {
            return Numeric::scaled(self.sum, 0).divide(&Numeric::from(self.count)).map(exact);
        }
        match self.returns {
            T::NUMERIC => Ok(exact(Numeric::scaled(self.sum, 0))),
            returns => fit(self.sum, returns),
        }
    }
}

struct Exact {
    sum: Option<Numeric>,
    count: i64,
    average: bool,
}

impl Accumulator for Exact {
    fn add(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<()> {
        let next = args.numeric(0)?;
        self.sum = Some(match &self.sum {
            Some(sum) => sum.add(next)?,
            None => next.clone(),
        });
        self.count += 1;
        Ok(())
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        match &self.sum {
            None => Ok(Datum::Null),
            Some(sum) if self.average => sum.divide(&Numeric::from(self.count)).map(exact),
            Some(sum) => Ok(exact(sum.clone())),
        }
    }
}

struct Float {
    sum: f64,
    count: i64,
    /// No infinite value was added, so the sum must not be infinite.
    finite: bool,
    returns: T,
    average: bool,
}

impl Accumulator for Float {
    fn add(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<()> {
        let next = args.float(0)?;
        self.finite &= next.is_finite();
        let sum = if self.count == 0 { next } else { self.sum + next };
        let Datum::Float(sum) = float_result(sum, self.returns, self.finite, true)? else {
            return Err(out_of_range("double precision"));
        };
        self.sum = sum;
        self.count += 1;
        Ok(())
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        Ok(match self.count {
            0 => Datum::Null,
            count if self.average => Datum::Float(self.sum / count as f64),
            _ => Datum::Float(self.sum),
        })
    }
}

struct Spans {
    sum: Option<Interval>,
    count: i64,
    average: bool,
}

impl Accumulator for Spans {
    fn add(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<()> {
        let next = args.interval(0)?;
        self.sum = Some(match &self.sum {
            Some(sum) => interval_plus(sum, &next)?,
            None => next,
        });
        self.count += 1;
        Ok(())
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        match self.sum {
            None => Ok(Datum::Null),
            Some(sum) if self.average => interval_divided(&sum, self.count as f64).map(Datum::Interval),
            Some(sum) => Ok(Datum::Interval(sum)),
        }
    }
}
