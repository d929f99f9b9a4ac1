//! Scripts of several sessions, and what a server does with them.
//!
//! Runs a script on a server, one statement at a time, and notes what happens: results, errors, who waits, who goes on.
//!
//! A statement that does not come back waits for a lock: the server says so. Only when every session has come back or
//! waits does the next statement go out, so two servers that behave alike give the same transcript.

use std::io;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::wire::{Answer, Connection, Outcome, Url};

/// What every session sends first: deadlocks are looked for soon, and rows are visited in the order of keys.
const SETTINGS: [&str; 3] =
    ["SET deadlock_timeout = '10ms'", "SET enable_seqscan = off", "SET enable_bitmapscan = off"];

/// A session that waits is looked at again only after its own look for deadlocks is over: then it is always the session
/// that closes a circle which gets the error.
const AFTER_WAIT: Duration = Duration::from_millis(40);

/// Nothing takes this long.
const STUCK: Duration = Duration::from_secs(20);

/// A statement of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// From 0.
    pub(crate) session: usize,
    pub(crate) sql: String,
}

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    /// The tables that the set-up makes, and whose rows are read at the end.
    pub(crate) tables: &'static [&'static str],
    pub(crate) setup: Vec<String>,
    pub(crate) sessions: usize,
    pub(crate) steps: Vec<Step>,
}

/// What happened at one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// Which step of the script.
    pub(crate) step: usize,
    /// The result, or `waits`.
    pub(crate) outcome: String,
    /// Other sessions that went on because of it, with their results.
    pub(crate) released: Vec<(usize, String)>,
}

/// What happened, and the rows at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Transcript {
    pub(crate) events: Vec<Event>,
    pub(crate) tables: Vec<String>,
}

/// A server with a database for scripts.
pub(crate) struct Server {
    url: Url,
    control: Connection,
    probe: Probe,
}

/// How to learn that a session waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probe {
    /// The lock manager's word, which is never late.
    BlockingPids,
    /// `pg_stat_activity`, which may be a little late.
    WaitEvent,
    /// It has not answered for a while.
    Clock,
}

impl Server {
    pub(crate) fn open(url: &Url) -> io::Result<Server> {
        let mut control = Connection::open(url)?;
        let probe = if control.simple(&Probe::BlockingPids.question(&[0])).code().is_none() {
            Probe::BlockingPids
        } else if control.simple(&Probe::WaitEvent.question(&[0])).code().is_none() {
            Probe::WaitEvent
        } else {
            Probe::Clock
        };
        Ok(Server { url: url.clone(), control, probe })
    }

    /// Makes the tables anew and runs the script.
    pub(crate) fn run(&mut self, script: &Script) -> io::Result<Transcript> {
        self.set_up(script)?;
        self.play(script)
    }

    /// Makes the tables anew.
    pub(crate) fn set_up(&mut self, script: &Script) -> io::Result<()> {
        self.control.simple(&format!("DROP TABLE IF EXISTS {} CASCADE", script.tables.join(", "))).ok()?;
        script.setup.iter().try_for_each(|statement| self.control.simple(statement).ok().map(drop))
    }

    /// Runs the steps on the tables as they are.
    pub(crate) fn play(&mut self, script: &Script) -> io::Result<Transcript> {
        let mut running = Running::start(self, script.sessions)?;
        let mut transcript = Transcript::default();
        let mut left: Vec<usize> = (0..script.steps.len()).collect();
        while let Some(at) = left.iter().position(|&step| running.is_free(script.steps[step].session)) {
            let step = left.remove(at);
            running.issue(script.steps[step].session, &script.steps[step].sql)?;
            let event = running.settle(&mut self.control, self.probe, script.steps[step].session, step)?;
            transcript.events.push(event);
        }
        running.stop();
        for table in script.tables {
            let answer = self.control.simple(&format!("SELECT * FROM {table} ORDER BY 1"));
            transcript.tables.push(format!("{table}: {}", text(&answer)));
        }
        Ok(transcript)
    }

