//! Transactions left open, dropped or begun twice, sessions that panic or wait forever: each ends with a clear error and
//! leaves the database usable.

use skew_model::Level;
use skew_store::choice::{Choice, Point};
use skew_store::strategies::Random;
use skew_store::{Config, Database, Db, Ended, Error, Failure, Refusal, Run, run};

fn made(level: Level, program: impl FnOnce(Db) + 'static) -> Run {
    run(&Config::new(level), Box::new(Random::new(1)), program)
}

/// A new session can read and write.
fn is_usable(db: &Database) {
    let session = db.session("later");
    let written = session.transaction(|t| {
        t.write("later", 1)?;
        t.read::<i64>("later")
    });
    assert_eq!(written, Ok(1));
}

/// What the run failed with, without the place in this file.
fn failure(run: &Run) -> String {
    match run.failure.clone().expect("the run fails") {
        Failure::Panicked { session, message, .. } => Failure::Panicked { session, message, place: None }.to_string(),
        other => other.to_string(),
    }
}

#[test]
fn a_dropped_transaction_is_rolled_back() {
    let db = Database::new(Level::Ser, 0);
    let session = db.session("alice");
    let t = session.begin().expect("nothing is open");
    t.write("x", 1).expect("nobody else is there");
    drop(t);
    assert_eq!(session.transaction(|t| t.read::<Option<i64>>("x")), Ok(None));
    assert!(db.history().to_string().starts_with("alice t1 @ser aborted  w x=1\n"), "{}", db.history());
}

#[test]
fn a_body_that_fails_is_rolled_back() {
    let session = Database::new(Level::Ser, 0).session("alice");
    let full = Error::Abandoned("the course is full".to_owned());
    let result = session.transaction(|t| {
        t.write("x", 1)?;
        Err::<(), _>(full.clone())
    });
    assert_eq!(result, Err(full));
    assert_eq!(session.transaction(|t| t.read::<Option<i64>>("x")), Ok(None));
}

#[test]
fn a_session_has_one_transaction_at_a_time() {
    let session = Database::new(Level::Ser, 0).session("alice");
    let first = session.begin().expect("nothing is open");
    let error = session.begin().err().expect("one is open");
    assert_eq!(error, Error::StillOpen { session: "alice".to_owned() });
    first.commit().expect("nobody else is there");
    assert!(session.begin().is_ok());
}

#[test]
fn one_thread_can_have_two_sessions() {
    let db = Database::new(Level::Si, 0);
    let (alice, bob) = (db.session("alice"), db.session("bob"));
    let (first, second) = (alice.begin().expect("nothing is open"), bob.begin().expect("nothing is open"));
    first.write("x", 1).expect("nobody has written x");
    assert_eq!(second.read::<Option<i64>>("x"), Ok(None));
    assert!(first.commit().is_ok() && second.commit().is_ok());
}

#[test]
fn a_level_without_sessions_is_refused() {
    let session = Database::new(Level::Ser, 0).session("alice");
    let error = session.begin_at(Level::Ec).err().expect("the store has sessions");
    assert_eq!(error, Error::Level(Level::Ec));
}

#[test]
fn a_refused_transaction_stays_refused() {
    let db = Database::new(Level::Si, 0);
    let (alice, bob) = (db.session("alice"), db.session("bob"));
    let (first, second) = (alice.begin().expect("nothing is open"), bob.begin().expect("nothing is open"));
    first.read::<Option<i64>>("x").expect("reads succeed");
    second.read::<Option<i64>>("x").expect("reads succeed");
    first.write("x", 1).expect("nobody else has written x");
    first.commit().expect("nobody else has written x");
    let error = second.write("x", 2).and_then(|()| second.read::<i64>("x").map(|_| ()));
    let error = error.and_then(|()| second.write("y", 2)).expect_err("x was written meanwhile");
    assert_eq!(error, Error::Serialization { key: "x".to_owned(), why: Refusal::Conflict });
    assert_eq!(second.read::<i64>("x"), Err(Error::Finished { how: Ended::Refused }));
    assert_eq!(second.commit(), Err(Error::Finished { how: Ended::Refused }));
    is_usable(&db);
}

#[test]
fn initial_values_come_first() {
    let db = Database::new(Level::Ser, 0);
    db.session("alice").transaction(|t| t.write("x", 1)).expect("nobody else is there");
    let late = std::panic::catch_unwind(|| db.init("x", 0)).expect_err("x has been used");
    let message = late.downcast_ref::<String>().expect("the message is a text");
    assert_eq!(message, "`x` has been used; give initial values before the first transaction");
    is_usable(&db);
}

