//! A connection: what belongs to one client, and the life of its statements and transactions.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};
use skew_store::Reads;

use crate::budget::{Grant, Wish};
use crate::catalog::{Catalog, Oid};
use crate::cursor::Cursor;
use crate::error::{Result, SqlError, SqlState};
use crate::exec::rows_weight;
use crate::functions::{Ready, Settings};
use crate::session::database::{Activity, Database, Mailbox, State};
use crate::session::prepare::SeenPath;
use crate::session::transaction::{Block, Identity, Isolation, Notifications, Transaction, level};
use crate::session::{Client, Message, Prepared, Status, clock};
use crate::settings::{self, Defaults};
use crate::storage::table::BoundTables;
use crate::types::Datum;

/// What belongs to one connection.
pub(crate) struct SessionState {
    pub(crate) client: Client,
    pub(crate) identity: Identity,
    pub(crate) settings: Arc<Settings>,
    pub(crate) defaults: Defaults,
    pub(crate) transaction: Option<Transaction>,
    pub(crate) messages: Vec<Message>,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) cancel: Cancel,
    /// Prepared statements by name, those of PREPARE and those of the wire.
    pub(crate) statements: HashMap<String, Prepared>,
    pub(crate) cursors: BTreeMap<String, Cursor>,
    pub(crate) sequence_values: FxHashMap<Oid, i64>,
    pub(crate) last_sequence: Option<Oid>,
    pub(crate) statement_time: i64,
    /// How much memory a statement is allowed to keep.
    pub(crate) memory_bytes: usize,
    /// When its running statement arrived, which its timeout counts from.
    pub(crate) arrived: Option<Instant>,
    /// What reads may return: everything that the level allows, or what a check should see.
    pub(crate) reads: Reads,
    pub(crate) tables: BoundTables,
    pub(crate) programs: crate::plpgsql::Programs,
    /// The schema of its temporary objects, once there are any.
    pub(crate) temporary: Option<Oid>,
    /// The catalog that its last statement saw.
    pub(crate) seen: Arc<Catalog>,
    /// Its running statement in the database's log.
    pub(crate) logged: Option<usize>,
    /// The statement of a body that is about to run, as a block of its own.
    pub(crate) block: Option<Arc<str>>,
    /// The schemas in which names were last looked for.
    pub(crate) path: Option<SeenPath>,
    /// The cache of cells of the next statement, empty.
    pub(crate) spare_cells: FxHashMap<u32, Option<Datum>>,
}

/// A client's connection. Dropped, its transaction is rolled back and its locks and temporary tables are gone.
pub struct Connection {
    pub(crate) database: Database,
    pub(crate) session: SessionState,
    pub(crate) copy: Option<crate::session::copy::CopyIn>,
    pub(crate) plans: crate::session::prepare::Plans,
    /// How the implicit transaction has ended, where it has ended with its last statement.
    pub(crate) ended: Option<Result<()>>,
    /// A buffer for values as text.
    pub(crate) shown: String,
}

/// Stops the running statement of a connection from another thread.
#[derive(Clone)]
pub struct Cancel {
    pub(crate) wish: Wish,
    /// What a connection that waits for its client is woken with.
    wake: Arc<OnceLock<Box<dyn Fn() + Send + Sync>>>,
}

impl std::fmt::Debug for Cancel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cancel").field("wish", &self.wish).finish_non_exhaustive()
    }
}

impl Cancel {
    fn new() -> Cancel {
        Cancel { wish: Wish::new(), wake: Arc::default() }
    }

    /// Asks the statement to stop (57014).
    pub fn cancel(&self) {
        self.wish.cancel();
    }

    /// The client has gone: nothing waits for the statement any more (08006).
    pub fn lose(&self) {
        self.wish.lose();
    }

    /// Asks the connection to end (57P01).
    pub fn terminate(&self) {
        self.wish.terminate();
        if let Some(wake) = self.wake.get() {
            wake();
        }
    }

    /// What to do when the connection is asked to end: a thread that waits for its client stops waiting. Set once.
    pub fn on_terminate(&self, wake: impl Fn() + Send + Sync + 'static) {
        let _ = self.wake.set(Box::new(wake));
    }