    /// Sends a statement beside the sessions.
    pub(crate) fn control(&mut self, sql: &str) -> Answer {
        self.control.simple(sql)
    }
}

impl Transcript {
    /// What a step gave in the end: if it waited, that is in a later event, which let it go on.
    pub(crate) fn outcome(&self, script: &Script, step: usize) -> Option<&str> {
        let at = self.events.iter().position(|event| event.step == step)?;
        if self.events[at].outcome != "waits" {
            return Some(&self.events[at].outcome);
        }
        let session = script.steps[step].session;
        let mut later = self.events[at + 1..].iter().flat_map(|event| &event.released);
        later.find(|(other, _)| *other == session).map(|(_, outcome)| outcome.as_str())
    }
}

impl Probe {
    fn question(self, processes: &[i32]) -> String {
        let list = processes.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
        match self {
            Probe::BlockingPids => format!(
                "SELECT pid, pg_blocking_pids(pid) FROM pg_stat_activity WHERE pid IN ({list}) \
                 AND cardinality(pg_blocking_pids(pid)) > 0"
            ),
            Probe::WaitEvent => {
                format!("SELECT pid, NULL FROM pg_stat_activity WHERE pid IN ({list}) AND wait_event_type = 'Lock'")
            }
            Probe::Clock => String::new(),
        }
    }
}

/// A session in a thread of its own.
struct Session {
    process: i32,
    requests: Option<Sender<String>>,
    thread: Option<JoinHandle<()>>,
    /// Since when a statement is out, or waits for those whom it waits for now: then it looks for deadlocks anew.
    pending: Option<Instant>,
    /// Whom it was seen to wait for.
    waits_for: Vec<i32>,
}

/// The sessions of one run.
struct Running {
    sessions: Vec<Session>,
    answers: Receiver<(usize, Answer)>,
}

impl Running {
    fn start(server: &Server, sessions: usize) -> io::Result<Running> {
        let (sender, answers) = mpsc::channel();
        let sessions = (0..sessions)
            .map(|number| {
                let mut connection = Connection::open(&server.url)?;
                connection.limit(STUCK)?;
                for statement in SETTINGS {
                    // They are about PostgreSQL's planner and detector; another server may not know them.
                    connection.simple(statement);
                }
                let (requests, inbox) = mpsc::channel::<String>();
                let (process, sender) = (connection.process(), sender.clone());
                let thread = thread::spawn(move || {
                    for sql in inbox {
                        if sender.send((number, connection.simple(&sql))).is_err() {
                            return;
                        }
                    }
                });
                Ok(Session {
                    process,
                    requests: Some(requests),
                    thread: Some(thread),
                    pending: None,
                    waits_for: Vec::new(),
                })
            })
            .collect::<io::Result<Vec<_>>>()?;
        Ok(Running { sessions, answers })
    }

    fn is_free(&self, session: usize) -> bool {
        self.sessions[session].pending.is_none()
    }

    fn issue(&mut self, session: usize, sql: &str) -> io::Result<()> {
        let session = &mut self.sessions[session];
        session.pending = Some(Instant::now());
        session.waits_for.clear();
        let requests = session.requests.as_ref().ok_or_else(|| io::Error::other("the session has ended"))?;
        requests.send(sql.to_owned()).map_err(io::Error::other)
    }

    /// Waits until every session has come back or waits for a lock.
    fn settle(&mut self, control: &mut Connection, probe: Probe, active: usize, step: usize) -> io::Result<Event> {
        let start = Instant::now();
        let mut outcome = None;
        let mut released = Vec::new();
        let mut patience = Duration::from_micros(300);
        loop {
            while let Ok((session, answer)) = self.answers.recv_timeout(patience) {
                self.sessions[session].pending = None;
                match session == active {
                    true => outcome = Some(text(&answer)),
                    false => released.push((session, text(&answer))),
                }
                if self.sessions.iter().all(|session| session.pending.is_none()) {
                    break;
                }
            }
            if self.is_settled(control, probe)? {
                break;
            }
            if start.elapsed() > STUCK {
                outcome = Some("is stuck".to_owned());
                break;
            }
            patience = Duration::from_millis(2);
        }
        released.sort();
        Ok(Event { step, outcome: outcome.unwrap_or_else(|| "waits".to_owned()), released })
    }

