//! What exploration has to see besides reads of known keys: scans, refusals, sessions that overlap or are shared, levels
//! that are not explored by histories, tasks that only join.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::programs::Dice;
use skew_model::{History, Level, Status};
use skew_store::strategies::Random;
use skew_store::witness::replay_witness;
use skew_store::{Config, Db, End, ExploreLimits, Explored, Interleaving, Session, explore, run};

/// What exploration finds: histories as text, without the names of transactions.
fn explored(level: Level, body: impl Fn(Db) + Clone + 'static) -> (BTreeSet<String>, Explored) {
    explored_as(shape, level, body)
}

fn explored_as(
    shape: fn(&History) -> String,
    level: Level,
    body: impl Fn(Db) + Clone + 'static,
) -> (BTreeSet<String>, Explored) {
    let mut found = BTreeSet::new();
    let summary = explore(&Config::new(level), ExploreLimits::default(), body, |run| {
        found.insert(shape(&run.history()));
        ControlFlow::Continue(())
    });
    let summary = summary.unwrap_or_else(|error| panic!("{level}: {error}"));
    assert_eq!(summary.end, End::Complete);
    (found, summary)
}

/// What random runs of the store itself show.
fn shown(level: Level, body: impl Fn(Db) + Clone + 'static, runs: u64) -> BTreeSet<String> {
    let config = Config { interleaving: Some(Interleaving::Operations), ..Config::new(level) };
    (0..runs).map(|seed| shape(&run(&config, Box::new(Random::new(seed)), body.clone()).history())).collect()
}

/// The same without what transactions did that did not commit: a conflict may stop them earlier or later.
fn shape(history: &History) -> String {
    told(history, |status| status == Status::Committed)
}

fn whole_shape(history: &History) -> String {
    told(history, |_| true)
}

/// Sessions in order, each with its transactions' operations; spans and names of transactions are left out, as is what
/// a scan did not find.
fn told(history: &History, tells: impl Fn(Status) -> bool) -> String {
    let mut lines: Vec<String> = Vec::new();
    for id in history.txn_ids() {
        let txn = history.txn(id);
        let ops: Vec<String> = history
            .op_ids(id)
            .map(|op| history.op_text(skew_model::OpId(op)))
            .map(|text| text.split('<').next().unwrap_or_default().to_owned())
            .filter(|text| !text.ends_with("=nil") && tells(txn.status))
            .collect();
        lines.push(format!("{} {:?} {}", history.session_name(txn.session), txn.status, ops.join(" ")));
    }
    lines.sort_by_key(|line| line.split(' ').next().map(str::to_owned));
    lines.join("\n")
}

fn find_and_add(session: &Session) {
    let _ = session.transaction(|t| {
        let found = t.scan::<i64>("n")?.len();
        t.write(&format!("n{found}"), 1)
    });
}

#[test]
fn scans_see_keys_that_come_later() {
    let program = |db: Db| {
        db.spawn("a", |session| {
            session.transaction(|t| {
                let found = t.scan::<i64>("n")?.len();
                t.write("x", found)
            })
        });
        db.spawn("b", |session| session.transaction(|t| t.write("n1", 1)));
    };
    for level in [Level::Rc, Level::Ra, Level::Cc, Level::Ser] {
        let (found, summary) = explored(level, program);
        assert_eq!(summary.histories - summary.refused, 2, "{level}: {found:?}");
        if level != Level::Ser {
            assert_eq!(summary.runs, 2, "{level}");
        }
    }
    let three = |db: Db| {
        for name in ["a", "b", "c"] {
            db.spawn(name, |session| find_and_add(&session));
        }
    };
    let (found, _) = explored(Level::Cc, three);
    assert_eq!(found, shown(Level::Cc, three, 3000));
}

#[test]
fn refusals_are_explored() {
    let program = |db: Db| {
        db.init("x", 0);
        for name in ["a", "b"] {
            db.spawn(name, |session| {
                let done = session.transaction(|t| t.write("x", t.read::<i64>("x")? + 1));
                let how = if done.is_ok() { "done" } else { "refused" };
                let _ = session.transaction(|t| t.write(session.id().0.to_string().as_str(), how));
            });
        }
    };
    for level in [Level::Psi, Level::Si, Level::Ser] {
        let (found, summary) = explored(level, program);
        assert!(summary.refused > 0, "{level}: {summary:?}");
        let shown = shown(level, program, 3000);
        assert!(shown.iter().any(|history| history.contains("refused")), "{level}: random runs are refused too");
        let missing: Vec<_> = shown.difference(&found).collect();
        assert!(missing.is_empty(), "{level}: shown and not explored:\n{missing:#?}");
    }
}

