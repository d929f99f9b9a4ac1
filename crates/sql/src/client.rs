//! What a client and a database tell each other: how the database behaves, who connects, what a statement comes to.

use std::sync::Arc;

use skew_model::Level;
use skew_store::Recency;

use crate::error::{Result, SqlError};
use crate::ir::Output;
use crate::types::Datum;

/// How a database behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// Every transaction runs at this level, whatever it asks for; `None`: as PostgreSQL's names say.
    pub level: Option<Level>,
    /// Whether what was committed before must be seen.
    pub recency: Recency,
    /// How reads choose.
    pub choice: ChoiceKind,
    /// Where randomness starts.
    pub seed: u64,
    /// Whether a cell or a row is one key.
    pub granularity: Granularity,
    /// Whether keys, UNIQUE and FOREIGN KEY are enforced on the committed state.
    pub constraints: Constraints,
    /// About how many bytes of rows a statement may keep; a transaction may write four times as many.
    pub memory: usize,
}

/// How reads choose among the versions that they may return.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChoiceKind {
    /// At random.
    Random,
    /// Old versions more often.
    Old,
    /// Fresh versions more often.
    Fresh,
    /// As PostgreSQL would: the newest committed version, snapshots, and row locks that wait.
    Postgres,
}

/// What one key of the store is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Granularity {
    Cell,
    Row,
}

/// Whether constraints across rows hold at every level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Constraints {
    Strong,
    Weak,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            level: None,
            recency: Recency::Commit,
            choice: ChoiceKind::Random,
            seed: 0,
            granularity: Granularity::Cell,
            constraints: Constraints::Strong,
            memory: 1 << 30,
        }
    }
}

/// Who connects.
#[derive(Clone)]
pub struct Client {
    /// The user's name.
    pub user: String,
    /// The database's name.
    pub database: String,
    /// The process number that the client is told, for cancel requests.
    pub pid: i32,
    /// Settings from the startup message (`application_name`, `TimeZone`, `options`, …).
    pub settings: Vec<(String, String)>,
    /// How a thread waits: it is given what parks it. A server watches meanwhile whether the client hangs up.
    pub wait: Arc<dyn Fn(&mut dyn FnMut()) + Send + Sync>,
    /// Called between the statements of a procedure, where others may go on. A server decides here whose turn it is.
    pub pause: Arc<dyn Fn() + Send + Sync>,
    /// Tells a client that is idle at once, from any thread. False: it is busy, and [`crate::session::Connection::messages`] has to.
    pub tell: Arc<dyn Fn(&Message) -> bool + Send + Sync>,
    /// The databases beside this one.
    pub cluster: Arc<dyn Cluster>,
    /// What histories call its session; nobody else's may be called the same [default: the user and a number].
    pub label: Option<String>,
    /// How many bytes of stack the thread has that runs the statements: as deep can functions call functions.
    pub stack: usize,
    /// When its next transaction begins, in microseconds since 2000-01-01 UTC; time stands still in it, and the one after it
    /// begins a second later. `None`: it is what the clock on the wall says.
    pub clock: Option<i64>,
    /// When a statement that waits for a lock looks for a deadlock, where Skew does as PostgreSQL does.
    pub deadlocks: DeadlockCheck,
}

/// When a statement that waits for a lock looks for a deadlock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeadlockCheck {
    /// When it begins to wait: the request that closes the circle is the victim, on every machine.
    AtOnce,
    /// When it has waited for `deadlock_timeout`, as in PostgreSQL: by the clock on the wall.
    AfterTimeout,
}

/// The databases beside a connection's own: for CREATE DATABASE, DROP DATABASE and `pg_database`.
pub trait Cluster: Send + Sync {
    /// The names of all databases.
    fn names(&self) -> Vec<String>;
    /// Makes a new one: a copy of the template, or empty.
    fn create(&self, name: &str, template: Option<&str>) -> Result<()>;
    /// Forgets one, with all that is in it.
    fn drop(&self, name: &str) -> Result<()>;
    /// Ends the connections to one.
    fn disconnect(&self, name: &str);
    /// Gives one another name.
    fn rename(&self, name: &str, to: &str) -> Result<()>;
}

/// A database that is by itself.
pub struct Alone;

impl Cluster for Alone {
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    fn create(&self, _: &str, _: Option<&str>) -> Result<()> {
        Err(SqlError::unsupported("CREATE DATABASE without a server"))
    }

    fn drop(&self, _: &str) -> Result<()> {
        Err(SqlError::unsupported("DROP DATABASE without a server"))
    }

    fn disconnect(&self, _: &str) {}

    fn rename(&self, _: &str, _: &str) -> Result<()> {
        Err(SqlError::unsupported("ALTER DATABASE without a server"))
    }
}

impl Client {
    /// A client in this process, whose thread just waits.
    pub fn new(user: impl Into<String>, database: impl Into<String>) -> Client {
        Client {
            user: user.into(),
            database: database.into(),
            pid: 0,
            settings: Vec::new(),
            wait: Arc::new(|park| park()),
            tell: Arc::new(|_| false),
            pause: Arc::new(|| ()),
            cluster: Arc::new(Alone),
            label: None,
            // What threads have if nobody says.
            stack: 2 << 20,
            clock: None,
            deadlocks: DeadlockCheck::AtOnce,
        }
    }
}

/// What a statement came to.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The text was empty.
    Empty,
    /// A command without rows, and its tag (`INSERT 0 1`).
    Done(String),
    /// Rows.
    Rows {
        /// Names and types.
        columns: Arc<[Output]>,
        /// The rows.
        rows: Vec<Vec<Datum>>,
        /// The tag without the count for SELECT and FETCH (`SELECT`), with its own count for changes (`INSERT 0 2`).
        tag: String,
    },
    /// COPY … FROM STDIN: the client sends data, which [`crate::session::Connection::copy_data`] and [`crate::session::Connection::copy_done`] take.
    CopyIn {
        /// The number of columns.
        columns: usize,
        /// Binary rather than text or csv.
        binary: bool,
    },
    /// COPY … TO STDOUT.
    CopyOut {
        /// The number of columns.
        columns: usize,
        /// Binary rather than text or csv.
        binary: bool,
        /// One piece a row.
        data: Vec<Vec<u8>>,
        /// The tag.
        tag: String,
    },
}

/// Where a connection stands, as ReadyForQuery tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// `I`
    Idle,
    /// `T`
    InTransaction,
    /// `E`
    Failed,
}

/// How the wire carries a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    /// As it is shown.
    #[default]
    Text,
    /// As the type's send and receive functions have it.
    Binary,
}

/// Something that the client is told without having asked.
#[derive(Clone, Debug)]
pub enum Message {
    /// NOTICE, WARNING, … with its severity.
    Notice(&'static str, SqlError),
    /// A setting that is reported has a new value (ParameterStatus).
    Parameter(String, String),
    /// LISTEN/NOTIFY.
    Notification {
        /// Who notified.
        pid: i32,
        /// On which channel.
        channel: String,
        /// With which text.
        payload: String,
    },
}
