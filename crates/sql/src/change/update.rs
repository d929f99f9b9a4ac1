//! UPDATE.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::catalog::Oid;
use crate::change::spans::Meanwhile;
use crate::change::{Changed, Check, Done, Event};
use crate::error::{Result, SqlError};
use crate::exec::{LockOutcome, RowRef, Run, Slot, Tuple};
use crate::ir::{Assignment, LockStrength, Plan, Update};
use crate::storage::World;
use crate::storage::locks::TableMode;
use crate::storage::same::equal;
use crate::storage::table::BoundTable;
use crate::storage::world::Provisional;
use crate::types::Datum;

/// Cells that a statement has seen.
type Cells = (FxHashMap<u32, Option<Datum>>, FxHashMap<u32, Provisional>);

/// What is done to the rows that a statement finds.
#[derive(Clone, Copy)]
pub(super) enum Changing<'p> {
    Update(&'p [Assignment]),
    Delete,
}

impl Changing<'_> {
    fn event(self) -> Event {
        match self {
            Changing::Update(_) => Event::Update,
            Changing::Delete => Event::Delete,
        }
    }
}

impl World<'_> {
    pub(super) fn update<'p>(
        &mut self,
        update: &'p Update,
        run: &mut Run<'p>,
        checks: &mut Vec<Check>,
    ) -> Result<Done> {
        self.lock_table(update.table, TableMode::RowExclusive)?;
        let bound = self.bound_table(update.table)?;
        let columns: Vec<usize> = update.assignments.iter().map(|assignment| assignment.column).collect();
        self.fire_before_statement(&bound, Event::Update, &columns)?;
        let mut done = Done::default();
        if self.runs_row_by_row(update.table, &[&update.input], update.expressions()) {
            self.update_row_by_row(update, &bound, run, checks, &mut done)?;
        } else {
            self.update_all(update, &bound, run, checks, &mut done)?;
        }
        self.fire_after_statement(&bound, Event::Update, &columns, checks)?;
        Ok(done)
    }

    /// All rows are found, locked and computed before the first one is written.
    fn update_all<'p>(
        &mut self,
        update: &'p Update,
        bound: &Arc<BoundTable>,
        run: &mut Run<'p>,
        checks: &mut Vec<Check>,
        done: &mut Done,
    ) -> Result<()> {
        let mut planned = Vec::new();
        let how = Changing::Update(&update.assignments);
        for (row, tuple) in self.rows_to_change(bound, &update.input, how, run)? {
            planned.push((row, self.new_values(&update.assignments, &tuple, run)?, tuple));
        }
        let mut written = Vec::with_capacity(planned.len());
        for (row, changes, tuple) in planned {
            self.check()?;
            written.extend(self.write_update(update, bound, (row, tuple), changes, checks)?);
        }
        done.count += written.len() as u64;
        if update.returning.is_some() {
            let view = self.show_own_writes(update.table);
            for tuple in &written {
                self.returning(update.returning.as_ref(), run, tuple, done)?;
            }
            self.come_back(view);
        }
        Ok(())
    }

    /// Each row is written before the next one is looked for: a volatile function sees the rows before it.
    fn update_row_by_row<'p>(
        &mut self,
        update: &'p Update,
        bound: &Arc<BoundTable>,
        run: &mut Run<'p>,
        checks: &mut Vec<Check>,
        done: &mut Done,
    ) -> Result<()> {
        let mut tuples = run.open(self, &update.input)?;
        let mut seen = FxHashSet::default();
        let how = Changing::Update(&update.assignments);
        while let Some(tuple) = tuples.next(run, self)? {
            let Some((row, tuple)) = self.row_to_change(bound, &update.input, how, tuple, &mut seen, run)? else {
                continue;
            };
            let changes = self.new_values(&update.assignments, &tuple, run)?;
            let Some(tuple) = self.write_update(update, bound, (row, tuple), changes, checks)? else { continue };
            done.count += 1;
            let view = self.show_own_writes(update.table);
            self.returning(update.returning.as_ref(), run, &tuple, done)?;
            self.come_back(view);
        }
        Ok(())
    }

    fn new_values<'p>(
        &mut self,
        assignments: &'p [Assignment],
        tuple: &Tuple,
        run: &mut Run<'p>,
    ) -> Result<Vec<(usize, Datum)>> {
        assignments
            .iter()
            .map(|assignment| Ok((assignment.column, run.eval(self, &assignment.value, tuple)?)))
            .collect()
    }

    /// Writes a row's new values: the tuple with the row as it is now, or nothing if a trigger says so.
    fn write_update(
        &mut self,
        update: &Update,
        bound: &Arc<BoundTable>,
        (row, mut tuple): (RowRef, Tuple),
        changes: Vec<(usize, Datum)>,
        checks: &mut Vec<Check>,
    ) -> Result<Option<Tuple>> {
        self.must_be_undisturbed(row, Event::Update)?;
        let Some(place) = self.update_one(bound, row, changes, checks)? else { return Ok(None) };
        self.changed_rows.extend([row.key, place.key]);
        self.check_view(bound, place, &update.checks)?;
        tuple.set(0, Slot::Row(place));
        Ok(Some(tuple))
    }

    /// The rows that a plan's first slot leads to, each once, locked and checked again if they had changed meanwhile.
    pub(super) fn rows_to_change<'p>(
        &mut self,
        bound: &BoundTable,
        input: &'p Plan,
        how: Changing<'p>,
        run: &mut Run<'p>,
    ) -> Result<Vec<(RowRef, Tuple)>> {
        let mut seen = FxHashSet::default();
        let mut rows = Vec::new();
        for tuple in run.tuples(self, input)? {
            rows.extend(self.row_to_change(bound, input, how, tuple, &mut seen, run)?);
        }
        Ok(rows)
    }

    /// The row that a tuple's first slot leads to, locked; nothing if the statement has come to it before.
    pub(super) fn row_to_change<'p>(
        &mut self,
        bound: &BoundTable,
        input: &'p Plan,
        how: Changing<'p>,
        tuple: Tuple,
        seen: &mut FxHashSet<u32>,
        run: &mut Run<'p>,
    ) -> Result<Option<(RowRef, Tuple)>> {
        let &Slot::Row(row) = tuple.slot(0) else {
            return Err(SqlError::unsupported("a change of something that is no row of a table"));
        };
        if !seen.insert(row.key) {
            return Ok(None);
        }
        self.check()?;
        self.must_be_undisturbed(row, how.event())?;
        if self.changed_rows.contains(&row.key) {
            return Ok(None);
        }
        self.lock_tuple(bound, input, how, tuple, run)
    }

    /// Locks the row in a tuple's first slot: the row and the tuple as they are then, or nothing if the tuple no longer
    /// qualifies. How strongly depends on what the row becomes, which is another thing after a change.
    fn lock_tuple<'p>(
        &mut self,
        bound: &BoundTable,
        input: &'p Plan,
        how: Changing<'p>,
        mut tuple: Tuple,
        run: &mut Run<'p>,
    ) -> Result<Option<(RowRef, Tuple)>> {
        let mut held = None;
        loop {
            let &Slot::Row(row) = tuple.slot(0) else { return Ok(None) };
            let strength = match how {
                Changing::Update(assignments) => self.strength_of_update(bound, assignments, (row, &tuple), run)?,
                Changing::Delete => LockStrength::Update,
            };
            if held >= Some(strength) {
                return Ok(Some((row, tuple)));
            }
            match self.lock_to_write(row, strength)? {
                LockOutcome::Changed(row) if held.is_none() => {
                    held = Some(strength);
                    tuple.set(0, Slot::Row(row));
                    let Some(again) = run.recheck(self, input, &tuple)? else { return Ok(None) };
                    tuple = again;
                }
                // The lock that is held has kept others from changing it once more.
                LockOutcome::Locked(row) | LockOutcome::Changed(row) => {
                    tuple.set(0, Slot::Row(row));
                    return Ok(Some((row, tuple)));
                }
                LockOutcome::Skipped | LockOutcome::Gone => return Ok(None),
            }
        }
    }

    /// Changes one row; nothing if a trigger says so.
    pub(crate) fn update_one(
        &mut self,
        bound: &Arc<BoundTable>,
        row: RowRef,
        mut changes: Vec<(usize, Datum)>,
        checks: &mut Vec<Check>,
    ) -> Result<Option<RowRef>> {
        let table = bound.table();
        let columns: Vec<usize> = changes.iter().map(|(position, _)| *position).collect();
        // Triggers look at the row that the statement sees, constraints at the one that is really there.
        let mut seen = None;
        if bound.has_row_triggers(Event::Update) {
            let old = self.seen_row(bound, row)?;
            let new = with_changes(&old, &changes);
            let fired = self.fire_before(bound, Event::Update, &columns, Some(&old), Some(new))?;
            let Some(new) = fired else { return Ok(None) };
            self.must_be_undisturbed(row, Event::Update)?;
            for (position, value) in new.iter().enumerate() {
                let changed = columns.contains(&position);
                if !changed && !equal(table, position, value, &old[position]) {
                    changes.push((position, value.clone()));
                }
            }
            for (position, value) in &mut changes {
                *value = new[*position].clone();
            }
            seen = Some(old);
        }
        let changed: Vec<usize> = changes.iter().map(|(position, _)| *position).collect();
        // A row that gets another key is another one, with the values that this one has.
        let moves = changed.iter().any(|position| table.clustered.contains(position));
        let looked_at = if moves { bound.all_columns() } else { bound.spanned(&changed) };
        self.hold_spans(bound, row, &looked_at)?;
        let old = self.look_row(table, row.key)?;
        let mut new = with_changes(&old, &changes);
        self.complete_row(bound, &mut new)?;
        for (position, _) in &bound.generated {
            if !equal(table, *position, &new[*position], &old[*position]) {
                changes.push((*position, new[*position].clone()));
            }
        }
        let moved = |index: &crate::storage::table::BoundIndex| {
            index.deferrable.is_none() && index.looks_at_any(changes.iter().map(|(position, _)| *position))
        };
        let has_place = |position: &usize| equal(table, *position, &old[*position], &new[*position]);
        let stays = table.clustered.iter().all(has_place);
        loop {
            if let Some((index, other)) = self.find_conflict(bound, &new, Some(row), moved)? {
                return Err(self.taken(bound, index, other, &new));
            }
            if stays {
                break;
            }
            let place = self.place_row(row.table, table, &new)?;
            if place.key == row.key || self.hold_place(bound, place)? == Meanwhile::Nothing {
                break;
            }
        }
        let place = self.update_row(bound, row, &changes)?;
        self.check_later(bound, place, Some((row, &old, &new)), checks);
        if let Some(old) = seen {
            let new = with_changes(&old, &changes);
            let changed = Changed { event: Event::Update, columns: &columns, old: Some(&old), new: Some(&new) };
            self.fire_after(bound, &changed, checks)?;
        }
        Ok(Some(place))
    }

    /// RETURNING sees what the statement has written; what the rest of the statement sees is given back afterwards.
    pub(super) fn show_own_writes(&mut self, table: Oid) -> Option<Cells> {
        let keeps = self.seen_across.contains(table);
        keeps.then(|| (std::mem::take(&mut self.cells), std::mem::take(&mut self.provisional)))
    }

    pub(super) fn come_back(&mut self, view: Option<Cells>) {
        if let Some(view) = view {
            (self.cells, self.provisional) = view;
        }
    }
}

fn with_changes(old: &[Datum], changes: &[(usize, Datum)]) -> Vec<Datum> {
    let mut new = old.to_vec();
    for (position, value) in changes {
        new[*position] = value.clone();
    }
    new
}
