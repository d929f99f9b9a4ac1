//! Whose turn it is: the sessions of a run, what each waits for, and the points at which they take turns.
//!
//! Only calls on the store are seen by other sessions, so only before them a turn is asked for. Whoever is given the
//! turn makes its next call without being asked again, unless another session has become able to run meanwhile.

use std::fmt::Write as _;
use std::sync::Arc;

use skew_model::{SessionId, TxnId};

use crate::choice::{Choice, Point};
use crate::run::{Failure, Interleaving};
use crate::store::Store;
use crate::value::Value;

/// A session of the run that has code of its own; the first one is `main`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TaskId(pub(crate) usize);

/// What keeps a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// Nothing.
    Ready,
    /// A lock of this transaction.
    Locked(TxnId),
    /// The end of another task.
    Joining(TaskId),
    /// The end of all others.
    JoiningAll,
    /// Something that is not ours, such as a channel.
    Outside,
    /// It has ended.
    Done,
}

/// What becomes of a run when a session has panicked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AfterPanic {
    /// It has failed and ends.
    End,
    /// The other sessions go on: what they do is needed to know what the first ones could have read.
    GoOn,
}

/// Which call is about to be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    /// The begin of a transaction.
    Begin,
    /// Anything within one.
    Within,
}

/// Whether a task may make its call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    /// It goes on.
    Now,
    /// It suspends itself and asks again when it is resumed.
    Later,
}

struct Task {
    session: SessionId,
    name: Arc<str>,
    status: Status,
    /// Something happened to it since it was resumed, so that it has to look again before it waits.
    woken: bool,
    /// It waits for its turn to begin a transaction.
    at_begin: bool,
    /// For each task, by session, how many of its transactions had begun before this task could do what it does next.
    after: Vec<u32>,
}

/// Where a transaction comes in the program.
#[derive(Clone, Debug)]
pub(crate) struct Lineage {
    /// The task that began it, by its session.
    pub(crate) task: SessionId,
    /// For each task, by session, how many transactions the program puts before it: by its own code, spawn and join.
    pub(crate) after: Vec<u32>,
}

/// The sessions of one run.
pub(crate) struct Scheduler {
    interleaving: Interleaving,
    tasks: Vec<Task>,
    current: usize,
    /// Who goes on when the current one suspends.
    next: Option<usize>,
    /// The current task was given the turn and has not made its call yet.
    granted: bool,
    steps: u64,
    max_steps: u64,
    failure: Option<Failure>,
    after_panic: AfterPanic,
    /// The first panic of a run that goes on after it.
    panic: Option<Failure>,
    /// Who began which transaction, for messages.
    owners: Vec<(TxnId, SessionId)>,
    /// Where each transaction comes in the program, in the order in which they began.
    lineage: Vec<Lineage>,
    ready: Vec<usize>,
    turn: Vec<SessionId>,
}

impl Scheduler {
    pub(crate) fn new(interleaving: Interleaving, max_steps: u64, after_panic: AfterPanic) -> Scheduler {
        Scheduler {
            interleaving,
            tasks: Vec::new(),
            current: 0,
            next: Some(0),
            granted: false,
            steps: 0,
            max_steps,
            failure: None,
            after_panic,
            panic: None,
            owners: Vec::new(),
            lineage: Vec::new(),
            ready: Vec::new(),
            turn: Vec::new(),
        }
    }

    /// Adds a task that is ready to run.
    pub(crate) fn add(&mut self, session: SessionId, name: Arc<str>) -> TaskId {
        self.granted = false;
        let after = self.tasks.get(self.current).map(|parent| parent.after.clone()).unwrap_or_default();
        self.tasks.push(Task { session, name, status: Status::Ready, woken: false, at_begin: false, after });
        TaskId(self.tasks.len() - 1)
    }

