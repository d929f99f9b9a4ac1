//! The runs: clients with arguments, until one shows a history inside the level and outside `ser`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use skew_check::{Checker, Options};
use skew_model::{History, Level, Scope};
use skew_sql::app::App;
use skew_sql::catalog::Oid;
use skew_sql::error::Result;
use skew_sql::explore::{Watch, run};
use skew_sql::session::{Client, Database};
use skew_sql::types::quote;

use super::arguments::{Calls, Case, clients};
use super::client::Arrangement;
use super::footprint::Footprints;
use super::rows::{self, Rows};
use super::{Confirmation, Found, Limits, Tried};
use crate::summary::{AccessKind, Outcome, Summary};
use crate::suspect::Suspect;

/// So many runs of each client come before any client gets more.
const FIRST_RUNS: u64 = 24;
/// So many runs may show that a call is not needed.
const RUNS_WITHOUT: u64 = 64;

/// One suspect's search.
struct Search<'a> {
    database: &'a Database,
    app: &'a App,
    case: Case<'a>,
    limits: Limits,
    started: Instant,
    footprints: Footprints,
    tried: Tried,
}

/// What the runs of a client came to.
enum Seen {
    /// A history that is not serializable.
    Hit(Box<History>),
    /// None is.
    Nothing,
    /// There are more runs.
    More,
}

pub(super) fn confirm(
    database: &Database,
    app: &App,
    summary: &Summary,
    suspect: &Suspect,
    limits: Limits,
) -> Result<Confirmation> {
    let case = Case { summary, suspect };
    let watch = Arc::new(Watch::start(limits.time));
    let (footprints, tried) = (Footprints::new(watch), Tried::default());
    let mut search = Search { database, app, case, limits, started: Instant::now(), footprints, tried };
    let rows = Rows::read(database, summary)?;
    let mut answer = search.with_rows(&rows)?;
    if matches!(answer, Confirmation::NotFound { .. }) {
        let needed = needed_tables(case);
        let setup = rows::made_up(&needed, &rows, &summary.facts, &database.catalog());
        if !setup.is_empty() {
            answer = search.with_setup(&setup, answer)?;
        }
    }
    database.begin_guided_run(suspect.level, Arc::new(Mutex::default()))?;
    Ok(answer)
}

/// The tables in which the suspect's calls look for rows.
fn needed_tables(case: Case<'_>) -> Vec<Oid> {
    let accesses = (0..case.suspect.calls.len()).flat_map(|call| &case.path(call).accesses);
    let looking = accesses.filter(|access| access.kind != AccessKind::Insert && access.outcome != Outcome::Missing);
    let mut tables: Vec<Oid> = looking.map(|access| access.table).collect();
    tables.sort();
    tables.dedup();
    tables
}

