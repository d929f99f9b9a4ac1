//! Common table expressions: their rows are made once, when somebody asks for them, and no further than asked for.
//!
//! A recursive one goes round by round: the recursive part reads the rows of the round before. Since rows are made one
//! by one, `LIMIT` ends a recursion that would not end by itself.

use std::sync::Arc;

use crate::error::Result;
use crate::exec::key_table::KeyTable;
use crate::exec::keys;
use crate::exec::operator::{self, Node, Operator};
use crate::exec::run::{internal, listed_weight, shared_values};
use crate::exec::{Context, Run, Tuple};
use crate::ir::{Cte, Plan};
use crate::types::{Datum, Type};

type Row = Arc<[Datum]>;

/// A common table expression under way.
pub(crate) struct CteState<'p> {
    cte: &'p Cte,
    /// How many tuples are around it.
    depth: usize,
    /// Its rows so far.
    rows: Vec<Row>,
    kept: usize,
    maker: Maker<'p>,
}

/// What makes the rows.
enum Maker<'p> {
    /// Nobody has asked yet.
    Waiting,
    /// The query, or the part of it that is not recursive.
    Plain(Node<'p>, Seen),
    /// The recursive part, in a round that reads the rows of the one before and began at this row.
    Recursive { node: Node<'p>, seen: Seen, before: std::ops::Range<usize> },
    /// It is at work right now; its recursive part reads these rows.
    AtWork { before: std::ops::Range<usize> },
    /// All rows are there.
    Done,
}

/// The rows so far, for UNION without ALL.
type Seen = Option<(KeyTable, Vec<Type>)>;

/// `WITH`: the expressions become known, then the query runs.
pub(crate) fn open_with<'p>(
    ctes: &'p [Arc<Cte>],
    input: &'p Plan,
    run: &mut Run<'p>,
    cx: &mut dyn Context,
) -> Result<Node<'p>> {
    let mut with = With { ctes, input: None, started: true };
    with.register(run);
    with.input = Some(operator::open(input, run, cx)?);
    with.started = false;
    Ok(Box::new(with))
}

struct With<'p> {
    ctes: &'p [Arc<Cte>],
    input: Option<Node<'p>>,
    started: bool,
}

impl<'p> With<'p> {
    /// Forgets all rows: the tuples around may be others.
    fn register(&self, run: &mut Run<'p>) {
        for cte in self.ctes {
            if run.ctes.len() <= cte.number {
                run.ctes.resize_with(cte.number + 1, || None);
            }
            let depth = run.outer.len();
            let state = CteState { cte, depth, rows: Vec::new(), kept: 0, maker: Maker::Waiting };
            if let Some(mut old) = run.ctes[cte.number].replace(state) {
                run.release(&mut old.kept);
            }
        }
    }
}

impl<'p> Operator<'p> for With<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        if !std::mem::replace(&mut self.started, true) {
            self.register(run);
        }
        self.input.as_mut().expect("made when the operator is opened").next(run, cx)
    }

    fn rewind(&mut self, run: &mut Run<'p>) {
        self.started = false;
        self.input.as_mut().expect("made when the operator is opened").rewind(run);
    }

    fn bound(&mut self, tuples: usize) {
        self.input.as_mut().expect("made when the operator is opened").bound(tuples);
    }
}

/// The rows of a common table expression.
pub(crate) struct CteScan {
    number: usize,
    next: usize,
}

impl CteScan {
    pub(crate) fn new(number: usize) -> Self {
        CteScan { number, next: 0 }
    }
}

impl<'p> Operator<'p> for CteScan {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        run.step(cx)?;
        let row = run.cte_row(cx, self.number, self.next)?;
        self.next += 1;
        Ok(row.map(Tuple::values))
    }

    fn rewind(&mut self, _: &mut Run<'p>) {
        self.next = 0;
    }
}

impl<'p> Run<'p> {
    /// Row `index` of a common table expression, made if need be.
    fn cte_row(&mut self, cx: &mut dyn Context, number: usize, index: usize) -> Result<Option<Row>> {
        let state = self.cte(number)?;
        if let Maker::AtWork { before } = &state.maker {
            let index = before.start + index;
            return Ok(before.contains(&index).then(|| state.rows[index].clone()));
        }
        while self.cte(number)?.rows.len() <= index {
            if !self.make_cte_row(cx, number)? {
                return Ok(None);
            }
        }
        Ok(self.cte(number)?.rows.get(index).cloned())
    }

