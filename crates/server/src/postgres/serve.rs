//! A client's socket, from its first byte to its last.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use skew_sql::error::{SqlError, SqlState};
use skew_sql::session::{Cancel, Client, DeadlockCheck};

use crate::databases::Databases;
use crate::hangup::Hangups;
use crate::listen::Shared;
use crate::postgres::conversation::{self, Conversation};
use crate::postgres::encode::Messages;
use crate::postgres::frames::Frames;
use crate::postgres::sink::Sink;
use crate::postgres::startup::{self, Introduction, NotConnected};
use crate::scheduler::Member;
use crate::socket::{self, Reader, Socket};

/// How long a client that is refused may take to notice.
const GOODBYE: Duration = Duration::from_secs(2);

/// Talks to a client until it leaves.
pub(crate) fn serve(shared: &Shared, socket: Arc<Socket>, is_full: bool) {
    socket.prepare();
    let deadline = Instant::now() + shared.limits.startup_time;
    let (reader, writer) = socket::split(&socket, deadline, shared.certificate.clone());
    let mut frames = Frames::new(reader, shared.limits.max_message);
    let sink = Arc::new(Sink::new(Box::new(writer)));
    // Whatever goes wrong with one client is that client's: it is told, and its transaction is rolled back.
    let talk = AssertUnwindSafe(|| converse(shared, &socket, &sink, &mut frames, is_full));
    let last = catch_unwind(talk).unwrap_or_else(|_| {
        Some(SqlError::new(SqlState::INTERNAL_ERROR, "an internal error of Skew: please report it, with its log"))
    });
    if let Some(error) = &last {
        let mut out = Messages::default();
        out.error("FATAL", error);
        sink.send(&mut out.bytes);
    }
    // Dropping the socket would not be enough: the thread that watches for hang-ups may still hold it, and drivers such as
    // asyncpg wait for the end of the stream after they have sent Terminate.
    socket.close();
    if last.is_some() {
        frames.source().drain(GOODBYE);
    }
}

/// The whole conversation; what the client is told at its end.
fn converse(
    shared: &Shared,
    socket: &Arc<Socket>,
    sink: &Arc<Sink>,
    frames: &mut Frames<Reader>,
    is_full: bool,
) -> Option<SqlError> {
    let introduction = match startup::introduce(frames, sink, &shared.gatekeeper, &shared.cancels) {
        Ok(introduction) => introduction,
        Err(NotConnected::Silently) => return None,
        Err(NotConnected::Refused(error)) => return Some(error),
    };
    if is_full {
        return Some(SqlError::new(SqlState::TOO_MANY_CONNECTIONS, "sorry, too many clients already"));
    }
    frames.source().lift_deadline();
    let entry = match shared.databases.open(&introduction.database) {
        Ok(entry) => entry,
        Err(why) => return Some(why.into()),
    };
    let gate = Arc::new(entry.scheduler.join());
    let waiting = Waiting {
        gate: Arc::clone(&gate),
        hangups: Arc::clone(&shared.hangups),
        socket: Arc::clone(socket),
        sink: Arc::clone(sink),
        cancel: Arc::default(),
    };
    let cancel = Arc::clone(&waiting.cancel);
    let client = client(shared, introduction, waiting, sink);
    let pid = client.pid;
    let connection = entry.database.connect(client);
    let canceller = cancel.get_or_init(|| connection.canceller());
    let idle = Arc::clone(socket);
    canceller.on_terminate(move || idle.stop_reading());
    let (deaf, socket_of_deaf) = (canceller.clone(), Arc::clone(socket));
    sink.on_overflow(move || {
        deaf.terminate();
        socket_of_deaf.abandon();
    });
    let key = shared.cancels.enter(pid, canceller.clone());
    let mut conversation =
        Conversation::begin(connection, gate, Arc::clone(sink), (key.pid, key.secret), entry.rewrites());
    let end = conversation.run(frames);
    match shared.is_ending() || canceller.is_terminated() {
        true => Some(SqlError::new(SqlState::ADMIN_SHUTDOWN, "terminating connection due to administrator command")),
        false => conversation::last_words(&end),
    }
}

fn client(shared: &Shared, introduction: Introduction, waiting: Waiting, sink: &Arc<Sink>) -> Client {
    let sink = Arc::clone(sink);
    let gate = Arc::clone(&waiting.gate);
    let cluster: Arc<Databases> = Arc::clone(&shared.databases);
    Client {
        stack: shared.limits.stack,
        user: introduction.user,
        database: introduction.database,
        pid: shared.cancels.new_pid(),
        settings: introduction.settings,
        wait: Arc::new(move |park| waiting.wait(park)),
        pause: Arc::new(move || gate.turn("")),
        tell: Arc::new(move |message| sink.tell(message)),
        cluster,
        label: None,
        clock: None,
        deadlocks: DeadlockCheck::AfterTimeout,
    }
}

/// What is done while a statement waits for a lock.
struct Waiting {
    gate: Arc<Member>,
    hangups: Arc<Hangups>,
    socket: Arc<Socket>,
    sink: Arc<Sink>,
    cancel: Arc<OnceLock<Cancel>>,
}

impl Waiting {
    /// Nobody waits for the one who waits, and if its client hangs up the statement is over.
    fn wait(&self, park: &mut dyn FnMut()) {
        self.gate.blocked();
        let watch = self.cancel.get().map(|cancel| {
            let (cancel, sink, socket) = (cancel.clone(), Arc::clone(&self.sink), Arc::clone(&self.socket));
            self.hangups.watch(&self.socket, move || {
                if !socket.is_stopped() {
                    sink.breaks();
                }
                cancel.lose();
            })
        });
        park();
        drop(watch);
        self.gate.unblocked();
    }
}
