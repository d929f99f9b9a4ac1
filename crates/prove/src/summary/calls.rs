//! Functions and procedures that a body calls: where the call is a statement, or a value that is surely asked for, their
//! statements are walked in the place of the call. Elsewhere, and where they call themselves, they are taken for any rows
//! of the tables that they touch ([`Footprint`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use skew_sql::catalog::{Catalog, Oid, RelationKind, Returns, Trigger, TriggerTime, UserFunction, Volatility};
use skew_sql::ir::{self, Expr, ExprKind, Plan};
use skew_sql::plpgsql::bound::{BoundCall, CallTarget, Expression, Program as Body, Sql, Target, written_back};
use skew_sql::session::Connection;
use skew_sql::types::{Typed, kind};

use super::assign::set;
use super::build::called_by;
use super::paths::{STATEMENT, Walk};
use super::query::Look;
use super::schema_calls::{Calls, schema_sets_sequences};
use super::terms::{Ended, State};
use super::values::{keeps_values, may_skip};
use super::{Access, AccessKind, Approximation, Cell, Facts, Lesson, TermId, TermKind};

/// The bodies of all functions, as far as they are understood; those of triggers by their table, too.
#[derive(Default)]
pub(super) struct Bodies {
    functions: BTreeMap<Oid, Arc<Body>>,
    triggers: BTreeMap<(Oid, Oid), Arc<Body>>,
    /// What bodies call, by the function: also of bodies that are not understood in full.
    calls: BTreeMap<Oid, Calls>,
}

/// What a function may do: the cells that it may read and write, of any rows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Footprint {
    /// By table.
    tables: BTreeMap<Oid, (BTreeSet<Cell>, BTreeSet<Cell>)>,
    /// How it learns what others do.
    learns: Option<Lesson>,
}

/// What functions and triggers may do. Who is not among them may do anything.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Footprints {
    functions: BTreeMap<Oid, Footprint>,
    /// By function and table.
    triggers: BTreeMap<(Oid, Oid), Footprint>,
}

/// Where a body is walked in the place of a call.
#[derive(Clone, Debug)]
pub(super) struct Site {
    /// The line of the call in the outermost body.
    pub(super) line: u32,
    /// Who is called, outermost first.
    functions: Vec<(Oid, Arc<str>)>,
}

impl Site {
    /// Who is called, as a reader would say it.
    pub(super) fn name(&self) -> String {
        self.functions.iter().map(|(_, name)| &**name).collect::<Vec<_>>().join(", ")
    }
}

impl Footprints {
    /// Whether a function touches no table for sure.
    pub(super) fn touches_nothing(&self, function: Oid) -> bool {
        self.functions.get(&function).is_some_and(|footprint| footprint.tables.is_empty())
    }
}

impl Bodies {
    pub(super) fn of(catalog: &Catalog, facts: &Facts, connection: &mut Connection) -> Bodies {
        let mut bodies = Bodies { calls: Calls::of_all(catalog, connection), ..Bodies::default() };
        for function in catalog.functions.values().filter(|function| is_understood(function)) {
            if let Ok(body) = connection.program_of(function.oid, None) {
                bodies.functions.insert(function.oid, body);
            }
        }
        for relation in catalog.relations.values() {
            let RelationKind::Table(table) = &relation.kind else { continue };
            for trigger in &table.triggers {
                let is_known = catalog.functions.get(&trigger.function).is_some_and(|known| known.settings.is_empty());
                // What WHEN calls is not looked into.
                let calls =
                    trigger.condition.as_ref().is_some_and(|when| called_by(&when.uses, facts, catalog).is_some());
                if let (true, false, Ok(body)) =
                    (is_known, calls, connection.program_of(trigger.function, Some(relation.oid)))
                {
                    bodies.triggers.insert((trigger.function, relation.oid), body);
                }
            }
        }
        bodies
    }

    /// Whether the body of another function calls this one.
    pub(super) fn is_called(&self, function: Oid) -> bool {
        self.calls.iter().any(|(by, calls)| *by != function && calls.functions.contains(&function))
    }

    /// The sequences that never begin again: neither by themselves, nor because something sets them.
    pub(super) fn endless(&self, catalog: &Catalog) -> BTreeSet<Oid> {
        let sets = self.calls.values().any(|calls| calls.may_set_sequences) || schema_sets_sequences(catalog);
        let sequences = catalog.relations.values().filter(|relation| match &relation.kind {
            RelationKind::Sequence(sequence) => !sequence.cycle && !sets,
            _ => false,
        });
        sequences.map(|relation| relation.oid).collect()
    }

