//! One run of a client: its calls, one after the other.

use std::sync::{Arc, Mutex, PoisonError};

use skew_model::{History, Level};
use skew_store::Reads;

use super::{Client, FINALLY, Watch};
use crate::app::App;
use crate::error::{Result, SqlError, SqlState};
use crate::ir::Output;
use crate::session::clock::STEADY;
use crate::session::guide::Guide;
use crate::session::recording::Recording;
use crate::session::trace::Trace;
use crate::session::{Client as Connected, Connection, Database, Format, Outcome};
use crate::types::Datum;

/// What the calls of a client came to in one run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// What transactions did.
    pub history: History,
    /// The calls that failed, with their errors.
    pub failed: Vec<String>,
    /// What the ASSERTs that failed say.
    pub assertions: Vec<String>,
    /// Whether a level refused one of them.
    pub was_refused: bool,
}

/// When the transactions of a session begin: in each run at the same time, no two of them at once.
pub(super) fn begins(session: usize) -> i64 {
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
    calls(database, app, client, level, guide, watch, &mut |_| Ok(()))
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
    calls(database, app, client, level, guide, watch, &mut |_| Ok(()))?;
    let recording = database.recording();
    let mut check = checking(database, client);
    let state = state(database, &mut check)?;
    Ok((recording, state))
}

/// The same, with what every transaction did to which rows.
pub fn trace(
    database: &Database,
    app: &App,
    client: &Client,
    level: Level,
    guide: &Arc<Mutex<Guide>>,
    watch: &Watch,
) -> Result<(Ran, Vec<Trace>)> {
    database.begin_guided_run(level, Arc::clone(guide))?;
    database.keep_statements();
    let ran = calls(database, app, client, level, guide, watch, &mut |_| Ok(()))?;
    Ok((ran, database.traces()))
}

/// A connection that sees what all transactions have left; where that has been read, the same.
fn checking(database: &Database, client: &Client) -> Connection {
    let clock = Some(begins(client.sessions.len()));
    let mut check = database.connect(Connected { clock, ..Connected::new("check", "explore") });
    let was_read = client.sessions.iter().any(|(name, _)| name == FINALLY);
    check.session.reads = if was_read { Reads::Newest } else { Reads::Settled };
    check
}

/// Makes the calls. `between` is called before the first one and after each.
pub(super) fn calls(
    database: &Database,
    app: &App,
    client: &Client,
    level: Level,
    guide: &Arc<Mutex<Guide>>,
    watch: &Watch,
    between: &mut dyn FnMut(&Database) -> Result<()>,
) -> Result<Ran> {
    between(database)?;
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
    let (mut failed, mut assertions, mut was_refused) = (Vec::new(), Vec::new(), false);
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
            assertions.extend(failed_assertion(&error));
            failed.push(failure(session.name, call, &error));
        }
        between(database)?;
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
    Ok(Ran { history: database.history(), failed, assertions, was_refused })
}

/// What an ASSERT says that has failed.
pub(super) fn failed_assertion(error: &SqlError) -> Option<String> {
    let fields = error.fields();
    (fields.code == SqlState::ASSERT_FAILURE.0).then(|| fields.message.clone())
}

pub(super) fn failure(session: &str, call: &str, error: &SqlError) -> String {
    let fields = error.fields();
    format!("{session}: {call}: {} {}", fields.code, fields.message)
}

struct Session<'a> {
    name: &'a str,
    connection: Connection,
    calls: &'a [String],
    /// The number of the next one among all calls of the client.
    next: usize,
}

impl Session<'_> {
    /// Runs a call as a transaction.
    fn call(&mut self, app: &App, call: &str) -> Result<()> {
        query(&mut self.connection, &sql_of(app, call)).map(drop)
    }
}

/// A call as SQL: a procedure is called, a function selected, and a statement is taken as it stands.
pub(super) fn sql_of(app: &App, call: &str) -> String {
    let is_statement = || call.split('(').next().unwrap_or_default().trim().contains(char::is_whitespace);
    match app.called(call) {
        Some(_) => format!("CALL {call}"),
        None if is_statement() => call.to_owned(),
        None => format!("SELECT {call}"),
    }
}

/// Runs a statement in a transaction of its own.
pub(super) fn query(connection: &mut Connection, sql: &str) -> Result<(Arc<[Output]>, Vec<Vec<Datum>>)> {
    let result = connection.prepare(sql, &[]).and_then(|statement| connection.execute(&statement, &[]));
    let ended = connection.sync();
    let answer = match result? {
        Outcome::Rows { columns, rows, .. } => (columns, rows),
        _ => (Arc::default(), Vec::new()),
    };
    ended.map(|()| answer)
}

/// The same: its rows, as text.
fn rows(connection: &mut Connection, sql: &str) -> Result<Vec<String>> {
    let (columns, rows) = query(connection, sql)?;
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
pub(super) fn state(database: &Database, check: &mut Connection) -> Result<Vec<String>> {
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
