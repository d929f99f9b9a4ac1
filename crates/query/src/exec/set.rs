//! UNION, INTERSECT, EXCEPT.

use crate::error::Result;
use crate::exec::columns::column_types;
use crate::exec::distinct::Distinct;
use crate::exec::key_table::KeyTable;
use crate::exec::keys;
use crate::exec::operator::{self, Node, Operator};
use crate::exec::run::values;
use crate::exec::{Context, Run, Tuple};
use crate::ir::{Plan, SetKind};
use crate::types::Type;

/// UNION. A chain of them is flattened: `UNION ALL` of a thousand queries is no deeper than of two.
pub(crate) fn union<'p>(
    all: bool,
    left: &'p Plan,
    right: &'p Plan,
    run: &mut Run<'p>,
    cx: &mut dyn Context,
) -> Result<Node<'p>> {
    let mut parts = vec![right];
    let mut first = left;
    while let Plan::SetOperation { kind: SetKind::Union, all: inner, left, right } = first {
        // Duplicates that the outer one keeps may not come back; those that it removes need not be removed before.
        if all && !*inner {
            break;
        }
        parts.push(right);
        first = left;
    }
    parts.push(first);
    let mut types = Vec::new();
    let mut nodes = Vec::with_capacity(parts.len());
    for part in parts.into_iter().rev() {
        nodes.push(operator::open(part, run, cx)?);
        if types.is_empty() {
            types = column_types(part, run, cx)?;
        }
    }
    let chain = Box::new(Chain { nodes, current: 0 });
    Ok(if all { chain } else { Box::new(Distinct::over(chain, types)) })
}

/// One after the other.
struct Chain<'p> {
    nodes: Vec<Node<'p>>,
    current: usize,
}

impl<'p> Operator<'p> for Chain<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        while let Some(node) = self.nodes.get_mut(self.current) {
            if let Some(tuple) = node.next(run, cx)? {
                return Ok(Some(tuple));
            }
            self.current += 1;
        }
        Ok(None)
    }

    fn rewind(&mut self, run: &mut Run<'p>) {
        self.nodes.iter_mut().for_each(|node| node.rewind(run));
        self.current = 0;
    }
}

/// How often each row is still there.
#[derive(Default)]
struct Counts {
    rows: KeyTable<usize>,
}

impl Counts {
    /// The count of a row, zero at first.
    fn of(&mut self, row: &[u8]) -> &mut usize {
        self.rows.insert_with(row, || 0).value
    }
}

/// INTERSECT and EXCEPT: the right side's rows are counted, then the left side's are held against them.
pub(crate) struct Counted<'p> {
    except: bool,
    all: bool,
    left: Node<'p>,
    right: Node<'p>,
    types: Vec<Type>,
    counts: Option<Counts>,
    bytes: usize,
}

impl<'p> Counted<'p> {
    pub(crate) fn new(
        except: bool,
        all: bool,
        left: &'p Plan,
        right: &'p Plan,
        run: &mut Run<'p>,
        cx: &mut dyn Context,
    ) -> Result<Self> {
        let types = match column_types(left, run, cx)? {
            types if types.is_empty() => column_types(right, run, cx)?,
            types => types,
        };
        let (left, right) = (operator::open(left, run, cx)?, operator::open(right, run, cx)?);
        Ok(Counted { except, all, left, right, types, counts: None, bytes: 0 })
    }

    fn count(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Counts> {
        let mut counts = Counts::default();
        while let Some(tuple) = self.right.next(run, cx)? {
            run.step(cx)?;
            let key = keys::of_row(values(&tuple), &self.types);
            let count = counts.of(&key);
            *count += 1;
            if *count == 1 {
                let bytes = KeyTable::<usize>::weight(&key);
                run.keep(bytes)?;
                self.bytes += bytes;
            }
        }
        Ok(counts)
    }

    /// Whether a row of the left side is in the result, given how often it is still there on the right.
    fn takes(&self, count: &mut usize) -> bool {
        let there = *count > 0;
        *count = match (self.except, self.all) {
            (_, true) => count.saturating_sub(1),
            // A row is given once: then it is no longer among those to intersect with.
            (false, false) => 0,
            // A row is given once: then it is among those that are taken away.
            (true, false) => 1,
        };
        there != self.except
    }
}

impl<'p> Operator<'p> for Counted<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        let mut counts = match self.counts.take() {
            Some(counts) => counts,
            None => self.count(run, cx)?,
        };
        let mut given = None;
        while let Some(tuple) = self.left.next(run, cx)? {
            run.step(cx)?;
            let key = keys::of_row(values(&tuple), &self.types);
            if self.takes(counts.of(&key)) {
                given = Some(tuple);
                break;
            }
        }
        self.counts = Some(counts);
        Ok(given)
    }

    fn rewind(&mut self, run: &mut Run<'p>) {
        self.left.rewind(run);
        self.right.rewind(run);
        self.counts = None;
        run.release(&mut self.bytes);
    }
}