    /// The definition of a common table expression that is around.
    pub(crate) fn cte_definition(&self, number: usize) -> Option<&'p Cte> {
        self.ctes.get(number)?.as_ref().map(|state| state.cte)
    }

    /// Runs a data-changing expression that nobody has asked for.
    pub(crate) fn finish_cte(&mut self, cx: &mut dyn Context, number: usize) -> Result<()> {
        let Some(state) = &self.ctes[number] else { return Ok(()) };
        if matches!(state.maker, Maker::Waiting) && changes(&state.cte.query.plan) {
            self.make_cte_row(cx, number)?;
        }
        Ok(())
    }

    fn cte(&mut self, number: usize) -> Result<&mut CteState<'p>> {
        let state = self.ctes.get_mut(number).and_then(Option::as_mut);
        state.ok_or_else(|| internal("a common table expression that is not around"))
    }

    /// Makes one more row, in the surroundings of the WITH; false if there is none.
    fn make_cte_row(&mut self, cx: &mut dyn Context, number: usize) -> Result<bool> {
        let state = self.cte(number)?;
        let (cte, depth) = (state.cte, state.depth);
        let before = match &state.maker {
            Maker::Recursive { before, .. } => before.clone(),
            _ => 0..0,
        };
        let maker = std::mem::replace(&mut state.maker, Maker::AtWork { before });
        let around = self.outer.split_off(depth.min(self.outer.len()));
        let changed = self.changed;
        let made = self.make(cx, cte, maker);
        self.changed = changed;
        self.outer.extend(around);
        let (maker, row) = made?;
        let Some(row) = row else {
            self.cte(number)?.maker = maker;
            return Ok(false);
        };
        let bytes = listed_weight(&row);
        self.keep(bytes)?;
        let state = self.cte(number)?;
        state.kept += bytes;
        state.rows.push(row);
        state.maker = maker;
        Ok(true)
    }

    fn make(&mut self, cx: &mut dyn Context, cte: &'p Cte, maker: Maker<'p>) -> Result<(Maker<'p>, Option<Row>)> {
        let mut maker = maker;
        loop {
            maker = match maker {
                Maker::Waiting => {
                    let seen = cte.recursive.as_ref().and_then(|(_, distinct)| distinct.then(|| seen_by(cte)));
                    Maker::Plain(operator::open(&cte.query.plan, self, cx)?, seen)
                }
                Maker::Plain(mut node, mut seen) => match self.unseen(cx, &mut node, &mut seen)? {
                    Some(row) => return Ok((Maker::Plain(node, seen), Some(row))),
                    None => match &cte.recursive {
                        None => Maker::Done,
                        Some((query, _)) => {
                            let before = 0..self.cte(cte.number)?.rows.len();
                            self.read_in_recursion(cte.number, &before)?;
                            Maker::Recursive { node: operator::open(&query.plan, self, cx)?, seen, before }
                        }
                    },
                },
                Maker::Recursive { mut node, mut seen, before } if !before.is_empty() => {
                    if let Some(row) = self.unseen(cx, &mut node, &mut seen)? {
                        return Ok((Maker::Recursive { node, seen, before }, Some(row)));
                    }
                    let before = before.end..self.cte(cte.number)?.rows.len();
                    self.read_in_recursion(cte.number, &before)?;
                    node.rewind(self);
                    Maker::Recursive { node, seen, before }
                }
                Maker::Recursive { .. } | Maker::Done => return Ok((Maker::Done, None)),
                Maker::AtWork { .. } => return Err(internal("a common table expression that reads itself")),
            };
        }
    }

    fn read_in_recursion(&mut self, number: usize, rows: &std::ops::Range<usize>) -> Result<()> {
        self.cte(number)?.maker = Maker::AtWork { before: rows.clone() };
        Ok(())
    }

    /// The next row that was not there before.
    fn unseen(&mut self, cx: &mut dyn Context, node: &mut Node<'p>, seen: &mut Seen) -> Result<Option<Row>> {
        while let Some(tuple) = node.next(self, cx)? {
            let row = shared_values(&tuple);
            let Some((seen, types)) = seen else { return Ok(Some(row)) };
            let key = keys::of_row(&row, types);
            if seen.insert(&key).1 {
                self.keep(KeyTable::<()>::weight(&key))?;
                return Ok(Some(row));
            }
            self.step(cx)?;
        }
        Ok(None)
    }
}

fn seen_by(cte: &Cte) -> (KeyTable, Vec<Type>) {
    (KeyTable::default(), cte.query.columns.iter().map(|column| column.typed.ty).collect())
}

/// Whether a plan changes data.
fn changes(plan: &Plan) -> bool {
    match plan {
        Plan::Change(_) => true,
        Plan::With { input, .. } | Plan::Project { input, .. } => changes(input),
        _ => false,
    }
}
