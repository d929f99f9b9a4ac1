//! A small client of an application in every way that its levels allow.
//!
//! Every history of a level has a commit order in which whatever a transaction reads is committed before it. So it is
//! enough to run transactions one after the other in every order of them, and to let every read return every version
//! that its level allows: nothing of the level is lost, and nobody ever waits. (The store is tested to be complete in
//! this way.)

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use skew_model::{History, Level, OpId, OpKind, Status};
use skew_store::Reads;

use crate::app::App;
use crate::error::{Result, SqlError};
use crate::session::clock::STEADY;
use crate::session::guide::Guide;
use crate::session::recording::Recording;
use crate::session::{Cancel, Client as Connected, Connection, Database, Format, Outcome};
use crate::types::Datum;

/// What sessions call: `alice: withdraw(1, 50); deposit(2, 10) | bob: withdraw(1, 80)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Client {
    /// The sessions with their calls, in order.
    pub sessions: Vec<(String, Vec<String>)>,
}

/// Not a session: its calls are made by every session when all other calls are done, and see everything that is left. A
/// history has no last state, but it says what is read of it, and that this comes after the calls of a session.
pub const FINALLY: &str = "finally";

/// How much may be tried.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many runs.
    pub runs: u64,
    /// How long.
    pub time: Duration,
}

/// What a client can do at a level.
#[derive(Clone, Debug)]
pub struct Explored {
    /// How many different histories there are.
    pub histories: usize,
    /// What comes out of them.
    pub behaviours: Vec<Behaviour>,
    /// The histories, one of each kind.
    pub all: Vec<History>,
    /// How many runs it took.
    pub runs: u64,
    /// How many runs had a transaction that the level refuses. Their histories are not counted: the application would try
    /// again, which is another client.
    pub refused: u64,
    /// The limit that was hit, in words.
    pub limit: Option<String>,
}

/// What came out of runs: what the calls were answered and what is in the tables.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// The calls that failed, with their errors.
    pub failed: Vec<String>,
    /// The rows of all tables, as text.
    pub state: Vec<String>,
    /// The invariants that do not hold.
    pub broken: Vec<String>,
    /// How many histories lead to it.
    pub histories: usize,
    /// One of them.
    pub example: History,
}

impl Behaviour {
    /// Whether the same came out.
    pub fn is_like(&self, other: &Behaviour) -> bool {
        (&self.failed, &self.state, &self.broken) == (&other.failed, &other.state, &other.broken)
    }
}

impl Client {
    /// Reads a client.
    pub fn parse(text: &str) -> std::result::Result<Client, String> {
        let mut sessions = Vec::new();
        for (at, part) in text.split('|').enumerate() {
            let (name, calls) = match part.split_once(':') {
                Some((name, calls)) if name.trim().chars().all(|c| c.is_alphanumeric() || c == '_') => {
                    (name.trim().to_owned(), calls)
                }
                _ => (format!("s{}", at + 1), part),
            };
            let calls: Vec<String> =
                calls.split(';').map(str::trim).filter(|call| !call.is_empty()).map(str::to_owned).collect();
            if calls.is_empty() {
                return Err(format!("session {name} calls nothing; a client reads `alice: f(1); g(2) | bob: f(1)`"));
            }
            if sessions.iter().any(|(other, _)| *other == name) {
                return Err(format!("there are two sessions called {name}"));
            }
            sessions.push((name, calls));
        }
        if sessions.iter().all(|(name, _)| name == FINALLY) {
            return Err(format!(
                "nobody calls anything before `{FINALLY}`; a client reads `f(1) | g(2) | finally: h()`"
            ));
        }
        Ok(Client { sessions })
    }
}

