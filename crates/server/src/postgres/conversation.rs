//! A connection after its start, as a state machine: a message in, bytes out.
//!
//! What a message comes to follows PostgreSQL: after an error in the extended protocol everything up to Sync is skipped;
//! Sync ends the implicit transaction of a pipeline; a simple query is a pipeline of its own.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use skew_sql::error::{SqlError, SqlState};
use skew_sql::session::{Cancel, Connection, Message, Outcome, Prepared, Status};
use skew_sql::types::Datum;

use crate::postgres::decode::{self, Request};
use crate::postgres::encode::Messages;
use crate::postgres::extended::Portal;
use crate::postgres::frames::{End, Frames};
use crate::postgres::sink::Sink;
use crate::postgres::startup::Source;
use crate::rewrites::{Rewrites, Rewriting};
use crate::scheduler::Member;

/// More than this is sent on before a result is complete.
const ENOUGH: usize = 64 << 10;

/// A connection after its start.
pub struct Conversation {
    pub(crate) connection: Connection,
    pub(crate) out: Messages,
    pub(crate) portals: HashMap<String, Portal>,
    pub(crate) mode: Mode,
    cancel: Cancel,
    gate: Arc<Member>,
    sink: Arc<Sink>,
    /// Whether a statement was executed since the last Sync, so that there may be something to commit.
    executed: bool,
    /// Whether Sync comes next.
    pub(crate) sync_is_next: bool,
    /// Settings whose new values the client is told before it is ready.
    changed: Vec<(String, String)>,
    /// The values that it was told.
    told: HashMap<String, String>,
    /// Statements that are changed on their way.
    pub(crate) rewriting: Rewriting,
}

/// What is expected next.
pub(crate) enum Mode {
    /// Anything.
    Ready,
    /// Nothing counts until Sync.
    Skip,
    /// Data of a COPY FROM STDIN.
    Copy {
        /// The statements of the simple query that come after it; `None` in the extended protocol.
        rest: Option<VecDeque<Arc<str>>>,
    },
    /// Nothing: the client does not follow.
    Lost,
}

/// What comes after a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// The end of the implicit transaction, and nothing before it can fail.
    Sync,
    Other,
}

/// Whether the conversation goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// The next message, please.
    Continue,
    /// It is over.
    Over,
}

impl Conversation {
    /// Begins: the client is told the settings and its keys, and that the server is ready.
    pub fn begin(
        connection: Connection,
        gate: Arc<Member>,
        sink: Arc<Sink>,
        key: (i32, i32),
        rewrites: Rewrites,
    ) -> Conversation {
        let mut conversation = Conversation {
            cancel: connection.canceller(),
            connection,
            out: Messages::default(),
            portals: HashMap::new(),
            mode: Mode::Ready,
            gate,
            sink,
            executed: false,
            sync_is_next: false,
            changed: Vec::new(),
            told: HashMap::new(),
            rewriting: Rewriting::new(rewrites),
        };
        conversation.changed = conversation.connection.startup_parameters();
        conversation.tell_settings();
        conversation.out.backend_key(key.0, key.1);
        conversation.ready();
        conversation
    }

    /// Talks until one of the two has had enough.
    pub fn run(&mut self, frames: &mut Frames<impl Source>) -> End {
        loop {
            if !frames.is_ahead() {
                self.becomes_idle();
                if let Err(end) = self.wait_while_idle(frames) {
                    return end;
                }
            }
            let frame = match frames.next() {
                Ok(frame) => frame,
                Err(end) => return end,
            };
            self.sink.busy();
            self.sync_is_next = frame.sync_is_next;
            let flow = self.message(frame.kind, frame.body);
            if flow == Flow::Over || self.sink.is_broken() || self.cancel.is_terminated() {
                return End::Gone;
            }
        }
    }

    /// Waits for the first byte of the next message, as long as an idle client is allowed to take.
    fn wait_while_idle(&mut self, frames: &mut Frames<impl Source>) -> Result<(), End> {
        let (timeout, late) = match self.connection.status() {
            _ if !matches!(self.mode, Mode::Ready) || self.executed => return Ok(()),
            Status::Idle => (self.connection.idle_timeout(), End::IdleSession),
            Status::InTransaction | Status::Failed => (self.connection.idle_timeout(), End::IdleInTransaction),
        };
        let Some(timeout) = timeout else { return Ok(()) };
        frames.source().set_deadline(Some(Instant::now() + timeout));
        let waited = frames.wait();
        frames.source().set_deadline(None);
        waited.map_err(|end| if matches!(end, End::Timeout) { late } else { end })
    }

