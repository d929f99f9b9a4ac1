//! A run of a file, repeated statement by statement.

use std::sync::atomic::AtomicBool;

use skew_model::campaign::{DatabaseReplay, FailedRun, RunReplay};
use skew_server::databases::{Replay, RunSetup};
use skew_server::scheduler::{Forced, TxnPlace};
use skew_sql::session::steering::{ReadPlace, StaleRead};

use crate::arena::{self, Arena};
use crate::{Plan, Trouble, evidence, explain, one};

/// Replays a run: whether it failed again, and why.
pub fn replay(plan: &Plan, file: &RunReplay, stop: &AtomicBool) -> Result<Replayed, Trouble> {
    let mut arena = Arena::start(plan.settings.clone()).map_err(Trouble::Database)?;
    let database = |database: &DatabaseReplay| {
        let stale = database
            .stale
            .iter()
            .map(|&[session, txn, read, back]| StaleRead { place: ReadPlace { session, txn, read }, back });
        let forced = database.forced.iter().map(|&[member, txn, from, until_member, until_txn]| Forced {
            waits: TxnPlace { member, txn },
            from,
            until: TxnPlace { member: until_member, txn: until_txn },
            until_statement: None,
        });
        let turns = database.turns.clone();
        let members = database.members.iter().map(|(name, text)| (*name, text.as_str().into())).collect();
        (
            database.name.clone(),
            Replay { turns, members, stale: stale.collect(), forced: forced.collect(), delay: None },
        )
    };
    let replay = Some(file.databases.iter().map(database).collect());
    let setup = RunSetup { replay, ..arena::by_chance(file.seed) };
    let ran = one(plan, &mut arena, setup, 1, stop)?;
    let seen = arena.seen();
    let lost = seen.iter().map(|seen| seen.turns.lost).sum();
    let explained = explain::explain(&seen, &evidence::Cause::default());
    let stale = seen.iter().map(|seen| seen.recording.stale.len()).sum();
    let failure = FailedRun {
        run: ran.line,
        output: ran.output,
        database: explained.database,
        statements: explained.statements,
        why: explained.why,
        stale_reads: (stale, stale),
        repeated: (1, 1),
        experiment: None,
        replay: None,
    };
    Ok(Replayed { failure, lost })
}

/// A run that was replayed.
pub struct Replayed {
    /// How it ended and why; it may have passed.
    pub failure: FailedRun,
    /// How often a client did not come when its turn was.
    pub lost: usize,
}
