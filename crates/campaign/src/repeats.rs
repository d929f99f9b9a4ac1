//! The same run again: as it was, with fewer stale reads, with something forced, with changed statements.

use std::sync::atomic::{AtomicBool, Ordering};

use skew_server::databases::RunSetup;
use skew_server::delayed::Delay;
use skew_server::rewrites::Rewrites;
use skew_sql::session::steering::StaleRead;

use crate::arena::{self, Arena, Seen};
use crate::evidence::{ForcedIn, Kept};
use crate::{Event, Plan, Trouble, one};

/// How often a run is repeated before it counts as one that does not fail again.
const TRIES: usize = 3;

/// A run that is repeated.
pub(crate) struct Repeats<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) arena: Arena,
    pub(crate) seed: u64,
    /// Reruns of every kind.
    reruns: usize,
    /// Repetitions of the run as it was, and how many of them failed.
    pub(crate) times: usize,
    pub(crate) failed: usize,
    /// Runs with a change that was tried.
    trials: usize,
    /// How long the run that failed took, in milliseconds.
    pub(crate) run_ms: u64,
    /// How often the same rerun is made before it counts as one that passes: once for a command that did the same again.
    pub(crate) tries: usize,
    /// Statements that are changed in the next reruns.
    pub(crate) rewrites: Rewrites,
    /// What waits by what it asks in the next reruns, and in which database.
    pub(crate) delay: Option<(String, Delay)>,
    pub(crate) stop: &'a AtomicBool,
    watch: &'a (dyn Fn(Event<'_>) + Sync),
}

/// A run that was repeated.
pub(crate) struct Again {
    pub(crate) output: String,
    pub(crate) seen: Vec<Seen>,
    pub(crate) failed: bool,
}

impl<'a> Repeats<'a> {
    /// A run with this seed that is repeated in this arena.
    pub(crate) fn new(
        plan: &'a Plan,
        arena: Arena,
        (seed, run_ms): (u64, u64),
        stop: &'a AtomicBool,
        watch: &'a (dyn Fn(Event<'_>) + Sync),
    ) -> Repeats<'a> {
        Repeats {
            plan,
            arena,
            seed,
            reruns: 0,
            times: 0,
            failed: 0,
            trials: 0,
            run_ms,
            tries: TRIES,
            rewrites: Rewrites::default(),
            delay: None,
            stop,
            watch,
        }
    }

    /// Repeats the run until it fails; not too often.
    pub(crate) fn until_failed(&mut self, seen: &[Seen], keeps: &Kept) -> Result<Option<Again>, Trouble> {
        for _ in 0..TRIES {
            if let Some(again) = self.once(seen, keeps, &Vec::new())?.filter(|again| again.failed) {
                self.tries = if self.times == 1 { 1 } else { TRIES };
                return Ok(Some(again));
            }
        }
        Ok(None)
    }

    /// A run with a change begins.
    pub(crate) fn begins_trial(&mut self) {
        self.trials += 1;
        (self.watch)(Event::Repeated(self.reruns + self.trials));
    }

    /// A run of the command that is an experiment about a change; `None` if it did not come to an end.
    pub(crate) fn experiment(&mut self, setup: RunSetup) -> Result<Option<Vec<Seen>>, Trouble> {
        if self.is_stopped() {
            return Ok(None);
        }
        self.begins_trial();
        let ran = one(self.plan, &mut self.arena, setup, 0, self.stop)?;
        Ok((!ran.is_interrupted).then(|| self.arena.seen()))
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Repeats the run once; not at all if that was done often enough.
    pub(crate) fn once(&mut self, seen: &[Seen], keeps: &Kept, forced: &ForcedIn) -> Result<Option<Again>, Trouble> {
        if self.reruns >= self.plan.repeats || self.is_stopped() {
            return Ok(None);
        }
        (self.watch)(Event::Repeated(self.reruns + 1));
        let keeps = |database: &str, stale: &StaleRead| keeps.contains(&(database.to_owned(), *stale));
        let mut setup = arena::again(self.seed, seen, keeps, forced);
        setup.rewrites = self.rewrites.clone();
        if let (Some((database, delay)), Some(replay)) = (&self.delay, &mut setup.replay)
            && let Some(own) = replay.get_mut(database)
        {
            own.delay = Some(delay.clone());
        }
        let ran = one(self.plan, &mut self.arena, setup, 0, self.stop)?;
        if ran.is_interrupted {
            return Ok(None);
        }
        self.reruns += 1;
        let failed = !ran.line.outcome.passed();
        let is_changed = !self.rewrites.is_empty() || self.delay.is_some();
        // Reruns with something forced are experiments, not repetitions.
        if forced.is_empty() && !is_changed {
            self.times += 1;
            self.failed += usize::from(failed);
        }
        Ok(Some(Again { output: ran.output, seen: self.arena.seen(), failed }))
    }

    /// Leaves out stale reads, all of them first, then half of them, then one after the other. `last` is the run that
    /// failed with what is left.
    pub(crate) fn smallest(&mut self, last: &mut Again, found: &Kept) -> Result<Kept, Trouble> {
        // Runs are repeated in the order of the first one: what others do with fewer stale reads may differ.
        let order = last.seen.clone();
        let mut needed = found.clone();
        let mut size = needed.len();
        while size > 0 {
            let parts: Vec<Vec<(String, StaleRead)>> =
                needed.iter().cloned().collect::<Vec<_>>().chunks(size).map(<[_]>::to_vec).collect();
            for part in parts {
                let fewer: Kept = needed.iter().filter(|stale| !part.contains(stale)).cloned().collect();
                if let Some(again) = self.once(&order, &fewer, &Vec::new())?.filter(|again| again.failed) {
                    *last = again;
                    needed = fewer;
                }
            }
            size = if size > 1 { size.div_ceil(2).min(size - 1) } else { 0 };
        }
        Ok(needed)
    }
}
