//! The ways through a body: statements are run on what is known of values, and where that does not decide, both ways are
//! taken.

use std::collections::BTreeSet;
use std::sync::Arc;

use skew_sql::catalog::Catalog;
use skew_sql::error::SqlState;
use skew_sql::plpgsql::ast::Condition;
use skew_sql::plpgsql::bound::{
    Block, Expression, Loop, Opened, Over, Program as Body, Raise, Raised, Statement, StatementKind, Target,
};
use skew_sql::plpgsql::conditions;

use super::assign::{assigned, set};
use super::calls::{Bodies, Site};
use super::query::Look;
use super::statements::unbound;
use super::terms::{Caught, Ended, State};
use super::{Approximation, Facts, Learning, Lesson, TermId, TermKind};

/// So many ways through a program are told apart.
const MOST_PATHS: usize = 96;
/// So many accesses of one way are told apart.
const MOST_ACCESSES: usize = 300;
/// By so much the numbers of statements differ: what a statement calls has those between.
pub(super) const STATEMENT: usize = 2;
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
    /// There are too many ways, or accesses of one: the walk ends early, and is not used.
    pub(super) overflowed: bool,
    /// How it learns what others do, whatever its level lets it see.
    pub(super) learns: Option<Lesson>,
    /// The line of a COMMIT or ROLLBACK in the middle.
    pub(super) commits: Option<u32>,
    /// The bodies that can be walked where they are called.
    pub(super) bodies: &'a Bodies,
    /// The call in whose place a body is walked.
    pub(super) site: Option<Site>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(body: &'a Body, facts: &'a Facts, catalog: &'a Catalog, bodies: &'a Bodies) -> Walk<'a> {
        Walk {
            body,
            facts,
            catalog,
            stable: false,
            approximations: BTreeSet::new(),
            together: false,
            looks_for_rows: false,
            overflowed: false,
            learns: None,
            commits: None,
            bodies,
            site: None,
        }
    }
}

