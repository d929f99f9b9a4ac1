//! The runs: clients with arguments, until one shows a history inside the level and outside `ser`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use skew_check::{Checker, Options, check};
use skew_model::{History, Level, Scope, SqlLevel};
use skew_sql::app::App;
use skew_sql::catalog::Oid;
use skew_sql::error::Result;
use skew_sql::explore::{FINALLY, SnapshotRun, Watch, record, run, run_with_snapshots, snapshot_orders};
use skew_sql::session::clock::STEADY;
use skew_sql::session::guide::Guide;
use skew_sql::session::{Client, Database};

use super::arguments::{Calls, Case, Clients, clients};
use super::client::{Arrangement, has_snapshots, run_at};
use super::footprint::Footprints;
use super::model::Start;
use super::rows::{self, Rows};
use super::steps::{executed, is_same};
use super::{Confirmation, Found, Limits, Tried};
use crate::smt::model::Model;
use crate::summary::{AccessKind, Outcome, Summary};
use crate::suspect::Suspect;

/// So many runs of each client come before any client gets more.
const FIRST_RUNS: u64 = 24;
/// So many clients of a suspect are tried before other suspects have their turn.
const FIRST_CLIENTS: usize = 6;
/// So many orders of snapshots and commits of one client are tried.
const MAX_SNAPSHOT_ORDERS: usize = 400;
/// So many runs may show that a call is not needed.
const RUNS_WITHOUT: u64 = 64;

/// Where suspects are tried: what does not change from one to the next.
pub(super) struct Ground<'a> {
    database: &'a Database,
    app: &'a App,
    summary: &'a Summary,
    rows: Rows,
    footprints: Footprints,
}

/// One suspect's search, which can be left and gone on with.
pub(super) struct Search<'a> {
    case: Case<'a>,
    limits: Limits,
    /// How long it took before it was left.
    spent: Duration,
    started: Instant,
    tried: Tried,
    clients: Option<Clients>,
    /// What was not tried yet, the most promising first.
    fresh: VecDeque<Attempt>,
    /// What was tried for a while.
    open: VecDeque<Attempt>,
    /// The last run with snapshots that was not serializable.
    shown: Option<SnapshotRun>,
}

