//! The runs of a campaign, several at the same time, and what they came to.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use skew_model::campaign::{Coverage, FailedRun, RunLine, RunReplay};

use crate::arena::{self, Arena, Seen};
use crate::evidence::Failing;
use crate::predict::Predictions;
use crate::{Event, Plan, Ran, Trouble, cause_words, coverage, explain, one, seed_of, shows, shrink};

/// What the runs of a campaign came to.
#[derive(Default)]
pub(crate) struct All {
    pub(crate) runs: Vec<RunLine>,
    pub(crate) failing: Option<Failing>,
    /// The runs that failed: number, cause in a few words, and what replays them.
    pub(crate) failed: Vec<(u64, String, RunReplay)>,
    /// The same, explained.
    pub(crate) explained: Vec<FailedRun>,
    pub(crate) unsupported: BTreeMap<String, u64>,
    pub(crate) held: Duration,
    pub(crate) coverage: Coverage,
    trouble: Option<Trouble>,
}

/// Failing runs that are kept.
const MAX_KEPT: usize = 200;

/// Makes the runs from the next one on; all of them, or until one has failed.
pub(crate) fn all_runs(
    plan: &Plan,
    predictions: &Mutex<Predictions>,
    (next, until_failure): (&AtomicU64, bool),
    so_far: All,
    stop: &AtomicBool,
    watch: &(dyn Fn(Event<'_>) + Sync),
) -> Result<All, Trouble> {
    let (all, is_over) = (Mutex::new(so_far), AtomicBool::new(false));
    let vain = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..plan.jobs.max(1) {
            scope.spawn(|| {
                let work = || -> Result<(), Trouble> {
                    let mut arena = Arena::start(plan.settings.clone()).map_err(Trouble::Database)?;
                    let is_time_left = || plan.deadline.is_none_or(|deadline| Instant::now() < deadline);
                    while !stop.load(Ordering::SeqCst) && !is_over.load(Ordering::SeqCst) && is_time_left() {
                        let number = next.fetch_add(1, Ordering::SeqCst);
                        if number > plan.runs {
                            break;
                        }
                        if plan
                            .shard
                            .is_some_and(|(shard, count)| (number - 1) % u64::from(count) != u64::from(shard - 1))
                        {
                            continue;
                        }
                        let mut setup = arena::by_chance(seed_of(plan, number));
                        let directions = predict(predictions).of_run(number, vain.load(Ordering::SeqCst));
                        setup.directions = directions.clone();
                        let ran = one(plan, &mut arena, setup, number, stop)?;
                        if ran.is_interrupted {
                            break;
                        }
                        vain.fetch_add(ran.counts.vain, Ordering::SeqCst);
                        watch(Event::Run(&ran.line));
                        let failed = !ran.line.outcome.passed();
                        let seen = arena.seen();
                        if !failed {
                            predict(predictions).learn(&seen, &directions);
                        }
                        if failed && until_failure {
                            is_over.store(true, Ordering::SeqCst);
                        }
                        all.lock().unwrap_or_else(PoisonError::into_inner).add(plan, ran, seen);
                    }
                    Ok(())
                };
                if let Err(trouble) = work() {
                    is_over.store(true, Ordering::SeqCst);
                    all.lock().unwrap_or_else(PoisonError::into_inner).trouble = Some(trouble);
                }
            });
        }
    });
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    match all.trouble.take() {
        Some(trouble) => Err(trouble),
        None => Ok(all),
    }
}

/// What the next runs try; threads that make runs share it.
fn predict(predictions: &Mutex<Predictions>) -> MutexGuard<'_, Predictions> {
    predictions.lock().unwrap_or_else(PoisonError::into_inner)
}

impl All {
    fn add(&mut self, plan: &Plan, ran: Ran, seen: Vec<Seen>) {
        for (what, times) in ran.counts.unsupported {
            *self.unsupported.entry(what).or_default() += times;
        }
        self.held += ran.counts.held;
        coverage::add_run(&mut self.coverage, &seen);
        self.runs.push(ran.line.clone());
        let is_first = self.failing.as_ref().is_none_or(|failing| ran.line.number < failing.line.number);
        if ran.line.outcome.passed() {
            return;
        }
        let explained = explain::at_a_glance(&seen);
        let why = explained.why;
        let cause = cause_words(&why).unwrap_or_else(|| shows(&why));
        if self.failed.len() < MAX_KEPT {
            let replay = shrink::replay_of(plan, ran.line.seed, &seen, shows(&why));
            self.failed.push((ran.line.number, cause.clone(), replay));
            self.explained.push(FailedRun {
                run: ran.line.clone(),
                output: ran.output.clone(),
                database: explained.database,
                statements: explained.statements,
                why,
                stale_reads: (0, 0),
                repeated: (0, 0),
                experiment: None,
                replay: None,
            });
        }
        if is_first {
            self.failing = Some(Failing { line: ran.line, output: ran.output, seen, cause });
        }
    }
}
