//! From a failing run to its explanation: the stale reads and the overlaps that matter, why it failed, what to change.

use std::sync::atomic::AtomicBool;

use crate::arena::{Arena, Seen};
use crate::evidence::{Cause, Failing, ForcedIn, Kept};
use crate::repeats::{Again, Repeats};
use crate::{Event, Plan, Trouble, cause, explain, fix, shows};
use skew_model::campaign::{DatabaseReplay, FailedRun, RunReplay, Why};

/// Finds the stale reads that matter, and explains what is left.
pub(super) fn shrink(
    plan: &Plan,
    failing: Failing,
    stop: &AtomicBool,
    watch: &(dyn Fn(Event<'_>) + Sync),
) -> Result<(FailedRun, RunReplay), Trouble> {
    let arena = Arena::start(plan.settings.clone()).map_err(Trouble::Database)?;
    let mut repeats = Repeats::new(plan, arena, (failing.line.seed, failing.line.ms), stop, watch);
    let found = stale_reads(&failing.seen);
    let first = repeats.until_failed(&failing.seen, &found)?;
    let (mut last, mut needed) = (Again { output: failing.output, seen: failing.seen, failed: true }, found.clone());
    let mut cause = Cause::default();
    if let Some(again) = first {
        last = again;
        needed = repeats.smallest(&mut last, &found)?;
        cause = cause::find(&mut repeats, &mut last, &needed)?;
    }
    let mut explained = explain::explain(&last.seen, &cause);
    if (cause.fails_serially || matches!(explained.why, Why::Serializable))
        && let Some(found) = cause::find_split(&mut repeats, &last, &needed)?
    {
        explained = explain::with_split(&last.seen[found.database], &found.race);
        (cause.experiment, cause.serial) = (Some(found.experiment), Some(found.serial));
    }
    if let (Some(_), Why::Anomaly(anomaly)) = (cause.experiment, &mut explained.why)
        && let Some(seen) = last.seen.iter().find(|seen| seen.database == explained.database)
    {
        let order = cause.order.as_ref().unwrap_or(&last.seen);
        let found = fix::find(&mut repeats, seen, &explained.statements, anomaly, &cause, (order, &needed))?;
        (anomaly.tried, anomaly.failed) = (found.tried, found.failed);
    }
    let databases = cause.order.as_ref().unwrap_or(&last.seen).iter();
    let replay = RunReplay {
        command: plan.command.clone(),
        options: Vec::new(),
        seed: failing.line.seed,
        databases: databases.map(|seen| database(seen, &needed, &cause.forced)).collect(),
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
        experiment: cause.experiment,
        replay: None,
    };
    Ok((failure, replay))
}

/// What replays a run as it was.
pub(crate) fn replay_of(plan: &Plan, seed: u64, seen: &[Seen], shows: String) -> RunReplay {
    let stale = stale_reads(seen);
    RunReplay {
        command: plan.command.clone(),
        options: Vec::new(),
        seed,
        databases: seen.iter().map(|seen| database(seen, &stale, &Vec::new())).collect(),
        shows,
    }
}

fn stale_reads(seen: &[Seen]) -> Kept {
    let of = |seen: &Seen| seen.recording.stale.iter().map(|stale| (seen.database.clone(), *stale)).collect::<Vec<_>>();
    seen.iter().flat_map(of).collect()
}

fn database(seen: &Seen, needed: &Kept, forced: &ForcedIn) -> DatabaseReplay {
    let stale = needed.iter().filter(|(database, _)| *database == seen.database).map(|(_, stale)| {
        let place = stale.place;
        [place.session, place.txn, place.read, stale.back]
    });
    let forced = forced
        .iter()
        .filter(|(database, _)| *database == seen.database)
        .map(|(_, forced)| [forced.waits.member, forced.waits.txn, forced.from, forced.until.member, forced.until.txn]);
    DatabaseReplay {
        name: seen.database.clone(),
        turns: seen.turns.order.clone(),
        members: seen.turns.members.iter().map(|(name, text)| (*name, text.to_string())).collect(),
        stale: stale.collect(),
        forced: forced.collect(),
    }
}
