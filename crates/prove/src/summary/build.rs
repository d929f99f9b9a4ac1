//! From an application to its summary.

use std::collections::BTreeSet;

use skew_model::Level;
use skew_sql::app::App;
use skew_sql::catalog::{Catalog, Dependency, Generation, IndexKeyKind, Oid, RelationKind, Returns, UserTypeKind};
use skew_sql::error::{Result, SqlError, SqlState};
use skew_sql::ir::{Expr, ExprKind};
use skew_sql::plpgsql::bound::Program as Body;
use skew_sql::session::{Connection, Database};
use skew_sql::types::{Type, kind};

use super::calls::Bodies;
use super::facts::{RowConditions, TableFacts};
use super::formula::{Formula, Known};
use super::paths::Walk;
use super::query::{Look, Slot};
use super::terms::State;
use super::{Access, AccessKind, Approximation, Facts, Outcome, Parameter, Path, Program, Summary, TermKind};

/// So many ways through all programs are told apart by whether rows are there.
const MOST_WAYS: usize = 600;
/// A program with so many ways keeps them all.
const FEW_WAYS: usize = 3;

/// Whether what a transaction has found it finds again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reading {
    /// It looks at one state from its beginning to its end.
    Once,
    /// Every statement may look at another state.
    EachStatement,
}

impl Reading {
    /// How transactions read at a level.
    pub fn at(level: Level) -> Reading {
        if level.looks_once() { Reading::Once } else { Reading::EachStatement }
    }
}

impl Summary {
    /// The summary of the application that a database holds. Programs that ask for a level read as that one does.
    pub fn of(database: &Database, app: &App, reading: Reading) -> Result<Summary> {
        let catalog = database.catalog();
        let mut connection = database.connect(skew_sql::session::Client::new("postgres", "robust"));
        let mut facts = Facts::of(&catalog);
        let tables: Vec<Oid> = facts.tables.keys().copied().collect();
        let functions = Bodies::of(&catalog, &facts, &mut connection);
        facts.endless = functions.endless(&catalog);
        facts.look_at_first_rows(&catalog, database);
        // First every function that a CHECK calls may do anything; then those that touch nothing are left out.
        for _ in 0..2 {
            for table in &tables {
                let checks = connection.checks(*table)?;
                let conditions = row_conditions(*table, &checks, &facts, &catalog);
                let types = facts.table(*table).map(|table| table.types.clone()).unwrap_or_default();
                let of_domains = types.iter().find_map(|typed| called_by_domain(typed.ty, &facts, &catalog));
                let checked_by = checks.iter().find_map(|check| called(check, &facts)).or(of_domains);
                let spans = connection.constraint_spans(*table)?;
                facts.tables.entry(*table).and_modify(|facts| {
                    (facts.checks, facts.checked_by, facts.spans) = (conditions, checked_by, spans);
                });
            }
            functions.footprints(&mut facts, &catalog);
        }
        let mut bodies = Vec::new();
        for program in &app.programs {
            if app.programs.iter().filter(|other| other.name == program.name).count() > 1 {
                let message = format!("there are several procedures {}: give each a name of its own", program.name);
                return Err(SqlError::new(SqlState::AMBIGUOUS_FUNCTION, message));
            }
            let body = connection.program_of(program.oid, None).map_err(|error| {
                let fields = error.fields();
                let message = format!("procedure {}: {}", program.name, fields.message);
                SqlError::with_code(fields.code.clone(), message)
            })?;
            let function = catalog.functions.get(&program.oid);
            let by_settings = function
                .filter(|function| !function.settings.is_empty())
                .map(|_| "a procedure with settings of its own, under which names may mean something else,".to_owned());
            let defaults = function.iter().flat_map(|function| &function.parameters);
            let by_defaults = defaults
                .filter_map(|parameter| parameter.default.as_ref())
                .find_map(|default| called_by(&default.uses, &facts, &catalog))
                .map(|name| format!("{name}, which the default of a parameter calls,"));
            let called = by_settings.or(by_defaults).or_else(|| called_by_schema(&facts, &catalog));
            bodies.push((program, body, called));
        }
        let all = |facts: &Facts| -> Vec<Program> {
            let each = |detail: &dyn Fn(usize) -> Detail| -> Vec<Program> {
                let each = bodies.iter().enumerate().map(|(at, (program, body, called))| {
                    // Serializable programs are protected from each other only.
                    let own = program.level.filter(|level| !level.is_serializable());
                    let reading = own.map_or(reading, Reading::at);
                    let asked = Asked {
                        body,
                        facts,
                        catalog: &catalog,
                        functions: &functions,
                        reading,
                        detail: detail(at),
                        called: called.as_ref(),
                    };
                    summarize(program, &asked)
                });
                each.collect()
            };
            let programs = each(&|_| Detail::Rows);
            if programs.iter().map(|program| program.paths.len()).sum::<usize>() <= MOST_WAYS {
                return programs;
            }
            let has_many = |at: usize| programs[at].paths.len() > FEW_WAYS;
            each(&|at| if has_many(at) { Detail::Branches } else { Detail::Rows })
        };
        // What all programs together never do rules out ways, which are left out the second time.
        for table in facts.tables.values_mut() {
            (table.inserted, table.deleted) = (true, true);
        }
        facts.learn(&all(&facts));
        let mut programs = all(&facts);
        facts.learn(&programs);
        let in_invariants = called_by_invariants(&app.invariants, &mut connection);
        drop(connection);
        facts.count(&programs, database);
        // Where rows come and go, another row may have the values of one that has gone, unless they are its key.
        for table in facts.tables.values_mut().filter(|table| table.inserted && table.deleted) {
            let key = table.key.clone();
            table.unique.retain(|columns| *columns == key);
        }
        let paths = programs.iter_mut().flat_map(|program| &mut program.paths);
        for access in paths.flat_map(|path| &mut path.accesses) {
            leave_open(access, &facts);
            // What changes may have changed between two statements.
            let table = facts.table(access.table);
            let stays = |column: usize| table.is_some_and(|table| table.is_constant(column));
            access.plain &= access.filtered.is_empty() && access.row.iter().all(|(column, _)| stays(*column));
        }
        facts.mark_lookups(&catalog, &mut programs);
        let uncalled = uncalled(&facts, &catalog, &functions, &in_invariants);
        Ok(Summary { programs, facts, uncalled })
    }
}

