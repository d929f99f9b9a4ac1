//! FOREIGN KEY, and constraints that are checked at the end of the statement or of the transaction.

use std::ops::Bound;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use skew_store::LooksAt;

use crate::catalog::{Action, ForeignKey, Oid, Timing};
use crate::change::Event;
use crate::change::constraints::Matched;
use crate::client::{ChoiceKind, Constraints};
use crate::error::{Result, SqlError, SqlState};
use crate::exec::RowRef;
use crate::ir::LockStrength;
use crate::storage::World;
use crate::storage::conflict::concurrent_update;
use crate::storage::locks::{Duration, Mode, Resource};
use crate::storage::look::Looked;
use crate::storage::same::equal;
use crate::storage::table::BoundTable;
use crate::types::Datum;
use crate::types::cast::cast;

/// Something to be checked at the end of a statement.
pub(crate) type Check = Deferred;

/// Something to be checked later.
#[derive(Clone, Debug)]
pub enum Deferred {
    /// A row refers to another one.
    Child {
        /// The referring table.
        table: Oid,
        /// The constraint.
        constraint: Oid,
        /// The row.
        row: u32,
    },
    /// A key is gone that rows may refer to.
    Parent {
        /// The table referred to.
        table: Oid,
        /// The referring table.
        child: Oid,
        /// The constraint.
        constraint: Oid,
        /// The key's values.
        key: Vec<Datum>,
        /// What they are now, if the row is still there.
        new: Option<Vec<Datum>>,
    },
    /// A row is in a DEFERRABLE unique index.
    Unique {
        /// The table.
        table: Oid,
        /// The constraint.
        constraint: Oid,
        /// The row.
        row: u32,
    },
    /// An AFTER trigger is to fire.
    Trigger {
        /// The table.
        table: Oid,
        /// The trigger.
        trigger: Oid,
        /// On what.
        event: Event,
        /// OLD
        old: Option<Arc<[Datum]>>,
        /// NEW
        new: Option<Arc<[Datum]>>,
    },
}

impl Deferred {
    /// A row has another key: what is to be checked of it is checked where it is now.
    fn follow(&mut self, moved: Oid, from: u32, to: u32) {
        if let Deferred::Child { table, row, .. } | Deferred::Unique { table, row, .. } = self
            && (*table, *row) == (moved, from)
        {
            *row = to;
        }
    }

    fn constraint(&self) -> Oid {
        match self {
            Deferred::Child { constraint, .. }
            | Deferred::Parent { constraint, .. }
            | Deferred::Unique { constraint, .. }
            | Deferred::Trigger { trigger: constraint, .. } => *constraint,
        }
    }
}

