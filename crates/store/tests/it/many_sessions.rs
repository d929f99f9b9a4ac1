//! Many sessions, one after another: they give their numbers back, and what they do stays within the levels.

use skew_check::{Assumptions, Checker, Options as CheckOptions};
use skew_model::{Level, Literal, Scope, SessionId, TxnId};
use skew_store::{Error, Options, Reads, Recency, Step, Store};

use crate::programs::{Dice, NAMES};
use crate::soundness::{LEVELS, runs};

/// Connections: each begins, runs transactions, ends, and another one takes its place.
struct Connections {
    store: Store<i64>,
    open: Vec<(SessionId, Option<TxnId>)>,
    begun: usize,
    /// The largest number that a session has had.
    largest: u32,
    value: i64,
}

impl Connections {
    fn new(options: Options, count: usize) -> Connections {
        let mut connections =
            Connections { store: Store::new(options), open: Vec::new(), begun: 0, largest: 0, value: 0 };
        for _ in 0..count {
            let session = connections.connect();
            connections.open.push((session, None));
        }
        connections
    }

    fn connect(&mut self) -> SessionId {
        self.begun += 1;
        let session = self.store.session(&format!("c{}", self.begun));
        self.largest = self.largest.max(session.0);
        session
    }

    /// One step of one of them.
    fn step(&mut self, level: Level, dice: &mut Dice) {
        let at = dice.roll(self.open.len());
        let (session, txn) = self.open[at];
        let Some(txn) = txn else {
            if dice.roll(3) == 0 {
                self.store.close_session(session).expect("no transaction is open");
                self.open[at].0 = self.connect();
            } else {
                self.open[at].1 =
                    Some(self.store.begin(session, level, Reads::Any).expect("the store runs this level"));
            }
            return;
        };
        if self.operation(txn, dice) != Ok(false) {
            self.open[at].1 = None;
        }
    }

    /// Whether the transaction has committed.
    fn operation(&mut self, txn: TxnId, dice: &mut Dice) -> Result<bool, Error> {
        self.value += 1;
        self.store.statement(txn)?;
        let key = self.store.key(NAMES[dice.roll(3)]);
        match dice.roll(4) {
            0 | 1 => self.store.read(txn, key, dice).map(|_| false),
            2 => match self.store.write(txn, key, Some(self.value))? {
                Step::Done(()) => Ok(false),
                // Who waits for a lock gives up.
                Step::Wait(_) => self.store.rollback(txn).map(|()| true),
            },
            _ => self.store.commit(txn).map(|()| true),
        }
    }
}

#[test]
fn sessions_that_end_give_their_numbers_back() {
    for level in [Level::Cc, Level::Si, Level::Mvrc] {
        for recency in [Recency::None, Recency::Commit] {
            let options = Options { recency, retention: Some(1000), ..Options::default() };
            let mut connections = Connections::new(options, 100);
            let mut dice = Dice::new(7);
            while connections.begun < 2_000 {
                connections.step(level, &mut dice);
            }
            assert!(connections.largest < 200, "{level}, {recency:?}: a session has number {}", connections.largest);
        }
    }
}

#[test]
fn sessions_in_the_places_of_others_keep_to_their_levels() {
    for level in LEVELS {
        for (recency, seed) in (0..runs() / 200).flat_map(|seed| [(Recency::None, seed), (Recency::Commit, seed)]) {
            let options = Options { recency, ..Options::default() };
            let mut connections = Connections::new(options, 3);
            let mut dice = Dice::new(seed);
            while connections.begun < 120 {
                connections.step(level, &mut dice);
            }
            assert!(connections.largest < 64, "places are used again");
            let history = connections.store.history(|&value| Literal::Int(value));
            let assumptions = Assumptions { sessions: true, real_time: recency == Recency::Commit };
            let checker = Checker::new(&history, CheckOptions { assumptions, ..CheckOptions::default() });
            assert_eq!(checker.holds(Scope::Declared), Some(true), "{level}, {recency:?}, seed {seed}\n{history}");
        }
    }
}
