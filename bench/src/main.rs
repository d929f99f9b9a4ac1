//! Generates a history: what sessions of a simulated database at a given level read and write, with overlap.
//!
//! The same arguments give the same bytes on every machine.

mod list_append;
mod random;
mod registers;

use std::io::{self, BufWriter, Write};

use clap::{Parser, ValueEnum};

/// Print a history as a database at some level could have produced it
#[derive(Parser)]
#[command(after_help = "\
Example, 250 thousand transactions of 20 operations in 100 sessions:
  skew-bench --transactions 250000 --operations 20 --sessions 100 --keys 100000 --level ser > ser.txt")]
pub(crate) struct Arguments {
    /// Committed transactions
    #[arg(long, default_value_t = 1000)]
    transactions: u32,

    /// Operations in each
    #[arg(long, default_value_t = 8)]
    operations: u32,

    /// Sessions
    #[arg(long, default_value_t = 20)]
    sessions: u32,

    /// Keys
    #[arg(long, default_value_t = 1000)]
    keys: u32,

    /// How many operations of a hundred are reads
    #[arg(long, default_value_t = 50)]
    reads: u32,

    /// 1 for uniform keys; larger prefers low ones (key = keys · u^skew)
    #[arg(long, default_value_t = 1.0)]
    skew: f64,

    /// The level that the history satisfies
    #[arg(long, value_enum, default_value = "ser")]
    level: Level,

    /// Plume text of registers, or Elle EDN of lists
    #[arg(long, value_enum, default_value = "plume")]
    format: Format,

    /// Where randomness starts
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    /// Optimistic: a transaction commits if nobody overwrote what it read
    Ser,
    /// Snapshots; a transaction commits if nobody else wrote its keys meanwhile
    Si,
    /// A replica for each session; transactions arrive in causal order
    Cc,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Plume,
    Elle,
}

fn main() -> io::Result<()> {
    let arguments = Arguments::parse();
    let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    match arguments.format {
        Format::Plume => registers::generate(&arguments, &mut out)?,
        Format::Elle => list_append::generate(&arguments, &mut out)?,
    }
    out.flush()
}
