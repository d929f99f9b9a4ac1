//! Who takes turns, where, and how often a choice is asked.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use skew_model::{Level, SessionId};
use skew_store::choice::{Choice, Point};
use skew_store::picks::Exhaustive;
use skew_store::strategies::{Bias, Dice, Pct, Random};
use skew_store::{Config, Db, Interleaving, Recency, run};

/// The histories of all runs, with how many there were.
fn all_runs(config: Config, program: fn(Db)) -> (usize, BTreeSet<String>) {
    let choice = Arc::new(Mutex::new(Exhaustive::default()));
    let mut histories = BTreeSet::new();
    for runs in 1.. {
        let made = run(&config, Box::new(choice.clone()), program);
        assert_eq!(made.failure, None);
        histories.insert(made.history().to_string());
        let mut choice = choice.lock().expect("nothing panics");
        assert_eq!(choice.divergence(), None);
        if !choice.next_run() {
            return (runs, histories);
        }
    }
    unreachable!("there are finitely many runs")
}

fn two_writers(db: Db) {
    for (name, key) in [("alice", "x"), ("bob", "y")] {
        db.spawn(name, move |session| session.transaction(|t| t.write(key, 1)));
    }
    db.join_all();
}

#[test]
fn operations_interleave_in_every_way() {
    let config = Config { interleaving: Some(Interleaving::Operations), ..Config::new(Level::Rc) };
    // Begin, write and commit of each: 6 over 3.
    assert_eq!(all_runs(config, two_writers).0, 20);
}

#[test]
fn transactions_interleave_in_every_way() {
    let config = Config { interleaving: Some(Interleaving::Transactions), ..Config::new(Level::Rc) };
    assert_eq!(all_runs(config, two_writers).0, 2);
}

#[test]
fn main_takes_turns_as_well() {
    let (runs, histories) = all_runs(Config::new(Level::Rc), |db| {
        db.spawn("alice", |session| session.transaction(|t| t.write("x", 1)));
        db.transaction(|t| t.write("x", 2)).expect("nothing conflicts at rc");
    });
    assert_eq!((runs, histories.len()), (2, 2));
}

#[test]
fn a_session_that_is_spawned_late_can_still_be_first() {
    let (_, histories) = all_runs(Config::new(Level::Rc), |db| {
        let inner = db.clone();
        db.spawn("alice", move |session| {
            inner.spawn("bob", |session| session.transaction(|t| t.write("x", 1)));
            session.transaction(|t| t.write("x", 2))
        });
        db.spawn("carol", |session| session.transaction(|t| t.write("x", 3)));
    });
    assert_eq!(histories.len(), 6, "all orders of three transactions");
}

#[test]
fn every_weak_read_is_met() {
    let (_, histories) = all_runs(Config::new(Level::Cc), |db| {
        db.init("x", 0);
        for name in ["alice", "bob"] {
            db.spawn(name, |session| {
                session.transaction(|t| {
                    let before: i64 = t.read("x")?;
                    t.write("x", before + 1)
                })
            });
        }
    });
    let updates_lost = histories.iter().filter(|history| history.matches("r x=0<init").count() == 2).count();
    assert!(updates_lost > 0 && updates_lost < histories.len());
}

#[test]
fn sessions_go_on_when_main_has_returned() {
    let made = run(&Config::new(Level::Ser), Box::new(Random::new(1)), |db| {
        db.spawn("alice", |session| session.transaction(|t| t.write("x", 1)));
    });
    assert_eq!(made.history().to_string(), "alice t1 @ser  w x=1\n");
}

/// Answers at random, and keeps what it was asked.
struct Spy {
    random: Random,
    turns: Arc<Mutex<Vec<Vec<u32>>>>,
}

impl Choice for Spy {
    fn pick(&mut self, point: Point<'_>) -> usize {
        if let Point::Turn(sessions) = point {
            let sessions = sessions.iter().map(|&SessionId(number)| number).collect();
            self.turns.lock().expect("nothing panics").push(sessions);
        }
        self.random.pick(point)
    }
}

#[test]
fn turns_are_asked_for_only_where_there_is_a_choice() {
    for seed in 0..20 {
        let turns = Arc::new(Mutex::new(Vec::new()));
        let spy = Spy { random: Random::new(seed), turns: turns.clone() };
        run(&Config::new(Level::Ser), Box::new(spy), |db| {
            two_writers(db.clone());
            db.transaction(|t| t.write("x", 2)).expect("nobody else is left");
        });
        let turns = turns.lock().expect("nothing panics");
        assert!(turns.iter().all(|sessions| sessions == &[1, 2]), "{turns:?}");
        assert!((3..=5).contains(&turns.len()), "{turns:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let program = |db: Db| {
        db.init("x", 0);
        for name in ["alice", "bob", "carol"] {
            db.spawn(name, |session| {
                for _ in 0..3 {
                    let _ = session.transaction(|t| t.write("x", t.read::<i64>("x")? + 1));
                }
            });
        }
        db.check(|t| t.read::<i64>("x"));
    };
    let choices: [fn(u64) -> Box<dyn Choice + Send>; 4] = [
        |seed| Box::new(Random::new(seed)),
        |seed| Box::new(Random::biased(seed, Bias::Old)),
        |seed| Box::new(Random::biased(seed, Bias::Fresh)),
        |seed| Box::new(Pct::new(seed, 3, 20)),
    ];
    for level in [Level::Ru, Level::Rc, Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si, Level::Ser]
    {
        for recency in [Recency::None, Recency::Commit] {
            let config = Config { recency, ..Config::new(level) };
            for choice in choices {
                for seed in 0..5 {
                    let (first, second) = (run(&config, choice(seed), program), run(&config, choice(seed), program));
                    assert_eq!(first.picks, second.picks);
                    assert_eq!(first.history().to_string(), second.history().to_string());
                }
            }
        }
    }
}

/// These numbers are part of what a seed means: a change here changes every recorded seed.
#[test]
fn seeds_mean_the_same_forever() {
    let mut dice = Dice::new(1234567);
    let rolls = [dice.roll(), dice.roll(), dice.roll()];
    assert_eq!(rolls, [6457827717110365317, 3203168211198807973, 9817491932198370423]);
    let mut dice = Dice::new(0);
    let throws: Vec<usize> = (0..12).map(|_| dice.below(6)).collect();
    assert_eq!(throws, [5, 2, 0, 5, 0, 1, 1, 4, 1, 5, 2, 4]);
}

#[test]
fn throws_are_fair() {
    let mut dice = Dice::new(7);
    let mut counts = [0_usize; 6];
    (0..60_000).for_each(|_| counts[dice.below(6)] += 1);
    assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
}

#[test]
fn priorities_keep_a_session_going_until_they_change() {
    let sessions = [SessionId(0), SessionId(1), SessionId(2)];
    for seed in 0..50 {
        let mut pct = Pct::new(seed, 2, 30);
        let turns: Vec<usize> = (0..30).map(|_| pct.pick(Point::Turn(&sessions))).collect();
        let changes = turns.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(changes <= 2, "{turns:?}");
    }
}
