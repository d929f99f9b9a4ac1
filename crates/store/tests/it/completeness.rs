//! Exploration finds exactly the histories that the oracle accepts, each once, and at `rc`, `ra` and `cc` makes no other
//! run: every small program, at every level.
//!
//! `SKEW_EXHAUSTIVE=1 cargo test --release -p skew-store completeness` takes all programs of up to three sessions of two
//! transactions of two operations over two keys, at all levels, which takes hours: `SKEW_DONE=100000` leaves out what has
//! been done already, so many programs of each worker. Without it, the smaller ones and a sample.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use skew_check::{Assumptions, Checker, Facts, Options as CheckOptions, oracle};
use skew_model::{History, HistoryBuilder, Level, OpKind, Scope, Status, TxnId};
use skew_store::choice::Place;
use skew_store::picks::Exhaustive;
use skew_store::{Config, Db, Error, ExploreLimits, Footprint, FootprintStep, Interleaving, Transaction, explore, run};

use crate::programs::{Dice, NAMES, Op};

/// A program of reads and writes: sessions of transactions of operations.
type Script = Vec<Vec<Vec<Op>>>;

/// Whom each read of another transaction's write reads from, by transaction.
type Sources = BTreeMap<Place, Vec<Option<Place>>>;

/// The levels that are looked at.
const LEVELS: [Level; 8] = [Level::Rc, Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si, Level::Ser];

fn body(script: &Script) -> impl Fn(Db) + Clone + 'static {
    let script = script.clone();
    move |db| {
        for (number, txns) in script.iter().enumerate() {
            let txns = txns.clone();
            db.spawn(&format!("s{number}"), move |session| {
                for ops in &txns {
                    // Who is refused does not try again.
                    let _ = session.transaction(|t| perform(t, ops));
                }
            });
        }
    }
}

fn perform(t: &Transaction<'_>, ops: &[Op]) -> Result<(), Error> {
    for op in ops {
        match *op {
            Op::Read(key) => _ = t.read::<Option<i64>>(NAMES[key as usize])?,
            Op::Write(key) => t.write(NAMES[key as usize], 1)?,
            _ => unreachable!("scripts read and write"),
        }
    }
    Ok(())
}

fn sources(footprints: &[Footprint]) -> Sources {
    let reads = |print: &Footprint| {
        let read = |step: &FootprintStep| match *step {
            FootprintStep::Read { source, .. } => Some(source),
            FootprintStep::Write { .. } => None,
        };
        (print.place, print.steps.iter().filter_map(read).collect())
    };
    footprints.iter().map(reads).collect()
}

/// What exploration finds, and how many runs it made.
fn explored(script: &Script, level: Level) -> (BTreeSet<Sources>, u64) {
    let mut found = BTreeSet::new();
    let mut refused = 0;
    let summary = explore(&Config::new(level), ExploreLimits::default(), body(script), |run| {
        assert!(run.failure.is_none(), "{script:?}");
        if run.footprints().iter().any(|print| print.status != Status::Committed) {
            refused += 1;
            return ControlFlow::Continue(());
        }
        assert!(found.insert(sources(&run.footprints())), "{level}: a history comes twice\n{script:?}");
        ControlFlow::Continue(())
    });
    let summary = summary.unwrap_or_else(|error| panic!("{error}\n{script:?}"));
    assert_eq!((summary.histories - refused, summary.refused), (found.len() as u64, refused));
    (found, summary.runs)
}

/// The transactions of a script: the spawned sessions are numbered after `main`.
fn places(script: &Script) -> Vec<Place> {
    let session = |(at, txns): (usize, &Vec<Vec<Op>>)| {
        (0..txns.len() as u32).map(move |txn| Place { session: at as u32 + 1, txn }).collect::<Vec<_>>()
    };
    script.iter().enumerate().flat_map(session).collect()
}

/// The keys that a transaction reads before it has written them, in order.
fn external_reads(ops: &[Op]) -> Vec<u8> {
    let read = |(at, op): (usize, &Op)| match *op {
        Op::Read(key) if !ops[..at].contains(&Op::Write(key)) => Some(key),
        _ => None,
    };
    ops.iter().enumerate().filter_map(read).collect()
}

