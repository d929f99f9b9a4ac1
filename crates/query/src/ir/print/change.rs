//! Changes as text.

use super::{Printer, Slot};
use crate::ir::{Assignment, Change, Delete, Insert, Merge, MergeAction, Returning, Update};

impl Printer<'_> {
    pub(super) fn change(&mut self, change: &Change, indent: usize) {
        match change {
            Change::Insert(insert) => self.insert(insert, indent),
            Change::Update(update) => self.update(update, indent),
            Change::Delete(delete) => self.delete(delete, indent),
            Change::Merge(merge) => self.merge(merge, indent),
        }
    }

    fn insert(&mut self, insert: &Insert, indent: usize) {
        let target = self.relation_slot(insert.table);
        let columns: Vec<String> = insert.columns.iter().map(|column| plain(&target, *column)).collect();
        self.line(indent, format!("Insert {} ({})", target.name, columns.join(", ")));
        for (column, value) in &insert.defaults {
            let value = self.over(&[], value);
            self.line(indent + 1, format!("default {} := {value}", plain(&target, *column)));
        }
        if let Some(conflict) = &insert.on_conflict {
            let arbiters: Vec<String> = conflict.arbiters.iter().map(|index| self.relation_name(*index)).collect();
            let target_text = if arbiters.is_empty() { String::new() } else { format!(" ({})", arbiters.join(", ")) };
            match &conflict.update {
                None => self.line(indent + 1, format!("on conflict{target_text} do nothing")),
                Some((assignments, condition)) => {
                    let slots = [target.clone(), Slot { name: "excluded".to_owned(), ..target.clone() }];
                    let sets = self.assignments(&target, &slots, assignments);
                    let condition =
                        condition.as_ref().map(|condition| format!(" where {}", self.over(&slots, condition)));
                    let condition = condition.unwrap_or_default();
                    self.line(indent + 1, format!("on conflict{target_text} update {sets}{condition}"));
                }
            }
        }
        self.returning(&insert.returning, &[target], indent + 1);
        self.plan(&insert.source, indent + 1);
    }

    fn update(&mut self, update: &Update, indent: usize) {
        let target = self.relation_slot(update.table);
        let slots = self.slots(&update.input);
        let sets = self.assignments(&target, &slots, &update.assignments);
        self.line(indent, format!("Update {} {sets}", target.name));
        self.returning(&update.returning, &slots, indent + 1);
        self.plan(&update.input, indent + 1);
    }

    fn delete(&mut self, delete: &Delete, indent: usize) {
        let name = self.relation_name(delete.table);
        let slots = self.slots(&delete.input);
        self.line(indent, format!("Delete {name}"));
        self.returning(&delete.returning, &slots, indent + 1);
        self.plan(&delete.input, indent + 1);
    }

    fn merge(&mut self, merge: &Merge, indent: usize) {
        let target = self.relation_slot(merge.table);
        let slots = self.slots(&merge.input);
        self.line(indent, format!("Merge {}", target.name));
        for clause in &merge.clauses {
            let condition = clause.condition.as_ref().map(|condition| format!(" and {}", self.over(&slots, condition)));
            let action = match &clause.action {
                MergeAction::Nothing => "nothing".to_owned(),
                MergeAction::Delete => "delete".to_owned(),
                MergeAction::Update(sets) => format!("update {}", self.assignments(&target, &slots, sets)),
                MergeAction::Insert(sets) => format!("insert {}", self.assignments(&target, &slots, sets)),
            };
            let matched = if clause.matched { "matched" } else { "not matched" };
            self.line(indent + 1, format!("when {matched}{} then {action}", condition.unwrap_or_default()));
        }
        self.plan(&merge.input, indent + 1);
    }

    fn assignments(&mut self, target: &Slot, slots: &[Slot], assignments: &[Assignment]) -> String {
        let sets: Vec<String> = assignments
            .iter()
            .map(|set| format!("{} := {}", plain(target, set.column), self.over(slots, &set.value)))
            .collect();
        sets.join(", ")
    }

    fn returning(&mut self, returning: &Option<Returning>, slots: &[Slot], indent: usize) {
        if let Some(returning) = returning {
            let values = self.over_all(slots, &returning.values);
            self.line(indent, format!("returning {values}"));
        }
    }
}

/// The column's name alone.
fn plain(slot: &Slot, column: usize) -> String {
    Slot { name: String::new(), ..slot.clone() }.column(column)
}
