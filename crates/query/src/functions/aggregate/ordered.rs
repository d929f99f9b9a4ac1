//! Aggregates WITHIN GROUP: percentiles and the most frequent value. Rows come in order.

use std::sync::Arc;

use crate::error::{Result, SqlError, SqlState};
use crate::functions::aggregate::basic::argument;
use crate::functions::args::Args;
use crate::functions::define::ordered_set;
use crate::functions::{Accumulator, Env, Function, Site};
use crate::types::compare::equal;
use crate::types::datetime::arithmetic::{interval_minus, interval_plus, interval_times};
use crate::types::{ArrayValue, Datum, Type as T};

/// The aggregates.
pub(in crate::functions) static FUNCTIONS: &[Function] = &[
    ordered_set("percentile_cont", &[T::FLOAT8, T::FLOAT8], T::FLOAT8, 1, continuous),
    ordered_set("percentile_cont", &[T::FLOAT8_ARRAY, T::FLOAT8], T::FLOAT8_ARRAY, 1, continuous),
    ordered_set("percentile_cont", &[T::FLOAT8, T::INTERVAL], T::INTERVAL, 1, continuous),
    ordered_set("percentile_cont", &[T::FLOAT8_ARRAY, T::INTERVAL], T::INTERVAL_ARRAY, 1, continuous),
    ordered_set("percentile_disc", &[T::FLOAT8, T::ANYELEMENT], T::ANYELEMENT, 1, discrete),
    ordered_set("percentile_disc", &[T::FLOAT8_ARRAY, T::ANYELEMENT], T::ANYARRAY, 1, discrete),
    ordered_set("mode", &[T::ANYELEMENT], T::ANYELEMENT, 0, mode),
];

fn continuous(site: &Site<'_>) -> Box<dyn Accumulator> {
    Box::new(Percentile { at: Datum::Null, values: Vec::new(), element: argument(site, 1), between: true })
}

fn discrete(site: &Site<'_>) -> Box<dyn Accumulator> {
    Box::new(Percentile { at: Datum::Null, values: Vec::new(), element: argument(site, 1), between: false })
}

struct Percentile {
    /// The fraction, or an array of fractions.
    at: Datum,
    values: Vec<Datum>,
    element: T,
    /// Between two values there are others.
    between: bool,
}

impl Accumulator for Percentile {
    fn add(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<()> {
        self.at = args.at(0).clone();
        if !args.at(1).is_null() {
            self.values.push(args.at(1).clone());
        }
        Ok(())
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        match &self.at {
            _ if self.values.is_empty() => Ok(Datum::Null),
            Datum::Float(fraction) => self.value(*fraction),
            Datum::Array(fractions) => {
                let items = fractions.items.iter().map(|fraction| match fraction {
                    Datum::Float(fraction) => self.value(*fraction),
                    _ => Ok(Datum::Null),
                });
                let items = items.collect::<Result<Vec<_>>>()?;
                let dimensions = fractions.dimensions.clone();
                Ok(Datum::Array(Arc::new(ArrayValue { element: self.element, dimensions, items })))
            }
            _ => Ok(Datum::Null),
        }
    }
}

impl Percentile {
    fn value(&self, fraction: f64) -> Result<Datum> {
        if !(0.0..=1.0).contains(&fraction) {
            let message = format!("percentile value {fraction} is not between 0 and 1");
            return Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, message));
        }
        let count = self.values.len();
        if !self.between {
            let place = (fraction * count as f64).ceil() as usize;
            return Ok(self.values[place.clamp(1, count) - 1].clone());
        }
        let place = fraction * (count - 1) as f64;
        let (below, above) = (&self.values[place.floor() as usize], &self.values[place.ceil() as usize]);
        let share = place - place.floor();
        match (below, above) {
            (Datum::Interval(below), Datum::Interval(above)) => {
                let way = interval_times(&interval_minus(above, below)?, share)?;
                interval_plus(below, &way).map(Datum::Interval)
            }
            (Datum::Float(below), Datum::Float(above)) => Ok(Datum::Float(below + (above - below) * share)),
            _ => Ok(below.clone()),
        }
    }
}

fn mode(site: &Site<'_>) -> Box<dyn Accumulator> {
    Box::new(Mode { ty: argument(site, 0), last: Datum::Null, run: 0, best: Datum::Null, longest: 0 })
}

/// The value with the longest run; the first of them.
struct Mode {
    ty: T,
    last: Datum,
    run: u64,
    best: Datum,
    longest: u64,
}

impl Accumulator for Mode {
    fn add(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<()> {
        let next = args.at(0);
        if next.is_null() {
            return Ok(());
        }
        self.run = if !self.last.is_null() && equal(&self.last, next, self.ty) { self.run + 1 } else { 1 };
        self.last = next.clone();
        if self.run > self.longest {
            self.longest = self.run;
            self.best = next.clone();
        }
        Ok(())
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        Ok(self.best.clone())
    }
}