/// That there was no row with a value in a column says little if rows come to have it without being inserted.
fn leave_open(access: &mut Access, facts: &Facts) {
    let is_lasting = |table: &TableFacts| access.row.iter().all(|(column, _)| table.is_constant(*column));
    if access.outcome == Outcome::Missing && !facts.table(access.table).is_some_and(is_lasting) {
        access.outcome = Outcome::Open;
    }
}

/// What is told apart among the ways through a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Detail {
    /// Branches, and whether the rows are there that are looked for by their key.
    Rows,
    /// Only branches.
    Branches,
}

/// What a program is summarized with.
struct Asked<'a> {
    body: &'a Body,
    facts: &'a Facts,
    catalog: &'a Catalog,
    functions: &'a Bodies,
    reading: Reading,
    detail: Detail,
    /// What is called before and beside its statements.
    called: Option<&'a String>,
}

fn summarize(program: &skew_sql::app::Program, asked: &Asked<'_>) -> Program {
    let Asked { body, facts, catalog, functions, reading, detail, called } = *asked;
    let parameters = body.parameters.iter().map(|place| {
        let variable = &body.variables[*place];
        Parameter { name: variable.name.to_string(), ty: variable.typed.ty }
    });
    let mut walk = Walk::new(body, facts, catalog, functions);
    (walk.stable, walk.looks_for_rows) = (reading == Reading::Once, detail == Detail::Rows);
    if detail == Detail::Branches {
        let what = "many ways in many programs: whether rows are there is not told apart".to_owned();
        walk.approximations.insert(Approximation { line: body.block.line, what });
    }
    let mut begin = beginning(body);
    if let Some(called) = called {
        walk.everything(called.clone(), body.block.line, &mut begin);
    }
    let mut states = walk.block(&body.block, vec![begin.clone()]);
    if walk.overflowed {
        let what = "more ways than can be told apart: branches are taken together".to_owned();
        walk.approximations.insert(Approximation { line: body.block.line, what });
        (walk.together, walk.overflowed) = (true, false);
        states = walk.block(&body.block, vec![begin]);
    }
    if walk.overflowed {
        let mut anything = beginning(body);
        walk.everything(
            "a program with more statements than can be told apart".to_owned(),
            body.block.line,
            &mut anything,
        );
        states = vec![anything];
    }
    let mut paths: Vec<Path> = Vec::new();
    for mut state in states {
        walk.commit(&mut state);
        state.finish(facts);
        state.compact();
        let path = Path {
            decisions: state.decisions,
            conditions: state.conditions,
            terms: state.terms,
            never_null: state.never_null,
            always_null: state.always_null,
            accesses: state.accesses,
        };
        // Ways that differ in nothing that others can see are one, which is taken where one of them is.
        match paths.iter_mut().find(|known| known.does_the_same(&path)) {
            Some(known) => known.join(&path),
            None => paths.push(path),
        }
    }
    Program {
        name: program.name.clone(),
        call: program.call.clone(),
        parameters: parameters.collect(),
        level: program.level,
        paths,
        approximations: walk.approximations.into_iter().collect(),
        learns: walk.learns,
        commits: walk.commits,
    }
}

/// A function that an expression calls, and that may touch something.
fn called(expr: &Expr, facts: &Facts) -> Option<String> {
    if let ExprKind::UserCall { function, .. } = &expr.kind
        && !facts.footprints.touches_nothing(function.oid)
    {
        return Some(function.name.to_string());
    }
    let mut found = None;
    skew_sql::ir::children(expr, &mut |part| found = found.take().or_else(|| called(part, facts)));
    found
}

