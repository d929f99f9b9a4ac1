//! A client's connection: its transaction, its settings, its prepared statements. What front doors talk to.

use std::collections::HashMap;
use std::sync::Arc;

use skew_model::Level;
use skew_store::Recency;

use crate::error::{Result, SqlError, SqlState};
use crate::ir::Output;
use crate::types::{Datum, Type};

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
        }
    }
}

/// A database: cloned freely, used from many threads.
#[derive(Clone)]
pub struct Database {
    shared: Arc<Options>,
}

impl Database {
    /// An empty database.
    pub fn new(options: Options) -> Database {
        Database { shared: Arc::new(options) }
    }

    /// How it behaves.
    pub fn options(&self) -> &Options {
        &self.shared
    }

    /// A new connection.
    pub fn connect(&self, client: Client) -> Connection {
        Connection { database: self.clone(), client, statements: HashMap::new() }
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
    /// Tells a client that is idle at once, from any thread. False: it is busy, and [`Connection::messages`] has to.
    pub tell: Arc<dyn Fn(&Message) -> bool + Send + Sync>,
    /// The databases beside this one.
    pub cluster: Arc<dyn Cluster>,
}

/// The databases beside a connection's own: for CREATE DATABASE, DROP DATABASE and `pg_database`.
pub trait Cluster: Send + Sync {
    /// The names of all databases.
    fn names(&self) -> Vec<String>;
    /// Makes a new, empty one.
    fn create(&self, name: &str) -> Result<()>;
    /// Forgets one, with all that is in it.
    fn drop(&self, name: &str) -> Result<()>;
    /// Gives one another name.
    fn rename(&self, name: &str, to: &str) -> Result<()>;
}

/// A database that is by itself.
pub struct Alone;

impl Cluster for Alone {
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    fn create(&self, _: &str) -> Result<()> {
        Err(SqlError::unsupported("CREATE DATABASE without a server"))
    }

    fn drop(&self, _: &str) -> Result<()> {
        Err(SqlError::unsupported("DROP DATABASE without a server"))
    }

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
            cluster: Arc::new(Alone),
        }
    }
}

/// A client's connection. Dropped, its transaction is rolled back and its locks and temporary tables are gone.
pub struct Connection {
    database: Database,
    client: Client,
    /// Prepared statements by name, those of PREPARE and those of the wire.
    statements: HashMap<String, Prepared>,
}

/// A statement that was parsed and bound.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Its text.
    pub sql: Arc<str>,
    /// The types of its parameters, those that the client did not name inferred.
    pub parameters: Vec<Type>,
    /// The columns of its result; `None` if it returns no rows.
    pub columns: Option<Arc<[Output]>>,
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
    /// COPY … FROM STDIN: the client sends data, which [`Connection::copy_data`] and [`Connection::copy_done`] take.
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

/// Stops the running statement of a connection from another thread.
#[derive(Clone)]
pub struct Cancel;

impl Cancel {
    /// Asks the statement to stop (57014).
    pub fn cancel(&self) {}
}

impl Connection {
    /// The texts of the statements of a simple query, each to be [prepared](Connection::prepare) and executed in turn.
    pub fn split(&self, sql: &str) -> Result<Vec<Arc<str>>> {
        let _ = sql;
        Err(SqlError::unsupported("split"))
    }

    /// Parses and binds one statement. Parameters without a type (`UNKNOWN`, or not in `types`) are inferred.
    pub fn prepare(&mut self, sql: &str, types: &[Type]) -> Result<Prepared> {
        let _ = (sql, types, &self.database, &self.client);
        Err(SqlError::unsupported("prepare"))
    }

    /// Runs a statement. Outside of a transaction block it opens the implicit transaction, which [`Connection::sync`]
    /// ends. After an error the transaction has failed until it is rolled back.
    pub fn execute(&mut self, statement: &Prepared, parameters: &[Datum]) -> Result<Outcome> {
        let _ = (statement, parameters);
        Err(SqlError::unsupported("execute"))
    }

    /// The end of a simple query or of a pipeline: the implicit transaction commits, or is rolled back after an error.
    pub fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    /// Takes data of a COPY FROM STDIN.
    pub fn copy_data(&mut self, data: &[u8]) -> Result<()> {
        let _ = data;
        Err(SqlError::unsupported("COPY"))
    }

    /// The COPY's data is complete: the tag. Or it was given up by the client, for this reason.
    pub fn copy_done(&mut self, failed: Option<&str>) -> Result<String> {
        let _ = failed;
        Err(SqlError::unsupported("COPY"))
    }

    /// Keeps a prepared statement under a name, beside those of PREPARE. The unnamed one (an empty name) is replaced.
    pub fn keep(&mut self, name: &str, statement: Prepared) -> Result<()> {
        if !name.is_empty() && self.statements.contains_key(name) {
            let message = format!("prepared statement \"{name}\" already exists");
            return Err(SqlError::new(SqlState::DUPLICATE_PREPARED_STATEMENT, message));
        }
        self.statements.insert(name.to_owned(), statement);
        Ok(())
    }

    /// The prepared statement with this name.
    pub fn kept(&self, name: &str) -> Result<&Prepared> {
        self.statements.get(name).ok_or_else(|| {
            let message = match name {
                "" => "unnamed prepared statement does not exist".to_owned(),
                name => format!("prepared statement \"{name}\" does not exist"),
            };
            SqlError::new(SqlState::INVALID_SQL_STATEMENT_NAME, message)
        })
    }

    /// Forgets a prepared statement, if there is one.
    pub fn forget(&mut self, name: &str) {
        self.statements.remove(name);
    }

    /// The columns of a cursor that DECLARE has opened, for clients that ask about it by the wire.
    pub fn cursor(&self, name: &str) -> Option<Arc<[Output]>> {
        let _ = name;
        None
    }

    /// The client's statement failed outside of [`Connection::execute`] (a parameter that could not be read, …): its
    /// transaction has failed as if it had failed there.
    pub fn fail(&mut self) {}

    /// Reads a parameter as the wire brings it.
    pub fn read_value(&mut self, bytes: &[u8], ty: Type, format: Format) -> Result<Datum> {
        let _ = (bytes, ty, format);
        Err(SqlError::unsupported("a parameter"))
    }

    /// Writes a value that is not NULL as the wire carries it and as the connection's settings show it.
    pub fn write_value(&mut self, out: &mut Vec<u8>, value: &Datum, ty: Type, format: Format) -> Result<()> {
        let _ = (out, value, ty, format);
        Err(SqlError::unsupported("a value"))
    }

    /// Where it stands.
    pub fn status(&self) -> Status {
        Status::Idle
    }

    /// What the client is to be told, since the last call.
    pub fn messages(&mut self) -> Vec<Message> {
        Vec::new()
    }

    /// A handle to stop the running statement.
    pub fn canceller(&self) -> Cancel {
        Cancel
    }

    /// The parameters that a client is told after it has connected (`server_version`, `client_encoding`, …).
    pub fn startup_parameters(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}