    /// Whether all that are out wait, and no circle of them is about to be broken.
    fn is_settled(&mut self, control: &mut Connection, probe: Probe) -> io::Result<bool> {
        let out: Vec<usize> = (0..self.sessions.len()).filter(|&at| !self.is_free(at)).collect();
        if out.is_empty() {
            return Ok(true);
        }
        if probe == Probe::Clock {
            let long = |at: &usize| self.sessions[*at].pending.is_some_and(|since| since.elapsed().as_millis() > 80);
            return Ok(out.iter().all(long));
        }
        let processes: Vec<i32> = out.iter().map(|&at| self.sessions[at].process).collect();
        let answer = control.simple(&probe.question(&processes)).ok()?;
        let waiting: Vec<(i32, Vec<i32>)> = answer.rows().iter().filter_map(|row| blocked(row)).collect();
        for &at in &out {
            let session = &mut self.sessions[at];
            let blockers = waiting.iter().find(|(process, _)| *process == session.process);
            let blockers = blockers.map_or_else(Vec::new, |(_, blockers)| blockers.clone());
            if session.waits_for != blockers {
                session.pending = Some(Instant::now());
                session.waits_for = blockers;
            }
        }
        let waits = |at: usize| waiting.iter().any(|(process, _)| *process == self.sessions[at].process);
        let all = out.iter().all(|&at| waits(at));
        let over = |at: &usize| self.sessions[*at].pending.is_some_and(|since| since.elapsed() > AFTER_WAIT);
        Ok(all && out.iter().all(over) && !has_circle(&waiting))
    }

    /// Closes the sessions; what is open is rolled back by the server.
    fn stop(&mut self) {
        for session in &mut self.sessions {
            session.requests = None;
        }
        for session in &mut self.sessions {
            if let Some(thread) = session.thread.take() {
                // A thread ends when its statement does.
                let _ = thread.join();
            }
        }
    }
}

/// A row of the probe: who waits, and for whom.
fn blocked(row: &[Option<String>]) -> Option<(i32, Vec<i32>)> {
    let process = row.first()?.as_ref()?.parse().ok()?;
    let others = row.get(1).and_then(Option::as_ref).map_or("", String::as_str);
    Some((process, others.split(['{', ',', '}']).filter_map(|other| other.parse().ok()).collect()))
}

fn has_circle(waiting: &[(i32, Vec<i32>)]) -> bool {
    waiting.iter().any(|(start, _)| {
        let mut seen = Vec::new();
        let mut next = vec![*start];
        while let Some(process) = next.pop() {
            for other in waiting.iter().filter(|(who, _)| *who == process).flat_map(|(_, others)| others) {
                if other == start {
                    return true;
                }
                if !seen.contains(other) {
                    seen.push(*other);
                    next.push(*other);
                }
            }
        }
        false
    })
}

/// An answer in a line.
fn text(answer: &Answer) -> String {
    match answer.outcome() {
        Outcome::Lost(why) => format!("connection lost: {why}"),
        Outcome::Failed(error) if error.constraint.is_empty() => format!("error {}", error.code),
        Outcome::Failed(error) => format!("error {} {}", error.code, error.constraint),
        Outcome::Done(results) => {
            let Some(last) = results.last() else { return "nothing".to_owned() };
            let row = |row: &Vec<Option<String>>| {
                let values: Vec<&str> = row.iter().map(|value| value.as_deref().unwrap_or("NULL")).collect();
                format!("({})", values.join(", "))
            };
            let rows: Vec<String> = last.values.iter().map(row).collect();
            format!("{} {}", last.tag, rows.join(" ")).trim_end().to_owned()
        }
    }
}
