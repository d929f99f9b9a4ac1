//! What the running statement is allowed to use: time until its deadline, memory, and its thread's stack.
//!
//! Code that can take long (regular expressions, arithmetic of long numbers, sorts, parsers of large values) is far from
//! the statement that it works for, and so is code that recurses or keeps values. All of it asks here: [`step`] counts
//! work and looks now and then whether the statement was cancelled or is late, [`Charge`] counts memory, [`deeper`] looks
//! at the stack. The budget belongs to the thread because a statement runs on one thread from its beginning to its end.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

use crate::error::{Result, SqlError, SqlState};

/// Units of work between two looks at the clock. A unit is a few nanoseconds: a byte copied, a character matched.
const WORK_BETWEEN_LOOKS: usize = 20_000;

/// The memory of lists that are shorter is not looked at.
const LONG_LIST: usize = 4_096;

/// What it takes to copy a small thing into memory that was not used before.
const THING_WORK: usize = 10;

/// The stack that threads have by default.
const DEFAULT_STACK_BYTES: usize = 2 << 20;

/// What one level of a tree takes of the stack where it is walked, at most, in a build without optimisation.
const LEVEL_BYTES: usize = 4 << 10;

/// The most of the stack that functions which call functions use: about 2,000 calls of PL/pgSQL functions and 1,000 of
/// triggers in each other, where PostgreSQL's default allows 800 and 700. Each statement around is told of every row that a
/// trigger changes, so that the time grows with the square of the depth.
const CALLS_BYTES: usize = 10 << 20;

/// What another thread wants a running statement to do.
#[derive(Clone, Default, Debug)]
pub struct Wish(Arc<AtomicU8>);

/// The default.
const GO_ON: u8 = 0;
const CANCEL: u8 = 1;
const TERMINATE: u8 = 2;
const LOST: u8 = 3;

impl Wish {
    /// That the statement goes on.
    pub fn new() -> Wish {
        Wish::default()
    }