    /// Remembers who began a transaction.
    pub(crate) fn began(&mut self, txn: TxnId, session: SessionId) {
        self.owners.push((txn, session));
        let task = &mut self.tasks[self.current];
        self.lineage.push(Lineage { task: task.session, after: task.after.clone() });
        let number = task.session.0 as usize;
        task.after.resize(task.after.len().max(number + 1), 0);
        task.after[number] += 1;
    }

    /// The current task goes on after this one, which has ended.
    pub(crate) fn joined(&mut self, task: TaskId) {
        let ended = std::mem::take(&mut self.tasks[task.0].after);
        let after = &mut self.tasks[self.current].after;
        after.resize(after.len().max(ended.len()), 0);
        after.iter_mut().zip(&ended).for_each(|(after, &ended)| *after = (*after).max(ended));
        self.tasks[task.0].after = ended;
    }

    /// The current task goes on after all others, which have ended.
    pub(crate) fn joined_all(&mut self) {
        (0..self.tasks.len()).filter(|&task| task != self.current).collect::<Vec<_>>().into_iter().for_each(|task| {
            self.joined(TaskId(task));
        });
    }

    /// Where the transactions came in the program.
    pub(crate) fn take_lineage(&mut self) -> Vec<Lineage> {
        std::mem::take(&mut self.lineage)
    }

    /// A point at which the current task would make a call.
    pub(crate) fn turn(&mut self, call: Call, choice: &mut dyn Choice) -> Turn {
        if std::thread::panicking() {
            return Turn::Now;
        }
        if self.failure.is_some() || self.next.is_some() {
            return Turn::Later;
        }
        let task = &mut self.tasks[self.current];
        if task.status != Status::Ready {
            task.status = Status::Ready;
            task.woken = true;
        }
        self.steps += 1;
        if self.steps > self.max_steps {
            self.failure = Some(Failure::Steps { limit: self.max_steps, session: self.name(self.current) });
            return Turn::Later;
        }
        let granted = std::mem::take(&mut self.granted);
        if granted {
            self.tasks[self.current].at_begin = false;
        }
        if granted || (self.interleaving == Interleaving::Transactions && call == Call::Within) {
            return Turn::Now;
        }
        self.tasks[self.current].at_begin = call == Call::Begin;
        match self.choose(choice) {
            Some(chosen) if chosen != self.current => {
                self.next = Some(chosen);
                Turn::Later
            }
            _ => {
                self.granted = false;
                self.tasks[self.current].at_begin = false;
                Turn::Now
            }
        }
    }

    /// The current task goes on with the call that it waited with.
    pub(crate) fn go_on(&mut self) {
        self.granted = false;
    }

    /// The current task cannot go on before something has happened.
    pub(crate) fn wait(&mut self, status: Status) {
        self.tasks[self.current].status = status;
    }

    /// Whoever waited for this transaction's locks can go on.
    pub(crate) fn ended(&mut self, txn: TxnId) {
        for index in 0..self.tasks.len() {
            if self.tasks[index].status == Status::Locked(txn) {
                self.ready(index);
            }
        }
    }

    /// Something outside has happened that a task waits for.
    pub(crate) fn wake(&mut self, task: TaskId) {
        self.tasks[task.0].woken = true;
        if !matches!(self.tasks[task.0].status, Status::Ready | Status::Done) {
            self.ready(task.0);
        }
    }

    /// Whether a task has ended.
    pub(crate) fn is_done(&self, task: TaskId) -> bool {
        self.tasks[task.0].status == Status::Done
    }

    /// Whether all tasks but the current one have ended.
    pub(crate) fn others_done(&self) -> bool {
        self.tasks.iter().enumerate().all(|(index, task)| index == self.current || task.status == Status::Done)
    }

