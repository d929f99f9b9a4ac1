//! How many client-observable states a program has at all, by exploration.

use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use skew_model::Level;
use skew_store::choice::Point;
use skew_store::picks::Exhaustive;
use skew_store::{Choice, End, ExploreLimits, explore, run};

use super::harness::Harness;
use super::{config, must_not_fail};

/// How many states the harness has at this level; `None` if exploration takes more than `limit` runs.
pub(crate) fn maximum(harness: &Harness, level: Level, limit: u64) -> io::Result<Option<usize>> {
    match level {
        // A program does what it does in some serial order. With few transactions these are fewer than histories.
        Level::Ser => serial_orders(harness, limit),
        _ => histories(harness, level, limit),
    }
}

fn histories(harness: &Harness, level: Level, limit: u64) -> io::Result<Option<usize>> {
    let (program, state) = harness.program();
    let mut states = HashSet::new();
    let mut failure = Ok(());
    let explored =
        explore(&config(level), ExploreLimits { max_runs: limit, ..ExploreLimits::default() }, program, |run| {
            failure = must_not_fail(run);
            states.insert(state.take());
            if failure.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
    failure?;
    let explored = explored.map_err(io::Error::other)?;
    Ok((explored.end == End::Complete).then_some(states.len()))
}

fn serial_orders(harness: &Harness, limit: u64) -> io::Result<Option<usize>> {
    counted(harness, Level::Ser, Newest(Exhaustive::default()), limit, |newest| newest.0.next_run())
}

/// The states of as many runs as the choice has to offer.
fn counted<C: Choice + Send + 'static>(
    harness: &Harness,
    level: Level,
    choice: C,
    limit: u64,
    next_run: fn(&mut C) -> bool,
) -> io::Result<Option<usize>> {
    let (program, state) = harness.program();
    let counter = Arc::new(Mutex::new(choice));
    let mut states = HashSet::new();
    for _ in 0..limit {
        must_not_fail(&run(&config(level), Box::new(counter.clone()), program.clone()))?;
        states.insert(state.take());
        if !next_run(&mut counter.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(Some(states.len()));
        }
    }
    Ok(None)
}

/// Counts through all turns; reads return the newest version. With turns before transactions these are serial orders.
struct Newest(Exhaustive);

impl Choice for Newest {
    fn pick(&mut self, point: Point<'_>) -> usize {
        match point {
            Point::Source(read) => read.count - 1,
            Point::Turn(_) => self.0.pick(point),
        }
    }

    fn sees_sources(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use skew_store::strategies::Dice;

    use super::super::harness::Application;
    use super::*;

    #[test]
    fn both_explorations_find_the_same_states() {
        for application in [Application::Courseware, Application::Cart, Application::Twitter] {
            let harnesses = (0..40).map(|seed| Harness::random(application, &mut Dice::new(seed)));
            for harness in harnesses.filter(|harness| harness.operations() < 6) {
                let by_histories = histories(&harness, Level::Cc, 10_000).expect("its runs do not fail");
                let all = Exhaustive::default();
                let by_choices = counted(&harness, Level::Cc, all, 10_000, |all| all.next_run());
                let by_choices = by_choices.expect("its runs do not fail");
                assert!(by_histories.is_some(), "so few operations can be explored");
                assert_eq!(by_histories, by_choices, "{}", application.name());
            }
        }
    }
}
