//! What is measured: histories for the checker to read, and experiments with the weak store.
//!
//! Without a command it generates a history: what sessions of a simulated database at a given level read and write, with
//! overlap. The same arguments give the same bytes on every machine.

mod causes;
mod connections;
mod coverage;
mod hermitage;
mod interleave;
mod list_append;
mod random;
mod registers;
mod replay;
mod robust;
mod rows;
mod sessions;
mod slt;
mod stalls;
mod store;
mod table1;
mod wire;
mod wire_speed;

use std::io::{self, BufWriter, Write};

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Print a history as a database at some level could have produced it, or run an experiment
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    history: Arguments,
}

#[derive(Subcommand)]
enum Command {
    Table1(table1::Arguments),
    Coverage(coverage::Arguments),
    Store(store::Arguments),
    Robust(robust::Arguments),
    Rows(rows::Arguments),
    Connections(connections::Arguments),
    Slt(slt::Arguments),
    ReplayClients(replay::Arguments),
    Interleave(interleave::Arguments),
    WireSpeed(wire_speed::Arguments),
    Hermitage(hermitage::Arguments),
    Stalls(stalls::Arguments),
}

/// Print a history as a database at some level could have produced it
#[derive(Args)]
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
    let CommandLine { command, history } = CommandLine::parse();
    let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    match command {
        Some(Command::Table1(arguments)) => table1::print(&arguments, &mut out)?,
        Some(Command::Coverage(arguments)) => coverage::measure(&arguments, &mut out)?,
        Some(Command::Connections(arguments)) => connections::print(&arguments, &mut out)?,
        Some(Command::Robust(arguments)) => robust::print(&arguments, &mut out)?,
        Some(Command::Rows(arguments)) => rows::print(&arguments, &mut out)?,
        Some(Command::Store(arguments)) => store::print(&arguments, &mut out)?,
        Some(Command::Slt(arguments)) => slt::run(&arguments, &mut out)?,
        Some(Command::ReplayClients(arguments)) => replay::run(&arguments, &mut out)?,
        Some(Command::Interleave(arguments)) => interleave::run(&arguments, &mut out)?,
        Some(Command::WireSpeed(arguments)) => wire_speed::run(&arguments, &mut out)?,
        Some(Command::Hermitage(arguments)) => hermitage::run(&arguments, &mut out)?,
        Some(Command::Stalls(arguments)) => stalls::print(&arguments, &mut out)?,
        None => generate(&history, &mut out)?,
    }
    out.flush()
}

fn generate(arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    match arguments.format {
        Format::Plume => registers::generate(arguments, out),
        Format::Elle => list_append::generate(arguments, out),
    }
}
