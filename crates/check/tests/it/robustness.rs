//! Circles that a level allows, against the definition: in the recorded execution, and in every other one of its
//! transactions.

use proptest::prelude::*;
use skew_check::critical::{ROBUSTNESS_LEVELS, Robustness, cycle_text, is_critical};
use skew_check::oracle::some_order_satisfies;
use skew_check::{Assumptions, Checker, Facts, Options};
use skew_model::{History, Level, Scope, history};
use skew_testing::Dice;

use crate::generate;

fn robustness(history: &History, level: Level) -> Robustness {
    Checker::new(history, Options::default()).robustness(level)
}

fn satisfies(history: &History, level: Level) -> bool {
    let facts = Facts::new(history, Assumptions::default());
    facts.findings().iter().all(|finding| !finding.kind.breaks(level))
        && some_order_satisfies(&facts, Scope::Level(level))
}

fn text(history: &History, level: Level) -> String {
    match robustness(history, level) {
        Robustness::Robust => "robust".to_owned(),
        Robustness::Possible(cycle) => format!("possible {}", cycle_text(history, &cycle)),
        Robustness::Critical(part, cycle) => format!("critical {}", cycle_text(&part, &cycle)),
        Robustness::Outside => "outside".to_owned(),
        Robustness::Unknown(limit) => format!("unknown {limit:?}"),
        Robustness::TooMany(most) => format!("unknown, more than {most}"),
        Robustness::OrderedByConstraints => "unknown, constraints ordered commits".to_owned(),
    }
}

#[test]
fn a_write_skew_is_critical_where_it_is_allowed() {
    let skew = history!(
        "
        init  x=0 y=0
        alice t1  r x=0  w y=1
        bob   t2  r y=0  w x=1
    "
    );
    for level in ROBUSTNESS_LEVELS {
        assert_eq!(text(&skew, level), "critical t1 -rw(x)-> t2 -rw(y)-> t1", "{level}");
    }
}

#[test]
fn a_long_fork_is_critical_at_psi_and_outside_si() {
    let fork = history!(
        "
        init  x=0 y=0
        a t1  w x=1
        b t2  w y=1
        c t3  r x=1  r y=0
        d t4  r y=1  r x=0
    "
    );
    assert_eq!(text(&fork, Level::Psi), "critical t1 -wr(x)-> t3 -rw(y)-> t2 -wr(y)-> t4 -rw(x)-> t1");
    assert_eq!(text(&fork, Level::Si), "outside");
}

#[test]
fn who_ran_one_after_the_other_may_run_otherwise() {
    let serial = history!(
        "
        init  x=0 y=0
        alice t1  r x=0  w y=1
        bob   t2  r y=1  w x=1
    "
    );
    assert_eq!(text(&serial, Level::Si), "possible t1 -rw(x)-> t2 -rw(y)-> t1");
}

#[test]
fn an_update_of_one_key_is_lost_below_psi_only() {
    let serial = history!(
        "
        init  x=0
        alice t1  r x=0  w x=1
        bob   t2  r x=1  w x=2
    "
    );
    assert_eq!(text(&serial, Level::Cc), "possible t1 -rw(x)-> t2 -ww(x)-> t1");
    for level in [Level::Psi, Level::Si] {
        assert_eq!(text(&serial, level), "robust", "{level}");
    }
}

/// What reads and writes decide is decided whatever constraints ordered; a circle that rests on their order is not.
#[test]
fn orders_of_constraints_leave_open_what_rests_on_them() {
    let skew = history!(
        "
        init  x=0 y=0 a=0
        alice t1  r x=0  w y=1
        bob   t2  r y=0  w x=1
        carol t3  w a=1
        dave  t4  w a=2
        constraint a t3 t4
    "
    );
    assert_eq!(text(&skew, Level::Si), "critical t1 -rw(x)-> t2 -rw(y)-> t1");
    let by_constraint = history!(
        "
        init  x=0 a=0 b=0
        alice t1  w x=1  w a=5
        bob   t2  r x=0  w b=-5
        constraint a t1 t2
    "
    );
    assert_eq!(text(&by_constraint, Level::Si), "unknown, constraints ordered commits");
    let serial = history!(
        "
        init  x=0 a=0 b=0
        alice t1  w x=1  w a=5
        bob   t2  r x=1  w b=-5
        constraint a t1 t2
    "
    );
    assert_eq!(text(&serial, Level::Si), "unknown, constraints ordered commits");
    let blind = history!(
        "
        init  a=0 b=0
        alice t1  w a=5
        bob   t2  w b=-5
        constraint a t1 t2
    "
    );
    for level in ROBUSTNESS_LEVELS {
        assert_eq!(text(&blind, level), "robust", "{level}");
    }
}

