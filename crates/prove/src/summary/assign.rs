//! What variables stand for.

use std::collections::BTreeSet;

use skew_sql::plpgsql::bound::{BoundSql, Over, Program as Body, Rows, Sql, Statement, StatementKind, Step, Target};
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
        if has_one_shape(self.body, place) {
            state.fields.extend(values.iter().enumerate().map(|(at, value)| ((place, at), *value)));
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

/// The variables that are set in statements.
pub(super) fn assigned(statements: &[Statement], places: &mut BTreeSet<usize>) {
    each(statements, &mut |statement| match &statement.kind {
        StatementKind::Assign { target, .. } => _ = places.insert(target.place),
        StatementKind::Sql { into: Some(into), .. } | StatementKind::Execute { into: Some(into), .. } => {
            places.extend(into.targets.iter().map(|target| target.place));
        }
        StatementKind::Fetch { into: Some(targets), .. } => places.extend(targets.iter().map(|target| target.place)),
        StatementKind::Diagnostics { items, .. } => places.extend(items.iter().map(|(target, _)| target.place)),
        StatementKind::Call { outs, .. } => {
            places.extend(outs.iter().filter_map(|out| out.target.as_ref()).map(|target| target.place));
        }
        StatementKind::Block(block) => {
            places.extend(block.declarations.iter().map(|declaration| declaration.place));
        }
        StatementKind::Loop(looped) => match &looped.over {
            Over::Range { place, .. } | Over::Cursor { place, .. } => _ = places.insert(*place),
            Over::Rows { targets, .. } | Over::Array { targets, .. } => {
                places.extend(targets.iter().map(|target| target.place));
            }
            Over::Forever | Over::While(_) => {}
        },
        _ => {}
    });
}

/// Whether a record gets its fields from one kind of row only, so that a field is where its name is bound to.
fn has_one_shape(body: &Body, place: usize) -> bool {
    let mut shapes: BTreeSet<Option<Vec<(String, u32)>>> = BTreeSet::new();
    let shape_of = |sql: &Sql| {
        let columns = |bound: &BoundSql| -> Vec<(String, u32)> {
            bound.query.columns.iter().map(|column| (column.name.to_string(), column.typed.ty.0)).collect()
        };
        sql.bound().map(|bound| columns(&bound))
    };
    let is_filled = |targets: &[Target]| targets.iter().any(|target| target.place == place);
    each(&body.block.body, &mut |statement| match &statement.kind {
        StatementKind::Sql { sql, into: Some(into) } if is_filled(&into.targets) => _ = shapes.insert(shape_of(sql)),
        StatementKind::Execute { into: Some(into), .. } if is_filled(&into.targets) => _ = shapes.insert(None),
        StatementKind::Fetch { into: Some(targets), .. } if is_filled(targets) => _ = shapes.insert(None),
        StatementKind::Assign { target, .. } if target.place == place => _ = shapes.insert(None),
        StatementKind::Loop(looped) => match &looped.over {
            Over::Rows { targets, rows } if is_filled(targets) => {
                shapes.insert(match rows {
                    Rows::Query(sql) => shape_of(sql),
                    Rows::Execute(_) => None,
                });
            }
            Over::Cursor { place: filled, cursor, .. } if *filled == place => {
                let declared = body.variables[*cursor].cursor.as_ref();
                shapes.insert(declared.and_then(|declared| shape_of(&declared.query)));
            }
            _ => {}
        },
        _ => {}
    });
    shapes.len() == 1
}

/// Shows statements and those in them.
fn each(statements: &[Statement], visit: &mut dyn FnMut(&Statement)) {
    for statement in statements {
        visit(statement);
        match &statement.kind {
            StatementKind::Block(block) => {
                each(&block.body, visit);
                block.handlers.iter().flat_map(|handlers| &handlers.list).for_each(|one| each(&one.body, visit));
            }
            StatementKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| each(body, visit));
                each(otherwise, visit);
            }
            StatementKind::Case { branches, otherwise, .. } => {
                branches.iter().for_each(|(_, body)| each(body, visit));
                otherwise.iter().for_each(|body| each(body, visit));
            }
            StatementKind::Loop(looped) => each(&looped.body, visit),
            _ => {}
        }
    }
}
