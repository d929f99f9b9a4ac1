//! What published checkers get wrong, and the kinds of input that they stumble over.

use skew_check::{Checker, Options, check};
use skew_model::{Anomaly, FindingKind, History, Level, Limit, Outcome, Scope, history};

/// The strongest levels that hold, in words.
fn strongest(history: &History) -> String {
    let checker = Checker::new(history, Options::default());
    let held: Vec<Level> = Level::ladder()
        .filter(|&level| level != Level::Sser && checker.holds(Scope::Level(level)) == Some(true))
        .collect();
    let maximal = held.iter().filter(|level| !held.iter().any(|other| other != *level && other.implies(**level)));
    maximal.map(|level| level.id()).collect::<Vec<_>>().join(" ")
}

fn anomaly(history: &History, level: Level) -> Option<Anomaly> {
    check(history, level).violation().map(|violation| violation.anomaly)
}

#[test]
fn the_initial_transaction_comes_before_everything() {
    let history = history!("init x=0\na t1 w x=1\na t2 r x=0");
    assert_eq!(strongest(&history), "ec rc");
    assert_eq!(anomaly(&history, Level::Ra), Some(Anomaly::LostOwnWrite));
}

#[test]
fn reading_a_key_twice_is_ordinary() {
    assert_eq!(strongest(&history!("a t1 w x=1\nb t2 r x=1 r x=1")), "ser");
}

#[test]
fn reading_an_own_write_is_ordinary() {
    assert_eq!(strongest(&history!("a t1 w x=1 r x=1 w x=2 r x=2")), "ser");
}

#[test]
fn a_read_of_the_initial_value_is_a_read() {
    assert_eq!(strongest(&history!("init x=0 y=0\na t1 r x=0 w y=1\nb t2 r y=0 w x=1")), "si");
}

#[test]
fn a_fractured_read_is_not_read_atomic() {
    let history = history!("init x=0 y=0\na t1 w x=1 w y=1\nb t2 r x=0 r y=1");
    assert_eq!(strongest(&history), "mvrc");
    assert_eq!(anomaly(&history, Level::Ra), Some(Anomaly::FracturedRead));
}

#[test]
fn a_thin_air_read_is_a_finding() {
    let history = history!("init x=0\na t1 r x=7");
    assert_eq!(strongest(&history), "");
    assert_eq!(anomaly(&history, Level::Ru), Some(Anomaly::ThinAirRead));
}

#[test]
fn aborted_and_intermediate_reads_break_all_but_read_uncommitted() {
    let aborted = history!("init x=0\na t1 aborted w x=1\nb t2 r x=1");
    let intermediate = history!("init x=0\na t1 w x=1 w x=2\nb t2 r x=1");
    for (history, name) in [(aborted, Anomaly::AbortedRead), (intermediate, Anomaly::IntermediateRead)] {
        assert_eq!(strongest(&history), "ru");
        assert_eq!(anomaly(&history, Level::Rc), Some(name));
    }
}

#[test]
fn contradicting_an_own_write_breaks_everything() {
    let internal = history!("init x=0\na t1 w x=1 r x=0");
    assert_eq!(anomaly(&internal, Level::Ru), Some(Anomaly::InternalRead));
    let future = history!("init x=0\na t1 r x=1 w x=1");
    assert_eq!(anomaly(&future, Level::Ru), Some(Anomaly::FutureRead));
}

#[test]
fn an_ambiguous_read_is_unknown_until_its_source_is_named() {
    let open = history!("init x=0\na t1 w x=1\nb t2 w x=1\nc t3 r x=1");
    let Outcome::Unknown(Limit::AmbiguousReads { count: 1, first }) = check(&open, Level::Rc).outcome else {
        panic!("two transactions wrote x=1");
    };
    assert_eq!(first.kind, FindingKind::AmbiguousRead);
    assert_eq!(strongest(&history!("init x=0\na t1 w x=1\nb t2 w x=1\nc t3 r x=1<t2")), "ser");
}

#[test]
fn an_ambiguous_read_does_not_hide_a_violation() {
    let history = history!("init x=0 y=0\na t1 w x=1\nb t2 w x=1\nc t3 r x=1\nd t4 w y=1\nd t5 r y=0");
    assert_eq!(anomaly(&history, Level::Ra), Some(Anomaly::LostOwnWrite));
}

#[test]
fn an_indeterminate_transaction_counts_only_if_somebody_read_from_it() {
    assert_eq!(strongest(&history!("init x=0\na t1 maybe w x=1\nb t2 r x=0\nb t3 r x=0")), "ser");
    let read = history!("init x=0\na t1 maybe w x=1\nb t2 r x=1\nb t3 r x=0");
    assert_eq!(anomaly(&read, Level::Cc), Some(Anomaly::NonMonotonicSession));
}

