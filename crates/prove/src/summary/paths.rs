//! The ways through a body: statements are run on what is known of values, and where that does not decide, both ways are
//! taken.

use std::collections::BTreeSet;
use std::sync::Arc;

use skew_sql::catalog::Catalog;
use skew_sql::plpgsql::bound::{
    Block, Expression, Into, Loop, Opened, Over, Program as Body, Rows, Sql, Statement, StatementKind, Target,
};
use skew_sql::types::Typed;

use super::formula::{Formula, Known, Truth, asks_existence};
use super::query::Look;
use super::terms::{Ended, State};
use super::values::keeps_values;
use super::{AccessKind, Approximation, Cell, Facts, Outcome, TermId, TermKind};

/// So many ways through a program are told apart.
const MOST_PATHS: usize = 96;
/// So many characters of a statement are kept.
const MOST_TEXT: usize = 100;

/// Walks a body.
pub(super) struct Walk<'a> {
    pub(super) body: &'a Body,
    pub(super) facts: &'a Facts,
    pub(super) catalog: &'a Catalog,
    /// Whether what a transaction has found by a key it finds again.
    pub(super) stable: bool,
    pub(super) approximations: BTreeSet<Approximation>,
    /// Branches are taken together: there are too many ways, or this is a loop.
    pub(super) together: bool,
    /// Whether rows that are looked for by their key are there makes ways of its own.
    pub(super) looks_for_rows: bool,
    pub(super) overflowed: bool,
}

