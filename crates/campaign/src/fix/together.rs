//! What was in two transactions is in one, and keeps others out from its first statement on.

use skew_server::rewrites::Rewrite;
use skew_sql::parse::ast::LockWait;

use super::scene::{Cell, Scene, StepPlace};
use super::{Candidate, Change, Kind, StepChange, Variant, locks};
use crate::trees;

/// The read and the write of a race across transactions in one transaction.
pub(crate) fn candidates(scene: &Scene<'_>) -> Option<Candidate> {
    let program = scene.programs.first()?;
    let [read, write] = program.steps.as_slice() else { return None };
    let query = trees::query(read.tree.as_ref())?;
    // Where a row is looked for that is not there yet, only a lock that stands for no row keeps others out.
    let (before, locking) = match scene.finds_nothing() || !trees::can_lock(query) {
        true => {
            let cell = read.operations.iter().find_map(|operation| Cell::of(&operation.key))?;
            (vec!["BEGIN".to_owned(), locks::advisory_lock(&cell.table)], query.to_string())
        }
        false => (vec!["BEGIN".to_owned()], trees::locked(query, LockWait::Block).to_string()),
    };
    let mut sql = before.clone();
    sql.extend([read.shown(&locking), write.shown(&write.tree.as_ref()?.to_string()), "COMMIT".to_owned()]);
    let change = vec![
        Rewrite { from: read.shape.text.clone(), before, to: locking, after: Vec::new() },
        Rewrite::around(&write.shape, Vec::new(), vec!["COMMIT".to_owned()]),
    ];
    let words = "read and write in one transaction, which keeps others out from its first statement on".to_owned();
    let place = |program| StepPlace { program, step: 0 };
    let readers = scene.programs.iter().enumerate().filter(|(_, program)| program.steps[0].is_query());
    let locked = readers.map(|(program, _)| (place(program), StepChange::Locked)).collect();
    // On connections of a pool no rewriting in flight makes one transaction of two.
    let can_explore = !scene.finds_nothing() && trees::can_lock(query);
    let explored = can_explore.then(|| Variant { steps: locked, ..Variant::default() });
    Some(Candidate { kind: Kind::Lock, words, sql, flight: Some(Change::Rewrite(change, Vec::new())), explored })
}
