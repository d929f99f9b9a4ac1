//! Panics of sessions: where they happened, and that they are not printed while a run is only one of many.
//!
//! A session's panic ends its run, and the run is reported as a whole. What the process's panic hook would print is
//! noise then, above all from runs that exploration leaves out. A run that is made again prints as usual, so that
//! backtraces can be had.

use std::cell::{Cell, RefCell};
use std::panic::{set_hook, take_hook};
use std::sync::Once;

use crate::fiber;

/// Whether panics of a run's sessions are printed when they happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Panics {
    Printed,
    Kept,
}

thread_local! {
    static MODE: Cell<Panics> = const { Cell::new(Panics::Printed) };
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

static HOOK: Once = Once::new();

/// Does something while panics of sessions are treated like this.
pub(crate) fn with<T>(panics: Panics, body: impl FnOnce() -> T) -> T {
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            let of_session = fiber::running().is_some();
            if of_session {
                PLACE.set(info.location().map(ToString::to_string));
            }
            if !of_session || MODE.get() == Panics::Printed {
                before(info);
            }
        }));
    });
    let before = MODE.replace(panics);
    let value = body();
    MODE.set(before);
    value
}

/// Where the last panic of a session on this thread happened.
pub(crate) fn take_place() -> Option<String> {
    PLACE.take()
}