    /// Takes a message. A panic in it is a mistake of Skew's: the statement fails, the connection and all others go on.
    pub fn message(&mut self, kind: u8, body: &[u8]) -> Flow {
        let in_query = match &self.mode {
            Mode::Copy { rest } => rest.is_some(),
            _ => matches!(kind, b'Q' | b'F'),
        };
        let taken = catch_unwind(AssertUnwindSafe(|| self.take(kind, body)));
        taken.unwrap_or_else(|_| {
            let message = "an internal error of Skew: please report it, with its log";
            let error = SqlError::new(SqlState::INTERNAL_ERROR, message);
            if in_query {
                self.refuse_query(error)
            } else {
                self.refuse(&error)
            }
            self.flow()
        })
    }

    fn take(&mut self, kind: u8, body: &[u8]) -> Flow {
        match decode::request(kind, body) {
            Ok(Request::Terminate) => return Flow::Over,
            Ok(request) => self.request(kind, request),
            Err(_) if matches!(self.mode, Mode::Skip) => {}
            Err(error) => self.malformed(kind, error),
        }
        self.flow()
    }

    fn flow(&self) -> Flow {
        match self.mode {
            Mode::Lost => Flow::Over,
            _ => Flow::Continue,
        }
    }

    fn request(&mut self, kind: u8, request: Request<'_>) {
        match (&self.mode, request) {
            (Mode::Skip, Request::Sync) => self.sync(),
            (Mode::Skip | Mode::Lost, _) => {}
            (Mode::Copy { .. }, request) => self.copy_request(kind, request),
            (Mode::Ready, Request::Query(sql)) => self.query(sql),
            (Mode::Ready, Request::Sync) => self.sync(),
            (Mode::Ready, Request::Flush) => self.flush(),
            (Mode::Ready, Request::FunctionCall) => self.refuse_query(SqlError::unsupported("a function call message")),
            // What is left of a COPY that has failed.
            (Mode::Ready, Request::CopyData(_) | Request::CopyDone | Request::CopyFail(_)) => {}
            (Mode::Ready, request) => {
                if let Err(error) = self.extended(request) {
                    self.refuse(&error);
                }
            }
        }
    }

    fn malformed(&mut self, kind: u8, error: SqlError) {
        match (&self.mode, kind) {
            (Mode::Copy { .. }, _) => self.copy_failed(error),
            (_, b'Q' | b'F') => self.refuse_query(error),
            (_, b'd' | b'c' | b'f') => self.out.error("ERROR", &error),
            _ => self.refuse(&error),
        }
    }

    /// A message of the extended protocol failed.
    pub(crate) fn refuse(&mut self, error: &SqlError) {
        if self.is_over() {
            return;
        }
        self.connection.fail();
        self.tell_messages();
        self.out.error("ERROR", error);
        self.mode = Mode::Skip;
    }

    /// A simple query failed.
    pub(crate) fn refuse_query(&mut self, error: SqlError) {
        if self.is_over() {
            return;
        }
        self.connection.fail();
        self.tell_messages();
        self.out.error("ERROR", &error);
        self.mode = Mode::Ready;
        // Rolls back; nothing that could fail is left to do.
        let _ = self.connection.sync();
        self.executed = false;
        self.ready();
    }

    /// Whether somebody has ended the connection, so that its last error is not a statement's any more.
    fn is_over(&mut self) -> bool {
        let is_over = self.cancel.is_terminated();
        if is_over {
            self.mode = Mode::Lost;
        }
        is_over
    }

    /// Waits for its turn. Before every statement.
    pub(crate) fn turn(&mut self, sql: &str) {
        self.gate.turn_as(sql, self.rewriting.asked(sql));
        self.executed = true;
    }

