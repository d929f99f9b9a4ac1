//! Small programs that are right only where transactions are serializable.

use skew::{Db, Error, Session};

pub fn increment(session: &Session) -> Result<(), Error> {
    session.transaction(|t| {
        let before: i64 = t.read("x")?;
        t.write("x", before + 1)
    })
}

/// Two increments: one may be lost.
pub fn two_increments(db: Db) {
    db.init("x", 0);
    for name in ["alice", "bob"] {
        db.spawn(name, |session| increment(&session).is_ok());
    }
    db.check(|t| {
        let x: i64 = t.read("x")?;
        assert_eq!(x, 2, "x counts the increments");
        Ok(())
    });
}

/// Two increments, each of which may be refused: those that were not count.
pub fn counted_increments(db: Db) {
    db.init("x", 0);
    let sessions = ["alice", "bob"].map(|name| db.spawn(name, |session| increment(&session).is_ok()));
    let made = sessions.map(|session| session.join()).into_iter().filter(|&made| made).count() as i64;
    assert_eq!(db.check(|t| t.read::<i64>("x")), made, "x counts the increments");
}

/// Somebody must stay on call: both may leave.
pub fn on_call(db: Db) {
    for name in ["alice", "bob"] {
        db.init(name, "on call");
    }
    for (name, other) in [("alice", "bob"), ("bob", "alice")] {
        db.spawn(name, move |session| {
            let _ = session.transaction(|t| match t.read::<String>(other)?.as_str() {
                "on call" => t.write(name, "off"),
                _ => Ok(()),
            });
        });
    }
    db.check(|t| {
        let on_call = [t.read::<String>("alice")?, t.read("bob")?].contains(&"on call".to_owned());
        assert!(on_call, "nobody is on call");
        Ok(())
    });
}
