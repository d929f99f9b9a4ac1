//! Tuples without duplicates. The first of equal ones stays.

use crate::error::Result;
use crate::exec::columns::column_types;
use crate::exec::key_table::KeyTable;
use crate::exec::keys;
use crate::exec::operator::{self, Node, Operator};
use crate::exec::run::values;
use crate::exec::{Context, Run, Tuple};
use crate::ir::{Expr, Plan};
use crate::types::Type;

/// Keys that were there before.
#[derive(Default)]
pub(crate) struct Seen {
    keys: KeyTable,
    bytes: usize,
}

impl Seen {
    /// Whether a key is new.
    pub(crate) fn is_new(&mut self, key: &[u8], run: &mut Run<'_>, cx: &mut dyn Context) -> Result<bool> {
        run.step(cx)?;
        let (_, new) = self.keys.insert(key);
        if new {
            let bytes = KeyTable::<()>::weight(key);
            run.keep(bytes)?;
            self.bytes += bytes;
        }
        Ok(new)
    }

    pub(crate) fn clear(&mut self, run: &mut Run<'_>) {
        self.keys.clear();
        run.release(&mut self.bytes);
    }
}

/// Without duplicates by all values.
pub(crate) struct Distinct<'p> {
    input: Node<'p>,
    types: Vec<Type>,
    seen: Seen,
    key: Vec<u8>,
}

impl<'p> Distinct<'p> {
    pub(crate) fn new(input: &'p Plan, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Self> {
        let node = operator::open(input, run, cx)?;
        Ok(Distinct::over(node, column_types(input, run, cx)?))
    }

    pub(crate) fn over(input: Node<'p>, types: Vec<Type>) -> Self {
        Distinct { input, types, seen: Seen::default(), key: Vec::new() }
    }
}

impl<'p> Operator<'p> for Distinct<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        while let Some(tuple) = self.input.next(run, cx)? {
            self.key.clear();
            values(&tuple).iter().zip(&self.types).for_each(|(value, ty)| keys::append(&mut self.key, value, *ty));
            if self.seen.is_new(&self.key, run, cx)? {
                return Ok(Some(tuple));
            }
        }
        Ok(None)
    }

    fn rewind(&mut self, run: &mut Run<'p>) {
        self.input.rewind(run);
        self.seen.clear(run);
    }
}

/// The first tuple for each value of some keys.
pub(crate) struct DistinctOn<'p> {
    input: Node<'p>,
    keys: &'p [Expr],
    seen: Seen,
    key: Vec<u8>,
}

impl<'p> DistinctOn<'p> {
    pub(crate) fn new(keys: &'p [Expr], input: Node<'p>) -> Self {
        DistinctOn { input, keys, seen: Seen::default(), key: Vec::new() }
    }
}

impl<'p> Operator<'p> for DistinctOn<'p> {
    fn next(&mut self, run: &mut Run<'p>, cx: &mut dyn Context) -> Result<Option<Tuple>> {
        while let Some(tuple) = self.input.next(run, cx)? {
            self.key.clear();
            for expr in self.keys {
                let value = run.eval(cx, expr, &tuple)?;
                keys::append(&mut self.key, &value, expr.ty());
            }
            if self.seen.is_new(&self.key, run, cx)? {
                return Ok(Some(tuple));
            }
        }
        Ok(None)
    }

    fn rewind(&mut self, run: &mut Run<'p>) {
        self.input.rewind(run);
        self.seen.clear(run);
    }
}
