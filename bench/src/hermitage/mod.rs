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
Skew is run at each of its levels with many seeds, since an anomaly that a level allows does not happen in every run; a
PostgreSQL at its three. Hermitage thinks in rows, so Skew should too. Example:
  skew serve --port 5433 --recency none --granularity row
  skew-bench hermitage --url postgres://127.0.0.1:5433/x --reference postgres://127.0.0.1:5432/x \\
    --seeds 200 --markdown bench/results/hermitage.md")]
pub(crate) struct Arguments {
    /// A Skew
    #[arg(long)]
    url: Url,

    /// A real PostgreSQL, for its three levels
    #[arg(long)]
    reference: Option<Url>,

    /// Skew's levels
    #[arg(long, value_delimiter = ',', default_value = "ru,rc,ra,cc,mvrc,pc,psi,si,ser")]
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
    /// In so many runs of so many.
    Possible(u64, u64),
    Impossible,
    /// A statement failed that should not.
    Unclear(String),
}

/// PostgreSQL's levels, and which of ours each is.
const POSTGRESQL: [(&str, &str); 3] = [("READ COMMITTED", "mvrc"), ("REPEATABLE READ", "si"), ("SERIALIZABLE", "ser")];

/// Runs the scripts and prints the table.
pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    let mut page = Page { table: heading(), wrong: Vec::new() };
    let name = format!("hermitage_{}", std::process::id());
    {
        let database = FreshDatabase::create(&arguments.url, &name)?;
        let mut server = Server::open(database.url())?;
        for level in &arguments.levels {
            let found = |anomaly: &Anomaly| on_skew(&mut server, anomaly, level, arguments.seeds);
            page.line(level, level, found)?;
        }
    }
    if let Some(reference) = &arguments.reference {
        let database = FreshDatabase::create(reference, &name)?;
        let mut server = Server::open(database.url())?;
        for (name, level) in POSTGRESQL {
            page.line(&format!("PostgreSQL {name}"), level, |anomaly| on_postgresql(&mut server, anomaly, name))?;
        }
    }
    let text = page.text();
    out.write_all(text.as_bytes())?;
    if let Some(path) = &arguments.markdown {
        let seeds = arguments.seeds;
        let text = format!(
            "# Hermitage's anomalies\n\nWhat `skew-bench hermitage --seeds {seeds}` found: *possible*, in how many \
             runs, or *impossible*. PostgreSQL is run once, since it does the same every time. Skew was started with `skew \
             serve --recency none --granularity row`: the bare levels, and rows as Hermitage has them.\n\n{text}"
        );
        fs::write(path, text)?;
    }
    Ok(())
}

/// What is printed.
struct Page {
    table: String,
    /// Where the table is not what the levels' definitions say.
    wrong: Vec<String>,
}

impl Page {
    /// A line of the table: a level, and which of ours it is.
    fn line(
        &mut self,
        shown: &str,
        level: &str,
        mut found: impl FnMut(&Anomaly) -> io::Result<Found>,
    ) -> io::Result<()> {
        let mut cells = Vec::new();
        for anomaly in &ANOMALIES {
            let found = found(anomaly)?;
            let allowed = anomaly.allowed.contains(&level);
            match &found {
                Found::Unclear(why) => self.wrong.push(format!("{shown}, {}: {why}", name(anomaly))),
                Found::Possible(..) if allowed => {}
                Found::Impossible if !allowed => {}
                _ => self.wrong.push(format!("{shown}, {}: {}", name(anomaly), found.cell())),
            }
            cells.push(found.cell());
        }
        self.table.push_str(&format!("| {shown} | {} |\n", cells.join(" | ")));
        Ok(())
    }

    fn text(&self) -> String {
        let mut text = format!("{}\n", self.table);
        match self.wrong.is_empty() {
            true => text.push_str("Every cell is what the level's definition says.\n\n"),
            false => text.push_str(&format!("Not what the definitions say:\n- {}\n\n", self.wrong.join("\n- "))),
        }
        for anomaly in &ANOMALIES {
            text.push_str(&format!("- **{}**: {}\n", name(anomaly), anomaly.story));
        }
        text
    }
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
            Found::Possible(shown, runs) => format!("possible {shown}/{runs}"),
            Found::Impossible => "impossible".to_owned(),
            Found::Unclear(_) => "?".to_owned(),
        }
    }
}

fn on_skew(server: &mut Server, anomaly: &Anomaly, level: &str, seeds: u64) -> io::Result<Found> {
    let named = Named::parse(anomaly.script, "BEGIN");
    server.control("SELECT skew.isolation('ser')").ok()?;
    server.set_up(&named.script)?;
    server.control("SELECT skew.checkpoint()").ok()?;
    server.control(&format!("SELECT skew.isolation('{level}')")).ok()?;
    // What is allowed and rare gets more runs.
    let most = if anomaly.allowed.contains(&level) { 20 * seeds } else { seeds };
    let (mut shown, mut runs) = (0, 0);
    while runs < seeds || shown == 0 && runs < most {
        runs += 1;
        server.control(&format!("SELECT skew.reset({runs})")).ok()?;
        match is_shown(server, anomaly, &named)? {
            Ok(yes) => shown += u64::from(yes),
            Err(why) => return Ok(Found::Unclear(why)),
        }
    }
    Ok(if shown > 0 { Found::Possible(shown, runs) } else { Found::Impossible })
}

fn on_postgresql(server: &mut Server, anomaly: &Anomaly, level: &str) -> io::Result<Found> {
    let named = Named::parse(anomaly.script, &format!("BEGIN ISOLATION LEVEL {level}"));
    server.set_up(&named.script)?;
    Ok(match is_shown(server, anomaly, &named)? {
        Ok(true) => Found::Possible(1, 1),
        Ok(false) => Found::Impossible,
        Err(why) => Found::Unclear(why),
    })
}

/// Whether a run shows the anomaly, unless a statement failed that should not.
fn is_shown(server: &mut Server, anomaly: &Anomaly, named: &Named) -> io::Result<Result<bool, String>> {
    let transcript = server.play(&named.script)?;
    let run = Seen::new(named, &transcript);
    Ok(match run.trouble() {
        Some(why) => Err(why),
        None => Ok((anomaly.shown)(&run)),
    })
}
