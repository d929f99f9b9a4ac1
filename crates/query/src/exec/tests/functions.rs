//! Aggregates and set-returning functions that show what they were given.

use crate::error::Result;
use crate::functions::{Accumulator, Env, Function, Site, WindowFunction, define};
use crate::types::{Datum, Type};

/// Its arguments, in the order in which they came: `1,2`. It cannot take any back.
pub(super) static LIST: Function = define::aggregate("list", &[Type::INT4], Type::TEXT, |_| Box::new(List(Vec::new())));
/// The same, NULLs included.
pub(super) static LIST_ALL: Function =
    define::aggregate("list_all", &[Type::INT4], Type::TEXT, |_| Box::new(List(Vec::new()))).with_nulls();
/// The sum, which can take rows back.
pub(super) static SUM: Function = define::aggregate("sum", &[Type::INT4], Type::INT8, |_| Box::new(Sum(0)));
/// How many rows.
pub(super) static COUNT: Function = define::aggregate("count", &[], Type::INT8, |_| Box::new(Count(0)));
/// The numbers from one to the argument.
pub(super) static UP_TO: Function = define::set("up_to", &[Type::INT4], Type::INT4, up_to);

/// The window function with its name.
pub(super) fn window(which: WindowFunction) -> &'static Function {
    Box::leak(Box::new(define::window("window", &[], Type::INT8, which)))
}

fn up_to(_: &mut dyn Env, args: &[Datum], _: &Site<'_>) -> Result<Vec<Vec<Datum>>> {
    let Datum::Int(last) = args[0] else { return Ok(Vec::new()) };
    Ok((1..=last).map(|value| vec![Datum::Int(value)]).collect())
}

struct List(Vec<String>);

impl Accumulator for List {
    fn add(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<()> {
        self.0.push(super::show(args));
        Ok(())
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        Ok(Datum::text(self.0.join(",")))
    }
}

struct Sum(i64);

impl Accumulator for Sum {
    fn add(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<()> {
        if let Datum::Int(value) = args[0] {
            self.0 += value;
        }
        Ok(())
    }

    fn remove(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<bool> {
        if let Datum::Int(value) = args[0] {
            self.0 -= value;
        }
        Ok(true)
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        Ok(Datum::Int(self.0))
    }
}

struct Count(i64);

impl Accumulator for Count {
    fn add(&mut self, _: &mut dyn Env, _: &[Datum]) -> Result<()> {
        self.0 += 1;
        Ok(())
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        Ok(Datum::Int(self.0))
    }
}