/// Runs a client in every way that a level allows. The database holds the application and has a checkpoint.
pub fn explore(database: &Database, app: &App, client: &Client, level: Level, limits: Limits) -> Result<Explored> {
    let started = Instant::now();
    let guide: Arc<Mutex<Guide>> = Arc::default();
    let watch = Watch::start(limits.time);
    let (mut found, mut all) = (BTreeSet::new(), Vec::new());
    let mut behaviours: BTreeMap<String, Behaviour> = BTreeMap::new();
    let (mut runs, mut refused, mut limit) = (0, 0, None);
    loop {
        if runs >= limits.runs {
            limit = Some(format!("{} runs", limits.runs));
            break;
        }
        if started.elapsed() > limits.time {
            limit = Some(format!("{} s", limits.time.as_secs()));
            break;
        }
        runs += 1;
        let run = one(database, app, client, level, &guide, &watch)?;
        if watch.is_over() {
            limit = Some(format!("{} s", limits.time.as_secs()));
            break;
        }
        refused += u64::from(run.was_refused);
        if !run.was_refused && found.insert(canonical(&run.history)) {
            let behaviour = behaviours.entry(run.name()).or_insert_with(|| Behaviour {
                failed: run.failed.clone(),
                state: run.state.clone(),
                broken: run.broken.clone(),
                histories: 0,
                example: run.history.clone(),
            });
            behaviour.histories += 1;
            all.push(run.history);
        }
        if !guide.lock().unwrap_or_else(PoisonError::into_inner).next_run() {
            break;
        }
    }
    let behaviours = behaviours.into_values().collect();
    Ok(Explored { histories: found.len(), behaviours, all, runs, refused, limit })
}

/// What the calls of a client came to in one run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// What transactions did.
    pub history: History,
    /// The calls that failed, with their errors.
    pub failed: Vec<String>,
    /// Whether a level refused one of them.
    pub was_refused: bool,
}

struct Run {
    history: History,
    failed: Vec<String>,
    state: Vec<String>,
    broken: Vec<String>,
    was_refused: bool,
}

impl Run {
    fn name(&self) -> String {
        format!("{:?} {:?} {:?}", self.broken, self.failed, self.state)
    }
}

fn one(
    database: &Database,
    app: &App,
    client: &Client,
    level: Level,
    guide: &Arc<Mutex<Guide>>,
    watch: &Watch,
) -> Result<Run> {
    let Ran { history, failed, was_refused } = run(database, app, client, level, guide, watch)?;
    let mut check = checking(database, client);
    let mut broken = Vec::new();
    for invariant in &app.invariants {
        if rows(&mut check, &format!("SELECT {invariant}"))? != ["t"] {
            broken.push(invariant.clone());
        }
    }
    let state = state(database, &mut check)?;
    Ok(Run { history, failed, state, broken, was_refused })
}

/// A connection that sees what all transactions have left; where that has been read, the same.
fn checking(database: &Database, client: &Client) -> Connection {
    let clock = Some(begins(client.sessions.len()));
    let mut check = database.connect(Connected { clock, ..Connected::new("check", "explore") });
    let was_read = client.sessions.iter().any(|(name, _)| name == FINALLY);
    check.session.reads = if was_read { Reads::Newest } else { Reads::Settled };
    check
}

/// When the transactions of a session begin: in each run at the same time, no two of them at once.
fn begins(session: usize) -> i64 {
    const AN_HOUR: i64 = 3_600_000_000;
    STEADY + AN_HOUR + i64::try_from(session).unwrap_or(i64::MAX / 2) % AN_HOUR
}

/// Goes back to the checkpoint and runs the calls of a client, one after the other: in which order, and what reads return,
/// the guide says.
pub fn run(
    database: &Database,
    app: &App,
    client: &Client,
    level: Level,
    guide: &Arc<Mutex<Guide>>,
    watch: &Watch,
) -> Result<Ran> {
    database.begin_guided_run(level, Arc::clone(guide))?;
    calls(database, app, client, level, guide, watch)
}