#[test]
fn a_panic_ends_the_run_and_rolls_the_others_back() {
    let run = made(Level::Rc, |db| {
        let patient = db.spawn("patient", |session| {
            let t = session.begin().expect("nothing is open");
            t.write("x", 1).expect("nothing is locked");
            session.database().session("patient-too").transaction(|t| t.write("y", 1)).expect("nothing is locked");
            panic!("nobody expects this");
        });
        db.spawn("other", |session| session.transaction(|t| t.write("z", 1)));
        patient.join()
    });
    let Some(Failure::Panicked { session, message, place: Some(place) }) = &run.failure else {
        panic!("a session has panicked, and it is known where");
    };
    assert_eq!((session.as_str(), message.as_str()), ("patient", "nobody expects this"));
    assert!(place.contains("misuse.rs:"), "{place}");
    assert_eq!(failure(&run), "session `patient` panicked: nobody expects this");
    assert!(run.history().to_string().contains("@rc aborted  w x=1"), "{}", run.history());
    is_usable(run.database());
}

#[test]
fn what_a_panicking_transaction_has_read_belongs_to_the_history() {
    let run = made(Level::Rc, |db| {
        db.init("x", 0);
        db.check(|t| {
            assert_eq!(t.read::<i64>("x")?, 1);
            Ok(())
        });
    });
    assert_eq!(run.history().to_string(), "init  x=0\ncheck t1 @cc  r x=0<init\n");
}

#[test]
fn everything_on_the_stacks_of_a_failed_run_is_dropped() {
    let counter = std::sync::Arc::new(());
    let held = counter.clone();
    let run = made(Level::Ser, move |db| {
        for name in ["alice", "bob", "carol"] {
            let held = held.clone();
            db.spawn(name, move |session| {
                let _held = held;
                loop {
                    let _ = session.transaction(|t| t.write("x", 1));
                }
            });
        }
        let _ = db.transaction(|t| t.write("x", 1));
        panic!("enough");
    });
    assert_eq!(failure(&run), "session `main` panicked: enough");
    assert_eq!(std::sync::Arc::strong_count(&counter), 1);
}

#[test]
fn a_destructor_may_use_the_database_while_its_session_panics() {
    struct Unlock(skew_store::Session);
    impl Drop for Unlock {
        fn drop(&mut self) {
            self.0.transaction(|t| t.write("lock", 0)).expect("a session that panics is not given up");
        }
    }
    let run = made(Level::Ser, |db| {
        db.spawn("other", |session| session.transaction(|t| t.write("x", 1)));
        let _unlock = Unlock(db.session("unlock"));
        panic!("enough");
    });
    assert_eq!(failure(&run), "session `main` panicked: enough");
    let session = run.database().session("later");
    assert_eq!(session.transaction(|t| t.read::<i64>("lock")), Ok(0));
}

#[test]
fn a_session_that_catches_panics_cannot_keep_the_run_alive() {
    let run = made(Level::Ser, |db| {
        db.spawn("stubborn", |session| {
            loop {
                let transaction = || session.transaction(|t| t.write("x", 1));
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(transaction));
            }
        });
        let _ = db.transaction(|t| t.write("x", 1));
        panic!("enough");
    });
    assert_eq!(failure(&run), "session `main` panicked: enough");
}

#[test]
fn writers_in_opposite_orders_deadlock_at_mvrc() {
    let program = |db: Db| {
        let both = |first: &'static str, second: &'static str| {
            move |session: skew_store::Session| {
                session.transaction(|t| {
                    t.write(first, 1)?;
                    t.write(second, 1)
                })
            }
        };
        let alice = db.spawn("alice", both("x", "y"));
        let bob = db.spawn("bob", both("y", "x"));
        let (alice, bob) = (alice.join(), bob.join());
        assert!(alice.is_ok() || bob.is_ok(), "one of them goes on");
        if let Some(error) = alice.and(bob).err() {
            assert!(error.is_retryable() && error.sqlstate() == "40P01");
            panic!("{error}");
        }
    };
    let failures: Vec<String> = (0..50)
        .map(|seed| run(&Config::new(Level::Mvrc), Box::new(Random::new(seed)), program))
        .filter(|run| run.failure.is_some())
        .map(|run| failure(&run))
        .collect();
    assert!(!failures.is_empty() && failures.len() < 50, "{} of 50 deadlock", failures.len());
    let expected = ["x", "y"].map(|key| {
        format!("session `main` panicked: deadlock: waiting for `{key}` would never end; rolled back, try again")
    });
    assert!(failures.iter().all(|failure| expected.contains(failure)), "{failures:?}");
}