    /// The current task has ended.
    pub(crate) fn finish(&mut self) {
        let done = self.current;
        self.next = None;
        self.tasks[done].status = Status::Done;
        for index in 0..self.tasks.len() {
            let waits = match self.tasks[index].status {
                Status::Joining(task) => task.0 == done,
                Status::JoiningAll => {
                    self.tasks.iter().enumerate().all(|(other, task)| other == index || task.status == Status::Done)
                }
                _ => false,
            };
            if waits {
                self.ready(index);
            }
        }
    }

    /// The current task has panicked.
    pub(crate) fn panicked(&mut self, failure: Failure) {
        match self.after_panic {
            AfterPanic::End => self.fail(failure),
            AfterPanic::GoOn => _ = self.panic.get_or_insert(failure),
        }
    }

    /// The run has failed.
    pub(crate) fn fail(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
    }

    /// Whether the run has failed, so that its sessions are being ended.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// What the run failed with.
    pub(crate) fn take_failure(&mut self) -> Option<Failure> {
        self.panic.take().or(self.failure.take())
    }

    /// The session of the current task.
    pub(crate) fn current_session(&self) -> SessionId {
        self.tasks[self.current].session
    }

    /// The name of the current task.
    pub(crate) fn current_name(&self) -> String {
        self.name(self.current)
    }

    /// Who runs now, after the current task has suspended itself or ended. `None` when the run is over.
    pub(crate) fn advance(&mut self, store: &Store<Value>, choice: &mut dyn Choice) -> Option<TaskId> {
        if self.failure.is_some() {
            return None;
        }
        if self.next.is_none() {
            let task = &mut self.tasks[self.current];
            // Neither a turn nor a wait of ours: it waits for something else, unless that has happened already.
            if task.status == Status::Ready && !task.woken {
                task.status = Status::Outside;
            }
            self.next = self.choose(choice);
        }
        let Some(next) = self.next.take() else {
            if self.tasks.iter().any(|task| task.status != Status::Done) {
                self.failure = Some(Failure::Stuck { waits: self.waits(store) });
            }
            return None;
        };
        self.current = next;
        self.tasks[next].woken = false;
        Some(TaskId(next))
    }

    fn ready(&mut self, index: usize) {
        self.tasks[index].status = Status::Ready;
        self.granted = false;
    }

    fn choose(&mut self, choice: &mut dyn Choice) -> Option<usize> {
        self.ready.clear();
        self.ready.extend((0..self.tasks.len()).filter(|&index| self.tasks[index].status == Status::Ready));
        // Exploration decides between transactions: whoever is on the way to one gets there first.
        if self.after_panic == AfterPanic::GoOn {
            let on_the_way = self.ready.iter().copied().find(|&index| !self.tasks[index].at_begin);
            if on_the_way.is_some() {
                self.granted = false;
                return on_the_way;
            }
        }
        self.granted = self.ready.len() > 1;
        if !self.granted {
            return self.ready.first().copied();
        }
        self.turn.clear();
        self.turn.extend(self.ready.iter().map(|&index| self.tasks[index].session));
        Some(self.ready[choice.pick(Point::Turn(&self.turn))])
    }

    fn name(&self, index: usize) -> String {
        self.tasks[index].name.to_string()
    }

    fn waits(&self, store: &Store<Value>) -> String {
        let mut words = String::new();
        for task in self.tasks.iter().filter(|task| task.status != Status::Done) {
            let what = match task.status {
                Status::Locked(txn) => {
                    let owner = self.owners.iter().find(|&&(owned, _)| owned == txn);
                    let owner = owner.map_or("another session", |&(_, session)| store.session_name(session));
                    format!("for a row that `{owner}` has locked")
                }
                Status::Joining(other) => format!("for `{}` to end", self.tasks[other.0].name),
                Status::JoiningAll => "for all others to end".to_owned(),
                Status::Outside | Status::Ready | Status::Done => "for something outside of the run".to_owned(),
            };
            let comma = if words.is_empty() { "" } else { ", " };
            let _ = write!(words, "{comma}`{}` waits {what}", task.name);
        }
        words
    }
}
