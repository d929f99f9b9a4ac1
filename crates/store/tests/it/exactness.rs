//! While the commit order is open, a read's candidates are exactly the writers that keep the history within its levels:
//! for a program and a schedule, all ways to answer the reads are all that the oracle accepts.

use std::collections::BTreeSet;

use skew_check::{Assumptions, Facts, oracle};
use skew_model::{HistoryBuilder, Level, OpKind, Scope, TxnId};
use skew_store::choice::{Choice, Place, Point};
use skew_store::{FootprintStep, Options, Reads, Store};

use crate::programs::{Dice, NAMES, Op, Program, Txn};

/// Who each read of another transaction's write read from, in the order of transactions and operations.
type Sources = Vec<(Place, Vec<Option<Place>>)>;

/// Answers from a list, then with the first alternative; remembers how many there were.
struct Odometer {
    picks: Vec<(usize, usize)>,
    at: usize,
}

impl Choice for Odometer {
    fn pick(&mut self, point: Point<'_>) -> usize {
        if self.at == self.picks.len() {
            self.picks.push((0, point.count()));
        }
        self.at += 1;
        self.picks[self.at - 1].0
    }
}

impl Odometer {
    fn turn(&mut self) -> bool {
        self.at = 0;
        while let Some((pick, count)) = self.picks.pop() {
            if pick + 1 < count {
                self.picks.push((pick + 1, count));
                return true;
            }
        }
        false
    }
}

/// Which session's next step comes when; a step is a begin, an operation or a commit.
fn random_schedule(program: &Program, dice: &mut Dice) -> Vec<usize> {
    let mut left: Vec<usize> = program.iter().map(|txns| txns.iter().map(|txn| txn.ops.len() + 2).sum()).collect();
    let mut schedule = Vec::new();
    while left.iter().any(|&left| left > 0) {
        let session = dice.roll(left.len());
        if left[session] > 0 {
            left[session] -= 1;
            schedule.push(session);
        }
    }
    schedule
}

/// The steps of a session, one after another: transaction, and operation if it is one.
fn steps(txns: &[Txn]) -> Vec<(usize, Option<Op>, bool)> {
    let one = |(at, txn): (usize, &Txn)| {
        let ops = txn.ops.iter().map(move |&op| (at, Some(op), false));
        [(at, None, false)].into_iter().chain(ops).chain([(at, None, true)]).collect::<Vec<_>>()
    };
    txns.iter().enumerate().flat_map(one).collect()
}

fn run(program: &Program, schedule: &[usize], odometer: &mut Odometer) -> Sources {
    let mut store: Store<i64> = Store::new(Options::default());
    let sessions: Vec<_> = (0..program.len()).map(|at| store.session(&format!("s{at}"))).collect();
    let steps: Vec<_> = program.iter().map(|txns| steps(txns)).collect();
    let mut at = vec![0; program.len()];
    let mut open = vec![TxnId(0); program.len()];
    for &session in schedule {
        let (txn, op, ends) = steps[session][at[session]];
        at[session] += 1;
        match op {
            None if ends => store.commit(open[session]).expect("weak levels commit"),
            None => {
                open[session] = store.begin(sessions[session], program[session][txn].level, Reads::Any).expect("runs")
            }
            Some(Op::Read(key)) => {
                let key = store.key(NAMES[key as usize]);
                store.read(open[session], key, odometer).expect("weak levels read");
            }
            Some(Op::Write(key)) => {
                let key = store.key(NAMES[key as usize]);
                store.write(open[session], key, Some(0)).expect("weak levels write");
            }
            Some(op) => unreachable!("{op:?} is not part of these programs"),
        }
    }
    let mut sources: Sources =
        store.footprints().into_iter().map(|print| (print.place, reads_of(&print.steps))).collect();
    sources.sort();
    sources
}

fn reads_of(steps: &[FootprintStep]) -> Vec<Option<Place>> {
    let read = |step: &FootprintStep| match step {
        FootprintStep::Read { source, .. } => Some(*source),
        FootprintStep::Write { .. } => None,
    };
    steps.iter().filter_map(read).collect()
}

