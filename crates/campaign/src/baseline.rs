//! The runs on which the test has to pass: one transaction after the other, and at serializable. What fails there is not for
//! weak isolation to explain, unless a client reads in one transaction and writes in the next one.

use std::sync::atomic::AtomicBool;

use skew_model::campaign::{RunLine, RunOutcome};

use crate::arena::{self, Arena};
use crate::predict::Predictions;
use crate::{Event, Plan, Trouble, one, seed_of, split};

/// How many runs at serializable, with clients that overlap, come before the others.
const SERIALIZABLE_RUNS: u64 = 2;

/// Races over several connections that are tried where the test fails although nothing overlaps.
const MAX_POOLED: usize = 3;

/// The runs on which the test has to pass.
pub(crate) fn baseline(
    plan: &Plan,
    stop: &AtomicBool,
    watch: &(dyn Fn(Event<'_>) + Sync),
) -> Result<(Vec<RunLine>, Predictions), Trouble> {
    let mut arena = Arena::start(plan.baseline.clone()).map_err(Trouble::Database)?;
    let mut lines = Vec::new();
    let mut predictions = Predictions::default();
    for number in 0..=SERIALIZABLE_RUNS {
        let seed = seed_of(plan, number);
        let setup = if number == 0 { arena::one_by_one(seed) } else { arena::by_chance(seed) };
        let ran = one(plan, &mut arena, setup, number, stop)?;
        watch(Event::Baseline(&ran.line));
        if ran.is_interrupted {
            return Ok((lines, predictions));
        }
        if number == 0 {
            predictions = Predictions::new(&arena.seen());
        }
        let refusals = ran.line.refusals;
        match (number, ran.clients, ran.line.outcome) {
            (0, 0, _) => {
                let program = plan.command.first().cloned().unwrap_or_default();
                return Err(Trouble::NeverConnected(program, ran.ended(&arena)));
            }
            (_, _, RunOutcome::Passed) => {}
            (0, _, RunOutcome::TimedOut) => return Err(Trouble::Hangs(ran.ended(&arena), plan.timeout)),
            // Where transactions were refused they overlapped, even if they were to run one after the other: at this level
            // an application has to try again.
            _ if refusals > 0 => {}
            // A client that reads in one transaction and writes in the next one is helped neither by transactions that run
            // one after the other nor by serializable ones.
            _ if arena.seen().iter().any(|seen| !split::find(seen).is_empty()) => {
                lines.push(ran.line);
                return Ok((lines, predictions));
            }
            _ if is_pooled_race(plan, &mut arena, seed, stop)? => {
                lines.push(ran.line);
                return Ok((lines, predictions));
            }
            (0, ..) => return Err(Trouble::FailsAlone(ran.ended(&arena))),
            _ => return Err(Trouble::FailsSerializable(ran.ended(&arena))),
        }
        lines.push(ran.line);
    }
    Ok((lines, predictions))
}

/// Whether the run that has just failed passes if a client's read on one connection waits for another client's write, which
/// its own write on another connection undoes.
fn is_pooled_race(plan: &Plan, arena: &mut Arena, seed: u64, stop: &AtomicBool) -> Result<bool, Trouble> {
    let all = arena.seen();
    for seen in &all {
        for race in split::find_pooled(seen).into_iter().take(MAX_POOLED) {
            let Some(split::Barrier::Delay(delay)) = race.barrier(seen) else { continue };
            let mut setup = arena::again(seed, &all, |_, _| true, &[]);
            if let Some(own) = setup.replay.as_mut().and_then(|replay| replay.get_mut(&seen.database)) {
                own.delay = Some(delay);
            }
            let ran = one(plan, arena, setup, 0, stop)?;
            if ran.line.outcome.passed() && arena.seen().iter().all(|seen| seen.turns.broken == 0) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
