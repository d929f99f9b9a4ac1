//! Sorting that ends when its statement does: however much there is to sort, it looks now and then whether the statement was
//! cancelled or is late.

use std::cmp::Ordering;

use crate::budget;
use crate::error::Result;

/// How much is sorted without looking, in units of work: a few milliseconds.
const WORK_AT_ONCE: usize = 300_000;

/// What comparing two things takes beside their weight.
const COMPARISON: usize = 10;

/// Sorts, stably. A thing's weight is about how many bytes of it are compared.
pub fn sort_by<T>(
    items: Vec<T>,
    weight: impl Fn(&T) -> usize,
    mut compare: impl FnMut(&T, &T) -> Ordering,
) -> Result<Vec<T>> {
    let mut runs: Vec<Vec<T>> = Vec::new();
    let mut run = Vec::new();
    let mut work = 0;
    for item in items {
        work += COMPARISON + weight(&item);
        run.push(item);
        if work >= WORK_AT_ONCE {
            budget::step(work)?;
            run.sort_by(&mut compare);
            runs.push(std::mem::take(&mut run));
            work = 0;
        }
    }
    run.sort_by(&mut compare);
    runs.push(run);
    while runs.len() > 1 {
        let mut longer = Vec::with_capacity(runs.len().div_ceil(2));
        let mut pairs = runs.into_iter();
        while let Some(first) = pairs.next() {
            longer.push(match pairs.next() {
                Some(second) => merge(first, second, &weight, &mut compare)?,
                None => first,
            });
        }
        runs = longer;
    }
    Ok(runs.pop().unwrap_or_default())
}

fn merge<T>(
    first: Vec<T>,
    second: Vec<T>,
    weight: impl Fn(&T) -> usize,
    mut compare: impl FnMut(&T, &T) -> Ordering,
) -> Result<Vec<T>> {
    let mut merged = Vec::with_capacity(first.len() + second.len());
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    while let (Some(one), Some(other)) = (first.as_slice().first(), second.as_slice().first()) {
        budget::step(COMPARISON + weight(one).min(weight(other)))?;
        let earlier = if compare(one, other) == Ordering::Greater { &mut second } else { &mut first };
        merged.extend(earlier.next());
    }
    merged.extend(first);
    merged.extend(second);
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{Grant, Wish, begin};

    #[test]
    fn many_things_come_in_their_order_and_equal_ones_stay_in_theirs() {
        let things: Vec<(u32, u32)> =
            (0..200_000).map(|number: u32| (number.wrapping_mul(2_654_435_761) % 1000, number)).collect();
        let mut expected = things.clone();
        expected.sort_by_key(|(key, _)| *key);
        let sorted = sort_by(things, |_| 4, |(one, _), (other, _)| one.cmp(other)).expect("there is time");
        assert_eq!(sorted, expected);
    }

    #[test]
    fn sorting_ends_when_the_statement_is_cancelled() {
        let wish = Wish::new();
        let grant = Grant { wish: wish.clone(), deadline: None, memory_bytes: usize::MAX, stack_bytes: 1 << 20 };
        let _active = begin(grant);
        wish.cancel();
        let things: Vec<u32> = (0..200_000).rev().collect();
        assert!(sort_by(things, |_| 4, |one, other| one.cmp(other)).is_err());
    }
}
