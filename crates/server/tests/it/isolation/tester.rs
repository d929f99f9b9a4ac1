//! Runs the permutations of a spec over several connections and prints what PostgreSQL's `isolationtester` prints.
//!
//! A step that does not finish is asked about: when the server says that its session waits for another session of the
//! spec, the step is reported as waiting, and the next step is sent.

use std::fmt::Write;
use std::time::{Duration, Instant};

use crate::isolation::client::Client;
use crate::isolation::judge::judge;
use crate::isolation::spec::{Blocker, PermutationStep, Spec};
use crate::target::Target;

/// How long the runner waits for an answer before it asks whether the session waits for a lock.
const POLL: Duration = Duration::from_millis(10);
/// A step that neither finishes nor waits for another session for so long hangs. A set-up inserts a million rows.
const MAX_STEP: Duration = Duration::from_secs(120);

/// What a permutation printed.
pub(crate) struct Printed {
    /// The names of its steps.
    pub(crate) steps: String,
    /// From `starting permutation` on.
    pub(crate) text: String,
}

/// What is asked of a permutation besides what it prints.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Judged {
    No,
    /// Its history is within the levels of its transactions, and no constraint is broken in the end.
    ByLevels,
}

/// Runs every permutation; an error says which step hangs, which set-up failed, or what was outside of a level.
pub(crate) fn run_spec(spec: &Spec, target: &Target, judged: Judged) -> Result<Vec<Printed>, String> {
    let connect = || Client::connect(target.address, &target.database);
    let mut watcher = connect();
    let mut clients: Vec<Client> = spec.sessions.iter().map(|_| connect()).collect();
    let pids: Vec<String> = clients.iter().map(|client| client.pid.to_string()).collect();
    let pids = pids.join(",");
    let mut printed = Vec::new();
    for permutation in &spec.permutations {
        let shown = String::new();
        let run = Run { spec, judged, watcher: &mut watcher, clients: &mut clients, pids: &pids, shown };
        let steps: Vec<&str> = permutation.iter().map(|step| step.step.name.as_str()).collect();
        let steps = steps.join(" ");
        let text = run.permutation(permutation).map_err(|why| format!("permutation {steps}: {why}"))?;
        printed.push(Printed { steps, text });
    }
    Ok(printed)
}

#[derive(Clone, Copy, PartialEq)]
enum Attempt {
    /// Right after the step was sent.
    First,
    /// Later: the step has been reported as waiting.
    Again,
    /// Later, and there is nothing else to do than to wait for it.
    Last,
}

struct Run<'a> {
    spec: &'a Spec,
    judged: Judged,
    watcher: &'a mut Client,
    clients: &'a mut [Client],
    pids: &'a str,
    shown: String,
}

/// A step that was sent and is not reported as complete.
struct Waiting<'a> {
    step: &'a PermutationStep,
    /// For each marker about notices, how many messages its session must have received.
    target_notices: Vec<usize>,
}

impl<'a> Run<'a> {
    fn permutation(mut self, steps: &'a [PermutationStep]) -> Result<String, String> {
        let names: Vec<&str> = steps.iter().map(|step| step.step.name.as_str()).collect();
        let _ = writeln!(self.shown, "\nstarting permutation: {}", names.join(" "));
        for sql in &self.spec.setups {
            let shown = self.watcher.run(sql, MAX_STEP).ok_or("the set-up hangs")?;
            self.watcher.notices.clear();
            self.set_up(&shown)?;
        }
        if self.judged == Judged::ByLevels {
            self.watcher.run("SELECT skew.checkpoint()", MAX_STEP).ok_or("the checkpoint hangs")?;
        }
        for (at, session) in self.spec.sessions.iter().enumerate() {
            if let Some(sql) = &session.setup {
                let shown = self.clients[at].run(sql, MAX_STEP).ok_or("a session's set-up hangs")?;
                self.show_notices(at);
                self.set_up(&shown)?;
            }
        }
        let mut received = vec![0; self.clients.len()];
        let mut waiting: Vec<Waiting<'a>> = Vec::new();
        for step in steps {
            self.make_idle(step.session, &mut waiting, &mut received)?;
            self.clients[step.session].send(&step.step.sql);
            let target_notices = step.blockers.iter().map(|blocker| match blocker {
                Blocker::Notices { session, count } => received[*session] + count,
                _ => 0,
            });
            let sent = Waiting { step, target_notices: target_notices.collect() };
            let is_waiting = !self.try_complete(&sent, Attempt::First, &waiting, &mut received)?;
            self.try_complete_all(&mut waiting, Attempt::Again, Some(&sent).filter(|_| is_waiting), &mut received)?;
            if is_waiting {
                waiting.push(sent);
            }
        }
        self.try_complete_all(&mut waiting, Attempt::Last, None, &mut received)?;
        if !waiting.is_empty() {
            return Err("the steps block each other".to_owned());
        }
        self.tear_down()?;
        Ok(self.shown)
    }

    fn set_up(&mut self, shown: &str) -> Result<(), String> {
        if shown.lines().any(|line| line.starts_with("ERROR:")) {
            return Err(format!("the set-up failed: {shown}"));
        }
        self.shown.push_str(shown);
        Ok(())
    }

    fn tear_down(&mut self) -> Result<(), String> {
        for (at, session) in self.spec.sessions.iter().enumerate() {
            if let Some(sql) = &session.teardown {
                let shown = self.clients[at].run(sql, MAX_STEP).ok_or("a session's teardown hangs")?;
                self.show_notices(at);
                self.shown.push_str(&shown);
            }
        }
        if self.judged == Judged::ByLevels {
            for client in &mut *self.clients {
                client.run("ROLLBACK", MAX_STEP).ok_or("a ROLLBACK hangs")?;
                client.notices.clear();
            }
            judge(self.watcher)?;
        }
        if let Some(sql) = &self.spec.teardown {
            let shown = self.watcher.run(sql, MAX_STEP).ok_or("the teardown hangs")?;
            self.shown.push_str(&shown);
        }
        Ok(())
    }

