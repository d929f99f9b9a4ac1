//! Values for all parameters of a suspect's calls, the most promising ones first.
//!
//! Values that have to be the same are one. What each call does alone on the initial rows says which calls meet in the
//! cells that the suspect's dependencies are about, so that nothing has to be solved: rows that are found by what other
//! rows hold are found by trying.

use std::collections::{BTreeMap, BTreeSet};

use skew_model::Level;
use skew_sql::app::App;
use skew_sql::catalog::Catalog;
use skew_sql::error::Result;
use skew_sql::session::Database;
use skew_sql::types::Type;

use super::footprint::Footprints;
use super::rows::Rows;
use super::score::{score, unmet};
use super::values::{self, Candidate, Hint, Wanted};
use crate::summary::{Access, AccessKind, Outcome, Path, Summary, TermKind};
use crate::suspect::{Place, Suspect};

/// So many combinations of one call's arguments are tried alone.
const MOST_ALONE: usize = 24;
/// So many combinations of all arguments are compared.
const MOST_TOGETHER: usize = 3_000;
/// So many of them are run.
const MOST_CLIENTS: usize = 48;

/// The calls of a suspect with arguments, as SQL.
pub(super) type Calls = Vec<String>;

/// Clients that are worth running.
pub(super) struct Clients {
    /// The most promising ones first.
    pub(super) list: Vec<Calls>,
    /// What none of them does, in words.
    pub(super) unmet: Option<String>,
}

/// A suspect with what it is about.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    pub(super) summary: &'a Summary,
    pub(super) suspect: &'a Suspect,
}

impl<'a> Case<'a> {
    /// The way that a call takes.
    pub(super) fn path(&self, call: usize) -> &'a Path {
        let call = &self.suspect.calls[call];
        &self.summary.programs[call.program].paths[call.path]
    }

    /// The level that a call runs at.
    pub(super) fn level(&self, call: usize) -> Level {
        self.summary.programs[self.suspect.calls[call].program].level.unwrap_or(self.suspect.level)
    }

    /// The name of the table that an access is about.
    pub(super) fn table_name(&self, access: &Access) -> &'a str {
        self.summary.facts.table(access.table).map_or("", |table| &table.name)
    }
}

/// The clients that are worth running, the most promising ones first.
pub(super) fn clients(
    case: Case<'_>,
    rows: &Rows,
    database: &Database,
    app: &App,
    footprints: &mut Footprints,
) -> Result<Clients> {
    let catalog = database.catalog();
    let classes = Classes::of(case);
    let mut candidates = classes.candidates(rows, &catalog);
    shorten(&mut candidates, &classes.of_parameters);
    let mut chosen = vec![0; candidates.len()];
    let mut scored: Vec<(i64, Calls)> = Vec::new();
    loop {
        let calls = classes.calls(case, &candidates, &chosen, &catalog);
        for call in &calls {
            footprints.make(database, app, call)?;
        }
        let cost: u32 = chosen.iter().zip(&candidates).map(|(at, values)| values[*at].cost).sum();
        let score = 64 * (score(case, &calls, footprints) - classes.alike(&candidates, &chosen)) - i64::from(cost);
        scored.push((score, calls));
        if !advance(&mut chosen, &candidates) {
            break;
        }
    }
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let unmet = unmet(case, &scored, footprints);
    let mut seen = BTreeSet::new();
    scored.retain(|(_, calls)| seen.insert(calls.clone()));
    // Those that do something else come before those that do the same with other values.
    let mut kinds = BTreeSet::new();
    let kind = |calls: &Calls| calls.iter().map(|call| footprints.known(call).cloned()).collect::<Vec<_>>();
    let (mut first, later): (Vec<_>, Vec<_>) = scored.into_iter().partition(|(_, calls)| kinds.insert(kind(calls)));
    first.extend(later);
    Ok(Clients { list: first.into_iter().take(MOST_CLIENTS).map(|(_, calls)| calls).collect(), unmet })
}

/// The next combination; false: that was the last.
fn advance(chosen: &mut [usize], candidates: &[Vec<Candidate>]) -> bool {
    for (at, values) in chosen.iter_mut().zip(candidates) {
        *at += 1;
        if *at < values.len() {
            return true;
        }
        *at = 0;
    }
    false
}