    /// Whether the connection is to end.
    pub fn is_terminated(&self) -> bool {
        self.wish.is_terminated()
    }

    /// A new statement is not stopped by what was meant for the last one.
    pub(crate) fn forget(&self) {
        self.wish.forget();
    }
}

impl SessionState {
    /// What a statement of this connection is allowed to use.
    pub(crate) fn grant(&self) -> Grant {
        let timeout_ms = self.settings.ready.statement_timeout;
        let arrived = || self.arrived.unwrap_or_else(Instant::now);
        let deadline = (timeout_ms > 0).then(|| arrived().checked_add(Duration::from_millis(timeout_ms))).flatten();
        let (wish, memory_bytes) = (self.cancel.wish.clone(), self.memory_bytes);
        Grant { wish, deadline, memory_bytes, stack_bytes: self.client.stack }
    }

    /// An error unless so many bytes can be kept from one statement to the next: open cursors, rows that are still to be
    /// handed out, the data of a COPY.
    pub(crate) fn may_keep(&self, bytes: usize) -> Result<()> {
        if bytes <= self.memory_bytes {
            return Ok(());
        }
        let most = self.memory_bytes >> 20;
        Err(SqlError::new(SqlState::OUT_OF_MEMORY, "out of memory")
            .detail(format!("A connection is allowed to keep {most} MB of cursors, of portals, and of a COPY's data.")))
    }

    /// Opens a cursor, if there is memory for it beside the others.
    pub(crate) fn open_cursor(&mut self, name: &str, mut cursor: Cursor) -> Result<()> {
        cursor.bytes = rows_weight(&cursor.rows);
        self.may_keep(cursor.bytes + self.cursors.values().map(|other| other.bytes).sum::<usize>())?;
        self.cursors.insert(name.to_owned(), cursor);
        Ok(())
    }

    /// The catalog that this connection sees: its transaction's own one, or everybody's.
    pub(crate) fn catalog(&self, state: &State) -> Arc<Catalog> {
        let own = self.transaction.as_ref().and_then(|transaction| transaction.catalog.clone());
        own.unwrap_or_else(|| state.catalog.clone())
    }

    /// The catalog that it has to do with now.
    pub(crate) fn sees(&mut self, catalog: Arc<Catalog>) {
        if !Arc::ptr_eq(&self.seen, &catalog) {
            self.seen = catalog;
        }
    }

    /// The running transaction; an implicit one is opened if there is none.
    pub(crate) fn transaction(&mut self, state: &State) -> &mut Transaction {
        if self.transaction.is_none() {
            self.begin(state, Block::Implicit);
        }
        self.transaction.as_mut().expect("a transaction has just begun")
    }

    /// Opens a transaction with the connection's defaults.
    pub(crate) fn begin(&mut self, state: &State, block: Block) {
        let Ready { isolation, read_only, deferrable, .. } = self.settings.ready;
        let began = self.begin_time();
        self.transaction = Some(Transaction {
            id: None,
            level: level(isolation, &state.options),
            block,
            failed: false,
            isolation,
            read_only,
            deferrable,
            catalog: None,
            catalog_base: state.catalog.clone(),
            savepoints: Vec::new(),
            deferred: Arc::default(),
            constraint_modes: Vec::new(),
            settings_before: self.settings.clone(),
            local_settings: Vec::new(),
            began,
            epoch: state.epoch,
            notifications: Notifications::default(),
            wrote: false,
            written: 0,
            locked_rows: FxHashSet::default(),
        });
    }

    /// Where it stands, as ReadyForQuery tells it.
    pub(crate) fn status(&self) -> Status {
        match &self.transaction {
            Some(transaction) if transaction.block == Block::Explicit && transaction.failed => Status::Failed,
            Some(transaction) if transaction.block == Block::Explicit => Status::InTransaction,
            _ => Status::Idle,
        }
    }