    /// The statement is to stop (57014).
    pub fn cancel(&self) {
        let _ = self.0.compare_exchange(GO_ON, CANCEL, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The client has gone (08006).
    pub fn lose(&self) {
        let _ = self.0.compare_exchange(GO_ON, LOST, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The connection is to end (57P01).
    pub fn terminate(&self) {
        self.0.store(TERMINATE, Ordering::Relaxed);
    }

    /// Whether the connection is to end.
    pub fn is_terminated(&self) -> bool {
        self.0.load(Ordering::Relaxed) == TERMINATE
    }

    /// A new statement is not stopped by what was meant for the last one.
    pub fn forget(&self) {
        let _ = self.0.compare_exchange(CANCEL, GO_ON, Ordering::Relaxed, Ordering::Relaxed);
    }

    fn check(&self) -> Result<()> {
        match self.0.load(Ordering::Relaxed) {
            GO_ON => Ok(()),
            CANCEL => Err(SqlError::new(SqlState::QUERY_CANCELED, "canceling statement due to user request")),
            LOST => Err(SqlError::new(SqlState::CONNECTION_FAILURE, "connection to client lost")),
            _ => {
                let message = "terminating connection due to administrator command";
                Err(SqlError::new(SqlState::ADMIN_SHUTDOWN, message))
            }
        }
    }
}

/// What a statement is granted.
pub struct Grant {
    /// What other threads want of it.
    pub wish: Wish,
    /// When it has to be done.
    pub deadline: Option<Instant>,
    /// The memory of the values that it keeps.
    pub memory_bytes: usize,
    /// The whole stack of the thread; part of it stays for what cannot be stopped in the middle.
    pub stack_bytes: usize,
}

#[derive(Clone, Copy)]
struct Budget {
    deadline: Option<Instant>,
    memory_limit: usize,
    memory_used: usize,
    stack_base: usize,
    /// 0: no budget has begun.
    stack_bytes: usize,
}

const NO_BUDGET: Budget =
    Budget { deadline: None, memory_limit: usize::MAX, memory_used: 0, stack_base: 0, stack_bytes: 0 };

thread_local! {
    static BUDGET: Cell<Budget> = const { Cell::new(NO_BUDGET) };
    static WORK_LEFT: Cell<usize> = const { Cell::new(WORK_BETWEEN_LOOKS) };
    static GAVE_UP: Cell<bool> = const { Cell::new(false) };
    static HAS_LOOKED: Cell<bool> = const { Cell::new(false) };
    static PENDING: RefCell<Option<SqlError>> = const { RefCell::new(None) };
    static WISH: RefCell<Option<Wish>> = const { RefCell::new(None) };
}

/// A budget that has begun. Dropped, the one around it counts again.
#[must_use]
pub struct Active {
    /// `None`: the one around it has never stopped to count.
    before: Option<(Budget, Option<Wish>)>,
}

impl Drop for Active {
    fn drop(&mut self) {
        if let Some((budget, wish)) = self.before.take() {
            BUDGET.set(budget);
            WISH.set(wish);
        }
    }
}

/// The statement that begins here is allowed to use this.
pub fn begin(grant: Grant) -> Active {
    let before = BUDGET.get();
    // A statement within another one has the stack that is left.
    let (stack_base, stack_bytes) = match before.stack_bytes {
        0 => (stack_address(), grant.stack_bytes),
        bytes => (before.stack_base, bytes),
    };
    let (deadline, memory_limit) = (grant.deadline, grant.memory_bytes);
    BUDGET.set(Budget { deadline, memory_limit, memory_used: 0, stack_base, stack_bytes });
    GAVE_UP.set(false);
    PENDING.set(None);
    WORK_LEFT.set(WORK_BETWEEN_LOOKS);
    Active { before: Some((before, WISH.replace(Some(grant.wish)))) }
}

/// Begins a budget of nothing but the default stack, unless one has begun: for parsers that are called by themselves.
pub fn begin_alone() -> Active {
    let before = BUDGET.get();
    if before.stack_bytes > 0 {
        return Active { before: None };
    }
    BUDGET.set(Budget { stack_base: stack_address(), stack_bytes: DEFAULT_STACK_BYTES, ..before });
    Active { before: Some((before, None)) }
}

/// When the running statement is late.
pub fn deadline() -> Option<Instant> {
    BUDGET.get().deadline
}

/// An error if the statement was cancelled or is late.
pub fn check() -> Result<()> {
    WISH.with_borrow(|wish| wish.as_ref().map_or(Ok(()), Wish::check))?;
    if deadline().is_some_and(|deadline| Instant::now() >= deadline) {
        return Err(SqlError::new(SqlState::QUERY_CANCELED, "canceling statement due to statement timeout"));
    }
    Ok(())
}

/// Counts work, and now and then [checks](check).
#[inline]
pub fn step(work: usize) -> Result<()> {
    let left = WORK_LEFT.get();
    if left > work {
        WORK_LEFT.set(left - work);
        return Ok(());
    }
    look()
}

/// Looks whether the statement is to stop. What is over stays over: nothing is left until the next statement, and a caller
/// that makes something else of the error does not hide it from [`verdict`].
#[cold]
fn look() -> Result<()> {
    WORK_LEFT.set(0);
    HAS_LOOKED.set(true);
    let result = check();
    match result {
        Ok(()) => WORK_LEFT.set(WORK_BETWEEN_LOOKS),
        Err(_) => GAVE_UP.set(true),
    }
    result
}

/// Counts work where an error cannot be given back: whether the statement is to stop. The caller then returns at once,
/// with whatever it has, and [`verdict`] makes an error of it before anything comes of that.
#[inline]
#[must_use]
pub fn is_over(work: usize) -> bool {
    step(work).is_err()
}

/// Counts work in the middle of a computation that is not worth stopping: the next [`verdict`] is an error if the statement
/// is to stop.
#[inline]
pub fn count(work: usize) {
    let _ = step(work);
}

/// Whether there was so much work since the last time that this was asked that the statement looked at the clock: then it is
/// also time to ask whether other statements want to go on.
#[inline]
pub fn has_looked() -> bool {
    HAS_LOOKED.get() && HAS_LOOKED.replace(false)
}

/// What the allocator takes for itself beside each piece of memory, at most, with what it rounds up.
pub const ALLOCATION_BYTES: usize = 16;

/// Makes a long list of small things.
pub fn collect<T>(things: impl Iterator<Item = T>) -> Result<Vec<T>> {
    // A list that is made as long as it gets does not have to grow.
    let least = things.size_hint().0;
    fits(least.saturating_mul(size_of::<T>()))?;
    let mut list = Vec::with_capacity(least);
    for thing in things {
        push(&mut list, thing)?;
    }
    Ok(list)
}

/// Adds a small thing to a list that is possibly long: an error if the statement is to stop, or there is no memory for the
/// list to grow.
pub fn push<T>(list: &mut Vec<T>, thing: T) -> Result<()> {
    step(THING_WORK)?;
    if list.len() == list.capacity() && list.len() >= LONG_LIST {
        // The list as it was and one twice as long, and what the things have of their own.
        let times = if std::mem::needs_drop::<T>() { 5 } else { 3 };
        fits(times * list.len() * size_of::<T>())?;
    }
    list.push(thing);
    Ok(())
}

/// Where the first thing is that is looked for, in a long list of small things.
pub fn position<T>(things: &[T], is_sought: impl Fn(&T) -> bool) -> Result<Option<usize>> {
    for (at, piece) in things.chunks(WORK_BETWEEN_LOOKS).enumerate() {
        if let Some(place) = piece.iter().position(&is_sought) {
            step(place)?;
            return Ok(Some(at * WORK_BETWEEN_LOOKS + place));
        }
        step(piece.len())?;
    }
    Ok(None)
}

/// The same for an error that cannot be given back here: the statement ends with it at the next [`verdict`].
pub fn give_up(error: SqlError) {
    GAVE_UP.set(true);
    PENDING.set(Some(error));
}

/// An error if a computation was given up. Asked after every function and at the end of every statement.
#[inline]
pub fn verdict() -> Result<()> {
    if !GAVE_UP.get() {
        return Ok(());
    }
    if let Some(error) = PENDING.take() {
        GAVE_UP.set(false);
        return Err(error);
    }
    check()?;
    Err(SqlError::new(SqlState::QUERY_CANCELED, "canceling statement due to user request"))
}

/// An error unless so many more bytes can be kept.
pub fn fits(bytes: usize) -> Result<()> {
    let budget = BUDGET.get();
    if bytes <= budget.memory_limit.saturating_sub(budget.memory_used) {
        return Ok(());
    }
    Err(SqlError::new(SqlState::OUT_OF_MEMORY, "out of memory").detail(format!(
        "A statement is allowed to keep {} MB: its values and variables, its result, and what it sorts, groups and joins.",
        budget.memory_limit >> 20
    )))
}

/// Memory that is counted as long as this lives.
#[derive(Default, Debug)]
pub struct Charge(usize);

impl Charge {
    /// Counts more.
    pub fn add(&mut self, bytes: usize) -> Result<()> {
        fits(bytes)?;
        let budget = BUDGET.get();
        BUDGET.set(Budget { memory_used: budget.memory_used + bytes, ..budget });
        self.0 += bytes;
        Ok(())
    }

    /// Counts this much instead.
    pub fn set(&mut self, bytes: usize) -> Result<()> {
        self.take_back(self.0);
        self.add(bytes)
    }

    /// Counts less.
    pub fn take_back(&mut self, bytes: usize) {
        let bytes = bytes.min(self.0);
        self.0 -= bytes;
        let budget = BUDGET.get();
        BUDGET.set(Budget { memory_used: budget.memory_used.saturating_sub(bytes), ..budget });
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.take_back(self.0);
    }
}

/// How much of the stack something is allowed to reach into. What parses or binds makes trees that later steps walk, with
/// more stack per level perhaps, and without looking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Share {
    /// Making trees: five eighths.
    Trees,
    /// Running them, and what they call: half.
    Run,
    /// Functions that call functions: the same, and no more than [`CALLS_BYTES`], because a recursion without an end is
    /// to be stopped before long.
    Calls,
}

/// Before a recursion: an error if the stack's share is used up.
#[inline]
pub fn deeper(share: Share) -> Result<()> {
    let budget = BUDGET.get();
    let allowed = match share {
        Share::Trees => budget.stack_bytes / 8 * 5,
        Share::Run => budget.stack_bytes / 2,
        Share::Calls => (budget.stack_bytes / 2).min(CALLS_BYTES),
    };
    if budget.stack_bytes == 0 || budget.stack_base.abs_diff(stack_address()) <= allowed {
        return Ok(());
    }
    Err(too_deep())
}

/// An error if a tree of so many levels cannot be walked: a chain of operators leans to the left, and is made without a
/// recursion.
pub fn chain(levels: usize) -> Result<()> {
    let most = BUDGET.get().stack_bytes.max(DEFAULT_STACK_BYTES) / LEVEL_BYTES;
    if levels <= most { Ok(()) } else { Err(too_deep()) }
}

/// The error of a statement that is nested too deeply.
pub fn too_deep() -> SqlError {
    SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded")
        .hint("Expressions, queries or function calls are nested too deeply, or without an end.")
}

/// About where the stack ends now.
#[inline(never)]
fn stack_address() -> usize {
    let marker = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&marker)).addr()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn grant(deadline: Option<Instant>, memory_bytes: usize) -> Grant {
        Grant { wish: Wish::new(), deadline, memory_bytes, stack_bytes: 1 << 20 }
    }

    #[test]
    fn work_ends_at_the_deadline() {
        let _active = begin(grant(Some(Instant::now() + Duration::from_millis(5)), 0));
        let late = (0..).find_map(|_| step(100).err()).expect("the deadline passes");
        assert_eq!(late.fields().message, "canceling statement due to statement timeout");
    }

    #[test]
    fn work_ends_when_it_is_cancelled() {
        let wish = Wish::new();
        let _active = begin(Grant { wish: wish.clone(), ..grant(None, 0) });
        assert!(step(1 << 20).is_ok());
        wish.cancel();
        assert!(step(1 << 20).is_err());
    }

    #[test]
    fn memory_counts_as_long_as_it_is_charged() {
        let _active = begin(grant(None, 100));
        let mut first = Charge::default();
        assert!(first.add(60).is_ok());
        assert!(Charge::default().add(60).is_err());
        first.take_back(30);
        assert!(Charge::default().add(60).is_ok());
        drop(first);
        assert!(Charge::default().add(100).is_ok());
    }

    #[test]
    fn lists_grow_within_the_memory() {
        let _active = begin(grant(None, 1 << 20));
        assert!(collect(0..50_000_u64).is_ok());
        assert!(collect(0..200_000_u64).is_err());
    }

    #[test]
    fn a_budget_inside_another_gives_way_to_it() {
        let _outer = begin(grant(None, 100));
        {
            let _inner = begin(grant(None, 10));
            assert!(fits(50).is_err());
        }
        assert!(fits(50).is_ok());
    }
}
