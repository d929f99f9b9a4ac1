//! Replays statements that real clients were recorded to send, beside a real PostgreSQL.
//!
//! The lists have every statement once, in the order in which it was first seen, so transactions, cursors and settings
//! of many sessions are mixed. Therefore each statement runs on its own: with a transaction around it if it needs one,
//! settings go back afterwards, and a definition of something that exists replaces it.

mod compare;
mod recording;
mod report;
mod side;
mod statement;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use crate::wire::{Answer, Url};
use compare::{Difference, Verdict};
use recording::Recording;
use side::Side;

/// SQLSTATEs of names that are taken: relation, object, function, schema.
const TAKEN: [&str; 4] = ["42P07", "42710", "42723", "42P06"];

/// Replay statements recorded from real clients, and compare the answers with PostgreSQL's
#[derive(clap::Args)]
#[command(after_help = "\
What PostgreSQL answers has to be answered equally, and where it gives an error the SQLSTATE has to be the same; 0A000
is always allowed. Example:
  skew-bench replay-clients --url postgres://127.0.0.1:5433/x --reference postgres://127.0.0.1:5432/x clients/*_pg.sql")]
pub(crate) struct Arguments {
    /// The server; every recording gets a new database
    #[arg(long)]
    url: Url,

    /// A real PostgreSQL
    #[arg(long)]
    reference: Option<Url>,

    /// Prepare all statements, not only those with parameters
    #[arg(long)]
    extended: bool,

    /// Write what differs here, grouped by cause
    #[arg(long)]
    report: Option<PathBuf>,

    /// Write the table as Markdown here
    #[arg(long)]
    markdown: Option<PathBuf>,

    /// A statement that takes longer has failed
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    patience: u64,

    /// Files of statements, with lines `--;;--` between them
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// A statement with how its two answers differ.
struct Entry {
    sql: String,
    /// Whether PostgreSQL answers it at all.
    answered: bool,
    difference: Difference,
}

/// What came out of one recording.
struct Replayed {
    name: String,
    entries: Vec<Entry>,
}

/// Replays the files and prints the summary.
pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    let mut all = Vec::new();
    for recording in recording::load(&arguments.files)? {
        let replayed = Replay::start(arguments, &recording)?.run(recording);
        writeln!(out, "{}", report::line(&replayed))?;
        out.flush()?;
        all.push(replayed);
    }
    if let Some(path) = &arguments.report {
        report::write_differences(&all, path)?;
    }
    if let Some(path) = &arguments.markdown {
        report::write_markdown(&all, path)?;
    }
    report::print_total(&all, out)
}

/// A recording on its way through one or two servers.
struct Replay {
    server: Side,
    postgres: Option<Side>,
    extended: bool,
    /// Names of what was refused or came out differently.
    doubtful: BTreeSet<String>,
    entries: Vec<Entry>,
}

impl Replay {
    fn start(arguments: &Arguments, recording: &Recording) -> io::Result<Replay> {
        let plain: String = recording.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let name = format!("clients_{}_{plain}", std::process::id());
        let patience = Duration::from_secs(arguments.patience);
        Ok(Replay {
            server: Side::new(&arguments.url, &name, patience)?,
            postgres: arguments.reference.as_ref().map(|url| Side::new(url, &name, patience)).transpose()?,
            extended: arguments.extended,
            doubtful: BTreeSet::new(),
            entries: Vec::new(),
        })
    }

    fn run(mut self, recording: Recording) -> Replayed {
        for sql in &recording.schema {
            let difference = self.both(sql, false);
            self.remember(sql, &difference);
        }
        for sql in recording.statements {
            self.step(sql);
        }
        Replayed { name: recording.name, entries: self.entries }
    }

    fn step(&mut self, sql: String) {
        if !statement::continues_transaction(&sql) {
            self.finish();
        }
        for before in statement::preparation(&sql) {
            self.both(&before, false);
        }
        let (expected, difference) = self.compared(&sql);
        self.add(&sql, expected.code().is_none(), difference);
        match statement::target(&sql) {
            Some(target) if target.verb == "create" && expected.code().is_some_and(|code| TAKEN.contains(&code)) => {
                self.finish();
                self.both(&format!("DROP {} IF EXISTS {} CASCADE", target.kind, target.name), false);
                let (expected, difference) = self.compared(&sql);
                self.add(&sql, expected.code().is_none(), difference);
            }
            Some(target) if target.kind == "database" && target.verb == "create" => {
                self.both(&format!("DROP DATABASE IF EXISTS {}", target.name), false);
            }
            _ => {}
        }
        if statement::changes_settings(&sql) {
            self.finish();
            self.both("RESET ALL", false);
        }
    }

    /// Runs a statement on both servers.
    fn both(&mut self, sql: &str, extended: bool) -> Difference {
        let expected = self.postgres.as_mut().map(|side| side.run(sql, extended));
        let seen = self.server.run(sql, extended);
        match &expected {
            Some(expected) => compare::compare(sql, expected, &seen),
            None => compare::alone(&seen),
        }
    }

    /// Runs a recorded statement on both servers; PostgreSQL's answer, or the server's own if it is alone.
    fn compared(&mut self, sql: &str) -> (Answer, Difference) {
        let expected = self.postgres.as_mut().map(|side| side.run(sql, self.extended));
        let seen = self.server.run(sql, self.extended);
        match expected {
            Some(expected) => {
                let difference = compare::compare(sql, &expected, &seen);
                (expected, difference)
            }
            None => {
                let difference = compare::alone(&seen);
                (seen, difference)
            }
        }
    }

    fn finish(&mut self) {
        self.server.finish();
        if let Some(side) = &mut self.postgres {
            side.finish();
        }
    }

    fn add(&mut self, sql: &str, answered: bool, mut difference: Difference) {
        let follows = difference.verdict > Verdict::Consequence && self.names_something_doubtful(sql);
        self.remember(sql, &difference);
        if difference.verdict == Verdict::Lost {
            eprintln!("{}: {}", difference.seen, sql.lines().take(3).collect::<Vec<_>>().join(" "));
        }
        if follows {
            difference.verdict = Verdict::Consequence;
        }
        self.entries.push(Entry { sql: sql.to_owned(), answered, difference });
    }

    /// What a statement defines or writes is in doubt if it did not do what it does on PostgreSQL.
    fn remember(&mut self, sql: &str, difference: &Difference) {
        let Some(target) = statement::target(sql) else { return };
        if difference.verdict != Verdict::Same {
            self.doubtful.insert(target.plain());
        } else if target.verb == "drop" || (target.verb == "create" && difference.seen.starts_with("CREATE")) {
            self.doubtful.remove(&target.plain());
        }
    }

    fn names_something_doubtful(&self, sql: &str) -> bool {
        sql.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| self.doubtful.contains(word))
    }
}
