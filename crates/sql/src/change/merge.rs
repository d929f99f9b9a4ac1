//! MERGE.

use rustc_hash::FxHashSet;

use crate::change::{Check, Done, Event};
use crate::error::{Result, SqlError, SqlState};
use crate::exec::{LockOutcome, Run, Slot};
use crate::ir::{LockStrength, Merge, MergeAction};
use crate::storage::World;
use crate::storage::locks::TableMode;
use crate::types::Datum;

impl World<'_> {
    pub(super) fn merge<'p>(&mut self, merge: &'p Merge, run: &mut Run<'p>, checks: &mut Vec<Check>) -> Result<Done> {
        self.lock_table(merge.table, TableMode::RowExclusive)?;
        let bound = self.bound_table(merge.table)?;
        let events = events(merge);
        for (event, columns) in &events {
            self.fire_before_statement(&bound, *event, columns)?;
        }
        let mut done = Done::default();
        let mut touched = FxHashSet::default();
        for tuple in run.tuples(self, &merge.input)? {
            self.check()?;
            let mut target = match tuple.slot(0) {
                Slot::Row(row) => Some(*row),
                _ => None,
            };
            let mut tuple = tuple;
            if let Some(row) = target {
                self.must_be_undisturbed(row, Event::Update)?;
                match self.lock_to_write(row, LockStrength::Update)? {
                    LockOutcome::Locked(row) => {
                        tuple.set(0, Slot::Row(row));
                        target = Some(row);
                    }
                    LockOutcome::Changed(row) => {
                        tuple.set(0, Slot::Row(row));
                        target = Some(row);
                        let Some(again) = run.recheck(self, &merge.input, &tuple)? else { continue };
                        tuple = again;
                    }
                    LockOutcome::Skipped | LockOutcome::Gone => continue,
                }
            }
            for clause in merge.clauses.iter().filter(|clause| clause.matched == target.is_some()) {
                if let Some(condition) = &clause.condition
                    && !run.is_true(self, condition, &tuple)?
                {
                    continue;
                }
                let (row, action) = (target, &clause.action);
                if let (Some(row), MergeAction::Update(_) | MergeAction::Delete) = (row, action)
                    && !touched.insert(row.key)
                {
                    let message = "MERGE command cannot affect row a second time";
                    let hint = "Ensure that not more than one source row matches any one target row.";
                    return Err(SqlError::new(SqlState::CARDINALITY_VIOLATION, message).hint(hint));
                }
                let changed = match (action, row) {
                    (MergeAction::Delete, Some(row)) => self.delete_one(&bound, row, checks)?,
                    (MergeAction::Update(assignments), Some(row)) => {
                        let mut changes = Vec::with_capacity(assignments.len());
                        for assignment in assignments {
                            changes.push((assignment.column, run.eval(self, &assignment.value, &tuple)?));
                        }
                        self.update_one(&bound, row, changes, checks)?.is_some()
                    }
                    (MergeAction::Insert(assignments), None) => {
                        let mut values = vec![Datum::Null; bound.table().columns.len()];
                        for assignment in assignments {
                            values[assignment.column] = run.eval(self, &assignment.value, &tuple)?;
                        }
                        self.insert_one(&bound, values, checks)?.is_some()
                    }
                    _ => false,
                };
                done.count += u64::from(changed);
                break;
            }
        }
        for (event, columns) in events.iter().rev() {
            self.fire_after_statement(&bound, *event, columns, checks)?;
        }
        Ok(done)
    }
}

/// What a MERGE may do, in the order of BEFORE triggers, and the columns that it may update.
fn events(merge: &Merge) -> Vec<(Event, Vec<usize>)> {
    let mut events = Vec::new();
    let actions = || merge.clauses.iter().map(|clause| &clause.action);
    if actions().any(|action| matches!(action, MergeAction::Insert(_))) {
        events.push((Event::Insert, Vec::new()));
    }
    if actions().any(|action| matches!(action, MergeAction::Update(_))) {
        let assignments = actions().flat_map(|action| match action {
            MergeAction::Update(assignments) => assignments.as_slice(),
            _ => &[],
        });
        events.push((Event::Update, assignments.map(|assignment| assignment.column).collect()));
    }
    if actions().any(|action| matches!(action, MergeAction::Delete)) {
        events.push((Event::Delete, Vec::new()));
    }
    events
}
