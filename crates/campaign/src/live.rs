//! A database that a program drives: what happened in it since its last reset, explained.
//!
//! Test fixtures start `skew serve --stdin`, reset the database before each repetition of a test's body, and ask why the
//! body failed.

use skew_model::campaign::{Coverage, FailedRun, RunLine, RunOutcome};
use skew_server::databases::RunSetup;
use skew_server::listen::Running;

use crate::arena::{by_chance, seen_in};
use crate::{coverage, explain};

/// Goes back to the checkpoint, with a seed; the first time, what is there now becomes the checkpoint.
pub fn reset(running: &Running, seed: u64) -> Result<(), String> {
    let setup: RunSetup = by_chance(seed);
    running.databases().begin_run(setup).map_err(|error| error.fields().message.clone())
}

/// What happened since the last reset, as a run that failed: why, and in which statements.
pub fn explain_failure(running: &Running, seed: u64) -> FailedRun {
    let seen = seen_in(running);
    let explained = explain::at_a_glance(&seen);
    let stale = seen.iter().map(|seen| seen.recording.stale.len()).sum();
    let statements = seen.iter().map(|seen| seen.recording.statements.len() as u64).sum();
    FailedRun {
        run: RunLine { number: 1, seed, outcome: RunOutcome::Failed(1), ms: 0, statements, refusals: 0 },
        output: String::new(),
        database: explained.database,
        statements: explained.statements,
        why: explained.why,
        stale_reads: (stale, stale),
        repeated: (0, 0),
        experiment: None,
        replay: None,
    }
}

/// What was covered since the last reset.
pub fn cover(running: &Running, whole: &mut Coverage) {
    coverage::add_run(whole, &seen_in(running));
}
