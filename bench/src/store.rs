//! The speed of the store: operations a second at each level, and what a transaction costs as the history grows.
//!
//! Sessions run transactions of four operations, half of them reads, on a hundred keys, one operation of a random
//! session after another, with random choices. What is given up after a conflict counts as a transaction too.

mod plot;

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use skew_model::{Key, Level, SessionId, TxnId};
use skew_store::strategies::{Dice, Random};
use skew_store::{Config, Db, ExploreLimits, Explored, Options, Reads, Recency, Run, Step, Store, explore};

/// Measure the store: operations a second, and whether a transaction costs more in a long history
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Transactions for each number of sessions
    #[arg(long, default_value_t = 100_000)]
    transactions: usize,

    /// Transactions of the long history
    #[arg(long, default_value_t = 1_000_000)]
    long: usize,

    /// How often everything is measured; the fastest counts
    #[arg(long, default_value_t = 3)]
    repeat: usize,

    /// Where the plot and its numbers go
    #[arg(long, default_value = "bench/results")]
    results: PathBuf,
}

const LEVELS: [Level; 9] =
    [Level::Ru, Level::Rc, Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si, Level::Ser];

const SESSIONS: [usize; 3] = [3, 8, 64];
const KEYS: usize = 100;
const OPERATIONS: usize = 4;

/// How many transactions are measured together around each point of the plot.
const WINDOW: usize = 1000;

/// What a transaction cost at each point of a long history.
pub(crate) struct Growth {
    pub(crate) level: Level,
    /// Nanoseconds.
    pub(crate) costs: Vec<f64>,
}

/// Prints the tables, and writes the plot.
pub(crate) fn print(arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "Operations a second, {} transactions of {OPERATIONS} operations on {KEYS} keys:\n",
        arguments.transactions
    )?;
    writeln!(out, "| level | 3 sessions | 8 sessions | 64 sessions |\n| --- | ---: | ---: | ---: |")?;
    for level in LEVELS {
        write!(out, "| {level} |")?;
        for sessions in SESSIONS {
            let seconds = (0..arguments.repeat).map(|_| {
                let started = Instant::now();
                let mut load = Load::new(level, sessions, None);
                load.run(arguments.transactions);
                started.elapsed().as_secs_f64() / load.operations as f64
            });
            write!(out, " {:.0}k |", 1e-3 / seconds.fold(f64::MAX, f64::min))?;
        }
        writeln!(out)?;
        out.flush()?;
    }
    growth(arguments, out)?;
    retention(arguments, out)?;
    exploration(out)
}

/// Increments of one key, each in a session of its own.
fn exploration(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\nExploration of sessions that each increment one key:\n")?;
    writeln!(
        out,
        "| sessions | level | histories | with refusals | runs | time |\n| ---: | --- | ---: | ---: | ---: | ---: |"
    )?;
    for (sessions, level) in [(5, Level::Cc), (6, Level::Cc), (5, Level::Si), (5, Level::Ser)] {
        let increments = move |db: Db| {
            db.init("x", 0);
            for number in 0..sessions {
                db.spawn(&format!("s{number}"), |session| {
                    session.transaction(|t| t.write("x", t.read::<i64>("x")? + 1)).is_ok()
                });
            }
        };
        let started = Instant::now();
        let every = |_: &Run| ControlFlow::Continue(());
        let explored = explore(&Config::new(level), ExploreLimits::default(), increments, every);
        let explored = explored.map_err(io::Error::other)?;
        let seconds = started.elapsed().as_secs_f64();
        let Explored { histories, refused, runs, .. } = explored;
        writeln!(out, "| {sessions} | {level} | {histories} | {refused} | {runs} | {seconds:.2} s |")?;
        out.flush()?;
    }
    Ok(())
}

/// The transactions at which the cost is measured.
fn points(long: usize) -> Vec<usize> {
    let mut points: Vec<usize> = (0..)
        .map(|at| (1000.0 * 10_f64.powf(f64::from(at) / 6.0)).round() as usize)
        .take_while(|&at| at < long)
        .collect();
    points.push(long);
    points
}

