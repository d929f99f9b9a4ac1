//! Whatever the store does is within the levels of its transactions: random programs, every level and mixture, checked
//! by the checker.
//!
//! `SKEW_RANDOM=100000 cargo test --release -p skew-store soundness` for as many runs.

use skew_check::{Assumptions, Checker, Options as CheckOptions};
use skew_model::{History, Level, Literal, Scope, SessionId};
use skew_store::witness::replay_witness;
use skew_store::{Options, Reads, Recency, Store};

use crate::programs::{Dice, NAMES, Ran, random_program, run};

pub const LEVELS: [Level; 10] = [
    Level::Ru,
    Level::Rc,
    Level::Ra,
    Level::Cc,
    Level::Mvrc,
    Level::Pc,
    Level::Psi,
    Level::Si,
    Level::Ser,
    Level::Sser,
];

pub fn runs() -> u64 {
    std::env::var("SKEW_RANDOM").ok().and_then(|runs| runs.parse().ok()).unwrap_or(4000)
}

fn stays_within_its_levels(seed: u64, level: &dyn Fn(&mut Dice) -> Level, recency: Recency) -> (usize, usize) {
    let mut dice = Dice::new(seed);
    let program = random_program(&mut dice, level);
    let ran = run(&program, Options { recency, ..Options::default() }, &mut dice);
    let assumptions = Assumptions { sessions: true, real_time: recency == Recency::Commit };
    let checker = Checker::new(&ran.history, CheckOptions { assumptions, ..CheckOptions::default() });
    let holds = checker.holds(Scope::Declared);
    assert_eq!(holds, Some(true), "seed {seed}, recency {recency:?}\n{program:?}\n{}", ran.history);
    is_replayed(seed, &ran);
    (ran.committed, ran.refused)
}

/// A witness, written and read, comes out the same.
fn is_replayed(seed: u64, ran: &Ran) {
    let text = skew_formats::witness::write(&ran.witness);
    let read = skew_formats::witness::read(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    assert_eq!(read, ran.witness, "seed {seed}");
    let again = replay_witness(&read).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    // Statements that did nothing are not told, so times may differ, and so may the absent keys that scans did not find.
    let text = ran.history.to_string();
    if !text.contains('[') && !text.contains("nil") {
        assert_eq!(again.history(Literal::clone).to_string(), ran.history.to_string(), "seed {seed}");
    }
}

#[test]
fn every_level_keeps_to_itself() {
    for level in LEVELS {
        for recency in [Recency::None, Recency::Commit] {
            let (mut committed, mut refused) = (0, 0);
            for seed in 0..runs() {
                let (more, conflicts) = stays_within_its_levels(seed, &|_| level, recency);
                committed += more;
                refused += conflicts;
            }
            println!("{level} recency {recency:?}: {committed} committed, {refused} refused");
            assert!(committed > refused, "{level} refuses more than it commits: {refused} of {}", committed + refused);
        }
    }
}

#[test]
fn mixtures_keep_to_each_others_levels() {
    for recency in [Recency::None, Recency::Commit] {
        let (mut committed, mut refused) = (0, 0);
        for seed in 0..4 * runs() {
            let (more, conflicts) =
                stays_within_its_levels(seed, &|dice: &mut Dice| LEVELS[dice.roll(LEVELS.len())], recency);
            committed += more;
            refused += conflicts;
        }
        println!("mixed, recency {recency:?}: {committed} committed, {refused} refused");
    }
}

/// With retention, what is remembered is within its levels, and it is not much.
#[test]
fn what_is_remembered_stays_within_its_levels() {
    let levels: Vec<Option<Level>> = LEVELS.into_iter().map(Some).chain([None]).collect();
    for (at, level) in levels.into_iter().enumerate() {
        for (keep, seed) in [1, 5, 30].into_iter().flat_map(|keep| (0..runs() / 400).map(move |seed| (keep, seed))) {
            let mut dice = Dice::new(seed << 16 | (100 * at + keep) as u64);
            let options = Options { retention: Some(keep), ..Options::default() };
            let (history, most) = busy(options, level, &mut dice, 600);
            let checker = Checker::new(&history, CheckOptions::default());
            assert_eq!(
                checker.holds(Scope::Declared),
                Some(true),
                "{level:?}, {keep} remembered, seed {seed}\n{history}"
            );
            // A transaction that stays open for long holds forgetting back.
            assert!(most < 2 * keep + 200, "{level:?}: {most} transactions are remembered instead of {keep}");
        }
    }
}

/// Four sessions that run transactions without end; what is remembered in the end, and the most at any time.
fn busy(options: Options, level: Option<Level>, dice: &mut Dice, transactions: usize) -> (History, usize) {
    let mut store: Store<i64> = Store::new(options);
    let sessions: Vec<SessionId> = (0..4).map(|at| store.session(&format!("s{at}"))).collect();
    let mut open = [None; 4];
    let (mut done, mut most, mut value) = (0, 0, 0);
    while done < transactions {
        value += 1;
        let at = dice.roll(4);
        let Some(txn) = open[at] else {
            let level = level.unwrap_or_else(|| LEVELS[dice.roll(LEVELS.len())]);
            open[at] = Some(store.begin(sessions[at], level, Reads::Any).expect("the store runs this level"));
            continue;
        };
        let key = store.key(NAMES[dice.roll(3)]);
        let step = store.statement(txn).and_then(|()| match dice.roll(5) {
            0 | 1 => store.read(txn, key, dice).map(|_| false),
            2 | 3 => store.write(txn, key, Some(value)).map(|_| false),
            _ => store.commit(txn).map(|()| true),
        });
        if step != Ok(false) {
            open[at] = None;
            done += 1;
        }
        most = most.max(store.remembered());
    }
    (store.history(|&value| Literal::Int(value)), most)
}

/// What was written so long ago that its writer is forgotten is told as initial, with whoever has read it since.
#[test]
fn reads_of_what_is_forgotten_are_told() {
    let mut store: Store<i64> = Store::new(Options { retention: Some(2), ..Options::default() });
    let session = store.session("s");
    let mut dice = Dice::new(1);
    let keys = ["x", "y"].map(|name| store.key(name));
    for value in 0..8 {
        let txn = store.begin(session, Level::Ser, Reads::Any).expect("the store runs this level");
        if value < 4 {
            store.write(txn, keys[value as usize % 2], Some(value)).expect("nobody is in the way");
        }
        store.read(txn, keys[0], &mut dice).expect("nobody is in the way");
        store.commit(txn).expect("nobody is in the way");
    }
    let history = store.history(|&value| Literal::Int(value)).to_string();
    assert_eq!(history, "init  x=2 y=3\ns t7 @ser  r x=2<init\ns t8 @ser  r x=2<init\n");
}
