//! The values of one window function in one partition.

use std::ops::Range;

use crate::error::{Result, SqlError, SqlState};
use crate::exec::aggregate::{CallArgs, Maker};
use crate::exec::run::internal;
use crate::exec::window::frame::{Frames, Ranges};
use crate::exec::window::partition::Partition;
use crate::exec::{Context, Run};
use crate::functions::{Accumulator, Body, WindowFunction};
use crate::ir::{Expr, WindowCall};
use crate::types::Datum;

/// The value for each tuple of a partition.
pub(super) fn values<'p>(
    call: &'p WindowCall,
    partition: &mut Partition<'_>,
    run: &mut Run<'p>,
    cx: &mut dyn Context,
) -> Result<Vec<Datum>> {
    let partition = &*partition;
    match &call.function.body {
        Body::Aggregate(_) => aggregates(call, partition, run, cx),
        Body::Window(function) => match function {
            WindowFunction::RowNumber => Ok((0..partition.len()).map(|at| int(at + 1)).collect()),
            WindowFunction::Rank => Ok((0..partition.len()).map(|at| int(partition.peers(at).start + 1)).collect()),
            WindowFunction::DenseRank => Ok((0..partition.len()).map(|at| int(partition.group(at) + 1)).collect()),
            WindowFunction::PercentRank => Ok((0..partition.len()).map(|at| percent_rank(partition, at)).collect()),
            WindowFunction::CumeDist => {
                let share = |at| Datum::Float(partition.peers(at).end as f64 / partition.len() as f64);
                Ok((0..partition.len()).map(share).collect())
            }
            WindowFunction::Ntile => ntile(call, partition, run, cx),
            WindowFunction::Lag => neighbours(call, partition, false, run, cx),
            WindowFunction::Lead => neighbours(call, partition, true, run, cx),
            WindowFunction::FirstValue | WindowFunction::LastValue | WindowFunction::NthValue => {
                frame_values(*function, call, partition, run, cx)
            }
        },
        Body::Scalar(_) | Body::OrderedSet { .. } | Body::Set { .. } => Err(internal("a window function that is none")),
    }
}

fn int(value: usize) -> Datum {
    Datum::Int(i64::try_from(value).unwrap_or(i64::MAX))
}

fn percent_rank(partition: &Partition<'_>, at: usize) -> Datum {
    let others = partition.len() - 1;
    Datum::Float(if others == 0 { 0.0 } else { partition.peers(at).start as f64 / others as f64 })
}

fn ntile<'p>(
    call: &'p WindowCall,
    partition: &Partition<'_>,
    run: &mut Run<'p>,
    cx: &mut dyn Context,
) -> Result<Vec<Datum>> {
    let buckets = match run.eval(cx, argument(call, 0)?, partition.tuple(0))? {
        Datum::Int(buckets @ 1..) => usize::try_from(buckets).unwrap_or(usize::MAX),
        Datum::Null => return Ok(vec![Datum::Null; partition.len()]),
        _ => {
            let message = "argument of ntile must be greater than zero";
            return Err(SqlError::new(SqlState::INVALID_ARGUMENT_FOR_NTILE, message));
        }
    };
    let (size, larger) = (partition.len() / buckets, partition.len() % buckets);
    let bucket = |at: usize| match at.checked_sub(larger * (size + 1)) {
        None => at / (size + 1),
        Some(beyond) => larger + beyond / size,
    };
    Ok((0..partition.len()).map(|at| int(bucket(at) + 1)).collect())
}

/// `lag` and `lead`: the value of another tuple of the partition, or a default.
fn neighbours<'p>(
    call: &'p WindowCall,
    partition: &Partition<'_>,
    ahead: bool,
    run: &mut Run<'p>,
    cx: &mut dyn Context,
) -> Result<Vec<Datum>> {
    let value = argument(call, 0)?;
    let mut values = Vec::with_capacity(partition.len());
    for at in 0..partition.len() {
        run.step(cx)?;
        let offset = match call.args.get(1) {
            Some(offset) => run.eval(cx, offset, partition.tuple(at))?,
            None => Datum::Int(1),
        };
        let Datum::Int(offset) = offset else {
            values.push(Datum::Null);
            continue;
        };
        let here = i64::try_from(at).unwrap_or(i64::MAX);
        let there = if ahead { here.saturating_add(offset) } else { here.saturating_sub(offset) };
        let there = usize::try_from(there).ok().filter(|there| *there < partition.len());
        values.push(match (there, call.args.get(2)) {
            (Some(there), _) => run.eval(cx, value, partition.tuple(there))?,
            (None, Some(default)) => run.eval(cx, default, partition.tuple(at))?,
            (None, None) => Datum::Null,
        });
    }
    Ok(values)
}

