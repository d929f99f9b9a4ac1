//! Runs sqllogictest files against a database and says how many records it passes, refuses and gets wrong.

mod copy;
mod format;
mod judge;
mod reference;
mod report;
mod script;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::wire::{Answer, Connection, FreshDatabase, Url};
use format::Suite;
use judge::{Judgement, Verdict};
use reference::Reference;
use script::{Case, Expectation};

/// Run sqllogictest files against a database
#[derive(clap::Args)]
#[command(after_help = "\
A record is passed if the answer is what the file demands, or, where a real PostgreSQL differs from the file, what
PostgreSQL answers; not supported if it is refused with 0A000; failed otherwise. The order of rows counts only under
ORDER BY. Example:
  skew-bench slt --url postgres://127.0.0.1:5433/slt --reference bench/results/slt-postgresql.txt slt/sqlite")]
pub(crate) struct Arguments {
    /// The server; every file gets a new database
    #[arg(long)]
    url: Url,

    /// What the results call this server
    #[arg(long, default_value = "skew")]
    label: String,

    /// PostgreSQL's own answers, where they differ from the files
    #[arg(long)]
    reference: Option<PathBuf>,

    /// The server is a real PostgreSQL: write its answers to the file of --reference
    #[arg(long, requires = "reference")]
    record_reference: bool,

    /// Write failed records here, grouped by cause
    #[arg(long)]
    report: Option<PathBuf>,

    /// Write the table as Markdown here
    #[arg(long)]
    markdown: Option<PathBuf>,

    /// Where files lie that the tests' COPY statements read; the database gets their content over the connection
    #[arg(long)]
    data: Option<PathBuf>,

    /// Files at the same time
    #[arg(long, default_value_t = 2)]
    jobs: usize,

    /// A statement that takes longer has failed
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    patience: u64,

    /// Test files, or folders of them
    #[arg(required = true)]
    paths: Vec<PathBuf>,
}

/// One file's records with their judgements.
struct FileResult {
    name: String,
    cases: Vec<(Case, Judgement)>,
    took: Duration,
}

/// Runs the files and prints the summary.
pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> io::Result<()> {
    let mut reference = match &arguments.reference {
        Some(path) if !arguments.record_reference => Reference::load(path)?,
        _ => Reference::default(),
    };
    let results = run_files(arguments, &reference)?;
    if arguments.record_reference {
        for file in &results {
            let differing = file.cases.iter().filter(|(_, judgement)| judgement.verdict != Verdict::Passed);
            let answers = differing.map(|(case, judgement)| (case.place.clone(), judgement.seen.summary.clone()));
            reference.add_file(&file.name, answers.collect::<Vec<_>>());
        }
        if let Some(path) = &arguments.reference {
            reference.save(path)?;
        }
    }
    if let Some(path) = &arguments.report {
        report::write_failures(&results, path)?;
    }
    if let Some(path) = &arguments.markdown {
        report::write_markdown(&results, &reference, &arguments.label, path)?;
    }
    report::print(&results, &reference, &arguments.label, out)
}

fn run_files(arguments: &Arguments, reference: &Reference) -> io::Result<Vec<FileResult>> {
    let files = script::files(&arguments.paths)?;
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..arguments.jobs.max(1))
            .map(|_| {
                scope.spawn(|| -> io::Result<()> {
                    while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let result = run_file(arguments, reference, path)?;
                        eprintln!("{}", report::line(&result));
                        results.lock().expect("a worker that panics ends the run").push(result);
                    }
                    Ok(())
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("workers do not panic"))
    })?;
    let mut results = results.into_inner().expect("all workers have ended");
    results.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(results)
}

fn run_file(arguments: &Arguments, reference: &Reference, path: &Path) -> io::Result<FileResult> {
    let start = Instant::now();
    let name = name_in_suite(path);
    let suite = Suite::of(&name);
    let database = database_name(&name);
    let database = FreshDatabase::create(&arguments.url, &database)?;
    let mut session = Session {
        url: database.url().clone(),
        patience: Duration::from_secs(arguments.patience),
        data: arguments.data.as_deref(),
        connection: None,
    };
    let mut refused = false;
    let mut cases = Vec::new();
    for case in script::cases(path, &name)? {
        let answer = session.run(&case.sql);
        let judgement = judge::judge(&case, suite, &answer, reference.own(&case.place), refused);
        refused |= judgement.verdict == Verdict::NotSupported && !matches!(case.expectation, Expectation::Rows(_));
        cases.push((case, judgement));
    }
    drop(session);
    Ok(FileResult { name, cases, took: start.elapsed() })
}

/// `sqlite/select1.test`, wherever the suites lie.
fn name_in_suite(path: &Path) -> String {
    let parts: Vec<String> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let start = parts.iter().position(|part| ["sqlite", "risinglight", "datafusion"].contains(&part.as_str()));
    parts[start.unwrap_or(parts.len() - 1)..].join("/")
}

fn database_name(file: &str) -> String {
    let plain: String = file.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let plain = &plain[plain.len().saturating_sub(40)..];
    format!("slt_{}_{plain}", std::process::id()).to_ascii_lowercase()
}

/// A session that is opened again when it breaks.
struct Session<'a> {
    url: Url,
    patience: Duration,
    data: Option<&'a Path>,
    connection: Option<Connection>,
}

impl Session<'_> {
    fn run(&mut self, sql: &str) -> Answer {
        let data = self.data;
        let connection = match self.connection() {
            Ok(connection) => connection,
            Err(error) => return Answer { lost: Some(error.to_string()), ..Answer::default() },
        };
        let answer = match data.and_then(|folder| copy::over_the_wire(sql, folder)) {
            Some((sql, content)) => connection.copy_in(&sql, content),
            None => connection.simple(sql),
        };
        if answer.lost.is_some() {
            // It may still be at work on the statement.
            let _ = connection.cancel();
            self.connection = None;
        }
        answer
    }

    fn connection(&mut self) -> io::Result<&mut Connection> {
        if self.connection.is_none() {
            let connection = Connection::open(&self.url)?;
            connection.limit(self.patience)?;
            self.connection = Some(connection);
        }
        Ok(self.connection.as_mut().expect("it was just opened"))
    }
}
