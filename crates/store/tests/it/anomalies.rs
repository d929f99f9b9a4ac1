//! As weak as its level, and no weaker: the histories on the anomalies' pages, as programs. Where a level allows the
//! history, random runs at that level show it; where it forbids it, exploration never does.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use skew_model::{History, Level, Literal, OpId, OpKind, Status, anomaly};
use skew_store::strategies::{Dice, Random};
use skew_store::{Config, Db, End, Error, ExploreLimits, Interleaving, Recency, Transaction, explore, run};

const LEVELS: [Level; 9] =
    [Level::Ru, Level::Rc, Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si, Level::Ser];

/// How many random runs may pass before a history that is allowed has been seen.
const RUNS: u64 = 200_000;

/// The first history on an anomaly's page, and the strongest levels that allow it. `None` if it cannot be a program's:
/// a history with a version order, or of lists.
fn history_of(page: &str) -> Option<(History, Vec<Level>)> {
    let text = page.split("```hist\n").nth(1)?.split("```").next()?;
    let history = History::parse(text).expect("pages hold histories");
    let said = page.split("Satisfies: ").nth(1)?.lines().next()?;
    let levels = match said {
        "nothing" => Vec::new(),
        list => list.split(", ").map(|word| word.parse().expect("a level")).collect(),
    };
    (history.ordered_keys().is_empty() && !history.has_statements()).then_some((history, levels))
}

/// What the sessions of a history did, whatever the transactions are called.
type Done = BTreeMap<String, Vec<(bool, Vec<(bool, String, Literal)>)>>;

fn done(history: &History) -> Done {
    let mut done = Done::new();
    for id in history.txn_ids() {
        let txn = history.txn(id);
        let ops = history.op_ids(id).map(|op| {
            let op = history.op(OpId(op));
            (op.kind() == OpKind::Write, history.key_name(op.key()), history.literal(op.value()))
        });
        let committed = txn.status == Status::Committed;
        done.entry(history.session_name(txn.session)).or_default().push((committed, ops.collect()));
    }
    done
}

/// The program that could have produced the history.
fn program(history: &History) -> impl Fn(Db) + Clone + 'static {
    let sessions = done(history);
    let init: Vec<(String, Literal)> = (0..history.key_count() as u32)
        .map(skew_model::Key)
        .map(|key| (history.key_name(key), history.literal(history.initial(key))))
        .collect();
    move |db| {
        for (key, value) in &init {
            match value {
                Literal::Nil => {}
                Literal::Int(number) => db.init(key, *number),
                Literal::Text(text) => db.init(key, text.as_str()),
            }
        }
        for (name, txns) in &sessions {
            let txns = txns.clone();
            db.spawn(name, move |session| {
                for (commits, ops) in &txns {
                    // A conflict is one way that the history does not come about.
                    let _ = session.transaction(|t| perform(t, *commits, ops));
                }
            });
        }
    }
}

fn perform(t: &Transaction<'_>, commits: bool, ops: &[(bool, String, Literal)]) -> Result<(), Error> {
    for (write, key, value) in ops {
        match value {
            _ if !write => _ = t.read::<Option<skew_store::Value>>(key)?,
            Literal::Nil => t.delete(key)?,
            Literal::Int(number) => t.write(key, *number)?,
            Literal::Text(text) => t.write(key, text.as_str())?,
        }
    }
    if commits { Ok(()) } else { Err(Error::Abandoned("as the history says".to_owned())) }
}

#[test]
fn what_a_level_allows_is_shown_and_what_it_forbids_is_not() {
    let (mut shown, mut never) = (0, 0);
    let mut left_out = Vec::new();
    for definition in anomaly::DEFINITIONS {
        let Some((history, strongest)) = history_of(definition.page) else {
            left_out.push(definition.id);
            continue;
        };
        for level in LEVELS {
            let allowed = strongest.iter().any(|held| held.implies(level));
            if allowed {
                let runs = runs_until(&history, level);
                assert!(runs.is_some(), "{level} allows {} and {RUNS} runs did not show it", definition.id);
                shown += 1;
            } else {
                assert!(!is_explored(&history, level), "{level} forbids {} and it comes about", definition.id);
                never += 1;
            }
        }
    }
    println!("{shown} shown, {never} never; not programs: {left_out:?}");
    // The order of versions and the elements of lists are nothing that a program of reads and writes observes.
    let not_observed = ["incompatible-order", "duplicate-element", "dirty-write", "non-monotonic-write", "read-skew"];
    assert_eq!(left_out, not_observed);
}

fn runs_until(history: &History, level: Level) -> Option<u64> {
    let wanted = done(history);
    let config = Config { interleaving: Some(Interleaving::Operations), ..Config::new(level) };
    (0..RUNS).find(|&number| {
        let choice = Random::new(Dice::seed_of_run(3, number));
        let made = run(&config, Box::new(choice), program(history));
        done(&made.history()) == wanted
    })
}

fn is_explored(history: &History, level: Level) -> bool {
    let wanted = done(history);
    let explored = explore(
        &Config::new(level),
        ExploreLimits { max_runs: 300_000, ..ExploreLimits::default() },
        program(history),
        |run| {
            if done(&run.history()) == wanted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    );
    let explored = explored.expect("these programs are repeatable");
    assert_ne!(explored.end, End::MaxRuns, "{level}\n{history}");
    explored.end == End::Stopped
}

/// `main` waits for the writer to end, then reads.
fn read_after_write(level: Level, recency: Recency) -> Vec<i64> {
    let config = Config { recency, ..Config::new(level) };
    let mut seen: Vec<i64> = (0..200)
        .map(|number| {
            let (tell, told) = std::sync::mpsc::channel();
            run(&config, Box::new(Random::new(number)), move |db| {
                db.init("x", 0);
                let writer = db.spawn("writer", |session| session.transaction(|t| t.write("x", 1)));
                writer.join().expect("nobody else writes");
                let x = db.transaction(|t| t.read::<i64>("x")).expect("nobody else writes");
                tell.send(x).expect("somebody listens");
            });
            told.recv().expect("the run has ended")
        })
        .collect();
    seen.sort_unstable();
    seen.dedup();
    seen
}

#[test]
fn recency_decides_whether_stale_reads_are_shown() {
    for level in [Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si, Level::Ser] {
        assert_eq!(read_after_write(level, Recency::None), [0, 1], "{level} allows a stale read");
        assert_eq!(read_after_write(level, Recency::Commit), [1], "{level} with real time does not");
    }
    assert_eq!(read_after_write(Level::Sser, Recency::None), [1], "sser brings real time along");
}
