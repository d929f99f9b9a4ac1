//! Constraints put commits in order and show nothing.

use skew_check::check;
use skew_model::{EdgeKind, Explanation, Level, Outcome, history};

/// `CHECK (a + b >= 0)`: t2 could set b only because t1 had set a before, and has read x before t1 wrote it.
const CHECKED: &str = "init x=0 a=0 b=0
    s1 t1  w x=1  w a=5
    s2 t2  r x=0  w b=-5
    constraint a t1 t2";

#[test]
fn a_constraint_orders_commits() {
    let history = history!(CHECKED);
    let outcome = check(&history, Level::Ser).outcome;
    let Outcome::Violated(violation) = outcome else { panic!("{outcome:?}") };
    let Explanation::Cycle(cycle) = &violation.explanation else { panic!("{:?}", violation.explanation) };
    assert!(cycle.edges.iter().any(|edge| matches!(edge.kind, EdgeKind::Constraint(_))), "{cycle:?}");
}

#[test]
fn a_constraint_shows_nothing() {
    for level in [Level::Rc, Level::Ra, Level::Cc, Level::Pc, Level::Psi, Level::Si] {
        assert!(matches!(check(&history!(CHECKED), level).outcome, Outcome::Holds(_)), "{level}");
    }
}

#[test]
fn constraints_that_contradict_each_other_are_outside_every_level() {
    let text = "a t1  w x=1
        b t2  w y=1
        constraint x t1 t2
        constraint y t2 t1";
    for level in Level::ladder().filter(|level| *level != Level::Sser) {
        assert!(matches!(check(&history!(text), level).outcome, Outcome::Violated(_)), "{level}");
    }
}

#[test]
fn a_part_keeps_the_constraints_of_its_transactions() {
    let history = history!(CHECKED);
    let whole = history.select(|_| true, |_| true);
    assert_eq!(whole.constraint_orders(), history.constraint_orders());
    assert!(history.select(|txn| txn.0 == 0, |_| true).constraint_orders().is_empty());
}
