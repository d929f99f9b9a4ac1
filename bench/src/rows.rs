//! Tables on the store, as SQL uses it: what a million rows take, what point reads, updates and scans of them cost, and
//! what it costs to come back to a checkpoint.

use std::io::{self, Write};
use std::ops::Bound;
use std::sync::Arc;

use skew_model::{Key, Level, SessionId, TxnId};
use skew_store::strategies::{Dice, Random};
use skew_store::{Error, Options, Reads, Recency, Refusals, RowLocks, Space, Store};

/// Measure a table on the store: memory a cell, reads, updates, scans, resets
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Rows of the table
    #[arg(long, default_value_t = 1_000_000)]
    rows: u32,

    /// The level of all transactions
    #[arg(long, default_value = "mvrc")]
    level: Level,

    /// See what was committed before
    #[arg(long)]
    recent: bool,

    /// Transactions to remember; all by default
    #[arg(long)]
    retention: Option<usize>,

    /// Connections that take turns
    #[arg(long, default_value_t = 8)]
    sessions: usize,

    /// Point reads and updates
    #[arg(long, default_value_t = 200_000)]
    transactions: usize,
}

/// Columns besides the key.
const COLUMNS: u32 = 4;

/// Rows inserted by one transaction.
const BATCH: u32 = 1000;

/// As large as a value of SQL.
#[derive(Clone, Debug)]
enum Cell {
    Int(i64),
    Text(Arc<str>),
}

struct Table {
    store: Store<Cell>,
    space: Space,
    level: Level,
    sessions: Vec<SessionId>,
    choice: Random,
    dice: Dice,
    rows: u32,
}

/// Prints a table.
pub(crate) fn print(arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    let recency = if arguments.recent { Recency::Commit } else { Recency::None };
    let (locks, refusals, retention) = (RowLocks::ByCaller, Refusals::Reported, arguments.retention);
    let before = resident();
    let mut store = Store::new(Options { recency, retention, locks, refusals, ..Options::default() });
    let space = store.space();
    let sessions = (0..arguments.sessions).map(|at| store.session(&format!("s{at}"))).collect();
    let (choice, dice) = (Random::new(1), Dice::new(2));
    let mut table = Table { store, space, level: arguments.level, sessions, choice, dice, rows: arguments.rows };
    let cells = f64::from(arguments.rows * (1 + COLUMNS));
    let mut report = |what: &str, cost: String| writeln!(out, "| {} | {what} | {cost} |", arguments.level);

    let started = cpu_time();
    table.load();
    report("insert a cell", nanoseconds(started, cells))?;
    report("memory a cell", format!("{:.0} bytes", (resident() - before) as f64 / cells))?;

    let count = arguments.transactions;
    let started = cpu_time();
    (0..count).for_each(|at| table.transaction(at, Table::point_read));
    report("read a row of five cells in a transaction", nanoseconds(started, count as f64))?;
    let started = cpu_time();
    (0..count).for_each(|at| table.transaction(at, Table::update));
    report("update a row in a transaction", nanoseconds(started, count as f64))?;
    let started = cpu_time();
    table.transaction(0, Table::scan);
    report("scan, a row", nanoseconds(started, arguments.rows.into()))?;
    let started = cpu_time();
    table.transaction(0, Table::update_all);
    report("update all, a row", nanoseconds(started, arguments.rows.into()))?;
    report("memory a cell in the end", format!("{:.0} bytes", (resident() - before) as f64 / cells))?;

    let started = cpu_time();
    table.store.checkpoint().map_err(io::Error::other)?;
    report("checkpoint", format!("{:.1} ms", (cpu_time() - started) * 1e3))?;
    (0..1000).for_each(|at| table.transaction(at, Table::update));
    let started = cpu_time();
    table.store.reset().map_err(io::Error::other)?;
    report("reset after 1000 updates", format!("{:.2} ms", (cpu_time() - started) * 1e3))
}