/// Leaves out the least promising values until there are not too many combinations.
fn shorten(candidates: &mut [Vec<Candidate>], of_parameters: &[Vec<usize>]) {
    let product = |candidates: &[Vec<Candidate>], classes: &BTreeSet<usize>| {
        classes.iter().fold(1_usize, |product, class| product.saturating_mul(candidates[*class].len()))
    };
    let together: BTreeSet<usize> = (0..candidates.len()).collect();
    let alone = of_parameters.iter().map(|classes| classes.iter().copied().collect());
    let groups: Vec<(BTreeSet<usize>, usize)> =
        alone.map(|classes| (classes, MOST_ALONE)).chain([(together, MOST_TOGETHER)]).collect();
    for (classes, most) in groups {
        while product(candidates, &classes) > most {
            let several = classes.iter().copied().filter(|class| candidates[*class].len() > 1);
            let last = several.max_by_key(|class| candidates[*class].last().map(|candidate| candidate.cost));
            let Some(last) = last else { break };
            candidates[last].pop();
        }
    }
}

/// Values that have to be the same, as classes.
#[derive(Default)]
struct Classes {
    /// For each call and parameter, its class.
    of_parameters: Vec<Vec<usize>>,
    types: Vec<Type>,
    hints: Vec<BTreeSet<Hint>>,
    /// What the class has to be.
    constants: Vec<Option<Candidate>>,
    /// Where a way asks for NULL.
    nulls: BTreeSet<usize>,
    /// A class, and how much more than another class's value it is.
    shifts: Vec<(usize, usize, i64)>,
}

impl Classes {
    fn of(case: Case<'_>) -> Classes {
        let mut same = Same::default();
        // What is another value in each round of a loop is the same in one of them only.
        let is_one = |place: &Place| case.path(place.call).terms.get(place.term).is_none_or(|term| !term.looped);
        for (one, other) in case.suspect.equal.iter().filter(|(one, other)| is_one(one) && is_one(other)) {
            same.join(*one, *other);
        }
        let mut numbers: BTreeMap<Place, usize> = BTreeMap::new();
        let mut classes = Classes::default();
        for (call, taken) in case.suspect.calls.iter().enumerate() {
            let (program, path) = (&case.summary.programs[taken.program], case.path(call));
            let mut own = Vec::new();
            for (number, parameter) in program.parameters.iter().enumerate() {
                let is_parameter = |kind: &TermKind| *kind == TermKind::Parameter(number);
                let term = path.terms.iter().position(|term| is_parameter(&term.kind));
                // What is not used anywhere is like nothing else.
                let term = term.unwrap_or(path.terms.len() + number);
                let class = *numbers.entry(same.find(Place { call, term })).or_insert_with(|| {
                    classes.types.push(parameter.ty);
                    classes.types.len() - 1
                });
                own.push(class);
            }
            classes.of_parameters.push(own);
        }
        classes.hints = vec![BTreeSet::new(); classes.types.len()];
        classes.constants = vec![None; classes.types.len()];
        for call in 0..case.suspect.calls.len() {
            classes.learn(case, call, &mut same, &numbers);
        }
        classes
    }

