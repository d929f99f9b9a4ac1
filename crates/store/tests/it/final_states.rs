//! The final states that exploration reaches are those of the definition: for every small program, at every level, the pairs
//! of what the transactions have read and what `Db::check` finds in the end are those that the oracle derives from all commit
//! orders.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use skew_check::{Assumptions, Facts, oracle};
use skew_model::{History, Level, Scope};
use skew_store::{Config, Db, ExploreLimits, RefusedRuns, explore};

const LEVELS: [Level; 8] = [Level::Rc, Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si, Level::Ser];
const KEYS: [&str; 2] = ["x", "y"];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Op {
    Read(usize),
    Write(usize),
}

/// Sessions of one transaction each.
type Program = Vec<Vec<Op>>;

/// What each read of each transaction returned, in the order of sessions, and the values of the keys in the end.
type Outcome = (Vec<i64>, Vec<i64>);

/// The value that a transaction writes to a key: no other transaction writes it.
fn value(session: usize, key: usize) -> i64 {
    (10 * (session + 1) + key) as i64
}

/// Runs the program, and looks at all keys in the end.
fn perform(program: &Program, db: &Db) -> Option<Outcome> {
    KEYS.iter().for_each(|key| db.init(key, 0));
    let sessions: Vec<_> = program
        .iter()
        .enumerate()
        .map(|(at, ops)| {
            let ops = ops.clone();
            db.spawn(&format!("s{at}"), move |session| {
                session.transaction(|t| {
                    let mut seen = Vec::new();
                    for op in &ops {
                        match *op {
                            Op::Read(key) => seen.push(t.read::<i64>(KEYS[key])?),
                            Op::Write(key) => t.write(KEYS[key], value(at, key))?,
                        }
                    }
                    Ok(seen)
                })
            })
        })
        .collect();
    let seen: Result<Vec<Vec<i64>>, _> = sessions.into_iter().map(|session| session.join()).collect();
    let last = db.check(|t| KEYS.iter().map(|key| t.read::<i64>(key)).collect::<Result<Vec<i64>, _>>());
    Some((seen.ok()?.concat(), last))
}

/// What exploration reaches, of the runs in which every transaction commits.
fn explored(program: &Program, level: Level) -> BTreeSet<Outcome> {
    let outcome: Arc<Mutex<Option<Outcome>>> = Arc::default();
    let (kept, own) = (Arc::clone(&outcome), program.clone());
    let limits = ExploreLimits { refused: RefusedRuns::LeftOut, ..ExploreLimits::default() };
    let mut found = BTreeSet::new();
    let body = move |db: Db| {
        let performed = perform(&own, &db);
        *kept.lock().expect("a run has ended before the next one begins") = performed;
    };
    let summary = explore(&Config::new(level), limits, body, |_| {
        found.extend(outcome.lock().expect("the run has ended").clone());
        ControlFlow::Continue(())
    });
    assert!(summary.is_ok_and(|summary| summary.end == skew_store::End::Complete), "{program:?}");
    found
}

/// The choices of what the reads return: the initial value, or what another transaction writes to the key; after its own
/// write, a transaction reads that.
fn assignments(program: &Program) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for (at, ops) in program.iter().enumerate() {
        for (place, op) in ops.iter().enumerate() {
            let Op::Read(key) = *op else { continue };
            let writes = |session: &usize| program[*session].contains(&Op::Write(key));
            let sources: Vec<i64> = match ops[..place].contains(&Op::Write(key)) {
                true => vec![value(at, key)],
                false => {
                    let others = (0..program.len()).filter(|session| *session != at).filter(writes);
                    std::iter::once(0).chain(others.map(|session| value(session, key))).collect()
                }
            };
            all = all
                .iter()
                .flat_map(|reads: &Vec<i64>| sources.iter().map(|source| [reads.as_slice(), &[*source]].concat()))
                .collect();
        }
    }
    all
}

fn history(program: &Program, level: Level, reads: &[i64]) -> History {
    let mut text = "init x=0 y=0\n".to_owned();
    let mut reads = reads.iter();
    for (at, ops) in program.iter().enumerate() {
        text += &format!("s{at} t{} @{level}", at + 1);
        for op in ops {
            text += &match *op {
                Op::Read(key) => format!(" r {}={}", KEYS[key], reads.next().expect("one value a read")),
                Op::Write(key) => format!(" w {}={}", KEYS[key], value(at, key)),
            };
        }
        text.push('\n');
    }
    History::parse(&text).expect("a history")
}

/// What the definition accepts.
fn accepted(program: &Program, level: Level) -> BTreeSet<Outcome> {
    let mut outcomes = BTreeSet::new();
    for reads in assignments(program) {
        let history = history(program, level, &reads);
        let facts = Facts::new(&history, Assumptions::default());
        for state in oracle::final_states(&facts, Scope::Declared) {
            let mut last = vec![0; KEYS.len()];
            for (key, writer) in state {
                let name = history.key_name(key).to_string();
                let at = KEYS.iter().position(|key| **key == *name).expect("a key of the program");
                let text = history.txn_name(writer).to_string();
                let number: usize = text.trim_start_matches('t').parse().expect("a number");
                last[at] = value(number - 1, at);
            }
            outcomes.insert((reads.clone(), last));
        }
    }
    outcomes
}

fn compare(program: &Program) {
    for level in LEVELS {
        let (found, expected) = (explored(program, level), accepted(program, level));
        let missing: Vec<_> = expected.difference(&found).collect();
        let wrong: Vec<_> = found.difference(&expected).collect();
        assert!(missing.is_empty() && wrong.is_empty(), "{program:?} at {level}\nmissing {missing:?}\nwrong {wrong:?}");
    }
}

/// All transactions of one or two operations that write no key twice.
fn transactions() -> Vec<Vec<Op>> {
    let ops = [Op::Read(0), Op::Read(1), Op::Write(0), Op::Write(1)];
    let pairs = ops.iter().flat_map(|one| ops.iter().map(|other| vec![*one, *other]));
    let both = pairs.filter(|ops| !(ops[0] == ops[1] && matches!(ops[0], Op::Write(_))));
    ops.iter().map(|op| vec![*op]).chain(both).collect()
}

#[test]
fn final_states_of_two_transactions_are_those_of_the_definition() {
    let all = transactions();
    for (at, one) in all.iter().enumerate() {
        all[at..].iter().for_each(|other| compare(&vec![one.clone(), other.clone()]));
    }
}

#[test]
fn final_states_of_three_writers_are_those_of_the_definition() {
    let all = transactions().into_iter().filter(|ops| ops.iter().any(|op| matches!(op, Op::Write(_))));
    let all: Vec<_> = all.collect();
    for (first, one) in all.iter().enumerate() {
        for (second, other) in all.iter().enumerate().skip(first) {
            all[second..].iter().for_each(|third| compare(&vec![one.clone(), other.clone(), third.clone()]));
        }
    }
}
