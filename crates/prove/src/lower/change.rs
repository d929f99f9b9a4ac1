//! Changes of rows: INSERT with ON CONFLICT, UPDATE, DELETE and MERGE.

use std::sync::Arc;

use skew_sql::catalog::{Generation, Oid, RelationKind};
use skew_sql::ir::{self as sql, Assignment, Change, Insert, LockStrength, LockWait, MergeAction, Plan};

use super::Lowering;
use super::constraints::Event;
use super::plan::{Slot, Tuple, around_only};
use crate::ir::{Access, AccessId, Cause, Cell, Count, Kind, May, Must, Predicate, Rows, Snapshot, Step, Value};

impl Lowering<'_> {
    /// What a change does, and the tuples that it returns.
    pub(super) fn change(&mut self, change: &Change, around: Option<&Tuple<'_>>, sure: bool) -> Vec<Slot> {
        match change {
            Change::Insert(insert) => self.insert(insert, around, sure),
            Change::Update(update) => {
                let slots = self.plan(&update.input, around, sure);
                let row = self.changed_row(&slots, update.table);
                let tuple = Tuple::of(&slots, around);
                let new = self.update(row, &update.assignments, &tuple);
                self.view_checks(&update.checks, &slots, around);
                self.returning(update.returning.as_ref(), &slots, Some(new), around)
            }
            Change::Delete(delete) => {
                let slots = self.plan(&delete.input, around, sure);
                let row = self.changed_row(&slots, delete.table);
                self.delete(row);
                self.returning(delete.returning.as_ref(), &slots, None, around)
            }
            Change::Merge(merge) => {
                let slots = self.plan(&merge.input, around, sure);
                let row = self.changed_row(&slots, merge.table);
                self.perhaps(|lowering| {
                    let tuple = Tuple::of(&slots, around);
                    for clause in &merge.clauses {
                        clause.condition.iter().for_each(|one| _ = lowering.value(one, Some(&tuple), false));
                        lowering.perhaps(|lowering| lowering.merge_action(row, &clause.action, &tuple));
                    }
                });
                vec![Slot::Values(Vec::new())]
            }
        }
    }

    fn merge_action(&mut self, row: AccessId, action: &MergeAction, tuple: &Tuple<'_>) {
        match action {
            MergeAction::Nothing => {}
            MergeAction::Delete => self.delete(row),
            MergeAction::Update(assignments) => _ = self.update(row, assignments, tuple),
            MergeAction::Insert(assignments) => {
                let values = assignments.iter().map(|one| (one.column, self.value(&one.value, Some(tuple), false)));
                let values = values.collect();
                self.new_row(self.accesses[row.0].table, values, Count::One);
            }
        }
    }

    /// The access that picks the rows which are changed: that of slot 0.
    fn changed_row(&mut self, slots: &[Slot], table: Oid) -> AccessId {
        match slots.first() {
            Some(Slot::Row(row)) if self.accesses[row.0].table == table => *row,
            _ => {
                let mut picked = Predicate::default();
                picked.also("rows that are not followed");
                let mut access = Access::look(self.origin.clone(), table, picked);
                access.may_read = May::any(self.cells(table));
                self.access(access)
            }
        }
    }

    /// Rows are changed. Their new values, by column, where they are known.
    pub(super) fn update(
        &mut self,
        row: AccessId,
        assignments: &[Assignment],
        tuple: &Tuple<'_>,
    ) -> Vec<(usize, Value)> {
        let set: Vec<(usize, Value)> =
            assignments.iter().map(|one| (one.column, self.value(&one.value, Some(tuple), false))).collect();
        self.lock(row, LockStrength::NoKeyUpdate, LockWait::Block);
        self.set(row, set, Event::Update)
    }

    /// Columns of rows get values.
    pub(super) fn set(&mut self, row: AccessId, set: Vec<(usize, Value)>, event: Event) -> Vec<(usize, Value)> {
        let oid = self.accesses[row.0].table;
        let columns: Vec<usize> = set.iter().map(|(column, _)| *column).collect();
        let before = self.fire_before(oid, row, event);
        self.look_around(oid, &columns, row);
        let key = self.table(oid).map(|table| table.clustered.clone()).unwrap_or_default();
        let moves = before || columns.iter().any(|column| key.contains(column));
        let generated = self.generated(oid);
        let mut access = Access::new(self.origin.clone(), oid, Kind::Update, Rows::Of(row));
        access.count = self.accesses[row.0].count;
        let set_cells = columns.iter().filter(|column| !key.contains(column)).map(|column| Cell::Column(*column));
        access.may_write = May::any(set_cells.clone().chain(generated.iter().map(|column| Cell::Column(*column))));
        access.must_write = Must::all(set_cells);
        access.values = set.clone();
        if before || moves {
            // A trigger may set other columns, or keep the row back; a row with another key is another row.
            access.may_write = May::any(self.cells(oid));
            access.must_write.give_up();
            access.values.clear();
        }
        if !generated.is_empty() {
            self.read_all(row);
        }
        self.access(access);
        if moves {
            self.perhaps(|lowering| lowering.made(oid, Vec::new(), Count::Any));
        }
        self.children(row, Some(&columns));
        self.fire_after(oid, row, event);
        if before { Vec::new() } else { set }
    }

    pub(super) fn delete(&mut self, row: AccessId) {
        let oid = self.accesses[row.0].table;
        self.lock(row, LockStrength::Update, LockWait::Block);
        let before = self.fire_before(oid, row, Event::Delete);
        let mut access = Access::new(self.origin.clone(), oid, Kind::Delete, Rows::Of(row));
        access.count = self.accesses[row.0].count;
        access.may_write = May::any([Cell::Existence]);
        access.must_write = Must::all([Cell::Existence]);
        if before {
            access.must_write.give_up();
        }
        self.access(access);
        self.children(row, None);
        self.fire_after(oid, row, Event::Delete);
    }

    fn insert(&mut self, insert: &Insert, around: Option<&Tuple<'_>>, sure: bool) -> Vec<Slot> {
        let slots = self.plan(&insert.source, around, sure);
        let is_one = matches!(&insert.source, Plan::Values(rows) if rows.len() == 1)
            || matches!(&insert.source, Plan::Project { input, .. } if matches!(**input, Plan::One));
        let source: Vec<Value> = match slots.first() {
            Some(Slot::Values(values)) if values.len() == insert.columns.len() && is_one => values.clone(),
            _ => insert.columns.iter().map(|_| Value::opaque("a value of one of several rows")).collect(),
        };
        let (block, returned) = self.block_of(|lowering| {
            let mut values: Vec<(usize, Value)> = insert.columns.iter().copied().zip(source).collect();
            for (column, default) in &insert.defaults {
                let name = lowering.column_name(insert.table, *column);
                let origin = lowering.because(Cause::Default(name));
                let outer = std::mem::replace(&mut lowering.origin, origin);
                let value = lowering.value(default, None, false);
                let value = lowering.once("default", value);
                lowering.origin = outer;
                values.push((*column, value));
            }
            lowering.nulls(insert.table, &mut values);
            let made = match &insert.on_conflict {
                Some(conflict) => lowering.upsert(insert.table, conflict, values, around),
                None => lowering.new_row(insert.table, values, Count::One),
            };
            let row = [Slot::Row(made)];
            lowering.view_checks(&insert.checks, &row, around);
            let known = insert.on_conflict.is_none().then(|| lowering.accesses[made.0].values.clone());
            lowering.returning(insert.returning.as_ref(), &row, known, around)
        });
        if is_one && sure {
            block.into_iter().for_each(|step| self.emit(step));
            return returned;
        }
        let label = self.label();
        self.emit(Step::Loop(label, block));
        vec![Slot::Values(Vec::new())]
    }

    /// Columns that nothing is said about are NULL.
    fn nulls(&self, oid: Oid, values: &mut Vec<(usize, Value)>) {
        let Some(table) = self.table(oid) else { return };
        for (at, column) in table.columns.iter().enumerate() {
            let is_left = !column.dropped && column.generation != Generation::Stored && column.default.is_none();
            if is_left && !values.iter().any(|(known, _)| *known == at) {
                values.push((at, Value::Null));
            }
        }
    }

    /// A new row, with what looks at it.
    fn new_row(&mut self, oid: Oid, values: Vec<(usize, Value)>, count: Count) -> AccessId {
        let before = self.fire_new(oid);
        let values = if before { Vec::new() } else { values };
        self.check_row(oid, &values);
        self.unique(oid, &values);
        let made = self.made_of(oid, values.clone(), if before { Count::Any } else { count });
        self.parents(oid, &values);
        self.fire_after(oid, made, Event::Insert);
        made
    }

    fn made(&mut self, oid: Oid, values: Vec<(usize, Value)>, count: Count) {
        self.made_of(oid, values, count);
    }

    fn made_of(&mut self, oid: Oid, values: Vec<(usize, Value)>, count: Count) -> AccessId {
        let mut access = Access::new(self.origin.clone(), oid, Kind::Insert, Rows::New);
        access.count = count;
        access.may_write = May::any(self.cells(oid));
        access.must_write = match count {
            Count::One => Must::all(self.written(oid)),
            _ => Must::default(),
        };
        access.values = values;
        self.access(access)
    }

    /// The cells of a new row: dropped columns have none.
    fn written(&self, oid: Oid) -> Vec<Cell> {
        let is_there = |cell: &Cell| match cell {
            Cell::Column(column) => self.table(oid).is_some_and(|table| !table.columns[*column].dropped),
            Cell::Existence => true,
        };
        self.cells(oid).into_iter().filter(is_there).collect()
    }

    /// INSERT … ON CONFLICT: a row in the way, or a new one.
    fn upsert(
        &mut self,
        oid: Oid,
        conflict: &sql::OnConflict,
        values: Vec<(usize, Value)>,
        around: Option<&Tuple<'_>>,
    ) -> AccessId {
        let origin = self.because(Cause::Conflict);
        let mut picked = Predicate::default();
        let arbiter = self.arbiter(oid, conflict);
        for (column, value) in values.iter().filter(|(column, _)| arbiter.contains(column)) {
            picked.equal.push((*column, value.clone()));
        }
        picked.also("whether the row is in the way");
        let mut look = Access::look(origin.clone(), oid, picked);
        (look.snapshot, look.may_decide) = (Snapshot::UnderLock, May::any(self.cells(oid)));
        let met = self.access(look);
        let slots = [Slot::Row(met), Slot::Values(self.by_position(oid, &values))];
        let (then, ()) = self.block_of(|lowering| {
            if let Some((assignments, condition)) = &conflict.update {
                let tuple = Tuple::of(&slots, around);
                condition.iter().for_each(|one| _ = lowering.value(one, Some(&tuple), false));
                lowering.perhaps(|lowering| _ = lowering.update(met, assignments, &tuple));
            }
        });
        let (otherwise, made) = self.block_of(|lowering| lowering.new_row(oid, values, Count::One));
        let condition = Value::opaque("a row is in the way");
        self.emit(Step::If { origin, condition, then, otherwise });
        made
    }

    /// The columns of the unique index that decides about a conflict; none if there are several, or it is not a plain one.
    fn arbiter(&self, oid: Oid, conflict: &sql::OnConflict) -> Vec<usize> {
        let indexes = self.table(oid).map(|table| &table.indexes[..]).unwrap_or_default();
        let unique = |index: &Oid| match self.schema.catalog.relation(*index).map(|relation| &relation.kind) {
            Some(RelationKind::Index(one)) if one.unique => Some(one.predicate.is_none() && !one.nulls_not_distinct),
            _ => None,
        };
        let deciding: Vec<&Oid> = match conflict.arbiters.is_empty() {
            true => indexes.iter().filter(|index| unique(index).is_some()).collect(),
            false => conflict.arbiters.iter().collect(),
        };
        match deciding[..] {
            [index] if unique(index) == Some(true) => {
                self.index_columns(*index).into_iter().collect::<Option<_>>().unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    fn by_position(&self, oid: Oid, values: &[(usize, Value)]) -> Vec<Value> {
        let columns = self.table(oid).map_or(0, |table| table.columns.len());
        let value = |column: usize| {
            let known = values.iter().find(|(known, _)| *known == column).map(|(_, value)| value.clone());
            known.unwrap_or_else(|| Value::opaque("a column of the new row"))
        };
        (0..columns).map(value).collect()
    }

    /// RETURNING: over the new row, where there is one.
    fn returning(
        &mut self,
        returning: Option<&sql::Returning>,
        slots: &[Slot],
        new: Option<Vec<(usize, Value)>>,
        around: Option<&Tuple<'_>>,
    ) -> Vec<Slot> {
        let Some(returning) = returning else { return vec![Slot::Values(Vec::new())] };
        let origin = self.because(Cause::Returning);
        let outer = std::mem::replace(&mut self.origin, origin);
        // Columns that are not set are those of the row that was found.
        let mut shown = slots.to_vec();
        if let (Some(Slot::Row(row)), Some(new)) = (slots.first(), &new) {
            let (oid, is_new) = (self.accesses[row.0].table, self.accesses[row.0].kind == Kind::Insert);
            let columns = self.table(oid).map_or(0, |table| table.columns.len());
            let value = |column: usize| match new.iter().find(|(known, _)| *known == column) {
                Some((_, value)) => value.clone(),
                None if is_new || new.is_empty() => Value::opaque("a column of the new row"),
                None => Value::Column(*row, column),
            };
            shown[0] = Slot::Values((0..columns).map(value).collect());
            // What is not set is read of the row.
            let tuple = Tuple::of(slots, around);
            returning
                .values
                .iter()
                .for_each(|expr| _ = self.perhaps(|lowering| lowering.value(expr, Some(&tuple), false)));
        }
        let tuple = Tuple::of(&shown, around);
        let values = returning.values.iter().map(|expr| self.value(expr, Some(&tuple), false)).collect();
        self.origin = outer;
        vec![Slot::Values(values)]
    }

    /// WITH CHECK OPTION.
    fn view_checks(&mut self, checks: &[sql::RowCheck], slots: &[Slot], around: Option<&Tuple<'_>>) {
        for check in checks {
            let origin = self.because(Cause::Check(check.view.clone()));
            let tuple = around_only(slots, around);
            self.perhaps(|lowering| _ = lowering.value(&check.condition, tuple.as_ref(), false));
            let condition = Value::opaque("WITH CHECK OPTION");
            let otherwise = vec![Step::Fail(origin.clone())];
            self.emit(Step::If { origin, condition, then: Vec::new(), otherwise });
        }
    }

    pub(super) fn column_name(&self, oid: Oid, column: usize) -> Arc<str> {
        let column = self.table(oid).and_then(|table| table.columns.get(column));
        column.map_or_else(|| Arc::from("?"), |column| column.name.clone())
    }

    /// The generated columns of a table.
    fn generated(&self, oid: Oid) -> Vec<usize> {
        let columns = self.table(oid).into_iter().flat_map(|table| table.columns.iter().enumerate());
        let generated = columns.filter(|(_, column)| column.generation == Generation::Stored && !column.dropped);
        generated.map(|(position, _)| position).collect()
    }

    /// Every column of a row may be read.
    pub(super) fn read_all(&mut self, row: AccessId) {
        let cells = May::any(self.cells(self.accesses[row.0].table));
        let access = self.at(row);
        access.may_read = std::mem::take(&mut access.may_read).join(&cells);
    }
}
