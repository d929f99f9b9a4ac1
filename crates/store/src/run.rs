//! One run of a program: its sessions under a deterministic scheduler, every choice from one place.

use std::fmt;

use skew_check::{Checker, Options as CheckOptions};
use skew_model::{History, Level, Scope, Witness};

use crate::choice::Choice;
use crate::database::Database;
use crate::db::Db;
use crate::engine::Recency;
use crate::fiber::{Fiber, Job, MAX_FIBERS, Payload, Progress, is_unwound};
use crate::panics::{self, Panics};
use crate::picks::{Pick, Recorder};
use crate::record::Footprint;
use crate::replay::{Made, Recording};
use crate::scheduler::{AfterPanic, Lineage, Scheduler, TaskId};
use crate::shared::Shared;
use crate::store::{Options, Strength};
use crate::value::Value;
use crate::witness::{Shown, in_commit_order};

/// Where sessions take turns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Interleaving {
    /// Before each transaction: a session goes on until it begins its next one, unless it has to wait. Enough where
    /// what a read returns does not depend on when it is made (MonkeyDB §4).
    Transactions,
    /// Before each call.
    Operations,
}

impl Interleaving {
    pub(crate) fn id(self) -> &'static str {
        match self {
            Interleaving::Transactions => "transactions",
            Interleaving::Operations => "operations",
        }
    }
}

/// How a run is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// The level of transactions that do not name one.
    pub level: Level,
    /// Whether a transaction sees what was committed before it began.
    pub recency: Recency,
    /// Where sessions take turns; `None` is what the level and the recency need.
    pub interleaving: Option<Interleaving>,
    /// How many calls on the store a run may make.
    pub max_steps: u64,
    /// How many of the last transactions are remembered at least, for databases that live long: see
    /// [`crate::retention`].
    pub retention: Option<usize>,
}

impl Config {
    /// Runs at this level.
    pub fn new(level: Level) -> Config {
        Config { level, recency: Recency::None, interleaving: None, max_steps: 1_000_000, retention: None }
    }

    /// Where sessions take turns.
    pub fn interleaving(&self) -> Interleaving {
        let by_values = matches!(self.level, Level::Ru | Level::Rc | Level::Ra | Level::Cc);
        let needed = match self.recency {
            Recency::None if by_values => Interleaving::Transactions,
            Recency::None | Recency::Commit => Interleaving::Operations,
        };
        self.interleaving.unwrap_or(needed)
    }

    pub(crate) fn options(&self) -> Options {
        Options { recency: self.recency, retention: self.retention, ..Options::default() }
    }
}

impl Default for Config {
    /// Serializable runs.
    fn default() -> Self {
        Config::new(Level::Ser)
    }
}

/// Why a run failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// A session panicked: an assertion of the program, most of the time.
    Panicked {
        /// The session.
        session: String,
        /// What it said.
        message: String,
        /// Where: file, line and column.
        place: Option<String>,
    },
    /// Every session waits.
    Stuck {
        /// Who for what, in words.
        waits: String,
    },
    /// It made more calls than it may: a retry that never succeeds, or a long program.
    Steps {
        /// How many it may make.
        limit: u64,
        /// Who made the last one.
        session: String,
    },
    /// It has more sessions on the way than a thread can have.
    Sessions {
        /// How many it can have.
        limit: usize,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Panicked { session, message, place: None } => write!(f, "session `{session}` panicked: {message}"),
            Failure::Panicked { session, message, place: Some(place) } => {
                write!(f, "session `{session}` panicked at {place}: {message}")
            }
            Failure::Stuck { waits } => write!(f, "every session waits: {waits}"),
            Failure::Steps { limit, session } => {
                write!(f, "more than {limit} calls (`max_steps`), the last of them in session `{session}`: ")?;
                write!(f, "a retry that never succeeds?")
            }
            Failure::Sessions { limit } => write!(f, "more than {limit} sessions on the way at once"),
        }
    }
}