/// Nothing that random runs of the store show is missing from what exploration finds, refusals included, and it finds
/// nothing twice.
#[test]
fn what_random_runs_show_is_explored() {
    let mut dice = Dice::new(23);
    let mut refused = 0;
    for round in 0..25 {
        let sessions: Vec<Vec<Vec<(bool, u8)>>> = (0..2 + dice.roll(2))
            .map(|_| {
                let txn =
                    |dice: &mut Dice| (0..1 + dice.roll(3)).map(|_| (dice.roll(2) == 0, dice.roll(2) as u8)).collect();
                (0..1 + dice.roll(2)).map(|_| txn(&mut dice)).collect()
            })
            .collect();
        let program = move |db: Db| {
            for (number, txns) in sessions.clone().into_iter().enumerate() {
                db.spawn(&format!("s{number}"), move |session| run_session(&session, number, &txns));
            }
        };
        for level in [Level::Pc, Level::Psi, Level::Si, Level::Ser] {
            let (mut found, mut all) = (BTreeSet::new(), BTreeSet::new());
            let limits = ExploreLimits { max_runs: 20_000, ..ExploreLimits::default() };
            let summary = explore(&Config::new(level), limits, program.clone(), |run| {
                let history = run.history();
                assert!(all.insert(whole_shape(&history)), "{level}: twice\n{history}");
                found.insert(shape(&history));
                ControlFlow::Continue(())
            });
            let summary = summary.unwrap_or_else(|error| panic!("{level}: {error}"));
            if summary.end == End::MaxRuns {
                continue;
            }
            refused += summary.refused;
            // More than two refusals in a row are not explored.
            let often = |history: &String| history.matches("Aborted").count() > 2;
            let shown = shown(level, program.clone(), 200);
            let missing: Vec<_> = shown.difference(&found).filter(|history| !often(history)).cloned().collect();
            assert!(missing.is_empty(), "round {round}, {level}: shown and not explored:\n{}", missing.join("\n\n"));
        }
    }
    assert!(refused > 100, "{refused}");
}

/// Reads and writes; what is written tells its writer and what it had read. Who is refused goes on with something else.
fn run_session(session: &Session, number: usize, txns: &[Vec<(bool, u8)>]) {
    for (at, ops) in txns.iter().enumerate() {
        let done = session.transaction(|t| {
            let mut seen = String::new();
            for &(reads, key) in ops {
                let key = ["x", "y"][key as usize];
                if reads {
                    seen += &t.read::<Option<String>>(key)?.unwrap_or_default();
                } else {
                    t.write(key, format!("({number}.{at}{seen})"))?;
                }
            }
            Ok(())
        });
        if done.is_err() {
            let _ = session.transaction(|t| t.write("x", format!("(refused {number}.{at})")));
        }
    }
}

#[test]
fn two_transactions_at_a_time_in_one_task_are_explored() {
    let program = |db: Db| {
        db.init("x", 0);
        let other = db.session("other");
        db.spawn("a", move |session| {
            let first = session.begin().expect("nothing is open");
            let _: i64 = first.read("x").expect("weak levels read");
            let second = other.begin().expect("nothing is open");
            second.write("x", 7).expect("weak levels write");
            second.commit().expect("weak levels commit");
            let _: i64 = first.read("x").expect("weak levels read");
            first.commit().expect("weak levels commit");
        });
        db.spawn("b", |session| session.transaction(|t| t.write("x", 1)));
    };
    for level in [Level::Rc, Level::Cc] {
        let (found, _) = explored(level, program);
        assert_eq!(found, shown(level, program, 3000), "{level}");
    }
}

#[test]
fn a_transaction_of_the_database_is_the_calling_sessions() {
    let program = |db: Db| {
        db.init("x", 0);
        for (number, name) in ["a", "b"].into_iter().enumerate() {
            let own = db.clone();
            db.spawn(name, move |_| own.transaction(|t| t.write("x", 10 * t.read::<i64>("x")? + number as i64 + 1)));
        }
    };
    let (found, _) = explored(Level::Cc, program);
    assert_eq!(found.len(), 3, "{found:#?}");
}

#[test]
fn levels_with_real_time_or_dirty_reads_are_counted_through() {
    let program = |db: Db| {
        db.init("x", 0);
        db.spawn("a", |session| session.transaction_at(Level::Sser, |t| t.write("x", 1)));
        db.spawn("b", |session| session.transaction_at(Level::Sser, |t| t.read::<i64>("x")));
    };
    assert_eq!(explored(Level::Ser, program).0.len(), 2);
    let dirty = |db: Db| {
        db.init("x", 0);
        db.spawn("a", |session| session.transaction_at(Level::Ru, |t| t.read::<i64>("x")));
        db.spawn("b", |session| {
            let t = session.begin().expect("nothing is open");
            t.write("x", 1).expect("weak levels write");
            t.rollback().expect("it is open");
        });
    };
    assert_eq!(explored(Level::Cc, dirty).0.len(), 2);
}

