//! Frames: which tuples of the partition a window function looks at from where it stands.

use std::ops::Range;

use crate::error::{Result, SqlError, SqlState};
use crate::exec::window::partition::Partition;
use crate::exec::window::range::Distances;
use crate::exec::{Context, Run, Tuple};
use crate::ir::{FrameBound, FrameExclude, FrameMode, WindowCall};
use crate::types::Datum;

/// The frames of a call in one partition.
pub(super) struct Frames {
    mode: FrameMode,
    start: Bound,
    end: Bound,
    exclude: FrameExclude,
    distances: Option<Distances>,
}

/// A bound with its offset.
#[derive(Clone)]
pub(super) enum Bound {
    UnboundedPreceding,
    Preceding(Datum),
    CurrentRow,
    Following(Datum),
    UnboundedFollowing,
}

/// The tuples of a frame: ascending ranges, of which some are empty.
pub(super) type Ranges = [Range<usize>; 3];

impl Frames {
    pub(super) fn new<'p>(
        call: &'p WindowCall,
        partition: &Partition<'_>,
        run: &mut Run<'p>,
        cx: &mut dyn Context,
    ) -> Result<Frames> {
        let frame = &call.frame;
        let start = bound(&frame.start, "starting", run, cx)?;
        let end = bound(&frame.end, "ending", run, cx)?;
        let offsets = [&start, &end].into_iter().any(|bound| bound.offset().is_some());
        let distances = match frame.mode {
            FrameMode::Range if offsets => Some(Distances::new(call, partition, run, cx)?),
            FrameMode::Rows | FrameMode::Groups => {
                [(&start, "starting"), (&end, "ending")]
                    .into_iter()
                    .try_for_each(|(bound, which)| check(bound, which))?;
                None
            }
            FrameMode::Range => None,
        };
        Ok(Frames { mode: frame.mode, start, end, exclude: frame.exclude, distances })
    }

    /// Whether a frame is one range, and neither of its ends ever goes back.
    pub(super) fn is_sliding(&self) -> bool {
        self.exclude == FrameExclude::NoOthers
    }

    /// The frame of a tuple, without exclusions.
    pub(super) fn whole(
        &self,
        partition: &Partition<'_>,
        at: usize,
        run: &mut Run<'_>,
        cx: &mut dyn Context,
    ) -> Result<Range<usize>> {
        let start = self.edge(&self.start, true, partition, at, run, cx)?;
        let end = self.edge(&self.end, false, partition, at, run, cx)?;
        Ok(start..end.max(start))
    }

    /// The frame of a tuple.
    pub(super) fn ranges(
        &self,
        partition: &Partition<'_>,
        at: usize,
        run: &mut Run<'_>,
        cx: &mut dyn Context,
    ) -> Result<Ranges> {
        let whole = self.whole(partition, at, run, cx)?;
        let without = match self.exclude {
            FrameExclude::NoOthers => return Ok([whole, 0..0, 0..0]),
            FrameExclude::CurrentRow => at..at + 1,
            FrameExclude::Group | FrameExclude::Ties => partition.peers(at),
        };
        let itself = self.exclude == FrameExclude::Ties && whole.contains(&at);
        let before = whole.start..without.start.clamp(whole.start, whole.end);
        let after = without.end.clamp(whole.start, whole.end)..whole.end;
        Ok([before, if itself { at..at + 1 } else { 0..0 }, after])
    }

    /// Where a frame begins (`first`) or ends, exclusive.
    fn edge(
        &self,
        bound: &Bound,
        first: bool,
        partition: &Partition<'_>,
        at: usize,
        run: &mut Run<'_>,
        cx: &mut dyn Context,
    ) -> Result<usize> {
        match (bound, self.mode) {
            (Bound::UnboundedPreceding, _) => Ok(0),
            (Bound::UnboundedFollowing, _) => Ok(partition.len()),
            (Bound::CurrentRow, FrameMode::Rows) => Ok(if first { at } else { at + 1 }),
            (Bound::CurrentRow, FrameMode::Range | FrameMode::Groups) => {
                let peers = partition.peers(at);
                Ok(if first { peers.start } else { peers.end })
            }
            (Bound::Preceding(offset) | Bound::Following(offset), FrameMode::Rows) => {
                let row = shifted(at, offset, matches!(bound, Bound::Following(_)));
                let edge = if first { row } else { row.saturating_add(1) };
                Ok(usize::try_from(edge.max(0)).unwrap_or(usize::MAX).min(partition.len()))
            }
            (Bound::Preceding(offset) | Bound::Following(offset), FrameMode::Groups) => {
                let group = shifted(partition.group(at), offset, matches!(bound, Bound::Following(_)));
                Ok(match usize::try_from(group) {
                    Err(_) => 0,
                    Ok(group) if group >= partition.groups() => partition.len(),
                    Ok(group) if first => partition.group_range(group).start,
                    Ok(group) => partition.group_range(group).end,
                })
            }
            (Bound::Preceding(offset), FrameMode::Range) => {
                self.distances().edge(partition, at, offset, false, first, run, cx)
            }
            (Bound::Following(offset), FrameMode::Range) => {
                self.distances().edge(partition, at, offset, true, first, run, cx)
            }
        }
    }

    fn distances(&self) -> &Distances {
        self.distances.as_ref().expect("made for RANGE with an offset")
    }
}

impl Bound {
    fn offset(&self) -> Option<&Datum> {
        match self {
            Bound::Preceding(offset) | Bound::Following(offset) => Some(offset),
            _ => None,
        }
    }
}

/// A row or group so many further or back; negative before the first.
fn shifted(at: usize, offset: &Datum, forward: bool) -> i64 {
    let at = i64::try_from(at).unwrap_or(i64::MAX);
    let Datum::Int(offset) = offset else { return at };
    if forward { at.saturating_add(*offset) } else { at.saturating_sub(*offset) }
}

fn bound<'p>(bound: &'p FrameBound, which: &str, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Bound> {
    let mut offset = |expr| match run.eval(cx, expr, &Tuple::default())? {
        Datum::Null => {
            let message = format!("frame {which} offset must not be null");
            Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, message))
        }
        offset => Ok(offset),
    };
    Ok(match bound {
        FrameBound::UnboundedPreceding => Bound::UnboundedPreceding,
        FrameBound::Preceding(expr) => Bound::Preceding(offset(expr)?),
        FrameBound::CurrentRow => Bound::CurrentRow,
        FrameBound::Following(expr) => Bound::Following(offset(expr)?),
        FrameBound::UnboundedFollowing => Bound::UnboundedFollowing,
    })
}

fn check(bound: &Bound, which: &str) -> Result<()> {
    match bound.offset() {
        Some(Datum::Int(..0)) => {
            Err(SqlError::with_code("22013", format!("frame {which} offset must not be negative")))
        }
        _ => Ok(()),
    }
}
