//! LIMIT, OFFSET, FETCH … WITH TIES. What is not given away is not asked for.

use crate::error::{Result, SqlError, SqlState};
use crate::exec::operator::{Node, Operator};
use crate::exec::sort::sort_key;
use crate::exec::{Context, Run, Tuple};
use crate::ir::{self, Expr};
use crate::types::Datum;

pub(crate) struct Limit<'p> {
    plan: &'p ir::Limit,
    input: Node<'p>,
    state: Option<State>,
}

#[derive(Default)]
struct State {
    /// How many are still given; all if nothing.
    left: Option<usize>,
    /// The keys of the last tuple given, for ties.
    last: Vec<u8>,
}

impl<'p> Limit<'p> {
    pub(crate) fn new(plan: &'p ir::Limit, input: Node<'p>) -> Self {
        Limit { plan, input, state: None }
    }

    fn start(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<State> {
        let offset = count(self.plan.offset.as_ref(), run, cx)?;
        let offset = offset.map_err(|()| {
            SqlError::new(SqlState::INVALID_ROW_COUNT_IN_RESULT_OFFSET_CLAUSE, "OFFSET must not be negative")
        })?;
        let left = count(self.plan.limit.as_ref(), run, cx)?;
        let left = left
            .map_err(|()| SqlError::new(SqlState::INVALID_ROW_COUNT_IN_LIMIT_CLAUSE, "LIMIT must not be negative"))?;
        let state = State { left, last: Vec::new() };
        let offset = offset.unwrap_or(0);
        if let Some(left) = left {
            if left == 0 {
                return Ok(state);
            }
            if self.plan.ties.is_empty() {
                self.input.bound(left.saturating_add(offset));
            }
        }
        for _ in 0..offset {
            if self.input.next(run, cx)?.is_none() {
                return Ok(State { left: Some(0), last: Vec::new() });
            }
        }
        Ok(state)
    }
}

/// A count: all of them (`None`) without an expression or if it is NULL, an error inside if it is negative.
fn count<'p>(
    expr: Option<&'p Expr>,
    run: &mut Run<'p>,
    cx: &mut dyn Context,
) -> Result<std::result::Result<Option<usize>, ()>> {
    let Some(expr) = expr else { return Ok(Ok(None)) };
    Ok(match run.eval(cx, expr, &Tuple::default())? {
        Datum::Int(count) => usize::try_from(count).map(Some).map_err(|_| ()),
        _ => Ok(None),
    })
}

impl<'p> Operator<'p> for Limit<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        let mut state = match self.state.take() {
            Some(state) => state,
            None => self.start(run, cx)?,
        };
        let ties = !self.plan.ties.is_empty();
        let tuple = match state.left {
            // Ties of the last one follow; without a last one there are none.
            Some(0) if !ties || state.last.is_empty() => None,
            Some(0) => match self.input.next(run, cx)? {
                Some(tuple) => {
                    let mut key = Vec::new();
                    sort_key(&mut key, &self.plan.ties, &tuple, run, cx)?;
                    if key != state.last {
                        state.last.clear();
                    }
                    (key == state.last).then_some(tuple)
                }
                None => None,
            },
            _ => self.input.next(run, cx)?,
        };
        if let (Some(left @ 1..), Some(tuple)) = (&mut state.left, &tuple) {
            *left -= 1;
            if ties {
                sort_key(&mut state.last, &self.plan.ties, tuple, run, cx)?;
            }
        }
        self.state = Some(state);
        Ok(tuple)
    }

    fn rewind(&mut self, run: &mut Run<'p>) {
        self.input.rewind(run);
        self.state = None;
    }
}
