//! From a suspect to a run: a cycle that an analysis has found becomes a client with arguments, which is executed on the
//! weak store. What is found is a history inside the level and outside `ser`, checked again before it is given.
//!
//! In reading order:
//! - `model`, `begin`: what the solver has in mind, as calls and as rows to begin with
//! - `rows`: what is in the tables when runs begin, and rows for tables that have none
//! - `values`: what parameters may be
//! - `footprint`: what a call does when it is alone
//! - `arguments`, `score`: values for all parameters, the most promising ones first
//! - `client`: who calls in which session and order, and who is expected to see whom
//! - `search`: the runs
//! - `script`, `steps`: what was found as sessions of psql, call by call or statement by statement
//! - [`replay`]: these sessions on a real PostgreSQL

mod arguments;
mod begin;
mod client;
mod footprint;
mod model;
pub mod replay;
mod rows;
mod score;
mod script;
mod search;
mod steps;
mod values;

use std::time::Duration;

use skew_model::{History, Level};
use skew_sql::app::App;
use skew_sql::error::Result;
use skew_sql::explore::{Client, FINALLY};
use skew_sql::session::Database;

use self::arguments::Case;
use self::model::Start;
use self::search::Ground;
pub use self::steps::Executed;
use crate::robust::{Dependencies, Question};
use crate::smt::model::Model;
use crate::summary::Summary;
use crate::suspect::Suspect;

/// How much may be tried for one suspect.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many runs.
    pub runs: u64,
    /// How long: only so that nothing hangs, because where it ends depends on the machine.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { runs: 2_000, time: Duration::from_secs(2) }
    }
}

/// What came of a suspect.
#[derive(Clone, Debug)]
pub enum Confirmation {
    /// A run shows it.
    Found(Box<Found>),
    /// No run does.
    NotFound {
        /// Why, in words.
        reason: String,
        /// What was tried.
        tried: Tried,
    },
}

/// A client with a run that is not serializable.
#[derive(Clone, Debug)]
pub struct Found {
    /// The level.
    pub level: Level,
    /// Who calls what.
    pub client: Client,
    /// Which calls of the suspect are left in the client, by their number; the others are not needed.
    pub calls: Vec<usize>,
    /// Statements that have to come first, because the run needs other rows than the application has.
    pub setup: Vec<String>,
    /// The history: inside the level and not serializable.
    pub history: History,
    /// What its procedures executed, in order; empty if that is not known.
    pub executed: Vec<Executed>,
    /// The rows of all tables in the end: `account: (1, 50) (2, 0)`.
    pub state: Vec<String>,
    /// The run as sessions of psql, where it was made so.
    pub script: Option<String>,
    /// What was tried.
    pub tried: Tried,
}

/// How much was tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tried {
    /// How many runs of single calls.
    pub alone: u64,
    /// How many clients, each with other arguments.
    pub clients: u64,
    /// How many runs of clients.
    pub runs: u64,
}

/// Looks for a run that shows a suspect. The database holds the application and has a checkpoint; it is at the checkpoint
/// again afterwards.
pub fn confirm(
    database: &Database,
    app: &App,
    summary: &Summary,
    suspect: &Suspect,
    limits: Limits,
) -> Result<Confirmation> {
    let exact = exact_copy(database, suspect.level)?;
    let database = exact.as_ref().unwrap_or(database);
    search::confirm(&mut Ground::new(database, app, summary)?, suspect, limits)
}

/// The same for several suspects, each for a short time before any is tried for longer: for so long together, and until
/// one is found unless `all` are asked for. `None`: it was not tried.
pub fn confirm_all(
    database: &Database,
    app: &App,
    summary: &Summary,
    suspects: &[Suspect],
    each: Limits,
    together: Duration,
    all: bool,
) -> Result<Vec<Option<Confirmation>>> {
    let exact = suspects.first().map(|suspect| exact_copy(database, suspect.level)).transpose()?.flatten();
    let database = exact.as_ref().unwrap_or(database);
    search::confirm_all(&mut Ground::new(database, app, summary)?, suspects, each, together, all)
}

/// Runs what the solver has in mind for a suspect: its arguments, on its rows. `None`: no run shows anything.
pub fn confirm_model(
    database: &Database,
    app: &App,
    summary: &Summary,
    (suspect, model): (&Suspect, &Model),
    limits: Limits,
) -> Result<Option<Found>> {
    let exact = exact_copy(database, suspect.level)?;
    let database = exact.as_ref().unwrap_or(database);
    search::confirm_model(&Ground::new(database, app, summary)?, suspect, model, limits)
}

/// A database that reads as PostgreSQL does, if the level is PostgreSQL's and looks once: runs are made on that one.
fn exact_copy(database: &Database, level: Level) -> Result<Option<Database>> {
    client::has_snapshots(level).then(|| database.copy_as_postgres()).transpose()
}

/// What the solver has in mind for a suspect: the calls with arguments, and the rows that they find.
pub fn told(database: &Database, summary: &Summary, suspect: &Suspect, model: &Model) -> String {
    let (case, catalog) = (Case { summary, suspect }, database.catalog());
    Start::of(case, model, &catalog).told(case, &catalog)
}

impl Found {
    /// The client as `skew explore` reads it.
    pub fn client_text(&self) -> String {
        client::text(&self.client)
    }

    /// The queries with which sessions read what all calls have left, because nothing else shows who has written last.
    pub fn finally(&self) -> &[String] {
        let last = self.client.sessions.iter().find(|(name, _)| name == FINALLY);
        last.map_or(&[], |(_, queries)| queries)
    }

    /// The command that shows it again.
    pub fn command(&self, file: &str, question: &Question) -> String {
        let setup: String = self.setup.iter().map(|statement| format!(" --first {}", shell(statement))).collect();
        let marks: String =
            question.serializable.iter().map(|name| format!(" --mark {}", shell(&format!("{name}=ser")))).collect();
        let rows = if question.dependencies == Dependencies::Rows { " --granularity row" } else { "" };
        let level = match client::has_snapshots(self.level) {
            true => "'repeatable read'".to_owned(),
            false => client::run_at(self.level).to_string(),
        };
        format!("skew explore {file}{setup}{marks}{rows} --client {} --level {level}", shell(&self.client_text()))
    }

    /// The same on a PostgreSQL that holds the application: statements, each with the session that it goes to (`-- T1`), in
    /// their order. Only what `si` and `mvrc` allow can be told so; otherwise, why not.
    pub fn postgres_script(&self) -> std::result::Result<String, String> {
        match &self.script {
            Some(script) => Ok(script.clone()),
            None => script::script(self),
        }
    }
}

/// A word that a shell leaves as it is.
fn shell(word: &str) -> String {
    // Texts in SQL have single quotes.
    match word.contains('\'') && !word.contains(['"', '$', '`', '\\', '!']) {
        true => format!("\"{word}\""),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
