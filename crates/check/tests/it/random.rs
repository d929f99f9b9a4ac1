//! Every engine against the oracle, on random histories: verdicts, commit orders, minimal parts, at every level, with
//! mixtures, with and without sessions and real time.
//!
//! `SKEW_RANDOM=100000 cargo test --release -p skew-check random` for more of them.

use skew_check::{Assumptions, Checker, Facts, Options, oracle};
use skew_model::{Explanation, Justification, Level, Limit, OpId, OpKind, Outcome, Scope};

use crate::generate;

fn scopes() -> impl Iterator<Item = Scope> {
    Level::all().map(Scope::Level).chain([Scope::Declared])
}

fn assumptions() -> [Assumptions; 4] {
    [(true, false), (false, false), (true, true), (false, true)]
        .map(|(sessions, real_time)| Assumptions { sessions, real_time })
}

#[test]
fn verdicts_agree_with_the_oracle() {
    let runs = std::env::var("SKEW_RANDOM").ok().and_then(|runs| runs.parse().ok()).unwrap_or(6000);
    let (mut held, mut violated) = (0, 0);
    for seed in 1..=runs {
        let history = generate::history(seed, 6);
        for assumptions in assumptions() {
            let checker = Checker::new(&history, Options { assumptions, ..Options::default() });
            for scope in scopes() {
                let expected = oracle::some_order_satisfies(checker.facts(), scope);
                let found = checker.holds(scope);
                assert_eq!(found, Some(expected), "seed {seed}, {scope}, {assumptions:?}\n{history}");
                if expected { held += 1 } else { violated += 1 }
            }
        }
    }
    println!("{runs} histories: {held} verdicts hold, {violated} are violated");
    assert!(held > 1000 && violated > 1000, "random histories decide both ways: {held} hold, {violated} do not");
}

#[test]
fn what_is_claimed_is_true() {
    let mut unexplained = 0;
    for seed in 1..=1500 {
        let history = generate::history(seed, 5);
        for assumptions in assumptions() {
            let checker = Checker::new(&history, Options { assumptions, ..Options::default() });
            for scope in scopes() {
                let context = format!("seed {seed}, {scope}, {assumptions:?}\n{history}");
                match checker.check(scope).outcome {
                    Outcome::Holds(Justification::CommitOrder { order, .. }) => {
                        let nodes =
                            order.iter().map(|&txn| checker.facts().node(txn).expect("a committed transaction"));
                        let order: Vec<u32> = [0].into_iter().chain(nodes).collect();
                        assert!(oracle::order_satisfies(checker.facts(), scope, &order), "{context}");
                    }
                    Outcome::Holds(Justification::ReadsOnly) => assert_eq!(scope, Scope::Level(Level::Ru), "{context}"),
                    Outcome::Violated(violation) => {
                        assert!(!matches!(violation.explanation, Explanation::Finding(_)), "{context}");
                        let part = &violation.history;
                        let violates = |part: &skew_model::History| {
                            let facts = Facts::new(part, assumptions);
                            facts.findings().is_empty() && !oracle::some_order_satisfies(&facts, scope)
                        };
                        assert!(violates(part), "the part violates too: {context}\npart:\n{part}");
                        // A write of a row that its statement reads stays: without it the read would mean something else.
                        let by_statement = part.has_statements()
                            && match scope {
                                Scope::Declared => true,
                                Scope::Level(Level::Rc) => true,
                                Scope::Level(level) => level.looks_at_statements() || level.locks_rows(),
                            };
                        // A deletion stays: without it, writes would conflict that do not.
                        let deletes = |op: u32| part.op(OpId(op)).value() == skew_model::Value::NIL;
                        for op in 0..part.all_ops().len() as u32 {
                            let writes = part.op(OpId(op)).kind() == OpKind::Write;
                            if writes && (by_statement || deletes(op)) {
                                continue;
                            }
                            let smaller = part.select_ops(|other| other.0 != op);
                            assert!(!violates(&smaller), "operation {op} can go: {context}\npart:\n{part}");
                        }
                    }
                    // The verdict is known ([`verdicts_agree_with_the_oracle`]); no engine has words for it.
                    Outcome::Unknown(Limit::NoEngine(_)) => unexplained += 1,
                    Outcome::Unknown(limit) => panic!("{limit:?}: {context}"),
                }
            }
        }
    }
    assert!(unexplained < 300, "{unexplained} violations have no explanation");
}
