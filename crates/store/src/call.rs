//! A call on the store as a future: takes its turn, tries, waits for locks; and how plain code drives it.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use skew_model::TxnId;

use crate::error::Error;
use crate::fiber;
use crate::scheduler::{self, Status, Turn};
use crate::shared::{Shared, State};
use crate::store::Step;

/// One call. It never holds the lock across a suspension.
pub(crate) struct Call<'a, F> {
    shared: &'a Shared,
    kind: scheduler::Call,
    txn: Option<TxnId>,
    attempt: F,
    begun: bool,
}

impl<'a, F> Call<'a, F> {
    /// The begin of a transaction.
    pub(crate) fn begin<T>(shared: &'a Shared, attempt: F) -> Self
    where
        F: FnMut(&mut State) -> Result<Step<T>, Error>,
    {
        Call { shared, kind: scheduler::Call::Begin, txn: None, attempt, begun: false }
    }

    /// A call within a transaction.
    pub(crate) fn within<T>(shared: &'a Shared, txn: TxnId, attempt: F) -> Self
    where
        F: FnMut(&mut State) -> Result<Step<T>, Error>,
    {
        Call { shared, kind: scheduler::Call::Within, txn: Some(txn), attempt, begun: false }
    }
}

impl<T, F> Future for Call<'_, F>
where
    F: FnMut(&mut State) -> Result<Step<T>, Error> + Unpin,
{
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let mut state = this.shared.lock();
        if let State { scheduler: Some(scheduler), choice, .. } = &mut *state {
            this.shared.check_caller();
            if this.begun {
                scheduler.go_on();
            } else if scheduler.turn(this.kind, choice) == Turn::Later {
                return Poll::Pending;
            }
        }
        this.begun = true;
        let result = match (this.attempt)(&mut state) {
            Ok(Step::Done(value)) => Ok(value),
            Ok(Step::Wait(holder)) => match wait(&mut state, holder, context.waker()) {
                Ok(()) => return Poll::Pending,
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        };
        let wakers = this.txn.map(|txn| state.release(txn)).unwrap_or_default();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        Poll::Ready(result)
    }
}

fn wait(state: &mut State, holder: TxnId, waker: &Waker) -> Result<(), Error> {
    match &mut state.scheduler {
        Some(_) if std::thread::panicking() => {
            Err(Error::Abandoned("the row is locked, and a session that panics cannot wait".to_owned()))
        }
        Some(scheduler) => {
            scheduler.wait(Status::Locked(holder));
            Ok(())
        }
        None => {
            state.wait(holder, waker);
            Ok(())
        }
    }
}

/// Runs a future to its end: in a session of a run by suspending the session, elsewhere by parking the thread.
pub(crate) fn drive<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        return value;
    }
    if fiber::running().is_some() {
        return drive_in_session(future, Waker::noop());
    }
    let waker = Waker::from(Arc::new(Parked(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// Runs a future that has been polled in a session of a run.
pub(crate) fn drive_in_session<T>(mut future: Pin<&mut impl Future<Output = T>>, waker: &Waker) -> T {
    let mut context = Context::from_waker(waker);
    loop {
        fiber::suspend();
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

struct Parked(Thread);

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