impl Walk<'_> {
    pub(super) fn block(&mut self, block: &Block, mut states: Vec<State>) -> Vec<State> {
        for declaration in &block.declarations {
            for state in &mut states {
                let value = match &declaration.default {
                    Some(default) => self.expression(default, declaration.line, state),
                    None => state.term(TermKind::Null),
                };
                let from = match &declaration.default {
                    Some(default) => default.bound().map(|bound| bound.expr.typed),
                    None => None,
                };
                let target = Target { place: declaration.place, steps: Vec::new() };
                self.assign_from(&target, value, from, state);
            }
        }
        match &block.handlers {
            None => self.statements(&block.body, states),
            Some(handlers) => {
                // What is done before the error is undone: both may or may not happen.
                let mut states = self.maybe(&block.body, states);
                for handler in &handlers.list {
                    states = self.maybe(&handler.body, states);
                }
                states
            }
        }
    }

    fn statements(&mut self, statements: &[Statement], mut states: Vec<State>) -> Vec<State> {
        for statement in statements {
            let (running, mut ended): (Vec<State>, Vec<State>) =
                states.into_iter().partition(|state| state.ended == Ended::No);
            states = self.statement(statement, running);
            states.append(&mut ended);
            if states.len() > MOST_PATHS {
                self.overflowed = true;
                states.truncate(MOST_PATHS);
            }
        }
        states
    }

    /// Statements that may be left out, or done in part.
    fn maybe(&mut self, statements: &[Statement], mut states: Vec<State>) -> Vec<State> {
        let together = std::mem::replace(&mut self.together, true);
        let mut done = Vec::new();
        for mut state in states.drain(..) {
            if state.ended != Ended::No {
                done.push(state);
                continue;
            }
            self.forget_assigned(statements, &mut state);
            let conditional = std::mem::replace(&mut state.conditional, true);
            for mut after in self.statements(statements, vec![state]) {
                after.conditional = conditional;
                let returned = std::mem::take(&mut after.ended) == Ended::Yes;
                self.forget_assigned(statements, &mut after);
                // Who returns in the middle leaves out what follows.
                if returned {
                    after.conditional = true;
                }
                done.push(after);
            }
        }
        self.together = together;
        done
    }

    /// Variables that are set in these statements may be anything.
    fn forget_assigned(&self, statements: &[Statement], state: &mut State) {
        let mut places = BTreeSet::new();
        assigned(statements, &mut places);
        places.insert(self.body.found);
        for place in places {
            let value = state.unknown();
            set(state, place, value);
        }
    }

    fn statement(&mut self, statement: &Statement, mut states: Vec<State>) -> Vec<State> {
        let line = statement.line;
        for state in &mut states {
            state.statements += 1;
        }
        match &statement.kind {
            StatementKind::Block(block) => self.block(block, states),
            StatementKind::Assign { target, value } => {
                for state in &mut states {
                    let term = self.expression(value, line, state);
                    let from = value.bound().map(|bound| bound.expr.typed);
                    self.assign_from(target, term, from, state);
                }
                states
            }
            StatementKind::If { branches, otherwise } => {
                let branches: Vec<(&Expression, &[Statement])> =
                    branches.iter().map(|(condition, body)| (condition, &body[..])).collect();
                self.branches(line, &branches, otherwise, states)
            }
            StatementKind::Case { operand, branches, otherwise } => {
                for state in &mut states {
                    operand.iter().for_each(|operand| _ = self.expression(&operand.value, line, state));
                    let conditions = branches.iter().flat_map(|(conditions, _)| conditions);
                    conditions.for_each(|condition| _ = self.expression(condition, line, state));
                }
                self.cases(branches, otherwise.as_deref(), states)
            }
            StatementKind::Loop(looped) => self.looped(line, looped, states),
            StatementKind::Jump { condition, .. } => {
                for state in &mut states {
                    condition.iter().for_each(|condition| _ = self.expression(condition, line, state));
                    // The rest of the iteration may be left out.
                    state.conditional = true;
                }
                states
            }
            StatementKind::Return(value) => {
                for state in &mut states {
                    value.iter().for_each(|value| _ = self.expression(value, line, state));
                    state.ended = Ended::Yes;
                }
                states
            }
            StatementKind::Raise(raise) if raise.level == skew_sql::plpgsql::ast::Severity::Exception => {
                // What ends in an error is seen by nobody; in a part that may be left out, it is.
                states.retain(|state| state.conditional);
                states
            }
            StatementKind::Assert { condition, .. } => {
                states.into_iter().flat_map(|state| self.hold(condition, line, state)).collect()
            }
            StatementKind::ReturnNext(value) => {
                for state in &mut states {
                    value.iter().for_each(|value| _ = self.expression(value, line, state));
                }
                states
            }
            StatementKind::Perform(sql) => {
                states.into_iter().flat_map(|state| self.sql(sql, None, line, state)).collect()
            }
            StatementKind::Sql { sql, into } => {
                states.into_iter().flat_map(|state| self.sql(sql, into.as_ref(), line, state)).collect()
            }
            StatementKind::ReturnQuery(rows) => {
                states.iter_mut().for_each(|state| _ = self.rows(rows, line, state));
                states
            }
            StatementKind::Open { of: Opened::Rows(rows), .. } => {
                states.iter_mut().for_each(|state| _ = self.rows(rows, line, state));
                states
            }
            StatementKind::Open { cursor, .. } => {
                let declared = self.body.variables[*cursor].cursor.clone();
                for state in &mut states {
                    if let Some(declared) = &declared {
                        self.whole(&declared.query, line, state);
                    }
                }
                states
            }
            StatementKind::Fetch { into, .. } => {
                for state in &mut states {
                    for target in into.iter().flatten() {
                        let value = state.unknown();
                        self.assign(target, value, state);
                    }
                    let found = state.unknown();
                    set(state, self.body.found, found);
                }
                states
            }
            StatementKind::Diagnostics { items, .. } => {
                for state in &mut states {
                    for (target, _) in items {
                        let value = state.unknown();
                        self.assign(target, value, state);
                    }
                }
                states
            }
            StatementKind::Execute { into, .. } => {
                for state in &mut states {
                    self.everything("EXECUTE of a command that is made while running".to_owned(), line, state);
                    for target in into.iter().flat_map(|into| &into.targets) {
                        let value = state.unknown();
                        self.assign(target, value, state);
                    }
                }
                states
            }
            StatementKind::Call { text, .. } | StatementKind::Utility { text, .. } => {
                for state in &mut states {
                    self.everything(format!("`{}`", shortened(text)), line, state);
                    let places: Vec<usize> = state.env.keys().copied().collect();
                    for place in places {
                        let value = state.unknown();
                        set(state, place, value);
                    }
                }
                states
            }
            StatementKind::Commit { .. } | StatementKind::Rollback { .. } => {
                let what = "COMMIT or ROLLBACK in the middle: the parts are taken as one transaction".to_owned();
                self.approximations.insert(Approximation { line, what });
                states.iter_mut().for_each(|state| state.conditional = true);
                states
            }
            StatementKind::Raise(_) | StatementKind::Null | StatementKind::Close(_) => states,
        }
    }

    fn branches(
        &mut self,
        line: u32,
        branches: &[(&Expression, &[Statement])],
        otherwise: &[Statement],
        states: Vec<State>,
    ) -> Vec<State> {
        let Some(((condition, body), rest)) = branches.split_first() else {
            return self.statements(otherwise, states);
        };
        let mut done = Vec::new();
        for state in states {
            if self.together {
                let mut state = state;
                self.expression(condition, line, &mut state);
                let states = self.maybe(body, vec![state]);
                done.extend(self.branches(line, rest, otherwise, states));
                continue;
            }
            for (truth, formula, mut state) in self.decide(condition, line, state) {
                if truth != Truth::True && truth != Truth::Open {
                    done.extend(self.branches(line, rest, otherwise, vec![state]));
                    continue;
                }
                if truth == Truth::Open {
                    let mut other = state.clone();
                    other.assume(&formula, Known::NOT_TRUE, self.facts);
                    other.decisions.push(format!("not ({})", condition.text.trim()));
                    done.extend(self.branches(line, rest, otherwise, vec![other]));
                    state.assume(&formula, Known::TRUE, self.facts);
                    state.decisions.push(condition.text.trim().to_owned());
                }
                done.extend(self.statements(body, vec![state]));
            }
        }
        done
    }

    fn cases(
        &mut self,
        branches: &[(Vec<Expression>, Vec<Statement>)],
        otherwise: Option<&[Statement]>,
        states: Vec<State>,
    ) -> Vec<State> {
        let bodies = branches.iter().map(|(_, body)| &body[..]).chain(otherwise);
        if self.together {
            let bodies: Vec<&[Statement]> = bodies.collect();
            return bodies.into_iter().fold(states, |states, body| self.maybe(body, states));
        }
        let bodies: Vec<&[Statement]> = bodies.collect();
        let mut done = Vec::new();
        for state in states {
            for (at, body) in bodies.iter().enumerate() {
                let mut state = state.clone();
                state.decisions.push(format!("branch {} of CASE", at + 1));
                done.extend(self.statements(body, vec![state]));
            }
        }
        done
    }

    /// ASSERT: whose condition is not true is not seen.
    fn hold(&mut self, condition: &Expression, line: u32, state: State) -> Vec<State> {
        if state.conditional {
            let mut state = state;
            self.expression(condition, line, &mut state);
            return vec![state];
        }
        let mut done = Vec::new();
        for (truth, formula, mut state) in self.decide(condition, line, state) {
            if matches!(truth, Truth::True | Truth::Open) {
                state.assume(&formula, Known::TRUE, self.facts);
                done.push(state);
            }
        }
        done
    }

    /// What a condition comes to, and what it is. Rows that it asks for by their key are there or not.
    fn decide(&mut self, condition: &Expression, line: u32, mut state: State) -> Vec<(Truth, Formula, State)> {
        let Some(bound) = condition.bound() else {
            self.everything(format!("`{}`", shortened(&condition.text)), line, &mut state);
            return vec![(Truth::Open, Formula::All(Vec::new()), state)];
        };
        if let Some((query, negated)) = asks_existence(&bound.expr) {
            let first = state.accesses.len();
            self.look(line, &condition.text, &mut state).query(query, None);
            return self
                .outcomes(first, state)
                .into_iter()
                .flat_map(|(outcome, state)| self.some_or_none(outcome, first, state))
                .map(|(outcome, mut state)| {
                    let truth = match (outcome, negated) {
                        (Outcome::Found, false) | (Outcome::Missing, true) => Truth::True,
                        (Outcome::Found, true) | (Outcome::Missing, false) => Truth::False,
                        (Outcome::Open, _) => Truth::Open,
                    };
                    let value = state.unknown();
                    (truth, Formula::Value(value), state)
                })
                .collect();
        }
        let formula = self.look(line, &condition.text, &mut state).formula(&bound.expr, &[], None);
        vec![(state.truth(&formula, self.facts), formula, state)]
    }

    /// Where it is open whether there are rows with certain values: there are, or there are none.
    fn some_or_none(&self, outcome: Outcome, first: usize, state: State) -> Vec<(Outcome, State)> {
        let looking = |at: &usize| state.accesses[*at].reads.contains(&Cell::Existence);
        let looking: Vec<usize> = (first..state.accesses.len()).filter(looking).collect();
        let is_plain = |asked: &super::Access| {
            let only_these = asked.row.iter().all(|(column, _)| asked.ranged.contains(column));
            only_these && asked.filtered.is_empty() && asked.extreme.is_none() && !asked.conditional && !asked.looped
        };
        match looking[..] {
            [access] if outcome == Outcome::Open && !self.together && is_plain(&state.accesses[access]) => {
                let mut none = state.clone();
                none.accesses[access].outcome = Outcome::Missing;
                let line = none.accesses[access].line;
                let table = self.facts.table(none.accesses[access].table);
                let name = table.map_or("row", |table| &table.name);
                none.decisions.push(format!("line {line}: none in {name}"));
                let mut some = state;
                some.decisions.push(format!("line {line}: some in {name}"));
                vec![(Outcome::Found, some), (Outcome::Missing, none)]
            }
            _ => vec![(outcome, state)],
        }
    }

    fn looped(&mut self, line: u32, looped: &Loop, mut states: Vec<State>) -> Vec<State> {
        let mut done = Vec::new();
        let together = std::mem::replace(&mut self.together, true);
        for mut state in states.drain(..) {
            // The first look of a loop over rows is made once.
            let filled = match &looped.over {
                Over::Rows { rows, .. } => self.rows(rows, line, &mut state),
                Over::Range { from, to, step, .. } => {
                    for bound in [from, to].into_iter().chain(step) {
                        self.expression(bound, line, &mut state);
                    }
                    Vec::new()
                }
                Over::Array { array, .. } => {
                    self.expression(array, line, &mut state);
                    Vec::new()
                }
                Over::Cursor { cursor, arguments, .. } => {
                    arguments.iter().for_each(|(_, value)| _ = self.expression(value, line, &mut state));
                    match &self.body.variables[*cursor].cursor {
                        Some(declared) => self.whole(&declared.query, line, &mut state),
                        None => Vec::new(),
                    }
                }
                Over::Forever | Over::While(_) => Vec::new(),
            };
            let before = (state.looped, state.conditional);
            state.looped = true;
            self.forget_assigned(&looped.body, &mut state);
            match &looped.over {
                Over::While(condition) => _ = self.expression(condition, line, &mut state),
                Over::Range { place, .. } => {
                    let value = state.unknown();
                    set(&mut state, *place, value);
                }
                Over::Array { targets, .. } => {
                    for target in targets {
                        let value = state.unknown();
                        self.assign(target, value, &mut state);
                    }
                }
                Over::Rows { targets, .. } => self.fill(targets, &filled, &mut state),
                Over::Cursor { place, .. } => self.fill_place(*place, &filled, &mut state),
                Over::Forever => {}
            }
            for mut after in self.statements(&looped.body, vec![state]) {
                let returned = std::mem::take(&mut after.ended) == Ended::Yes;
                (after.looped, after.conditional) = (before.0, before.1 || returned);
                self.forget_assigned(&looped.body, &mut after);
                done.push(after);
            }
        }
        self.together = together;
        done
    }

    /// A query or change as a statement of the path: rows that it looks for by their key are there or not.
    fn sql(&mut self, sql: &Sql, into: Option<&Into>, line: u32, mut state: State) -> Vec<State> {
        let first = state.accesses.len();
        let values = self.whole(sql, line, &mut state);
        let strict = into.is_some_and(|into| into.strict);
        let mut done = Vec::new();
        for (outcome, mut state) in self.outcomes(first, state) {
            if strict && outcome == Outcome::Missing && !state.conditional {
                continue;
            }
            if let Some(into) = into {
                match outcome {
                    Outcome::Missing => {
                        let null = state.term(TermKind::Null);
                        into.targets.iter().for_each(|target| self.assign(target, null, &mut state));
                    }
                    _ => self.fill(&into.targets, &values, &mut state),
                }
                if outcome == Outcome::Open && !always_a_row(sql) {
                    // Whether there was a row is not known, so neither is whether the values are.
                    for target in &into.targets {
                        let value = state.unknown();
                        self.assign(target, value, &mut state);
                    }
                }
            }
            let found = match outcome {
                Outcome::Found => state.truth_term(true),
                Outcome::Missing => state.truth_term(false),
                Outcome::Open if always_a_row(sql) => state.truth_term(true),
                Outcome::Open => state.unknown(),
            };
            set(&mut state, self.body.found, found);
            done.push(state);
        }
        done
    }

    /// The ways that a statement can go whose accesses begin here: if it looks for one row by its key, that is there or
    /// is not.
    fn outcomes(&mut self, first: usize, mut state: State) -> Vec<(Outcome, State)> {
        for access in first..state.accesses.len() {
            let asked = &state.accesses[access];
            let unique = self.facts.table(asked.table).map(|table| table.unique.clone()).unwrap_or_default();
            let single = unique.iter().any(|columns| columns.iter().all(|column| asked.value_of(*column).is_some()));
            state.accesses[access].single = single;
        }
        let asks = |access: &super::Access| access.reads.contains(&Cell::Existence);
        if let Some(inserted) = state.accesses[first..].iter().find(|access| access.kind == AccessKind::Insert) {
            let sure = !inserted.conditional && state.accesses.len() == first + 1;
            return vec![(if sure { Outcome::Found } else { Outcome::Open }, state)];
        }
        let looking: Vec<usize> = (first..state.accesses.len()).filter(|at| asks(&state.accesses[*at])).collect();
        let [access] = looking[..] else { return vec![(Outcome::Open, state)] };
        let asked = &state.accesses[access];
        let is_told = self.looks_for_rows && !self.together;
        if !asked.single || asked.conditional || asked.looped || !is_told || asked.extreme.is_some() {
            return vec![(Outcome::Open, state)];
        }
        // A key with NULL finds nothing.
        let finds_nothing = asked.row.iter().any(|(_, value)| state.is_null(*value));
        if finds_nothing {
            state.accesses[access].forget();
            return vec![(Outcome::Missing, state)];
        }
        let key = self.facts.table(asked.table).map(|table| table.key.clone()).unwrap_or_default();
        let plain = asked.filtered.is_empty() && asked.row.iter().all(|(column, _)| key.contains(column));
        let known = state.known_outcome(access, self.facts, self.stable);
        let name = self.facts.table(asked.table).map_or("row", |table| &table.name).to_owned();
        let mut ways = Vec::new();
        if known != Some(Outcome::Missing) {
            let mut found = state.clone();
            found.accesses[access].outcome = Outcome::Found;
            // Nothing is found by NULL.
            let by: Vec<TermId> = found.accesses[access].row.iter().map(|(_, value)| *value).collect();
            found.never_null.extend(by);
            for (asked, formula) in std::mem::take(&mut found.asked) {
                if asked == access {
                    found.assume(&formula, Known::TRUE, self.facts);
                }
            }
            if known.is_none() {
                found.decisions.push(format!("line {}: found in {name}", found.accesses[access].line));
            }
            ways.push((Outcome::Found, found));
        }
        if known != Some(Outcome::Found) || !plain {
            let mut missing = state;
            missing.accesses[access].outcome = if plain { Outcome::Missing } else { Outcome::Open };
            missing.accesses[access].writes.clear();
            missing.accesses[access].values.clear();
            if plain {
                missing.accesses[access].reads = [Cell::Existence].into();
            }
            if known.is_none() {
                missing.decisions.push(format!("line {}: not found in {name}", missing.accesses[access].line));
            }
            ways.push((Outcome::Missing, missing));
        }
        ways
    }

    /// A statement as a whole: what its row has.
    fn whole(&mut self, sql: &Sql, line: u32, state: &mut State) -> Vec<TermId> {
        match sql.bound() {
            Some(bound) => self.look(line, &sql.text, state).query(&bound.query, None),
            None => {
                self.everything(format!("`{}`", shortened(&sql.text)), line, state);
                Vec::new()
            }
        }
    }

    fn rows(&mut self, rows: &Rows, line: u32, state: &mut State) -> Vec<TermId> {
        match rows {
            Rows::Query(sql) => {
                // Each row has its own values.
                let first = state.accesses.len();
                let was = std::mem::replace(&mut state.looped, true);
                let values = self.whole(sql, line, state);
                state.looped = was;
                for access in first..state.accesses.len() {
                    state.accesses[access].looped = true;
                }
                values
            }
            Rows::Execute(_) => {
                self.everything("EXECUTE of a command that is made while running".to_owned(), line, state);
                Vec::new()
            }
        }
    }

    fn fill(&mut self, targets: &[Target], values: &[TermId], state: &mut State) {
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

    fn fill_place(&mut self, place: usize, values: &[TermId], state: &mut State) {
        let value = state.unknown();
        set(state, place, value);
        for (at, value) in values.iter().enumerate() {
            state.fields.insert((place, at), *value);
        }
    }

    fn assign(&mut self, target: &Target, value: TermId, state: &mut State) {
        self.assign_from(target, value, state.terms[value].typed, state);
    }

    /// A variable gets a value of a type, which is converted to that of the variable.
    fn assign_from(&mut self, target: &Target, value: TermId, from: Option<Typed>, state: &mut State) {
        let typed = self.body.variables[target.place].typed;
        let keeps = state.is_null(value) || from.is_some_and(|from| keeps_values(from, typed));
        let value = if target.steps.is_empty() && keeps { value } else { state.typed(TermKind::Unknown, typed) };
        set(state, target.place, value);
    }

    fn expression(&mut self, expression: &Expression, line: u32, state: &mut State) -> TermId {
        match expression.bound() {
            Some(bound) => self.look(line, &expression.text, state).value(&bound.expr, &[], None),
            None => {
                self.everything(format!("`{}`", shortened(&expression.text)), line, state);
                state.unknown()
            }
        }
    }

    fn everything(&mut self, what: String, line: u32, state: &mut State) {
        let text = what.clone();
        self.look(line, &text, state).everything(what);
    }

    fn look<'s>(&'s mut self, line: u32, text: &str, state: &'s mut State) -> Look<'s> {
        state.asked.clear();
        Look {
            state,
            facts: self.facts,
            catalog: self.catalog,
            line,
            statement: Arc::from(shortened(text)),
            parameters: &self.body.parameters,
            approximations: &mut self.approximations,
            ctes: Default::default(),
            changed: None,
        }
    }
}

/// A variable stands for another value.
fn set(state: &mut State, place: usize, value: TermId) {
    state.env.insert(place, value);
    state.fields.retain(|(record, _), _| *record != place);
}

/// Whether a query gives one row whatever there is.
fn always_a_row(sql: &Sql) -> bool {
    use skew_sql::ir::Plan;
    fn of(plan: &Plan) -> bool {
        match plan {
            Plan::One => true,
            Plan::Project { input, .. } => of(input),
            Plan::Aggregate(aggregate) => aggregate.keys.is_empty() && aggregate.sets.len() <= 1,
            _ => false,
        }
    }
    sql.bound().is_some_and(|bound| of(&bound.query.plan))
}

fn assigned(statements: &[Statement], places: &mut BTreeSet<usize>) {
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

fn shortened(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut line = words.join(" ");
    if line.chars().count() > MOST_TEXT {
        line = line.chars().take(MOST_TEXT).chain(['…']).collect();
    }
    line
}
