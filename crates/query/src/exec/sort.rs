//! Sorted tuples: stable, by bytes whose order is that of the keys. With a bound only the first ones are kept.

use crate::error::Result;
use crate::exec::keys;
use crate::exec::operator::{Node, Operator};
use crate::exec::run::weight;
use crate::exec::sorter::Sorter;
use crate::exec::{Context, Run, Tuple};
use crate::ir::SortKey;

/// Fewer tuples than this are not worth cutting down.
const LEAST_TO_CUT: usize = 512;

/// Sorting so many is worth giving the database up for.
const MANY: usize = 2_000;

pub(crate) struct Sort<'p> {
    input: Node<'p>,
    keys: &'p [SortKey],
    bound: Option<usize>,
    sorted: Option<Box<dyn Iterator<Item = Tuple>>>,
    bytes: usize,
}

impl<'p> Sort<'p> {
    pub(crate) fn new(keys: &'p [SortKey], input: Node<'p>) -> Self {
        Sort { input, keys, bound: None, sorted: None, bytes: 0 }
    }

    fn sort(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Sorter<Tuple>> {
        let most = self.bound.map_or(usize::MAX, |bound| bound.saturating_mul(2).max(LEAST_TO_CUT));
        let mut tuples = Sorter::default();
        let mut key = Vec::new();
        let mut sought = None;
        while let Some(tuple) = self.input.next(run, cx)? {
            // Which of several rows comes first is not looked at again.
            if let Some(seen) = tuple.as_seen() {
                match (tuples.len(), sought.take()) {
                    (0, _) => sought = Some(seen),
                    (_, first) => {
                        for seen in first.iter().chain([&seen]) {
                            sort_key(&mut key, self.keys, seen, run, cx)?;
                        }
                    }
                }
            }
            sort_key(&mut key, self.keys, &tuple, run, cx)?;
            // Sorting takes another half of the list.
            let bytes = 2 * (key.len() + size_of::<Tuple>()) + weight(&tuple);
            run.keep(bytes)?;
            self.bytes += bytes;
            tuples.push(&key, tuple);
            if tuples.len() >= most {
                tuples.cut(self.bound.unwrap_or(usize::MAX))?;
                run.release(&mut self.bytes);
            }
        }
        Ok(tuples)
    }
}

/// Does something with so many things that are the statement's own; other statements go on meanwhile if there are many.
pub(crate) fn meanwhile<T>(cx: &mut dyn Context, things: usize, act: impl FnOnce() -> T) -> T {
    if things >= MANY {
        cx.let_others_go_on();
    }
    let done = act();
    cx.go_on();
    done
}

/// The bytes that sort a tuple.
pub(crate) fn sort_key<'p>(
    key: &mut Vec<u8>,
    keys: &'p [SortKey],
    tuple: &Tuple,
    run: &mut Run<'p>,
    cx: &mut dyn Context,
) -> Result<()> {
    key.clear();
    for part in keys {
        let value = run.eval(cx, &part.expr, tuple)?;
        keys::append_sorted(key, &value, part.expr.ty(), part.descending, part.nulls_first);
    }
    Ok(())
}

impl<'p> Operator<'p> for Sort<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        if self.sorted.is_none() {
            let most = self.bound.unwrap_or(usize::MAX);
            let tuples = self.sort(run, cx)?;
            let sorted = meanwhile(cx, tuples.len(), || tuples.into_sorted())?;
            self.sorted = Some(Box::new(sorted.take(most)));
        }
        let sorted = self.sorted.as_mut().expect("sorted just now");
        Ok(sorted.next())
    }

    fn rewind(&mut self, run: &mut Run<'p>) {
        self.input.rewind(run);
        self.sorted = None;
        self.bound = None;
        run.release(&mut self.bytes);
    }

    fn bound(&mut self, tuples: usize) {
        self.bound = Some(tuples);
    }
}
