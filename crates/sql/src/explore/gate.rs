//! Sessions that stop before each of their steps, until it is their turn.
//!
//! Each session has a thread. A step is what PostgreSQL does without looking at its other clients' next requests: the
//! beginning of a call up to its first statement, a statement of a procedure, a commit. One session is at work at a time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Where a session stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Stand {
    /// Makes a step.
    Running,
    /// Waits for its turn.
    Ready(Step),
    /// Waits for a lock, in the middle of a step.
    Blocked,
    /// Has no more calls.
    Done,
}

/// What a session does next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Step {
    /// Begins a call, up to its first statement.
    Call,
    /// Runs the next statement of a procedure.
    Statement,
    /// Commits.
    Commit,
}

/// How a call ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    Committed,
    Failed {
        code: String,
        /// The session, the call and the error.
        text: String,
        /// What the ASSERT says that has failed.
        assertion: Option<String>,
    },
}

/// Where all sessions stand.
pub(super) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    stands: Vec<Stand>,
    turn: Option<usize>,
    answers: Vec<Vec<Answer>>,
    is_over: bool,
}

impl Gate {
    pub(super) fn new(sessions: usize) -> Gate {
        let (stands, answers) = (vec![Stand::Running; sessions], vec![Vec::new(); sessions]);
        let state = State { stands, turn: None, answers, is_over: false };
        Gate { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is complete before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&'a self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// A session stops here until it is its turn, or the run is over.
    pub(super) fn stop(&self, session: usize, stand: Stand) {
        let mut state = self.lock();
        state.stands[session] = stand;
        self.changed.notify_all();
        while state.turn != Some(session) && !state.is_over {
            state = self.wait(state);
        }
        state.turn = None;
        state.stands[session] = Stand::Running;
    }

    /// A call has ended.
    pub(super) fn answered(&self, session: usize, answer: Answer) {
        self.lock().answers[session].push(answer);
    }

    /// A session has ended.
    pub(super) fn leave(&self, session: usize) {
        self.lock().stands[session] = Stand::Done;
        self.changed.notify_all();
    }

    /// Waits until no session is at work: where they stand.
    pub(super) fn settled(&self) -> Vec<Stand> {
        let mut state = self.lock();
        while state.turn.is_some() || state.stands.contains(&Stand::Running) {
            state = self.wait(state);
        }
        state.stands.clone()
    }

    /// It is the turn of this session.
    pub(super) fn go(&self, session: usize) {
        self.lock().turn = Some(session);
        self.changed.notify_all();
    }

    /// How the calls have ended so far, by session.
    pub(super) fn answers(&self) -> Vec<Vec<Answer>> {
        self.lock().answers.clone()
    }

    /// The run is over: sessions stop no more, and their statements have been cancelled.
    pub(super) fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    pub(super) fn is_over(&self) -> bool {
        self.lock().is_over
    }
}
