//! INSERT, UPDATE, DELETE and MERGE as text: the statements of a body in SQL.

use std::rc::Rc;
use std::sync::Arc;

use crate::catalog::{IndexKeyKind, Oid, RelationKind};
use crate::deparse::query::identifiers;
use crate::deparse::{Deparse, Frame, STEP, Slot, columns_of};
use crate::ir::{
    Assignment, Change, Delete, Expr, ExprKind, Insert, Join, Merge, MergeAction, MergeClause, OnConflict, Plan,
    Returning, Update, ViewTarget,
};
use crate::types::quote;

/// What a statement names, and what the columns of the table behind it are called there.
type Target = (Oid, Vec<Arc<str>>);

impl<'q> Deparse<'q> {
    pub(super) fn change(&mut self, change: &'q Change) {
        self.indent += 8;
        self.push(" ");
        match change {
            Change::Insert(insert) => self.insert(insert),
            Change::Update(update) => self.update(update),
            Change::Delete(delete) => self.delete(delete),
            Change::Merge(merge) => self.merge(merge),
        }
    }

    /// What a statement names where it changes a table, and what the table's columns are called there.
    fn target(&self, table: Oid, through: Option<&ViewTarget>) -> (Oid, Vec<Arc<str>>) {
        let Some((through, view)) = through.and_then(|through| Some((through, *through.views.first()?))) else {
            return (table, self.column_names(table));
        };
        let mut names = vec![Arc::from(""); self.column_names(table).len()];
        for (column, name) in through.columns.iter().zip(self.column_names(view)) {
            if let Some(known) = column.and_then(|column| names.get_mut(column)) {
                *known = name;
            }
        }
        (view, names)
    }

    fn table_name(&self, table: Oid) -> String {
        self.env.catalog().relation(table).map_or_else(|| "?".to_owned(), |relation| self.relation_name(relation))
    }

    fn column_names(&self, table: Oid) -> Vec<Arc<str>> {
        self.env.catalog().relation(table).map_or_else(Vec::new, |relation| columns_of(relation))
    }

