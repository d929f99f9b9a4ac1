//! Values, names and limits of the library.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use skew::{Check, Db, Json, Level};

#[test]
fn levels_have_spelled_out_names() {
    assert_eq!(Level::SNAPSHOT_ISOLATION, Level::Si);
    assert_eq!(Level::READ_COMMITTED, Level::Mvrc, "the definition that PostgreSQL's level has over keys");
    assert_eq!("read committed".parse(), Ok(Level::PgRc), "the database's own level, as in every command");
    skew::check_random(Level::PgRc, 3, |db| assert_eq!(db.check(|t| t.read::<Option<i64>>("x")), None));
    assert_eq!(Level::SERIALIZABLE, Level::Ser);
}

#[test]
fn numbers_of_every_kind_and_serde_values_come_back_as_they_were() {
    skew::check_random(Level::SERIALIZABLE, 1, |db| {
        let cart = BTreeMap::from([("tea".to_owned(), 2_u8), ("milk".to_owned(), 1)]);
        db.spawn("bob", |session| {
            session.transaction(|t| {
                for number in [0, 1, i64::MAX as u64, u64::MAX] {
                    t.write("unsigned", number)?;
                    assert_eq!(t.read::<u64>("unsigned")?, number);
                }
                Ok(())
            })
        })
        .join()
        .expect("one transaction is never refused");
        let wanted = cart.clone();
        db.spawn("alice", move |session| {
            session.transaction(|t| {
                for number in [0.1 + 0.2, -0.0, 1e300, 5.0] {
                    t.write("fraction", number)?;
                    assert_eq!(t.read::<f64>("fraction")?.to_bits(), number.to_bits());
                }
                t.write("cart", Json(&cart))?;
                assert_eq!(t.read::<Json<BTreeMap<String, u8>>>("cart")?.0, wanted);
                t.write("int", 7)?;
                assert_eq!(t.read::<f64>("int")?, 7.0);
                Ok(())
            })
        })
        .join()
        .expect("one transaction is never refused");
    });
}

/// A program that does something else each time.
fn forgetful(db: Db) {
    static TIMES: AtomicU64 = AtomicU64::new(0);
    let time = TIMES.fetch_add(1, Ordering::SeqCst) as i64;
    db.init("x", 0);
    db.spawn("alice", move |session| session.transaction(|t| t.write("x", time))).join().expect("never refused");
    panic!("always");
}

#[test]
fn a_program_that_is_not_deterministic_is_noticed() {
    let found = Check::new(Level::Ser).runs(1).find(forgetful).expect("it always fails");
    assert!(found.to_string().contains("The program is not deterministic"), "{found}");
    let found = Check::new(Level::Cc).find(crate::programs::two_increments).expect("an update is lost");
    assert!(!found.to_string().contains("not deterministic"), "{found}");
}

#[test]
fn an_exploration_that_is_out_of_time_is_unknown() {
    let explore = || Check::new(Level::Ser).max_time(Duration::ZERO).explore(crate::programs::counted_increments);
    let payload = catch_unwind(AssertUnwindSafe(explore)).expect_err("there is no time");
    let message = payload.downcast_ref::<String>().expect("a text");
    assert!(message.starts_with("unknown: 1 histories were explored in the time given"), "{message}");
}
