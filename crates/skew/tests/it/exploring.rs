//! Exploration through the facade: what it counts, what it finds, and that what it finds can be made again.

use skew::{Check, Level};

use crate::programs::{counted_increments, two_increments};

#[test]
fn every_history_is_visited_once() {
    let explored = skew::explore(Level::Cc, |db| {
        for name in ["alice", "bob", "carol"] {
            db.spawn(name, |session| {
                session.transaction(|t| {
                    let x = t.read::<Option<i64>>("x")?.unwrap_or(0);
                    t.write("x", x + 1)
                })
            });
        }
    });
    assert_eq!((explored.runs, explored.histories, explored.filtered, explored.repeated), (16, 16, 0, 0));
}

#[test]
fn a_level_is_enough_when_no_history_fails() {
    for level in [Level::Psi, Level::Si, Level::Ser] {
        let explored = skew::explore(level, counted_increments);
        assert!(explored.histories > explored.refused && explored.refused > 0, "{level}: {explored:?}");
    }
}

#[test]
fn who_does_not_try_again_after_a_conflict_is_found() {
    for level in [Level::Psi, Level::Si, Level::Ser] {
        let found = std::panic::catch_unwind(|| skew::explore(level, two_increments)).expect_err("one is refused");
        let message = found.downcast_ref::<String>().expect("a message");
        assert!(message.contains("aborted") && message.contains("x counts the increments"), "{message}");
    }
}

#[test]
fn what_exploration_finds_can_be_made_again() {
    for level in [Level::Rc, Level::Cc, Level::Pc] {
        let found = std::panic::catch_unwind(|| skew::explore(level, two_increments)).expect_err("an update is lost");
        let message = found.downcast_ref::<String>().expect("a message").clone();
        assert!(message.contains("that was explored at"), "{message}");
        assert!(message.contains("violated[lost-update]"), "{message}");
        let string = message.split("skew::replay(\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a string");
        let string = string.to_owned();
        let again =
            std::panic::catch_unwind(move || skew::replay(&string, two_increments)).expect_err("it fails again");
        let again = again.downcast_ref::<String>().expect("a message");
        let history = |message: &str| message.split("The history").nth(1).map(str::to_owned);
        assert_eq!(history(again), history(&message));
    }
}

#[test]
fn too_many_runs_are_unknown() {
    let found = std::panic::catch_unwind(|| {
        Check::new(Level::Cc).max_runs(5).explore(|db| {
            for name in ["alice", "bob", "carol", "dave"] {
                db.spawn(name, |session| {
                    session.transaction(|t| t.read::<Option<i64>>("x").and_then(|_| t.write("x", 1)))
                });
            }
        })
    });
    let message = found.expect_err("it is unknown");
    let message = message.downcast_ref::<String>().expect("a message");
    assert_eq!(message, "unknown: 5 runs were not all (`max_runs`); none of them failed");
}
