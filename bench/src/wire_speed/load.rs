//! A large table, as pgbench's accounts: how long it takes to load, and how much memory the server takes for it.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Instant;

use super::process::Process;
use super::{Arguments, Server, Table};
use crate::wire::{Connection, FreshDatabase};

const HEAD: &str = "server,how,rows,columns,seconds,rows_per_second,memory_before_mb,memory_mb,memory_peak_mb";

/// Rows of one INSERT with many.
const BATCH: u32 = 1000;

/// How rows come into the table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Copy,
    Select,
    Batches,
}

const NARROW: &str = "aid int PRIMARY KEY, bid int, abalance int, filler char(84)";
const WIDE: &str = "id int PRIMARY KEY, a int, b int, c bigint, d bool, e date, f numeric, g timestamp, h text, i text";

/// Measures all servers. A PostgreSQL's memory is that of its first process, which has no tables in it: it says nothing.
pub(super) fn measure(arguments: &Arguments, out: &mut impl Write) -> io::Result<Table> {
    let mut table = Table::new(out, HEAD)?;
    for server in &arguments.servers {
        for how in [How::Copy, How::Select, How::Batches] {
            let line = load(server, how, NARROW, 4, arguments.load)?;
            table.line(out, line)?;
        }
        let line = load(server, How::Select, WIDE, 10, arguments.load)?;
        table.line(out, line)?;
    }
    Ok(table)
}

fn load(server: &Server, how: How, columns: &str, count: u32, rows: u32) -> io::Result<String> {
    // A name of its own: a server may not have let go of the last one yet.
    let name = format!("load_{}_{}_{count}", std::process::id(), how as u8);
    let database = FreshDatabase::create(&server.url, &name)?;
    let process = Process::listening(server.url.port);
    let memory = || process.as_ref().and_then(Process::memory_mb).unwrap_or((f64::NAN, f64::NAN));
    let mut connection = Connection::open(database.url())?;
    connection.simple(&format!("CREATE TABLE accounts ({columns})")).ok()?;
    if let Some(process) = &process {
        process.forget_peak();
    }
    let (before, _) = memory();
    let start = Instant::now();
    match how {
        How::Copy => drop(connection.copy_in("COPY accounts FROM STDIN", lines(rows)).ok()?),
        How::Select => {
            let values = match count {
                4 => "i, 1 + i / 100000, 0, ''",
                _ => {
                    "i, i % 7, i % 1000, i * 5, i % 2 = 0, date '2020-01-01' + i % 1000, i / 100.0, \
                     timestamp '2020-01-01' + i * interval '1 minute', 'name ' || i, 'note ' || i % 100"
                }
            };
            let sql = format!("INSERT INTO accounts SELECT {values} FROM generate_series(1, {rows}) i");
            connection.simple(&sql).ok()?;
        }
        How::Batches => {
            for first in (1..=rows).step_by(BATCH as usize) {
                let values: Vec<String> =
                    (first..(first + BATCH).min(rows + 1)).map(|i| format!("({i},{},0,'')", 1 + i / 100_000)).collect();
                connection.simple(&format!("INSERT INTO accounts VALUES {}", values.join(","))).ok()?;
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let (after, peak) = memory();
    let counted = connection.simple("SELECT count(*) FROM accounts").ok()?;
    if counted.rows().first().and_then(|row| row[0].as_deref()) != Some(&rows.to_string()) {
        return Err(io::Error::other(format!("{} has another number of rows", server.name)));
    }
    let how = match how {
        How::Copy => "COPY",
        How::Select => "INSERT … SELECT",
        How::Batches => "INSERT of 1000 rows each",
    };
    let rate = f64::from(rows) / seconds;
    Ok(format!("{},{how},{rows},{count},{seconds:.1},{rate:.0},{before:.0},{after:.0},{peak:.0}", server.name))
}

fn lines(rows: u32) -> Vec<u8> {
    let mut text = String::new();
    for i in 1..=rows {
        writeln!(text, "{i}\t{}\t0\t", 1 + i / 100_000).expect("strings can be written to");
    }
    text.into_bytes()
}