/// A client whose runs are made one after the other.
struct Attempt {
    arrangement: Arrangement,
    /// The client's number among those that are worth running.
    client: usize,
    guide: Arc<Mutex<Guide>>,
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

pub(super) fn confirm(ground: &mut Ground<'_>, suspect: &Suspect, limits: Limits) -> Result<Confirmation> {
    let summary = ground.summary;
    let mut search = Search::new(Case { summary, suspect }, limits);
    let answer = search.look(ground)?;
    ground.leave()?;
    Ok(answer)
}

/// All of them, each for a short time before any is tried for longer. `None`: not tried.
pub(super) fn confirm_all(
    ground: &mut Ground<'_>,
    suspects: &[Suspect],
    each: Limits,
    together: Duration,
    all: bool,
) -> Result<Vec<Option<Confirmation>>> {
    let (summary, started) = (ground.summary, Instant::now());
    let mut answers: Vec<Option<Confirmation>> = vec![None; suspects.len()];
    let mut searches: Vec<Search> =
        suspects.iter().map(|suspect| Search::new(Case { summary, suspect }, each)).collect();
    let is_found = |answer: &Option<Confirmation>| matches!(answer, Some(Confirmation::Found(_)));
    for is_first in [true, false] {
        for (search, answer) in searches.iter_mut().zip(&mut answers) {
            let left = together.saturating_sub(started.elapsed());
            if left.is_zero() || is_found(answer) {
                continue;
            }
            search.limits.time = each.time.min(search.spent + left);
            *answer = Some(if is_first { search.first_look(ground)? } else { search.look(ground)? });
            if is_found(answer) && !all {
                ground.leave()?;
                return Ok(answers);
            }
        }
    }
    ground.leave()?;
    Ok(answers)
}

/// Runs a model: its client, and others that are worth running on the rows that it begins with.
pub(super) fn confirm_model(
    ground: &Ground<'_>,
    suspect: &Suspect,
    model: &Model,
    limits: Limits,
) -> Result<Option<Found>> {
    let case = Case { summary: ground.summary, suspect };
    let start = Start::of(case, model, &ground.database.catalog());
    let statements = start.statements(&ground.rows, case, &ground.database.catalog());
    let (database, mut setup) = ground.copy_with(&statements)?;
    let filled = Ground::new(&database, ground.app, ground.summary)?;
    let others = rows::made_up(&needed_tables(case), &filled.rows, &case.summary.facts, &database.catalog());
    let (database, others) = filled.copy_with(&others)?;
    setup.extend(others);
    let mut filled = Ground::new(&database, ground.app, ground.summary)?;
    let mut search = Search::new(case, limits);
    search.go_on(&mut filled);
    search.take(Clients { list: vec![start.calls], unmet: None });
    let mut found = search.try_fresh(&mut filled, usize::MAX)?;
    if found.is_none() {
        search.start_again();
        search.prepare(&mut filled)?;
        found = search.try_fresh(&mut filled, FIRST_CLIENTS)?;
    }
    Ok(match found {
        Some(Confirmation::Found(found)) => {
            let script = with_setup(found.script.clone(), &setup);
            Some(Found { setup, script, ..*found })
        }
        _ => None,
    })
}

/// A script with the statements that have to come first.
fn with_setup(script: Option<String>, setup: &[String]) -> Option<String> {
    let first: String = setup.iter().map(|statement| format!("{statement}; -- T1\n")).collect();
    script.map(|script| first + &script)
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

impl<'a> Ground<'a> {
    pub(super) fn new(database: &'a Database, app: &'a App, summary: &'a Summary) -> Result<Ground<'a>> {
        let rows = Rows::read(database, summary)?;
        let footprints = Footprints::new(Arc::new(Watch::start(Duration::ZERO)));
        Ok(Ground { database, app, summary, rows, footprints })
    }

    /// Another database with what these statements do, and those of them that were not refused: a constraint may refuse
    /// what is made up.
    fn copy_with(&self, statements: &[String]) -> Result<(Database, Vec<String>)> {
        let database = self.database.copy()?;
        database.begin_guided_run(Level::Ser, Arc::new(Mutex::default()))?;
        let client = Client { clock: Some(STEADY), ..Client::new("postgres", "robust") };
        let mut connection = database.connect(client);
        let is_done = |statement: &&String| rows::query(&mut connection, statement).is_ok();
        let done = statements.iter().filter(is_done).cloned().collect();
        drop(connection);
        database.checkpoint()?;
        Ok((database, done))
    }

    /// The database is at its checkpoint again.
    fn leave(&self) -> Result<()> {
        self.database.begin_guided_run(Level::Ser, Arc::new(Mutex::default()))
    }
}

impl<'a> Search<'a> {
    fn new(case: Case<'a>, limits: Limits) -> Search<'a> {
        Search {
            case,
            limits,
            spent: Duration::ZERO,
            started: Instant::now(),
            tried: Tried::default(),
            clients: None,
            fresh: VecDeque::new(),
            open: VecDeque::new(),
            shown: None,
        }
    }

    /// Tries what promises most.
    fn first_look(&mut self, ground: &mut Ground<'_>) -> Result<Confirmation> {
        self.go_on(ground);
        self.prepare(ground)?;
        let answer = match self.try_fresh(ground, FIRST_CLIENTS)? {
            Some(found) => found,
            None => self.not_found(format!("only {} runs were tried", self.tried.runs)),
        };
        self.spent += self.started.elapsed();
        Ok(answer)
    }

    /// Tries everything, within the limits.
    fn look(&mut self, ground: &mut Ground<'_>) -> Result<Confirmation> {
        self.go_on(ground);
        let mut answer = self.with_rows(ground)?;
        if matches!(answer, Confirmation::NotFound { .. }) {
            let needed = needed_tables(self.case);
            let setup = rows::made_up(&needed, &ground.rows, &ground.summary.facts, &ground.database.catalog());
            if !setup.is_empty() {
                answer = self.with_setup(ground, &setup, answer)?;
            }
        }
        Ok(answer)
    }

    fn go_on(&mut self, ground: &mut Ground<'_>) {
        self.started = Instant::now();
        ground.footprints.watch = Arc::new(Watch::start(self.limits.time.saturating_sub(self.spent)));
    }

    /// Chooses arguments.
    fn prepare(&mut self, ground: &mut Ground<'_>) -> Result<()> {
        if self.clients.is_some() {
            return Ok(());
        }
        let before = ground.footprints.runs;
        let clients = clients(self.case, &ground.rows, ground.database, ground.app, &mut ground.footprints)?;
        self.tried.alone += ground.footprints.runs - before;
        self.take(clients);
        Ok(())
    }

    fn take(&mut self, clients: Clients) {
        let arrangements = Arrangement::all(self.case.suspect);
        let readers: Vec<Arrangement> = arrangements.iter().filter_map(|one| one.with_readers(self.case)).collect();
        // What is left is read only when the most promising clients have shown nothing without.
        let (first, rest) = (0..clients.list.len().min(FIRST_CLIENTS), FIRST_CLIENTS..clients.list.len());
        for (some, range) in
            [(&arrangements, first.clone()), (&readers, first), (&arrangements, rest.clone()), (&readers, rest)]
        {
            for arrangement in some {
                self.fresh.extend(range.clone().map(|client| Attempt {
                    guide: Arc::new(Mutex::new(arrangement.guide(self.case))),
                    arrangement: arrangement.clone(),
                    client,
                }));
            }
        }
        self.clients = Some(clients);
    }

    /// Looks for a run that begins with the rows that are there.
    fn with_rows(&mut self, ground: &mut Ground<'_>) -> Result<Confirmation> {
        self.prepare(ground)?;
        if let Some(found) = self.try_fresh(ground, usize::MAX)? {
            return Ok(found);
        }
        while self.limit().is_none()
            && let Some(attempt) = self.open.pop_front()
        {
            match self.runs(ground, &attempt, self.limits.runs)? {
                Seen::Hit(history) => return self.found(ground, attempt, *history),
                Seen::Nothing => {}
                Seen::More => self.open.push_back(attempt),
            }
        }
        let clients = self.clients.as_ref();
        let unmet = clients.and_then(|clients| clients.unmet.as_ref());
        let unmet = unmet.map_or_else(String::new, |unmet| format!("; {unmet}"));
        if let Some(limit) = self.limit() {
            return Ok(self.not_found(format!("none of the runs that were tried is outside ser, up to {limit}{unmet}")));
        }
        let (count, level) = (clients.map_or(0, |clients| clients.list.len()), self.case.suspect.level);
        let choices = if count == 1 { "choice" } else { "choices" };
        Ok(self.not_found(format!(
            "with {count} {choices} of arguments, every run of these calls at {level} is serializable{unmet}"
        )))
    }

    /// Tries so many clients that were not tried yet, each for a while.
    fn try_fresh(&mut self, ground: &mut Ground<'_>, most: usize) -> Result<Option<Confirmation>> {
        for _ in 0..most {
            if self.limit().is_some() {
                break;
            }
            let Some(attempt) = self.fresh.pop_front() else { break };
            self.tried.clients += 1;
            match self.runs(ground, &attempt, FIRST_RUNS)? {
                Seen::Hit(history) => return self.found(ground, attempt, *history).map(Some),
                Seen::Nothing => {}
                Seen::More => self.open.push_back(attempt),
            }
        }
        Ok(None)
    }

    /// The same with rows for tables that have none.
    fn with_setup(&mut self, ground: &Ground<'_>, setup: &[String], without: Confirmation) -> Result<Confirmation> {
        let (database, done) = ground.copy_with(setup)?;
        if done.is_empty() {
            return Ok(without);
        }
        let mut filled = Ground::new(&database, ground.app, ground.summary)?;
        filled.footprints.watch = Arc::clone(&ground.footprints.watch);
        self.start_again();
        let mut answer = self.with_rows(&mut filled)?;
        if let Confirmation::Found(found) = &mut answer {
            found.setup = done;
        }
        Ok(answer)
    }

    fn start_again(&mut self) {
        self.clients = None;
        self.fresh.clear();
        self.open.clear();
    }

    /// Runs a client until a run shows something.
    fn runs(&mut self, ground: &Ground<'_>, attempt: &Attempt, most: u64) -> Result<Seen> {
        let level = run_at(self.case.suspect.level);
        let client = attempt.arrangement.client(self.calls(attempt));
        if has_snapshots(self.case.suspect.level) {
            return self.runs_with_snapshots(ground, &client);
        }
        for _ in 0..most {
            if self.limit().is_some() {
                return Ok(Seen::More);
            }
            self.tried.runs += 1;
            let ran = run(ground.database, ground.app, &client, level, &attempt.guide, &ground.footprints.watch)?;
            if !ran.was_refused && self.is_outside_ser(ground.app, &ran.history) {
                return Ok(Seen::Hit(Box::new(ran.history)));
            }
            if !attempt.guide.lock().unwrap_or_else(PoisonError::into_inner).next_run() {
                return Ok(Seen::Nothing);
            }
        }
        Ok(Seen::More)
    }

    /// Runs a client with all snapshots that its calls can take at PostgreSQL's REPEATABLE READ.
    fn runs_with_snapshots(&mut self, ground: &Ground<'_>, client: &skew_sql::explore::Client) -> Result<Seen> {
        let calls: Vec<usize> =
            client.sessions.iter().filter(|(name, _)| name != FINALLY).map(|(_, calls)| calls.len()).collect();
        for steps in snapshot_orders(&calls, MAX_SNAPSHOT_ORDERS) {
            if self.limit().is_some() {
                return Ok(Seen::More);
            }
            self.tried.runs += 1;
            let ran = run_with_snapshots(ground.database, ground.app, client, &steps, SqlLevel::RepeatableRead)?;
            if let Some(ran) = ran.filter(|ran| check(&ran.history, Level::Ser).violated()) {
                let history = Box::new(ran.history.clone());
                self.shown = Some(ran);
                return Ok(Seen::Hit(history));
            }
        }
        Ok(Seen::Nothing)
    }

    fn calls(&self, attempt: &Attempt) -> &Calls {
        let clients = self.clients.as_ref().expect("attempts are made of clients");
        &clients.list[attempt.client]
    }

    /// Whether a history is not serializable, and inside the level: the store promises that, and it is checked again.
    fn is_outside_ser(&self, app: &App, history: &History) -> bool {
        let checker = Checker::new(history, Options { verify: true, ..Options::default() });
        if checker.holds(Scope::Level(Level::Ser)) != Some(false) {
            return false;
        }
        let has_levels = app.programs.iter().any(|program| program.level.is_some());
        let inside = if has_levels { Scope::Declared } else { Scope::Level(self.case.suspect.level) };
        checker.holds(inside) == Some(true)
    }

    /// Leaves out the calls that are not needed.
    fn found(&mut self, ground: &Ground<'_>, attempt: Attempt, mut history: History) -> Result<Confirmation> {
        let Attempt { mut arrangement, client, mut guide } = attempt;
        for call in arrangement.calls() {
            let fewer = arrangement.without(call);
            if fewer.calls().len() < 2 {
                break;
            }
            let other = Arc::new(Mutex::new(fewer.guide(self.case)));
            let shorter = Attempt { arrangement: fewer, client, guide: other };
            if let Seen::Hit(shown) = self.runs(ground, &shorter, RUNS_WITHOUT)? {
                (arrangement, history, guide) = (shorter.arrangement, *shown, shorter.guide);
            }
        }
        let calls = &self.clients.as_ref().expect("attempts are made of clients").list[client];
        let named = arrangement.client(calls);
        if let Some(SnapshotRun { history, state, statements }) = self.shown.take() {
            let line = |(session, text): &(usize, String)| format!("{text}; -- T{}\n", session + 1);
            return Ok(Confirmation::Found(Box::new(Found {
                level: self.case.suspect.level,
                client: named,
                calls: arrangement.calls(),
                setup: Vec::new(),
                history,
                executed: Vec::new(),
                state,
                script: Some(statements.iter().map(line).collect()),
                tried: self.tried,
            })));
        }
        guide.lock().unwrap_or_else(PoisonError::into_inner).same_run();
        let (level, watch) = (run_at(self.case.suspect.level), &ground.footprints.watch);
        let (recording, state) = record(ground.database, ground.app, &named, level, &guide, watch)?;
        let (executed, state) = match is_same(&history, &recording.history) {
            true => (executed(&recording), state),
            false => Default::default(),
        };
        Ok(Confirmation::Found(Box::new(Found {
            level: self.case.suspect.level,
            client: named,
            calls: arrangement.calls(),
            setup: Vec::new(),
            history,
            executed,
            state,
            script: None,
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
        (self.spent + self.started.elapsed() > self.limits.time).then(|| format!("{} ms", self.limits.time.as_millis()))
    }
}
