//! A server for runs: one run after the other, each from the same state, recorded.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use skew_sql::catalog::{Catalog, Relation, RelationKind};
use skew_sql::session::recording::{Answer, Recording};
use skew_sql::session::steering::StaleRead;

use skew_server::databases::{Replay, RunSetup};
use skew_server::listen::{NotStarted, Running, Server};
use skew_server::rewrites::Rewrites;
use skew_server::scheduler::{Forced, Order, Turns};
use skew_server::settings::Settings;

/// The database that the command is told to connect to.
pub const DATABASE: &str = "test";
/// How long connections of a command that has ended may take to go.
const GOODBYE: Duration = Duration::from_millis(50);

/// A server for runs.
pub struct Arena {
    running: Running,
    clients_before: u64,
}

/// What happened in one database during a run.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The database's name.
    pub database: String,
    /// Its statements and their operations.
    pub recording: Recording,
    /// Who took turns.
    pub turns: Turns,
    /// The columns of each table's primary key.
    pub keys: BTreeMap<String, Vec<String>>,
    /// The schema at its end.
    pub catalog: Arc<Catalog>,
}

/// Errors that databases give because transactions ran at the same time.
pub const REFUSALS: [&str; 2] = ["40001", "40P01"];
/// How a statement ends whose client has gone.
const LOST: &str = "08006";
/// What is not supported.
const UNSUPPORTED: &str = "0A000";

impl Arena {
    /// Starts a server, and makes the database, which tells whether the scripts are right.
    pub fn start(settings: Settings) -> Result<Arena, NotStarted> {
        let running = Server::bind(settings).and_then(Server::start)?;
        running.databases().open(DATABASE).map_err(NotStarted::Database)?;
        Ok(Arena { running, clients_before: 0 })
    }

    /// What the command finds in its environment.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let address = self.running.address();
        vec![
            ("DATABASE_URL", format!("postgresql://postgres@{}:{}/{DATABASE}", address.ip(), address.port())),
            ("PGHOST", address.ip().to_string()),
            ("PGPORT", address.port().to_string()),
            ("PGUSER", "postgres".to_owned()),
            ("PGDATABASE", DATABASE.to_owned()),
            ("PGSSLMODE", "disable".to_owned()),
        ]
    }

    /// A run begins.
    pub fn begin(&mut self, setup: RunSetup) -> Result<(), String> {
        if !self.running.disconnect_all(Duration::from_secs(5)) {
            return Err("connections of the last run do not end".to_owned());
        }
        self.clients_before = self.running.clients_so_far();
        self.running.databases().begin_run(setup).map_err(|error| error.fields().message.clone())
    }

    /// The command is about to be killed. One of its clients may be gone before another one that waits for it, which
    /// must not look as if it had been answered.
    pub fn give_up(&self) {
        self.running.lose_all();
    }

    /// The command has ended: so do its connections.
    pub fn end(&self) {
        if !self.running.wait_for_goodbyes(GOODBYE) {
            self.running.disconnect_all(Duration::from_secs(5));
        }
    }

    /// How many clients came during the run.
    pub fn clients(&self) -> u64 {
        self.running.clients_so_far() - self.clients_before
    }

    /// How many statements there were, how many refusals because of concurrency, and what was not supported.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for (_, entry) in self.running.databases().of_run() {
            let turns = entry.scheduler.turns();
            counts.held += turns.held;
            counts.vain += turns.broken as u64;
            entry.database.visit_answers(|answer| {
                counts.statements += 1;
                if let Answer::Error { code, message } = answer {
                    counts.refusals += u64::from(REFUSALS.contains(&code.as_str()));
                    if code == UNSUPPORTED {
                        *counts.unsupported.entry(message.clone()).or_default() += 1;
                    }
                }
            });
        }
        counts
    }

    /// The last statements of clients that had no answer when the run ended.
    pub fn unanswered(&self) -> Vec<String> {
        let of = |seen: &Seen| {
            let statements = &seen.recording.statements;
            let is_last =
                |at: usize| !statements[at + 1..].iter().any(|later| later.connection == statements[at].connection);
            let unanswered =
                statements.iter().enumerate().filter(|(at, one)| is_unanswered(&one.answer) && is_last(*at));
            unanswered.map(|(_, one)| one.text.trim().to_owned()).collect::<Vec<_>>()
        };
        self.seen().iter().flat_map(of).collect()
    }

    /// What happened, in the databases that were used.
    pub fn seen(&self) -> Vec<Seen> {
        seen_in(&self.running)
    }
}

/// What happened in a server's databases since the run began, in those that were used.
pub fn seen_in(running: &Running) -> Vec<Seen> {
    let used = running.databases().of_run().into_iter().map(|(database, entry)| {
        let (recording, turns) = (entry.database.recording(), entry.scheduler.turns());
        let catalog = entry.database.catalog();
        Seen { database, recording, turns, keys: primary_keys(&catalog), catalog }
    });
    used.filter(|seen| !seen.recording.statements.is_empty()).collect()
}

/// The columns of each table's primary key, by the table's name.
fn primary_keys(catalog: &Catalog) -> BTreeMap<String, Vec<String>> {
    let of = |relation: &Relation| {
        let RelationKind::Table(table) = &relation.kind else { return None };
        let columns = table.clustered.iter().filter_map(|&at| Some(table.columns.get(at)?.name.to_string()));
        Some((relation.name.to_string(), columns.collect()))
    };
    catalog.relations.values().filter_map(|relation| of(relation)).collect()
}

/// What a run came to.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Statements.
    pub statements: u64,
    /// Statements that failed because of concurrency.
    pub refusals: u64,
    /// What is not supported, and how often it was asked for.
    pub unsupported: BTreeMap<String, u64>,
    /// How long clients were held.
    pub held: Duration,
    /// How often a transaction was held for others that did not come.
    pub vain: u64,
}

/// Whether a statement was still at work, or waiting for a lock, when its client went away.
pub fn is_unanswered(answer: &Answer) -> bool {
    match answer {
        Answer::None => true,
        Answer::Error { code, .. } => code == LOST,
        Answer::Done(_) => false,
    }
}

/// A run as chance has it.
pub fn by_chance(seed: u64) -> RunSetup {
    RunSetup { seed, order: Order::Weak, replay: None, rewrites: Rewrites::default(), directions: BTreeMap::new() }
}

/// A run whose transactions come one after the other.
pub fn one_by_one(seed: u64) -> RunSetup {
    RunSetup { order: Order::Serial, ..by_chance(seed) }
}

/// The same run, with statements that are changed on their way.
pub fn with_rewrites(setup: RunSetup, rewrites: Rewrites) -> RunSetup {
    RunSetup { rewrites, ..setup }
}

/// The same run again, with some of its stale reads, and with what is forced on its transactions, by database.
pub fn again(
    seed: u64,
    seen: &[Seen],
    keeps: impl Fn(&str, &StaleRead) -> bool,
    forced: &[(String, Forced)],
) -> RunSetup {
    let replay = |seen: &Seen| {
        let stale = seen.recording.stale.iter().filter(|stale| keeps(&seen.database, stale)).copied().collect();
        let forced = forced.iter().filter(|(name, _)| *name == seen.database).map(|(_, forced)| *forced).collect();
        (
            seen.database.clone(),
            Replay { turns: seen.turns.order.clone(), members: seen.turns.members.clone(), stale, forced, delay: None },
        )
    };
    RunSetup { replay: Some(seen.iter().map(replay).collect()), ..by_chance(seed) }
}