/// All ways to answer all reads for which session order and reads have no cycle.
fn conceivable(script: &Script) -> Vec<Sources> {
    let places = places(script);
    let ops = |place: Place| &script[place.session as usize - 1][place.txn as usize];
    let reads: Vec<(Place, u8)> =
        places.iter().flat_map(|&place| external_reads(ops(place)).into_iter().map(move |key| (place, key))).collect();
    let mut found = vec![Sources::from_iter(places.iter().map(|&place| (place, Vec::new())))];
    for (place, key) in reads {
        let writers = places.iter().copied().filter(|&writer| writer != place && ops(writer).contains(&Op::Write(key)));
        let sources: Vec<Option<Place>> = [None].into_iter().chain(writers.map(Some)).collect();
        found = found
            .into_iter()
            .flat_map(|so_far| {
                sources.iter().map(move |&source| {
                    let mut more = so_far.clone();
                    more.get_mut(&place).expect("every place is there").push(source);
                    more
                })
            })
            .filter(is_acyclic)
            .collect();
    }
    found
}

fn is_acyclic(sources: &Sources) -> bool {
    let mut left: Vec<Place> = sources.keys().copied().collect();
    loop {
        let before = left.clone();
        left.retain(|place| {
            let session = place.txn > 0 && before.contains(&Place { txn: place.txn - 1, ..*place });
            session || sources[place].iter().flatten().any(|source| before.contains(source))
        });
        if left.is_empty() || left.len() == before.len() {
            return left.is_empty();
        }
    }
}

fn as_history(script: &Script, sources: &Sources) -> History {
    let mut builder = HistoryBuilder::new();
    let places = places(script);
    let id = |place: Place| TxnId(places.iter().position(|&other| other == place).expect("a place") as u32);
    for (session, txns) in script.iter().enumerate() {
        let name = builder.session(format!("s{session}"));
        for (number, ops) in txns.iter().enumerate() {
            let place = Place { session: session as u32 + 1, txn: number as u32 };
            builder.begin(name, format!("t{session}{number}"));
            let mut read_from = sources[&place].iter();
            for (at, op) in ops.iter().enumerate() {
                let (Op::Read(key) | Op::Write(key)) = *op else { unreachable!("scripts read and write") };
                let name = builder.key(NAMES[key as usize]);
                let value = builder.names().int(0);
                builder.init_key(name, value);
                if let Op::Write(_) = op {
                    builder.op(OpKind::Write, name, value);
                } else {
                    let read = builder.op(OpKind::Read, name, value);
                    if !ops[..at].contains(&Op::Write(key)) {
                        let source = read_from.next().expect("every read is answered");
                        builder.source(read, source.map(id));
                    }
                }
            }
        }
    }
    builder.finish()
}

/// Compares exploration with all conceivable histories that are accepted; how many there are.
fn is_complete(script: &Script, levels: &[Level]) -> usize {
    let conceivable: Vec<(Sources, History)> = conceivable(script)
        .into_iter()
        .map(|sources| {
            let history = as_history(script, &sources);
            (sources, history)
        })
        .collect();
    let mut histories = 0;
    for &level in levels {
        let accepted: BTreeSet<Sources> = conceivable
            .iter()
            .filter(|(_, history)| accepts(history, level))
            .map(|(sources, _)| sources.clone())
            .collect();
        let (found, runs) = explored(script, level);
        assert_eq!(found, accepted, "{level}: what is explored is not what is accepted\n{script:?}");
        if matches!(level, Level::Rc | Level::Ra | Level::Cc) {
            assert_eq!(runs, found.len() as u64, "{level}: runs in vain\n{script:?}");
        }
        histories += found.len();
    }
    histories
}

fn accepts(history: &History, level: Level) -> bool {
    let scope = Scope::Level(level);
    // All orders of six transactions are too many for millions of histories; there the checker stands in, which is
    // itself tested against the oracle.
    if history.txns().len() <= 4 {
        oracle::some_order_satisfies(&Facts::new(history, Assumptions::default()), scope)
    } else {
        Checker::new(history, CheckOptions::default()).holds(scope) == Some(true)
    }
}