/// The same, with what procedures executed and the rows of all tables in the end.
pub fn record(
    database: &Database,
    app: &App,
    client: &Client,
    level: Level,
    guide: &Arc<Mutex<Guide>>,
    watch: &Watch,
) -> Result<(Recording, Vec<String>)> {
    database.begin_guided_run(level, Arc::clone(guide))?;
    database.keep_statements();
    calls(database, app, client, level, guide, watch)?;
    let recording = database.recording();
    let mut check = checking(database, client);
    let state = state(database, &mut check)?;
    Ok((recording, state))
}

fn calls(
    database: &Database,
    app: &App,
    client: &Client,
    level: Level,
    guide: &Arc<Mutex<Guide>>,
    watch: &Watch,
) -> Result<Ran> {
    let mut first = 0;
    let (finally, calling): (Vec<_>, Vec<_>) = client.sessions.iter().partition(|(name, _)| name == FINALLY);
    let mut sessions: Vec<Session> = calling
        .into_iter()
        .enumerate()
        .map(|(at, (name, calls))| {
            let (label, clock) = (Some(name.clone()), Some(begins(at)));
            let client = Connected { label, clock, ..Connected::new("postgres", "explore") };
            let session = Session { name, connection: database.connect(client), calls: calls.as_slice(), next: first };
            first += calls.len();
            session
        })
        .collect();
    watch.over(sessions.iter().map(|session| session.connection.canceller()).collect());
    let (mut failed, mut was_refused) = (Vec::new(), false);
    loop {
        let ready: Vec<usize> = (0..sessions.len()).filter(|&at| !sessions[at].calls.is_empty()).collect();
        if ready.is_empty() {
            break;
        }
        let session = {
            let mut guide = guide.lock().unwrap_or_else(PoisonError::into_inner);
            let next = if ready.len() == 1 { ready[0] } else { ready[guide.pick(ready.len())] };
            guide.turn_of(sessions[next].next);
            &mut sessions[next]
        };
        let (call, rest) = session.calls.split_first().expect("who is ready has a call");
        (session.calls, session.next) = (rest, session.next + 1);
        database.set_level(app.called(call).and_then(|program| program.level).unwrap_or(level));
        if let Err(error) = session.call(app, call) {
            was_refused |= matches!(error.fields().code.as_str(), "40001" | "40P01");
            failed.push(failure(session.name, call, &error));
        }
    }
    let last: Vec<&String> = finally.into_iter().flat_map(|(_, calls)| calls).collect();
    database.set_level(level);
    for session in &mut sessions {
        session.connection.session.reads = Reads::Newest;
        for call in &last {
            if let Err(error) = session.call(app, call) {
                failed.push(failure(session.name, call, &error));
            }
        }
    }
    drop(sessions);
    failed.sort();
    Ok(Ran { history: database.history(), failed, was_refused })
}

fn failure(session: &str, call: &str, error: &SqlError) -> String {
    let fields = error.fields();
    format!("{session}: {call}: {} {}", fields.code, fields.message)
}

/// Ends connections that are still at work when the time is over: a procedure may never end.
#[derive(Debug)]
pub struct Watch {
    shared: Arc<(Mutex<Watched>, Condvar)>,
    thread: Option<std::thread::JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Watched {
    connections: Vec<Cancel>,
    time_is_over: bool,
    done: bool,
}

impl Watch {
    /// From now on, for so long.
    pub fn start(time: Duration) -> Watch {
        let shared: Arc<(Mutex<Watched>, Condvar)> = Arc::default();
        let watched = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let (lock, changed) = &*watched;
            let watched = lock.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = changed.wait_timeout_while(watched, time, |watched| !watched.done);
            let (mut watched, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if !watched.done {
                watched.time_is_over = true;
                watched.connections.iter().for_each(Cancel::terminate);
            }
        });
        Watch { shared, thread: Some(thread) }
    }

    fn over(&self, connections: Vec<Cancel>) {
        let mut watched = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        if watched.time_is_over {
            connections.iter().for_each(Cancel::terminate);
        }
        watched.connections = connections;
    }

