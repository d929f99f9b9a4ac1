//! A small client in every interleaving of its statements, at the levels of PostgreSQL.
//!
//! READ COMMITTED, REPEATABLE READ and SERIALIZABLE are what PostgreSQL does: snapshots of the committed state, row locks,
//! waiting, `40001` and `40P01`. Nothing of that is a choice but whose step comes next. So every order of steps is tried: of
//! the beginnings of calls (where REPEATABLE READ takes its snapshot), of the statements of procedures, of commits, and of
//! statements that go on when the lock is free that they have waited for. A statement that does not wait is one step.
//!
//! Two runs that have come to the same point go on alike: where each session has made the same steps, has read the same
//! versions and looks from the same snapshot, and the same transactions have committed in the same order. The second one
//! ends there.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use skew_model::{History, OpKind, Status, TxnId};

use super::calls::{begins, failed_assertion, failure, query, sql_of};
use super::canonical::{line, places};
use super::gate::{Answer, Gate, Stand, Step};
use super::states::{Judged, LOOKER, broken_in, judge};
use super::{Behaviour, Client, Explored, FINALLY, Limits, Watch, canonical};
use crate::app::App;
use crate::error::{Result, SqlError, SqlState};
use crate::session::transaction::Isolation;
use crate::session::{Client as Connected, Connection, Database};

/// Runs a client in every interleaving, each call at the level that its program asks for by a name of SQL, or else at this
/// one. The database holds the application, has a checkpoint and reads as PostgreSQL does.
pub fn explore_interleaved(
    database: &Database,
    app: &App,
    client: &Client,
    isolation: Isolation,
    limits: Limits,
) -> Result<Explored> {
    let started = Instant::now();
    let watch = Watch::start(limits.time);
    let mut explorer = Explorer {
        database,
        app,
        client,
        isolation,
        watch: &watch,
        answers: Vec::new(),
        seen: HashSet::new(),
        known: BTreeMap::new(),
    };
    let (mut found, mut all) = (BTreeMap::new(), Vec::new());
    let mut behaviours: BTreeMap<_, Behaviour> = BTreeMap::new();
    let (mut runs, mut refused, mut limit) = (0, 0, explorer.not_tried());
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
        let ended = explorer.run();
        if watch.is_over() {
            limit = Some(format!("{} s", limits.time.as_secs()));
            break;
        }
        if let Some(ran) = ended? {
            refused += u64::from(ran.was_refused);
            let history = *found.entry(canonical(&ran.history)).or_insert_with(|| {
                all.push(ran.history.clone());
                all.len() - 1
            });
            let name = (ran.broken.clone(), ran.failed.clone(), ran.state.clone());
            let behaviour = behaviours.entry(name).or_insert_with(|| Behaviour {
                failed: ran.failed,
                state: ran.state,
                broken: ran.broken,
                histories: BTreeSet::new(),
                example: ran.history,
                order: ran.order,
            });
            behaviour.histories.insert(history);
        }
        if !explorer.next_run() {
            break;
        }
    }
    Ok(Explored { histories: found.len(), behaviours: behaviours.into_values().collect(), all, runs, refused, limit })
}

struct Explorer<'a> {
    database: &'a Database,
    app: &'a App,
    client: &'a Client,
    isolation: Isolation,
    watch: &'a Watch,
    /// Whose step came next, among how many sessions, wherever there was a choice.
    answers: Vec<(usize, usize)>,
    /// The points that runs have come to.
    seen: HashSet<String>,
    /// The committed states that were looked at, by who has committed what.
    known: BTreeMap<String, Judged>,
}

/// A run that has come to its end.
struct Ran {
    history: History,
    failed: Vec<String>,
    state: Vec<String>,
    broken: Vec<String>,
    order: Vec<String>,
    was_refused: bool,
}

