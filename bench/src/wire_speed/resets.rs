//! What a test runner waits for between two runs of a test: a connection, and the database as it was.

use std::io::{self, Write};
use std::time::Instant;

use super::{Arguments, Table, make_tables, median};
use crate::wire::{Connection, FreshDatabase, Url};

const HEAD: &str = "server,what,median_us";

/// How often each is done.
const TIMES: usize = 300;

/// Statements of a run.
const STATEMENTS: usize = 50;

/// Measures all servers. Those that have no schema `skew` have connections only.
pub(super) fn measure(arguments: &Arguments, out: &mut impl Write) -> io::Result<Table> {
    let mut table = Table::new(out, HEAD)?;
    for server in &arguments.servers {
        let database = FreshDatabase::create(&server.url, &format!("resets_{}", std::process::id()))?;
        make_tables(database.url(), arguments.rows)?;
        let url = database.url();
        let connecting = timed(|| Connection::open(url).map(drop).map_err(io::Error::from))?;
        table.line(out, format!("{},connection,{connecting:.0}", server.name))?;
        let mut control = Connection::open(url)?;
        if control.simple("SELECT skew.checkpoint()").code().is_some() {
            continue;
        }
        let again = timed(|| control.simple("SELECT skew.checkpoint()").ok().map(drop))?;
        table.line(out, format!("{},checkpoint of {} rows,{again:.0}", server.name, arguments.rows))?;
        let reset = timed(|| control.simple("SELECT skew.reset(1)").ok().map(drop))?;
        table.line(out, format!("{},reset after nothing,{reset:.0}", server.name))?;
        let run = timed(|| run(&mut control, url))?;
        let what = format!("reset + connection + {STATEMENTS} statements");
        table.line(out, format!("{},{what},{run:.0}", server.name))?;
    }
    Ok(table)
}

/// A run of a test: selects, updates and inserts by a client that has just connected.
fn run(control: &mut Connection, url: &Url) -> io::Result<()> {
    control.simple("SELECT skew.reset(1)").ok()?;
    let mut connection = Connection::open(url)?;
    for at in 0..STATEMENTS {
        let sql = match at % 3 {
            0 => format!("SELECT n FROM speed WHERE id = {}", at + 1),
            1 => format!("UPDATE speed SET n = n + 1 WHERE id = {at}"),
            _ => format!("INSERT INTO speed VALUES ({}, 0, 1, 'new')", at + 1_000_000),
        };
        connection.simple(&sql).ok()?;
    }
    Ok(())
}

fn timed(mut what: impl FnMut() -> io::Result<()>) -> io::Result<f64> {
    let mut times = Vec::with_capacity(TIMES);
    for _ in 0..TIMES {
        let start = Instant::now();
        what()?;
        times.push(start.elapsed().as_nanos() as f64 / 1000.0);
    }
    Ok(median(times))
}
