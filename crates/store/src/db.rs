//! The database of a run: what is under test spawns its sessions with it.

use std::ops::Deref;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker};

use skew_model::SessionId;

use crate::call::{drive, drive_in_session};
use crate::candidates::Reads;
use crate::database::Database;
use crate::error::Error;
use crate::scheduler::{Scheduler, Status, TaskId};
use crate::session::{AsyncSession, Session, SessionCore};
use crate::shared::{Shared, SpawnedJob};
use crate::transaction::Transaction;

/// The database of a run, in which the interleaving of sessions is chosen as well as what they read.
///
/// The body of the run is itself a session, `main`.
#[derive(Clone)]
pub struct Db {
    database: Database,
}

impl Deref for Db {
    type Target = Database;

    fn deref(&self) -> &Database {
        &self.database
    }
}

impl Db {
    pub(crate) fn new(database: Database) -> Db {
        Db { database }
    }

    /// Starts a session that runs this code.
    pub fn spawn<T, F>(&self, name: &str, body: F) -> JoinHandle<T>
    where
        T: Send + 'static,
        F: FnOnce(Session) -> T + Send + 'static,
    {
        self.start(name, |core, _| body(Session::new(core)))
    }

    /// Starts a session that runs this async code.
    pub fn spawn_async<T, F, A>(&self, name: &str, body: F) -> JoinHandle<T>
    where
        T: Send + 'static,
        F: FnOnce(AsyncSession) -> A + Send + 'static,
        A: Future<Output = T>,
    {
        self.start(name, |core, waker| {
            let waker = Waker::from(Arc::new(waker));
            let mut future = pin!(body(AsyncSession::new(core)));
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(value) => value,
                Poll::Pending => drive_in_session(future, &waker),
            }
        })
    }

    /// Waits until all spawned sessions have ended.
    pub fn join_all(&self) {
        drive(std::future::poll_fn(|_| {
            let mut state = self.shared.lock();
            let Some(scheduler) = &mut state.scheduler else { return Poll::Ready(()) };
            self.shared.check_caller();
            if scheduler.others_done() {
                scheduler.joined_all();
                return Poll::Ready(());
            }
            scheduler.wait(Status::JoiningAll);
            Poll::Pending
        }));
    }

    /// Runs a transaction of the session whose code this is: `main` in the body of the run.
    pub fn transaction<T>(&self, body: impl FnOnce(&Transaction<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let id = self.shared.lock().scheduler.as_ref().map_or(SessionId(0), Scheduler::current_session);
        let own = SessionCore { database: self.database.clone(), id, reads: Reads::Any };
        Session::new(own).transaction(body)
    }

    /// Looks at what has come out of it, after all spawned sessions have ended: see [`Database::check`].
    #[track_caller]
    pub fn check<T>(&self, body: impl FnOnce(&Transaction<'_>) -> Result<T, Error>) -> T {
        self.check_with(Reads::Settled, body)
    }

    /// Like [`Db::check`], with the reads that are asked for.
    #[track_caller]
    pub fn check_with<T>(&self, reads: Reads, body: impl FnOnce(&Transaction<'_>) -> Result<T, Error>) -> T {
        self.join_all();
        self.database.check_with(reads, body)
    }

    fn start<T, F>(&self, name: &str, body: F) -> JoinHandle<T>
    where
        T: Send + 'static,
        F: FnOnce(SessionCore, TaskWaker) -> T + Send + 'static,
    {
        let result = Arc::new(Mutex::new(None));
        let (database, kept) = (self.database.clone(), result.clone());
        let mut state = self.shared.lock();
        assert!(state.scheduler.is_some(), "the run is over; sessions are spawned while it is on");
        let task = state.task(name, |id, task| {
            let waker = TaskWaker { shared: Arc::downgrade(&database.shared), task };
            let core = SessionCore { database, id, reads: Reads::Any };
            let job: SpawnedJob = Box::new(move || {
                let value = body(core, waker);
                *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
            });
            Some(job)
        });
        drop(state);
        JoinHandle { database: self.database.clone(), task, result }
    }
}

/// A session that was spawned: a future of what its code returns.
pub struct JoinHandle<T> {
    database: Database,
    task: TaskId,
    result: Arc<Mutex<Option<T>>>,
}

impl<T> JoinHandle<T> {
    /// Waits until the session has ended. If it panics, the run fails and this never returns.
    pub fn join(self) -> T {
        drive(self)
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        let shared = &self.database.shared;
        let mut state = shared.lock();
        if let Some(scheduler) = &mut state.scheduler {
            shared.check_caller();
            if !scheduler.is_done(self.task) {
                scheduler.wait(Status::Joining(self.task));
                return Poll::Pending;
            }
            scheduler.joined(self.task);
        }
        drop(state);
        let result = self.result.lock().unwrap_or_else(PoisonError::into_inner).take();
        Poll::Ready(result.expect("a session that has ended in a run that goes on has returned a value"))
    }
}

/// Tells the scheduler that a future can be polled again.
struct TaskWaker {
    shared: Weak<Shared>,
    task: TaskId,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        if let Some(shared) = self.shared.upgrade()
            && let Some(scheduler) = &mut shared.lock().scheduler
        {
            scheduler.wake(self.task);
        }
    }
}