    /// What each of them may do: the smallest footprints with which all of them hold.
    pub(super) fn footprints(&self, facts: &mut Facts, catalog: &Catalog) {
        let functions = self.functions.keys().map(|function| (*function, Footprint::default()));
        let triggers = self.triggers.keys().map(|at| (*at, Footprint::default()));
        facts.footprints = Footprints { functions: functions.collect(), triggers: triggers.collect() };
        loop {
            let functions = self.functions.iter().map(|(at, body)| (*at, footprint(body, facts, catalog)));
            let triggers = self.triggers.iter().map(|(at, body)| (*at, footprint(body, facts, catalog)));
            let made = Footprints { functions: functions.collect(), triggers: triggers.collect() };
            if made == facts.footprints {
                return;
            }
            facts.footprints = made;
        }
    }
}

/// Whether the statements of a body are those of the function: not of one with types that stand for others, and not with
/// settings under which names mean something else.
fn is_understood(function: &UserFunction) -> bool {
    let is_settled = |typed: Typed| !kind::is_polymorphic(typed.ty);
    let returns = match function.returns {
        Returns::One(typed) | Returns::Set(typed) => is_settled(typed),
        Returns::Nothing | Returns::Table => true,
        Returns::Trigger => false,
    };
    returns && function.settings.is_empty() && function.parameters.iter().all(|parameter| is_settled(parameter.typed))
}

/// What a body may do, with any arguments, in part or many times.
fn footprint(body: &Body, facts: &Facts, catalog: &Catalog) -> Footprint {
    let bodies = Bodies::default();
    let mut walk = Walk::new(body, facts, catalog, &bodies);
    walk.together = true;
    let begin = State { conditional: true, looped: true, ..State::default() };
    let states = walk.block(&body.block, vec![begin]);
    let mut footprint = Footprint { learns: walk.learns, ..Footprint::default() };
    if walk.overflowed {
        facts.tables.iter().for_each(|(oid, table)| footprint.add_all(*oid, table.columns.len()));
    }
    for access in states.iter().flat_map(|state| &state.accesses) {
        footprint.add(access);
        if access.writes.contains(&Cell::Existence) {
            footprint.add_all(access.table, facts.table(access.table).map_or(0, |table| table.columns.len()));
        }
    }
    footprint
}

impl Footprint {
    fn add(&mut self, access: &Access) {
        let (reads, writes) = self.tables.entry(access.table).or_default();
        reads.extend(&access.reads);
        // Rows that are looked at say something by not being among those that are asked for.
        reads.extend(access.row.iter().map(|(column, _)| Cell::Column(*column)));
        reads.extend(access.filtered.iter().map(|column| Cell::Column(*column)));
        writes.extend(&access.writes);
    }

    fn add_all(&mut self, table: Oid, columns: usize) {
        let cells = [Cell::Existence].into_iter().chain((0..columns).map(Cell::Column));
        let (reads, writes) = self.tables.entry(table).or_default();
        reads.extend(cells.clone());
        writes.extend(cells);
    }
}

impl Look<'_> {
    /// A call of a function that is not walked in its place.
    pub(super) fn called(&mut self, function: &UserFunction) {
        let what = format!("a call of {}", function.name);
        match self.facts.footprints.functions.get(&function.oid) {
            Some(footprint) => self.touch(&footprint.clone(), &what),
            None => self.everything(what),
        }
    }

    /// A trigger of a table: what its function may do. One before a change may make another row of it.
    pub(super) fn fire(&mut self, table: Oid, trigger: &Trigger) {
        let what = format!("the trigger {}", trigger.name);
        let Some(footprint) = self.facts.footprints.triggers.get(&(trigger.function, table)) else {
            return self.everything(what);
        };
        let mut footprint = footprint.clone();
        if trigger.when != TriggerTime::After {
            let columns = self.facts.table(table).map_or(0, |table| table.columns.len());
            footprint.add_all(table, columns);
        }
        self.touch(&footprint, &what);
    }

    /// Something that may read and write these cells of any rows.
    fn touch(&mut self, footprint: &Footprint, what: &str) {
        if let Some(Lesson { by, .. }) = footprint.learns {
            self.learns.get_or_insert(Lesson { line: self.line, by });
        }
        if footprint.tables.values().any(|(_, writes)| !writes.is_empty()) {
            self.may_meet_others();
        }
        if footprint.tables.is_empty() {
            return;
        }
        let names = footprint.tables.keys().filter_map(|table| self.facts.table(*table)).map(|table| &table.name[..]);
        let names = match footprint.tables.len() == self.facts.tables.len() && names.clone().count() > 1 {
            true => "every table".to_owned(),
            false => format!("any row of {}", names.collect::<Vec<_>>().join(", ")),
        };
        let verb = match footprint.tables.values().any(|(_, writes)| !writes.is_empty()) {
            true => "read and write",
            false => "read",
        };
        self.approximations.insert(Approximation { line: self.line, what: format!("{what} may {verb} {names}") });
        self.aside(|look| {
            for (table, (reads, writes)) in &footprint.tables {
                let kind = if writes.is_empty() { AccessKind::Select } else { AccessKind::Update };
                let access = look.access(*table, kind);
                let access = &mut look.state.accesses[access];
                (access.reads, access.writes) = (reads.clone(), writes.clone());
                // It may lock what it reads, and look at it again.
                (access.plain, access.again) = (false, true);
            }
        });
    }
}