/// All sources for all reads, for which the source had committed before the read, and that the oracle accepts.
fn accepted(program: &Program, schedule: &[usize]) -> BTreeSet<Sources> {
    let steps: Vec<_> = program.iter().map(|txns| steps(txns)).collect();
    let mut at = vec![0; program.len()];
    let mut committed: Vec<Place> = Vec::new();
    let mut reads: Vec<(Place, u8, Vec<Option<Place>>)> = Vec::new();
    let txn_at = |place: Place| &program[place.session as usize][place.txn as usize];
    for &session in schedule {
        let (txn, op, ends) = steps[session][at[session]];
        let place = Place { session: session as u32, txn: txn as u32 };
        let done = steps[session][..at[session]].iter().filter(|step| step.0 == txn).filter_map(|step| step.1);
        let done: Vec<Op> = done.collect();
        at[session] += 1;
        match op {
            None if ends => committed.push(place),
            Some(Op::Read(key)) if !done.contains(&Op::Write(key)) => {
                let writers = committed.iter().filter(|&&writer| txn_at(writer).ops.contains(&Op::Write(key)));
                reads.push((place, key, [None].into_iter().chain(writers.copied().map(Some)).collect()));
            }
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    let mut odometer = Odometer { picks: Vec::new(), at: 0 };
    loop {
        let chosen: Vec<(Place, u8, Option<Place>)> = reads
            .iter()
            .map(|(place, key, sources)| {
                let pick = odometer.next(sources.len());
                (*place, *key, sources[pick])
            })
            .collect();
        if accepts(program, &chosen) {
            found.insert(as_sources(program, &chosen));
        }
        if !odometer.turn() {
            return found;
        }
    }
}

impl Odometer {
    fn next(&mut self, count: usize) -> usize {
        if self.at == self.picks.len() {
            self.picks.push((0, count));
        }
        self.at += 1;
        self.picks[self.at - 1].0
    }
}

fn as_sources(program: &Program, chosen: &[(Place, u8, Option<Place>)]) -> Sources {
    let places = program
        .iter()
        .enumerate()
        .flat_map(|(session, txns)| (0..txns.len()).map(move |txn| Place { session: session as u32, txn: txn as u32 }));
    places.map(|place| (place, chosen.iter().filter(|read| read.0 == place).map(|read| read.2).collect())).collect()
}

fn accepts(program: &Program, chosen: &[(Place, u8, Option<Place>)]) -> bool {
    let mut builder = HistoryBuilder::new();
    let ids: Vec<Vec<TxnId>> = program
        .iter()
        .scan(0, |next, txns| {
            let ids = (0..txns.len() as u32).map(|txn| TxnId(*next + txn)).collect();
            *next += txns.len() as u32;
            Some(ids)
        })
        .collect();
    let mut chosen = chosen.to_vec();
    for (session, txns) in program.iter().enumerate() {
        let name = builder.session(format!("s{session}"));
        for (number, txn) in txns.iter().enumerate() {
            let place = Place { session: session as u32, txn: number as u32 };
            let id = builder.begin(name, format!("t{session}{number}"));
            builder.level(id, txn.level);
            let mut written: Vec<u8> = Vec::new();
            for op in &txn.ops {
                let (Op::Read(key) | Op::Write(key)) = *op else { unreachable!("only reads and writes") };
                let value = builder.names().int(0);
                let key_id = builder.key(NAMES[key as usize]);
                builder.init_key(key_id, value);
                if let Op::Write(_) = op {
                    written.push(key);
                    builder.op(OpKind::Write, key_id, value);
                    continue;
                }
                let read = builder.op(OpKind::Read, key_id, value);
                if !written.contains(&key) {
                    let at = chosen.iter().position(|read| read.0 == place).expect("every read is answered");
                    let source = chosen.remove(at).2;
                    builder.source(read, source.map(|place| ids[place.session as usize][place.txn as usize]));
                }
            }
        }
    }
    let history = builder.finish();
    oracle::some_order_satisfies(&Facts::new(&history, Assumptions::default()), Scope::Declared)
}

#[test]
fn open_candidates_are_exactly_the_accepted_ones() {
    let levels = [Level::Rc, Level::Ra, Level::Cc];
    let runs: u64 = std::env::var("SKEW_RANDOM").ok().and_then(|runs| runs.parse().ok()).unwrap_or(1500);
    let mut histories = 0;
    for seed in 0..runs {
        let mut dice = Dice::new(seed);
        let mixed = dice.roll(2) == 0;
        let one = levels[dice.roll(3)];
        let mut program: Program = Vec::new();
        for _ in 0..1 + dice.roll(4) {
            let txn = |dice: &mut Dice| {
                let level = if mixed { levels[dice.roll(3)] } else { one };
                let ops = (0..1 + dice.roll(3)).map(|_| (dice.roll(2), dice.roll(2) as u8));
                let ops = ops.map(|(kind, key)| if kind == 0 { Op::Read(key) } else { Op::Write(key) }).collect();
                Txn { level, ops, rolls_back: false }
            };
            program.push((0..1 + dice.roll(2)).map(|_| txn(&mut dice)).collect());
        }
        if program.iter().map(Vec::len).sum::<usize>() > 6 {
            continue;
        }
        let schedule = random_schedule(&program, &mut dice);
        let mut odometer = Odometer { picks: Vec::new(), at: 0 };
        let mut found = BTreeSet::new();
        loop {
            let sources = run(&program, &schedule, &mut odometer);
            assert!(found.insert(sources), "no way is taken twice");
            if !odometer.turn() {
                break;
            }
        }
        assert_eq!(found, accepted(&program, &schedule), "seed {seed}, schedule {schedule:?}\n{program:#?}");
        histories += found.len();
    }
    println!("{histories} histories");
    assert!(histories > runs as usize);
}