/// All transactions of up to this many operations over two keys that differ in what others can see: a read after a write
/// of the key and a second write of it change nothing, and nor does where the writes stand.
fn transactions(ops: usize) -> Vec<Vec<Op>> {
    let one = [Op::Read(0), Op::Read(1), Op::Write(0), Op::Write(1)];
    let mut all: BTreeSet<Vec<Op>> = BTreeSet::new();
    let mut last: Vec<Vec<Op>> = vec![Vec::new()];
    for _ in 0..ops {
        last = last.iter().flat_map(|ops| one.iter().map(|&op| [ops.clone(), vec![op]].concat())).collect();
        all.extend(last.iter().map(|ops| {
            let reads = external_reads(ops).into_iter().map(Op::Read);
            let writes: BTreeSet<Op> = ops.iter().copied().filter(|op| matches!(op, Op::Write(_))).collect();
            reads.chain(writes).collect::<Vec<_>>()
        }));
    }
    all.into_iter().collect()
}

/// All scripts of exactly this many sessions, up to a renaming of keys and sessions.
fn scripts(sessions: usize, txns: usize, ops: usize) -> Vec<Script> {
    let transactions = transactions(ops);
    let mut lists: Vec<Vec<Vec<Op>>> = vec![Vec::new()];
    let mut last = lists.clone();
    for _ in 0..txns {
        last = last
            .iter()
            .flat_map(|list| transactions.iter().map(|txn| [list.clone(), vec![txn.clone()]].concat()))
            .collect();
        lists.extend(last.iter().cloned());
    }
    lists.retain(|list| !list.is_empty());
    lists.sort();
    let mut found: Vec<Script> = vec![Vec::new()];
    for _ in 0..sessions {
        found = found
            .into_iter()
            .flat_map(|script| {
                let rest = lists.iter().filter({
                    let last = script.last().cloned();
                    move |list| last.as_ref().is_none_or(|last| *list >= last)
                });
                rest.map(move |list| [script.clone(), vec![list.clone()]].concat()).collect::<Vec<_>>()
            })
            .collect();
    }
    found.retain(is_smallest_name);
    found
}

fn is_smallest_name(script: &Script) -> bool {
    let swap = |op: &Op| match *op {
        Op::Read(key) => Op::Read(1 - key),
        Op::Write(key) => Op::Write(1 - key),
        other => other,
    };
    let mut renamed: Script =
        script.iter().map(|txns| txns.iter().map(|ops| ops.iter().map(swap).collect()).collect()).collect();
    renamed.sort();
    *script <= renamed
}

fn is_exhaustive() -> bool {
    std::env::var_os("SKEW_EXHAUSTIVE").is_some()
}

#[test]
fn small_programs_are_explored_completely() {
    let mut histories = 0;
    let mut programs = 0;
    for (sessions, txns, ops) in [(1, 2, 2), (2, 1, 2), (3, 1, 2), (2, 2, 1), (3, 2, 1)] {
        for script in scripts(sessions, txns, ops) {
            histories += is_complete(&script, &LEVELS);
            programs += 1;
        }
    }
    println!("{programs} programs, {histories} histories");
    assert!(programs > 1000);
}

#[test]
fn larger_programs_are_explored_completely() {
    if is_exhaustive() {
        let scripts = [scripts(2, 2, 2), scripts(3, 2, 2)].concat();
        println!("{} programs", scripts.len());
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        // So many of each worker's programs are known to be right: hours of work can be taken up again.
        let done = std::env::var("SKEW_DONE").ok().and_then(|done| done.parse().ok()).unwrap_or(0);
        std::thread::scope(|scope| {
            for worker in 0..workers {
                let scripts = &scripts;
                // Small and large ones mixed, so that a part says something about the whole.
                let order = (0..scripts.len()).map(move |at| &scripts[at * 7919 % scripts.len()]);
                scope.spawn(move || all_are_complete(order.skip(worker).step_by(workers).skip(done)));
            }
        });
        return;
    }
    let mut dice = Dice(7);
    let lists = transactions(2);
    let mut one = |sessions: usize| -> Script {
        (0..sessions).map(|_| (0..2).map(|_| lists[dice.roll(lists.len())].clone()).collect()).collect()
    };
    let scripts: Vec<Script> = (0..460).map(|at| one(if at < 400 { 2 } else { 3 })).collect();
    all_are_complete(scripts.iter());
}

