//! One aggregate of one group: fed at once, or after its arguments were sorted and duplicates removed.

use std::collections::BTreeMap;

use crate::budget;
use crate::error::Result;
use crate::exec::keys;
use crate::exec::run::{datum_weight, internal};
use crate::exec::sort::meanwhile;
use crate::exec::{Context, Run, Tuple};
use crate::functions::{Accumulator, Body, Function, Site};
use crate::ir::{AggregateCall, Expr};
use crate::sort::sort_by;
use crate::types::{Datum, Typed};

/// The state of an aggregate.
pub(super) enum CallState {
    /// Fed tuple by tuple.
    Fed(Box<dyn Accumulator>),
    /// ORDER BY: the arguments by their sort key, sorted at the end.
    Ordered(Vec<(Box<[u8]>, Vec<Datum>)>),
    /// DISTINCT: likewise, each once. Sorted by the arguments as PostgreSQL does it, where nothing else is said.
    Distinct(BTreeMap<Box<[u8]>, Vec<Datum>>),
}

/// An aggregate's arguments for one tuple.
#[derive(Default)]
pub(super) struct Scratch {
    /// Whether the tuple counts.
    takes: bool,
    args: Vec<Datum>,
    /// The sort key, for ORDER BY and DISTINCT.
    key: Vec<u8>,
}

impl Scratch {
    pub(super) fn fill<'p>(
        &mut self,
        call: &'p AggregateCall,
        tuple: &Tuple,
        run: &mut Run<'p>,
        cx: &mut dyn Context,
    ) -> Result<()> {
        let args = CallArgs { function: call.function, args: &call.args, filter: call.filter.as_ref() };
        self.takes = args.evaluate(&mut self.args, tuple, run, cx)?;
        if !self.takes || (call.order.is_empty() && !call.distinct) {
            return Ok(());
        }
        crate::exec::sort::sort_key(&mut self.key, &call.order, tuple, run, cx)?;
        if call.distinct {
            let args = self.args.iter().zip(&call.args);
            args.for_each(|(value, arg)| keys::append(&mut self.key, value, arg.ty()));
        }
        Ok(())
    }
}

/// What an aggregate looks at: also one in a window.
pub(crate) struct CallArgs<'p> {
    pub(crate) function: &'static Function,
    pub(crate) args: &'p [Expr],
    pub(crate) filter: Option<&'p Expr>,
}

impl<'p> CallArgs<'p> {
    /// The arguments for a tuple; false if the tuple does not count, because of FILTER or NULLs.
    pub(crate) fn evaluate(
        &self,
        values: &mut Vec<Datum>,
        tuple: &Tuple,
        run: &mut Run<'p>,
        cx: &mut dyn Context,
    ) -> Result<bool> {
        values.clear();
        if let Some(filter) = self.filter
            && !run.is_true(cx, filter, tuple)?
        {
            return Ok(false);
        }
        for arg in self.args {
            values.push(run.eval(cx, arg, tuple)?);
        }
        Ok(!(self.function.strict && values.iter().any(Datum::is_null)))
    }
}

/// Makes the accumulators of an aggregate.
pub(crate) struct Maker {
    function: &'static Function,
    types: Vec<Typed>,
    returns: Typed,
}

impl Maker {
    pub(crate) fn new(function: &'static Function, args: &[Expr], returns: Typed) -> Maker {
        Maker { function, types: args.iter().map(|arg| arg.typed).collect(), returns }
    }

    /// A new accumulator.
    pub(crate) fn make(&self) -> Result<Box<dyn Accumulator>> {
        let (Body::Aggregate(make) | Body::OrderedSet { make, .. }) = &self.function.body else {
            return Err(internal("an aggregate that is none"));
        };
        Ok(make(&Site { args: &self.types, returns: self.returns }))
    }
}

impl CallState {
    pub(super) fn new(call: &AggregateCall, maker: &Maker) -> Result<CallState> {
        Ok(match (call.distinct, call.order.is_empty()) {
            (true, _) => CallState::Distinct(BTreeMap::new()),
            (false, false) => CallState::Ordered(Vec::new()),
            (false, true) => CallState::Fed(maker.make()?),
        })
    }

    /// Takes a tuple's arguments; how many bytes are kept for it.
    pub(super) fn take(&mut self, scratch: &Scratch, run: &mut Run<'_>, cx: &mut dyn Context) -> Result<usize> {
        if !scratch.takes {
            return Ok(0);
        }
        match self {
            CallState::Fed(accumulator) => {
                accumulator.add(cx, &scratch.args)?;
                if !accumulator.keeps() {
                    return Ok(0);
                }
            }
            CallState::Ordered(all) => all.push((scratch.key.as_slice().into(), scratch.args.clone())),
            CallState::Distinct(all) => {
                if all.contains_key(&scratch.key[..]) {
                    return Ok(0);
                }
                all.insert(scratch.key.as_slice().into(), scratch.args.clone());
            }
        }
        let entry = match self {
            CallState::Fed(_) => 2 * size_of::<Datum>(),
            // The key and the arguments have memory of their own, and the list or map of both grows.
            CallState::Ordered(_) | CallState::Distinct(_) => {
                scratch.key.len() + 2 * budget::ALLOCATION_BYTES + 2 * size_of::<(Box<[u8]>, Vec<Datum>)>()
            }
        };
        let bytes = entry + scratch.args.iter().map(datum_weight).sum::<usize>();
        run.keep(bytes)?;
        Ok(bytes)
    }

    pub(super) fn finish(self, maker: &Maker, run: &mut Run<'_>, cx: &mut dyn Context) -> Result<Datum> {
        let sorted: Box<dyn Iterator<Item = Vec<Datum>>> = match self {
            CallState::Fed(accumulator) => return accumulator.finish(cx),
            CallState::Ordered(all) => {
                let many = all.len();
                let sort = || sort_by(all, |(key, _)| key.len(), |(left, _), (right, _)| left.cmp(right));
                let all = meanwhile(cx, many, sort)?;
                Box::new(all.into_iter().map(|(_, args)| args))
            }
            CallState::Distinct(all) => Box::new(all.into_values()),
        };
        let mut accumulator = maker.make()?;
        for args in sorted {
            run.step(cx)?;
            accumulator.add(cx, &args)?;
        }
        accumulator.finish(cx)
    }
}
