//! Changes to accesses: rows that are inserted, updated and deleted, and what follows elsewhere.

use std::collections::BTreeSet;

use skew_sql::catalog::{Action, Generation, Oid, RelationKind, Table, TriggerTime};
use skew_sql::ir::{self, Assignment, Change, Insert, MergeAction, Plan};

use super::build::called_by;
use super::query::{Around, Look, Slot};
use super::terms::Caught;
use super::{AccessKind, Approximation, Cell, Learning, Lesson, Outcome, TermId, TermKind};

impl Look<'_> {
    pub(super) fn change(&mut self, change: &Change, around: Option<&Around<'_>>) -> Vec<Slot> {
        match change {
            Change::Insert(insert) => self.insert(insert, around),
            Change::Update(update) => {
                let slots = self.plan(&update.input, around);
                let access = self.changed(&slots, update.table, AccessKind::Update);
                self.assign(access, &update.assignments, &slots, around);
                self.checked(&update.checks, &slots, around);
                self.returning(update.returning.as_ref(), &slots, around)
            }
            Change::Delete(delete) => {
                let slots = self.plan(&delete.input, around);
                let access = self.changed(&slots, delete.table, AccessKind::Delete);
                self.state.accesses[access].writes.insert(Cell::Existence);
                self.tells(delete.table, Vec::new());
                self.cascade(access, None, &mut Vec::new());
                self.may_be_kept_back(access);
                self.returning(delete.returning.as_ref(), &slots, around)
            }
            Change::Merge(merge) => {
                let slots = self.plan(&merge.input, around);
                // The row is looked at again when it is changed.
                for slot in &slots {
                    if let Slot::Row(access) = slot {
                        self.state.accesses[*access].again |= self.state.accesses[*access].table == merge.table;
                    }
                }
                for clause in &merge.clauses {
                    clause.condition.iter().for_each(|condition| _ = self.value(condition, &slots, around));
                    self.merge_action(merge.table, &clause.action, &slots, around);
                }
                vec![Slot::Values(Vec::new())]
            }
        }
    }

    fn merge_action(&mut self, table: Oid, action: &MergeAction, slots: &[Slot], around: Option<&Around<'_>>) {
        let was = std::mem::replace(&mut self.state.conditional, true);
        match action {
            MergeAction::Nothing => {}
            MergeAction::Delete => {
                let access = self.access(table, AccessKind::Delete);
                self.state.accesses[access].writes.insert(Cell::Existence);
                self.tells(table, Vec::new());
                self.cascade(access, None, &mut Vec::new());
            }
            MergeAction::Update(assignments) => {
                let access = self.access(table, AccessKind::Update);
                self.assign(access, assignments, slots, around);
            }
            MergeAction::Insert(assignments) => {
                let values =
                    assignments.iter().map(|one| (one.column, self.value(&one.value, slots, around))).collect();
                self.new_row(table, values);
            }
        }
        self.state.conditional = was;
    }

    /// The access of the row in slot 0, which is changed.
    fn changed(&mut self, slots: &[Slot], table: Oid, kind: AccessKind) -> usize {
        let access = match slots.first() {
            Some(Slot::Row(access)) if self.state.accesses[*access].table == table => *access,
            _ => self.access(table, kind),
        };
        self.state.accesses[access].kind = kind;
        self.state.accesses[access].again = true;
        access
    }

    fn assign(&mut self, access: usize, assignments: &[Assignment], slots: &[Slot], around: Option<&Around<'_>>) {
        let table = self.state.accesses[access].table;
        let key = self.facts.table(table).map(|table| table.key.clone()).unwrap_or_default();
        self.tells(table, assignments.iter().map(|one| (one.column, None)).collect());
        let mut moves = false;
        for assignment in assignments {
            let value = self.value(&assignment.value, slots, around);
            self.state.accesses[access].values.push((assignment.column, value));
            self.state.accesses[access].writes.insert(Cell::Column(assignment.column));
            moves |= key.contains(&assignment.column);
        }
        self.write_generated(access);
        let changed: Vec<usize> = assignments.iter().map(|one| one.column).collect();
        let all_changed = self.with_others(table, &changed);
        self.write_constraints(access, &all_changed);
        self.cascade(access, Some(&all_changed), &mut Vec::new());
        if moves {
            // The row goes, and another one comes.
            self.state.accesses[access].writes.insert(Cell::Existence);
            let was = std::mem::replace(&mut self.state.conditional, true);
            let kept = self.state.accesses[access].row.clone();
            let values = kept.into_iter().filter(|(column, _)| !changed.contains(column)).collect();
            self.new_row(table, values);
            self.state.conditional = was;
        }
        self.may_be_kept_back(access);
    }

    fn write_generated(&mut self, access: usize) {
        let generated = self.generated(self.state.accesses[access].table);
        if generated.is_empty() {
            return;
        }
        // What a generated column is made of may be any of the others, and where none of these is set it is left alone.
        let columns = self.facts.table(self.state.accesses[access].table).map_or(0, |table| table.columns.len());
        (0..columns).for_each(|column| self.read_column(access, column));
        let mut also = self.state.accesses[access].clone();
        (also.conditional, also.plain, also.outcome) = (true, false, Outcome::Open);
        also.reads.remove(&Cell::Existence);
        also.values.clear();
        also.writes = generated.into_iter().map(Cell::Column).collect();
        self.state.accesses.push(also);
    }

    /// A constraint over several columns is evaluated on the newest versions under a lock, whatever the level: writers of
    /// its columns come one after the other, so they depend on each other although they write different cells.
    fn write_constraints(&mut self, access: usize, changed: &[usize]) {
        let facts = self.facts.table(self.state.accesses[access].table);
        let cells = facts.map(|facts| facts.constraint_cells(changed)).unwrap_or_default();
        if cells.is_empty() {
            return;
        }
        let mut also = self.state.accesses[access].clone();
        (also.conditional, also.plain, also.outcome) = (true, false, Outcome::Open);
        also.reads.remove(&Cell::Existence);
        also.values.clear();
        also.writes = cells.into_iter().map(Cell::Column).collect();
        self.state.accesses.push(also);
    }

    /// The columns that change with these: generated ones, and any where a trigger before the change can set them.
    fn with_others(&self, table: Oid, changed: &[usize]) -> Vec<usize> {
        match self.table(table) {
            Some(table) if has_trigger_before(table) => (0..table.columns.len()).collect(),
            _ => [changed, &self.generated(table)].concat(),
        }
    }

    /// The generated columns of a table.
    fn generated(&self, table: Oid) -> Vec<usize> {
        let columns = self.table(table).into_iter().flat_map(|table| table.columns.iter().enumerate());
        let generated = columns.filter(|(_, column)| column.generation == Generation::Stored && !column.dropped);
        generated.map(|(position, _)| position).collect()
    }

    fn insert(&mut self, insert: &Insert, around: Option<&Around<'_>>) -> Vec<Slot> {
        let slots = self.plan(&insert.source, around);
        let source = match slots.first() {
            Some(Slot::Values(values)) if values.len() == insert.columns.len() => values.clone(),
            _ => insert.columns.iter().map(|_| self.state.unknown()).collect(),
        };
        let is_one = matches!(&insert.source, Plan::Values(rows) if rows.len() == 1)
            || matches!(&insert.source, Plan::Project { input, .. } if matches!(**input, Plan::One));
        let mut values: Vec<(usize, TermId)> = insert.columns.iter().copied().zip(source).collect();
        for (column, default) in &insert.defaults {
            let value = self.value(default, &[], around);
            values.push((*column, value));
        }
        let mut values = self.all_columns(insert.table, values);
        let was = (self.state.conditional, self.state.looped);
        if !is_one {
            (self.state.conditional, self.state.looped) = (true, true);
            // Each row has its own values.
            for (_, value) in &mut values {
                let keeps =
                    matches!(self.state.kind(*value), TermKind::Parameter(_) | TermKind::Constant(_) | TermKind::Null);
                if !keeps {
                    *value = self.state.unknown();
                }
            }
        }
        if insert.on_conflict.is_some() {
            self.state.conditional = true;
        }
        let access = self.new_row(insert.table, values);
        let row = vec![Slot::Row(access)];
        if let Some(conflict) = &insert.on_conflict {
            // It meets a row that has the same values in the columns of the index, whatever the others are.
            let arbiter = self.arbiter(insert.table, conflict);
            let decides = self.in_the_way(insert.table, &arbiter);
            self.state.accesses[access].reads.extend(decides.iter().copied());
            self.state.accesses[access].outcome = Outcome::Open;
            self.state.accesses[access].ranged = arbiter.clone();
            if let Some((assignments, condition)) = &conflict.update {
                let update = self.access(insert.table, AccessKind::Update);
                let values = self.state.accesses[access].row.clone();
                self.state.accesses[update].row = values.into_iter().filter(|(at, _)| arbiter.contains(at)).collect();
                self.state.accesses[update].ranged = arbiter;
                self.state.accesses[update].reads.extend(decides);
                let both = [Slot::Row(update), Slot::Row(access)];
                condition.iter().for_each(|condition| _ = self.value(condition, &both, around));
                self.assign(update, assignments, &both, around);
            }
        }
        self.checked(&insert.checks, &row, around);
        (self.state.conditional, self.state.looped) = was;
        let returned = self.returning(insert.returning.as_ref(), &row, around);
        match (&insert.on_conflict, &insert.returning) {
            // It may be the row that was there.
            (Some(_), Some(returning)) => {
                vec![Slot::Values(returning.values.iter().map(|_| self.state.unknown()).collect())]
            }
            _ => returned,
        }
    }

    /// The columns of the index that decides about a conflict; none if there are several.
    fn arbiter(&self, table: Oid, conflict: &ir::OnConflict) -> BTreeSet<usize> {
        let indexes = self.table(table).map(|table| &table.indexes[..]).unwrap_or_default();
        let index_of = |index: &Oid| match self.catalog.relation(*index).map(|relation| &relation.kind) {
            Some(RelationKind::Index(index)) if index.unique => Some(index),
            _ => None,
        };
        // Which rows are in an index of some rows other columns decide.
        let is_whole = |index: &&Oid| index_of(index).is_some_and(|index| index.predicate.is_none());
        // Where NULL meets NULL, values say little about which row it is.
        if indexes.iter().filter_map(index_of).any(|index| index.nulls_not_distinct) {
            return BTreeSet::new();
        }
        let unique: Vec<&Oid> = match conflict.arbiters.is_empty() {
            true => indexes.iter().filter(|index| index_of(index).is_some()).collect(),
            false => conflict.arbiters.iter().collect(),
        };
        match unique[..] {
            [index] if is_whole(&index) => {
                self.index_columns(*index).into_iter().collect::<Option<_>>().unwrap_or_default()
            }
            _ => BTreeSet::new(),
        }
    }

    /// What says that a row stands in the way: that it is there, and its values in the index, if it is known which one it is.
    fn in_the_way(&self, table: Oid, arbiter: &BTreeSet<usize>) -> BTreeSet<Cell> {
        let facts = self.facts.table(table);
        let (columns, key) = facts.map_or((0, &[][..]), |facts| (facts.columns.len(), &facts.key[..]));
        let is_in = |column: &usize| arbiter.is_empty() || arbiter.contains(column);
        let values = (0..columns).filter(|column| is_in(column) && !key.contains(column));
        std::iter::once(Cell::Existence).chain(values.map(Cell::Column)).collect()
    }

    fn new_row(&mut self, table: Oid, values: Vec<(usize, TermId)>) -> usize {
        self.tells(table, values.iter().map(|(column, value)| (*column, Some(*value))).collect());
        let access = self.access(table, AccessKind::Insert);
        let facts = self.facts.table(table);
        let columns = facts.map_or(0, |facts| facts.columns.len());
        let key = facts.map(|facts| facts.key.clone()).unwrap_or_default();
        let made = &mut self.state.accesses[access];
        made.row = values;
        made.outcome = Outcome::Found;
        made.writes.insert(Cell::Existence);
        made.writes.extend((0..columns).filter(|column| !key.contains(column)).map(Cell::Column));
        self.triggered(table);
        self.may_be_kept_back(access);
        access
    }

    /// What the columns of a new row are, also those that nothing is said about; generated ones are not known.
    fn all_columns(&mut self, table: Oid, mut values: Vec<(usize, TermId)>) -> Vec<(usize, TermId)> {
        let Some(table) = self.table(table) else { return values };
        let is_left = |column: &skew_sql::catalog::Column| {
            !column.dropped && column.generation != Generation::Stored && column.default.is_none()
        };
        let left: Vec<usize> =
            table.columns.iter().enumerate().filter(|(_, column)| is_left(column)).map(|(at, _)| at).collect();
        for column in left {
            if !values.iter().any(|(known, _)| *known == column) {
                let null = self.state.term(TermKind::Null);
                values.push((column, null));
            }
        }
        values
    }

    /// What WITH CHECK OPTION looks at.
    fn checked(&mut self, checks: &[ir::RowCheck], slots: &[Slot], around: Option<&Around<'_>>) {
        let was = std::mem::replace(&mut self.changed, row_of(slots));
        self.perhaps(|look| checks.iter().for_each(|check| _ = look.value(&check.condition, slots, around)));
        self.changed = was;
    }

    fn returning(
        &mut self,
        returning: Option<&ir::Returning>,
        slots: &[Slot],
        around: Option<&Around<'_>>,
    ) -> Vec<Slot> {
        // What is returned of a changed row is new.
        let was = std::mem::replace(&mut self.changed, row_of(slots));
        let values = returning.map(|returning| &returning.values[..]).unwrap_or_default();
        let values = values.iter().map(|value| self.value(value, slots, around)).collect();
        self.changed = was;
        vec![Slot::Values(values)]
    }

    /// What foreign keys do to the rows that refer to one that goes, or whose columns change, and to those that refer to them.
    fn cascade(&mut self, access: usize, changed: Option<&[usize]>, known: &mut Vec<(Oid, bool)>) {
        let parent = self.state.accesses[access].table;
        let row = self.state.accesses[access].row.clone();
        self.is_shown(access);
        self.triggered(parent);
        self.aside(|look| look.refer(parent, &row, changed, known));
    }

    fn refer(&mut self, parent: Oid, row: &[(usize, TermId)], changed: Option<&[usize]>, known: &mut Vec<(Oid, bool)>) {
        for relation in self.catalog.relations.values() {
            let RelationKind::Table(table) = &relation.kind else { continue };
            for key in table.foreign_keys.iter().filter(|key| key.parent == parent) {
                let is_meant = |columns: &[usize]| key.parent_columns.iter().any(|column| columns.contains(column));
                let action = match changed {
                    None => key.on_delete,
                    Some(columns) if is_meant(columns) => key.on_update,
                    Some(_) => continue,
                };
                let kind = match action {
                    Action::NoAction | Action::Restrict => continue,
                    Action::Cascade if changed.is_none() => AccessKind::Delete,
                    Action::Cascade | Action::SetNull | Action::SetDefault => AccessKind::Update,
                };
                let defaults = key.columns.iter().filter_map(|column| table.columns[*column].default.as_ref());
                let mut defaults = defaults.filter(|_| action == Action::SetDefault);
                if let Some(name) = defaults.find_map(|default| called_by(&default.uses, self.facts, self.catalog)) {
                    self.everything(format!("{name}, which a default calls,"));
                }
                let child = self.access(relation.oid, kind);
                // Rows that refer to each other go one after the other: any of them.
                let step = (key.oid, kind == AccessKind::Delete);
                let is_new = !known.contains(&step);
                known.push(step);
                let values = key.columns.iter().zip(&key.parent_columns).filter(|_| is_new);
                let values = values.filter_map(|(own, other)| {
                    row.iter().find(|(column, _)| column == other).map(|(_, value)| (*own, *value))
                });
                let values: Vec<(usize, TermId)> = values.collect();
                let own_key = self.facts.table(relation.oid).map(|facts| facts.key.clone()).unwrap_or_default();
                let moves = kind == AccessKind::Update && key.columns.iter().any(|column| own_key.contains(column));
                let made = &mut self.state.accesses[child];
                made.row = values;
                made.reads.insert(Cell::Existence);
                made.reads.extend(key.columns.iter().map(|column| Cell::Column(*column)));
                if kind == AccessKind::Update {
                    made.writes.extend(key.columns.iter().map(|column| Cell::Column(*column)));
                }
                if kind == AccessKind::Delete || moves {
                    made.writes.insert(Cell::Existence);
                }
                if kind == AccessKind::Update {
                    self.write_generated(child);
                    self.write_constraints(child, &key.columns);
                }
                if moves {
                    self.new_row(relation.oid, Vec::new());
                }
                self.is_shown(child);
                self.triggered(relation.oid);
                if is_new {
                    let changed = self.with_others(relation.oid, &key.columns);
                    self.cascade(child, (kind == AccessKind::Update).then_some(&changed[..]), known);
                }
            }
        }
    }

    fn table(&self, table: Oid) -> Option<&Table> {
        match self.catalog.relation(table).map(|relation| &relation.kind) {
            Some(RelationKind::Table(table)) => Some(table),
            _ => None,
        }
    }

    /// A change sets columns of a table (or, without any, deletes): if that can violate a constraint by what others have
    /// done, and the error is caught, it tells about them.
    fn tells(&mut self, table: Oid, set: Vec<(usize, Option<TermId>)>) {
        let Some(changed) = self.table(table).filter(|_| self.state.caught != Caught::default()) else { return };
        let is_set = |column: &usize| set.iter().any(|(known, _)| known == column);
        let is_new = |column: &usize| {
            let value = set.iter().find(|(known, _)| known == column).and_then(|(_, value)| *value);
            value.is_some_and(|value| matches!(self.state.kind(value), TermKind::Fresh(_)))
        };
        let is_taken = changed.indexes.iter().any(|index| match self.catalog.relation(*index).map(|one| &one.kind) {
            Some(RelationKind::Index(one)) if one.unique => {
                let columns: Option<Vec<usize>> = self.index_columns(*index).into_iter().collect();
                columns.is_none_or(|columns| columns.iter().any(is_set) && !columns.iter().any(is_new))
            }
            _ => false,
        });
        let lacks_parent = changed.foreign_keys.iter().any(|key| key.columns.iter().any(is_set));
        let has_children = self.catalog.relations.values().any(|relation| match &relation.kind {
            RelationKind::Table(other) => other
                .foreign_keys
                .iter()
                .any(|key| key.parent == table && (set.is_empty() || key.parent_columns.iter().any(is_set))),
            _ => false,
        });
        let is_insert = set.iter().any(|(_, value)| value.is_some());
        let violates = is_taken && !set.is_empty() || lacks_parent || has_children && !is_insert;
        // A new row that has nothing to do with others is nobody's business.
        if violates || !is_insert {
            self.meets_others();
        }
        if violates && self.state.caught.violations {
            self.learns.get_or_insert(Lesson { line: self.line, by: Learning::Violation });
        }
    }

    /// A change or a lock can fail because of what others are doing; who catches the error knows.
    pub(super) fn meets_others(&mut self) {
        if self.state.caught.conflicts {
            self.learns.get_or_insert(Lesson { line: self.line, by: Learning::Conflict });
        }
    }

    /// The same of something that may do anything with tables.
    pub(super) fn may_meet_others(&mut self) {
        self.meets_others();
        if self.state.caught.violations {
            self.learns.get_or_insert(Lesson { line: self.line, by: Learning::Violation });
        }
    }

    /// A trigger before a change can leave it out.
    fn may_be_kept_back(&mut self, access: usize) {
        if self.table(self.state.accesses[access].table).is_some_and(has_trigger_before) {
            self.state.accesses[access].conditional = true;
        }
    }

    /// Whether a column of a row that is changed may get another value than the one that it is set to.
    pub(super) fn is_made_elsewhere(&self, table: Oid, column: usize) -> bool {
        self.table(table).is_some_and(|table| {
            let is_generated = table.columns.get(column).is_some_and(|column| column.generation == Generation::Stored);
            is_generated || has_trigger_before(table)
        })
    }

    /// Triggers are shown the whole row that is changed.
    fn is_shown(&mut self, access: usize) {
        let table = self.state.accesses[access].table;
        if self.table(table).is_some_and(|table| table.triggers.iter().any(|trigger| trigger.each_row)) {
            let columns = self.facts.table(table).map_or(0, |table| table.columns.len());
            (0..columns).for_each(|column| self.read_column(access, column));
        }
    }

    /// What is called whenever a table changes.
    fn triggered(&mut self, table: Oid) {
        for trigger in self.table(table).map(|table| table.triggers.clone()).unwrap_or_default() {
            self.fire(table, &trigger);
        }
        // A function in a CHECK is called for every new version of a row, and may look at any table.
        if let Some(name) = self.facts.table(table).and_then(|table| table.checked_by.clone()) {
            self.everything(format!("the CHECK that calls {name}"));
        }
    }

    /// Something that may read and write every cell of every table.
    pub(super) fn everything(&mut self, what: String) {
        self.may_meet_others();
        let what = format!("{what} may read and write every table");
        self.approximations.insert(Approximation { line: self.line, what });
        let tables: Vec<(Oid, usize)> =
            self.facts.tables.iter().map(|(oid, table)| (*oid, table.columns.len())).collect();
        self.aside(|look| {
            for (table, columns) in tables {
                let access = look.access(table, AccessKind::Update);
                let cells = [Cell::Existence].into_iter().chain((0..columns).map(Cell::Column));
                let cells: BTreeSet<Cell> = cells.collect();
                look.state.accesses[access].reads = cells.clone();
                look.state.accesses[access].writes = cells;
            }
        });
    }

    /// What a statement may do any number of times beside what it says, after it has begun.
    pub(super) fn aside(&mut self, accesses: impl FnOnce(&mut Self)) {
        let was = (self.state.conditional, self.state.looped, self.state.statements);
        (self.state.conditional, self.state.looped) = (true, true);
        // The numbers of statements are even.
        self.state.statements |= 1;
        accesses(self);
        (self.state.conditional, self.state.looped, self.state.statements) = was;
    }
}

/// Whether a trigger sees rows before they are changed, and can change or leave out what is done with them.
fn has_trigger_before(table: &Table) -> bool {
    table.triggers.iter().any(|trigger| trigger.each_row && trigger.when != TriggerTime::After)
}

/// The row of a table in the first slot, which is the one that is changed.
fn row_of(slots: &[Slot]) -> Option<usize> {
    match slots.first() {
        Some(Slot::Row(access)) => Some(*access),
        _ => None,
    }
}
