//! MERGE.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::change::{Check, Done, Event};
use crate::error::{Result, SqlError, SqlState};
use crate::exec::{LockOutcome, Run, Slot, Tuple};
use crate::ir::{LockStrength, Merge, MergeAction};
use crate::storage::World;
use crate::storage::locks::TableMode;
use crate::storage::table::BoundTable;
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
            let changed = self.merge_tuple(merge, &bound, tuple, &mut touched, run, checks)?;
            done.count += u64::from(changed);
        }
        for (event, columns) in events.iter().rev() {
            self.fire_after_statement(&bound, *event, columns, checks)?;
        }
        Ok(done)
    }

    /// Does what the first clause says whose condition holds; says whether a row was changed by it.
    ///
    /// The row is locked when it is known what is to be done with it. If it had changed before, the clauses are looked at
    /// once more; a row that is gone, or no longer matches, makes the source's row one without a match.
    fn merge_tuple<'p>(
        &mut self,
        merge: &'p Merge,
        bound: &Arc<BoundTable>,
        mut tuple: Tuple,
        touched: &mut FxHashSet<u32>,
        run: &mut Run<'p>,
        checks: &mut Vec<Check>,
    ) -> Result<bool> {
        let mut alone = tuple.clone();
        alone.set(0, Slot::Missing);
        let mut held = None;
        while let &Slot::Row(row) = tuple.slot(0) {
            self.must_be_undisturbed(row, Event::Update)?;
            let action = self.merge_action(merge, true, &tuple, run)?;
            let strength = match action {
                Some(MergeAction::Delete) => LockStrength::Update,
                Some(MergeAction::Update(assignments)) => {
                    self.strength_of_update(bound, assignments, (row, &tuple), run)?
                }
                _ => return Ok(false),
            };
            if touched.contains(&row.key) || self.changed_rows.contains(&row.key) {
                let message = "MERGE command cannot affect row a second time";
                let hint = "Ensure that not more than one source row matches any one target row.";
                return Err(SqlError::new(SqlState::CARDINALITY_VIOLATION, message).hint(hint));
            }
            let outcome = match held >= Some(strength) {
                true => LockOutcome::Locked(row),
                false => self.lock_to_write(row, strength)?,
            };
            match outcome {
                LockOutcome::Changed(newest) if held.is_none() => {
                    held = Some(strength);
                    tuple.set(0, Slot::Row(newest));
                    tuple = run.recheck(self, &merge.input, &tuple)?.unwrap_or_else(|| alone.clone());
                }
                // The lock that is held has kept others from changing the row once more.
                LockOutcome::Locked(locked) | LockOutcome::Changed(locked) => {
                    touched.insert(row.key);
                    self.changed_rows.insert(row.key);
                    tuple.set(0, Slot::Row(locked));
                    let Some(MergeAction::Update(assignments)) = action else {
                        return self.delete_one(bound, locked, checks);
                    };
                    let mut changes = Vec::with_capacity(assignments.len());
                    for assignment in assignments {
                        changes.push((assignment.column, run.eval(self, &assignment.value, &tuple)?));
                    }
                    return Ok(self.update_one(bound, locked, changes, checks)?.is_some());
                }
                LockOutcome::Skipped | LockOutcome::Gone => tuple = alone.clone(),
            }
        }
        let Some(MergeAction::Insert(assignments)) = self.merge_action(merge, false, &alone, run)? else {
            return Ok(false);
        };
        let mut values = vec![Datum::Null; bound.table().columns.len()];
        for assignment in assignments {
            values[assignment.column] = run.eval(self, &assignment.value, &alone)?;
        }
        Ok(self.insert_one(bound, values, checks)?.is_some())
    }

    fn merge_action<'p>(
        &mut self,
        merge: &'p Merge,
        matched: bool,
        tuple: &Tuple,
        run: &mut Run<'p>,
    ) -> Result<Option<&'p MergeAction>> {
        for clause in merge.clauses.iter().filter(|clause| clause.matched == matched) {
            let holds = match &clause.condition {
                Some(condition) => run.is_true(self, condition, tuple)?,
                None => true,
            };
            if holds {
                return Ok(Some(&clause.action));
            }
        }
        Ok(None)
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
