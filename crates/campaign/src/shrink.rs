//! The same run again, with fewer and fewer stale reads, until only those remain that matter.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use skew_model::campaign::{DatabaseReplay, FailedRun, RunReplay};
use skew_sql::session::steering::StaleRead;

use crate::arena::{self, Arena, Seen};
use crate::{Event, Failing, Plan, Trouble, explain, one, shows};

/// How often a run is repeated before it counts as one that does not fail again.
const TRIES: usize = 3;

/// A run that is repeated.
struct Repeats<'a> {
    plan: &'a Plan,
    arena: Arena,
    seed: u64,
    times: usize,
    failed: usize,
    stop: &'a AtomicBool,
    watch: &'a (dyn Fn(Event<'_>) + Sync),
}

/// A run that failed again.
struct Again {
    output: String,
    seen: Vec<Seen>,
}

/// A stale read of a database.
type Kept = BTreeSet<(String, StaleRead)>;

/// Finds the stale reads that matter, and explains what is left.
pub(super) fn shrink(
    plan: &Plan,
    failing: Failing,
    stop: &AtomicBool,
    watch: &(dyn Fn(Event<'_>) + Sync),
) -> Result<(FailedRun, RunReplay), Trouble> {
    let arena = Arena::start(plan.settings.clone()).map_err(Trouble::Database)?;
    let mut repeats = Repeats { plan, arena, seed: failing.line.seed, times: 0, failed: 0, stop, watch };
    let found = stale_reads(&failing.seen);
    let first = repeats.until_failed(&failing.seen, &found)?;
    let (mut last, mut needed) = (Again { output: failing.output, seen: failing.seen }, found.clone());
    if let Some(again) = first {
        last = again;
        needed = repeats.smallest(&mut last, &found)?;
    }
    let explained = explain::explain(&last.seen);
    let replay = RunReplay {
        command: plan.command.clone(),
        options: Vec::new(),
        seed: failing.line.seed,
        databases: last.seen.iter().map(|seen| database(seen, &needed)).collect(),
        shows: shows(&explained.why),
    };
    let failure = FailedRun {
        run: failing.line,
        output: last.output,
        database: explained.database,
        statements: explained.statements,
        why: explained.why,
        stale_reads: (found.len(), needed.len()),
        repeated: (repeats.times, repeats.failed),
        replay: None,
    };
    Ok((failure, replay))
}

impl Repeats<'_> {
    /// Repeats the run until it fails; not too often.
    fn until_failed(&mut self, seen: &[Seen], keeps: &Kept) -> Result<Option<Again>, Trouble> {
        for _ in 0..TRIES {
            if let Some(again) = self.once(seen, keeps)? {
                return Ok(Some(again));
            }
        }
        Ok(None)
    }

    fn once(&mut self, seen: &[Seen], keeps: &Kept) -> Result<Option<Again>, Trouble> {
        if self.times >= self.plan.repeats || self.stop.load(Ordering::SeqCst) {
            return Ok(None);
        }
        (self.watch)(Event::Repeated(self.times + 1));
        let setup = arena::again(self.seed, seen, |database, stale| keeps.contains(&(database.to_owned(), *stale)));
        let ran = one(self.plan, &mut self.arena, setup, 0, self.stop)?;
        if ran.is_interrupted {
            return Ok(None);
        }
        self.times += 1;
        if ran.line.outcome.passed() {
            return Ok(None);
        }
        self.failed += 1;
        Ok(Some(Again { output: ran.output, seen: self.arena.seen() }))
    }

    /// Leaves out stale reads, all of them first, then half of them, then one after the other. `last` is the run that
    /// failed with what is left.
    fn smallest(&mut self, last: &mut Again, found: &Kept) -> Result<Kept, Trouble> {
        // Runs are repeated in the order of the first one: what others do with fewer stale reads may differ.
        let order = last.seen.clone();
        let mut needed = found.clone();
        let mut size = needed.len();
        while size > 0 {
            let parts: Vec<Vec<(String, StaleRead)>> =
                needed.iter().cloned().collect::<Vec<_>>().chunks(size).map(<[_]>::to_vec).collect();
            for part in parts {
                let fewer: Kept = needed.iter().filter(|stale| !part.contains(stale)).cloned().collect();
                if let Some(again) = self.once(&order, &fewer)? {
                    *last = again;
                    needed = fewer;
                }
            }
            size = if size > 1 { size.div_ceil(2).min(size - 1) } else { 0 };
        }
        Ok(needed)
    }
}

fn stale_reads(seen: &[Seen]) -> Kept {
    let of = |seen: &Seen| seen.recording.stale.iter().map(|stale| (seen.database.clone(), *stale)).collect::<Vec<_>>();
    seen.iter().flat_map(of).collect()
}

fn database(seen: &Seen, needed: &Kept) -> DatabaseReplay {
    let stale = needed.iter().filter(|(database, _)| *database == seen.database).map(|(_, stale)| {
        let place = stale.place;
        [place.session, place.txn, place.read, stale.back]
    });
    DatabaseReplay { name: seen.database.clone(), turns: seen.turns.order.clone(), stale: stale.collect() }
}
