//! What variables stand for.

use std::collections::BTreeSet;

use skew_sql::plpgsql::bound::{Over, Statement, StatementKind, Step, Target};
use skew_sql::types::Typed;

use super::paths::Walk;
use super::terms::State;
use super::values::keeps_values;
use super::{TermId, TermKind};

impl Walk<'_> {
    pub(super) fn fill(&mut self, targets: &[Target], values: &[TermId], state: &mut State) {
        if let [target] = targets
            && target.steps.is_empty()
            && self.body.variables[target.place].typed.ty == skew_sql::types::Type::RECORD
        {
            return self.fill_place(target.place, values, state);
        }
        for (at, target) in targets.iter().enumerate() {
            let value = match values.get(at) {
                Some(value) if values.len() == targets.len() => *value,
                _ => state.unknown(),
            };
            self.assign(target, value, state);
        }
    }

    pub(super) fn fill_place(&mut self, place: usize, values: &[TermId], state: &mut State) {
        let value = state.unknown();
        set(state, place, value);
        for (at, value) in values.iter().enumerate() {
            state.fields.insert((place, at), *value);
        }
    }

    pub(super) fn assign(&mut self, target: &Target, value: TermId, state: &mut State) {
        self.assign_from(target, value, state.terms[value].typed, state);
    }

    /// A variable gets a value of a type, which is converted to that of the variable.
    pub(super) fn assign_from(&mut self, target: &Target, value: TermId, from: Option<Typed>, state: &mut State) {
        for step in &target.steps {
            if let Step::Index(index) = step {
                self.expression(index, self.body.block.line, state);
            }
        }
        let typed = self.body.variables[target.place].typed;
        let keeps = state.is_null(value) || from.is_some_and(|from| keeps_values(from, typed));
        let value = if target.steps.is_empty() && keeps { value } else { state.typed(TermKind::Unknown, typed) };
        set(state, target.place, value);
    }
}

/// A variable stands for another value.
pub(super) fn set(state: &mut State, place: usize, value: TermId) {
    state.env.insert(place, value);
    state.fields.retain(|(record, _), _| *record != place);
}

pub(super) fn assigned(statements: &[Statement], places: &mut BTreeSet<usize>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Assign { target, .. } => _ = places.insert(target.place),
            StatementKind::Sql { into: Some(into), .. } | StatementKind::Execute { into: Some(into), .. } => {
                places.extend(into.targets.iter().map(|target| target.place));
            }
            StatementKind::Fetch { into: Some(targets), .. } => {
                places.extend(targets.iter().map(|target| target.place));
            }
            StatementKind::Diagnostics { items, .. } => {
                places.extend(items.iter().map(|(target, _)| target.place));
            }
            StatementKind::Call { outs, .. } => {
                places.extend(outs.iter().flatten().map(|target| target.place));
            }
            StatementKind::Block(block) => {
                places.extend(block.declarations.iter().map(|declaration| declaration.place));
                assigned(&block.body, places);
                for handler in block.handlers.iter().flat_map(|handlers| &handlers.list) {
                    assigned(&handler.body, places);
                }
            }
            StatementKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| assigned(body, places));
                assigned(otherwise, places);
            }
            StatementKind::Case { branches, otherwise, .. } => {
                branches.iter().for_each(|(_, body)| assigned(body, places));
                otherwise.iter().for_each(|body| assigned(body, places));
            }
            StatementKind::Loop(looped) => {
                match &looped.over {
                    Over::Range { place, .. } | Over::Cursor { place, .. } => _ = places.insert(*place),
                    Over::Rows { targets, .. } | Over::Array { targets, .. } => {
                        places.extend(targets.iter().map(|target| target.place));
                    }
                    Over::Forever | Over::While(_) => {}
                }
                assigned(&looped.body, places);
            }
            _ => {}
        }
    }
}
