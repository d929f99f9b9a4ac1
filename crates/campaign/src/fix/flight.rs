//! A candidate in runs of the command: three in the order of the run that failed, then with other seeds.

use std::time::Duration;

use skew_server::rewrites::Rewrites;

use super::Change;
use crate::arena::{self, Arena, Seen};
use crate::evidence::{ForcedIn, Kept};
use crate::repeats::Repeats;
use crate::{Trouble, one, seed_of};

/// Runs with a change in the order of the run that failed.
const SAME_ORDER: u64 = 3;
/// Runs with a change, where the command is quick.
const MAX_RUNS: u64 = 200;
/// Runs with a change, however slow the command is.
const MIN_RUNS: u64 = 10;
/// What the runs of one change may take, by the time of the run that failed.
const BUDGET: Duration = Duration::from_secs(10);
/// The first run of a trial, far from the numbers of the campaign's runs.
const FIRST_NUMBER: u64 = 1 << 40;

/// What came of the runs with a change.
pub(super) enum Flown {
    /// All passed: how many.
    Passed(usize),
    /// One failed: how.
    Failed(String),
    /// One failed after the database had refused a statement because of concurrency, or of a constraint.
    Refused(String),
    /// The campaign is to end.
    Stopped,
}

/// How many runs a change has to pass.
pub(crate) fn runs_of(repeats: &Repeats<'_>) -> u64 {
    let by_time = BUDGET.as_millis() as u64 / repeats.run_ms.max(1);
    repeats.plan.tries.unwrap_or_else(|| by_time.clamp(MIN_RUNS, MAX_RUNS))
}

/// Runs the command with a change.
pub(super) fn passes(
    repeats: &mut Repeats<'_>,
    order: &[Seen],
    keeps: &Kept,
    forced: &ForcedIn,
    change: &Change,
) -> Result<Flown, Trouble> {
    let plan = repeats.plan;
    let (mut own, rewrites) = match change {
        Change::Rewrite(rewrites, schema) => (None, Rewrites::new(rewrites.clone(), schema.clone())),
        Change::Level(level) => {
            let mut settings = plan.baseline.clone();
            settings.options.level = Some(*level);
            (Some(Arena::start(settings).map_err(Trouble::Database)?), Rewrites::default())
        }
    };
    let runs = runs_of(repeats);
    for number in 0..runs {
        if repeats.is_stopped() {
            return Ok(Flown::Stopped);
        }
        let keep = |database: &str, stale: &_| keeps.contains(&(database.to_owned(), *stale));
        let setup = match number < SAME_ORDER && own.is_none() {
            true => arena::again(repeats.seed, order, keep, forced),
            false => arena::by_chance(seed_of(plan, FIRST_NUMBER + number)),
        };
        let setup = arena::with_rewrites(setup, rewrites.clone());
        let seed = setup.seed;
        repeats.begins_trial();
        let arena = own.as_mut().unwrap_or(&mut repeats.arena);
        let ran = one(plan, arena, setup, 0, repeats.stop)?;
        if ran.is_interrupted {
            return Ok(Flown::Stopped);
        }
        if !ran.line.outcome.passed() {
            let words = format!("run {} with it failed (seed {seed})", number + 1);
            let is_refused = ran.counts.refusals > 0;
            return Ok(match is_refused {
                true => Flown::Refused(format!("{words}, and does not begin again what the database refuses")),
                false => Flown::Failed(words),
            });
        }
    }
    Ok(Flown::Passed(runs as usize))
}