#[test]
fn a_deadlock_is_retried() {
    for seed in 0..50 {
        let run = run(&Config::new(Level::Mvrc), Box::new(Random::new(seed)), |db| {
            for (name, first, second) in [("alice", "x", "y"), ("bob", "y", "x")] {
                db.spawn(name, move |session| {
                    let result = session.retry(5, |t| {
                        t.write(first, 1)?;
                        t.write(second, 1)
                    });
                    result.expect("the other one is gone when it is tried again");
                });
            }
        });
        assert_eq!(run.failure, None, "seed {seed}");
    }
}

#[test]
fn sessions_that_wait_for_each_other_are_named() {
    let run = made(Level::Mvrc, |db| {
        let session = db.session("writer");
        let t = session.begin().expect("nothing is open");
        t.write("x", 1).expect("nothing is locked");
        let bob = db.spawn("bob", |session| session.transaction(|t| t.write("x", 2)));
        let _ = bob.join();
    });
    let message = "every session waits: `main` waits for `bob` to end, `bob` waits for a row that `writer` has locked";
    assert_eq!(failure(&run), message);
    is_usable(run.database());
}

#[test]
fn a_future_that_nobody_completes_is_reported() {
    let run = made(Level::Ser, |db| {
        db.spawn_async("bob", |_| std::future::pending::<()>()).join();
    });
    let message = "every session waits: `main` waits for `bob` to end, `bob` waits for something outside of the run";
    assert_eq!(failure(&run), message);
}

#[test]
fn a_retry_that_never_succeeds_is_stopped() {
    let config = Config { max_steps: 1000, ..Config::new(Level::Ser) };
    let run = run(&config, Box::new(Random::new(1)), |db| {
        db.spawn("alice", |session| while session.transaction(|t| t.compare_and_set("x", 1, 2)) == Ok(false) {});
    });
    assert_eq!(run.failure, Some(Failure::Steps { limit: 1000, session: "alice".to_owned() }));
    is_usable(run.database());
}

#[test]
fn the_database_of_a_run_is_not_for_threads() {
    let run = made(Level::Ser, |db| {
        let database: Database = (*db).clone();
        let thread = std::thread::spawn(move || database.session("thread").transaction(|t| t.write("x", 1)));
        let payload = thread.join().expect_err("the thread is no session of the run");
        panic!("{}", payload.downcast_ref::<&str>().expect("the message is a text"));
    });
    assert!(failure(&run).contains("start them with `spawn` instead of a thread"), "{}", failure(&run));
}

#[test]
fn a_run_within_a_run_is_a_run() {
    let outer = made(Level::Ser, |db| {
        let inner = made(Level::Rc, |db| {
            let alice = db.spawn("alice", |session| session.transaction(|t| t.write("x", 1)));
            assert_eq!(alice.join(), Ok(()));
        });
        assert_eq!(inner.failure, None);
        assert_eq!(db.transaction(|t| t.read::<Option<i64>>("x")), Ok(None));
    });
    assert_eq!(outer.failure, None);
}

#[test]
fn a_run_has_as_many_sessions_on_the_way_as_it_has_stacks() {
    let too_many = made(Level::Ser, |db| {
        for _ in 0..300 {
            db.spawn_async("one", |_| std::future::pending::<()>());
        }
    });
    assert_eq!(too_many.failure, Some(Failure::Sessions { limit: 256 }));
    let one_by_one = made(Level::Ser, |db| {
        for _ in 0..300 {
            assert_eq!(db.spawn("one", |session| session.transaction(|t| t.write("x", 1))).join(), Ok(()));
        }
    });
    assert_eq!(one_by_one.failure, None);
}

#[test]
fn a_choice_that_panics_ends_its_run_only() {
    struct Wrong;
    impl Choice for Wrong {
        fn pick(&mut self, point: Point<'_>) -> usize {
            point.count()
        }
    }
    let attempt = || run(&Config::new(Level::Ser), Box::new(Wrong), two_sessions).failure;
    let failed = std::panic::catch_unwind(attempt);
    assert!(!matches!(failed, Ok(None)), "the run does not succeed");
    assert_eq!(made(Level::Ser, two_sessions).failure, None);
}

fn two_sessions(db: Db) {
    for name in ["alice", "bob"] {
        db.spawn(name, |session| session.transaction(|t| t.write(name, 1)));
    }
}
