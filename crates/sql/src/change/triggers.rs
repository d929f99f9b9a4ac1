//! Row and statement triggers.

use std::sync::Arc;

use crate::catalog::{Trigger, TriggerTime};
use crate::change::Check;
use crate::error::{Result, SqlError, SqlState};
use crate::exec::{Run, Slot, Tuple};
use crate::storage::World;
use crate::storage::table::BoundTable;
use crate::types::Datum;

/// What happens to a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    Insert,
    Update,
    Delete,
    Truncate,
}

impl Event {
    /// As TG_OP says it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Event::Insert => "INSERT",
            Event::Update => "UPDATE",
            Event::Delete => "DELETE",
            Event::Truncate => "TRUNCATE",
        }
    }
}

/// A trigger's call: what its function sees.
pub(crate) struct TriggerCall<'a> {
    pub(crate) trigger: &'a Trigger,
    pub(crate) table: &'a Arc<BoundTable>,
    pub(crate) event: Event,
    pub(crate) old: Option<&'a [Datum]>,
    pub(crate) new: Option<&'a [Datum]>,
}

impl BoundTable {
    pub(crate) fn has_row_triggers(&self) -> bool {
        self.table().triggers.iter().any(|trigger| trigger.each_row)
    }
}

impl World<'_> {
    /// BEFORE row triggers of an insert or a delete: the row to be written (the old one of a delete), or nothing.
    pub(crate) fn fire_before(
        &mut self,
        bound: &Arc<BoundTable>,
        event: Event,
        old: Option<&[Datum]>,
        new: Option<Vec<Datum>>,
    ) -> Result<Option<Vec<Datum>>> {
        self.fire_each_before(bound, event, &[], old, new)
    }

    /// BEFORE row triggers of an update of these columns.
    pub(crate) fn fire_before_update(
        &mut self,
        bound: &Arc<BoundTable>,
        columns: &[usize],
        old: &[Datum],
        new: Vec<Datum>,
    ) -> Result<Option<Vec<Datum>>> {
        self.fire_each_before(bound, Event::Update, columns, Some(old), Some(new))
    }

    fn fire_each_before(
        &mut self,
        bound: &Arc<BoundTable>,
        event: Event,
        columns: &[usize],
        old: Option<&[Datum]>,
        mut new: Option<Vec<Datum>>,
    ) -> Result<Option<Vec<Datum>>> {
        for trigger in self.triggers(bound, event, TriggerTime::Before, true) {
            if event == Event::Update && !covers(&trigger, columns) {
                continue;
            }
            if !self.applies(bound, &trigger, old, new.as_deref())? {
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

    /// AFTER row triggers. They run when the row is written, not queued to the end of the statement.
    pub(crate) fn fire_after(
        &mut self,
        bound: &Arc<BoundTable>,
        event: Event,
        old: Option<&[Datum]>,
        new: Option<&[Datum]>,
        checks: &mut Vec<Check>,
    ) -> Result<()> {
        let _ = checks;
        for trigger in self.triggers(bound, event, TriggerTime::After, true) {
            if event == Event::Update && !self.update_concerns(bound, &trigger, old, new) {
                continue;
            }
            if self.applies(bound, &trigger, old, new)? {
                self.call_trigger(&TriggerCall { trigger: &trigger, table: bound, event, old, new })?;
            }
        }
        Ok(())
    }

    /// Statement triggers.
    pub(crate) fn fire_statement(&mut self, bound: &Arc<BoundTable>, event: Event, before: bool) -> Result<()> {
        let when = if before { TriggerTime::Before } else { TriggerTime::After };
        for trigger in self.triggers(bound, event, when, false) {
            self.call_trigger(&TriggerCall { trigger: &trigger, table: bound, event, old: None, new: None })?;
        }
        Ok(())
    }

    fn triggers(&self, bound: &Arc<BoundTable>, event: Event, when: TriggerTime, each_row: bool) -> Vec<Trigger> {
        let on = |trigger: &&Trigger| match event {
            Event::Insert => trigger.insert,
            Event::Update => trigger.update.is_some(),
            Event::Delete => trigger.delete,
            Event::Truncate => trigger.truncate,
        };
        let all = bound.table().triggers.iter();
        all.filter(|trigger| trigger.when == when && trigger.each_row == each_row).filter(on).cloned().collect()
    }

    fn update_concerns(
        &self,
        bound: &Arc<BoundTable>,
        trigger: &Trigger,
        old: Option<&[Datum]>,
        new: Option<&[Datum]>,
    ) -> bool {
        let (Some(old), Some(new)) = (old, new) else { return true };
        let changed = |&at: &usize| !super::constraints::equal(bound.table(), at, &old[at], &new[at]);
        trigger.update.as_ref().is_none_or(|columns| columns.is_empty() || columns.iter().any(changed))
    }

    /// WHEN (…): slot 0 is OLD, slot 1 is NEW.
    fn applies(
        &mut self,
        bound: &Arc<BoundTable>,
        trigger: &Trigger,
        old: Option<&[Datum]>,
        new: Option<&[Datum]>,
    ) -> Result<bool> {
        let Some(condition) = &trigger.condition else { return Ok(true) };
        let condition = self.bind_trigger_condition(&condition.ast, &bound.relation)?;
        let slot = |row: Option<&[Datum]>| row.map_or(Slot::Missing, |row| Slot::Values(row.into()));
        let mut tuple = Tuple::of(slot(old));
        tuple.push(slot(new));
        Run::new().is_true(self, &condition, &tuple)
    }

    fn call_trigger(&mut self, call: &TriggerCall<'_>) -> Result<Option<Vec<Datum>>> {
        let function = self
            .catalog
            .functions
            .get(&call.trigger.function)
            .cloned()
            .ok_or_else(|| SqlError::new(SqlState::UNDEFINED_FUNCTION, "the trigger's function does not exist"))?;
        crate::plpgsql::run_trigger(self, &function, call)
    }
}

fn covers(trigger: &Trigger, columns: &[usize]) -> bool {
    trigger.update.as_ref().is_none_or(|only| only.is_empty() || only.iter().any(|column| columns.contains(column)))
}
