//! How the tables of functions are written: an entry is a call, what is special about it is chained to it.

use crate::budget;
use crate::catalog::Volatility;
use crate::error::Result;
use crate::functions::{Accumulator, Body, Constant, Env, Function, Site, WindowFunction};
use crate::types::{Datum, Type};

/// What a scalar function is.
pub(crate) type Scalar = fn(&mut dyn Env, &[Datum], &Site<'_>) -> Result<Datum>;

/// What a set-returning function is.
pub(crate) type Rows = fn(&mut dyn Env, &[Datum], &Site<'_>) -> Result<Vec<Vec<Datum>>>;

/// Calls a scalar function. Other statements go on meanwhile if its arguments are large.
pub(crate) fn call_scalar(body: Scalar, env: &mut dyn Env, args: &[Datum], site: &Site<'_>) -> Result<Datum> {
    if args.iter().any(Datum::is_large) {
        env.let_others_go_on();
    }
    let value = body(env, args, site);
    env.go_on();
    budget::verdict()?;
    if let Ok(document @ Datum::Jsonb(_)) = &value {
        document.check_nesting()?;
    }
    value
}

const fn entry(name: &'static str, args: &'static [Type], returns: Type, body: Body) -> Function {
    Function {
        name,
        args,
        names: &[],
        defaults: &[],
        variadic: false,
        returns,
        strict: true,
        volatility: Volatility::Immutable,
        body,
    }
}

/// A function or operator: strict and immutable unless it says more.
pub(crate) const fn f(name: &'static str, args: &'static [Type], returns: Type, body: Scalar) -> Function {
    entry(name, args, returns, Body::Scalar(body))
}

/// An aggregate: it skips rows with NULLs unless it says more.
pub(crate) const fn aggregate(
    name: &'static str,
    args: &'static [Type],
    returns: Type,
    make: fn(&Site<'_>) -> Box<dyn Accumulator>,
) -> Function {
    entry(name, args, returns, Body::Aggregate(make))
}

/// An aggregate WITHIN GROUP, with so many direct arguments. It sees NULLs.
pub(crate) const fn ordered_set(
    name: &'static str,
    args: &'static [Type],
    returns: Type,
    direct: usize,
    make: fn(&Site<'_>) -> Box<dyn Accumulator>,
) -> Function {
    entry(name, args, returns, Body::OrderedSet { direct, make }).with_nulls()
}

/// A window function: called with NULLs.
pub(crate) const fn window(
    name: &'static str,
    args: &'static [Type],
    returns: Type,
    which: WindowFunction,
) -> Function {
    entry(name, args, returns, Body::Window(which)).with_nulls()
}

/// A set-returning function with one column.
pub(crate) const fn set(name: &'static str, args: &'static [Type], returns: Type, rows: Rows) -> Function {
    entry(name, args, returns, Body::Set { columns: &[], rows })
}

/// A set-returning function whose columns have names.
pub(crate) const fn table(
    name: &'static str,
    args: &'static [Type],
    columns: &'static [(&'static str, Type)],
    rows: Rows,
) -> Function {
    let returns = match columns {
        [(_, only)] => *only,
        _ => Type::RECORD,
    };
    entry(name, args, returns, Body::Set { columns, rows })
}

impl Function {
    /// It sees NULLs.
    pub(crate) const fn with_nulls(mut self) -> Function {
        self.strict = false;
        self
    }

    /// It gives the same answer within a statement.
    pub(crate) const fn stable(mut self) -> Function {
        self.volatility = Volatility::Stable;
        self
    }

    /// Every call may differ.
    pub(crate) const fn volatile(mut self) -> Function {
        self.volatility = Volatility::Volatile;
        self
    }

    /// The last argument is VARIADIC.
    pub(crate) const fn variadic(mut self) -> Function {
        self.variadic = true;
        self
    }

    /// What the last arguments are when they are left out.
    pub(crate) const fn defaults(mut self, defaults: &'static [Constant]) -> Function {
        self.defaults = defaults;
        self
    }

    /// The names of its arguments, for `name => value`.
    pub(crate) const fn named(mut self, names: &'static [&'static str]) -> Function {
        self.names = names;
        self
    }
}