/// A run that has been made.
pub struct Run {
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
    /// What was chosen.
    pub picks: Vec<Pick>,
    config: Config,
    database: Database,
    lineage: Vec<Lineage>,
    made: Made,
}

impl Run {
    /// What its transactions did. It is put together on request, since most runs are not looked at.
    pub fn history(&self) -> History {
        self.database.history()
    }

    /// Who read from whom, transactions in the order in which they began.
    pub fn footprints(&self) -> Vec<Footprint> {
        self.database.shared.lock().store.footprints()
    }

    /// The run step by step, to be replayed without the program.
    pub fn witness(&self) -> Witness {
        let failure = self.failure.as_ref().map_or_else(|| "nothing failed".to_owned(), Failure::to_string);
        let shown = Shown { failure, recording: Some(self.recording().to_string()) };
        let witness = self.database.shared.lock().store.witness(shown, Value::literal);
        match self.made {
            Made::Explored => in_commit_order(witness, &self.history()),
            Made::Drawn | Made::Listed => witness,
        }
    }

    /// Whether a transaction began before another one had ended.
    pub(crate) fn overlaps(&self) -> bool {
        self.database.shared.lock().store.overlaps()
    }

    /// Whether a transaction has looked for keys by prefix.
    pub(crate) fn scans(&self) -> bool {
        self.database.shared.lock().store.scans()
    }

    /// The names of all keys.
    pub(crate) fn key_names(&self) -> Vec<String> {
        self.database.shared.lock().store.key_names()
    }

    /// Whether a transaction has a level like this.
    pub(crate) fn has_level(&self, is_it: impl Fn(Level) -> bool) -> bool {
        self.database.shared.lock().store.records.iter().any(|record| is_it(record.level))
    }

    /// Whether its history is within a level, what rolled-back transactions have read included. `None` is unknown.
    ///
    /// Exploration at `pc`, `psi`, `si`, `ser` and `mvrc` leaves out what is not within the levels that were asked for.
    pub fn is_within(&self, scope: Scope) -> Option<bool> {
        let state = self.database.shared.lock();
        if let Some(holds) = state.store.judged_outline().and_then(|outline| outline.holds(scope)) {
            return Some(holds);
        }
        let history = state.store.judged_history(Value::literal);
        drop(state);
        Checker::new(&history, CheckOptions::default()).holds(scope)
    }

    /// Where its transactions come in the program, in the same order.
    pub(crate) fn lineage(&self) -> &[Lineage] {
        &self.lineage
    }

    /// The run, to be made again; as a string with `to_string`.
    pub fn recording(&self) -> Recording {
        Recording::new(&self.config, self.made, &self.picks)
    }

    /// The database as the run left it.
    pub fn database(&self) -> &Database {
        &self.database
    }
}

/// Runs a program once. The body is a session, `main`; when it returns, the sessions that it spawned run to their end.
///
/// ```
/// use skew_store::{Config, run, strategies::Random};
/// use skew_model::Level;
///
/// let made = run(&Config::new(Level::Rc), Box::new(Random::new(7)), |db| {
///     db.init("x", 0);
///     for name in ["alice", "bob"] {
///         db.spawn(name, |session| {
///             session.transaction(|t| {
///                 let x: i64 = t.read("x")?;
///                 t.write("x", x + 1)
///             })
///         });
///     }
///     assert!(db.check(|t| t.read::<i64>("x")) >= 1);
/// });
/// assert!(made.failure.is_none());
/// ```
pub fn run(config: &Config, choice: Box<dyn Choice + Send>, body: impl FnOnce(Db) + 'static) -> Run {
    panics::with(Panics::Kept, || run_at(config, Strength::Asked, &[], choice, body))
}