/// What is known of a session in the course of a run.
#[derive(Clone, Default)]
struct Seat {
    /// How many steps it has made in its call.
    steps: usize,
    /// How many transactions had committed when its call and its step began.
    call_began: usize,
    step_began: usize,
    /// Where its calls have begun and ended among the commits; kept where serializability is decided by that.
    spans: Vec<(usize, usize)>,
    /// When it came to wait for a lock.
    blocked_at: usize,
    /// What sequences had come to after each of its steps.
    numbers: Vec<(u32, i64)>,
}

impl Explorer<'_> {
    /// What of the client's runs is not tried.
    fn not_tried(&self) -> Option<String> {
        let other = self.app.programs.iter().find(|program| program.level.is_some() && program.isolation.is_none());
        let called = |name: &str| {
            self.client
                .sessions
                .iter()
                .flat_map(|(_, calls)| calls)
                .any(|call| self.app.called(call).is_some_and(|program| program.name == name))
        };
        let other = other.filter(|program| called(&program.name))?;
        let level = other.level.map_or("", |level| level.id());
        Some(format!("{} asks for {level}, of which only what PostgreSQL does is tried", other.name))
    }

    fn isolation_of(&self, call: &str) -> Isolation {
        self.app.called(call).and_then(|program| program.isolation).unwrap_or(self.isolation)
    }

    fn any_serializable(&self) -> bool {
        let mut calls = self.client.sessions.iter().flat_map(|(_, calls)| calls);
        calls.any(|call| self.isolation_of(call) == Isolation::Serializable)
    }

    /// Prepares the next run; false: there is none.
    fn next_run(&mut self) -> bool {
        while let Some((chosen, among)) = self.answers.pop() {
            if chosen + 1 < among {
                self.answers.push((chosen + 1, among));
                return true;
            }
        }
        false
    }

    /// Makes a run; `None` if it has come to a point where another run has been.
    fn run(&mut self) -> Result<Option<Ran>> {
        self.database.begin_interleaved_run()?;
        let (finally, calling): (Vec<_>, Vec<_>) = self.client.sessions.iter().partition(|(name, _)| name == FINALLY);
        let gate = Arc::new(Gate::new(calling.len()));
        let mut cancels = Vec::new();
        let ran = std::thread::scope(|scope| {
            for (at, (name, calls)) in calling.iter().enumerate() {
                let connection = self.connect(&gate, at, name);
                cancels.push(connection.canceller());
                let calls: Vec<(String, Isolation)> =
                    calls.iter().map(|call| (sql_of(self.app, call), self.isolation_of(call))).collect();
                let (gate, texts) = (Arc::clone(&gate), &self.client.sessions);
                let texts = texts.iter().find(|(other, _)| other == name).map_or(&[][..], |(_, calls)| calls);
                scope.spawn(move || session(&gate, at, name, connection, texts, &calls));
            }
            self.watch.over(cancels.clone());
            let ran = self.drive(&gate, &calling);
            if !matches!(ran, Ok(Some(_))) {
                cancels.iter().for_each(crate::session::Cancel::terminate);
            }
            gate.end();
            ran
        })?;
        let Some(mut ran) = ran else { return Ok(None) };
        let mut looker = self.database.connect(Connected::new("finally", "explore"));
        for (_, calls) in finally {
            for call in calls {
                if let Err(error) = query(&mut looker, &sql_of(self.app, call)) {
                    ran.failed.push(failure(FINALLY, call, &error));
                }
            }
        }
        Ok(Some(ran))
    }

    fn connect(&self, gate: &Arc<Gate>, at: usize, name: &str) -> Connection {
        let (pausing, blocked) = (Arc::clone(gate), Arc::clone(gate));
        self.database.connect(Connected {
            pid: pid(at),
            label: Some(name.to_owned()),
            clock: Some(begins(at)),
            pause: Arc::new(move || pausing.stop(at, Stand::Ready(Step::Statement))),
            // Not parked: the statement asks for the lock again when it is its turn.
            wait: Arc::new(move |_| blocked.stop(at, Stand::Blocked)),
            ..Connected::new("postgres", "explore")
        })
    }

    /// Decides whose step comes next until all sessions are done.
    fn drive(&mut self, gate: &Gate, calling: &[&(String, Vec<String>)]) -> Result<Option<Ran>> {
        let mut seats = vec![Seat::default(); calling.len()];
        let (mut commits, mut committed) = (Vec::new(), BTreeSet::new());
        let (mut order, mut broken) = (Vec::new(), BTreeSet::new());
        let (mut at, mut time, mut last) = (0, 0, None);
        let mut before = self.look(&commits)?;
        broken.extend(broken_in(None, &before, self.app));
        loop {
            let stands = gate.settled();
            if self.watch.is_over() {
                return Ok(None);
            }
            time += 1;
            let history = without_looks(&self.database.history());
            let answers = gate.answers();
            if let Some(last) = last {
                let seat: &mut Seat = &mut seats[last];
                seat.numbers = self.database.sequence_values();
                if stands[last] == Stand::Blocked {
                    seat.blocked_at = time;
                }
            }
            for (place, line) in committed_writers(&history) {
                if committed.insert(place) {
                    commits.push(line);
                    let now = self.look(&commits)?;
                    broken.extend(broken_in(Some(&before), &now, self.app));
                    before = now;
                }
            }
            if stands.iter().all(|stand| *stand == Stand::Done) {
                let failed = answers.iter().flatten().filter_map(|answer| match answer {
                    Answer::Failed { code, text, assertion } => Some((code, text, assertion)),
                    Answer::Committed => None,
                });
                let (mut texts, mut was_refused) = (Vec::new(), false);
                for (code, text, assertion) in failed {
                    was_refused |= matches!(code.as_str(), "40001" | "40P01");
                    texts.push(text.clone());
                    broken.extend(assertion.iter().map(|message| format!("ASSERT “{message}”")));
                }
                texts.sort();
                let (state, broken) = (before.rows().to_vec(), broken.into_iter().collect());
                return Ok(Some(Ran { history, failed: texts, state, broken, order, was_refused }));
            }
            let enabled: Vec<usize> =
                (0..stands.len()).filter(|&session| self.can_go(session, stands[session])).collect();
            if enabled.is_empty() {
                let message = "every session waits for another one, and no deadlock was found";
                return Err(SqlError::new(SqlState::INTERNAL_ERROR, message));
            }
            if at >= self.answers.len() && !self.seen.insert(self.point(&history, &stands, &seats, &answers, &commits))
            {
                return Ok(None);
            }
            let next = match enabled.as_slice() {
                [only] => *only,
                several => {
                    if at == self.answers.len() {
                        self.answers.push((0, several.len()));
                    }
                    at += 1;
                    several[self.answers[at - 1].0]
                }
            };
            let ended: usize = answers.iter().map(Vec::len).sum();
            let (seat, name) = (&mut seats[next], &calling[next].0);
            match stands[next] {
                Stand::Ready(Step::Call) => {
                    (seat.steps, seat.call_began, seat.step_began) = (0, commits.len(), commits.len());
                    seat.spans.push((ended, usize::MAX));
                    order.push(format!("{name}0"));
                }
                Stand::Ready(Step::Statement) => {
                    (seat.steps, seat.step_began) = (seat.steps + 1, commits.len());
                    order.push(format!("{name}{}", seat.steps));
                }
                Stand::Ready(Step::Commit) => {
                    seat.spans.last_mut().into_iter().for_each(|span| span.1 = ended);
                    order.push(format!("{name}c"));
                }
                _ => order.push(format!("{name}{}…", seat.steps)),
            }
            last = Some(next);
            gate.go(next);
        }
    }

    fn can_go(&self, session: usize, stand: Stand) -> bool {
        match stand {
            Stand::Ready(_) => true,
            Stand::Blocked => self.database.blockers(pid(session)).is_empty(),
            Stand::Running | Stand::Done => false,
        }
    }

    /// What is committed after these transactions.
    fn look(&mut self, commits: &[String]) -> Result<Judged> {
        let name = commits.join("\n");
        if let Some(judged) = self.known.get(&name) {
            return Ok(judged.clone());
        }
        let check = self.database.connect(Connected::new(LOOKER, "explore"));
        let judged = judge(self.database, check, self.app, self.watch)?;
        self.known.insert(name, judged.clone());
        Ok(judged)
    }

    /// All that decides how a run goes on.
    fn point(
        &self,
        history: &History,
        stands: &[Stand],
        seats: &[Seat],
        answers: &[Vec<Answer>],
        commits: &[String],
    ) -> String {
        let mut point = commits.join("\n");
        let mut queue: Vec<(usize, usize)> =
            (0..seats.len()).filter(|&at| stands[at] == Stand::Blocked).map(|at| (seats[at].blocked_at, at)).collect();
        queue.sort_unstable();
        let timed = self.any_serializable();
        for (at, (seat, stand)) in seats.iter().zip(stands).enumerate() {
            let _ = write!(point, "\n{at} {stand:?} {} {:?} {:?}", seat.steps, answers[at], seat.numbers);
            if *stand != Stand::Ready(Step::Call) && *stand != Stand::Done {
                let _ = write!(point, " {}", seat.call_began);
            }
            if *stand == Stand::Blocked {
                let place = queue.iter().position(|(_, other)| *other == at);
                let _ = write!(point, " {} {place:?}", seat.step_began);
            }
            if timed {
                let _ = write!(point, " {:?}", seat.spans);
            }
        }
        let places = places(history);
        let told = |id: TxnId| {
            let is_committed = history.txn(id).status == Status::Committed;
            format!("{} {is_committed}", line(history, id, &places))
        };
        let mut lines: Vec<String> = history.txn_ids().map(told).collect();
        lines.sort();
        for line in lines {
            let _ = write!(point, "\n{line}");
        }
        point
    }
}

