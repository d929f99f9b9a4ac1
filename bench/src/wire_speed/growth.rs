//! Whether a statement costs more the more there were before it: one connection, many statements.

use std::io::{self, Write};
use std::time::Instant;

use super::process::Process;
use super::{Arguments, Table, make_tables, median};
use crate::random::Random;
use crate::wire::{Connection, FreshDatabase};

const HEAD: &str = "server,statements_before,select_median_us,update_median_us,cpu_us,memory_mb";

/// How many statements are looked at, from each power of ten on.
const WINDOW: u64 = 10_000;

/// Measures all servers.
pub(super) fn measure(arguments: &Arguments, out: &mut impl Write) -> io::Result<Table> {
    let mut table = Table::new(out, HEAD)?;
    for server in &arguments.servers {
        let database = FreshDatabase::create(&server.url, &format!("growth_{}", std::process::id()))?;
        make_tables(database.url(), arguments.rows)?;
        let process = Process::listening(server.url.port);
        let mut connection = Connection::open(database.url())?;
        connection.prepare("select", "SELECT n FROM speed WHERE id = $1").ok()?;
        connection.prepare("update", "UPDATE speed SET n = n + 1 WHERE id = $1").ok()?;
        let mut random = Random::new(1);
        let mut sent = 0;
        let mut mark = 0;
        while mark <= arguments.growth {
            while sent < mark {
                pair(&mut connection, &mut random, arguments.rows)?;
                sent += 2;
            }
            let cpu = process.as_ref().map(Process::cpu_seconds);
            let (mut selects, mut updates) = (Vec::new(), Vec::new());
            for _ in 0..WINDOW / 2 {
                let (select, update) = pair(&mut connection, &mut random, arguments.rows)?;
                selects.push(select);
                updates.push(update);
            }
            sent += WINDOW;
            let cpu = process.as_ref().zip(cpu).map(|(process, before)| process.cpu_seconds() - before);
            let cpu = cpu.map_or(f64::NAN, |seconds| seconds * 1e6 / WINDOW as f64);
            let memory = process.as_ref().and_then(Process::memory_mb).map_or(f64::NAN, |(now, _)| now);
            let (select, update) = (median(selects), median(updates));
            table.line(out, format!("{},{mark},{select:.1},{update:.1},{cpu:.1},{memory:.0}", server.name))?;
            mark = (mark * 10).max(1000);
        }
    }
    Ok(table)
}

/// One select and one update, and how long they took in microseconds.
fn pair(connection: &mut Connection, random: &mut Random, rows: u32) -> io::Result<(f64, f64)> {
    let mut timed = |name: &str| {
        let key = Some((random.below(rows) + 1).to_string());
        let start = Instant::now();
        connection.execute_known(name, &[key]).ok()?;
        io::Result::Ok(start.elapsed().as_nanos() as f64 / 1000.0)
    };
    Ok((timed("select")?, timed("update")?))
}
