//! Exploration finds exactly the histories that the definition accepts, each once, and at `rc`, `ra` and `cc` makes no
//! other run: every small program, at every level.
//!
//! `SKEW_EXHAUSTIVE=1 cargo test --release -p skew-store completeness -- --nocapture` takes all programs of up to three
//! sessions of two transactions of two operations over two keys. That takes hours, in chunks that say when they are done:
//! `SKEW_DONE=100000` leaves out so many programs, `SKEW_WORKERS=1` takes one processor only. Without it, the smaller ones
//! and a sample.
//!
//! Exploration at `pc`, `psi`, `si` and `ser` is exploration at `cc` with a filter, and at `mvrc` at `rc`. So there each
//! program is explored at `rc`, `ra` and `cc`, and what is found is put to the filters of all the others; and at every
//! level by itself with `SKEW_EVERY=1` all of them, by default one in 16.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use skew_check::{Assumptions, Facts, oracle};
use skew_model::{History, HistoryBuilder, Level, OpKind, Scope, Status, TxnId};
use skew_store::choice::Place;
use skew_store::picks::Exhaustive;
use skew_store::{
    Config, Db, Error, ExploreLimits, Footprint, FootprintStep, Interleaving, RefusedRuns, Transaction, explore, run,
};

use crate::literal::{self, Answers, LEVELS, Program};
use crate::programs::{Dice, NAMES, Op};

/// A program of reads and writes: sessions of transactions of operations.
type Script = Vec<Vec<Vec<Op>>>;

/// Whom each read of another transaction's write reads from, by transaction.
type Sources = BTreeMap<Place, Vec<Option<Place>>>;

