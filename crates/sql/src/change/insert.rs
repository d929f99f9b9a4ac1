//! INSERT, with ON CONFLICT.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use skew_model::Key;

use crate::change::constraints::Matched;
use crate::change::spans::Meanwhile;
use crate::change::{Changed, Check, Done, Event};
use crate::error::{Result, SqlError, SqlState};
use crate::exec::{LockOutcome, RowRef, Run, Slot, Tuple, Tuples};
use crate::ir::walk::{Descend, look};
use crate::ir::{ExprKind, Insert, LockStrength, OnConflict, Plan};
use crate::storage::World;
use crate::storage::conflict::{concurrent_update, store_error};
use crate::storage::locks::TableMode;
use crate::storage::same::is_same;
use crate::storage::table::{BoundIndex, BoundTable};
use crate::types::Datum;

impl World<'_> {
    pub(super) fn insert<'p>(
        &mut self,
        insert: &'p Insert,
        run: &mut Run<'p>,
        checks: &mut Vec<Check>,
    ) -> Result<Done> {
        self.lock_table(insert.table, TableMode::RowExclusive)?;
        let bound = self.bound_table(insert.table)?;
        let updated = insert.on_conflict.as_ref().and_then(|conflict| conflict.update.as_ref());
        let updated: Option<Vec<usize>> =
            updated.map(|(assignments, _)| assignments.iter().map(|assignment| assignment.column).collect());
        self.fire_before_statement(&bound, Event::Insert, &[])?;
        if let Some(columns) = &updated {
            self.fire_before_statement(&bound, Event::Update, columns)?;
        }
        let row_by_row = self.runs_row_by_row(insert.table, &[&insert.source], insert.expressions());
        let shows_system_columns = insert.returning.as_ref().is_some_and(|returning| returning.has_system_columns());
        let mut source = match row_by_row {
            true => Source::Made(run.open(self, &insert.source)?),
            false => Source::open(&insert.source, self, run)?,
        };
        let mut done = Done::default();
        let mut new_rows = FxHashSet::default();
        while let Some(tuple) = source.next(self, run)? {
            self.check()?;
            let mut values = vec![Datum::Null; bound.table().columns.len()];
            let Slot::Values(given) = tuple.slot(0) else {
                return Err(SqlError::unsupported("INSERT from something without values"));
            };
            for (&position, value) in insert.columns.iter().zip(given.iter()) {
                values[position] = value.clone();
            }
            for (position, default) in &insert.defaults {
                values[*position] = run.eval(self, default, &tuple)?;
            }
            let written = match &insert.on_conflict {
                None => self.insert_one(&bound, values, checks)?.map(|(row, values)| (row, values, true)),
                Some(conflict) => self.insert_or(&bound, values, conflict, run, &mut new_rows, checks)?,
            };
            let Some((row, values, _)) = written else { continue };
            self.check_view(&bound, row, &insert.checks)?;
            done.count += 1;
            if insert.on_conflict.is_some() {
                new_rows.insert(row.key);
            }
            if insert.returning.is_some() {
                let by_row = values.is_empty() || shows_system_columns;
                let tuple = Tuple::of(if by_row { Slot::Row(row) } else { Slot::Values(values.into()) });
                let view = self.show_own_writes(insert.table);
                self.returning(insert.returning.as_ref(), run, &tuple, &mut done)?;
                self.come_back(view);
            }
        }
        if let Some(columns) = &updated {
            self.fire_after_statement(&bound, Event::Update, columns, checks)?;
        }
        self.fire_after_statement(&bound, Event::Insert, &[], checks)?;
        Ok(done)
    }

    /// Inserts one row; nothing if a trigger says so.
    pub(crate) fn insert_one(
        &mut self,
        bound: &Arc<BoundTable>,
        values: Vec<Datum>,
        checks: &mut Vec<Check>,
    ) -> Result<Option<(RowRef, Vec<Datum>)>> {
        let fired = self.fire_before(bound, Event::Insert, &[], None, Some(values))?;
        let Some(mut values) = fired else { return Ok(None) };
        self.complete_row(bound, &mut values)?;
        let row = self.write_new(bound, &values, checks)?;
        Ok(Some((row, values)))
    }

    /// Writes a new row where no other one is in its way.
    fn write_new(&mut self, bound: &Arc<BoundTable>, values: &[Datum], checks: &mut Vec<Check>) -> Result<RowRef> {
        self.overwrites(bound.relation.oid, None)?;
        let row = loop {
            if let Some((index, row)) = self.find_conflict(bound, values, None, |index| index.deferrable.is_none())? {
                return Err(self.taken(bound, index, row, values));
            }
            let row = self.place_row(bound.relation.oid, bound.table(), values)?;
            if self.hold_place(bound, row)? == Meanwhile::Nothing {
                break row;
            }
        };
        self.hold(&[row.key], LockStrength::Update)?;
        self.insert_row(bound, row, values)?;
        self.check_later(bound, row, None, checks);
        let changed = Changed { event: Event::Insert, columns: &[], old: None, new: Some(values) };
        self.fire_after(bound, &changed, checks)?;
        Ok(row)
    }

    fn insert_or<'p>(
        &mut self,
        bound: &Arc<BoundTable>,
        values: Vec<Datum>,
        conflict: &'p OnConflict,
        run: &mut Run<'p>,
        new_rows: &mut FxHashSet<u32>,
        checks: &mut Vec<Check>,
    ) -> Result<Option<(RowRef, Vec<Datum>, bool)>> {
        let fired = self.fire_before(bound, Event::Insert, &[], None, Some(values))?;
        let Some(mut values) = fired else { return Ok(None) };
        self.complete_row(bound, &mut values)?;
        let arbiter = |index: &BoundIndex| conflict.arbiters.is_empty() || conflict.arbiters.contains(&index.oid);
        // A row that was deleted, or got another key, while the statement waited for it is in the way no more.
        loop {
            self.check()?;
            let Some((index, existing)) = self.find_arbitrated(bound, &values, arbiter)? else {
                let row = self.write_new(bound, &values, checks)?;
                return Ok(Some((row, values, true)));
            };
            let decides = self.cells_in(bound, index, existing);
            let Some((assignments, condition)) = &conflict.update else {
                self.must_be_visible(existing, &decides)?;
                return Ok(None);
            };
            if new_rows.contains(&existing.key) || self.changed_rows.contains(&existing.key) {
                let message = "ON CONFLICT DO UPDATE command cannot affect row a second time";
                let hint = "Ensure that no rows proposed for insertion within the same command have duplicate \
                            constrained values.";
                return Err(SqlError::new(SqlState::CARDINALITY_VIOLATION, message).hint(hint));
            }
            if !self.level().looks_at_statements() {
                self.must_be_visible(existing, &decides)?;
            }
            let strength = self.strength(bound, assignments.iter().map(|assignment| assignment.column));
            let mark = self.db.locks.mark(self.owner());
            let existing = match self.lock_in_place(existing, strength)? {
                LockOutcome::Locked(row) | LockOutcome::Changed(row) => row.newest(),
                LockOutcome::Gone | LockOutcome::Skipped => continue,
            };
            if !self.is_in_the_way(bound, index, existing, &values)? {
                let owner = self.owner();
                self.db.in_pieces(|db| db.locks.release_since(owner, mark));
                self.db.changed();
                continue;
            }
            self.has_locked(existing.key);
            for key in decides {
                self.read(key, existing)?;
            }
            let mut tuple = Tuple::of(Slot::Row(existing));
            tuple.push(Slot::Values(values.into()));
            if let Some(condition) = condition
                && !run.is_true(self, condition, &tuple)?
            {
                return Ok(None);
            }
            let mut changes = Vec::with_capacity(assignments.len());
            for assignment in assignments {
                changes.push((assignment.column, run.eval(self, &assignment.value, &tuple)?));
            }
            let row = self.update_one(bound, existing, changes, checks)?;
            self.changed_rows.extend(row.map(|_| existing.key));
            return Ok(row.map(|row| (row, Vec::new(), false)));
        }
    }

    /// Whether a row that the statement has locked still has the key that it is about to insert.
    fn is_in_the_way(
        &mut self,
        bound: &Arc<BoundTable>,
        index: &BoundIndex,
        row: RowRef,
        values: &[Datum],
    ) -> Result<bool> {
        let Some(keys) = self.index_values(bound, index, values)? else { return Ok(false) };
        Ok(!matches!(self.row_matches(bound, index, &keys, row.key)?, Matched::No))
    }

    /// The cells of a row that say what it is in an index, besides its key.
    fn cells_in(&mut self, bound: &BoundTable, index: &BoundIndex, row: RowRef) -> Vec<u32> {
        let table = bound.table();
        let columns = 0..table.columns.len();
        let decides = columns.filter(|at| index.looks_at_any(std::iter::once(*at)) && !table.clustered.contains(at));
        decides.map(|at| self.cell_key(table, row.key, table.columns[at].cell)).collect()
    }

    /// The row that stands in the way was seen, and the cells that decide that it does: at its newest version, or the
    /// transaction cannot go on.
    fn must_be_visible(&mut self, row: RowRef, decides: &[u32]) -> Result<()> {
        // PostgreSQL looks whether the snapshot has this very version. That is no read of the transaction: a serializable one
        // that did nothing may be followed by another that takes the row away, though it had to come first.
        if self.looks_from_exact_snapshot() {
            let cells = self.keys_of(row)?;
            return if self.have_changed(&cells)? { Err(concurrent_update()) } else { Ok(()) };
        }
        let seen = self.see_newest(row.key)?;
        for &key in decides {
            self.see_newest(key)?;
        }
        if seen.is_none() && self.level().has_one_snapshot() {
            return Err(concurrent_update());
        }
        Ok(())
    }

    /// Reads the newest version without a lock. At `mvrc` it is read whatever the statement's snapshot shows.
    fn see_newest(&mut self, key: u32) -> Result<Option<Datum>> {
        let txn = self.txn()?;
        let seen = self.db.store.read_newest(txn, Key(key)).map_err(|error| store_error(&error))?;
        if !self.level().looks_at_statements() || is_same(seen.as_ref(), self.look(key)?.as_ref()) {
            return Ok(seen);
        }
        self.db.store.read_under_lock(txn, Key(key)).map_err(|error| store_error(&error))
    }
}

