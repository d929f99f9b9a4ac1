//! Row and statement triggers: BEFORE ones run in the middle of a change, AFTER ones when all its rows are written.

use std::sync::Arc;

use crate::catalog::{Oid, Trigger, TriggerTime};
use crate::change::foreign_keys::{Check, Deferred};
use crate::error::{Result, SqlError, SqlState};
use crate::exec::{RowRef, Run, Slot, Tuple};
use crate::plpgsql::{Event, TriggerCall};
use crate::storage::World;
use crate::storage::table::BoundTable;
use crate::types::Datum;

/// A row that changes: what it was and what it becomes, and which columns the statement names.
pub(crate) struct Changed<'a> {
    pub(crate) event: Event,
    pub(crate) columns: &'a [usize],
    pub(crate) old: Option<&'a [Datum]>,
    pub(crate) new: Option<&'a [Datum]>,
}

impl BoundTable {
    /// Whether row triggers fire on an event.
    pub(crate) fn has_row_triggers(&self, event: Event) -> bool {
        self.table().triggers.iter().any(|trigger| trigger.each_row && fires(trigger, event))
    }

    /// Whether row triggers fire before an event.
    pub(crate) fn has_before_triggers(&self, event: Event) -> bool {
        let mut triggers = self.table().triggers.iter();
        triggers.any(|trigger| trigger.each_row && trigger.when == TriggerTime::Before && fires(trigger, event))
    }
}