    /// Runs a statement whose turn it is. Where the end of its transaction comes next and waits for no turn of its own,
    /// both are one.
    pub(crate) fn perform(
        &mut self,
        statement: &Prepared,
        parameters: &[Datum],
        then: Then,
    ) -> Result<Outcome, SqlError> {
        for sql in self.rewriting.before(&statement.sql) {
            let first = self.connection.prepare_once(&sql)?;
            let own = parameters.get(..first.parameters.len()).unwrap_or_default();
            self.connection.execute(&first, own)?;
        }
        let outcome = match then == Then::Sync && self.gate.is_open() {
            true => self.connection.execute_last(statement, parameters)?,
            false => self.connection.execute(statement, parameters)?,
        };
        for sql in self.rewriting.after(&statement.sql) {
            let last = self.connection.prepare_once(&sql)?;
            self.connection.execute(&last, &[])?;
        }
        Ok(outcome)
    }

    /// The end of a pipeline.
    fn sync(&mut self) {
        self.mode = Mode::Ready;
        if let Err(error) = self.commit() {
            self.tell_messages();
            self.out.error("ERROR", &error);
        }
        self.ready();
    }

    /// Ends the implicit transaction, if there is one.
    pub(crate) fn commit(&mut self) -> Result<(), SqlError> {
        if self.executed && self.connection.status() == Status::Idle {
            self.gate.turn("");
        }
        self.executed = false;
        self.connection.sync()
    }

    /// ReadyForQuery, with what comes before it.
    pub(crate) fn ready(&mut self) {
        self.tell_messages();
        self.tell_settings();
        let status = self.connection.status();
        if status == Status::Idle {
            // Portals end with their transaction.
            self.portals.clear();
        }
        self.out.ready(status);
        self.gate.rest(status != Status::Idle);
        self.flush();
    }

    /// Notices and notifications; new values of settings are kept until the client is told that the server is ready.
    pub(crate) fn tell_messages(&mut self) {
        for message in self.connection.messages() {
            match message {
                Message::Parameter(name, value) => self.changed.push((name, value)),
                other => tell(&mut self.out, &other),
            }
        }
    }

    /// New values of settings, if they are new to the client.
    fn tell_settings(&mut self) {
        for (name, value) in std::mem::take(&mut self.changed) {
            if self.told.get(&name) != Some(&value) {
                self.out.parameter(&name, &value);
                self.told.insert(name, value);
            }
        }
    }

    /// From here on other threads may tell the client something. What they had to say before is told now.
    fn becomes_idle(&mut self) {
        if self.connection.status() != Status::Idle || !matches!(self.mode, Mode::Ready) || self.executed {
            return;
        }
        self.sink.idle();
        let messages = self.connection.messages();
        if !messages.is_empty() {
            messages.iter().for_each(|message| tell(&mut self.out, message));
            self.flush();
        }
    }

    /// Sends what there is.
    pub(crate) fn flush(&mut self) {
        self.sink.send(&mut self.out.bytes);
    }

    /// Sends what there is if it is much.
    pub(crate) fn spill(&mut self) {
        if self.out.bytes.len() > ENOUGH {
            self.flush();
        }
    }

    /// The last words: why the server ends the connection.
    pub fn farewell(&mut self, error: &SqlError) {
        self.out.error("FATAL", error);
        self.flush();
    }
}

/// What the client is told when the connection cannot go on, if it is to be told anything.
pub fn last_words(end: &End) -> Option<SqlError> {
    match end {
        End::Gone | End::Timeout => None,
        End::IdleInTransaction => {
            let message = "terminating connection due to idle-in-transaction timeout";
            Some(SqlError::new(SqlState::IDLE_IN_TRANSACTION_TIMEOUT, message))
        }
        End::IdleSession => {
            let message = "terminating connection due to idle-session timeout";
            Some(SqlError::new(SqlState::IDLE_SESSION_TIMEOUT, message))
        }
        End::UnknownType(kind) => Some(decode::malformed(format!("invalid frontend message type {kind}"))),
        End::Length(_) => Some(decode::malformed("invalid message length")),
        End::TooLong(length) => {
            let message = format!("a message of {length} bytes is longer than this server takes");
            Some(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message))
        }
    }
}

/// Writes a message that the client did not ask for.
pub(crate) fn tell(out: &mut Messages, message: &Message) {
    match message {
        Message::Notice(severity, notice) => out.notice(severity, notice),
        Message::Parameter(name, value) => out.parameter(name, value),
        Message::Notification { pid, channel, payload } => out.notification(*pid, channel, payload),
    }
}