/// Where the tuples of an INSERT come from: all of them are there before the first row is written, so that the statement
/// does not see its own rows, unless they look at nothing.
enum Source<'p> {
    Kept(std::vec::IntoIter<Tuple>),
    Made(Tuples<'p>),
}

impl<'p> Source<'p> {
    fn open(plan: &'p Plan, world: &mut World<'_>, run: &mut Run<'p>) -> Result<Source<'p>> {
        Ok(match looks_at_nothing(plan) {
            true => Source::Made(run.open(world, plan)?),
            false => Source::Kept(run.tuples(world, plan)?.into_iter()),
        })
    }

    fn next(&mut self, world: &mut World<'_>, run: &mut Run<'p>) -> Result<Option<Tuple>> {
        match self {
            Source::Kept(tuples) => Ok(tuples.next()),
            Source::Made(tuples) => tuples.next(run, world),
        }
    }
}

/// Whether a plan computes its tuples from nothing but its own text and parameters.
fn looks_at_nothing(plan: &Plan) -> bool {
    let mut below = plan;
    loop {
        below = match below {
            Plan::One | Plan::Empty { .. } | Plan::Values(_) | Plan::Function(_) => break,
            Plan::Project { input, .. } | Plan::ProjectSet { input, .. } | Plan::Filter { input, .. } => input,
            _ => return false,
        };
    }
    let mut nothing = true;
    let walked = look::plan(plan, 0, &mut |expr, _| {
        nothing &= !matches!(expr.kind, ExprKind::UserCall { .. } | ExprKind::Subquery { .. });
        Ok(if nothing { Descend::Yes } else { Descend::No })
    });
    nothing && walked.is_ok()
}