/// `first_value`, `last_value`, `nth_value`: the value of a tuple of the frame.
fn frame_values<'p>(
    function: WindowFunction,
    call: &'p WindowCall,
    partition: &Partition<'_>,
    run: &mut Run<'p>,
    cx: &mut dyn Context,
) -> Result<Vec<Datum>> {
    let frames = Frames::new(call, partition, run, cx)?;
    let value = argument(call, 0)?;
    let mut values = Vec::with_capacity(partition.len());
    for at in 0..partition.len() {
        run.step(cx)?;
        let ranges = frames.ranges(partition, at, run, cx)?;
        let there = match function {
            WindowFunction::FirstValue => nth(&ranges, 0),
            WindowFunction::LastValue => ranges.iter().rfind(|range| !range.is_empty()).map(|range| range.end - 1),
            _ => match run.eval(cx, argument(call, 1)?, partition.tuple(at))? {
                Datum::Int(number @ 1..) => nth(&ranges, usize::try_from(number - 1).unwrap_or(usize::MAX)),
                Datum::Null => None,
                _ => {
                    let message = "argument of nth_value must be greater than zero";
                    return Err(SqlError::new(SqlState::INVALID_ARGUMENT_FOR_NTH_VALUE, message));
                }
            },
        };
        values.push(match there {
            Some(there) => run.eval(cx, value, partition.tuple(there))?,
            None => Datum::Null,
        });
    }
    Ok(values)
}

fn nth(ranges: &Ranges, mut number: usize) -> Option<usize> {
    for range in ranges {
        if number < range.len() {
            return Some(range.start + number);
        }
        number -= range.len();
    }
    None
}

fn argument(call: &WindowCall, index: usize) -> Result<&Expr> {
    call.args.get(index).ok_or_else(|| internal("a window function without its argument"))
}

/// Aggregates over frames. A frame that only grows or slides is not added up again.
fn aggregates<'p>(
    call: &'p WindowCall,
    partition: &Partition<'_>,
    run: &mut Run<'p>,
    cx: &mut dyn Context,
) -> Result<Vec<Datum>> {
    let frames = Frames::new(call, partition, run, cx)?;
    let args = arguments(call, partition, run, cx)?;
    let maker = Maker::new(call.function, &call.args, call.typed);
    let mut sliding = Sliding { maker: &maker, args: &args, accumulator: maker.make()?, covered: 0..0 };
    let mut values: Vec<Datum> = Vec::with_capacity(partition.len());
    let mut last: Option<Range<usize>> = None;
    for at in 0..partition.len() {
        run.step(cx)?;
        if frames.is_sliding() {
            let frame = frames.whole(partition, at, run, cx)?;
            let value = match (&last, values.last()) {
                (Some(last), Some(value)) if *last == frame => value.clone(),
                _ => {
                    sliding.slide(&frame, run, cx)?;
                    sliding.accumulator.finish(cx)?
                }
            };
            values.push(value);
            last = Some(frame);
        } else {
            let mut accumulator = maker.make()?;
            for at in frames.ranges(partition, at, run, cx)?.into_iter().flatten() {
                run.step(cx)?;
                if let Some(args) = &args[at] {
                    accumulator.add(cx, args)?;
                }
            }
            values.push(accumulator.finish(cx)?);
        }
    }
    Ok(values)
}

/// The arguments for each tuple; nothing for tuples that do not count.
fn arguments<'p>(
    call: &'p WindowCall,
    partition: &Partition<'_>,
    run: &mut Run<'p>,
    cx: &mut dyn Context,
) -> Result<Vec<Option<Vec<Datum>>>> {
    let args = CallArgs { function: call.function, args: &call.args, filter: call.filter.as_ref() };
    let mut all = Vec::with_capacity(partition.len());
    for at in 0..partition.len() {
        let mut values = Vec::with_capacity(call.args.len());
        let takes = args.evaluate(&mut values, partition.tuple(at), run, cx)?;
        all.push(takes.then_some(values));
    }
    Ok(all)
}

/// An aggregate over a range that moves.
struct Sliding<'a> {
    maker: &'a Maker,
    args: &'a [Option<Vec<Datum>>],
    accumulator: Box<dyn Accumulator>,
    covered: Range<usize>,
}

impl Sliding<'_> {
    fn slide(&mut self, to: &Range<usize>, run: &mut Run<'_>, cx: &mut dyn Context) -> Result<()> {
        if to.start < self.covered.start || to.end < self.covered.end || !self.drop_before(to.start, cx)? {
            self.accumulator = self.maker.make()?;
            self.covered = to.start..to.start;
        }
        for at in self.covered.end.max(to.start)..to.end {
            run.step(cx)?;
            if let Some(args) = &self.args[at] {
                self.accumulator.add(cx, args)?;
            }
        }
        self.covered = to.clone();
        Ok(())
    }

    /// Takes back what is before the new start, if the aggregate can.
    fn drop_before(&mut self, start: usize, cx: &mut dyn Context) -> Result<bool> {
        if start >= self.covered.end {
            return Ok(start == self.covered.start);
        }
        for at in self.covered.start..start {
            if let Some(args) = &self.args[at]
                && !self.accumulator.remove(cx, args)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