impl World<'_> {
    /// What a new or changed row makes to be checked at the end of the statement.
    pub(crate) fn check_later(
        &mut self,
        bound: &Arc<BoundTable>,
        row: RowRef,
        change: Option<(RowRef, &[Datum], &[Datum])>,
        checks: &mut Vec<Check>,
    ) {
        let table = bound.table();
        let oid = bound.relation.oid;
        let changed = |columns: &[usize]| match change {
            None => true,
            Some((_, old, new)) => columns.iter().any(|&at| !equal(table, at, &old[at], &new[at])),
        };
        if let Some((before, ..)) = change
            && before.key != row.key
        {
            let deferred = self
                .session
                .transaction
                .iter_mut()
                .flat_map(|transaction| Arc::make_mut(&mut transaction.deferred).iter_mut());
            checks.iter_mut().chain(deferred).for_each(|check| check.follow(oid, before.key, row.key));
        }
        for key in table.foreign_keys.iter().filter(|_| !table.unchecked) {
            if changed(&key.columns) {
                checks.push(Deferred::Child { table: oid, constraint: key.oid, row: row.key });
            }
        }
        for index in bound.indexes.iter().filter(|index| index.unique) {
            if let Some((constraint, _)) = index.deferrable {
                checks.push(Deferred::Unique { table: oid, constraint, row: row.key });
            }
        }
        if let (Some((_, old, new)), false) = (change, table.unchecked) {
            for &(child, at) in &bound.referrers {
                let Some(key) = self.foreign_key(child, at) else { continue };
                if key.parent_columns.iter().any(|&at| !equal(table, at, &old[at], &new[at])) {
                    let values = key.parent_columns.iter().map(|&at| old[at].clone()).collect();
                    let new = Some(key.parent_columns.iter().map(|&at| new[at].clone()).collect());
                    checks.push(Deferred::Parent { table: oid, child, constraint: key.oid, key: values, new });
                }
            }
        }
    }

    /// A row is gone: what refers to it goes too, or is checked at the end.
    pub(crate) fn check_gone(&mut self, bound: &Arc<BoundTable>, old: &[Datum], checks: &mut Vec<Check>) -> Result<()> {
        let referrers = bound.referrers.iter().filter(|_| !bound.table().unchecked);
        for &(child, at) in referrers {
            let Some(key) = self.foreign_key(child, at) else { continue };
            let values: Vec<Datum> = key.parent_columns.iter().map(|&at| old[at].clone()).collect();
            if values.iter().any(Datum::is_null) {
                continue;
            }
            let table = bound.relation.oid;
            checks.push(Deferred::Parent { table, child, constraint: key.oid, key: values, new: None });
        }
        Ok(())
    }

    /// The end of a statement: what is immediate is checked, the rest waits for the commit.
    pub(crate) fn run_checks(&mut self, checks: Vec<Check>) -> Result<()> {
        // What the checks change is not in the way of each other, but of the parts of the statement that are left.
        let disturbed = std::mem::take(&mut self.disturbed);
        for check in checks {
            self.check()?;
            if self.is_deferred(&check) {
                if let Some(transaction) = &mut self.session.transaction {
                    Arc::make_mut(&mut transaction.deferred).push_back(check);
                }
                continue;
            }
            self.run_check_and_more(&check)?;
        }
        self.disturbed = disturbed;
        Ok(())
    }

    /// What a check changes is a statement of its own, whose checks come before those that are left of this one.
    fn run_check_and_more(&mut self, check: &Check) -> Result<()> {
        let weak = self.db.options.constraints == Constraints::Weak;
        if weak && !matches!(check, Deferred::Trigger { .. }) {
            return Ok(());
        }
        let mut more = Vec::new();
        self.run_check(check, &mut more)?;
        if more.is_empty() { Ok(()) } else { self.run_checks(more) }
    }

    /// The end of the transaction, or SET CONSTRAINTS IMMEDIATE for these constraints (all if `None`).
    pub(crate) fn run_deferred(&mut self, which: Option<&[Oid]>) -> Result<()> {
        loop {
            let Some(transaction) = &mut self.session.transaction else { return Ok(()) };
            let asked = |check: &Deferred| which.is_none_or(|which| which.contains(&check.constraint()));
            let Some(at) = transaction.deferred.iter().position(asked) else { return Ok(()) };
            let check = Arc::make_mut(&mut transaction.deferred).remove(at).expect("it was found there");
            self.check()?;
            self.run_check_and_more(&check)?;
        }
    }

    fn is_deferred(&self, check: &Check) -> bool {
        let constraint = check.constraint();
        let timing = self.timing_of(check);
        if timing == Timing::Immediate || self.acts(check) {
            return false;
        }
        let modes = self.session.transaction.as_ref().map_or(&[][..], |transaction| &transaction.constraint_modes);
        let said = modes.iter().rev().find(|(which, _)| which.is_none_or(|which| which == constraint));
        said.map_or(timing == Timing::DeferrableDeferred, |(_, deferred)| *deferred)
    }

    /// Whether the check is a change of the rows that refer, which never waits.
    fn acts(&self, check: &Check) -> bool {
        let Deferred::Parent { child, constraint, new, .. } = check else { return false };
        let table = self.catalog.table(*child);
        let key = table.and_then(|table| table.foreign_keys.iter().find(|key| key.oid == *constraint));
        key.is_some_and(|key| action(key, new.is_some()) != Action::NoAction)
    }

    fn timing_of(&self, check: &Check) -> Timing {
        let (table, constraint) = match check {
            Deferred::Child { table, constraint, .. } => (*table, *constraint),
            Deferred::Parent { child, constraint, .. } => (*child, *constraint),
            Deferred::Unique { .. } => return self.unique_timing(check.constraint()),
            Deferred::Trigger { table, trigger, .. } => {
                let triggers = self.catalog.table(*table).map_or(&[][..], |table| &table.triggers);
                let found = triggers.iter().find(|known| known.oid == *trigger).and_then(|known| known.timing);
                return found.unwrap_or(Timing::Immediate);
            }
        };
        let keys = self.catalog.table(table).map_or(&[][..], |table| &table.foreign_keys);
        keys.iter().find(|key| key.oid == constraint).map_or(Timing::Immediate, |key| key.timing)
    }

    fn unique_timing(&self, constraint: Oid) -> Timing {
        let mut indexes = self.catalog.relations.values().filter_map(|relation| match &relation.kind {
            crate::catalog::RelationKind::Index(index) => index.constraint,
            _ => None,
        });
        indexes.find(|found| found.oid == constraint).map_or(Timing::Immediate, |found| found.timing)
    }

    pub(crate) fn run_check(&mut self, check: &Check, more: &mut Vec<Check>) -> Result<()> {
        match check {
            Deferred::Child { table, constraint, row } => self.check_child(*table, *constraint, *row),
            Deferred::Unique { table, constraint, row } => self.check_unique(*table, *constraint, *row),
            Deferred::Trigger { table, trigger, event, old, new } => {
                self.fire_late((*table, *trigger), *event, old.as_deref(), new.as_deref())
            }
            Deferred::Parent { table, child, constraint, key, new } => {
                self.check_parent((*table, *child), *constraint, key, new.as_deref(), more)
            }
        }
    }

    fn check_unique(&mut self, table: Oid, constraint: Oid, row: u32) -> Result<()> {
        let bound = self.bound_table(table)?;
        if self.look(row)?.is_none() {
            return Ok(());
        }
        let values = self.look_row(bound.table(), row)?;
        let own = RowRef::seen(table, row);
        let is = |index: &crate::storage::table::BoundIndex| index.deferrable.is_some_and(|(oid, _)| oid == constraint);
        match self.find_conflict(&bound, &values, Some(own), is)? {
            Some((index, _)) => Err(self.duplicate(&bound, index, &values)),
            None => Ok(()),
        }
    }

    fn check_child(&mut self, table: Oid, constraint: Oid, row: u32) -> Result<()> {
        let bound = self.bound_table(table)?;
        let Some(key) = bound.table().foreign_keys.iter().find(|key| key.oid == constraint).cloned() else {
            return Ok(());
        };
        if self.look(row)?.is_none() {
            return Ok(());
        }
        let mut values = Vec::with_capacity(key.columns.len());
        for &position in &key.columns {
            values.push(self.look_column(bound.table(), row, position)?);
        }
        let nulls = values.iter().filter(|value| value.is_null()).count();
        if nulls == values.len() || nulls > 0 && !key.match_full {
            return Ok(());
        }
        let parent = self.bound_table(key.parent)?;
        if nulls == 0 && self.refers_to_row(&bound, &parent, &key, &values)? {
            return Ok(());
        }
        let message = format!(
            "insert or update on table \"{}\" violates foreign key constraint \"{}\"",
            bound.relation.name, key.name
        );
        let detail = if nulls > 0 {
            "MATCH FULL does not allow mixing of null and nonnull key values.".to_owned()
        } else {
            let shown = self.show_key(bound.table(), &key.columns, &values);
            format!("Key {shown} is not present in table \"{}\".", parent.relation.name)
        };
        let error = SqlError::new(SqlState::FOREIGN_KEY_VIOLATION, message).detail(detail).constraint(&*key.name);
        Err(self.of_table(error, &bound))
    }

    /// Whether there is a row that these values of a referring row lead to; it is kept there.
    fn refers_to_row(
        &mut self,
        child: &BoundTable,
        parent: &Arc<BoundTable>,
        key: &ForeignKey,
        values: &[Datum],
    ) -> Result<bool> {
        let mut wanted = Vec::with_capacity(values.len());
        for (at, value) in values.iter().enumerate() {
            match self.as_parent_value(child, parent, key, at, value) {
                Some(value) => wanted.push(value),
                // No value of the parent's type equals it.
                None => return Ok(false),
            }
        }
        self.lock_parent(parent, key, &wanted)
    }

    /// A value of a referring column as one of the column that it refers to, which may be of another type.
    fn as_parent_value(
        &mut self,
        child: &BoundTable,
        parent: &BoundTable,
        key: &ForeignKey,
        at: usize,
        value: &Datum,
    ) -> Option<Datum> {
        let from = child.table().columns[key.columns[at]].typed.ty;
        let to = parent.table().columns[key.parent_columns[at]].typed.ty;
        if from == to {
            return Some(value.clone());
        }
        let there = cast(value.clone(), from, to.into(), true, self).ok()?;
        let back = cast(there.clone(), to, from.into(), true, self).ok()?;
        crate::types::compare::equal(&back, value, from).then_some(there)
    }

    /// Finds the row that is referred to, on the committed state, and keeps it there; says whether there is one.
    fn lock_parent(&mut self, parent: &Arc<BoundTable>, key: &ForeignKey, values: &[Datum]) -> Result<bool> {
        let Some(index) = parent.indexes.iter().find(|index| index.oid == key.parent_index) else { return Ok(false) };
        let Some(columns) = index.key_columns() else { return Ok(false) };
        let order = |position: &usize| key.parent_columns.iter().position(|parent| parent == position);
        let Some(order) = columns.iter().map(order).collect::<Option<Vec<usize>>>() else { return Ok(false) };
        let keys: Vec<Datum> = order.into_iter().map(|at| values[at].clone()).collect();
        'again: loop {
            let candidates = self.candidates(parent, index, &keys)?;
            for &row in &candidates {
                if !self.parent_is_in_snapshot(row)? {
                    continue;
                }
                // An insert that has not committed is not there; a delete that has not, may be taken back.
                let committed = match self.look_settled(row)? {
                    Looked::Settled(existence) => existence.is_some(),
                    Looked::Open(_) => self.look(row)?.is_some(),
                };
                if !committed {
                    continue;
                }
                match self.row_matches(parent, index, &keys, row)? {
                    Matched::No => {}
                    Matched::Open(running) => {
                        self.wait_for_stakes(&running)?;
                        continue 'again;
                    }
                    Matched::Yes => {
                        let (resource, mode) = (Resource::Row(row), Mode::Row(LockStrength::KeyShare));
                        if !self.db.locks.is_free(self.owner(), &resource, mode) {
                            self.lock(&resource, mode, Duration::Transaction)?;
                            continue 'again;
                        }
                        self.lock(&resource, mode, Duration::Transaction)?;
                        self.looks_at_row(parent, row, &index.columns, LooksAt::OtherRow)?;
                        return Ok(true);
                    }
                }
            }
            for row in candidates {
                self.looks_at_row(parent, row, &index.columns, LooksAt::OtherRow)?;
            }
            return Ok(false);
        }
    }

    /// Where snapshots are exact, a row that came later is not there, and one that went cannot be kept there.
    fn parent_is_in_snapshot(&mut self, row: u32) -> Result<bool> {
        let one_snapshot = self.level().has_one_snapshot();
        if self.db.options.choice != ChoiceKind::Postgres || !one_snapshot || !self.changed_since_snapshot(row)? {
            return Ok(true);
        }
        if self.look(row)?.is_some() {
            return Ok(false);
        }
        Err(concurrent_update())
    }

    fn check_parent(
        &mut self,
        (table, child): (Oid, Oid),
        constraint: Oid,
        values: &[Datum],
        new: Option<&[Datum]>,
        more: &mut Vec<Check>,
    ) -> Result<()> {
        let parent = self.bound_table(table)?;
        let bound = self.bound_table(child)?;
        let Some(key) = bound.table().foreign_keys.iter().find(|key| key.oid == constraint).cloned() else {
            return Ok(());
        };
        let action = action(&key, new.is_some());
        // Where the key is there, in this row or in another one, nothing depends on the rows that refer to it.
        if action == Action::NoAction && self.key_is_there(&parent, &key, values)? {
            return Ok(());
        }
        let event = if action == Action::Cascade && new.is_none() { Event::Delete } else { Event::Update };
        let changes = !matches!(action, Action::NoAction | Action::Restrict);
        if changes {
            self.fire_before_statement(&bound, event, &key.columns)?;
        }
        let rows = loop {
            let rows = self.referring_rows((&parent, &bound), &key, values)?;
            let Some(&first) = rows.first() else { break rows };
            let (resource, mode) = (Resource::Row(first), Mode::Row(LockStrength::KeyShare));
            if changes || self.db.locks.is_free(self.owner(), &resource, mode) {
                break rows;
            }
            // Somebody is about to delete it.
            self.lock(&resource, mode, Duration::Transaction)?;
        };
        if changes && rows.is_empty() {
            return self.fire_after_statement(&bound, event, &key.columns, more);
        }
        if rows.is_empty() {
            return Ok(());
        }
        match action {
            Action::NoAction | Action::Restrict => Err(self.still_referenced(&parent, &bound, &key, values)),
            Action::Cascade if new.is_none() => {
                for row in rows {
                    let row = RowRef::seen(child, row);
                    self.lock_to_write(row, LockStrength::Update)?;
                    if self.refers((&parent, &bound), &key, row.key, values)? {
                        self.delete_one(&bound, row, more)?;
                    }
                }
                self.fire_after_statement(&bound, event, &key.columns, more)
            }
            Action::Cascade | Action::SetNull | Action::SetDefault => {
                let new = match (action, new) {
                    (Action::Cascade, Some(new)) => self.as_child_values(&parent, &bound, &key, new)?,
                    (Action::SetDefault, _) => self.defaults_of(&bound, &key.columns)?,
                    _ => vec![Datum::Null; key.columns.len()],
                };
                for row in rows {
                    let row = RowRef::seen(child, row);
                    self.lock_to_write(row, LockStrength::NoKeyUpdate)?;
                    if !self.refers((&parent, &bound), &key, row.key, values)? {
                        continue;
                    }
                    let changes = key.columns.iter().copied().zip(new.iter().cloned()).collect();
                    self.update_one(&bound, row, changes, more)?;
                }
                if action == Action::SetDefault {
                    self.defaults_refer(&parent, &bound, &key, (values, &new))?;
                }
                self.fire_after_statement(&bound, event, &key.columns, more)
            }
        }
    }

    /// Rows that got the key that they had before have not changed, so no check of theirs finds out that it is gone.
    fn defaults_refer(
        &mut self,
        parent: &Arc<BoundTable>,
        child: &Arc<BoundTable>,
        key: &ForeignKey,
        (gone, defaults): (&[Datum], &[Datum]),
    ) -> Result<()> {
        let mut columns = key.columns.iter().zip(gone.iter().zip(defaults));
        let is_same = columns.all(|(&at, (gone, default))| equal(child.table(), at, gone, default));
        if !is_same
            || self.referring_rows((parent, child), key, gone)?.is_empty()
            || self.key_is_there(parent, key, gone)?
        {
            return Ok(());
        }
        Err(self.still_referenced(parent, child, key, gone))
    }

    /// A new key of the parent's as values of the referring columns.
    fn as_child_values(
        &mut self,
        parent: &BoundTable,
        child: &BoundTable,
        key: &ForeignKey,
        values: &[Datum],
    ) -> Result<Vec<Datum>> {
        let mut converted = Vec::with_capacity(values.len());
        for (at, value) in values.iter().enumerate() {
            let from = parent.table().columns[key.parent_columns[at]].typed.ty;
            let to = child.table().columns[key.columns[at]].typed;
            converted.push(if from == to.ty { value.clone() } else { cast(value.clone(), from, to, false, self)? });
        }
        Ok(converted)
    }

    fn defaults_of(&mut self, bound: &Arc<BoundTable>, columns: &[usize]) -> Result<Vec<Datum>> {
        let table = bound.table();
        let mut values = Vec::with_capacity(columns.len());
        for &position in columns {
            let column = &table.columns[position];
            values.push(match &column.default {
                None => Datum::Null,
                Some(default) => {
                    let expr = crate::ir::current::expr(default, &self.catalog);
                    self.eval_over(&expr, &[])?
                }
            });
        }
        Ok(values)
    }

    /// Rows that refer to a key, on the committed state (and our own).
    fn referring_rows(
        &mut self,
        (parent, bound): (&Arc<BoundTable>, &Arc<BoundTable>),
        key: &ForeignKey,
        values: &[Datum],
    ) -> Result<Vec<u32>> {
        let table = bound.table();
        let ty = |bound: &BoundTable, position: usize| bound.table().columns[position].typed.ty;
        let mut pairs = key.columns.iter().zip(&key.parent_columns);
        let same_types = pairs.all(|(&own, &other)| ty(bound, own) == ty(parent, other));
        let leading = bound.indexes.iter().find(|index| {
            same_types
                && index.predicate.is_none()
                && index.key_columns().is_some_and(|columns| columns.starts_with(&key.columns))
        });
        let candidates: Vec<u32> = match leading {
            Some(index) => {
                let bytes = if index.space.is_some() { index.entry(values) } else { index.encode(values) };
                let to = crate::storage::rows::after(bytes.clone());
                let to = to.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
                let space = index.space.unwrap_or(table.space);
                let found = self.db.store.range(space, Bound::Included(&bytes), to);
                let row = |key: skew_model::Key| if index.space.is_some() { self.row_of_entry(key) } else { key.0 };
                found.map(row).collect()
            }
            None => self.db.store.range(table.space, Bound::Unbounded, Bound::Unbounded).map(|key| key.0).collect(),
        };
        let (mut rows, mut known) = (Vec::new(), FxHashSet::default());
        for row in candidates {
            // The key is gone already: a row that is to refer to it meanwhile waits.
            self.check()?;
            let refers = self.refers((parent, bound), key, row, values)?;
            // With an index and without one, the look is at the rows that refer to the key or have done so.
            if leading.is_some() || refers || self.has_referred((parent, bound), key, row, values) {
                self.looks_at_row(bound, row, &key.columns, LooksAt::OtherRow)?;
            }
            if refers && known.insert(row) {
                rows.push(row);
            }
        }
        Ok(rows)
    }

    /// Whether a row is there and refers to a key.
    fn refers(
        &mut self,
        (parent, bound): (&Arc<BoundTable>, &Arc<BoundTable>),
        key: &ForeignKey,
        row: u32,
        values: &[Datum],
    ) -> Result<bool> {
        if self.look(row)?.is_none() {
            return Ok(false);
        }
        for (at, value) in values.iter().enumerate() {
            let found = self.look_column(bound.table(), row, key.columns[at])?;
            let found = if found.is_null() { None } else { self.as_parent_value(bound, parent, key, at, &found) };
            if !found.is_some_and(|found| equal(parent.table(), key.parent_columns[at], &found, value)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a row may have referred to a key in some state that was committed: column by column, so that a row of several
    /// referring columns may count that had the values at different times.
    fn has_referred(
        &mut self,
        (parent, bound): (&Arc<BoundTable>, &Arc<BoundTable>),
        key: &ForeignKey,
        row: u32,
        values: &[Datum],
    ) -> bool {
        values.iter().enumerate().all(|(at, value)| {
            let (own, other) = (key.columns[at], key.parent_columns[at]);
            self.column_versions(bound.table(), row, own).iter().any(|held| {
                let held = if held.is_null() { None } else { self.as_parent_value(bound, parent, key, at, held) };
                held.is_some_and(|held| equal(parent.table(), other, &held, value))
            })
        })
    }

    fn key_is_there(&mut self, parent: &Arc<BoundTable>, key: &ForeignKey, values: &[Datum]) -> Result<bool> {
        let Some(index) = parent.indexes.iter().find(|index| index.oid == key.parent_index) else { return Ok(false) };
        let Some(columns) = index.key_columns() else { return Ok(false) };
        let order = |position: &usize| key.parent_columns.iter().position(|parent| parent == position);
        let Some(order) = columns.iter().map(order).collect::<Option<Vec<usize>>>() else { return Ok(false) };
        let keys: Vec<Datum> = order.into_iter().map(|at| values[at].clone()).collect();
        for row in self.candidates(parent, index, &keys)? {
            if matches!(self.row_matches(parent, index, &keys, row)?, Matched::Yes) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn still_referenced(
        &mut self,
        parent: &Arc<BoundTable>,
        child: &Arc<BoundTable>,
        key: &ForeignKey,
        values: &[Datum],
    ) -> SqlError {
        let message = format!(
            "update or delete on table \"{}\" violates foreign key constraint \"{}\" on table \"{}\"",
            parent.relation.name, key.name, child.relation.name
        );
        let shown = self.show_key(parent.table(), &key.parent_columns, values);
        let detail = format!("Key {shown} is still referenced from table \"{}\".", child.relation.name);
        let error = SqlError::new(SqlState::FOREIGN_KEY_VIOLATION, message).detail(detail).constraint(&*key.name);
        self.of_table(error, child)
    }

    fn foreign_key(&self, child: Oid, at: usize) -> Option<ForeignKey> {
        self.catalog.table(child)?.foreign_keys.get(at).cloned()
    }
}

/// What happens to rows that refer to a key that is gone, or has changed.
fn action(key: &ForeignKey, changed: bool) -> Action {
    if changed { key.on_update } else { key.on_delete }
}
