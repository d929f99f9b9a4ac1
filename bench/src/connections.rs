//! Many short connections to the store: whether a transaction costs more after thousands of them.

use std::io::{self, Write};

use skew_model::{Key, Level, SessionId, TxnId};
use skew_store::strategies::{Dice, Random};
use skew_store::{Error, Options, Reads, Recency, Store};

use crate::rows::{cpu_time, resident};

/// Measure short connections: what a transaction costs as they come and go
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Connections, one after another
    #[arg(long, default_value_t = 20_000)]
    connections: usize,

    /// How many are open at a time
    #[arg(long, default_value_t = 100)]
    open: usize,

    /// Transactions to remember; all by default
    #[arg(long)]
    retention: Option<usize>,
}

const KEYS: usize = 1000;

/// Transactions of a connection, and operations of a transaction.
const EACH: usize = 4;

/// Prints a table.
pub(crate) fn print(arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "| level | recency | first tenth | last tenth | memory in the middle | in the end |")?;
    writeln!(out, "| --- | --- | ---: | ---: | ---: | ---: |")?;
    for level in [Level::Cc, Level::Si, Level::Mvrc] {
        for recency in [Recency::None, Recency::Commit] {
            let costs = measure(arguments, level, recency);
            let word = if recency == Recency::None { "none" } else { "commit" };
            let [first, last, middle, end] = costs.map_err(io::Error::other)?;
            writeln!(out, "| {level} | {word} | {first:.0} ns | {last:.0} ns | {middle:.1} MB | {end:.1} MB |")?;
            out.flush()?;
        }
    }
    Ok(())
}

/// Nanoseconds a transaction at the beginning and at the end, megabytes in the middle and in the end.
fn measure(arguments: &Arguments, level: Level, recency: Recency) -> Result<[f64; 4], Error> {
    let before = resident();
    let megabytes = || (resident() - before) as f64 / 1e6;
    let mut store: Store<i64> = Store::new(Options { recency, retention: arguments.retention, ..Options::default() });
    let keys: Vec<_> = (0..KEYS).map(|key| store.key(&format!("k{key}"))).collect();
    let (mut dice, mut choice) = (Dice::new(1), Random::new(2));
    let mut open: Vec<SessionId> = (0..arguments.open).map(|at| store.session(&format!("c{at}"))).collect();
    let tenth = arguments.connections / 10;
    let (mut first, mut last, mut middle) = (0.0, 0.0, 0.0);
    for connection in arguments.open..arguments.connections {
        let started = cpu_time();
        let at = dice.below(open.len());
        store.close_session(open[at])?;
        open[at] = store.session(&format!("c{connection}"));
        for _ in 0..EACH {
            let session = open[dice.below(open.len())];
            let txn = store.begin(session, level, Reads::Any)?;
            // Who has read an old version may be refused.
            let _ = transaction(&mut store, txn, &keys, &mut dice, &mut choice);
        }
        let cost = (cpu_time() - started) * 1e9 / EACH as f64;
        match connection / tenth {
            0 => first += cost / (tenth - arguments.open) as f64,
            9 => last += cost / (arguments.connections - 9 * tenth) as f64,
            _ => {}
        }
        if connection == arguments.connections / 2 {
            middle = megabytes();
        }
    }
    Ok([first, last, middle, megabytes()])
}

fn transaction(
    store: &mut Store<i64>,
    txn: TxnId,
    keys: &[Key],
    dice: &mut Dice,
    choice: &mut Random,
) -> Result<(), Error> {
    for value in 0..EACH {
        store.statement(txn)?;
        let key = keys[dice.below(keys.len())];
        store.read(txn, key, choice)?;
        store.write(txn, key, Some(value as i64))?;
    }
    store.commit(txn)
}