    /// What a call's way says about the values in it.
    fn learn(&mut self, case: Case<'_>, call: usize, same: &mut Same, numbers: &BTreeMap<Place, usize>) {
        let path = case.path(call);
        let mut class_of = |term: usize| numbers.get(&same.find(Place { call, term })).copied();
        for (term, known) in path.terms.iter().enumerate() {
            let Some(class) = class_of(term) else { continue };
            match &known.kind {
                TermKind::Constant(text) => self.constants[class] = Some(Candidate::new(text.trim_matches('\''), 0)),
                TermKind::Null => self.constants[class] = Some(Candidate::null(true)),
                TermKind::Parameter(number) => {
                    let program = &case.summary.programs[case.suspect.calls[call].program];
                    let is_null = format!("{} IS NULL", program.parameters[*number].name);
                    if path.decisions.iter().any(|decision| decision.eq_ignore_ascii_case(&is_null)) {
                        self.nulls.insert(class);
                    }
                }
                TermKind::Read { access, column } => {
                    let table = path.accesses[*access].table;
                    self.hints[class].insert(Hint { table, column: *column, wanted: Wanted::There });
                }
                TermKind::Plus(base, by) => {
                    if let Some(base) = class_of(*base) {
                        self.shifts.push((class, base, *by));
                    }
                }
                _ => {}
            }
        }
        for access in &path.accesses {
            let Some(facts) = case.summary.facts.table(access.table) else { continue };
            for (column, term) in access.row.iter().chain(&access.values) {
                let Some(class) = class_of(*term) else { continue };
                let hints = &mut self.hints[class];
                let mut refers = false;
                if matches!(access.kind, AccessKind::Insert | AccessKind::Update) {
                    for (columns, parent, others) in &facts.references {
                        if let Some(at) = columns.iter().position(|own| own == column) {
                            hints.insert(Hint { table: *parent, column: others[at], wanted: Wanted::There });
                            refers = true;
                        }
                    }
                }
                let is_looked_for = access.kind != AccessKind::Insert && access.row.contains(&(*column, *term));
                let is_key = facts.unique.iter().any(|unique| unique.contains(column));
                let wanted = match access.outcome {
                    Outcome::Missing => Wanted::New,
                    _ if !is_looked_for => Wanted::New,
                    _ => Wanted::There,
                };
                if is_looked_for || (is_key && !refers && access.kind == AccessKind::Insert) {
                    hints.insert(Hint { table: access.table, column: *column, wanted });
                }
            }
        }
        // Who looks whether it may make a row makes one that is not there.
        for hints in &mut self.hints {
            let new: Vec<Hint> = hints.iter().filter(|hint| hint.wanted == Wanted::New).copied().collect();
            hints.retain(|hint| {
                hint.wanted == Wanted::New
                    || !new.iter().any(|other| (other.table, other.column) == (hint.table, hint.column))
            });
        }
    }

    fn candidates(&self, rows: &Rows, catalog: &Catalog) -> Vec<Vec<Candidate>> {
        let mut candidates: Vec<Vec<Candidate>> = Vec::new();
        for (class, ty) in self.types.iter().enumerate() {
            candidates.push(match &self.constants[class] {
                Some(constant) => vec![constant.clone()],
                None => {
                    let mut values = values::candidates(*ty, &self.hints[class], rows, catalog);
                    values.push(Candidate::null(self.nulls.contains(&class)));
                    values.sort_by_key(|candidate| candidate.cost);
                    values
                }
            });
        }
        for (class, base, by) in &self.shifts {
            let values =
                candidates[*class].iter().filter_map(|candidate| candidate.value.as_ref()?.parse::<i64>().ok());
            let shifted: Vec<i64> = values.filter_map(|value| value.checked_sub(*by)).take(2).collect();
            for value in shifted {
                let value = Candidate::new(value.to_string(), 1);
                if !candidates[*base].iter().any(|known| known.value == value.value) {
                    let second = 1.min(candidates[*base].len());
                    candidates[*base].insert(second, value);
                }
            }
        }
        candidates
    }

    fn calls(&self, case: Case<'_>, candidates: &[Vec<Candidate>], chosen: &[usize], catalog: &Catalog) -> Calls {
        let calls = case.suspect.calls.iter().zip(&self.of_parameters);
        let call = calls.map(|(call, classes)| {
            let program = &case.summary.programs[call.program];
            let values = classes.iter().zip(&program.parameters).map(|(class, parameter)| {
                values::literal(candidates[*class][chosen[*class]].value.as_deref(), parameter.ty, catalog)
            });
            format!("{}({})", program.call, values.collect::<Vec<_>>().join(", "))
        });
        call.collect()
    }

    /// How many pairs of values are the same without need.
    fn alike(&self, candidates: &[Vec<Candidate>], chosen: &[usize]) -> i64 {
        let value = |class: usize| &candidates[class][chosen[class]].value;
        let mut count = 0;
        for one in 0..chosen.len() {
            for other in 0..one {
                let is_about_one_column = self.hints[one].intersection(&self.hints[other]).next().is_some();
                count += i64::from(is_about_one_column && value(one) == value(other));
            }
        }
        2 * count
    }
}

/// Places that have the same value.
#[derive(Default)]
struct Same {
    up: BTreeMap<Place, Place>,
}

impl Same {
    fn find(&mut self, place: Place) -> Place {
        let mut at = place;
        while let Some(up) = self.up.get(&at) {
            at = *up;
        }
        at
    }

    fn join(&mut self, one: Place, other: Place) {
        let (one, other) = (self.find(one), self.find(other));
        if one != other {
            self.up.insert(one.max(other), one.min(other));
        }
    }
}
