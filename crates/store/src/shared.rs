//! What the handles of one database share, behind one mutex that is never held while user code runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use rustc_hash::FxHashMap;
use skew_model::{Level, SessionId, TxnId};

use crate::choice::Choice;
use crate::fiber;
use crate::picks::Recorder;
use crate::scheduler::{Scheduler, TaskId};
use crate::store::{Options, Store};
use crate::value::Value;

/// The choice of a database, which may move between threads with it.
pub(crate) type AnyChoice = Box<dyn Choice + Send>;

/// A job that a running session has spawned.
pub(crate) type SpawnedJob = Box<dyn FnOnce() + Send>;

/// The store of a database and everything that goes with it.
pub(crate) struct State {
    pub(crate) store: Store<Value>,
    pub(crate) choice: Recorder<AnyChoice>,
    /// Present while a run is on the way.
    pub(crate) scheduler: Option<Scheduler>,
    /// By task; those that have been started are gone.
    pub(crate) jobs: Vec<Option<SpawnedJob>>,
    /// The names of sessions, and how often each was asked for.
    names: FxHashMap<Arc<str>, u32>,
    /// Who waits for the locks of which transaction, outside of runs.
    waiters: Vec<(TxnId, Waker)>,
}

impl State {
    /// A new session of the store, with a name of its own: histories tell sessions apart by their names.
    pub(crate) fn session(&mut self, name: &str) -> SessionId {
        let unique = self.unique(name);
        self.store.session(&unique)
    }

    /// A new task of the run, with its session.
    pub(crate) fn task(&mut self, name: &str, job: impl FnOnce(SessionId, TaskId) -> Option<SpawnedJob>) -> TaskId {
        let name = self.unique(name);
        let session = self.store.session(&name);
        let task = self.scheduler().add(session, name);
        self.jobs.push(job(session, task));
        task
    }

    fn unique(&mut self, name: &str) -> Arc<str> {
        let mut unique: Arc<str> = name.into();
        while let Some(number) = self.names.get_mut(&unique) {
            *number += 1;
            unique = format!("{unique}-{number}").into();
        }
        self.names.insert(unique.clone(), 1);
        unique
    }

    /// The run's scheduler.
    pub(crate) fn scheduler(&mut self) -> &mut Scheduler {
        self.scheduler.as_mut().expect("a run has a scheduler until it is over")
    }

    /// Keeps a waker until the transaction has ended.
    pub(crate) fn wait(&mut self, holder: TxnId, waker: &Waker) {
        self.waiters.push((holder, waker.clone()));
    }

    /// Lets those go on who waited for the transaction, if it has ended. The wakers are to be called without the lock.
    #[must_use]
    pub(crate) fn release(&mut self, txn: TxnId) -> Vec<Waker> {
        if self.scheduler.is_none() && self.waiters.is_empty() || self.store.is_open(txn) {
            return Vec::new();
        }
        if let Some(scheduler) = &mut self.scheduler {
            scheduler.ended(txn);
        }
        self.waiters.extract_if(.., |(holder, _)| *holder == txn).map(|(_, waker)| waker).collect()
    }
}

/// The shared part of all handles.
pub(crate) struct Shared {
    state: Mutex<State>,
    pub(crate) level: Level,
}

impl Shared {
    pub(crate) fn new(options: Options, level: Level, choice: Recorder<AnyChoice>) -> Arc<Shared> {
        let state = State {
            store: Store::new(options),
            choice,
            scheduler: None,
            jobs: Vec::new(),
            names: FxHashMap::default(),
            waiters: Vec::new(),
        };
        Arc::new(Shared { state: Mutex::new(state), level })
    }

    /// Nothing that runs under the lock leaves the state half-changed, so a panic there (ours, or of somebody's own
    /// choice) does not end the others.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number by which a session knows that it is part of this database's run.
    pub(crate) fn run_number(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Checks that a database under a scheduler is called from one of its sessions.
    pub(crate) fn check_caller(&self) {
        assert!(
            fiber::running() == Some(self.run_number()),
            "the database of a run was called from outside of the run's sessions; start them with `spawn` instead of a thread"
        );
    }
}