impl Walk<'_> {
    /// The calls in a value that are surely made, and in this order, are walked: what they return is kept with the state.
    pub(super) fn answer(&mut self, expression: &Expression, line: u32, states: Vec<State>) -> Vec<State> {
        match expression.bound() {
            Some(bound) => self.answer_all(&[&bound.expr], line, states),
            None => states,
        }
    }

    /// The same of a statement that looks at no table itself.
    pub(super) fn answer_row(&mut self, sql: &Sql, line: u32, states: Vec<State>) -> Vec<State> {
        match sql.bound() {
            Some(bound) => match &bound.query.plan {
                Plan::Project { input, columns } if matches!(**input, Plan::One) => {
                    self.answer_all(&columns.iter().collect::<Vec<_>>(), line, states)
                }
                _ => states,
            },
            None => states,
        }
    }

    fn answer_all(&mut self, exprs: &[&Expr], line: u32, mut states: Vec<State>) -> Vec<State> {
        let mut calls = Vec::new();
        let all_are_made = exprs.iter().all(|expr| self.find_calls(expr, &mut calls));
        for call in calls {
            let ExprKind::UserCall { function, args } = &call.kind else { continue };
            let at = std::ptr::from_ref(call) as usize;
            if !all_are_made {
                states.iter_mut().for_each(|state| _ = state.answers.remove(&at));
                continue;
            }
            let mut done = Vec::new();
            for mut state in states {
                let mut look = self.look(line, &function.name, &mut state);
                let values: Vec<(TermId, Typed)> =
                    args.iter().map(|arg| (look.value(arg, &[], None), arg.typed)).collect();
                for mut after in self.enter(function, &values, line, state) {
                    let returned = after.returned.take().filter(|(_, typed)| keeps_values(*typed, call.typed));
                    let value = match returned {
                        Some((value, _)) => value,
                        None => after.typed(TermKind::Unknown, call.typed),
                    };
                    after.answers.insert(at, value);
                    done.push(after);
                }
            }
            states = done;
        }
        states
    }

    /// The calls in an expression, in the order in which they are made; whether each can be walked in its place, and nothing
    /// else in the expression looks at a table.
    fn find_calls<'e>(&self, expr: &'e Expr, calls: &mut Vec<&'e Expr>) -> bool {
        let is_certain = match &expr.kind {
            ExprKind::UserCall { function, .. } => self.can_enter(function) && !function.strict,
            ExprKind::Call { function, args } => !may_skip(function.strict, args),
            ExprKind::Cast { .. } | ExprKind::Not(_) => true,
            ExprKind::IsNull(_) | ExprKind::IsNotNull(_) | ExprKind::IsBool { .. } | ExprKind::IsDistinct { .. } => {
                true
            }
            _ => !expr.any(&mut |part| matches!(part.kind, ExprKind::UserCall { .. } | ExprKind::Subquery { .. })),
        };
        let mut all = is_certain;
        ir::children(expr, &mut |part| all = self.find_calls(part, calls) && all);
        if matches!(expr.kind, ExprKind::UserCall { .. }) {
            calls.push(expr);
        }
        all
    }

    /// Whether a body is walked already in which a call stands.
    fn is_within(&self, function: &UserFunction) -> bool {
        self.site.iter().flat_map(|site| &site.functions).any(|(known, _)| *known == function.oid)
    }

    fn tell_recursion(&mut self, function: &UserFunction, line: u32) {
        if self.is_within(function) {
            let line = self.site.as_ref().map_or(line, |site| site.line);
            let what = format!("{} calls itself, with values that are not told apart", function.name);
            self.approximations.insert(Approximation { line, what });
        }
    }

    fn can_enter(&self, function: &UserFunction) -> bool {
        // What is immutable may be worked out once for many calls.
        let is_made = function.volatility != Volatility::Immutable;
        let is_one = matches!(function.returns, Returns::One(_) | Returns::Nothing);
        is_made && is_one && self.bodies.functions.contains_key(&function.oid) && !self.is_within(function)
    }

    /// CALL
    pub(super) fn call(&mut self, call: &BoundCall, outs: &[CallTarget], line: u32, mut state: State) -> Vec<State> {
        let procedure = &call.procedure;
        let mut look = self.look(line, &procedure.name, &mut state);
        let args: Vec<(TermId, Typed)> = call.args.iter().map(|arg| (look.value(arg, &[], None), arg.typed)).collect();
        if !self.can_enter(procedure) {
            self.tell_recursion(procedure, line);
            self.look(line, &procedure.name, &mut state).called(procedure);
            for target in outs.iter().filter_map(|out| out.target.as_ref()) {
                let value = state.unknown();
                self.assign(target, value, &mut state);
            }
            return vec![state];
        }
        use skew_sql::catalog::ParameterMode as Mode;
        let parameters: Vec<Mode> = procedure.parameters.iter().map(|parameter| parameter.mode).collect();
        let inputs = parameters.iter().zip(&args).filter(|(mode, _)| **mode != Mode::Out).map(|(_, arg)| *arg);
        let inputs: Vec<(TermId, Typed)> = inputs.collect();
        let mut done = self.enter(procedure, &inputs, line, state);
        let parameters = procedure.parameters.iter().enumerate();
        let targets = parameters.filter(|(_, parameter)| matches!(parameter.mode, Mode::Out | Mode::InOut));
        let targets: Vec<Option<&Target>> =
            targets.map(|(at, parameter)| written_back(outs, at, parameter.name.as_deref())).collect();
        for state in &mut done {
            let values = std::mem::take(&mut state.outs);
            for (at, target) in targets.iter().enumerate() {
                let Some(target) = target else { continue };
                let value = match values.get(at) {
                    Some(value) => *value,
                    None => state.unknown(),
                };
                self.assign(target, value, state);
            }
        }
        done
    }

    /// The triggers that may have waited for the end of the transaction: those of all tables that it changes, also by calls.
    pub(super) fn commit(&mut self, state: &mut State) {
        let catalog = self.catalog;
        let mut fired = BTreeSet::new();
        loop {
            let changed: BTreeSet<Oid> =
                state.accesses.iter().filter(|access| !access.writes.is_empty()).map(|access| access.table).collect();
            let triggers = changed.into_iter().filter_map(|table| Some((table, catalog.table(table)?)));
            let triggers = triggers.flat_map(|(table, found)| found.triggers.iter().map(move |one| (table, one)));
            let mut waiting = triggers.filter(|(_, trigger)| trigger.timing.is_some() && !fired.contains(&trigger.oid));
            let Some((table, trigger)) = waiting.next() else { return };
            fired.insert(trigger.oid);
            state.statements += STATEMENT;
            self.look(self.body.block.line, "COMMIT", state).fire(table, trigger);
        }
    }

    /// Walks the body of a function in a frame of its own.
    fn enter(&mut self, function: &UserFunction, args: &[(TermId, Typed)], line: u32, mut state: State) -> Vec<State> {
        let body = self.bodies.functions.get(&function.oid).expect("can_enter has found it");
        let around = std::mem::replace(&mut self.body, body);
        let mut site = self.site.clone().unwrap_or(Site { line, functions: Vec::new() });
        site.functions.push((function.oid, function.name.clone()));
        let site = self.site.replace(site);
        let (env, fields) = (std::mem::take(&mut state.env), std::mem::take(&mut state.fields));
        for (place, (value, typed)) in body.parameters.iter().zip(args) {
            let target = Target { place: *place, steps: Vec::new() };
            self.assign_from(&target, *value, Some(*typed), &mut state);
        }
        let not_found = state.truth_term(false);
        set(&mut state, body.found, not_found);
        state.returned = None;
        // What follows in the body may be left out, what follows the call is not.
        let (conditional, leaves) = (state.conditional, std::mem::take(&mut state.leaves));
        let mut done = self.block(&body.block, vec![state]);
        for state in &mut done {
            // Who may have returned before has not set what is set in the end.
            let is_whole = !std::mem::replace(&mut state.leaves, leaves);
            state.conditional = conditional;
            let outs = body.outs.iter().map(|place| state.env.get(place).copied().filter(|_| is_whole));
            state.outs = outs.collect::<Option<_>>().unwrap_or_default();
            (state.env, state.fields) = (env.clone(), fields.clone());
            state.ended = Ended::No;
        }
        (self.body, self.site) = (around, site);
        done
    }
}
