//! How fast servers answer over the wire, side by side on one machine.
//!
//! Clients are threads of this process that send the next statement when the last one is answered. They share the
//! machine with the servers, so numbers compare servers on one machine and say little else. The servers take turns in
//! short slices and medians count, because whatever else the machine does comes and goes; the processor time that a
//! server takes for a statement is told beside, since others do not add to it.
//!
//! - [`statements`]: statements a second, with one connection and with many
//! - [`growth`]: whether the millionth statement costs more than the thousandth
//! - [`load`]: a large table: how long it takes to load, and how much memory it takes
//! - [`resets`]: new connections, and coming back to a checkpoint
//! - [`process`]: what the system knows of a server

mod growth;
mod load;
mod process;
mod resets;
mod statements;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::ValueEnum;

use crate::wire::{Connection, Url};

/// Measure how fast servers answer over the wire
#[derive(clap::Args)]
#[command(after_help = "\
Example, a PostgreSQL and two servers of ours, in turns (bench/sql-speed.sh starts them all):
  skew-bench wire-speed --server postgresql=postgres://127.0.0.1:5432/x \\
    --server skew-ser=postgres://127.0.0.1:5433/x --server skew-cc=postgres://127.0.0.1:5434/x")]
pub(crate) struct Arguments {
    /// A name for the results, and where the server is; it gets new databases
    #[arg(long = "server", value_name = "NAME=URL", required = true)]
    servers: Vec<Server>,

    /// What is measured
    #[arg(long, value_enum, value_delimiter = ',', default_value = "statements")]
    parts: Vec<Part>,

    /// Rows of the table that statements look at
    #[arg(long, default_value_t = 100_000)]
    rows: u32,

    /// Numbers of connections
    #[arg(long, value_delimiter = ',', default_value = "1,8,32")]
    connections: Vec<usize>,

    /// Only workloads whose names contain one of these
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,

    /// Whether statements are sent prepared, or as text
    #[arg(long, value_enum, value_delimiter = ',', default_value = "prepared,simple")]
    modes: Vec<Mode>,

    /// How long a server's slice is
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,

    /// Slices of each; the median counts
    #[arg(long, default_value_t = 5)]
    rounds: usize,

    /// Statements of the long run
    #[arg(long, default_value_t = 1_000_000)]
    growth: u64,

    /// Rows of the large table
    #[arg(long, default_value_t = 1_000_000)]
    load: u32,

    /// Write a table for each part into this folder
    #[arg(long, value_name = "FOLDER")]
    csv: Option<PathBuf>,
}

/// A part of the measurements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Part {
    /// Statements a second
    Statements,
    /// The cost of a statement as history grows
    Growth,
    /// A large table
    Load,
    /// Connections and resets
    Resets,
}

/// How a statement is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Mode {
    Prepared,
    Simple,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Mode::Prepared => "prepared",
            Mode::Simple => "simple",
        }
    }
}

/// A server with a name.
#[derive(Clone, Debug)]
struct Server {
    name: String,
    url: Url,
}

impl FromStr for Server {
    type Err = String;

    fn from_str(text: &str) -> Result<Server, String> {
        let (name, url) = text.split_once('=').ok_or("a server is NAME=URL")?;
        Ok(Server { name: name.to_owned(), url: url.parse()? })
    }
}

/// Measures all parts.
pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    for &part in &arguments.parts {
        let (file, table) = match part {
            Part::Statements => ("sql-speed-statements.csv", statements::measure(arguments, out)?),
            Part::Growth => ("sql-speed-growth.csv", growth::measure(arguments, out)?),
            Part::Load => ("sql-speed-load.csv", load::measure(arguments, out)?),
            Part::Resets => ("sql-speed-resets.csv", resets::measure(arguments, out)?),
        };
        if let Some(folder) = &arguments.csv {
            table.write(&folder.join(file))?;
        }
    }
    Ok(())
}

/// Lines of results, shown as they come.
struct Table {
    lines: Vec<String>,
}

impl Table {
    fn new(out: &mut impl Write, head: &str) -> io::Result<Table> {
        let mut table = Table { lines: Vec::new() };
        table.line(out, head.to_owned())?;
        Ok(table)
    }

    fn line(&mut self, out: &mut impl Write, line: String) -> io::Result<()> {
        writeln!(out, "{line}")?;
        out.flush()?;
        self.lines.push(line);
        Ok(())
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        fs::write(path, self.lines.join("\n") + "\n")
    }
}

/// The tables that statements look at.
fn make_tables(url: &Url, rows: u32) -> io::Result<()> {
    let mut connection = Connection::open(url)?;
    for statement in [
        "CREATE TABLE speed_label (id int PRIMARY KEY, name text NOT NULL)",
        "CREATE TABLE speed (id int PRIMARY KEY, n int NOT NULL, label int NOT NULL, filler text)",
        "INSERT INTO speed_label SELECT i, 'label ' || i FROM generate_series(0, 99) i",
        &format!("INSERT INTO speed SELECT i, 0, i % 100, 'some text' FROM generate_series(1, {rows}) i"),
        "ANALYZE",
    ] {
        connection.simple(statement).ok()?;
    }
    Ok(())
}

/// The middle one of some numbers.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}