    /// A row of a target under a name.
    fn row_slot(&self, (relation, columns): &Target, name: Option<&str>) -> Slot<'q> {
        let own = self.env.catalog().relation(*relation).map(|relation| relation.name.clone());
        let name = name.map(Arc::from).or(own).unwrap_or_else(|| "?".into());
        Slot::Item { name, columns: columns.clone() }
    }

    /// The items of an UPDATE or DELETE, with the row that is changed first.
    fn changed_items(&mut self, from: &'q Plan, target: &Target, through: Option<&ViewTarget>) -> Vec<Slot<'q>> {
        let mut items = self.item_slots(from);
        if through.is_some()
            && let Some(Slot::Item { name, columns }) = items.first_mut()
        {
            let own = self.env.catalog().relation(target.0).map(|relation| relation.name.clone());
            if &**name == "unnamed_subquery" {
                *name = own.unwrap_or_else(|| "?".into());
            }
            *columns = target.1.clone();
        }
        items
    }

    fn within(&mut self, slots: Vec<Slot<'q>>, write: impl FnOnce(&mut Self)) {
        self.frames.push(Rc::new(Frame { slots }));
        write(self);
        self.frames.pop();
    }

    fn insert(&mut self, insert: &'q Insert) {
        let written = self.target(insert.table, insert.through.as_ref());
        let given: Vec<Arc<str>> = insert.columns.iter().filter_map(|at| written.1.get(*at).cloned()).collect();
        let table = self.table_name(written.0);
        self.push(&format!("INSERT INTO {table} "));
        if !given.is_empty() {
            self.push(&format!("({}) ", identifiers(&given)));
        }
        let overrides = |at: &usize| {
            let table = self.env.catalog().table(insert.table);
            table
                .and_then(|table| table.columns.get(*at))
                .is_some_and(|column| column.generation == crate::catalog::Generation::IdentityAlways)
        };
        if insert.columns.iter().any(overrides) {
            self.push("OVERRIDING SYSTEM VALUE ");
        }
        let target = self.row_slot(&written, None);
        self.within(vec![target.clone()], |text| text.insert_source(&insert.source));
        if let Some(conflict) = &insert.on_conflict {
            self.on_conflict(conflict, &written);
        }
        self.within(vec![target], |text| text.returning(insert.returning.as_ref()));
    }

    fn insert_source(&mut self, source: &'q Plan) {
        match source {
            Plan::Values(rows) => match rows.as_slice() {
                [row] if row.is_empty() => self.push("DEFAULT VALUES"),
                [row] => {
                    self.line("VALUES (", -STEP, STEP, 2);
                    self.values_of(row);
                    self.push(")");
                }
                _ => self.values(rows),
            },
            // What is given is converted to the types of the columns, which the source itself does not say.
            Plan::Project { input, columns } if is_query(input) && columns.iter().all(is_passed_on) => {
                let own = self.frames.pop();
                self.source_query(input);
                self.frames.extend(own);
            }
            plan => {
                let own = self.frames.pop();
                self.assigned = true;
                self.source_query(plan);
                self.frames.extend(own);
            }
        }
    }

    fn source_query(&mut self, plan: &'q Plan) {
        let indent = self.indent;
        let ctes = self.ctes.len();
        let mut plan = plan;
        if let Plan::With { ctes, input } = plan {
            self.with(ctes, input);
            plan = input;
        }
        self.body(plan, &[]);
        self.indent = indent;
        self.ctes.truncate(ctes);
    }

    fn values_of(&mut self, row: &'q [Expr]) {
        // Nothing of the table is in the tuple of VALUES.
        for (at, value) in row.iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            self.expr(value, false);
        }
    }

    fn on_conflict(&mut self, conflict: &'q OnConflict, target: &Target) {
        self.push(" ON CONFLICT");
        if let Some(arbiter) = conflict.arbiters.first() {
            self.arbiter(*arbiter, target);
        }
        let Some((assignments, condition)) = &conflict.update else { return self.push(" DO NOTHING") };
        self.push(" DO UPDATE SET ");
        let slots = vec![self.row_slot(target, None), self.row_slot(target, Some("excluded"))];
        self.within(slots, |text| {
            text.assignments(assignments, &target.1);
            if let Some(condition) = condition {
                text.line(" WHERE ", -STEP, STEP, 1);
                text.expr(condition, false);
            }
        });
    }

    /// The keys of the unique index that arbitrates.
    fn arbiter(&mut self, index: Oid, target: &Target) {
        let catalog = self.env.catalog();
        let Some(RelationKind::Index(index)) = catalog.relation(index).map(|relation| &relation.kind) else { return };
        let columns = &target.1;
        let row = || vec![Slot::Row { prefix: None, columns: columns.clone() }];
        self.push("(");
        for (at, key) in index.keys.iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            match &key.what {
                IndexKeyKind::Column(at) => {
                    let name = columns.get(*at).map_or_else(String::new, |name| quote::identifier(name));
                    self.push(&name);
                }
                IndexKeyKind::Expr(stored) => self.within(row(), |text| {
                    text.push("(");
                    text.expr(&stored.expr, false);
                    text.push(")");
                }),
            }
        }
        self.push(")");
        if let Some(predicate) = &index.predicate {
            self.line(" WHERE ", -STEP, STEP, 1);
            self.within(row(), |text| text.expr(&predicate.expr, false));
        }
    }

    /// `a = 1, (b, c) = …`: what comes after SET.
    fn assignments(&mut self, assignments: &'q [Assignment], names: &[Arc<str>]) {
        for (at, assignment) in assignments.iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            let name = names.get(assignment.column).map_or_else(String::new, |name| quote::identifier(name));
            self.push(&name);
            let value = self.place(&assignment.value);
            self.push(" = ");
            self.expr(value, false);
        }
    }

    /// The part of a column that is assigned to, as in `a[1].b`; what it gets.
    fn place(&mut self, value: &'q Expr) -> &'q Expr {
        match &value.kind {
            ExprKind::Replace { arg, indices, value } => {
                self.place(arg);
                self.subscripts(indices);
                self.inner_place(value)
            }
            ExprKind::ReplaceField { arg, index, value, .. } => {
                let name = self.field_name(arg, *index);
                self.push(&format!(".{name}"));
                self.inner_place(value)
            }
            _ => value,
        }
    }

    fn inner_place(&mut self, value: &'q Expr) -> &'q Expr {
        match &value.kind {
            ExprKind::Replace { .. } | ExprKind::ReplaceField { .. } => self.place(value),
            _ => value,
        }
    }

    fn returning(&mut self, returning: Option<&'q Returning>) {
        let Some(returning) = returning else { return };
        let names: Vec<Arc<str>> = returning.columns.iter().map(|column| column.name.clone()).collect();
        self.line(" RETURNING", -STEP, STEP, 1);
        self.targets(&returning.values, &names);
    }

    fn update(&mut self, update: &'q Update) {
        let (from, condition) = parts(&update.input);
        let target = self.target(update.table, update.through.as_ref());
        let items = self.changed_items(from, &target, update.through.as_ref());
        self.named_target("UPDATE ", target.0, &items);
        self.push(" SET ");
        self.within(items.clone(), |text| {
            text.assignments(&update.assignments, &target.1);
            text.others(" FROM ", from, &items);
            text.condition(condition);
            text.returning(update.returning.as_ref());
        });
    }

    fn delete(&mut self, delete: &'q Delete) {
        let (from, condition) = parts(&delete.input);
        let target = self.target(delete.table, delete.through.as_ref());
        let items = self.changed_items(from, &target, delete.through.as_ref());
        self.named_target("DELETE FROM ", target.0, &items);
        self.within(items.clone(), |text| {
            text.others(" USING ", from, &items);
            text.condition(condition);
            text.returning(delete.returning.as_ref());
        });
    }

    /// The table that is changed, with its alias.
    fn named_target(&mut self, words: &str, table: Oid, items: &[Slot<'q>]) {
        let own = self.env.catalog().relation(table).map(|relation| relation.name.clone());
        let name = self.table_name(table);
        self.push(&format!("{words}{name}"));
        if let Some(Slot::Item { name, .. }) = items.first()
            && Some(name) != own.as_ref()
        {
            let alias = quote::identifier(name);
            self.push(&format!(" {alias}"));
        }
    }

    /// What stands beside the table that is changed.
    fn others(&mut self, word: &str, from: &'q Plan, items: &[Slot<'q>]) {
        let Plan::Join(join) = from else { return };
        self.line(word, -STEP, STEP, 2);
        self.listed(&join.right, items, 1);
    }

    fn condition(&mut self, condition: Option<&'q Expr>) {
        if let Some(condition) = condition {
            self.line(" WHERE ", -STEP, STEP, 1);
            self.expr(condition, false);
        }
    }

    fn merge(&mut self, merge: &'q Merge) {
        let Plan::Join(join) = &merge.input else { return self.unknown() };
        let items = self.item_slots(&merge.input);
        self.named_target("MERGE INTO ", merge.table, &items);
        self.line(" USING ", -STEP, STEP, 2);
        self.within(items.clone(), |text| _ = text.listed(&join.right, &items, 1));
        self.merge_condition(join, &items);
        for clause in &merge.clauses {
            self.within(items.clone(), |text| text.merge_clause(clause, merge.table));
        }
    }

    fn merge_condition(&mut self, join: &'q Join, items: &[Slot<'q>]) {
        let Some(on) = &join.on else { return };
        self.line(" ON ", -STEP, STEP, 2);
        self.within(items.to_vec(), |text| text.expr(on, false));
    }

    fn merge_clause(&mut self, clause: &'q MergeClause, table: Oid) {
        self.line(if clause.matched { " WHEN MATCHED" } else { " WHEN NOT MATCHED" }, -STEP, STEP, 2);
        if let Some(condition) = &clause.condition {
            self.line(" AND ", -STEP, STEP, 3);
            self.expr(condition, false);
        }
        self.line(" THEN ", -STEP, STEP, 3);
        match &clause.action {
            MergeAction::Nothing => self.push("DO NOTHING"),
            MergeAction::Delete => self.push("DELETE"),
            MergeAction::Update(assignments) => {
                self.push("UPDATE SET ");
                self.assignments(assignments, &self.column_names(table));
            }
            MergeAction::Insert(assignments) => {
                let names = self.column_names(table);
                let given: Vec<Arc<str>> =
                    assignments.iter().filter_map(|given| names.get(given.column).cloned()).collect();
                if given.is_empty() {
                    return self.push("INSERT DEFAULT VALUES");
                }
                self.push(&format!("INSERT ({})", identifiers(&given)));
                self.line(" VALUES (", -STEP, STEP, 4);
                for (at, assignment) in assignments.iter().enumerate() {
                    if at > 0 {
                        self.push(", ");
                    }
                    self.expr(&assignment.value, false);
                }
                self.push(")");
            }
        }
    }
}

/// FROM and WHERE of the rows that are changed.
fn parts(input: &Plan) -> (&Plan, Option<&Expr>) {
    match input {
        Plan::Filter { input, condition } => (input, Some(condition)),
        from => (from, None),
    }
}

/// Whether a plan is a query of its own rather than what a select list is over.
fn is_query(plan: &Plan) -> bool {
    match plan {
        Plan::SetOperation { .. } | Plan::With { .. } | Plan::Project { .. } | Plan::Distinct(_) => true,
        Plan::Sort { input, .. } => is_query(input),
        Plan::Limit(limit) => is_query(&limit.input),
        _ => false,
    }
}

/// Whether a column is one of the query below, converted at most.
fn is_passed_on(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Column(column) => column.up == 0 && column.slot == 0,
        ExprKind::Cast { arg, explicit: false } => is_passed_on(arg),
        _ => false,
    }
}