impl World<'_> {
    /// BEFORE row triggers: the row to be written (the old one of a delete), or nothing.
    pub(crate) fn fire_before(
        &mut self,
        bound: &Arc<BoundTable>,
        event: Event,
        columns: &[usize],
        old: Option<&[Datum]>,
        mut new: Option<Vec<Datum>>,
    ) -> Result<Option<Vec<Datum>>> {
        for trigger in triggers(bound, event, TriggerTime::Before, true) {
            let changed = Changed { event, columns, old, new: new.as_deref() };
            if !self.applies(&trigger, &changed)? {
                continue;
            }
            let call = TriggerCall { trigger: &trigger, table: bound, event, old, new: new.as_deref() };
            match self.call_trigger(&call)? {
                None => return Ok(None),
                Some(row) if event != Event::Delete => new = Some(row),
                Some(_) => {}
            }
        }
        Ok(new.or_else(|| old.map(<[Datum]>::to_vec)))
    }

    /// AFTER row triggers: they fire at the end of the statement, those of constraints at the end of the transaction if
    /// they are deferred.
    pub(crate) fn fire_after(
        &mut self,
        bound: &Arc<BoundTable>,
        changed: &Changed<'_>,
        checks: &mut Vec<Check>,
    ) -> Result<()> {
        for trigger in triggers(bound, changed.event, TriggerTime::After, true) {
            if self.applies(&trigger, changed)? {
                checks.push(Deferred::Trigger {
                    table: bound.relation.oid,
                    trigger: trigger.oid,
                    event: changed.event,
                    old: changed.old.map(Into::into),
                    new: changed.new.map(Into::into),
                });
            }
        }
        Ok(())
    }

    /// BEFORE statement triggers.
    pub(crate) fn fire_before_statement(
        &mut self,
        bound: &Arc<BoundTable>,
        event: Event,
        columns: &[usize],
    ) -> Result<()> {
        let changed = Changed { event, columns, old: None, new: None };
        for trigger in triggers(bound, event, TriggerTime::Before, false) {
            if self.applies(&trigger, &changed)? {
                self.call_trigger(&TriggerCall { trigger: &trigger, table: bound, event, old: None, new: None })?;
            }
        }
        Ok(())
    }

    /// AFTER statement triggers: they fire after those of the rows.
    pub(crate) fn fire_after_statement(
        &mut self,
        bound: &Arc<BoundTable>,
        event: Event,
        columns: &[usize],
        checks: &mut Vec<Check>,
    ) -> Result<()> {
        let changed = Changed { event, columns, old: None, new: None };
        for trigger in triggers(bound, event, TriggerTime::After, false) {
            if self.applies(&trigger, &changed)? {
                let (table, trigger) = (bound.relation.oid, trigger.oid);
                checks.push(Deferred::Trigger { table, trigger, event, old: None, new: None });
            }
        }
        Ok(())
    }

    /// An AFTER trigger whose time has come.
    pub(super) fn fire_late(
        &mut self,
        (table, trigger): (Oid, Oid),
        event: Event,
        old: Option<&[Datum]>,
        new: Option<&[Datum]>,
    ) -> Result<()> {
        let bound = self.bound_table(table)?;
        let Some(trigger) = bound.table().triggers.iter().find(|known| known.oid == trigger).cloned() else {
            return Ok(());
        };
        self.call_trigger(&TriggerCall { trigger: &trigger, table: &bound, event, old, new }).map(drop)
    }

    /// A row as the statement sees it, for OLD.
    pub(crate) fn seen_row(&mut self, bound: &Arc<BoundTable>, row: RowRef) -> Result<Vec<Datum>> {
        let table = bound.table();
        let positions = 0..table.columns.len();
        positions
            .map(|at| if table.columns[at].dropped { Ok(Datum::Null) } else { self.read_column(row, at) })
            .collect()
    }

    /// An error if a function that the statement has called has changed the row that the statement is about to change.
    pub(crate) fn must_be_undisturbed(&self, row: RowRef, event: Event) -> Result<()> {
        if !self.disturbed.contains(&row.key) {
            return Ok(());
        }
        let what = if event == Event::Delete { "deleted" } else { "updated" };
        let message =
            format!("tuple to be {what} was already modified by an operation triggered by the current command");
        let hint = "Consider using an AFTER trigger instead of a BEFORE trigger to propagate changes to other rows.";
        Err(SqlError::new(SqlState::TRIGGERED_DATA_CHANGE_VIOLATION, message).hint(hint))
    }

    /// UPDATE OF and WHEN (…), where slot 0 is OLD, slot 1 is NEW.
    fn applies(&mut self, trigger: &Trigger, changed: &Changed<'_>) -> Result<bool> {
        if changed.event == Event::Update && !covers(trigger, changed.columns) {
            return Ok(false);
        }
        let Some(condition) = &trigger.condition else { return Ok(true) };
        let condition = crate::ir::current::expr(condition, &self.catalog);
        let slot = |row: Option<&[Datum]>| row.map_or(Slot::Missing, |row| Slot::Values(row.into()));
        let mut tuple = Tuple::of(slot(changed.old));
        tuple.push(slot(changed.new));
        Run::new().is_true(self, &condition, &tuple)
    }

    fn call_trigger(&mut self, call: &TriggerCall<'_>) -> Result<Option<Vec<Datum>>> {
        let function = self
            .catalog
            .functions
            .get(&call.trigger.function)
            .cloned()
            .ok_or_else(|| SqlError::new(SqlState::UNDEFINED_FUNCTION, "the trigger's function does not exist"))?;
        self.trigger_depth += 1;
        let result = crate::plpgsql::run_trigger(self, &function, call);
        self.trigger_depth -= 1;
        result
    }
}

fn triggers(bound: &BoundTable, event: Event, when: TriggerTime, each_row: bool) -> Vec<Trigger> {
    let all = bound.table().triggers.iter();
    let wanted = |trigger: &&Trigger| trigger.when == when && trigger.each_row == each_row && fires(trigger, event);
    all.filter(wanted).cloned().collect()
}

fn fires(trigger: &Trigger, event: Event) -> bool {
    trigger.enabled
        && match event {
            Event::Insert => trigger.insert,
            Event::Update => trigger.update.is_some(),
            Event::Delete => trigger.delete,
            Event::Truncate => trigger.truncate,
        }
}

fn covers(trigger: &Trigger, columns: &[usize]) -> bool {
    trigger.update.as_ref().is_none_or(|only| only.is_empty() || only.iter().any(|column| columns.contains(column)))
}
