//! Statements a second, with one connection and with many.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::process::Process;
use super::{Arguments, Mode, Table, make_tables, median};
use crate::random::Random;
use crate::wire::{Connection, FreshDatabase, Url};

/// A name and a statement with one parameter, a key.
const WORKLOADS: [(&str, &str); 4] = [
    ("point select", "SELECT n FROM speed WHERE id = $1"),
    ("point update", "UPDATE speed SET n = n + 1 WHERE id = $1"),
    ("five-row range", "SELECT id, n FROM speed WHERE id BETWEEN $1 AND $1 + 4 ORDER BY id"),
    ("two-table join", "SELECT s.n, l.name FROM speed s JOIN speed_label l ON l.id = s.label WHERE s.id = $1"),
];

const HEAD: &str = "workload,mode,connections,server,statements_per_second,cpu_us,median_us,p99_us,errors";

/// What one slice gave.
#[derive(Default)]
struct Slice {
    latencies_ns: Vec<u64>,
    errors: BTreeMap<String, u64>,
    seconds: f64,
    cpu_seconds: Option<f64>,
}

impl Slice {
    fn rate(&self) -> f64 {
        self.latencies_ns.len() as f64 / self.seconds
    }

    fn errors(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Of the server, for a statement.
    fn cpu_us(&self) -> f64 {
        let statements = self.latencies_ns.len() as f64 + self.errors() as f64;
        self.cpu_seconds.map_or(f64::NAN, |seconds| seconds * 1e6 / statements)
    }

    fn latency_us(&mut self, share: f64) -> f64 {
        self.latencies_ns.sort_unstable();
        let at = (self.latencies_ns.len() as f64 * share) as usize;
        self.latencies_ns.get(at).map_or(f64::NAN, |&latency| latency as f64 / 1000.0)
    }
}

/// Measures all workloads, a line each.
pub(super) fn measure(arguments: &Arguments, out: &mut impl Write) -> io::Result<Table> {
    let mut table = Table::new(out, HEAD)?;
    let name = format!("speed_{}", std::process::id());
    let mut databases = Vec::new();
    for server in &arguments.servers {
        let database = FreshDatabase::create(&server.url, &name)?;
        make_tables(database.url(), arguments.rows)?;
        databases.push((server, database, Process::listening(server.url.port)));
    }
    for (workload, sql) in WORKLOADS {
        if !arguments.only.is_empty() && !arguments.only.iter().any(|only| workload.contains(only.as_str())) {
            continue;
        }
        for &mode in &arguments.modes {
            for &connections in &arguments.connections {
                let mut slices: Vec<Vec<Slice>> = databases.iter().map(|_| Vec::new()).collect();
                for _ in 0..arguments.rounds.max(1) {
                    for ((_, database, process), slices) in databases.iter().zip(&mut slices) {
                        let process = process.as_ref();
                        slices.push(slice(arguments, database.url(), process, sql, mode, connections)?);
                    }
                }
                for ((server, ..), slices) in databases.iter().zip(slices) {
                    let what = format!("{workload},{},{connections},{}", mode.name(), server.name);
                    show(&mut table, out, &what, slices)?;
                }
            }
        }
    }
    Ok(table)
}

fn show(table: &mut Table, out: &mut impl Write, what: &str, mut slices: Vec<Slice>) -> io::Result<()> {
    let rate = median(slices.iter().map(Slice::rate).collect());
    let cpu = median(slices.iter().map(Slice::cpu_us).collect());
    let middle = median(slices.iter_mut().map(|slice| slice.latency_us(0.5)).collect());
    let p99 = median(slices.iter_mut().map(|slice| slice.latency_us(0.99)).collect());
    let errors: u64 = slices.iter().map(Slice::errors).sum();
    table.line(out, format!("{what},{rate:.0},{cpu:.1},{middle:.1},{p99:.1},{errors}"))?;
    for slice in &slices {
        if let Some((message, count)) = slice.errors.first_key_value() {
            writeln!(out, "  {count} × {message}")?;
        }
    }
    Ok(())
}

fn slice(
    arguments: &Arguments,
    url: &Url,
    process: Option<&Process>,
    sql: &str,
    mode: Mode,
    connections: usize,
) -> io::Result<Slice> {
    let stop = AtomicBool::new(false);
    let ready = Barrier::new(connections + 1);
    let duration = Duration::from_secs_f64(arguments.seconds);
    let mut all = Slice::default();
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..connections)
            .map(|number| {
                let (stop, ready) = (&stop, &ready);
                scope.spawn(move || {
                    let connection = open(url, sql, mode);
                    ready.wait();
                    client(connection?, sql, mode, Random::new(number as u64 + 1), arguments.rows, stop)
                })
            })
            .collect();
        ready.wait();
        let cpu = process.map(Process::cpu_seconds);
        let start = Instant::now();
        std::thread::sleep(duration);
        stop.store(true, Ordering::Relaxed);
        all.seconds = start.elapsed().as_secs_f64();
        // Connections stay until the time is taken: to end a process costs something too.
        let mut open = Vec::new();
        for client in clients {
            let (connection, one) = client.join().expect("clients do not panic")?;
            open.push(connection);
            all.latencies_ns.extend(one.latencies_ns);
            for (message, count) in one.errors {
                *all.errors.entry(message).or_default() += count;
            }
        }
        all.cpu_seconds = process.zip(cpu).map(|(process, before)| process.cpu_seconds() - before);
        Ok(all)
    })
}

fn open(url: &Url, sql: &str, mode: Mode) -> io::Result<Connection> {
    let mut connection = Connection::open(url)?;
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
) -> io::Result<(Connection, Slice)> {
    let mut measured = Slice::default();
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
    Ok((connection, measured))
}
