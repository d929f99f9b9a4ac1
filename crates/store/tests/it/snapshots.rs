//! Exact snapshots: what a PostgreSQL would show and refuse, whatever the choice.

use skew_model::{Key, Level, SessionId, TxnId};
use skew_store::{Error, Options, Reads, Recency, Refusals, RowLocks, Store};

use crate::programs::Dice;

struct Two {
    store: Store<i64>,
    sessions: [SessionId; 2],
    x: Key,
    y: Key,
}

impl Two {
    fn new() -> Two {
        let (recency, locks, refusals) = (Recency::Commit, RowLocks::ByCaller, Refusals::Reported);
        let mut store = Store::new(Options { recency, locks, refusals, ..Options::default() });
        let sessions = ["alice", "bob"].map(|name| store.session(name));
        let (x, y) = (store.key("x"), store.key("y"));
        Two { store, sessions, x, y }
    }

    fn begin(&mut self, session: usize, level: Level) -> TxnId {
        self.store.begin(self.sessions[session], level, Reads::Snapshot).expect("the store runs this level")
    }

    fn read(&mut self, txn: TxnId, key: Key) -> Result<Option<i64>, Error> {
        self.store.read(txn, key, &mut Dice::new(1))
    }

    fn write(&mut self, txn: TxnId, key: Key, value: i64) -> Result<(), Error> {
        self.store.statement(txn)?;
        self.store.write(txn, key, Some(value)).map(|_| ())
    }

    /// Bob writes and commits.
    fn bob_writes(&mut self, level: Level, writes: &[(Key, i64)]) {
        let txn = self.begin(1, level);
        writes.iter().for_each(|&(key, value)| self.write(txn, key, value).expect("nobody is in the way"));
        self.store.commit(txn).expect("nobody is in the way");
    }
}

#[test]
fn at_mvrc_a_statement_sees_what_was_committed_when_it_began() {
    let mut two = Two::new();
    let (x, y) = (two.x, two.y);
    let alice = two.begin(0, Level::Mvrc);
    two.bob_writes(Level::Mvrc, &[(x, 1)]);
    two.store.statement(alice).expect("it is open");
    two.bob_writes(Level::Mvrc, &[(x, 2), (y, 2)]);
    assert_eq!(two.read(alice, y), Ok(None), "the statement may have waited for a lock in between");
    assert_eq!(two.read(alice, x), Ok(Some(1)));
    assert_eq!(two.store.changed_since_snapshot(alice, x), Ok(true));
    assert_eq!(two.store.read_under_lock(alice, x), Ok(Some(2)), "under the lock it looks again");
    assert_eq!(two.read(alice, y), Ok(None));
    two.store.statement(alice).expect("it is open");
    assert_eq!(two.store.changed_since_snapshot(alice, x), Ok(false));
    assert_eq!(two.read(alice, y), Ok(Some(2)));
}

#[test]
fn at_si_and_ser_the_first_statement_takes_the_snapshot() {
    for level in [Level::Si, Level::Ser] {
        let mut two = Two::new();
        let (x, y) = (two.x, two.y);
        let alice = two.begin(0, level);
        two.bob_writes(level, &[(x, 1)]);
        two.store.statement(alice).expect("it is open");
        two.bob_writes(level, &[(x, 2)]);
        two.store.statement(alice).expect("it is open");
        assert_eq!(two.read(alice, x), Ok(Some(1)), "{level}");
        assert!(two.write(alice, x, 3).is_err_and(|error| error.is_retryable()), "{level}: bob has updated x");
        assert_eq!(two.write(alice, y, 3), Ok(()), "{level}: it may go on elsewhere");
        assert_eq!(two.store.commit(alice), Ok(()), "{level}");
    }
}

/// Nothing that it has read is overwritten, so the level alone would let it look from a later place.
#[test]
fn at_si_a_blind_write_of_what_has_changed_is_refused() {
    for level in [Level::Si, Level::Ser] {
        let mut two = Two::new();
        let x = two.x;
        let alice = two.begin(0, level);
        two.store.statement(alice).expect("it is open");
        two.bob_writes(level, &[(x, 1)]);
        assert!(two.write(alice, x, 2).is_err_and(|error| error.is_retryable()), "{level}");
    }
}

#[test]
fn at_ser_write_skew_is_refused_and_at_si_it_is_not() {
    for (level, expected) in [(Level::Si, true), (Level::Ser, false)] {
        let mut two = Two::new();
        let (x, y) = (two.x, two.y);
        let (alice, bob) = (two.begin(0, level), two.begin(1, level));
        for txn in [alice, bob] {
            two.store.statement(txn).expect("it is open");
            assert_eq!((two.read(txn, x), two.read(txn, y)), (Ok(None), Ok(None)));
        }
        let first = two.write(alice, x, 1).and_then(|()| two.store.commit(alice));
        assert_eq!(first, Ok(()), "{level}");
        let second = two.write(bob, y, 1).and_then(|()| two.store.commit(bob));
        assert_eq!(second.is_ok(), expected, "{level}");
    }
}
