//! Random interleavings of two and three sessions on a server and on a real PostgreSQL: who waits, who goes on, what comes
//! back has to be the same.

mod difference;
mod generate;
mod serial;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::sessions::{Script, Server, Transcript};
use crate::wire::{FreshDatabase, Url};
use difference::Difference;
use generate::Levels;

/// Run random interleavings of sessions on a server and on PostgreSQL, and compare results, errors and waits
#[derive(clap::Args)]
#[command(after_help = "\
At READ COMMITTED and REPEATABLE READ both servers have to do the same at every step. At SERIALIZABLE (--serializable)
the transactions that committed have to give what they give one after the other on PostgreSQL, in some order that keeps
to each session's. Example:
  skew-bench interleave --url postgres://127.0.0.1:5433/x --reference postgres://127.0.0.1:5432/x --runs 1000")]
pub(crate) struct Arguments {
    /// The server
    #[arg(long)]
    url: Url,

    /// A real PostgreSQL
    #[arg(long)]
    reference: Url,

    /// How many interleavings
    #[arg(long, default_value_t = 1000)]
    runs: u64,

    /// Where randomness starts; run number n has the seed plus n
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Isolation levels of the transactions
    #[arg(long, value_enum, default_value = "mixed")]
    levels: Levels,

    /// All transactions are SERIALIZABLE, and some serial order has to explain them
    #[arg(long)]
    serializable: bool,

    /// So many differences are made smaller and shown
    #[arg(long, default_value_t = 5)]
    show: usize,

    /// Write all differences here, grouped by cause
    #[arg(long)]
    report: Option<PathBuf>,
}

/// How the runs ended.
#[derive(Default)]
struct Tally {
    same: u64,
    waits: u64,
    /// PostgreSQL did not always do the same, and once just this.
    other_way: u64,
    /// PostgreSQL did not always do the same, and never this.
    unsteady: u64,
    not_supported: BTreeMap<String, u64>,
    different: Vec<Difference>,
}

/// Runs the interleavings and prints what differs.
pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    let name = format!("interleave_{}", std::process::id());
    let (here, there) =
        (FreshDatabase::create(&arguments.url, &name)?, FreshDatabase::create(&arguments.reference, &name)?);
    let server = Server::open(here.url())?;
    let postgres = Server::open(there.url())?;
    if arguments.serializable {
        return serial::run(arguments.runs, arguments.seed, server, postgres, out);
    }
    let tally = compare_all(arguments, server, postgres, out)?;
    print(arguments, &tally, out)
}

fn compare_all(
    arguments: &Arguments,
    mut server: Server,
    mut postgres: Server,
    out: &mut impl Write,
) -> io::Result<Tally> {
    let mut tally = Tally::default();
    for seed in arguments.seed..arguments.seed + arguments.runs {
        let script = generate::script(seed, arguments.levels);
        let expected = postgres.run(&script)?;
        let seen = server.run(&script)?;
        tally.waits += expected.events.iter().filter(|event| event.outcome == "waits").count() as u64;
        if let Some(sql) = difference::unsupported(&script, &seen) {
            *tally.not_supported.entry(sql).or_default() += 1;
            continue;
        }
        match compare(&mut postgres, &script, &expected, &seen)? {
            Compared::Same => tally.same += 1,
            Compared::OtherWay => tally.other_way += 1,
            Compared::Unsteady => tally.unsteady += 1,
            Compared::Different => {
                let shrink = tally.different.len() < arguments.show;
                let found = Difference { seed, script, expected, seen };
                let found = if shrink { found.shrunk(&mut server, &mut postgres)? } else { found };
                if shrink {
                    writeln!(out, "{found}")?;
                    out.flush()?;
                }
                tally.different.push(found);
            }
        }
    }
    Ok(tally)
}

/// How often PostgreSQL is asked again where the servers differ: where several sessions go on at the same moment, whoever
/// comes first is right.
const AGAIN: usize = 12;

/// What comes of comparing.
enum Compared {
    Same,
    OtherWay,
    Unsteady,
    Different,
}

fn compare(postgres: &mut Server, script: &Script, expected: &Transcript, seen: &Transcript) -> io::Result<Compared> {
    if expected == seen {
        return Ok(Compared::Same);
    }
    let mut steady = true;
    for _ in 0..AGAIN {
        let again = postgres.run(script)?;
        if again == *seen {
            return Ok(Compared::OtherWay);
        }
        steady &= again == *expected;
    }
    Ok(if steady { Compared::Different } else { Compared::Unsteady })
}

fn print(arguments: &Arguments, tally: &Tally, out: &mut impl Write) -> io::Result<()> {
    let refused: u64 = tally.not_supported.values().sum();
    writeln!(
        out,
        "{} interleavings from seed {}: {} the same, {} as PostgreSQL does at other times, {} different, {refused} not \
         supported, {} unsteady on PostgreSQL; {} waits",
        arguments.runs,
        arguments.seed,
        tally.same,
        tally.other_way,
        tally.different.len(),
        tally.unsteady,
        tally.waits
    )?;
    for (construct, count) in &tally.not_supported {
        writeln!(out, "  {count} not supported: {construct}")?;
    }
    let mut causes: BTreeMap<String, Vec<&Difference>> = BTreeMap::new();
    for difference in &tally.different {
        causes.entry(difference.cause()).or_default().push(difference);
    }
    let mut causes: Vec<_> = causes.into_iter().collect();
    causes.sort_by_key(|(_, differences)| std::cmp::Reverse(differences.len()));
    for (cause, differences) in &causes {
        writeln!(out, "  {} × {cause}", differences.len())?;
    }
    if let Some(path) = &arguments.report {
        let mut report = io::BufWriter::new(fs::File::create(path)?);
        for (cause, differences) in &causes {
            writeln!(report, "{:5}  {cause}", differences.len())?;
        }
        for (cause, differences) in &causes {
            writeln!(report, "\n==== {} × {cause}", differences.len())?;
            for difference in differences.iter().take(5) {
                writeln!(report, "{difference}")?;
            }
        }
        report.flush()?;
    }
    Ok(())
}
