//! Small programs, and running them on a store operation by operation.

use skew_model::{History, Level, Literal, SessionId, TxnId, Witness};
use skew_store::choice::{Choice, Point};
use skew_store::witness::Shown;
use skew_store::{Error, Options, Reads, Step, Store};

/// One operation of a program. Keys are small numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Op {
    Read(u8),
    Write(u8),
    /// Read and write in one statement.
    Update(u8),
    Delete(u8),
    Scan,
}

/// A transaction of a program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Txn {
    pub level: Level,
    pub ops: Vec<Op>,
    pub rolls_back: bool,
}

/// Sessions of transactions.
pub type Program = Vec<Vec<Txn>>;

/// Where a session stands.
#[derive(Default)]
struct At {
    txn: usize,
    op: usize,
    open: Option<TxnId>,
    waits_for: Option<TxnId>,
}

pub const NAMES: [&str; 4] = ["x", "y", "z", "u"];

/// A die that also makes a store's choices.
pub struct Dice(skew_testing::Dice);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(skew_testing::Dice(seed))
    }

    pub fn roll(&mut self, count: usize) -> usize {
        self.0.roll(count)
    }
}

impl Choice for Dice {
    fn pick(&mut self, point: Point<'_>) -> usize {
        self.roll(point.count())
    }
}

/// A random program: what the issue of the soundness test asks for, with updates, deletes and scans.
pub fn random_program(dice: &mut Dice, level: &dyn Fn(&mut Dice) -> Level) -> Program {
    let (sessions, keys) = (1 + dice.roll(4), 1 + dice.roll(3));
    let scans = dice.roll(4) == 0;
    (0..sessions)
        .map(|_| {
            let txns = 1 + dice.roll(3);
            (0..txns)
                .map(|_| {
                    let ops = 1 + dice.roll(4);
                    let ops = (0..ops).map(|_| random_op(dice, keys, scans)).collect();
                    Txn { level: level(dice), ops, rolls_back: dice.roll(8) == 0 }
                })
                .collect()
        })
        .collect()
}

fn random_op(dice: &mut Dice, keys: usize, scans: bool) -> Op {
    let key = dice.roll(keys) as u8;
    match dice.roll(12) {
        0..=4 => Op::Read(key),
        5..=8 => Op::Write(key),
        9 => Op::Update(key),
        10 => Op::Delete(key),
        _ if scans => Op::Scan,
        _ => Op::Read(key),
    }
}

/// What came of a run.
pub struct Ran {
    pub history: History,
    pub witness: Witness,
    pub committed: usize,
    pub refused: usize,
}

/// Runs the program, one operation of a random session after another.
pub fn run(program: &Program, options: Options, dice: &mut Dice) -> Ran {
    let mut store: Store<i64> = Store::new(options);
    let sessions: Vec<SessionId> = (0..program.len()).map(|at| store.session(&format!("s{at}"))).collect();
    let mut at: Vec<At> = program.iter().map(|_| At::default()).collect();
    let (mut committed, mut refused) = (0, 0);
    let mut value = 0;
    loop {
        let runnable: Vec<usize> = (0..program.len())
            .filter(|&session| at[session].txn < program[session].len())
            .filter(|&session| at[session].waits_for.is_none_or(|holder| !store.is_open(holder)))
            .collect();
        let unfinished = (0..program.len()).any(|session| at[session].txn < program[session].len());
        assert!(!unfinished || !runnable.is_empty(), "nobody can go on");
        if runnable.is_empty() {
            break;
        }
        let session = runnable[dice.roll(runnable.len())];
        value += 1;
        let txn = &program[session][at[session].txn];
        match step(&mut store, sessions[session], txn, &mut at[session], value, dice) {
            Ok(true) => committed += 1,
            Ok(false) => {}
            Err(error) => {
                assert!(error.is_retryable(), "{error}");
                refused += 1;
                at[session] = At { txn: at[session].txn + 1, ..At::default() };
            }
        }
    }
    let literal = |&value: &i64| Literal::Int(value);
    let shown = Shown { failure: "nothing".to_owned(), recording: None };
    let (history, witness) = (store.history(literal), store.witness(shown, literal));
    Ran { history, witness, committed, refused }
}

/// One operation, or begin, or end; whether a transaction committed.
fn step(
    store: &mut Store<i64>,
    session: SessionId,
    txn: &Txn,
    at: &mut At,
    value: i64,
    dice: &mut Dice,
) -> Result<bool, Error> {
    let Some(id) = at.open else {
        at.open = Some(store.begin(session, txn.level, Reads::Any)?);
        return Ok(false);
    };
    let Some(&op) = txn.ops.get(at.op) else {
        if txn.rolls_back {
            store.rollback(id)?;
        } else {
            store.commit(id)?;
        }
        *at = At { txn: at.txn + 1, ..At::default() };
        return Ok(!txn.rolls_back);
    };
    at.waits_for = None;
    store.statement(id)?;
    let waits = match op {
        Op::Read(key) => {
            let key = store.key(NAMES[key as usize]);
            store.read(id, key, dice)?;
            None
        }
        Op::Scan => {
            store.scan(id, "", dice)?;
            None
        }
        Op::Write(key) | Op::Delete(key) => {
            let key = store.key(NAMES[key as usize]);
            let value = (!matches!(op, Op::Delete(_))).then_some(value);
            wait(store.write(id, key, value)?)
        }
        Op::Update(key) => {
            let key = store.key(NAMES[key as usize]);
            let wants = |found: Option<&i64>| found.is_none_or(|found| found % 3 != 0);
            match store.read_for_update(id, key, &wants, dice)? {
                Step::Wait(holder) => Some(holder),
                Step::Done(found) if !wants(found.as_ref()) => None,
                Step::Done(_) => wait(store.write(id, key, Some(value))?),
            }
        }
    };
    match waits {
        Some(holder) => at.waits_for = Some(holder),
        None => at.op += 1,
    }
    Ok(false)
}

fn wait(step: Step<()>) -> Option<TxnId> {
    match step {
        Step::Done(()) => None,
        Step::Wait(holder) => Some(holder),
    }
}