#[test]
fn a_task_without_transactions_may_be_joined() {
    let program = |db: Db| {
        db.init("y", 0);
        db.spawn("reader", |session| session.transaction(|t| t.read::<i64>("y")));
        let idle = db.spawn("idle", |_| ());
        idle.join();
        db.transaction(|t| t.write("y", 1)).expect("weak levels have no conflicts");
    };
    let (found, summary) = explored(Level::Cc, program);
    assert_eq!((found.len(), summary.runs), (2, 2));
}

#[test]
fn what_rolled_back_transactions_read_is_within_their_level() {
    let program = |db: Db| {
        db.init("x", 0);
        db.init("y", 0);
        db.spawn("a", |session| session.transaction(|t| t.write("x", 1)));
        db.spawn("b", |session| session.transaction(|t| t.write("y", 1)));
        db.spawn("c", |session| session.transaction(|t| Ok((t.read::<i64>("x")?, t.read::<i64>("y")?))));
        db.spawn("d", |session| {
            let t = session.begin().expect("nothing is open");
            let _ = (t.write("log", 1), t.read::<i64>("x"), t.read::<i64>("y"));
            let _ = t.rollback();
        });
    };
    let fork = |found: &BTreeSet<String>| {
        found.iter().any(|history| history.contains("r x=1 r y=0") && history.contains("r x=0 r y=1"))
    };
    assert!(fork(&explored_as(whole_shape, Level::Psi, program).0), "psi allows a long fork");
    assert!(!fork(&explored_as(whole_shape, Level::Pc, program).0), "pc does not");
}

#[test]
fn a_check_sees_one_state() {
    let program = |db: Db| {
        for number in [1_i64, 2] {
            db.spawn(&format!("s{number}"), move |session| {
                session.transaction(|t| t.write("x", number).and_then(|()| t.write("y", number)))
            });
        }
        db.check(|t| {
            assert_eq!(t.read::<i64>("x")?, t.read::<i64>("y")?);
            Ok(())
        });
    };
    for level in [Level::Ru, Level::Rc, Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si, Level::Ser]
    {
        for seed in 0..300 {
            let made = run(&Config::new(level), Box::new(Random::new(seed)), program);
            // A conflict leaves nothing to look at.
            let failure = made.failure.map(|failure| failure.to_string()).unwrap_or_default();
            assert!(!failure.contains("left == right"), "{level}: {failure}");
        }
    }
}

#[test]
fn witnesses_of_explored_runs_replay() {
    let program = |db: Db| {
        db.init("x", 0);
        db.init("y", 0);
        db.spawn("a", |session| session.transaction(|t| t.write("y", 1)));
        db.spawn("b", |session| {
            let _ = session.transaction(|t| t.read::<i64>("y").and_then(|_| t.write("x", 1)));
            let _ = session.transaction(|t| t.read::<i64>("y"));
        });
        db.spawn("c", |session| session.transaction(|t| t.compare_and_set("x", 0, 2).and_then(|_| t.read::<i64>("y"))));
    };
    for level in [Level::Rc, Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si, Level::Ser] {
        let mut replayed = 0;
        let summary = explore(&Config::new(level), ExploreLimits::default(), program, |run| {
            let witness = run.witness();
            replay_witness(&witness).unwrap_or_else(|error| panic!("{level}: {error}\n{}", run.history()));
            replayed += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(summary.expect("it is repeatable").histories, replayed);
    }
}

#[test]
fn witnesses_of_runs_that_waited_replay() {
    let program = |db: Db| {
        db.init("x", 0);
        for name in ["a", "b", "c"] {
            db.spawn(name, |session| {
                let _ = session.transaction(|t| t.write("y", 1).and_then(|()| t.compare_and_set("x", 0, 1)));
                let _ = session.transaction(|t| t.write("x", 2).and_then(|()| t.write("y", 2)));
            });
        }
    };
    for seed in 0..500 {
        let made = run(&Config::new(Level::Mvrc), Box::new(Random::new(seed)), program);
        replay_witness(&made.witness()).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", made.history()));
    }
}

#[test]
fn retries_end() {
    let program = |db: Db| {
        db.init("x", 0);
        for name in ["a", "b"] {
            db.spawn(name, |session| session.retry(1000, |t| t.write("x", t.read::<i64>("x")? + 1)));
        }
        assert_eq!(db.check(|t| t.read::<i64>("x")), 2);
    };
    for level in [Level::Psi, Level::Si] {
        let mut failed = 0;
        let summary = explore(&Config::new(level), ExploreLimits::default(), program, |run| {
            failed += usize::from(run.failure.is_some());
            ControlFlow::Continue(())
        });
        let summary = summary.expect("it is repeatable");
        assert_eq!((summary.end, failed), (End::Complete, 0), "{level}: {summary:?}");
        assert!(summary.refused > 0, "{level}");
    }
}
