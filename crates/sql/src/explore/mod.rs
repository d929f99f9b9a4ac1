//! A small client of an application in every way that its levels allow.
//!
//! Every history of a level has a commit order in which whatever a transaction reads is committed before it. So it is
//! enough to run transactions one after the other in every order of them, and to let every read return every version
//! that its level allows: nothing of the level is lost, and no transaction ever waits. (The store is tested to be complete
//! in this way.)
//!
//! - [`calls`]: one run of a client
//! - [`states`]: the committed states of a run, and what must hold in them
//! - [`interleaved`], [`gate`]: the same at PostgreSQL's levels, in every interleaving of statements
//! - [`snapshots`]: the same where calls take snapshots early and run one after the other
//! - `client`: a client's text, split by the rules of SQL
//! - [`canonical`]: histories of different runs, made comparable
//! - [`watch`]: the end of an exploration's time

mod calls;
mod canonical;
mod client;
mod gate;
mod interleaved;
mod snapshots;
mod states;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use skew_model::{History, Level};

use crate::app::App;
use crate::error::Result;
use crate::session::Database;
use crate::session::guide::Guide;
pub use calls::{Ran, record, run, trace};
pub use canonical::canonical;
pub use interleaved::explore_interleaved;
pub use snapshots::{SnapshotRun, SnapshotStep, run_with_snapshots, snapshot_orders};
use states::{Exploration, States};
pub use watch::Watch;

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

/// What came out of runs: what the calls were answered and what is in the tables in the end.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// The calls that failed, with their errors.
    pub failed: Vec<String>,
    /// The rows of all tables, as text.
    pub state: Vec<String>,
    /// What does not hold: invariants that are false after some commit, monotone functions whose value goes down from one
    /// commit to the next, assertions that fail.
    pub broken: Vec<String>,
    /// The histories that lead to it, by their places in [`Explored::all`]. There is none where it takes a transaction that
    /// is refused: such behaviours are kept only if something is broken in them.
    pub histories: BTreeSet<usize>,
    /// One of them.
    pub example: History,
    /// The order of the steps of a run that leads to it: `a0` begins a call of the session `a`, `a1` is its first statement,
    /// `a1…` goes on with it when the lock is free, `ac` commits. Empty where calls run one after the other.
    pub order: Vec<String>,
}

impl Explored {
    /// What two explorations of the same client have found together.
    pub fn and(mut self, other: Explored) -> Explored {
        let mut known: BTreeMap<String, usize> = self.all.iter().map(canonical).zip(0..).collect();
        let mut places = Vec::with_capacity(other.all.len());
        for history in other.all {
            places.push(*known.entry(canonical(&history)).or_insert_with(|| {
                self.all.push(history);
                self.all.len() - 1
            }));
        }
        for mut behaviour in other.behaviours {
            behaviour.histories = behaviour.histories.iter().map(|&at| places[at]).collect();
            match self.behaviours.iter_mut().find(|one| one.is_like(&behaviour)) {
                Some(known) => known.histories.extend(behaviour.histories),
                None => self.behaviours.push(behaviour),
            }
        }
        let limit = self.limit.or(other.limit);
        let (runs, refused) = (self.runs + other.runs, self.refused + other.refused);
        Explored { histories: self.all.len(), runs, refused, limit, ..self }
    }
}

impl Behaviour {
    /// Whether the same came out.
    pub fn is_like(&self, other: &Behaviour) -> bool {
        (&self.failed, &self.state, &self.broken) == (&other.failed, &other.state, &other.broken)
    }
}

/// Runs a client in every way that a level allows. The database holds the application and has a checkpoint.
pub fn explore(database: &Database, app: &App, client: &Client, level: Level, limits: Limits) -> Result<Explored> {
    let started = Instant::now();
    let guide: Arc<Mutex<Guide>> = Arc::default();
    let watch = Watch::start(limits.time);
    let exploration = Exploration { database, app, client, level, guide: &guide, watch: &watch };
    let mut states = States::default();
    let (mut found, mut all) = (BTreeMap::new(), Vec::new());
    let mut behaviours: BTreeMap<_, Behaviour> = BTreeMap::new();
    let (mut runs, mut refused, mut limit) = (0, 0, not_tried(level));
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
        let ran = run(database, app, client, level, &guide, &watch)?;
        if watch.is_over() {
            limit = Some(format!("{} s", limits.time.as_secs()));
            break;
        }
        refused += u64::from(ran.was_refused);
        let history = (!ran.was_refused).then(|| {
            *found.entry(canonical(&ran.history)).or_insert_with(|| {
                all.push(ran.history.clone());
                all.len() - 1
            })
        });
        let came = states.of_run(&ran, &exploration);
        if watch.is_over() {
            limit = Some(format!("{} s", limits.time.as_secs()));
            break;
        }
        if let Some(came) = came? {
            if !came.complete {
                limit = limit.or_else(|| Some("the states between two commits of one call".to_owned()));
            }
            let (broken, state) = (came.came.broken, came.came.rows);
            if history.is_some() || !broken.is_empty() {
                let name = (broken.clone(), ran.failed.clone(), state.clone());
                let behaviour = behaviours.entry(name).or_insert_with(|| Behaviour {
                    failed: ran.failed,
                    state,
                    broken,
                    histories: BTreeSet::new(),
                    example: ran.history,
                    order: Vec::new(),
                });
                behaviour.histories.extend(history);
            }
        }
        if !guide.lock().unwrap_or_else(PoisonError::into_inner).next_run() {
            break;
        }
    }
    let behaviours = behaviours.into_values().collect();
    Ok(Explored { histories: found.len(), behaviours, all, runs, refused, limit })
}

/// What of a level exploration does not try.
fn not_tried(level: Level) -> Option<String> {
    (level == Level::Ru)
        .then(|| "transactions one after the other: no read sees a transaction that is running".to_owned())
}
