//! The assertions break where the store is causal and hold where it is serializable.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use skew_examples::assertions::{ALL, Assertion, Outcome};
use skew_model::Level;
use skew_store::choice::Point;
use skew_store::picks::Exhaustive;
use skew_store::strategies::Random;
use skew_store::{Choice, Config, Failure, Interleaving, run};

fn outcome_of(assertion: &Assertion, config: &Config, choice: Box<dyn Choice + Send>) -> Outcome {
    let seen = Rc::new(Cell::new(None));
    let (kept, look) = (seen.clone(), assertion.outcome);
    let made = run(config, choice, move |db| kept.set(Some(look(&db))));
    assert_eq!(made.failure, None, "{}: {}", assertion.application, assertion.forbids);
    seen.get().expect("a run that did not fail has an outcome")
}

fn outcome(assertion: &Assertion, level: Level, seed: u64) -> Outcome {
    outcome_of(assertion, &Config::new(level), Box::new(Random::new(seed)))
}

fn broken_runs(assertion: &Assertion, level: Level, runs: u64) -> usize {
    (0..runs).filter(|&seed| outcome(assertion, level, seed) == Outcome::Broken).count()
}

#[test]
fn each_assertion_breaks_at_cc_as_often_as_in_the_paper() {
    for assertion in &ALL {
        let broken = broken_runs(assertion, Level::Cc, 2000);
        let papers = 2000.0 / assertion.paper_runs;
        assert!(broken as f64 >= papers, "{}: {}: {broken} runs of 2000", assertion.application, assertion.forbids);
    }
}

#[test]
fn no_assertion_breaks_at_ser() {
    for assertion in &ALL {
        let broken = broken_runs(assertion, Level::Ser, 2000);
        assert_eq!(broken, 0, "{}: {}", assertion.application, assertion.forbids);
    }
}

/// Serializable is what some serial order does. Three clients with three transactions each have 1680 of them; the
/// stack, whose operations are several transactions, has too many.
#[test]
fn no_assertion_breaks_in_any_serial_order() {
    let config = Config { interleaving: Some(Interleaving::Transactions), ..Config::new(Level::Ser) };
    for assertion in ALL.iter().filter(|assertion| assertion.application != "stack") {
        let orders = Arc::new(Mutex::new(SerialOrders(Exhaustive::default())));
        let mut runs = 0;
        loop {
            let outcome = outcome_of(assertion, &config, Box::new(orders.clone()));
            assert_eq!(outcome, Outcome::Held, "{}: {}", assertion.application, assertion.forbids);
            runs += 1;
            if !orders.lock().unwrap_or_else(PoisonError::into_inner).0.next_run() {
                break;
            }
        }
        assert_eq!(runs, 1680, "{}: {}", assertion.application, assertion.forbids);
    }
}

/// All turns; reads return the newest version.
struct SerialOrders(Exhaustive);

impl Choice for SerialOrders {
    fn pick(&mut self, point: Point<'_>) -> usize {
        match point {
            Point::Turn(_) => self.0.pick(point),
            Point::Source(read) => read.count - 1,
        }
    }

    fn sees_sources(&self) -> bool {
        true
    }
}

#[test]
fn a_broken_assertion_fails_the_test() {
    for assertion in &ALL {
        for seed in 0..200 {
            let made = run(&Config::new(Level::Cc), Box::new(Random::new(seed)), assertion.test);
            let expected = outcome(assertion, Level::Cc, seed) == Outcome::Broken;
            let panicked = matches!(made.failure, Some(Failure::Panicked { .. }));
            assert_eq!(panicked, expected, "{} with seed {seed}", assertion.application);
        }
    }
}