fn all_are_complete<'a>(scripts: impl Iterator<Item = &'a Script>) {
    let (mut programs, mut histories) = (0, 0);
    for script in scripts {
        histories += is_complete(script, &LEVELS);
        programs += 1;
        if programs % 10_000 == 0 {
            println!("{programs} programs, {histories} histories");
        }
    }
    println!("{programs} programs, {histories} histories");
}

/// Main runs transactions of its own before, between and after the sessions that it spawns and joins.
fn with_joins(script: &Script, main: &[Vec<Op>]) -> impl Fn(Db) + Clone + 'static {
    let (script, main) = (script.clone(), main.to_vec());
    move |db| {
        let mut main = main.iter().cloned();
        let mut own = |db: &Db| {
            if let Some(ops) = main.next() {
                db.transaction(|t| perform(t, &ops)).expect("weak levels have no conflicts");
            }
        };
        let mut spawned = Vec::new();
        for (number, txns) in script.iter().enumerate() {
            own(&db);
            let txns = txns.clone();
            spawned.push(db.spawn(&format!("s{number}"), move |session| {
                for ops in &txns {
                    session.transaction(|t| perform(t, ops)).expect("weak levels have no conflicts");
                }
            }));
        }
        for session in spawned {
            own(&db);
            session.join();
        }
        own(&db);
    }
}

#[test]
fn spawn_and_join_are_explored_once() {
    let mut dice = Dice(11);
    let lists = transactions(2);
    let mut histories = 0;
    for _ in 0..150 {
        let mut some = |most: usize| -> Vec<Vec<Op>> {
            (0..1 + dice.roll(most)).map(|_| lists[dice.roll(lists.len())].clone()).collect()
        };
        let script: Script = (0..2).map(|_| some(2)).collect();
        let main = some(4);
        for level in [Level::Rc, Level::Ra, Level::Cc] {
            let mut found = BTreeSet::new();
            let summary = explore(&Config::new(level), ExploreLimits::default(), with_joins(&script, &main), |run| {
                assert!(found.insert(sources(&run.footprints())), "a history comes twice\n{main:?} {script:?}");
                ControlFlow::Continue(())
            });
            let summary = summary.unwrap_or_else(|error| panic!("{error}\n{main:?} {script:?}"));
            let all = counted_through(level, with_joins(&script, &main));
            assert_eq!(found, all, "{level}\n{main:?} {script:?}");
            assert_eq!(summary.runs, found.len() as u64);
            histories += found.len();
        }
    }
    println!("{histories} histories");
}

/// Every schedule of transactions and every answer to every read.
fn counted_through(level: Level, body: impl Fn(Db) + Clone + 'static) -> BTreeSet<Sources> {
    let config = Config::new(level);
    assert_eq!(config.interleaving(), Interleaving::Transactions);
    let choice = Arc::new(Mutex::new(Exhaustive::default()));
    let mut found = BTreeSet::new();
    loop {
        found.insert(sources(&run(&config, Box::new(choice.clone()), body.clone()).footprints()));
        if !choice.lock().expect("nobody panics").next_run() {
            return found;
        }
    }
}

/// At `ru` operations of running transactions are seen: all ways to answer the reads that some interleaving of the
/// operations gives.
#[test]
fn ru_is_explored_completely() {
    for (sessions, txns, ops) in [(2, 1, 2), (2, 2, 1), (3, 1, 1)] {
        for script in scripts(sessions, txns, ops) {
            let mut found = BTreeSet::new();
            let summary = explore(&Config::new(Level::Ru), ExploreLimits::default(), body(&script), |run| {
                found.insert(writes_read(&run.footprints()));
                ControlFlow::Continue(())
            });
            let summary = summary.unwrap_or_else(|error| panic!("{error}\n{script:?}"));
            assert_eq!(summary.histories, found.len() as u64, "{script:?}");
            assert_eq!(found, interleaved(&script), "{script:?}");
        }
    }
}

