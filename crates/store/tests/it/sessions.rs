//! Sessions of threads and of async code, in a run and outside of one.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use skew_model::Level;
use skew_store::strategies::Random;
use skew_store::{AsyncSession, Config, Database, Db, Error, Session, Value, run};

const LEVELS: [Level; 9] =
    [Level::Ru, Level::Rc, Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si, Level::Ser];

fn increment(session: &Session) -> Result<(), Error> {
    session.retry(1000, |t| {
        let before: i64 = t.read("x")?;
        t.write("x", before + 1)
    })
}

async fn increment_async(session: &AsyncSession) -> Result<(), Error> {
    session
        .retry(1000, async |t| {
            let before: i64 = t.read("x").await?;
            t.write("x", before + 1).await
        })
        .await
}

#[test]
fn threads_share_a_database() {
    for level in LEVELS {
        let db = Database::new(level, 7);
        db.init("x", 0);
        std::thread::scope(|scope| {
            for number in 0..4 {
                let session = db.session(&format!("thread-{number}"));
                scope.spawn(move || (0..25).for_each(|_| increment(&session).expect("it is tried again")));
            }
        });
        let x: i64 = db.check(|t| t.read("x"));
        assert!((1..=100).contains(&x), "{x} at {level}");
        if matches!(level, Level::Psi | Level::Si | Level::Ser) {
            assert_eq!(x, 100, "no update is lost at {level}");
        }
    }
}

#[test]
fn threads_wait_for_row_locks() {
    let db = Database::new(Level::Mvrc, 7);
    db.init("x", 0);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let session = db.session(&format!("thread-{number}"));
            scope.spawn(move || {
                for turn in 0..50 {
                    let t = session.begin().expect("nothing is open");
                    t.write("x", number * 100 + turn).expect("one lock cannot be part of a deadlock");
                    std::thread::yield_now();
                    t.commit().expect("nothing can go wrong at commit");
                }
            });
        }
    });
    let history = db.history();
    assert_eq!(history.txns().len(), 200);
}

#[test]
fn async_code_waits_for_row_locks_without_blocking() {
    struct Woken(Mutex<usize>);
    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            *self.0.lock().expect("nothing panics") += 1;
        }
    }
    let db = Database::new(Level::Mvrc, 7);
    let (alice, bob) = (db.session("alice"), db.async_session("bob"));
    let holder = alice.begin().expect("nothing is open");
    holder.write("x", 1).expect("nothing is locked");

    let woken = Arc::new(Woken(Mutex::new(0)));
    let waker = Waker::from(woken.clone());
    let mut context = Context::from_waker(&waker);
    let mut writes = pin!(bob.transaction(async |t| t.write("x", 2).await));
    assert!(writes.as_mut().poll(&mut context).is_pending());
    assert!(writes.as_mut().poll(&mut context).is_pending(), "the row is still locked");
    holder.commit().expect("nothing can go wrong at commit");
    assert_eq!(*woken.0.lock().expect("nothing panics"), 2, "every waker that was left is called");
    assert_eq!(writes.as_mut().poll(&mut context), Poll::Ready(Ok(())));
    assert_eq!(db.check(|t| t.read::<i64>("x")), 2);
}

#[test]
fn async_code_takes_the_same_turns_as_plain_code() {
    let plain = |db: Db| {
        db.init("x", 0);
        for name in ["alice", "bob", "carol"] {
            db.spawn(name, |session| increment(&session));
        }
        db.join_all();
    };
    let is_async = |db: Db| {
        db.init("x", 0);
        for name in ["alice", "bob", "carol"] {
            db.spawn_async(name, async |session| increment_async(&session).await);
        }
        db.join_all();
    };
    for level in LEVELS {
        for seed in 0..20 {
            let first = run(&Config::new(level), Box::new(Random::new(seed)), plain);
            let second = run(&Config::new(level), Box::new(Random::new(seed)), is_async);
            assert_eq!((&first.failure, &second.failure), (&None, &None));
            assert_eq!(first.picks, second.picks);
            assert_eq!(first.history().to_string(), second.history().to_string());
        }
    }
}

