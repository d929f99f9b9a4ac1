//! RANGE with an offset: the frame reaches as far as values are no further away than that.

use std::cmp::Ordering;
use std::ops::Range;

use crate::error::{Result, SqlError};
use crate::exec::keys;
use crate::exec::run::internal;
use crate::exec::window::partition::Partition;
use crate::exec::{Context, Run};
use crate::functions::Function;
use crate::ir::{FrameBound, WindowCall};
use crate::types::{Datum, Type, Typed};

/// The values of a partition's one sort key, and how offsets are added to them.
pub(super) struct Distances {
    values: Vec<Datum>,
    ty: Typed,
    descending: bool,
    /// Where the values are that are not NULL.
    known: Range<usize>,
}

impl Distances {
    pub(super) fn new<'p>(
        call: &'p WindowCall,
        partition: &Partition<'_>,
        run: &mut Run<'p>,
        cx: &mut dyn Context,
    ) -> Result<Distances> {
        let [key] = &call.order[..] else { return Err(internal("RANGE with an offset needs one sort key")) };
        let mut values = Vec::with_capacity(partition.len());
        for at in 0..partition.len() {
            values.push(run.eval(cx, &key.expr, partition.tuple(at))?);
        }
        let first = values.iter().position(|value| !value.is_null()).unwrap_or(values.len());
        let last = values.iter().rposition(|value| !value.is_null()).map_or(first, |last| last + 1);
        for bound in [&call.frame.start, &call.frame.end] {
            if let FrameBound::Preceding(offset) | FrameBound::Following(offset) = bound {
                let offset = run.eval(cx, offset, &Default::default())?;
                if is_negative(&offset) {
                    let message = "invalid preceding or following size in window function";
                    return Err(SqlError::with_code("22013", message));
                }
            }
        }
        Ok(Distances { values, ty: key.expr.typed, descending: key.descending, known: first..last })
    }

    /// Where the frame of a tuple begins (`first`) or ends at this offset.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn edge(
        &self,
        partition: &Partition<'_>,
        at: usize,
        offset: &Datum,
        following: bool,
        first: bool,
        run: &mut Run<'_>,
        cx: &mut dyn Context,
    ) -> Result<usize> {
        // NULLs are peers of each other, and away from everything else.
        if self.values[at].is_null() {
            let peers = partition.peers(at);
            return Ok(if first { peers.start } else { peers.end });
        }
        let ahead = following != self.descending;
        let limit = self.shifted(&self.values[at], offset, ahead, run, cx)?;
        let before = |value: &Datum| {
            let order = self.order(value, &limit);
            let order = if self.descending { order.reverse() } else { order };
            if first { order.is_lt() } else { order.is_le() }
        };
        let known = &self.values[self.known.clone()];
        Ok(self.known.start + known.partition_point(before))
    }

    fn order(&self, value: &Datum, limit: &Limit) -> Ordering {
        match limit {
            Limit::Below => Ordering::Greater,
            Limit::Above => Ordering::Less,
            Limit::At(limit) => keys::compare(&comparable(value), limit, self.ty.ty),
        }
    }

    fn shifted(
        &self,
        value: &Datum,
        offset: &Datum,
        ahead: bool,
        run: &mut Run<'_>,
        cx: &mut dyn Context,
    ) -> Result<Limit> {
        let beyond = if ahead { Limit::Above } else { Limit::Below };
        Ok(match (value, offset) {
            (Datum::Int(value), Datum::Int(offset)) => {
                let sum = if ahead { value.checked_add(*offset) } else { value.checked_sub(*offset) };
                sum.map_or(beyond, |sum| Limit::At(Datum::Int(sum)))
            }
            // Times of day do not wrap around here.
            (Datum::Time(value), Datum::Interval(offset)) => {
                let sum = if ahead { value.checked_add(offset.micros) } else { value.checked_sub(offset.micros) };
                sum.map_or(beyond, |sum| Limit::At(Datum::Time(sum)))
            }
            (Datum::Float(value), Datum::Float(offset)) => {
                // Everything is within an infinite distance of an infinity on the same side.
                let sum = if ahead { value + offset } else { value - offset };
                if sum.is_nan() && !value.is_nan() && !offset.is_nan() { beyond } else { Limit::At(Datum::Float(sum)) }
            }
            _ => {
                let operator = operator(value, offset, ahead, self.ty.ty)?;
                let [value_ty, offset_ty] = [operator.args[0].into(), operator.args[1].into()];
                let args = [comparable(value), offset.clone()];
                let sum = run.apply(cx, operator, &args, &[value_ty, offset_ty], operator.returns.into());
                sum.map_or(beyond, Limit::At)
            }
        })
    }
}

/// How far a frame reaches.
enum Limit {
    Below,
    At(Datum),
    Above,
}

/// Dates are compared with the timestamps that intervals make of them.
fn comparable(value: &Datum) -> Datum {
    const DAY: i64 = 86_400_000_000;
    match value {
        Datum::Date(i32::MAX) => Datum::Timestamp(i64::MAX),
        Datum::Date(i32::MIN) => Datum::Timestamp(i64::MIN),
        Datum::Date(days) => Datum::Timestamp(i64::from(*days) * DAY),
        value => value.clone(),
    }
}

fn is_negative(offset: &Datum) -> bool {
    match offset {
        Datum::Int(offset) => *offset < 0,
        Datum::Float(offset) => *offset < 0.0 || offset.is_nan(),
        Datum::Interval(offset) => {
            keys::compare(&Datum::Interval(*offset), &Datum::Interval(Default::default()), Type::INTERVAL).is_lt()
        }
        Datum::Numeric(offset) => offset.is_negative() || offset.is_nan(),
        _ => false,
    }
}

/// `value + offset` or `value - offset`.
fn operator(value: &Datum, offset: &Datum, ahead: bool, ty: Type) -> Result<&'static Function> {
    let left = match value {
        Datum::Date(_) => Type::TIMESTAMP,
        _ => ty,
    };
    let right = match offset {
        Datum::Interval(_) => Type::INTERVAL,
        _ => left,
    };
    let symbol = if ahead { "+" } else { "-" };
    let found = crate::functions::operators(symbol).iter().find(|function| function.args == [left, right]);
    found.copied().ok_or_else(|| SqlError::unsupported("RANGE with an offset of this type"))
}