    /// What SHOW answers.
    pub(crate) fn show(&self, name: &str) -> Result<String> {
        let on = |truth: bool| if truth { "on" } else { "off" }.to_owned();
        let running = self.transaction.as_ref();
        match (name.to_lowercase().as_str(), running) {
            ("transaction_isolation", Some(running)) => Ok(running.isolation.name().to_owned()),
            ("transaction_isolation", None) => settings::show(&self.settings, "default_transaction_isolation"),
            ("transaction_read_only", Some(running)) => Ok(on(running.read_only)),
            ("transaction_read_only", None) => settings::show(&self.settings, "default_transaction_read_only"),
            ("transaction_deferrable", Some(running)) => Ok(on(running.deferrable)),
            ("is_superuser", _) => Ok(on(true)),
            ("session_authorization", _) => Ok(self.client.user.clone()),
            _ => settings::show(&self.settings, name),
        }
    }

    /// SET, of the connection or (LOCAL) of the transaction.
    pub(crate) fn set(&mut self, name: &str, value: Option<&str>, local: bool) -> Result<()> {
        match name.to_lowercase().as_str() {
            "transaction_isolation" => return self.set_isolation(value.unwrap_or("read committed")),
            "transaction_read_only" => {
                if let Some(transaction) = &mut self.transaction {
                    transaction.read_only = matches!(value, Some("on" | "true" | "1"));
                }
                return Ok(());
            }
            _ => {}
        }
        let before = settings::show(&self.settings, name).ok();
        let told = settings::set(&mut self.settings, &self.defaults, name, value)?;
        if let Some((name, value)) = told.filter(|(_, value)| before.as_ref() != Some(value)) {
            self.messages.push(Message::Parameter(name, value));
        }
        if local && let (Some(transaction), Some(before)) = (&mut self.transaction, before) {
            transaction.local_settings.push((name.to_owned(), before));
        }
        Ok(())
    }

    fn set_isolation(&mut self, value: &str) -> Result<()> {
        let isolation = Isolation::named(value).ok_or_else(|| {
            let message = format!("invalid value for parameter \"transaction_isolation\": \"{value}\"");
            SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
        })?;
        match &mut self.transaction {
            Some(transaction) if transaction.id.is_some() && transaction.isolation != isolation => {
                let message = "SET TRANSACTION ISOLATION LEVEL must be called before any query";
                return Err(SqlError::new(SqlState::ACTIVE_SQL_TRANSACTION, message));
            }
            Some(transaction) => transaction.isolation = isolation,
            None => {}
        }
        Ok(())
    }

    /// RESET ALL, DISCARD ALL: the settings with which the client connected.
    pub(crate) fn reset_settings(&mut self) {
        let before = settings::startup(&self.settings);
        let mut fresh = Arc::new(Settings { database: self.client.database.clone(), ..Settings::default() });
        settings::restore(&mut fresh, &self.defaults);
        self.settings = fresh;
        for (name, value) in settings::startup(&self.settings) {
            if !before.contains(&(name.clone(), value.clone())) {
                self.messages.push(Message::Parameter(name, value));
            }
        }
    }

    /// A notice for the client.
    pub(crate) fn notice(&mut self, severity: &'static str, state: SqlState, message: impl Into<String>) {
        self.messages.push(Message::Notice(severity, SqlError::new(state, message)));
    }
}

impl Connection {
    pub(crate) fn new(database: Database, client: Client) -> Connection {
        let mut settings = Arc::new(Settings { database: client.database.clone(), ..Settings::default() });
        let mut defaults = Defaults::default();
        settings::connect(&mut settings, &mut defaults, &client.settings);
        let statement_time = client.clock.unwrap_or_else(clock::wall);
        let cancel = Cancel::new();
        let mailbox = Arc::new(Mailbox::default());
        let (identity, programs, seen, memory_bytes) = {
            let mut state = database.inner.lock();
            let owner = state.new_owner();
            let label = client.label.clone().unwrap_or_else(|| format!("{}-{owner}", client.user));
            let session = state.store.session(&label);
            let activity = Activity {
                pid: client.pid,
                user: client.user.clone(),
                database: client.database.clone(),
                application: settings::show(&settings, "application_name").unwrap_or_default(),
                state: "idle",
                query: "".into(),
                listens: Vec::new(),
                mailbox: mailbox.clone(),
                cancel: cancel.clone(),
                tell: client.tell.clone(),
            };
            state.connections.insert(owner, activity);
            let programs = state.shelf.clone().unwrap_or_default();
            (Identity { session, owner }, programs, state.catalog.clone(), state.options.memory)
        };
        let session = SessionState {
            client,
            identity,
            settings,
            defaults,
            transaction: None,
            messages: Vec::new(),
            mailbox,
            cancel,
            statements: HashMap::new(),
            cursors: BTreeMap::new(),
            sequence_values: FxHashMap::default(),
            last_sequence: None,
            statement_time,
            memory_bytes,
            arrived: None,
            reads: Reads::Any,
            tables: BoundTables::default(),
            programs,
            temporary: None,
            seen,
            logged: None,
            block: None,
            path: None,
            spare_cells: FxHashMap::default(),
        };
        Connection { database, session, copy: None, plans: Default::default(), ended: None, shown: String::new() }
    }

