//! How many client-observable states a program has at all, by exploration.

use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use skew_model::Level;
use skew_store::choice::Point;
use skew_store::picks::Exhaustive;
use skew_store::{Choice, End, ExploreLimits, explore, run};

use super::harness::{Application, Harness};
use super::{config, must_not_fail};

/// How many states the harness has at this level; `None` if exploration takes more than `limit` runs.
pub(crate) fn maximum(harness: &Harness, level: Level, limit: u64) -> io::Result<Option<usize>> {
    match (level, harness.application) {
        // A program does what it does in some serial order. With few transactions these are fewer than histories.
        (Level::Ser, _) => choices(harness, level, Reads::Newest, limit),
        // Exploration by histories does not know that a scan can find a key which nobody has written so far.
        (_, Application::Stack) => choices(harness, level, Reads::Explored, limit),
        _ => histories(harness, level, limit),
    }
}

fn histories(harness: &Harness, level: Level, limit: u64) -> io::Result<Option<usize>> {
    let (program, state) = harness.program();
    let mut states = HashSet::new();
    let mut failure = Ok(());
    let explored = explore(&config(level), ExploreLimits { max_runs: limit }, program, |run| {
        failure = must_not_fail(run);
        states.insert(state.take());
        if failure.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    failure?;
    let explored = explored.map_err(io::Error::other)?;
    Ok((explored.end == End::Complete).then_some(states.len()))
}

fn choices(harness: &Harness, level: Level, reads: Reads, limit: u64) -> io::Result<Option<usize>> {
    let (program, state) = harness.program();
    let counter = Arc::new(Mutex::new(Counter { picks: Exhaustive::default(), reads }));
    let mut states = HashSet::new();
    for _ in 0..limit {
        must_not_fail(&run(&config(level), Box::new(counter.clone()), program.clone()))?;
        states.insert(state.take());
        if !counter.lock().unwrap_or_else(PoisonError::into_inner).picks.next_run() {
            return Ok(Some(states.len()));
        }
    }
    Ok(None)
}

/// What reads return.
enum Reads {
    /// Everything they may, one after the other.
    Explored,
    /// The newest version: with turns before transactions, as in a serial order.
    Newest,
}

/// Counts through all turns, and through the reads as well if need be.
struct Counter {
    picks: Exhaustive,
    reads: Reads,
}

impl Choice for Counter {
    fn pick(&mut self, point: Point<'_>) -> usize {
        match (point, &self.reads) {
            (Point::Source(read), Reads::Newest) => read.count - 1,
            _ => self.picks.pick(point),
        }
    }

    fn sees_sources(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use skew_store::strategies::Dice;

    use super::*;

    #[test]
    fn both_explorations_find_the_same_states() {
        for application in [Application::Courseware, Application::Cart, Application::Twitter] {
            let harnesses = (0..40).map(|seed| Harness::random(application, &mut Dice::new(seed)));
            for harness in harnesses.filter(|harness| harness.operations() < 6) {
                let by_histories = histories(&harness, Level::Cc, 10_000).expect("its runs do not fail");
                let by_choices = choices(&harness, Level::Cc, Reads::Explored, 10_000).expect("its runs do not fail");
                assert!(by_histories.is_some(), "so few operations can be explored");
                assert_eq!(by_histories, by_choices, "{}", application.name());
            }
        }
    }
}
