//! What a failing check says.

use std::panic::{AssertUnwindSafe, catch_unwind};

use skew::strategies::Bias;
use skew::{Check, Failure, Interleaving, Level, Recency, Strategy};

use crate::programs::{increment, on_call, two_increments};

/// What a call panics with.
fn message(call: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(call)).expect_err("the call panics");
    payload.downcast_ref::<String>().expect("the message is a text").clone()
}

#[test]
fn a_lost_update_is_explained() {
    let message = message(|| skew::check_random(Level::Cc, 100, two_increments));
    let (start, rest) = message.split_once(" at ").expect("it says where");
    let (place, rest) = rest.split_once(": ").expect("and what");
    assert!(place.contains("programs.rs:"), "{place}");
    assert_eq!(
        format!("{start}: {rest}"),
        "\
session `main` panicked: assertion `left == right` failed: x counts the increments
  left: 1
 right: 2

in run 2 of 100 at cc, seed 0
replay: skew::replay(\"skew1.cc.none.transactions.101\", …)

run.hist: 3 transactions, 5 operations, 3 sessions
  ser   violated   lost-update

violated[lost-update]: t1 and t2 both overwrote x, and t1 had read it before t2 wrote: one update is lost
  --> run.hist:2
  |
2 | bob   t1 @cc  r x=0<init  w x=1
  |               ^^^^^^^^^^ t1 comes before t2: t1 read x=0, which t2 overwrote with x=1
3 | alice t2 @cc  r x=0<init  w x=1
  |               ^^^^^^^^^^ but t2 comes before t1: t2 read x=0, which t1 overwrote with x=1
  = cycle   t1 -rw(x)-> t2 -rw(x)-> t1
  = breaks  psi        still satisfies  mvrc, pc
  = fix     write with `compare_and_set`, or run both at Level::SNAPSHOT_ISOLATION and repeat them
            with `Session::retry`
  = replay  skew check run.hist --level ser

ser is violated

The history, as run.hist:
init  x=0
bob   t1 @cc  r x=0<init  w x=1
alice t2 @cc  r x=0<init  w x=1
check t3 @cc  r x=1<t2
"
    );
}

#[test]
fn a_replay_fails_in_the_same_way() {
    let found = Check::new(Level::Cc).find(two_increments).expect("an update is lost");
    let again = message(|| skew::replay(&found.recording.to_string(), two_increments));
    let tail = |text: &str| text.split_once("replay:").map(|(_, tail)| tail.to_owned());
    assert_eq!(tail(&again), tail(&found.to_string()));
    assert!(again.contains("in a run at cc that was made again"));
}

#[test]
fn write_skew_is_found_where_the_level_allows_it() {
    let snapshots = Check::new(Level::Si).recency(Recency::Commit).find(on_call).expect("si allows write skew");
    assert!(snapshots.to_string().contains("nobody is on call"));
    assert!(snapshots.to_string().contains("violated[write-skew]"), "{snapshots}");
    skew::check_random(Level::Ser, 500, on_call);
}

#[test]
fn serializable_programs_pass() {
    skew::check_random(Level::Ser, 500, |db| {
        db.init("x", 0);
        let sessions = ["alice", "bob"].map(|name| db.spawn(name, |session| increment(&session).is_ok()));
        let done: usize = sessions.map(|session| usize::from(session.join())).into_iter().sum();
        assert_eq!(db.check(|t| t.read::<usize>("x")), done);
    });
}

#[test]
fn every_strategy_finds_it() {
    let strategies = [
        Strategy::Random(Bias::Uniform),
        Strategy::Random(Bias::Old),
        Strategy::Random(Bias::Fresh),
        Strategy::Pct { changes: 2 },
    ];
    for strategy in strategies {
        let found = Check::new(Level::Rc).strategy(strategy).find(two_increments).expect("an update is lost");
        assert!(matches!(found.failure, Failure::Panicked { .. }));
        let commit = Check::new(Level::Rc).strategy(strategy).recency(Recency::Commit);
        assert!(commit.interleaving(Interleaving::Operations).find(two_increments).is_some());
    }
}

#[test]
fn a_program_that_is_wrong_by_itself_is_told_apart() {
    let message = message(|| {
        skew::check_random(Level::Rc, 10, |db| {
            db.init("x", 0);
            assert_eq!(db.check(|t| t.read::<i64>("x")), 1);
        });
    });
    assert!(message.contains("This run is serializable: the program is wrong even where"), "{message}");
}

#[test]
fn what_was_rolled_back_is_not_taken_for_an_explanation() {
    let message = message(|| {
        skew::check_random(Level::Rc, 10, |db| {
            let _ = db.transaction(|t| {
                t.write("x", 1)?;
                assert_eq!(t.read::<i64>("x")?, 2);
                Ok(())
            });
        });
    });
    assert!(message.contains("What was committed in this run is serializable"), "{message}");
}

#[test]
fn an_endless_run_is_named() {
    let endless = Check::new(Level::Ser).runs(1).max_steps(100);
    let found = endless.find(|db| {
        loop {
            let _ = db.transaction(|t| t.write("x", 1));
        }
    });
    let found = found.expect("the run does not end").to_string();
    let expected =
        "more than 100 calls (`max_steps`), the last of them in session `main`: a retry that never succeeds?";
    assert!(found.starts_with(expected), "{found}");
}

#[test]
fn a_string_that_does_not_fit_is_not_success() {
    let message = message(|| skew::replay("skew1.cc.none.transactions.9", two_increments));
    let changed = "the replay string does not fit the program, which has changed since: ";
    let missing = format!("{changed}pick 1 took alternative 10 and now there are 2. The run that it made instead:");
    assert!(message.starts_with(&missing), "{message}");
    let message = self::message(|| skew::replay("skew1.cc.none.transactions.1", |_| ()));
    assert_eq!(message, format!("{changed}the run ended with 1 of 1 picks unused"));
    let message = self::message(|| skew::replay("deadbeef", |_| ()));
    assert!(message.starts_with("not a replay string: "), "{message}");
}