/// A function that the CHECK constraints of a domain call, and that may touch something.
fn called_by_domain(ty: Type, facts: &Facts, catalog: &Catalog) -> Option<String> {
    let ty = kind::element(ty, catalog).unwrap_or(ty);
    match &catalog.user_type(ty)?.kind {
        UserTypeKind::Domain { base, checks, .. } => {
            let found = checks.iter().find_map(|check| called_by(&check.condition.uses, facts, catalog));
            found.or_else(|| called_by_domain(base.ty, facts, catalog))
        }
        UserTypeKind::Composite(fields) => {
            fields.iter().find_map(|(_, typed)| called_by_domain(typed.ty, facts, catalog))
        }
        UserTypeKind::Enum(_) | UserTypeKind::Extension { .. } => None,
    }
}

/// A function that is among what an expression of the schema uses, and that may touch something: one that it calls, or one
/// that a domain calls to which it converts.
pub(super) fn called_by(uses: &[Dependency], facts: &Facts, catalog: &Catalog) -> Option<String> {
    uses.iter().find_map(|used| match *used {
        Dependency::Function(oid) if !facts.footprints.touches_nothing(oid) => {
            Some(catalog.functions.get(&oid).map_or_else(|| "a function".to_owned(), |known| known.name.to_string()))
        }
        Dependency::Type(oid) => called_by_domain(Type(oid), facts, catalog),
        _ => None,
    })
}

/// Functions that look at tables or change them, and that no other body calls; invariants aside.
fn uncalled(facts: &Facts, catalog: &Catalog, functions: &Bodies, invariants: &BTreeSet<Oid>) -> Vec<String> {
    let own = catalog.functions.values().filter(|function| {
        let is_own = !function.procedure && !matches!(function.returns, Returns::Trigger);
        let is_used = invariants.contains(&function.oid) || functions.is_called(function.oid);
        is_own && !facts.footprints.touches_nothing(function.oid) && !is_used
    });
    let mut names: Vec<String> = own.map(|function| function.name.to_string()).collect();
    names.sort();
    names
}

/// The functions that invariants call.
fn called_by_invariants(invariants: &[String], connection: &mut Connection) -> BTreeSet<Oid> {
    let uses = invariants.iter().flat_map(|invariant| {
        let query = connection.uses(invariant).or_else(|_| connection.uses(&format!("SELECT {invariant}")));
        query.unwrap_or_default()
    });
    uses.filter_map(|used| match used {
        Dependency::Function(oid) => Some(oid),
        _ => None,
    })
    .collect()
}

/// A function that domains, generated columns or indexes call: whenever a value is made, a row is written or looked for.
fn called_by_schema(facts: &Facts, catalog: &Catalog) -> Option<String> {
    let by_types = catalog.types.values().find_map(|user| called_by_domain(user.ty, facts, catalog));
    let by_tables = || {
        catalog.relations.values().find_map(|relation| match &relation.kind {
            RelationKind::Table(table) => {
                let generated = table.columns.iter().filter(|column| column.generation == Generation::Stored);
                generated
                    .filter_map(|column| column.default.as_ref())
                    .find_map(|made| called_by(&made.uses, facts, catalog))
            }
            RelationKind::Index(index) => {
                let keys = index.keys.iter().filter_map(|key| match &key.what {
                    IndexKeyKind::Expr(expr) => Some(expr),
                    IndexKeyKind::Column(_) => None,
                });
                keys.chain(&index.predicate).find_map(|made| called_by(&made.uses, facts, catalog))
            }
            _ => None,
        })
    };
    by_types.or_else(by_tables).map(|name| format!("{name}, which the schema calls,"))
}

/// What CHECK constraints say: they are true or NULL of every row.
fn row_conditions(table: Oid, checks: &[Expr], facts: &Facts, catalog: &Catalog) -> RowConditions {
    let mut state = State::default();
    let mut approximations = BTreeSet::new();
    let mut learns = None;
    let mut look = Look::new(&mut state, facts, catalog, &mut approximations, &mut learns);
    let row = look.access(table, AccessKind::Select);
    for (column, typed) in facts.table(table).iter().flat_map(|facts| facts.types.iter().enumerate()) {
        look.state.read(row, column, Some(*typed), true);
    }
    let formulas: Vec<Formula> = checks.iter().map(|check| look.formula(check, &[Slot::Row(row)], None)).collect();
    // Who stands for a row is there.
    state.accesses[row].outcome = Outcome::Found;
    for formula in &formulas {
        state.assume(formula, Known { is: true, or_null: true }, facts);
    }
    RowConditions { terms: state.terms, conditions: state.conditions }
}

fn beginning(body: &Body) -> State {
    let mut state = State::default();
    for (number, place) in body.parameters.iter().enumerate() {
        let term = state.typed(TermKind::Parameter(number), body.variables[*place].typed);
        state.env.insert(*place, term);
    }
    state
}