    /// Waits until the session's earlier step has completed.
    fn make_idle(
        &mut self,
        session: usize,
        waiting: &mut Vec<Waiting<'a>>,
        received: &mut [usize],
    ) -> Result<(), String> {
        let began = Instant::now();
        while let Some(at) = waiting.iter().position(|waiting| waiting.step.session == session) {
            let old = waiting.remove(at);
            if !self.try_complete(&old, Attempt::Last, waiting, received)? {
                waiting.insert(at, old);
            }
            self.try_complete_all(waiting, Attempt::Again, None, received)?;
            if began.elapsed() > 2 * MAX_STEP {
                return Err(format!("step {} hangs", waiting[at].step.step.name));
            }
        }
        Ok(())
    }

    /// Reports the steps that have completed; again as long as some completion or notice can release a marked step.
    fn try_complete_all(
        &mut self,
        waiting: &mut Vec<Waiting<'a>>,
        attempt: Attempt,
        newest: Option<&Waiting<'a>>,
        received: &mut [usize],
    ) -> Result<(), String> {
        loop {
            let before = (waiting.len(), received.iter().sum::<usize>());
            let mut at = 0;
            while at < waiting.len() {
                let step = waiting.remove(at);
                waiting.extend(newest.map(|newest| Waiting { step: newest.step, target_notices: Vec::new() }));
                let is_complete = self.try_complete(&step, attempt, waiting, received)?;
                waiting.truncate(waiting.len() - usize::from(newest.is_some()));
                if !is_complete {
                    waiting.insert(at, step);
                    at += 1;
                }
            }
            let has_marker = waiting.iter().any(|waiting| !waiting.step.blockers.is_empty());
            if !has_marker || before == (waiting.len(), received.iter().sum()) {
                return Ok(());
            }
        }
    }

    /// Whether the step is complete; it is reported then. `others` are the steps in flight besides it.
    fn try_complete(
        &mut self,
        sent: &Waiting<'a>,
        attempt: Attempt,
        others: &[Waiting<'a>],
        received: &mut [usize],
    ) -> Result<bool, String> {
        let step = sent.step;
        if attempt == Attempt::First && step.blockers.iter().any(|blocker| matches!(blocker, Blocker::Once)) {
            return Ok(self.report_waiting(step, attempt));
        }
        let began = Instant::now();
        loop {
            let has_finished = self.clients[step.session].has_finished(POLL);
            received[step.session] += self.show_notices(step.session);
            if has_finished {
                break;
            }
            if attempt != Attempt::Last && self.is_blocked(step.session) {
                // Messages that came while the watcher asked.
                let has_finished = self.clients[step.session].has_finished(Duration::from_micros(1));
                received[step.session] += self.show_notices(step.session);
                if has_finished {
                    break;
                }
                return Ok(self.report_waiting(step, attempt));
            }
            if began.elapsed() > MAX_STEP {
                return Err(format!("step {} hangs after\n{}", step.step.name, self.shown));
            }
        }
        let is_held = step.blockers.iter().zip(&sent.target_notices).any(|(blocker, &target)| match blocker {
            Blocker::Once => false,
            Blocker::OtherStep { session, name } => {
                others.iter().any(|other| other.step.session == *session && other.step.step.name == *name)
            }
            Blocker::Notices { session, .. } => received[*session] < target,
        });
        if is_held {
            return Ok(self.report_waiting(step, attempt));
        }
        let _ = match attempt {
            Attempt::First => writeln!(self.shown, "step {}: {}", step.step.name, step.step.sql),
            _ => writeln!(self.shown, "step {}: <... completed>", step.step.name),
        };
        let client = &mut self.clients[step.session];
        self.shown.push_str(&client.take_shown());
        let notifications = std::mem::take(&mut client.notifications);
        for notification in notifications {
            let sender = self.clients.iter().position(|client| client.pid == notification.pid);
            let sender = sender.map_or_else(|| format!("PID {}", notification.pid), |at| self.name(at).to_owned());
            let _ = writeln!(
                self.shown,
                "{}: NOTIFY \"{}\" with payload \"{}\" from {sender}",
                self.spec.sessions[step.session].name, notification.channel, notification.payload
            );
        }
        Ok(true)
    }

    fn name(&self, session: usize) -> &str {
        &self.spec.sessions[session].name
    }

    /// Says that the step waits, the first time. Always false: the step is not complete.
    fn report_waiting(&mut self, step: &PermutationStep, attempt: Attempt) -> bool {
        if attempt == Attempt::First {
            let _ = writeln!(self.shown, "step {}: {} <waiting ...>", step.step.name, step.step.sql);
        }
        false
    }

    /// Shows the messages that a session has received since, and says how many they are.
    fn show_notices(&mut self, session: usize) -> usize {
        let notices = std::mem::take(&mut self.clients[session].notices);
        for notice in &notices {
            let _ = write!(self.shown, "{}: {notice}", self.spec.sessions[session].name);
        }
        notices.len()
    }

    fn is_blocked(&mut self, session: usize) -> bool {
        let pid = self.clients[session].pid;
        let sql = format!("SELECT pg_catalog.pg_isolation_test_session_is_blocked({pid}, '{{{}}}')", self.pids);
        self.watcher.value(&sql) == "t"
    }
}