    /// Whether the time is over.
    pub fn is_over(&self) -> bool {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner).time_is_over
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner).done = true;
        self.shared.1.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Session<'a> {
    name: &'a str,
    connection: Connection,
    calls: &'a [String],
    /// The number of the next one among all calls of the client.
    next: usize,
}

impl Session<'_> {
    /// Runs a call as a transaction: a procedure, a query of a function, or a statement as it stands.
    fn call(&mut self, app: &App, call: &str) -> Result<()> {
        let is_statement = || call.split('(').next().unwrap_or_default().trim().contains(char::is_whitespace);
        let sql = match app.called(call) {
            Some(_) => format!("CALL {call}"),
            None if is_statement() => call.to_owned(),
            None => format!("SELECT {call}"),
        };
        rows(&mut self.connection, &sql).map(drop)
    }
}

/// Runs a statement in a transaction of its own: its rows, as text.
fn rows(connection: &mut Connection, sql: &str) -> Result<Vec<String>> {
    let result = connection.prepare(sql, &[]).and_then(|statement| connection.execute(&statement, &[]));
    let ended = connection.sync();
    let (columns, rows) = match result? {
        Outcome::Rows { columns, rows, .. } => (columns, rows),
        _ => return ended.map(|()| Vec::new()),
    };
    ended?;
    let mut shown = Vec::with_capacity(rows.len());
    for row in &rows {
        let mut line = Vec::new();
        for (at, (value, column)) in row.iter().zip(columns.iter()).enumerate() {
            line.extend_from_slice(if at == 0 { b"" } else { b", " });
            match value {
                Datum::Null => line.extend_from_slice(b"null"),
                value => connection.write_value(&mut line, value, column.typed.ty, Format::Text)?,
            }
        }
        shown.push(String::from_utf8_lossy(&line).into_owned());
    }
    Ok(shown)
}

/// The rows of all tables.
fn state(database: &Database, check: &mut Connection) -> Result<Vec<String>> {
    let catalog = database.catalog();
    let tables = catalog.relations.values().filter(|relation| {
        matches!(relation.kind, crate::catalog::RelationKind::Table(_)) && !relation.name.starts_with("pg_")
    });
    let mut names: Vec<String> = tables.map(|relation| relation.name.to_string()).collect();
    names.sort();
    let mut state = Vec::new();
    for name in names {
        let quoted = crate::types::quote::identifier(&name);
        let mut found = rows(check, &format!("SELECT * FROM {quoted}"))?;
        found.sort();
        state.push(format!("{name}: {}", found.iter().map(|row| format!("({row})")).collect::<Vec<_>>().join(" ")));
    }
    Ok(state)
}

/// A history as text that does not depend on the order in which its transactions ran: each by its session and its
/// number there. What was rolled back is left out.
pub fn canonical(history: &History) -> String {
    let mut places = Vec::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for txn in history.txns() {
        let session = history.session_name(txn.session);
        let count = counts.entry(session.clone()).or_default();
        *count += 1;
        places.push(format!("{session}.{count}"));
    }
    let mut lines = Vec::new();
    for id in history.txn_ids() {
        if history.txn(id).status != Status::Committed {
            continue;
        }
        let mut line = places[id.0 as usize].clone();
        for at in history.op_ids(id) {
            let op = history.op(OpId(at));
            let (key, value) = (history.key_name(op.key()), history.value_text(op.value()));
            match op.kind() {
                OpKind::Write => _ = write!(line, " w {key}={value}"),
                _ => {
                    let source = match history.stated_source(OpId(at)) {
                        Some(Some(writer)) => places[writer.0 as usize].as_str(),
                        Some(None) => "init",
                        None => "own",
                    };
                    _ = write!(line, " r {key}={value}<{source}");
                }
            }
        }
        lines.push(line);
    }
    lines.sort();
    lines.join("\n")
}