impl Search<'_> {
    /// Looks for a run that begins with these rows.
    fn with_rows(&mut self, rows: &Rows) -> Result<Confirmation> {
        let clients = clients(self.case, rows, self.database, self.app, &mut self.footprints)?;
        self.tried.alone = self.footprints.runs;
        let unmet = clients.unmet.map_or_else(String::new, |unmet| format!("; {unmet}"));
        let count = clients.list.len();
        let mut open = Vec::new();
        for arrangement in Arrangement::all(self.case.suspect) {
            for calls in &clients.list {
                self.tried.clients += 1;
                match self.runs(&arrangement, calls, FIRST_RUNS)? {
                    Seen::Hit(history) => return self.found(arrangement, calls, *history),
                    Seen::Nothing => {}
                    Seen::More => open.push((arrangement.clone(), calls)),
                }
                if let Some(limit) = self.limit() {
                    return Ok(self
                        .not_found(format!("none of the runs that were tried is outside ser, up to {limit}{unmet}")));
                }
            }
        }
        for (arrangement, calls) in open {
            match self.runs(&arrangement, calls, self.limits.runs)? {
                Seen::Hit(history) => return self.found(arrangement, calls, *history),
                Seen::Nothing => {}
                Seen::More => {
                    let limit = self.limit().unwrap_or_else(|| format!("{} runs", self.tried.runs));
                    return Ok(self
                        .not_found(format!("none of the runs that were tried is outside ser, up to {limit}{unmet}")));
                }
            }
        }
        let level = self.case.suspect.level;
        let choices = if count == 1 { "choice" } else { "choices" };
        Ok(self.not_found(format!("with {count} {choices} of arguments, every run at {level} is serializable{unmet}")))
    }

    /// The same with rows for tables that have none; the tables are empty again afterwards.
    fn with_setup(&mut self, setup: &[(Oid, String)], without: Confirmation) -> Result<Confirmation> {
        self.database.begin_guided_run(Level::Ser, Arc::new(Mutex::default()))?;
        let mut connection = self.database.connect(Client::new("postgres", "robust"));
        let mut done = Vec::new();
        for (table, statement) in setup {
            // A constraint may refuse what is made up.
            if rows::query(&mut connection, statement).is_ok() {
                done.push((*table, statement.clone()));
            }
        }
        drop(connection);
        if done.is_empty() {
            return Ok(without);
        }
        self.database.checkpoint()?;
        self.footprints.forget();
        let rows = Rows::read(self.database, self.case.summary)?;
        let answer = self.with_rows(&rows);
        self.database.begin_guided_run(Level::Ser, Arc::new(Mutex::default()))?;
        let mut connection = self.database.connect(Client::new("postgres", "robust"));
        let mut tables: Vec<Oid> = done.iter().rev().map(|(table, _)| *table).collect();
        tables.dedup();
        for table in tables {
            let name = self.case.summary.facts.table(table).map_or("", |table| &table.name);
            rows::query(&mut connection, &format!("DELETE FROM {}", quote::identifier(name)))?;
        }
        drop(connection);
        self.database.checkpoint()?;
        let mut answer = answer?;
        if let Confirmation::Found(found) = &mut answer {
            found.setup = done.into_iter().map(|(_, statement)| statement).collect();
        }
        Ok(answer)
    }

    /// Runs a client until a run shows something.
    fn runs(&mut self, arrangement: &Arrangement, calls: &Calls, most: u64) -> Result<Seen> {
        let level = self.case.suspect.level;
        let client = arrangement.client(calls);
        let guide = Arc::new(Mutex::new(arrangement.guide(self.case.suspect)));
        for _ in 0..most {
            if self.limit().is_some() {
                return Ok(Seen::More);
            }
            self.tried.runs += 1;
            let ran = run(self.database, self.app, &client, level, &guide, &self.footprints.watch)?;
            if !ran.was_refused && self.is_outside_ser(&ran.history) {
                return Ok(Seen::Hit(Box::new(ran.history)));
            }
            if !guide.lock().unwrap_or_else(PoisonError::into_inner).next_run() {
                return Ok(Seen::Nothing);
            }
        }
        Ok(Seen::More)
    }

    /// Whether a history is not serializable, and inside the level: the store promises that, and it is checked again.
    fn is_outside_ser(&self, history: &History) -> bool {
        let checker = Checker::new(history, Options { verify: true, ..Options::default() });
        if checker.holds(Scope::Level(Level::Ser)) != Some(false) {
            return false;
        }
        let has_levels = self.app.programs.iter().any(|program| program.level.is_some());
        let inside = if has_levels { Scope::Declared } else { Scope::Level(self.case.suspect.level) };
        checker.holds(inside) == Some(true)
    }

    /// Leaves out the calls that are not needed.
    fn found(&mut self, mut arrangement: Arrangement, calls: &Calls, mut history: History) -> Result<Confirmation> {
        for call in arrangement.calls() {
            let fewer = arrangement.without(call);
            if fewer.calls().len() < 2 {
                break;
            }
            if let Seen::Hit(shorter) = self.runs(&fewer, calls, RUNS_WITHOUT)? {
                (arrangement, history) = (fewer, *shorter);
            }
        }
        Ok(Confirmation::Found(Box::new(Found {
            level: self.case.suspect.level,
            client: arrangement.client(calls),
            calls: arrangement.calls(),
            setup: Vec::new(),
            history,
            tried: self.tried,
        })))
    }

    fn not_found(&self, reason: String) -> Confirmation {
        Confirmation::NotFound { reason, tried: self.tried }
    }

    /// The limit that was hit, in words.
    fn limit(&self) -> Option<String> {
        if self.tried.runs >= self.limits.runs {
            return Some(format!("{} runs", self.limits.runs));
        }
        (self.started.elapsed() > self.limits.time).then(|| format!("{} ms", self.limits.time.as_millis()))
    }
}