#[test]
fn async_sessions_can_wait_for_each_other() {
    #[derive(Default)]
    struct Channel {
        message: Option<i64>,
        receiver: Option<Waker>,
    }
    for seed in 0..20 {
        let made = run(&Config::new(Level::Ser), Box::new(Random::new(seed)), |db| {
            let channel = Arc::new(Mutex::new(Channel::default()));
            let (ours, theirs) = (channel.clone(), channel);
            let receiver = db.spawn_async("receiver", |session| async move {
                let receive = std::future::poll_fn(|context| {
                    let mut channel = ours.lock().expect("nothing panics");
                    channel.receiver = Some(context.waker().clone());
                    channel.message.map_or(Poll::Pending, Poll::Ready)
                });
                let message = receive.await;
                let read = session.transaction(async |t| t.read::<i64>("x").await).await;
                (Ok(message), read)
            });
            db.spawn_async("sender", |session| async move {
                session.transaction(async |t| t.write("x", 7).await).await.expect("nobody else writes");
                let mut channel = theirs.lock().expect("nothing panics");
                channel.message = Some(7);
                channel.receiver.take().into_iter().for_each(Waker::wake);
            });
            let (sent, read) = receiver.join();
            assert!(sent == Ok::<_, Error>(7) && (read == Ok(7) || read.is_err()), "{read:?}");
        });
        assert_eq!(made.failure, None, "seed {seed}");
    }
}

#[test]
fn one_async_session_can_have_two_transactions_on_the_way() {
    for seed in 0..20 {
        let made = run(&Config::new(Level::Mvrc), Box::new(Random::new(seed)), |db| {
            db.spawn("other", |session| session.transaction(|t| t.write("y", 1)));
            db.spawn_async("both", |first| async move {
                let second = first.database().async_session("second");
                let holder = second.begin().await.expect("nothing is open");
                holder.write("x", 1).await.expect("nothing is locked");
                // The first write waits for a lock that the same task gives back.
                let mut write = pin!(first.transaction(async |t| t.write("x", 2).await));
                let mut commit = pin!(holder.commit());
                let (mut written, mut committed) = (None, None);
                std::future::poll_fn(|context| {
                    if written.is_none()
                        && let Poll::Ready(result) = write.as_mut().poll(context)
                    {
                        written = Some(result);
                    }
                    if committed.is_none()
                        && let Poll::Ready(result) = commit.as_mut().poll(context)
                    {
                        committed = Some(result);
                    }
                    if written.is_some() && committed.is_some() { Poll::Ready(()) } else { Poll::Pending }
                })
                .await;
                assert_eq!((written, committed), (Some(Ok(())), Some(Ok(()))));
            });
        });
        assert_eq!(made.failure, None, "seed {seed}");
    }
}

#[test]
fn plain_sessions_work_within_async_code() {
    let made = run(&Config::new(Level::Ser), Box::new(Random::new(3)), |db| {
        db.init("x", 0);
        db.spawn("other", |session| increment(&session));
        let both = db.spawn_async("both", |session| async move {
            increment(&session.database().session("plain")).expect("it is tried again");
            increment_async(&session).await.expect("it is tried again");
        });
        both.join();
        assert_eq!(db.check(|t| t.read::<i64>("x")), 3);
    });
    assert_eq!(made.failure, None);
}

#[test]
fn sessions_spawn_sessions_and_join_gives_their_values() {
    let made = run(&Config::new(Level::Ser), Box::new(Random::new(3)), |db| {
        let inner = db.clone();
        let outer = db.spawn("outer", move |session| {
            let child = inner.spawn("child", |session| session.transaction(|t| t.write("x", 1)));
            let awaited = inner.spawn_async("waiting", |_| async move { child.await.is_ok() });
            let written = awaited.join();
            (written, session.transaction(|t| t.read::<Value>("x")))
        });
        assert_eq!(outer.join(), (true, Ok(Value::Int(1))));
    });
    assert_eq!(made.failure, None);
}

#[test]
fn sessions_with_one_name_are_told_apart() {
    let db = Database::new(Level::Ser, 0);
    for _ in 0..3 {
        db.session("client").transaction(|t| t.write("x", 1)).expect("nobody else is there");
    }
    let history = db.history().to_string();
    let names: Vec<&str> = history.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["client", "client-2", "client-3"]);
}
