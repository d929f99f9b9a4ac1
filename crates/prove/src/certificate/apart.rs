//! What differs between T1 and transactions that a chain has passed.

use super::data::{Access, Summary};
use super::equal::{Equal, Value};

/// The values of these pairs are not all equal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Differ(Vec<(Value, Value)>);

impl Differ {
    /// That two accesses are to different rows, said by the values of the key; `None` if those are not known, or are not one
    /// value for the whole transaction.
    pub(super) fn keys(
        summary: &Summary,
        equal: &Equal<'_>,
        one: (usize, &Access),
        other: (usize, &Access),
    ) -> Option<Differ> {
        let table = summary.tables.get(one.1.table?).filter(|_| one.1.table == other.1.table)?;
        let is_one_value = |(at, term): Value| !equal.ways[at].terms[term].looped;
        let pair = |column: &usize| {
            let pair = ((one.0, one.1.value(*column)?), (other.0, other.1.value(*column)?));
            (is_one_value(pair.0) && is_one_value(pair.1)).then_some(pair)
        };
        let pairs: Vec<(Value, Value)> = table.key.iter().map(pair).collect::<Option<_>>()?;
        (!pairs.is_empty()).then_some(Differ(pairs))
    }

    pub(super) fn can_hold(&self, equal: &Equal<'_>) -> bool {
        self.0.iter().any(|(one, other)| !equal.are(*one, *other))
    }

    /// Said of the next transaction instead of the last one, which is forgotten. `None` if the next one has not all of the
    /// values: then nothing that comes has them.
    pub(super) fn passed_on(&self, equal: &Equal<'_>, next: usize) -> Option<Differ> {
        let pass = |value: Value| {
            // T1 and T2 are kept, in places 0 and 1; the next one comes to place 2.
            if value.0 < 2 {
                return Some(value);
            }
            let find = |at: usize| (0..equal.ways[at].terms.len()).find(|term| equal.are((at, *term), value));
            find(next).map(|term| (2, term)).or_else(|| [0, 1].into_iter().find_map(|at| Some((at, find(at)?))))
        };
        self.0.iter().map(|(one, other)| Some((pass(*one)?, pass(*other)?))).collect::<Option<_>>().map(Differ)
    }

    /// Whether another one holds wherever this one does.
    pub(super) fn is_stricter_than(&self, other: &Differ, equal: &Equal<'_>) -> bool {
        let is_among = |pair: &(Value, Value)| {
            other.0.iter().any(|known| equal.are(pair.0, known.0) && equal.are(pair.1, known.1))
        };
        self.0.iter().all(is_among)
    }
}
