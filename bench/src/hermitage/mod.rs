//! Hermitage's table: which anomalies are possible at which level, found by running scripts against a server.

mod anomalies;
mod seen;

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::sessions::Server;
use crate::wire::{FreshDatabase, Url};
use anomalies::{ANOMALIES, Anomaly};
use seen::{Named, Seen};

/// Print which of Hermitage's anomalies are possible at which level
#[derive(clap::Args)]
#[command(after_help = "\
A PostgreSQL is asked for its three levels; Skew for each of its own, with many seeds, since an anomaly that a level
allows does not happen in every run. Examples:
  skew-bench hermitage --url postgres://127.0.0.1:5432/x --levels 'read committed,repeatable read,serializable'
  skew-bench hermitage --url postgres://127.0.0.1:5433/x --seeds 200 --markdown bench/results/hermitage.md")]
pub(crate) struct Arguments {
    /// The server
    #[arg(long)]
    url: Url,

    /// Levels by Skew's ids, or by SQL's names
    #[arg(long, value_delimiter = ',', default_value = "ru,rc,ra,cc,pc,psi,si,ser,mvrc")]
    levels: Vec<String>,

    /// Runs of each script at each of Skew's levels
    #[arg(long, default_value_t = 100)]
    seeds: u64,

    /// Write the table here too
    #[arg(long)]
    markdown: Option<PathBuf>,
}

/// What a script showed at a level.
enum Found {
    /// In so many runs.
    Possible(u64),
    Impossible,
    /// A statement failed that should not.
    Unclear(String),
}

/// Runs the scripts and prints the table.
pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    let database = FreshDatabase::create(&arguments.url, &format!("hermitage_{}", std::process::id()))?;
    let mut server = Server::open(database.url())?;
    let mut table = heading();
    for level in &arguments.levels {
        let mut cells = Vec::new();
        for anomaly in &ANOMALIES {
            let found = try_out(&mut server, anomaly, level, arguments.seeds)?;
            if let Found::Unclear(why) = &found {
                writeln!(out, "{level}, {} {}: {why}", anomaly.id, anomaly.variant)?;
            }
            cells.push(found.cell());
        }
        table.push_str(&format!("| {level} | {} |\n", cells.join(" | ")));
    }
    out.write_all(table.as_bytes())?;
    for anomaly in &ANOMALIES {
        writeln!(out, "{}: {}", name(anomaly), anomaly.story)?;
    }
    if let Some(path) = &arguments.markdown {
        let mut page = format!(
            "# Hermitage's anomalies\n\nWhat `skew-bench hermitage` found with {} runs of each script at each level: \
             *possible*, with the number of runs that showed it, or *impossible*.\n\n{table}\n",
            arguments.seeds
        );
        for anomaly in &ANOMALIES {
            page.push_str(&format!("- **{}**: {}\n", name(anomaly), anomaly.story));
        }
        fs::write(path, page)?;
    }
    Ok(())
}

fn name(anomaly: &Anomaly) -> String {
    match anomaly.variant {
        "" => anomaly.id.to_owned(),
        variant => format!("{} ({variant})", anomaly.id),
    }
}

fn heading() -> String {
    let names: Vec<String> = ANOMALIES.iter().map(name).collect();
    format!("| level | {} |\n| --- |{}\n", names.join(" | "), " --- |".repeat(names.len()))
}

impl Found {
    fn cell(&self) -> String {
        match self {
            Found::Possible(runs) => format!("possible {runs}"),
            Found::Impossible => "impossible".to_owned(),
            Found::Unclear(_) => "?".to_owned(),
        }
    }
}

fn try_out(server: &mut Server, anomaly: &Anomaly, level: &str, seeds: u64) -> io::Result<Found> {
    // SQL's names have a space or are long; Skew's ids are neither, and are set for the whole database.
    let by_name = level.contains(' ') || level.eq_ignore_ascii_case("serializable");
    let (begin, seeds) = match by_name {
        true => (format!("BEGIN ISOLATION LEVEL {}", level.to_ascii_uppercase()), 1),
        false => ("BEGIN".to_owned(), seeds),
    };
    let named = Named::parse(anomaly.script, &begin);
    let mut shown = 0;
    for seed in 1..=seeds {
        server.set_up(&named.script)?;
        if !by_name {
            server.control(&format!("SELECT skew.seed({seed})"));
            server.control(&format!("SELECT skew.isolation('{level}')")).ok()?;
        }
        let transcript = server.play(&named.script)?;
        let run = Seen::new(&named, &transcript);
        if let Some(why) = run.trouble() {
            return Ok(Found::Unclear(why));
        }
        shown += u64::from((anomaly.shown)(&run));
    }
    Ok(match shown {
        0 => Found::Impossible,
        runs => Found::Possible(runs),
    })
}