fn growth(arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    let points = points(arguments.long);
    writeln!(out, "\nWhat a transaction costs as the history grows, 8 sessions, everything remembered:\n")?;
    writeln!(out, "| level | 1,000th | {}th | ratio |\n| --- | ---: | ---: | ---: |", arguments.long)?;
    let mut all = Vec::new();
    for level in LEVELS {
        let runs: Vec<Vec<f64>> = (0..arguments.repeat).map(|_| costs(level, &points, None)).collect();
        let fastest = |at: usize| runs.iter().map(|run| run[at]).fold(f64::MAX, f64::min);
        let costs: Vec<f64> = (0..points.len()).map(fastest).collect();
        let (first, last) = (costs[0], costs[costs.len() - 1]);
        writeln!(out, "| {level} | {first:.0} ns | {last:.0} ns | {:.2} |", last / first)?;
        out.flush()?;
        all.push(Growth { level, costs });
    }
    std::fs::create_dir_all(&arguments.results)?;
    std::fs::write(arguments.results.join("growth.csv"), plot::csv(&all, &points))?;
    std::fs::write(arguments.results.join("growth.svg"), plot::draw(&all, &points))
}

/// Nanoseconds a transaction, in the windows around the points.
fn costs(level: Level, points: &[usize], retention: Option<usize>) -> Vec<f64> {
    let mut load = Load::new(level, 8, retention);
    let window = |&point: &usize| {
        load.run(point - WINDOW / 2);
        let started = Instant::now();
        let before = load.done;
        load.run(point + WINDOW / 2);
        started.elapsed().as_secs_f64() * 1e9 / (load.done - before) as f64
    };
    points.iter().map(window).collect()
}

fn retention(arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    let (keep, count) = (10_000, arguments.long / 2);
    writeln!(out, "\nWith a retention of {keep} transactions, {count} transactions, 8 sessions:\n")?;
    writeln!(out, "| level | operations a second | most transactions remembered |\n| --- | ---: | ---: |")?;
    for level in LEVELS {
        let started = Instant::now();
        let mut load = Load::new(level, 8, Some(keep));
        let mut most = 0;
        for step in 1..=1000 {
            load.run(count / 1000 * step);
            most = most.max(load.store.remembered());
        }
        let rate = load.operations as f64 / started.elapsed().as_secs_f64();
        writeln!(out, "| {level} | {:.0}k | {most} |", rate / 1000.0)?;
        out.flush()?;
    }
    Ok(())
}

/// Sessions that keep a store busy.
struct Load {
    store: Store<i64>,
    level: Level,
    keys: Vec<Key>,
    sessions: Vec<SessionId>,
    open: Vec<Option<Open>>,
    dice: Dice,
    choice: Random,
    done: usize,
    operations: i64,
}

#[derive(Clone, Copy)]
struct Open {
    txn: TxnId,
    operations: usize,
}

impl Load {
    fn new(level: Level, sessions: usize, retention: Option<usize>) -> Load {
        let mut store = Store::new(Options { recency: Recency::None, retention, ..Options::default() });
        let keys = (0..KEYS).map(|key| store.key(&format!("k{key}"))).collect();
        let names = (0..sessions).map(|session| store.session(&format!("s{session}"))).collect();
        let open = vec![None; sessions];
        let (dice, choice) = (Dice::new(1), Random::new(2));
        Load { store, level, keys, sessions: names, open, dice, choice, done: 0, operations: 0 }
    }

    /// Goes on until so many transactions have ended.
    fn run(&mut self, transactions: usize) {
        while self.done < transactions {
            let session = self.dice.below(self.sessions.len());
            match self.open[session] {
                None => {
                    let txn = self.store.begin(self.sessions[session], self.level, Reads::Any);
                    let txn = txn.expect("the store runs these levels, and no other transaction is open");
                    self.open[session] = Some(Open { txn, operations: 0 });
                }
                Some(open) if open.operations < OPERATIONS => self.operation(session, open),
                Some(open) => {
                    let _ = self.store.commit(open.txn);
                    self.end(session);
                }
            }
        }
    }

    fn operation(&mut self, session: usize, open: Open) {
        self.operations += 1;
        let key = self.keys[self.dice.below(KEYS)];
        let done = self.store.statement(open.txn).and_then(|()| match self.dice.below(2) {
            0 => self.store.read(open.txn, key, &mut self.choice).map(|_| Step::Done(())),
            _ => self.store.write(open.txn, key, Some(self.operations)),
        });
        match done {
            Ok(Step::Done(())) => self.open[session] = Some(Open { operations: open.operations + 1, ..open }),
            Ok(Step::Wait(_)) => {}
            Err(_) => self.end(session),
        }
    }

    fn end(&mut self, session: usize) {
        self.open[session] = None;
        self.done += 1;
    }
}