/// The same on a store that may run transactions at weaker levels than they ask for, and knows these keys.
pub(crate) fn run_at(
    config: &Config,
    strength: Strength,
    keys: &[String],
    choice: Box<dyn Choice + Send>,
    body: impl FnOnce(Db) + 'static,
) -> Run {
    let made = match strength {
        Strength::Explorable => Made::Explored,
        Strength::Asked if choice.sees_sources() => Made::Listed,
        Strength::Asked => Made::Drawn,
    };
    let database = Database { shared: Shared::new(config.options(), config.level, Recorder::new(choice)) };
    let mut state = database.shared.lock();
    state.store.strength = strength;
    keys.iter().for_each(|key| _ = state.store.key(key));
    let after_panic = match strength {
        Strength::Asked => AfterPanic::End,
        Strength::Explorable => AfterPanic::GoOn,
    };
    state.scheduler = Some(Scheduler::new(config.interleaving(), config.max_steps, after_panic));
    state.task("main", |_, _| None);
    drop(state);

    let db = Db::new(database.clone());
    let mut fibers = Fibers { shared: &database.shared, fibers: Vec::new() };
    let mut main: Option<Job> = Some(Box::new(move || body(db)));
    while let Some(task) = next_task(&database.shared) {
        match fibers.go_on(task, &mut main) {
            Some(Progress::Suspended) => {}
            Some(Progress::Finished(result)) => finish(&database.shared, result),
            None => database.shared.lock().scheduler().fail(Failure::Sessions { limit: MAX_FIBERS }),
        }
    }
    drop(fibers);

    let mut state = database.shared.lock();
    let mut scheduler = state.scheduler.take().expect("a run has a scheduler until it is over");
    let jobs = std::mem::take(&mut state.jobs);
    let picks = state.choice.take_picks();
    let lineage = scheduler.take_lineage();
    drop(state);
    // What the closures have captured is dropped without the lock, because it may hold sessions.
    drop((jobs, main));
    Run { failure: scheduler.take_failure(), picks, config: *config, database, lineage, made }
}

fn next_task(shared: &Shared) -> Option<TaskId> {
    let mut guard = shared.lock();
    let state = &mut *guard;
    let scheduler = state.scheduler.as_mut().expect("a run has a scheduler until it is over");
    scheduler.advance(&state.store, &mut state.choice)
}

fn finish(shared: &Shared, result: Result<(), Payload>) {
    let mut state = shared.lock();
    let scheduler = state.scheduler();
    if let Err(payload) = result
        && !is_unwound(&payload)
    {
        let session = scheduler.current_name();
        scheduler.panicked(Failure::Panicked { session, message: message(&payload), place: panics::take_place() });
    }
    scheduler.finish();
}

fn message(payload: &Payload) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "with a value of its own".to_owned())
}

/// The fibers of a run, by task.
struct Fibers<'a> {
    shared: &'a Shared,
    fibers: Vec<Option<Fiber>>,
}

impl Fibers<'_> {
    /// Runs a task until it suspends itself or ends. `None` if there is no fiber for it.
    fn go_on(&mut self, task: TaskId, main: &mut Option<Job>) -> Option<Progress> {
        let run = self.shared.run_number();
        if self.fibers.len() <= task.0 {
            self.fibers.resize_with(task.0 + 1, || None);
        }
        let place = &mut self.fibers[task.0];
        let progress = match place {
            Some(fiber) => fiber.resume(run),
            None => {
                let fiber = place.insert(Fiber::take()?);
                let spawned = self.shared.lock().jobs[task.0].take().map(|job| job as Job);
                fiber.start(run, spawned.or_else(|| main.take()).expect("a task is started once"))
            }
        };
        if matches!(progress, Progress::Finished(_)) {
            *place = None;
        }
        Some(progress)
    }
}

/// Ends what has not ended: everything on the stacks is dropped, open transactions are rolled back.
impl Drop for Fibers<'_> {
    fn drop(&mut self) {
        let run = self.shared.run_number();
        for fiber in self.fibers.iter_mut().flatten() {
            // Somebody's own choice panicked: nothing can be unwound while that is.
            if std::thread::panicking() { fiber.give_up() } else { fiber.unwind(run) }
        }
    }
}
