//! Stacks for sessions: pooled coroutines, and how a call deep in a session suspends the one that it runs on.
//!
//! A coroutine lends its yielder to its own closure only, and calls of user code do not pass it on. Each coroutine of a
//! thread therefore has a slot in which it leaves its yielder while it lives, and the scheduler says which slot is
//! running. Coroutines are made once and run one job after the other, so a session of a run costs no system call.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use scoped_tls::{ScopedKey, scoped_thread_local};

/// What a fiber runs.
pub(crate) type Job = Box<dyn FnOnce()>;

/// What a panic carried.
pub(crate) type Payload = Box<dyn Any + Send>;

/// How many sessions of a thread can be on the way at once.
pub(crate) const MAX_FIBERS: usize = 256;

/// Memory that is touched is used; the rest of a stack is address space.
const STACK_BYTES: usize = 2 << 20;

/// How often a session that catches panics is told to end before its stack is given up.
const MAX_UNWINDS: usize = 1000;

/// What the scheduler tells a coroutine.
enum Resume {
    Start(Job),
    Continue,
    Unwind,
    Stop,
}

/// What a coroutine tells the scheduler.
pub(crate) enum Progress {
    /// It waits to be resumed.
    Suspended,
    /// Its job has returned or panicked.
    Finished(Result<(), Payload>),
}

/// The panic that takes a session down whose run is over.
struct Unwound;

type Yields = Yielder<Resume, Progress>;

macro_rules! slot {
    () => {{
        scoped_thread_local!(static SLOT: Yields);
        &SLOT
    }};
}

macro_rules! sixteen {
    ($one:ident) => {
        [
            $one!(),
            $one!(),
            $one!(),
            $one!(),
            $one!(),
            $one!(),
            $one!(),
            $one!(),
            $one!(),
            $one!(),
            $one!(),
            $one!(),
            $one!(),
            $one!(),
            $one!(),
            $one!(),
        ]
    };
}

macro_rules! row {
    () => {
        sixteen!(slot)
    };
}

static SLOTS: [[&ScopedKey<Yields>; 16]; MAX_FIBERS / 16] = sixteen!(row);

/// The session that runs on this thread now.
#[derive(Clone, Copy)]
struct Running {
    run: usize,
    slot: usize,
}

thread_local! {
    static RUNNING: Cell<Option<Running>> = const { Cell::new(None) };
    static POOL: RefCell<Pool> = const { RefCell::new(Pool { idle: Vec::new(), made: 0 }) };
}

/// The coroutines of this thread that have no job.
struct Pool {
    idle: Vec<Stack>,
    made: usize,
}

impl Drop for Pool {
    fn drop(&mut self) {
        for stack in &mut self.idle {
            stack.coroutine.resume(Resume::Stop);
        }
    }
}

/// A coroutine and its slot.
struct Stack {
    slot: usize,
    coroutine: Coroutine<Resume, Progress, ()>,
}

impl Stack {
    fn new(slot: usize) -> Stack {
        let memory = DefaultStack::new(STACK_BYTES).expect("there is address space for a stack of 2 MiB");
        let coroutine = Coroutine::with_stack(memory, move |yielder: &Yields, first| {
            key(slot).set(yielder, || {
                let mut resume = first;
                while let Resume::Start(job) = resume {
                    let result = catch_unwind(AssertUnwindSafe(job));
                    resume = yielder.suspend(Progress::Finished(result));
                }
            });
        });
        Stack { slot, coroutine }
    }
}

/// A coroutine that runs one job; back to the pool when it is dropped.
pub(crate) struct Fiber {
    stack: Option<Stack>,
    busy: bool,
}

impl Fiber {
    /// An idle one; `None` when the thread has as many as it can have.
    pub(crate) fn take() -> Option<Fiber> {
        POOL.with_borrow_mut(|pool| {
            let stack = pool.idle.pop().or_else(|| {
                let slot = pool.made;
                (slot < MAX_FIBERS).then(|| {
                    pool.made += 1;
                    Stack::new(slot)
                })
            })?;
            Some(Fiber { stack: Some(stack), busy: false })
        })
    }

    /// Begins a job of a run.
    pub(crate) fn start(&mut self, run: usize, job: Job) -> Progress {
        self.go(run, Resume::Start(job))
    }

    /// Goes on with it.
    pub(crate) fn resume(&mut self, run: usize) -> Progress {
        self.go(run, Resume::Continue)
    }

    /// Ends a job that is under way by unwinding its stack, so that everything on it is dropped.
    pub(crate) fn unwind(&mut self, run: usize) {
        for _ in 0..MAX_UNWINDS {
            if !self.busy {
                return;
            }
            self.go(run, Resume::Unwind);
        }
        // It catches every panic and goes on.
        self.give_up();
    }

    /// Leaves a job where it is. Its stack cannot be used again, and must not be freed.
    pub(crate) fn give_up(&mut self) {
        if self.busy {
            std::mem::forget(self.stack.take());
            self.busy = false;
        }
    }

    fn go(&mut self, run: usize, resume: Resume) -> Progress {
        let stack = self.stack.as_mut().expect("a fiber has its stack until it is given up");
        let before = RUNNING.replace(Some(Running { run, slot: stack.slot }));
        let progress = match stack.coroutine.resume(resume) {
            CoroutineResult::Yield(progress) => progress,
            CoroutineResult::Return(()) => unreachable!("a coroutine returns only when it is told to stop"),
        };
        RUNNING.set(before);
        self.busy = matches!(progress, Progress::Suspended);
        progress
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        assert!(!self.busy, "a fiber is unwound before it is dropped");
        if let Some(stack) = self.stack.take() {
            POOL.with_borrow_mut(|pool| pool.idle.push(stack));
        }
    }
}

/// The run whose session runs on this thread now.
pub(crate) fn running() -> Option<usize> {
    RUNNING.get().map(|running| running.run)
}

/// Suspends the session that runs on this thread now, until the scheduler resumes it.
pub(crate) fn suspend() {
    let running = RUNNING.get().expect("only a session of a run is suspended");
    assert!(!std::thread::panicking(), "a session that panics cannot wait for another one");
    match key(running.slot).with(|yielder| yielder.suspend(Progress::Suspended)) {
        Resume::Continue => {}
        Resume::Start(_) | Resume::Unwind | Resume::Stop => resume_unwind(Box::new(Unwound)),
    }
}

/// Whether a panic is the one that takes sessions down.
pub(crate) fn is_unwound(payload: &Payload) -> bool {
    payload.is::<Unwound>()
}

fn key(slot: usize) -> &'static ScopedKey<Yields> {
    SLOTS[slot / 16][slot % 16]
}