#[test]
fn a_stated_source_that_wrote_something_else_is_a_finding() {
    let history = history!("init x=0\na t1 w x=1\nb t2 r x=2<t1");
    assert_eq!(anomaly(&history, Level::Rc), Some(Anomaly::ThinAirRead));
}

#[test]
fn a_declared_level_must_be_declared() {
    let history = history!("a t1 @si w x=1\nb t2 r x=1");
    let checker = Checker::new(&history, Options::default());
    assert!(matches!(checker.check(Scope::Declared).outcome, Outcome::Unknown(Limit::NoDeclaredLevel(_))));
}

#[test]
fn limits_give_unknown() {
    use skew_check::Limits;
    let history = history!("init x=0 y=0\na t1 r x=0 w y=1\nb t2 r y=0 w x=1");
    let limits = Limits { max_bytes: 1, ..Limits::default() };
    let checker = Checker::new(&history, Options { limits, ..Options::default() });
    assert!(matches!(checker.check(Scope::Level(Level::Ser)).outcome, Outcome::Unknown(Limit::Memory { .. })));
}

#[test]
fn an_indeterminate_transaction_that_counts_may_have_read_badly() {
    for text in ["s0 t1 maybe r x=11 w x=2\ns1 t2 r x=2", "order y 12\ns0 t3 maybe w y=12 r x=11"] {
        assert_eq!(anomaly(&history!(text), Level::Ser), Some(Anomaly::ThinAirRead), "{text}");
    }
}

#[test]
fn a_wrong_stated_source_is_not_made_right_by_the_initial_value() {
    assert_eq!(anomaly(&history!("init y=1\na t1 w z=1\nb t3 r y=1<t1"), Level::Ser), Some(Anomaly::ThinAirRead));
    assert_eq!(anomaly(&history!("a t2 w x=1\nb t1 w x=1 r x=1<t2"), Level::Ser), Some(Anomaly::InternalRead));
}

#[test]
fn writing_the_value_that_was_read_is_not_ambiguous() {
    assert_eq!(strongest(&history!("init x=0\na t1 r x=0 w x=0")), "ser");
    assert_eq!(strongest(&history!("init x=0\na t1 w x=1\nb t2 r x=1 w x=1")), "ser");
}

#[test]
fn a_version_order_with_a_value_that_two_wrote_leaves_things_open() {
    for text in [
        "order x 1 2\na t1 w x=1\nb t2 w x=1\nb t3 w x=2",
        "order x 1 2\na t3 w x=2\na t1 w x=1\nb t2 w x=1",
        "init x=0\norder x 0 2\na t2 w x=0\na t1 w x=2",
    ] {
        let outcome = check(&history!(text), Level::Ser).outcome;
        assert!(matches!(outcome, Outcome::Unknown(Limit::AmbiguousReads { .. })), "{text}: {outcome:?}");
    }
}

#[test]
fn a_transaction_stands_in_a_version_order_where_its_last_write_stands() {
    assert_eq!(strongest(&history!("order x 3 2\na t3 w x=2\nb t4 r x=2 w x=3 w x=14")), "ser");
}

#[test]
fn a_declared_strict_serializable_transaction_looks_at_the_clock() {
    let history = history!("s1 t1 @sser [0..1] w x=1\ns2 t2 @sser [5..6] r x=nil");
    assert_eq!(Checker::new(&history, Options::default()).holds(Scope::Declared), Some(false));
    let weaker = history!("s1 t1 @sser [0..1] w x=1\ns2 t2 @ser [5..6] r x=nil");
    assert_eq!(Checker::new(&weaker, Options::default()).holds(Scope::Declared), Some(true));
}

#[test]
fn the_ladder_does_not_infer_mvrc_where_statements_have_times() {
    let history = history!("s0 t1 [2..4] [4] r x=nil\ns1 t2 [2..3] w x=1");
    let assumptions = skew_check::Assumptions { sessions: true, real_time: true };
    let checker = Checker::new(&history, Options { assumptions, ..Options::default() });
    for verdict in checker.ladder(|_| ()) {
        assert_eq!(verdict.holds(), checker.check(verdict.scope).holds(), "{}", verdict.scope);
    }
}

#[test]
fn a_row_that_a_statement_writes_stays_with_its_read() {
    let history = history!("order z 1 2\na t2 w z=2 w y=12\nb t5 (r z=2 r y=nil w z=1)");
    let verdict = check(&history, Level::Mvrc);
    let violation = verdict.violation().expect("t5 overwrote what it read with an older version");
    assert!(violation.history.to_string().contains("(r z=2 w z=1)"), "{}", violation.history);
}