impl Table {
    fn load(&mut self) {
        let text: Arc<str> = "text".into();
        for batch in 0..self.rows.div_ceil(BATCH) {
            let (session, space) = (self.sessions[0], self.space);
            let txn = self.store.begin(session, self.level, Reads::Any).expect("the store runs this level");
            let done = self.store.statement(txn).and_then(|()| {
                for row in batch * BATCH..self.rows.min((batch + 1) * BATCH) {
                    let key = self.store.entry(space, &bytes(row), COLUMNS);
                    for cell in 0..=COLUMNS {
                        let value = if cell % 2 == 0 { Cell::Int(row.into()) } else { Cell::Text(text.clone()) };
                        self.store.write(txn, Key(key.0 + cell), Some(value))?;
                    }
                }
                Ok(())
            });
            done.and_then(|()| self.store.commit(txn)).expect("nobody is in the way");
        }
    }

    /// A transaction of one statement; a refusal is part of the level.
    fn transaction(&mut self, at: usize, body: fn(&mut Table, TxnId) -> Result<(), Error>) {
        let session = self.sessions[at % self.sessions.len()];
        let txn = self.store.begin(session, self.level, Reads::Any).expect("the store runs this level");
        let done = self.store.statement(txn).and_then(|()| body(self, txn)).and_then(|()| self.store.commit(txn));
        if done.is_err() && self.store.is_open(txn) {
            self.store.rollback(txn).expect("the transaction is open");
        }
    }

    fn any_row(&mut self) -> Key {
        let row = self.dice.below(self.rows as usize) as u32;
        self.store.find(self.space, &bytes(row)).expect("all rows are there")
    }

    fn point_read(&mut self, txn: TxnId) -> Result<(), Error> {
        let key = self.any_row();
        (0..=COLUMNS).try_for_each(|cell| self.store.read(txn, Key(key.0 + cell), &mut self.choice).map(|_| ()))
    }

    fn update(&mut self, txn: TxnId) -> Result<(), Error> {
        let key = self.any_row();
        self.change(txn, key)
    }

    fn change(&mut self, txn: TxnId, key: Key) -> Result<(), Error> {
        let cell = Key(key.0 + 2);
        self.store.read(txn, key, &mut self.choice)?;
        self.store.withdraw_reads(txn, key, 1 + COLUMNS)?;
        self.store.read_under_lock(txn, key)?;
        let old = self.store.read_under_lock(txn, cell)?;
        let new = match old {
            Some(Cell::Int(number)) => number + 1,
            Some(Cell::Text(text)) => text.len() as i64,
            None => 0,
        };
        self.store.write(txn, cell, Some(Cell::Int(new))).map(|_| ())
    }

    fn scan(&mut self, txn: TxnId) -> Result<(), Error> {
        let keys: Vec<Key> = self.store.range(self.space, Bound::Unbounded, Bound::Unbounded).collect();
        self.store.note_range(txn, self.space, Bound::Unbounded, Bound::Unbounded)?;
        for key in keys {
            self.store.read(txn, key, &mut self.choice)?;
            self.store.read(txn, Key(key.0 + 2), &mut self.choice)?;
        }
        Ok(())
    }

    fn update_all(&mut self, txn: TxnId) -> Result<(), Error> {
        let keys: Vec<Key> = self.store.range(self.space, Bound::Unbounded, Bound::Unbounded).collect();
        self.store.note_range(txn, self.space, Bound::Unbounded, Bound::Unbounded)?;
        keys.into_iter().try_for_each(|key| self.change(txn, key))
    }
}

/// A number as SQL orders it.
fn bytes(row: u32) -> [u8; 9] {
    let mut bytes = [1; 9];
    bytes[1..].copy_from_slice(&(u64::from(row) | 1 << 63).to_be_bytes());
    bytes
}

fn nanoseconds(started: f64, count: f64) -> String {
    format!("{:.0} ns", (cpu_time() - started) * 1e9 / count)
}

/// The bytes of this process in memory.
pub(crate) fn resident() -> i64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages.split_whitespace().nth(1).and_then(|pages| pages.parse::<i64>().ok());
    pages.unwrap_or(0) * 4096
}

/// The seconds that this process has had a processor: others on the machine do not count.
pub(crate) fn cpu_time() -> f64 {
    let times = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = times.split_whitespace().next().and_then(|time| time.parse::<f64>().ok());
    nanoseconds.unwrap_or(0.0) / 1e9
}