/// The history of the client alone.
fn without_looks(history: &History) -> History {
    let is_client = |id: TxnId| !history.session_name(history.txn(id).session).starts_with(LOOKER);
    history.select(is_client, |_| true)
}

/// The process number of a session.
fn pid(session: usize) -> i32 {
    i32::try_from(session).map_or(i32::MAX, |session| session + 1)
}

/// Makes the calls of a session, stopping at the gate before each step.
fn session(
    gate: &Gate,
    me: usize,
    name: &str,
    mut connection: Connection,
    texts: &[String],
    calls: &[(String, Isolation)],
) {
    /// However the session ends, it is not waited for.
    struct Leaves<'a>(&'a Gate, usize);
    impl Drop for Leaves<'_> {
        fn drop(&mut self) {
            self.0.leave(self.1);
        }
    }
    let _leaves = Leaves(gate, me);
    for (text, (sql, isolation)) in texts.iter().zip(calls) {
        gate.stop(me, Stand::Ready(Step::Call));
        if gate.is_over() {
            return;
        }
        let ended = call(&mut connection, sql, *isolation, || gate.stop(me, Stand::Ready(Step::Commit)));
        gate.answered(
            me,
            match ended {
                Ok(()) => Answer::Committed,
                Err(error) => Answer::Failed {
                    code: error.fields().code.clone(),
                    text: failure(name, text, &error),
                    assertion: failed_assertion(&error),
                },
            },
        );
    }
}

fn call(connection: &mut Connection, sql: &str, isolation: Isolation, commits: impl FnOnce()) -> Result<()> {
    query(connection, &format!("SET default_transaction_isolation = '{}'", isolation.name()))?;
    let statement = connection.prepare(sql, &[])?;
    match connection.execute(&statement, &[]) {
        Ok(_) => commits(),
        Err(error) => {
            let _ = connection.sync();
            return Err(error);
        }
    }
    connection.sync()
}

/// The transactions of a history that have committed writes: their places, and what they have done.
fn committed_writers(history: &History) -> Vec<(String, String)> {
    let places = places(history);
    let writes = |id: TxnId| history.ops(id).iter().any(|op| op.kind() == OpKind::Write);
    let writers = history.txn_ids().filter(|&id| history.txn(id).status == Status::Committed && writes(id));
    writers.map(|id| (places[id.0 as usize].clone(), line(history, id, &places))).collect()
}
