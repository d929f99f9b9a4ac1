//! How many statements a second a server answers over the wire, with one connection and with many.
//!
//! Clients are threads of this process that send the next statement when the last one is answered. They share the
//! machine with the server, so numbers compare servers on one machine and say little else.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::random::Random;
use crate::wire::{Connection, FreshDatabase, Url};

/// Measure statements a second over the wire
#[derive(clap::Args)]
#[command(after_help = "\
Example, a PostgreSQL without fsync and a server at `ser`, side by side in one file:
  skew-bench wire-speed --url postgres://127.0.0.1:5432/x --label postgresql --csv bench/results/wire-speed.csv
  skew-bench wire-speed --url postgres://127.0.0.1:5433/x --label skew-ser --csv bench/results/wire-speed.csv")]
pub(crate) struct Arguments {
    /// The server; it gets a new database with the tables
    #[arg(long)]
    url: Url,

    /// What the results call this server
    #[arg(long)]
    label: String,

    /// Rows of the table
    #[arg(long, default_value_t = 100_000)]
    rows: u32,

    /// Numbers of connections
    #[arg(long, value_delimiter = ',', default_value = "1,8,32")]
    connections: Vec<usize>,

    /// Only these workloads
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,

    /// How long each measurement takes
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,

    /// Measurements of each; the median counts
    #[arg(long, default_value_t = 3)]
    repeat: usize,

    /// A statement that each connection sends first
    #[arg(long)]
    before: Option<String>,

    /// Add the results to this file, in place of older ones with the same label
    #[arg(long)]
    csv: Option<PathBuf>,
}

/// What is measured: a name and a statement with one parameter, a key.
const WORKLOADS: [(&str, &str); 4] = [
    ("point select", "SELECT n FROM speed WHERE id = $1"),
    ("point update", "UPDATE speed SET n = n + 1 WHERE id = $1"),
    ("five-row range", "SELECT id, n FROM speed WHERE id BETWEEN $1 AND $1 + 4 ORDER BY id"),
    ("two-table join", "SELECT s.n, l.name FROM speed s JOIN speed_label l ON l.id = s.label WHERE s.id = $1"),
];

const HEAD: &str = "label,workload,mode,connections,statements_per_second,median_us,p99_us,errors\n";

/// How the statement is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
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

/// What one measurement gave.
#[derive(Default)]
struct Measured {
    latencies_ns: Vec<u64>,
    errors: BTreeMap<String, u64>,
    seconds: f64,
}

/// Measures all workloads and prints a line for each.
pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    let database = FreshDatabase::create(&arguments.url, &format!("speed_{}", std::process::id()))?;
    load(database.url(), arguments.rows)?;
    let mut lines = Vec::new();
    for (workload, sql) in WORKLOADS {
        if !arguments.only.is_empty() && !arguments.only.iter().any(|only| workload.contains(only.as_str())) {
            continue;
        }
        for mode in [Mode::Prepared, Mode::Simple] {
            for &connections in &arguments.connections {
                let mut runs = (0..arguments.repeat.max(1))
                    .map(|_| measure(arguments, database.url(), sql, mode, connections))
                    .collect::<io::Result<Vec<_>>>()?;
                runs.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
                let middle = runs.len() / 2;
                let line = csv_line(&arguments.label, workload, mode, connections, &mut runs[middle]);
                writeln!(out, "{line}")?;
                out.flush()?;
                for (message, count) in &runs[middle].errors {
                    writeln!(out, "  {count} × {message}")?;
                }
                lines.push(line);
            }
        }
    }
    match &arguments.csv {
        Some(path) => store(path, &arguments.label, &lines),
        None => Ok(()),
    }
}

fn load(url: &Url, rows: u32) -> io::Result<()> {
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

fn measure(arguments: &Arguments, url: &Url, sql: &str, mode: Mode, connections: usize) -> io::Result<Measured> {
    let stop = AtomicBool::new(false);
    let ready = Barrier::new(connections + 1);
    let duration = Duration::from_secs_f64(arguments.seconds);
    let mut all = Measured::default();
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..connections)
            .map(|number| {
                let (stop, ready) = (&stop, &ready);
                scope.spawn(move || {
                    let connection = open(arguments, url, sql, mode);
                    ready.wait();
                    client(connection?, sql, mode, Random::new(number as u64 + 1), arguments.rows, stop)
                })
            })
            .collect();
        ready.wait();
        let start = Instant::now();
        std::thread::sleep(duration);
        stop.store(true, Ordering::Relaxed);
        all.seconds = start.elapsed().as_secs_f64();
        for client in clients {
            let one = client.join().expect("clients do not panic")?;
            all.latencies_ns.extend(one.latencies_ns);
            for (message, count) in one.errors {
                *all.errors.entry(message).or_default() += count;
            }
        }
        Ok(all)
    })
}

fn open(arguments: &Arguments, url: &Url, sql: &str, mode: Mode) -> io::Result<Connection> {
    let mut connection = Connection::open(url)?;
    if let Some(before) = &arguments.before {
        connection.simple(before).ok()?;
    }
    if mode == Mode::Prepared {
        connection.prepare("statement", sql).ok()?;
    }
    Ok(connection)
}

fn client(
    mut connection: Connection,
    sql: &str,
    mode: Mode,
    mut random: Random,
    rows: u32,
    stop: &AtomicBool,
) -> io::Result<Measured> {
    let mut measured = Measured::default();
    while !stop.load(Ordering::Relaxed) {
        let key = (random.below(rows - 5) + 1).to_string();
        let start = Instant::now();
        let answer = match mode {
            Mode::Prepared => connection.execute_known("statement", &[Some(key)]),
            Mode::Simple => connection.simple(&sql.replace("$1", &key)),
        };
        let took = start.elapsed();
        match (&answer.error, &answer.lost) {
            (None, None) => measured.latencies_ns.push(took.as_nanos() as u64),
            (Some(error), _) => *measured.errors.entry(error.to_string()).or_default() += 1,
            (None, Some(why)) => return Err(io::Error::other(format!("the connection broke: {why}"))),
        }
    }
    Ok(measured)
}

fn rate(measured: &Measured) -> f64 {
    measured.latencies_ns.len() as f64 / measured.seconds
}

fn csv_line(label: &str, workload: &str, mode: Mode, connections: usize, measured: &mut Measured) -> String {
    measured.latencies_ns.sort_unstable();
    let latencies = &measured.latencies_ns;
    let at =
        |share: f64| latencies.get((latencies.len() as f64 * share) as usize).copied().unwrap_or(0) as f64 / 1000.0;
    let (median, p99) = (at(0.5), at(0.99));
    let errors: u64 = measured.errors.values().sum();
    format!("{label},{workload},{},{connections},{:.0},{median:.0},{p99:.0},{errors}", mode.name(), rate(measured))
}

fn store(path: &Path, label: &str, lines: &[String]) -> io::Result<()> {
    let old = fs::read_to_string(path).unwrap_or_else(|_| HEAD.to_owned());
    let prefix = format!("{label},");
    let kept = old.lines().filter(|line| !line.starts_with(&prefix)).map(str::to_owned);
    let all: Vec<String> = kept.chain(lines.iter().cloned()).collect();
    fs::write(path, all.join("\n") + "\n")
}