/// A write, by transaction and number of its operation; `None` is the initial one.
type Written = Option<(Place, u32)>;

fn writes_read(footprints: &[Footprint]) -> BTreeMap<Place, Vec<Written>> {
    let reads = |print: &Footprint| {
        let read = |step: &FootprintStep| match *step {
            FootprintStep::Read { source, write, .. } => Some(source.map(|source| (source, write))),
            FootprintStep::Write { .. } => None,
        };
        (print.place, print.steps.iter().filter_map(read).collect())
    };
    footprints.iter().map(reads).collect()
}

/// All interleavings of the operations, and at each read any writer's last write so far.
fn interleaved(script: &Script) -> BTreeSet<BTreeMap<Place, Vec<Written>>> {
    let mut found = BTreeSet::new();
    let places = places(script);
    let start = places.iter().map(|&place| (place, Vec::new())).collect();
    interleave(script, vec![(0, 0); script.len()], &mut Vec::new(), &start, &mut found);
    found
}

fn interleave(
    script: &Script,
    at: Vec<(usize, usize)>,
    written: &mut Vec<(Place, u8, u32)>,
    so_far: &BTreeMap<Place, Vec<Written>>,
    found: &mut BTreeSet<BTreeMap<Place, Vec<Written>>>,
) {
    let mut over = true;
    for (session, &(txn, op)) in at.iter().enumerate() {
        let Some(ops) = script[session].get(txn) else { continue };
        over = false;
        let place = Place { session: session as u32 + 1, txn: txn as u32 };
        let mut next = at.clone();
        next[session] = if op + 1 == ops.len() { (txn + 1, 0) } else { (txn, op + 1) };
        match ops[op] {
            Op::Write(key) => {
                written.push((place, key, op as u32));
                interleave(script, next, written, so_far, found);
                written.pop();
            }
            Op::Read(key) if ops[..op].contains(&Op::Write(key)) => interleave(script, next, written, so_far, found),
            Op::Read(key) => {
                let writers: BTreeMap<Place, u32> =
                    written.iter().filter(|write| write.1 == key).map(|write| (write.0, write.2)).collect();
                for source in [None].into_iter().chain(writers.into_iter().map(Some)) {
                    let mut more = so_far.clone();
                    more.get_mut(&place).expect("every place is there").push(source);
                    interleave(script, next.clone(), written, &more, found);
                }
            }
            _ => unreachable!("scripts read and write"),
        }
    }
    if over {
        found.insert(so_far.clone());
    }
}

/// A session that panics ends, and the others go on: what they write may be what an earlier read has to read in a run
/// that is within the level.
#[test]
fn runs_that_panic_and_are_left_out_hide_nothing() {
    let program = |asserts: bool| {
        move |db: Db| {
            for key in ["a", "b", "c"] {
                db.init(key, 0);
            }
            db.spawn("first", move |session| {
                let leaves = session.transaction(|t| {
                    let _ = t.read::<i64>("c")?;
                    let leaves = t.read::<i64>("b")? == 0;
                    if leaves { t.write("a", 1) } else { Ok(()) }.map(|()| leaves)
                });
                let other = session.transaction(|t| t.read::<i64>("b"));
                let both = leaves == Ok(true) && other == Ok(1);
                assert!(!asserts || !both, "both have left");
            });
            db.spawn("second", |session| {
                let stays = |t: &Transaction<'_>| if t.read::<i64>("a")? == 0 { t.write("b", 1) } else { Ok(()) };
                session.transaction(stays).is_ok()
            });
            db.spawn("third", |session| session.transaction(|t| t.write("c", 1)).is_ok());
        }
    };
    let found = |asserts: bool| {
        let mut found = BTreeSet::new();
        let explored = explore(&Config::new(Level::Ser), ExploreLimits::default(), program(asserts), |run| {
            assert!(run.failure.is_none(), "serializable runs do not panic");
            found.insert(sources(&run.footprints()));
            ControlFlow::Continue(())
        });
        assert!(explored.expect("it is repeatable").filtered > 0);
        found
    };
    assert_eq!(found(true), found(false));
}