fn body(script: &Script) -> impl Fn(Db) + Clone + 'static {
    let sessions: Vec<Arc<[Vec<Op>]>> = script.iter().map(|txns| txns[..].into()).collect();
    move |db| {
        for (name, txns) in ["s0", "s1", "s2"].into_iter().zip(&sessions) {
            let txns = txns.clone();
            db.spawn(name, move |session| {
                for ops in &txns[..] {
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

/// What exploration finds, ascending, and how many runs it made.
fn explored(script: &Script, level: Level, refused: RefusedRuns) -> (Vec<Answers>, u64) {
    let ([found], runs) = explored_and_judged(script, [level], refused);
    (found, runs)
}

/// What exploration at the first level finds, and what of it is within each of the others.
fn explored_and_judged<const N: usize>(
    script: &Script,
    levels: [Level; N],
    refused: RefusedRuns,
) -> ([Vec<Answers>; N], u64) {
    let reads = first_reads(script);
    let mut found: [Vec<Answers>; N] = std::array::from_fn(|_| Vec::new());
    let mut with_refusals = 0;
    let limits = ExploreLimits { refused, ..ExploreLimits::default() };
    let summary = explore(&Config::new(levels[0]), limits, body(script), |run| {
        assert!(run.failure.is_none(), "{script:?}");
        let footprints = run.footprints();
        if footprints.iter().any(|print| print.status != Status::Committed) {
            with_refusals += 1;
            return ControlFlow::Continue(());
        }
        let answers = answers(&reads, &footprints);
        for (at, (level, found)) in levels.into_iter().zip(&mut found).enumerate() {
            if at == 0 || run.is_within(Scope::Level(level)).expect("it is small") {
                found.push(answers);
            }
        }
        ControlFlow::Continue(())
    });
    let summary = summary.unwrap_or_else(|error| panic!("{error}\n{script:?}"));
    found.iter_mut().for_each(|found| found.sort_unstable());
    let [first, ..] = &found[..] else { unreachable!("there is a level") };
    assert!(first.is_sorted_by(|one, other| one < other), "{}: a history comes twice\n{script:?}", levels[0]);
    assert_eq!((summary.histories - with_refusals, summary.refused), (first.len() as u64, with_refusals));
    (found, summary.runs)
}

/// For each transaction of each session its number, from 1, and how many reads of others come before its own.
fn first_reads(script: &Script) -> Vec<Vec<(usize, usize)>> {
    let (mut txn, mut reads) = (0, 0);
    let mut next = |ops: &Vec<Op>| {
        let first = reads;
        txn += 1;
        reads += external_reads(ops).len();
        (txn, first)
    };
    script.iter().map(|txns| txns.iter().map(&mut next).collect()).collect()
}

/// Whom the reads of a run read from.
fn answers(first_reads: &[Vec<(usize, usize)>], footprints: &[Footprint]) -> Answers {
    let at = |place: Place| first_reads[place.session as usize - 1][place.txn as usize];
    let mut answers = 0;
    for print in footprints {
        let (_, mut read) = at(print.place);
        for step in &print.steps {
            if let FootprintStep::Read { source, .. } = *step {
                answers |= source.map_or(0, |source| at(source).0 as Answers) << (4 * read);
                read += 1;
            }
        }
    }
    answers
}

/// The script as the literal definition takes it.
fn as_program(script: &Script) -> Program {
    let txn = |session: usize, ops: &Vec<Op>| {
        let written = |op: &Op| if let Op::Write(key) = *op { Some(key) } else { None };
        literal::Txn { session, reads: external_reads(ops), writes: ops.iter().filter_map(written).collect() }
    };
    let txns = script.iter().enumerate().flat_map(|(session, txns)| txns.iter().map(move |ops| txn(session, ops)));
    Program::new(&txns.collect::<Vec<_>>())
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

/// Compares exploration at every level with all conceivable histories that are accepted; how many there are.
fn is_complete(script: &Script, refused: RefusedRuns) -> usize {
    let conceivable = as_program(script).conceivable();
    let explored = |level| is_complete_at(script, &conceivable, [level], refused);
    LEVELS.into_iter().map(explored).sum()
}

/// The same, with one exploration for all levels that are explored in the same way.
fn is_complete_in_three(script: &Script) -> usize {
    let conceivable = as_program(script).conceivable();
    let causal = [Level::Cc, Level::Pc, Level::Psi, Level::Si, Level::Ser];
    is_complete_at(script, &conceivable, [Level::Rc, Level::Mvrc], RefusedRuns::LeftOut)
        + is_complete_at(script, &conceivable, [Level::Ra], RefusedRuns::LeftOut)
        + is_complete_at(script, &conceivable, causal, RefusedRuns::LeftOut)
}

fn is_complete_at<const N: usize>(
    script: &Script,
    conceivable: &[(Answers, literal::Levels)],
    levels: [Level; N],
    refused: RefusedRuns,
) -> usize {
    let (found, runs) = explored_and_judged(script, levels, refused);
    for (level, found) in levels.into_iter().zip(&found) {
        let accepted = conceivable.iter().filter(|(_, levels)| levels & literal::level(level) != 0);
        let mut accepted: Vec<Answers> = accepted.map(|&(answers, _)| answers).collect();
        accepted.sort_unstable();
        assert_eq!(*found, accepted, "{level}: what is explored is not what is accepted\n{script:?}");
        if matches!(level, Level::Rc | Level::Ra | Level::Cc) {
            assert_eq!(runs, found.len() as u64, "{level}: runs in vain\n{script:?}");
        }
    }
    found.iter().map(Vec::len).sum()
}

/// The literal definition for tiny programs is that of the oracle.
fn is_literal(script: &Script) -> usize {
    let reads = first_reads(script);
    let all = conceivable(script);
    let found: BTreeMap<Answers, literal::Levels> = as_program(script).conceivable().into_iter().collect();
    assert_eq!(found.len(), all.len(), "{script:?}");
    for sources in &all {
        let history = as_history(script, sources);
        let facts = Facts::new(&history, Assumptions::default());
        let packed = packed(&reads, sources);
        for level in LEVELS {
            let accepted = oracle::some_order_satisfies(&facts, Scope::Level(level));
            assert_eq!(found[&packed] & literal::level(level) != 0, accepted, "{level}\n{history}");
        }
    }
    all.len()
}

fn packed(first_reads: &[Vec<(usize, usize)>], sources: &Sources) -> Answers {
    let number = |place: Place| first_reads[place.session as usize - 1][place.txn as usize].0;
    let all: Vec<usize> = sources.values().flatten().map(|source| source.map_or(0, number)).collect();
    literal::pack(&all)
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

/// Sessions, transactions and operations of the small programs.
const SMALL: [(usize, usize, usize); 5] = [(1, 2, 2), (2, 1, 2), (3, 1, 2), (2, 2, 1), (3, 2, 1)];

#[test]
fn small_programs_are_explored_completely() {
    let mut histories = 0;
    let mut programs = 0;
    for (sessions, txns, ops) in SMALL {
        for script in scripts(sessions, txns, ops) {
            histories += is_complete(&script, RefusedRuns::Made);
            programs += 1;
        }
    }
    println!("{programs} programs, {histories} histories");
    assert!(programs > 1000);
}

#[test]
fn the_literal_definition_is_that_of_the_oracle() {
    let small = SMALL.into_iter().flat_map(|(sessions, txns, ops)| scripts(sessions, txns, ops));
    let small = small.filter(|script| places(script).len() <= 4);
    let histories: usize = small.chain(sample(400, 12)).map(|script| is_literal(&script)).sum();
    println!("{histories} histories");
}

/// Some programs of two sessions, and of three, of two transactions of up to two operations.
fn sample(of_two: usize, of_three: usize) -> impl Iterator<Item = Script> {
    let mut dice = Dice::new(7);
    let lists = transactions(2);
    (0..of_two + of_three).map(move |at| {
        let sessions = if at < of_two { 2 } else { 3 };
        (0..sessions).map(|_| (0..2).map(|_| lists[dice.roll(lists.len())].clone()).collect()).collect()
    })
}

#[test]
fn larger_programs_are_explored_completely() {
    if is_exhaustive() {
        return all_programs_are_explored_completely();
    }
    for script in sample(400, 60) {
        assert_eq!(is_complete(&script, RefusedRuns::Made), is_complete_in_three(&script), "{script:?}");
    }
}

/// Histories in which everybody commits are found by runs in which everybody commits: see [`RefusedRuns::LeftOut`].
#[test]
fn runs_with_refusals_can_be_left_out() {
    for script in sample(200, 40) {
        for level in [Level::Psi, Level::Si, Level::Ser] {
            let (with, _) = explored(&script, level, RefusedRuns::Made);
            assert_eq!(explored(&script, level, RefusedRuns::LeftOut).0, with, "{level}\n{script:?}");
        }
    }
}

/// How many programs are taken at once; when they are done a line says so.
const CHUNK: usize = 1000;

/// How far apart in the list programs are that are taken one after the other: a prime.
const STRIDE: usize = 7919;

/// Chunk after chunk, each shared by all workers, so that what is done is a number.
fn all_programs_are_explored_completely() {
    let setting = |name: &str| std::env::var(name).ok().and_then(|number| number.parse::<usize>().ok());
    let scripts = [scripts(2, 2, 2), scripts(3, 2, 2)].concat();
    let workers = setting("SKEW_WORKERS").or(std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    let (start, first) = (Instant::now(), setting("SKEW_DONE").unwrap_or(0));
    let every = setting("SKEW_EVERY").unwrap_or(16);
    println!("{} programs, {workers} workers, {first} done before, one in {every} by itself", scripts.len());
    assert_ne!(scripts.len() % STRIDE, 0, "every program is visited");
    let mut histories = 0;
    for chunk in (first..scripts.len()).step_by(CHUNK) {
        let end = scripts.len().min(chunk + CHUNK);
        let (next, found) = (AtomicUsize::new(chunk), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&at| at < end) {
                        // Small and large ones mixed, so that a part says something about the whole.
                        let script = &scripts[at * STRIDE % scripts.len()];
                        let histories = match at % every {
                            0 => is_complete(script, RefusedRuns::LeftOut),
                            _ => is_complete_in_three(script),
                        };
                        found.fetch_add(histories, Ordering::Relaxed);
                    }
                });
            }
        });
        histories += found.into_inner();
        println!("SKEW_DONE={end}: {histories} histories since {first}, {} s", start.elapsed().as_secs());
    }
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
    let mut dice = Dice::new(11);
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
