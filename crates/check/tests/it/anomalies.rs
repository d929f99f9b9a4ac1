//! Small histories and what they break. Text in, text out.

use skew_check::{Assumptions, Checker, Options};
use skew_model::{History, Level, Scope};

/// What breaks, and what holds, with the anomaly.
#[track_caller]
fn expect(text: &str, expected: &str) {
    expect_with(text, Assumptions::default(), expected);
}

fn holds(text: &str, level: Level) -> Option<bool> {
    let history = History::parse(text).expect("a history");
    Checker::new(&history, Options::default()).holds(Scope::Level(level))
}

#[track_caller]
fn expect_with(text: &str, assumptions: Assumptions, expected: &str) {
    let history = History::parse(text).expect("a history");
    let checker = Checker::new(&history, Options { assumptions, ..Options::default() });
    let broken = checker.ladder(|_| ()).into_iter().rev().find_map(|verdict| match verdict.scope {
        Scope::Level(_) => verdict.violation().cloned(),
        Scope::Declared => None,
    });
    let found = match broken {
        None => "serializable".to_owned(),
        Some(violation) => {
            let list = |levels: &[Level]| levels.iter().map(|level| level.id()).collect::<Vec<_>>().join(" ");
            format!(
                "{}: breaks {}, satisfies {}",
                violation.anomaly,
                list(&violation.breaks),
                list(&violation.satisfies)
            )
        }
    };
    assert_eq!(found, expected, "\n{history}");
}

#[test]
fn si_allows_write_skew() {
    expect("init x=0 y=0\na t1 r x=0 w y=1\nb t2 r y=0 w x=1", "write-skew: breaks ser, satisfies si");
}

#[test]
fn psi_forbids_lost_update_and_pc_allows_it() {
    expect("init x=0\na t1 r x=0 w x=1\nb t2 r x=0 w x=2", "lost-update: breaks psi, satisfies mvrc pc");
}

#[test]
fn psi_allows_long_fork_and_pc_forbids_it() {
    expect(
        "init x=0 y=0\na t1 w x=1\nb t2 w y=1\nc t3 r x=1 r y=0\nd t4 r y=1 r x=0",
        "long-fork: breaks mvrc pc, satisfies psi",
    );
}

#[test]
fn a_statement_sees_one_prefix() {
    let history = |statement: &str| format!("init x=0 y=0\na t1 w x=1 w y=1\nb t2 {statement}");
    expect(&history("r x=0 r y=1"), "fractured-read: breaks ec, satisfies mvrc");
    expect(&history("(r x=0 r y=1)"), "fractured-read: breaks ec mvrc, satisfies rc");
}

#[test]
fn one_update_statement_loses_nothing_at_mvrc() {
    let increments = |a: &str, b: &str| format!("init x=0\na t1 {a}\nb t2 {b}");
    expect(&increments("r x=0 w x=1", "r x=0 w x=2"), "lost-update: breaks psi, satisfies mvrc pc");
    expect(&increments("(r x=0 w x=1)", "(r x=0 w x=2)"), "lost-update: breaks mvrc psi, satisfies pc");
}

#[test]
fn a_row_that_a_statement_writes_is_read_beyond_its_snapshot() {
    // t2 updates x under its lock, finding t1's version, though the rest of the statement looks at the older snapshot.
    let text = |statement: &str| format!("init x=0 y=0\na t1 w x=1 w y=1\nb t2 {statement}");
    assert_eq!(holds(&text("(r y=0 r x=1 w x=2)"), Level::Mvrc), Some(true));
    assert_eq!(holds(&text("(r x=1 r y=0 w x=2)"), Level::Mvrc), Some(true), "whichever is recorded first");
    assert_eq!(holds(&text("(r y=0 r x=1)"), Level::Mvrc), Some(false), "without the lock it looks at one snapshot");
    assert_eq!(holds(&text("(r x=1 w x=2) r y=0"), Level::Mvrc), Some(false), "the next statement sees what it found");
}

#[test]
fn the_read_only_anomaly_needs_the_reader() {
    let writers = "init x=0 y=0\na t1 r x=0 r y=0 w x=-11\nb t2 r y=0 w y=20\n";
    expect(writers, "serializable");
    expect(&format!("{writers}c t3 r x=0 r y=20"), "read-only-anomaly: breaks ser, satisfies si");
}

#[test]
fn session_order_can_be_switched_off() {
    let text = "init x=0\na t1 w x=1\na t2 r x=0";
    expect(text, "lost-own-write: breaks ra mvrc, satisfies ec rc");
    expect_with(text, Assumptions { sessions: false, real_time: false }, "serializable");
}

#[test]
fn real_time_orders_sessions() {
    let text = "init x=0\na t1 [1..2] w x=1\nb t2 [3..4] r x=0";
    expect(text, "stale-read: breaks sser, satisfies ser");
    expect_with(text, Assumptions { sessions: true, real_time: true }, "stale-read: breaks ra mvrc, satisfies ec rc");
}

#[test]
fn at_mvrc_real_time_goes_by_statements() {
    // t1 commits between the two statements of t2.
    let text = |second: &str| format!("init x=0 y=0\na t1 [2..3] w x=1 w y=1\nb t2 [1..9] [1] r y=0 [5] r x={second}");
    let mvrc = |text: &str| {
        let history = History::parse(text).expect("a history");
        let assumptions = Assumptions { sessions: true, real_time: true };
        Checker::new(&history, Options { assumptions, ..Options::default() }).holds(Scope::Level(Level::Mvrc))
    };
    assert_eq!(mvrc(&text("1")), Some(true));
    assert_eq!(mvrc(&text("0")), Some(false), "the second statement began after t1 had ended");
}

#[test]
fn a_known_version_order_settles_what_reads_leave_open() {
    let blind = "a t1 w x=1 w y=1\nb t2 w x=2 w y=2";
    expect(blind, "serializable");
    expect(&format!("order x 1 2\norder y 2 1\n{blind}"), "dirty-write: breaks ru, satisfies ");
    expect(&format!("order x 1 2\n{blind}\nc t3 r y=1 r x=2"), "fractured-read: breaks ec, satisfies mvrc");
}

#[test]
fn levels_mix_by_the_reading_transaction() {
    let text = |one: &str, two: &str| format!("init x=0 y=0\na t1 @{one} r x=0 w y=1\nb t2 @{two} r y=0 w x=1");
    let declared = |text: &str| {
        let history = History::parse(text).expect("a history");
        Checker::new(&history, Options::default()).holds(Scope::Declared)
    };
    assert_eq!(declared(&text("ser", "ser")), Some(false));
    assert_eq!(
        declared(&text("ser", "si")),
        Some(true),
        "one serializable transaction cannot prevent write skew alone"
    );
    assert_eq!(declared(&text("si", "ser")), Some(true));
}
