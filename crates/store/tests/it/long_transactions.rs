//! Transactions that read and write many keys: they take other ways through the store than short ones, to the same ends.

use skew_check::{Assumptions, Checker, Options as CheckOptions};
use skew_model::{Level, Literal, Scope, SessionId, TxnId};
use skew_store::{Error, Options, Reads, Recency, Refusals, RowLocks, Store};

use crate::programs::Dice;
use crate::soundness::{LEVELS, runs};

const KEYS: usize = 50;

/// Four sessions that read and write for long, each a few keys at a time.
fn stays_within_its_levels(level: &dyn Fn(&mut Dice) -> Level, recency: Recency, seed: u64) {
    let mut dice = Dice::new(seed);
    let (locks, refusals) = (RowLocks::ByCaller, Refusals::RollBack);
    let mut store: Store<i64> = Store::new(Options { recency, locks, refusals, ..Options::default() });
    let sessions: Vec<SessionId> = (0..4).map(|at| store.session(&format!("s{at}"))).collect();
    let mut open: [Option<(TxnId, usize)>; 4] = [None; 4];
    let mut value = 0;
    for _ in 0..400 {
        let at = dice.roll(4);
        let Some((txn, left)) = open[at] else {
            let txn = store.begin(sessions[at], level(&mut dice), Reads::Any).expect("the store runs this level");
            open[at] = Some((txn, [2, 4, 30, 60][dice.roll(4)]));
            continue;
        };
        let result = match left {
            0 => store.commit(txn),
            _ => statement(&mut store, txn, &mut value, &mut dice),
        };
        open[at] = if result.is_ok() && left > 0 { Some((txn, left - 1)) } else { None };
    }
    let history = store.history(|&value| Literal::Int(value));
    let assumptions = Assumptions { sessions: true, real_time: recency == Recency::Commit };
    let checker = Checker::new(&history, CheckOptions { assumptions, ..CheckOptions::default() });
    assert_eq!(checker.holds(Scope::Declared), Some(true), "recency {recency:?}, seed {seed}\n{history}");
}

/// Reads a few keys, and sometimes writes one.
fn statement(store: &mut Store<i64>, txn: TxnId, value: &mut i64, dice: &mut Dice) -> Result<(), Error> {
    store.statement(txn)?;
    let first = dice.roll(KEYS);
    for at in 0..1 + dice.roll(3) {
        let key = store.key(&format!("k{}", (first + at) % KEYS));
        store.read(txn, key, dice)?;
    }
    if dice.roll(4) == 0 {
        *value += 1;
        let key = store.key(&format!("k{}", dice.roll(KEYS)));
        // A lost update is within the levels that take no locks; `mvrc` looks again.
        store.read_under_lock(txn, key)?;
        store.write(txn, key, Some(*value)).map(|_| ())?;
    }
    Ok(())
}

#[test]
fn long_transactions_keep_to_every_level() {
    for level in LEVELS {
        for recency in [Recency::None, Recency::Commit] {
            (0..runs() / 100).for_each(|seed| stays_within_its_levels(&|_| level, recency, seed));
        }
    }
}

#[test]
fn long_transactions_keep_to_mixtures_of_levels() {
    let mixed = |dice: &mut Dice| LEVELS[dice.roll(LEVELS.len())];
    for recency in [Recency::None, Recency::Commit] {
        (0..runs() / 20).for_each(|seed| stays_within_its_levels(&mixed, recency, seed));
    }
}