/// Transactions of up to three operations on two keys in up to three sessions; `sources` says whom each read reads from.
fn transactions(seed: u64) -> Vec<(usize, Vec<(bool, usize)>)> {
    let dice = &mut Dice(seed);
    let count = 2 + dice.roll(3);
    let sessions = 2 + dice.roll(2);
    let mut transactions = Vec::new();
    for _ in 0..count {
        let mut ops: Vec<(bool, usize)> = Vec::new();
        for _ in 0..1 + dice.roll(3) {
            let op = (dice.roll(2) == 0, dice.roll(2));
            // Each key is read once at most, before it is written.
            let is_new = !ops.contains(&op) && !ops.contains(&(true, op.1));
            ops.extend(is_new.then_some(op));
        }
        transactions.push((dice.roll(sessions), ops));
    }
    transactions
}

/// All executions: every read returns what is there at first, or what any other transaction writes.
fn executions(transactions: &[(usize, Vec<(bool, usize)>)]) -> Vec<History> {
    let writers = |key: usize, reader: usize| -> Vec<Option<usize>> {
        let writes = |at: &usize| *at != reader && transactions[*at].1.contains(&(true, key));
        std::iter::once(None).chain((0..transactions.len()).filter(writes).map(Some)).collect()
    };
    let mut texts = vec!["init x0=0 x1=0\n".to_owned()];
    for (at, (session, ops)) in transactions.iter().enumerate() {
        let mut lines = vec![format!("s{session} t{at} ")];
        for (writes, key) in ops {
            let choices: Vec<String> = match writes {
                true => vec![format!(" w x{key}={}", at + 1)],
                false => {
                    let values = writers(*key, at).into_iter().map(|writer| writer.map_or(0, |writer| writer + 1));
                    values.map(|value| format!(" r x{key}={value}")).collect()
                }
            };
            lines = lines.iter().flat_map(|line| choices.iter().map(move |choice| format!("{line}{choice}"))).collect();
        }
        texts = texts.iter().flat_map(|text| lines.iter().map(move |line| format!("{text}{line}\n"))).collect();
    }
    texts.iter().map(|text| History::parse(text).expect("a history")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// An execution of a level that is not serializable has a critical cycle, and no other one has (Theorem 5).
    #[test]
    fn what_is_not_serializable_has_a_critical_cycle(seed in any::<u64>()) {
        let history = generate::history(seed, 6);
        for level in ROBUSTNESS_LEVELS {
            let (inside, serializable) = (satisfies(&history, level), satisfies(&history, Level::Ser));
            match robustness(&history, level) {
                Robustness::Outside => prop_assert!(!inside, "{}\n{}", level, history),
                Robustness::Critical(part, cycle) => {
                    prop_assert!(inside && !serializable, "{}\n{}", level, history);
                    prop_assert!(is_critical(level, &cycle), "{}: {}", level, cycle_text(&part, &cycle));
                }
                Robustness::Robust | Robustness::Possible(_) => {
                    prop_assert!(inside && serializable, "{}\n{}", level, history);
                }
                Robustness::OrderedByConstraints => {
                    prop_assert!(inside && !history.constraint_orders().is_empty(), "{}\n{}", level, history);
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }

    /// Where transactions are robust, every execution of them is serializable.
    #[test]
    fn robust_transactions_are_serializable_however_they_run(seed in any::<u64>()) {
        let all = executions(&transactions(seed));
        for level in ROBUSTNESS_LEVELS {
            let is_robust = all.iter().any(|history| matches!(robustness(history, level), Robustness::Robust));
            if is_robust {
                for history in &all {
                    prop_assert!(!satisfies(history, level) || satisfies(history, Level::Ser), "{}\n{}", level, history);
                }
            }
        }
    }
}