    /// Another connection to the same database.
    pub fn beside(&self) -> Connection {
        let client = Client::new(self.session.client.user.clone(), self.session.client.database.clone());
        self.database.connect(client)
    }

    /// Where it stands.
    pub fn status(&self) -> Status {
        self.session.status()
    }

    /// What the client is to be told, since the last call.
    pub fn messages(&mut self) -> Vec<Message> {
        let mut messages = std::mem::take(&mut self.session.messages);
        self.session.mailbox.empty_into(&mut messages);
        messages
    }

    /// How long the client is allowed to be idle, now that it is.
    pub fn idle_timeout(&self) -> Option<Duration> {
        let ready = &self.session.settings.ready;
        let milliseconds = match self.status() {
            Status::Idle => ready.idle_session_timeout,
            Status::InTransaction | Status::Failed => ready.idle_in_transaction_timeout,
        };
        (milliseconds > 0).then(|| Duration::from_millis(milliseconds))
    }

    /// An error unless so many bytes of rows can be kept that are still to be handed out.
    pub fn may_keep(&self, bytes: usize) -> Result<()> {
        self.session.may_keep(bytes)
    }

    /// A handle to stop the running statement.
    pub fn canceller(&self) -> Cancel {
        self.session.cancel.clone()
    }

    /// The parameters that a client is told after it has connected (`server_version`, `client_encoding`, …).
    pub fn startup_parameters(&self) -> Vec<(String, String)> {
        let mut told = settings::startup(&self.session.settings);
        for (name, value) in &mut told {
            if name == "session_authorization" {
                value.clone_from(&self.session.client.user);
            }
        }
        told
    }

    /// Keeps a prepared statement under a name, beside those of PREPARE. The unnamed one (an empty name) is replaced.
    pub fn keep(&mut self, name: &str, statement: Prepared) -> Result<()> {
        if !name.is_empty() && self.session.statements.contains_key(name) {
            let message = format!("prepared statement \"{name}\" already exists");
            return Err(SqlError::new(SqlState::DUPLICATE_PREPARED_STATEMENT, message));
        }
        self.session.statements.insert(name.to_owned(), statement);
        Ok(())
    }

    /// The prepared statement with this name.
    pub fn kept(&self, name: &str) -> Result<&Prepared> {
        self.session.statements.get(name).ok_or_else(|| {
            let message = match name {
                "" => "unnamed prepared statement does not exist".to_owned(),
                name => format!("prepared statement \"{name}\" does not exist"),
            };
            SqlError::new(SqlState::INVALID_SQL_STATEMENT_NAME, message)
        })
    }

    /// Forgets a prepared statement, if there is one.
    pub fn forget(&mut self, name: &str) {
        self.session.statements.remove(name);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let inner = self.database.inner.clone();
        let mut state = inner.hold();
        self.session.roll_back(&mut state);
        if let Some(shelf) = &mut state.shelf {
            shelf.add(std::mem::take(&mut self.session.programs));
        }
        crate::session::temporary::drop_all(&mut state, &mut self.session);
        let owner = self.session.identity.owner;
        state.locks.unlock_all(owner);
        state.connections.remove(&owner);
        // A session that has an open transaction would stay; it has just been rolled back.
        let _ = state.store.close_session(self.session.identity.session);
        state.changed();
    }
}
