//! A run as a string: what it says, that it makes the same run again, and what is not one.

use std::sync::{Arc, Mutex};

use skew_model::Level;
use skew_store::picks::{Divergence, Replay};
use skew_store::replay::{Made, Recording};
use skew_store::strategies::{Dice, Random};
use skew_store::{Config, Db, Interleaving, Recency, run};

fn program(db: Db) {
    db.init("x", 0);
    for name in ["alice", "bob", "carol"] {
        db.spawn(name, |session| {
            let _ = session.transaction(|t| t.write("x", t.read::<i64>("x")? + 1));
        });
    }
    assert_eq!(db.check(|t| t.read::<i64>("x")), 3);
}

#[test]
fn a_string_makes_the_same_run_again() {
    let mut failures = 0;
    for level in [Level::Ru, Level::Rc, Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si, Level::Ser]
    {
        for recency in [Recency::None, Recency::Commit] {
            for seed in 0..20 {
                let config = Config { recency, ..Config::new(level) };
                let first = run(&config, Box::new(Random::new(seed)), program);
                let recording = Recording::parse(&first.recording().to_string()).expect("it was printed");
                let again = recording.run(program);
                let second = again.run;
                assert_eq!(first.failure, second.failure);
                assert_eq!(first.picks, second.picks);
                assert_eq!(first.history().to_string(), second.history().to_string());
                assert_eq!(again.divergence, None);
                failures += usize::from(first.failure.is_some());
            }
        }
    }
    assert!(failures > 0, "some of them lose an update");
}

#[test]
fn strings_are_short() {
    let made = run(&Config::new(Level::Cc), Box::new(Random::new(4)), program);
    let text = made.recording().to_string();
    assert!(text.starts_with("skew1.cc.none.transactions.") && text.len() <= 36, "{text}");
}

#[test]
fn print_and_parse_are_inverse() {
    let mut dice = Dice::new(11);
    for round in 0..200_u32 {
        let limit = [2, 64, 65, 4096, u32::MAX as usize][round as usize % 5];
        let mut picks: Vec<u32> = (0..dice.below(40)).map(|_| dice.below(limit) as u32).collect();
        picks.push(1);
        let recording = Recording {
            level: Level::all().nth(dice.below(Level::all().len())).expect("a level"),
            recency: if round % 2 == 0 { Recency::None } else { Recency::Commit },
            interleaving: if round % 3 == 0 { Interleaving::Operations } else { Interleaving::Transactions },
            made: [Made::Drawn, Made::Listed][dice.below(2)],
            max_steps: [1_000_000, 50][dice.below(2)],
            picks,
        };
        let text = recording.to_string();
        assert!(text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.~".contains(c)), "{text}");
        assert_eq!(Recording::parse(&text), Ok(recording));
    }
}

#[test]
fn zeros_at_the_end_are_left_out() {
    let config = Config::new(Level::Cc);
    let recording = |picks: &[u32]| Recording { picks: picks.to_vec(), ..Recording::new(&config, Made::Drawn, &[]) };
    assert_eq!(recording(&[0, 1, 63, 64, 0, 0]).to_string(), "skew1.cc.none.transactions.01_~64~");
    assert_eq!(recording(&[0, 0]).to_string(), "skew1.cc.none.transactions.");
}

#[test]
fn what_is_not_a_recording_is_refused_with_a_reason() {
    let reasons = [
        ("", "it has 1 parts between dots instead of 5"),
        ("skew1.cc.none.transactions", "it has 4 parts between dots instead of 5"),
        ("skew2.cc.none.transactions.0", "it starts with `skew2`, and this version of Skew writes `skew1`"),
        ("skew1.best.none.transactions.0", "`best` is not the id of a level"),
        ("skew1.cc.some.transactions.0", "`some` is not a recency; there are `none` and `commit`"),
        (
            "skew1.cc.none.rows.0",
            "`rows` is not a way to interleave; there are `transactions`, `operations`, `histories`",
        ),
        ("skew1.cc.none.operations.0 1", "` ` stands for no pick"),
        ("skew1.cc.none.operations.01~7", "it ends within `~…~`"),
        ("skew1.cc.none.operations.0.many", "`many` is not a number of calls"),
        ("skew1.cc.none.operations.~x~", "`~x~` is not a number"),
        ("skew1.cc.none.operations.~99999999999~", "`~99999999999~` is not a number"),
    ];
    for (text, reason) in reasons {
        let error = Recording::parse(text).expect_err(text).to_string();
        assert_eq!(error, format!("not a replay string: {reason}; copy it whole from the failing test"));
    }
}

#[test]
fn a_string_that_does_not_fit_says_where() {
    let diverge = |picks: Vec<u32>| {
        let replay = Arc::new(Mutex::new(Replay::new(picks)));
        run(&Config::new(Level::Ser), Box::new(replay.clone()), |db| {
            for name in ["alice", "bob"] {
                db.spawn(name, |session| session.transaction(|t| t.write("x", 1)));
            }
        });
        let divergence = replay.lock().expect("nothing panics").divergence();
        divergence.expect("it does not fit")
    };
    let missing = diverge(vec![1, 7]);
    assert_eq!(missing, Divergence::Missing { at: 2, chosen: 7, among: 2 });
    assert_eq!(missing.to_string(), "pick 2 took alternative 8 and now there are 2");
    let left_over = diverge(vec![1; 30]);
    assert!(matches!(left_over, Divergence::LeftOver { picks: 30, .. }), "{left_over}");
}

#[test]
fn a_run_that_does_not_end_does_not_end_again() {
    let endless = |db: Db| {
        while db.transaction(|t| t.write("x", 1)).is_ok() {}
    };
    let config = Config { max_steps: 50, ..Config::new(Level::Cc) };
    let made = run(&config, Box::new(Random::new(1)), endless);
    let recording = Recording::parse(&made.recording().to_string()).expect("it was printed");
    assert!(made.failure.is_some());
    assert_eq!(recording.run(endless).run.failure, made.failure);
}
