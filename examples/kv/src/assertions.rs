//! The assertions of the applications in a list, with what the paper needed to break them (Table 1).

use skew_store::Db;

use crate::{cart, courseware, stack, twitter};

/// Whether an assertion held in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It held.
    Held,
    /// It did not.
    Broken,
}

/// An assertion and the workload in which it is made.
#[derive(Clone, Copy, Debug)]
pub struct Assertion {
    /// The application.
    pub application: &'static str,
    /// What must not happen.
    pub forbids: &'static str,
    /// How many runs the paper needed on average until it happened, at causal consistency.
    pub paper_runs: f64,
    /// How many milliseconds a run took in the paper.
    pub paper_run_ms: f64,
    /// The workload and the assertion as the body of a test, which panics.
    pub test: fn(Db),
    /// The same without a panic, for many runs.
    pub outcome: fn(&Db) -> Outcome,
}

/// The five of them, in the paper's order.
pub const ALL: [Assertion; 5] = [
    Assertion {
        application: "stack",
        forbids: "element popped more than once",
        paper_runs: 3.7,
        paper_run_ms: 20.0 / 3.7,
        test: stack::no_element_is_popped_twice,
        outcome: |db| broken_if(stack::popped_twice(&stack::workload(db)).is_some()),
    },
    Assertion {
        application: "courseware",
        forbids: "course registration overflow",
        paper_runs: 10.6,
        paper_run_ms: 90.0 / 10.6,
        test: courseware::no_course_overflows,
        outcome: |db| broken_if(courseware::overflows(&courseware::rush(db))),
    },
    Assertion {
        application: "courseware",
        forbids: "removed course registration",
        paper_runs: 57.5,
        paper_run_ms: 520.0 / 57.5,
        test: courseware::nobody_is_in_a_removed_course,
        outcome: |db| broken_if(!courseware::cancellation(db).is_empty()),
    },
    Assertion {
        application: "cart",
        forbids: "item reappears after deletion",
        paper_runs: 20.2,
        paper_run_ms: 140.0 / 20.2,
        test: cart::a_deleted_item_stays_away,
        outcome: |db| broken_if(cart::came_back(&cart::workload(db))),
    },
    Assertion {
        application: "twitter",
        forbids: "missing tweets in feed",
        paper_runs: 6.3,
        paper_run_ms: 30.0 / 6.3,
        test: twitter::seen_tweets_are_in_the_newsfeed,
        outcome: |db| broken_if(twitter::missing(&twitter::workload(db)).is_some()),
    },
];

fn broken_if(broken: bool) -> Outcome {
    if broken { Outcome::Broken } else { Outcome::Held }
}
