//! Several connections to one database, one statement at a time: what each comes to, who waits, who goes on.
//!
//! Every session has a thread, because a statement may wait for another session. The next statement goes out when all
//! others have come back or wait for somebody, so a script with one seed always runs the same way.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use skew_check::{Assumptions, Checker, Options as CheckOptions};
use skew_model::{History, Scope};
use skew_sql::session::{Client, Connection, Database, Format, Options, Outcome};
use skew_store::Recency;

/// Sessions of one database, numbered from 1, and a connection beside them.
pub struct Sessions {
    database: Database,
    control: Connection,
    requests: Vec<Sender<String>>,
    threads: Vec<JoinHandle<()>>,
    events: Receiver<Event>,
    /// Whose statement has not come back.
    out: Vec<bool>,
}

enum Event {
    Back(usize, String),
    /// The session's thread is about to wait.
    Waits,
}

/// What one session's statement came to.
pub type Answer = (usize, String);

impl Sessions {
    /// A database with these statements done, which every [`Sessions::reset`] comes back to.
    pub fn open(options: Options, sessions: usize, setup: &str) -> Sessions {
        let database = Database::new(options);
        let mut control = database.connect(Client::new("tester", "test"));
        for statement in setup.split(';').map(str::trim).filter(|statement| !statement.is_empty()) {
            let answer = answer(&mut control, statement);
            assert!(!answer.starts_with("ERROR"), "{statement}: {answer}");
        }
        assert_eq!(answer(&mut control, "SELECT skew.checkpoint()"), "");
        let (sender, events) = channel();
        let (requests, threads) = (0..sessions).map(|number| session(&database, number, &sender)).unzip();
        Sessions { database, control, requests, threads, events, out: vec![false; sessions] }
    }

    /// Back to the beginning, with another seed.
    pub fn reset(&mut self, seed: u64) {
        self.control(&format!("SELECT skew.reset({seed})"));
    }

    /// A statement beside the sessions.
    pub fn control(&mut self, sql: &str) -> String {
        answer(&mut self.control, sql)
    }

    /// Whether the session could take a statement.
    pub fn is_free(&self, session: usize) -> bool {
        !self.out[session - 1]
    }

    /// Sends a statement and waits until all sessions have come back or wait for somebody: what came back.
    pub fn step(&mut self, session: usize, sql: &str) -> Vec<Answer> {
        assert!(self.is_free(session), "T{session} waits, and is asked: {sql}");
        self.out[session - 1] = true;
        self.requests[session - 1].send(sql.to_owned()).expect("the session's thread runs");
        let mut back = Vec::new();
        while (0..self.out.len()).any(|at| self.out[at] && self.database.blockers(pid(at)).is_empty()) {
            if let Event::Back(at, text) = self.events.recv().expect("a session's thread runs") {
                self.out[at] = false;
                back.push((at + 1, text));
            }
        }
        back.sort();
        back
    }

    /// Rolls back what is open.
    pub fn end(&mut self) {
        while self.out.contains(&true) || (1..=self.out.len()).any(|session| self.is_in_block(session)) {
            let free: Vec<usize> = (1..=self.out.len()).filter(|&session| self.is_free(session)).collect();
            let session = free.iter().copied().find(|&session| self.is_in_block(session));
            self.step(session.or(free.first().copied()).expect("not everybody waits for somebody"), "ROLLBACK");
        }
    }

    fn is_in_block(&mut self, session: usize) -> bool {
        let pid = pid(session - 1);
        let state = self.control(&format!("SELECT state FROM pg_stat_activity WHERE pid = {pid}"));
        state.starts_with("idle in transaction")
    }

    /// What the sessions have done, which has to be within the levels of their transactions.
    pub fn history(&mut self) -> History {
        let text = self.control("SELECT skew.history()");
        History::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    /// Why what the sessions have done is not within the levels of their transactions, if it is not.
    pub fn complaint(&mut self) -> Option<String> {
        let real_time = self.database.options().recency == Recency::Commit;
        let history = self.history();
        let assumptions = Assumptions { sessions: true, real_time };
        let checker = Checker::new(&history, CheckOptions { assumptions, ..CheckOptions::default() });
        (checker.holds(Scope::Declared) != Some(true)).then(|| format!("not within its levels:\n{history}"))
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        if self.out.contains(&true) {
            return; // A test has failed while somebody waits.
        }
        self.requests.clear();
        for thread in self.threads.drain(..) {
            thread.join().expect("a session's thread ends without a panic");
        }
    }
}

fn pid(at: usize) -> i32 {
    1000 + i32::try_from(at).expect("few sessions")
}

fn session(database: &Database, number: usize, events: &Sender<Event>) -> (Sender<String>, JoinHandle<()>) {
    let (requests, inbox) = channel::<String>();
    let waits = Mutex::new(events.clone());
    let wait = move |park: &mut dyn FnMut()| {
        let _ = waits.lock().expect("nobody panics with the lock").send(Event::Waits);
        park();
    };
    let client = Client { pid: pid(number), wait: Arc::new(wait), ..Client::new("tester", "test") };
    let mut connection = database.connect(client);
    let events = events.clone();
    let thread = std::thread::spawn(move || {
        for sql in inbox {
            let text = answer(&mut connection, &sql);
            if events.send(Event::Back(number, text)).is_err() {
                return;
            }
        }
    });
    (requests, thread)
}

/// Rows as `1|10 2|20`, or a command's tag, or `ERROR code`.
pub fn answer(connection: &mut Connection, sql: &str) -> String {
    let result = connection.prepare(sql, &[]).and_then(|statement| connection.execute(&statement, &[]));
    if result.is_err() {
        connection.fail();
    }
    let shown = result.map(|outcome| show(connection, outcome));
    let ended = connection.sync();
    shown.and_then(|text| ended.map(|()| text)).unwrap_or_else(|error| format!("ERROR {}", error.fields().code))
}

fn show(connection: &mut Connection, outcome: Outcome) -> String {
    let (columns, rows) = match outcome {
        Outcome::Rows { columns, rows, .. } => (columns, rows),
        Outcome::Done(tag) => return tag,
        other => return format!("{other:?}"),
    };
    let mut shown = Vec::new();
    for row in &rows {
        let mut bytes = Vec::new();
        for (at, (value, column)) in row.iter().zip(columns.iter()).enumerate() {
            bytes.extend_from_slice(if at > 0 { b"|" } else { b"" });
            match value.is_null() {
                true => bytes.extend_from_slice(b"NULL"),
                false => {
                    let written = connection.write_value(&mut bytes, value, column.typed.ty, Format::Text);
                    written.expect("a value can be shown");
                }
            }
        }
        shown.push(String::from_utf8_lossy(&bytes).into_owned());
    }
    shown.join(" ")
}