impl Walk<'_> {
    pub(super) fn block(&mut self, block: &Block, mut states: Vec<State>) -> Vec<State> {
        for declaration in &block.declarations {
            if let Some(default) = &declaration.default {
                states = self.answer(default, declaration.line, states);
            }
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
            // Who leaves it in the middle leaves out what follows in it.
            None if is_left(&block.body) => self.maybe(&block.body, states),
            None => self.statements(&block.body, states),
            Some(handlers) => {
                // What is done before the error is undone: both may or may not happen.
                let conditions = || handlers.list.iter().flat_map(|handler| &handler.conditions);
                let caught = Caught {
                    violations: conditions().any(|condition| catches(condition, &VIOLATIONS)),
                    conflicts: conditions().any(|condition| catches(condition, &CONFLICTS)),
                };
                let mut done = Vec::new();
                for mut state in states {
                    let around = (state.caught, state.undoable);
                    (state.caught, state.undoable) = (state.caught.and(caught), true);
                    for mut after in self.maybe(&block.body, vec![state]) {
                        (after.caught, after.undoable) = around;
                        done.push(after);
                    }
                }
                handlers.list.iter().fold(done, |states, handler| self.maybe(&handler.body, states))
            }
        }
    }

    pub(super) fn statements(&mut self, statements: &[Statement], mut states: Vec<State>) -> Vec<State> {
        for statement in statements {
            // What was found so far is not used.
            if self.overflowed {
                break;
            }
            let (running, mut ended): (Vec<State>, Vec<State>) =
                states.into_iter().partition(|state| state.ended == Ended::No);
            states = self.statement(statement, running);
            states.append(&mut ended);
            self.overflowed |= states.len() > MOST_PATHS;
            self.overflowed |= states.iter().any(|state| state.accesses.len() > MOST_ACCESSES);
        }
        states
    }

    /// Statements that may be left out, or done in part.
    pub(super) fn maybe(&mut self, statements: &[Statement], mut states: Vec<State>) -> Vec<State> {
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
                // Who returns in the middle leaves out what follows.
                after.leaves |= std::mem::take(&mut after.ended) == Ended::Yes;
                after.conditional = conditional || after.leaves;
                self.forget_assigned(statements, &mut after);
                done.push(after);
            }
        }
        self.together = together;
        done
    }

    /// Variables that are set in these statements may be anything.
    pub(super) fn forget_assigned(&self, statements: &[Statement], state: &mut State) {
        let mut places = BTreeSet::new();
        assigned(statements, &mut places);
        places.insert(self.body.found);
        for place in places {
            let value = state.unknown();
            set(state, place, value);
        }
    }

    pub(super) fn statement(&mut self, statement: &Statement, mut states: Vec<State>) -> Vec<State> {
        let line = statement.line;
        for state in &mut states {
            state.statements += STATEMENT;
        }
        match &statement.kind {
            StatementKind::Block(block) => self.block(block, states),
            StatementKind::Assign { target, value } => {
                let mut states = self.answer(value, line, states);
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
                self.branches(line, &branches, Some(otherwise), states)
            }
            StatementKind::Case { operand: Some(operand), branches, otherwise } => {
                self.cases(line, &operand.value, branches, otherwise.as_deref(), states)
            }
            StatementKind::Case { operand: None, branches, otherwise } => {
                let branches: Vec<(&Expression, &[Statement])> =
                    branches.iter().flat_map(|(all, body)| all.iter().map(move |one| (one, &body[..]))).collect();
                self.branches(line, &branches, otherwise.as_deref(), states)
            }
            StatementKind::Loop(looped) => self.looped(line, looped, states),
            StatementKind::Jump { condition, label, .. } => {
                for state in &mut states {
                    state.leaves |= label.is_some();
                    condition.iter().for_each(|condition| _ = self.expression(condition, line, state));
                    // The rest of the iteration may be left out.
                    state.conditional = true;
                }
                states
            }
            StatementKind::Return(value) => {
                if let Some(value) = value {
                    states = self.answer(value, line, states);
                }
                for state in &mut states {
                    state.returned = None;
                    if let Some(value) = value {
                        let term = self.expression(value, line, state);
                        let typed = value.bound().map(|bound| bound.expr.typed);
                        // Where this may be left out, something else is returned then.
                        let is_sure = !state.conditional && !state.looped && !self.together;
                        state.returned = typed.filter(|_| is_sure).map(|typed| (term, typed));
                    }
                    state.ended = Ended::Yes;
                }
                states
            }
            StatementKind::Raise(raise) if raise.level == skew_sql::plpgsql::ast::Severity::Exception => {
                states.iter_mut().for_each(|state| self.raised(raise, line, state));
                // What ends in an error is seen by nobody; in a part that may be left out, also by a loop, it is.
                states.retain(|state| state.conditional || state.looped);
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
                let states = self.answer_row(sql, line, states);
                states.into_iter().flat_map(|state| self.sql(sql, None, line, state)).collect()
            }
            StatementKind::Sql { sql, into } => {
                let states = self.answer_row(sql, line, states);
                states.into_iter().flat_map(|state| self.sql(sql, into.as_ref(), line, state)).collect()
            }
            StatementKind::ReturnQuery(rows) => {
                states.iter_mut().for_each(|state| _ = self.rows(rows, line, state));
                states
            }
            StatementKind::Open { of: Opened::Rows(rows), .. } => {
                for state in &mut states {
                    let first = state.accesses.len();
                    self.rows(rows, line, state);
                    state.opened.push((first, state.accesses.len()));
                }
                states
            }
            StatementKind::Open { cursor, of: Opened::Bound(arguments), .. } => {
                let declared = self.body.variables[*cursor].cursor.clone();
                for state in &mut states {
                    arguments.iter().for_each(|(_, value)| _ = self.expression(value, line, state));
                    if let Some(declared) = &declared {
                        let first = state.accesses.len();
                        // Only who fetches locks.
                        let was = std::mem::replace(&mut state.conditional, true);
                        self.whole(&declared.query, line, state);
                        state.conditional = was;
                        state.opened.push((first, state.accesses.len()));
                    }
                }
                states
            }
            StatementKind::Fetch { count, into, .. } => {
                for state in &mut states {
                    count.iter().for_each(|count| _ = self.expression(count, line, state));
                    state.fetch();
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
            StatementKind::Call { outs, known, .. } if known.get().is_some() => {
                let call = known.get().expect("the guard has seen it");
                states.into_iter().flat_map(|state| self.call(&call, outs, line, state)).collect()
            }
            StatementKind::Call { text, .. } | StatementKind::Utility { text, .. } => {
                // Who looks at a table that was made anew finds it so, whatever its snapshot is of.
                let first = text.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
                let by = match &first[..] {
                    "TRUNCATE" | "REFRESH" | "ALTER" | "DROP" | "CREATE" => Some(Learning::MadeAnew),
                    "SET" | "RESET" | "DISCARD" if changes_meanings(text) => Some(Learning::Settings),
                    _ => None,
                };
                if let Some(by) = by {
                    let line = self.site.as_ref().map_or(line, |site| site.line);
                    self.learns.get_or_insert(Lesson { line, by });
                }
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
                let line = self.site.as_ref().map_or(line, |site| site.line);
                self.approximations.insert(Approximation { line, what });
                self.commits.get_or_insert(line);
                states.iter_mut().for_each(|state| state.conditional = true);
                states
            }
            StatementKind::Raise(raise) => {
                states.iter_mut().for_each(|state| self.raised(raise, line, state));
                states
            }
            StatementKind::Null | StatementKind::Close(_) => states,
        }
    }

    /// What RAISE says is looked at.
    fn raised(&mut self, raise: &Raise, line: u32, state: &mut State) {
        if let Some(Raised::Message(_, arguments)) = &raise.what {
            arguments.iter().for_each(|argument| _ = self.expression(argument, line, state));
        }
        raise.options.iter().for_each(|(_, value)| _ = self.expression(value, line, state));
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
                after.leaves |= std::mem::take(&mut after.ended) == Ended::Yes;
                (after.looped, after.conditional) = (before.0, before.1 || after.leaves);
                self.forget_assigned(&looped.body, &mut after);
                done.push(after);
            }
        }
        self.together = together;
        done
    }

    /// A value that is worked out by itself: it looks at a state of its own.
    pub(super) fn expression(&mut self, expression: &Expression, line: u32, state: &mut State) -> TermId {
        state.statements += STATEMENT;
        match expression.bound() {
            Some(bound) => self.look(line, &expression.text, state).value(&bound.expr, &[], None),
            None => {
                self.everything(unbound(&expression.text, expression.refused()), line, state);
                state.unknown()
            }
        }
    }

    pub(super) fn everything(&mut self, what: String, line: u32, state: &mut State) {
        let text = what.clone();
        self.look(line, &text, state).everything(what);
    }

    pub(super) fn look<'s>(&'s mut self, line: u32, text: &str, state: &'s mut State) -> Look<'s> {
        state.asked.clear();
        let (line, text) = match &self.site {
            None => (line, shortened(text)),
            Some(site) => (site.line, format!("{}: {}", site.name(), shortened(text))),
        };
        let begun = state.terms.len();
        Look {
            state,
            facts: self.facts,
            catalog: self.catalog,
            line,
            statement: Arc::from(text),
            parameters: &self.body.parameters,
            approximations: &mut self.approximations,
            learns: &mut self.learns,
            ctes: Default::default(),
            changed: None,
            scanned: None,
            begun,
            stable: self.stable,
        }
    }
}

