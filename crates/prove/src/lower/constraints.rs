//! What follows from changes of rows without being written: CHECKs, unique and foreign keys, cascades, triggers.

use skew_sql::catalog::{Action, Dependency, Oid, RelationKind, StoredExpr, TriggerTime, UserType, UserTypeKind};
use skew_sql::ir::{LockStrength, current};

use super::Lowering;
use super::plan::{Slot, Tuple};
use crate::ir::{Access, AccessId, Cause, Function, Kind, May, Predicate, Rows, Snapshot, Step, Value};

/// What happens to a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    Insert,
    Update,
    Delete,
}

impl Lowering<'_> {
    /// CHECK constraints of a new row, and expressions of its generated columns and indexes.
    pub(super) fn check_row(&mut self, oid: Oid, values: &[(usize, Value)]) {
        let Some(table) = self.table(oid) else { return };
        let value = |column: usize| {
            let known = values.iter().find(|(known, _)| *known == column).map(|(_, value)| value.clone());
            known.unwrap_or_else(|| Value::opaque("a column of the new row"))
        };
        let slots = [Slot::Values((0..table.columns.len()).map(value).collect())];
        for check in &table.checks {
            let condition = current::expr(&check.condition, self.schema.catalog);
            let origin = self.because(Cause::Check(check.name.clone()));
            let value = self.value(&condition, Some(&Tuple::of(&slots, None)), false);
            // What is NULL is no violation.
            let passes = match value {
                Value::Opaque(_) => value,
                value => Value::Apply(Function::Or, vec![Value::Apply(Function::IsNull, vec![value.clone()]), value]),
            };
            let otherwise = vec![Step::Fail(origin.clone())];
            self.emit(Step::If { origin, condition: passes, then: Vec::new(), otherwise });
        }
        self.schema_calls(oid);
    }

    /// The functions that generated columns, indexes and domains of a table call.
    fn schema_calls(&mut self, oid: Oid) {
        let Some(table) = self.table(oid) else { return };
        let columns = table.columns.iter().filter_map(|column| column.default.as_deref());
        let indexes = table.indexes.iter().filter_map(|index| match &self.schema.catalog.relation(*index)?.kind {
            RelationKind::Index(index) => Some(index),
            _ => None,
        });
        let indexed = indexes.flat_map(|index| {
            let keys = index.keys.iter().filter_map(|key| match &key.what {
                skew_sql::catalog::IndexKeyKind::Expr(expr) => Some(&**expr),
                skew_sql::catalog::IndexKeyKind::Column(_) => None,
            });
            keys.chain(index.predicate.as_deref())
        });
        let all: Vec<&StoredExpr> = columns.chain(indexed).collect();
        all.into_iter().for_each(|expr| self.calls_of(expr));
        let types: Vec<_> = table.columns.iter().map(|column| column.typed.ty).collect();
        for ty in types {
            if let Some(user) = self.schema.catalog.user_type(ty) {
                self.check_domain(user, &Value::opaque("a value"));
            }
        }
    }

    /// The functions that an expression of the schema calls, with any arguments, any number of times.
    fn calls_of(&mut self, expr: &StoredExpr) {
        for used in &expr.uses {
            if let Dependency::Function(oid) = used
                && let Some(function) = self.schema.catalog.functions.get(oid).cloned()
            {
                let args = vec![Value::opaque("an argument"); function.parameters.len()];
                self.call(&function, args, false);
            }
        }
    }

    /// A value is made one of a domain.
    pub(super) fn check_domain(&mut self, user: &UserType, value: &Value) {
        let UserTypeKind::Domain { base, checks, .. } = &user.kind else { return };
        for check in checks {
            self.calls_of(&check.condition);
            let origin = self.because(Cause::Check(user.name.clone()));
            let condition = match value {
                Value::Null => Value::opaque("a CHECK of NULL"),
                _ => Value::opaque("a CHECK of a domain"),
            };
            let otherwise = vec![Step::Fail(origin.clone())];
            self.emit(Step::If { origin, condition, then: Vec::new(), otherwise });
        }
        if let Some(below) = self.schema.catalog.user_type(base.ty) {
            self.check_domain(below, value);
        }
    }

    /// A look of a constraint at what is committed.
    fn constraint_look(&mut self, cause: Cause, oid: Oid, columns: &[usize], values: &[Value]) -> AccessId {
        let equal = columns.iter().copied().zip(values.iter().cloned()).collect();
        let picked = Predicate { equal, ..Predicate::default() };
        let mut look = Access::look(self.because(cause), oid, picked);
        look.snapshot = Snapshot::Committed;
        for column in columns {
            let cell = self.cell(oid, *column);
            look.may_decide.widen(cell);
        }
        self.access(look)
    }

    /// No other row has the same values in the columns of a unique index.
    pub(super) fn unique(&mut self, oid: Oid, values: &[(usize, Value)]) {
        for index in self.table(oid).map(|table| table.indexes.clone()).unwrap_or_default() {
            let name = self.name_of(index);
            match self.schema.catalog.relation(index).map(|relation| &relation.kind) {
                Some(RelationKind::Index(one)) if one.unique => {}
                _ => continue,
            }
            let columns: Vec<usize> = self.index_columns(index).into_iter().flatten().collect();
            let known: Vec<Value> = columns.iter().map(|column| value_of(values, *column)).collect();
            self.constraint_look(Cause::Unique(name), oid, &columns, &known);
        }
    }

    /// The rows that a new row refers to are there, and stay: their keys are locked.
    pub(super) fn parents(&mut self, oid: Oid, values: &[(usize, Value)]) {
        let Some(table) = self.table(oid).filter(|table| !table.unchecked) else { return };
        for key in &table.foreign_keys {
            let known: Vec<Value> = key.columns.iter().map(|column| value_of(values, *column)).collect();
            let look = self.constraint_look(Cause::Parent(key.name.clone()), key.parent, &key.parent_columns, &known);
            let origin = self.because(Cause::Parent(key.name.clone()));
            let mut lock = Access::new(origin, key.parent, Kind::Lock(LockStrength::KeyShare), Rows::Of(look));
            lock.snapshot = Snapshot::Committed;
            self.access(lock);
        }
    }

    /// What a change of these columns makes constraints look at.
    pub(super) fn look_around(&mut self, oid: Oid, columns: &[usize], row: AccessId) {
        let Some(table) = self.table(oid) else { return };
        let value = |column: usize| match columns.contains(&column) {
            true => (column, Value::opaque("a new value")),
            false => (column, Value::Column(row, column)),
        };
        let values: Vec<(usize, Value)> = (0..table.columns.len()).map(value).collect();
        let opaque: Vec<(usize, Value)> = columns.iter().map(|column| value(*column)).collect();
        self.perhaps(|lowering| lowering.check_row(oid, &opaque));
        self.unique(oid, &values);
        if table.foreign_keys.iter().any(|key| key.columns.iter().any(|column| columns.contains(column))) {
            self.parents(oid, &values);
        }
    }

    /// What foreign keys do where rows go (no columns), or where these columns of theirs change.
    pub(super) fn children(&mut self, row: AccessId, changed: Option<&[usize]>) {
        let parent = self.accesses[row.0].table;
        let relations: Vec<_> = self.schema.catalog.relations.values().cloned().collect();
        for relation in relations {
            let RelationKind::Table(table) = &relation.kind else { continue };
            for key in table.foreign_keys.iter().filter(|key| key.parent == parent && !table.unchecked) {
                let is_meant = |columns: &[usize]| key.parent_columns.iter().any(|column| columns.contains(column));
                let action = match changed {
                    None => key.on_delete,
                    Some(columns) if is_meant(columns) => key.on_update,
                    Some(_) => continue,
                };
                let values: Vec<Value> = key.parent_columns.iter().map(|column| Value::Column(row, *column)).collect();
                let cause = Cause::Children(key.name.clone());
                self.constraint_look(cause, relation.oid, &key.columns, &values);
                if matches!(action, Action::NoAction | Action::Restrict) {
                    continue;
                }
                let origin = self.because(Cause::Cascade(key.name.clone()));
                let outer = std::mem::replace(&mut self.origin, origin);
                self.perhaps(|lowering| lowering.cascade(relation.oid, &key.columns, action, changed.is_some()));
                self.origin = outer;
            }
        }
    }

    /// A foreign key changes the rows that refer to one that goes or changes.
    fn cascade(&mut self, child: Oid, columns: &[usize], action: Action, is_update: bool) {
        // Rows that refer to each other go one after the other.
        if self.cascading.contains(&child) {
            let tables = May::any(self.cascading.iter().copied());
            return self.havoc_of(tables, "foreign keys that go round");
        }
        self.cascading.push(child);
        let mut picked = Predicate::default();
        picked.also("rows that refer to one that goes or changes");
        let mut look = Access::look(self.origin.clone(), child, picked);
        look.may_decide = May::any(self.cells(child));
        let found = self.access(look);
        match action {
            Action::Cascade if !is_update => self.delete(found),
            _ => {
                let set = columns.iter().map(|column| (*column, Value::opaque("what the foreign key sets"))).collect();
                self.set(found, set, Event::Update);
            }
        }
        self.cascading.pop();
    }

    /// BEFORE triggers of a row that is changed or goes. Whether there are any.
    pub(super) fn fire_before(&mut self, oid: Oid, row: AccessId, event: Event) -> bool {
        let fired = self.fire(oid, event, true);
        if fired {
            self.read_all(row);
        }
        fired
    }

    /// BEFORE triggers of a new row.
    pub(super) fn fire_new(&mut self, oid: Oid) -> bool {
        self.fire(oid, Event::Insert, true)
    }

    /// AFTER triggers, and those of whole statements.
    pub(super) fn fire_after(&mut self, oid: Oid, row: AccessId, event: Event) {
        if self.fire(oid, event, false) {
            self.read_all(row);
        }
    }

    fn fire(&mut self, oid: Oid, event: Event, before: bool) -> bool {
        let triggers = self.table(oid).map(|table| table.triggers.clone()).unwrap_or_default();
        let mut fired = false;
        for trigger in triggers.iter().filter(|trigger| trigger.enabled) {
            let is_meant = match event {
                Event::Insert => trigger.insert,
                Event::Update => trigger.update.is_some(),
                Event::Delete => trigger.delete,
            };
            let is_before = trigger.each_row && trigger.when != TriggerTime::After;
            if !is_meant || is_before != before {
                continue;
            }
            fired |= trigger.each_row;
            if trigger.timing.is_some() && !self.deferred.contains(&(oid, trigger.oid)) {
                self.deferred.push((oid, trigger.oid));
            }
            self.run_trigger(oid, trigger);
        }
        fired
    }

    fn run_trigger(&mut self, oid: Oid, trigger: &skew_sql::catalog::Trigger) {
        let origin = self.because(Cause::Trigger(trigger.name.clone()));
        let outer = std::mem::replace(&mut self.origin, origin);
        if let Some(condition) = &trigger.condition {
            self.calls_of(condition);
        }
        match self.schema.catalog.functions.get(&trigger.function).cloned() {
            Some(function) => self.perhaps(|lowering| _ = lowering.enter(&function, Some(oid), Vec::new())),
            None => self.havoc(format!("the trigger {}", trigger.name)),
        }
        self.origin = outer;
    }

    /// The triggers that may have waited for the commit; they can make others wait.
    pub(super) fn fire_deferred(&mut self) {
        let mut done = 0;
        while let Some(&(oid, number)) = self.deferred.get(done) {
            done += 1;
            let triggers = self.table(oid).map(|table| table.triggers.clone()).unwrap_or_default();
            let Some(trigger) = triggers.iter().find(|trigger| trigger.oid == number) else { continue };
            let origin = self.because(Cause::Commit);
            let outer = std::mem::replace(&mut self.origin, origin);
            self.run_trigger(oid, trigger);
            self.origin = outer;
        }
    }
}

fn value_of(values: &[(usize, Value)], column: usize) -> Value {
    let known = values.iter().find(|(known, _)| *known == column).map(|(_, value)| value.clone());
    known.unwrap_or_else(|| Value::opaque("a value"))
}
