//! DELETE.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use skew_model::Key;

use crate::change::update::Changing;
use crate::change::{Changed, Check, Done, Event};
use crate::error::Result;
use crate::exec::{RowRef, Run, Slot};
use crate::ir::Delete;
use crate::storage::World;
use crate::storage::locks::TableMode;
use crate::storage::table::BoundTable;

impl World<'_> {
    pub(super) fn delete<'p>(
        &mut self,
        delete: &'p Delete,
        run: &mut Run<'p>,
        checks: &mut Vec<Check>,
    ) -> Result<Done> {
        self.lock_table(delete.table, TableMode::RowExclusive)?;
        let bound = self.bound_table(delete.table)?;
        self.fire_before_statement(&bound, Event::Delete, &[])?;
        let mut done = Done::default();
        if self.runs_row_by_row(delete.table, &[&delete.input], delete.expressions()) {
            self.delete_row_by_row(delete, &bound, run, checks, &mut done)?;
        } else {
            self.delete_all(delete, &bound, run, checks, &mut done)?;
        }
        self.fire_after_statement(&bound, Event::Delete, &[], checks)?;
        Ok(done)
    }

    /// All rows are found and locked before the first one goes.
    fn delete_all<'p>(
        &mut self,
        delete: &'p Delete,
        bound: &Arc<BoundTable>,
        run: &mut Run<'p>,
        checks: &mut Vec<Check>,
        done: &mut Done,
    ) -> Result<()> {
        let rows = self.rows_to_change(bound, &delete.input, Changing::Delete, run)?;
        // RETURNING shows the rows as they were: it is evaluated before the first one goes.
        let mut returned = Done::default();
        for (row, tuple) in &rows {
            self.has_locked(row.key);
            self.returning(delete.returning.as_ref(), run, tuple, &mut returned)?;
        }
        let mut kept = returned.returned.into_iter();
        for (row, _) in rows {
            self.check()?;
            self.must_be_undisturbed(row, Event::Delete)?;
            let shown = kept.next();
            if self.delete_one(bound, row, checks)? {
                self.changed_rows.insert(row.key);
                done.count += 1;
                done.returned.extend(shown);
            }
        }
        Ok(())
    }

    /// Each row goes before the next one is looked for: a volatile function does not see the rows before it any more.
    fn delete_row_by_row<'p>(
        &mut self,
        delete: &'p Delete,
        bound: &Arc<BoundTable>,
        run: &mut Run<'p>,
        checks: &mut Vec<Check>,
        done: &mut Done,
    ) -> Result<()> {
        let mut tuples = run.open(self, &delete.input)?;
        let mut seen = FxHashSet::default();
        while let Some(tuple) = tuples.next(run, self)? {
            let found = self.row_to_change(bound, &delete.input, Changing::Delete, tuple, &mut seen, run)?;
            let Some((row, mut tuple)) = found else { continue };
            let old = self.seen_row(bound, row)?;
            if self.delete_one(bound, row, checks)? {
                self.changed_rows.insert(row.key);
                done.count += 1;
                tuple.set(0, Slot::Values(old.into()));
                self.returning(delete.returning.as_ref(), run, &tuple, done)?;
            }
        }
        Ok(())
    }

    /// Deletes one row, unless a trigger says no.
    pub(crate) fn delete_one(&mut self, bound: &Arc<BoundTable>, row: RowRef, checks: &mut Vec<Check>) -> Result<bool> {
        let mut seen = None;
        if bound.has_row_triggers(Event::Delete) {
            let old = self.seen_row(bound, row)?;
            if self.fire_before(bound, Event::Delete, &[], Some(&old), None)?.is_none() {
                return Ok(false);
            }
            self.must_be_undisturbed(row, Event::Delete)?;
            seen = Some(old);
        }
        self.hold_spans(bound, row, &bound.spanned_at_all())?;
        let old = if bound.referrers.is_empty() { Vec::new() } else { self.look_row(bound.table(), row.key)? };
        let txn = self.txn()?;
        if matches!(self.db.store.own_write(txn, Key(row.key)), Some(None)) {
            return Ok(false);
        }
        // Somebody else may have deleted it unseen: whether that is allowed is for the level to say.
        let is_there = self.look(row.key)?.is_some();
        self.delete_row(bound, row)?;
        if is_there {
            self.check_gone(bound, &old, checks)?;
        }
        if let Some(old) = &seen {
            let changed = Changed { event: Event::Delete, columns: &[], old: Some(old), new: None };
            self.fire_after(bound, &changed, checks)?;
        }
        Ok(true)
    }
}