/// Whether a command sets something that statements or constraints mean something else with.
fn changes_meanings(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["search_path", "schema", "session_replication_role", "plpgsql."].iter().any(|one| text.contains(one))
        || text.split_whitespace().nth(1) == Some("all")
}

/// Errors that say that a row is there already, or is not there.
const VIOLATIONS: [SqlState; 2] = [SqlState::UNIQUE_VIOLATION, SqlState::FOREIGN_KEY_VIOLATION];
/// Errors that say that others are at work.
const CONFLICTS: [SqlState; 3] =
    [SqlState::SERIALIZATION_FAILURE, SqlState::DEADLOCK_DETECTED, SqlState::LOCK_NOT_AVAILABLE];

/// Whether one of these errors is caught.
fn catches(condition: &Condition, errors: &[SqlState]) -> bool {
    let is_one = |caught: &str| errors.iter().any(|error| conditions::matches(caught, error.0));
    match condition {
        Condition::Named(name) => conditions::states(name).any(is_one),
        Condition::State(state) => is_one(state),
        Condition::Others => true,
    }
}

/// Whether there is an EXIT or CONTINUE by a label, other than those of blocks and loops around it here.
fn is_left(statements: &[Statement]) -> bool {
    fn leads_out<'s>(statements: &'s [Statement], around: &mut Vec<&'s str>) -> bool {
        statements.iter().any(|statement| match &statement.kind {
            StatementKind::Jump { label, .. } => label.as_deref().is_some_and(|label| !around.contains(&label)),
            StatementKind::Block(block) => {
                around.extend(block.label.as_deref());
                let mut handlers = block.handlers.iter().flat_map(|handlers| &handlers.list);
                let leads = leads_out(&block.body, around) || handlers.any(|handler| leads_out(&handler.body, around));
                around.truncate(around.len() - usize::from(block.label.is_some()));
                leads
            }
            StatementKind::If { branches, otherwise } => {
                branches.iter().any(|(_, body)| leads_out(body, around)) || leads_out(otherwise, around)
            }
            StatementKind::Case { branches, otherwise, .. } => {
                branches.iter().any(|(_, body)| leads_out(body, around))
                    || otherwise.as_ref().is_some_and(|body| leads_out(body, around))
            }
            StatementKind::Loop(looped) => {
                around.extend(looped.label.as_deref());
                let leads = leads_out(&looped.body, around);
                around.truncate(around.len() - usize::from(looped.label.is_some()));
                leads
            }
            _ => false,
        })
    }
    leads_out(statements, &mut Vec::new())
}

pub(super) fn shortened(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut line = words.join(" ");
    if line.chars().count() > MOST_TEXT {
        line = line.chars().take(MOST_TEXT).chain(['…']).collect();
    }
    line
}
