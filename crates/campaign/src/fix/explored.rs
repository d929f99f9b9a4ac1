//! A candidate explored: the recorded transactions of the cause, with the change, in every interleaving of their statements and
//! commits. It passes if the transactions that commit are serializable in each, and breaks without the change.

use std::cell::OnceCell;
use std::time::Duration;

use skew_check::{Assumptions, Checker, Options as CheckOptions};
use skew_model::{History, Level, OpId, Outcome, Scope, Status};
use skew_server::Settings;
use skew_sql::app::App;
use skew_sql::error::SqlError;
use skew_sql::explore::{Client, Explored, Limits, explore_interleaved};
use skew_sql::parse;
use skew_sql::parse::ast::{SelectInto, SetExpr, Statement as Tree};
use skew_sql::parse::shape::with_parameters;
use skew_sql::session::transaction::Isolation;
use skew_sql::session::{ChoiceKind, Client as Connected, Connection, Database, Options};
use skew_store::Recency;

use super::scene::{Program, Scene, Step, StepPlace};
use super::{Otherwise, StepChange, Variant};
use crate::cells::family;
use crate::trace::Trace;
use crate::trees;

/// What one exploration may take.
const LIMITS: Limits = Limits { runs: 5_000, time: Duration::from_secs(10) };

/// Explores the transactions of a scene.
pub(super) struct Explorer<'a> {
    scene: &'a Scene<'a>,
    settings: &'a Settings,
    /// Whether the transactions break as they were recorded; without that nothing follows from a change.
    breaks: OnceCell<Result<(u64, usize), String>>,
}

impl<'a> Explorer<'a> {
    pub(super) fn new(scene: &'a Scene<'a>, settings: &'a Settings) -> Explorer<'a> {
        Explorer { scene, settings, breaks: OnceCell::new() }
    }

    /// How many interleavings there are, if none of them breaks; else why that cannot be said.
    pub(super) fn explore(&self, variant: &Variant) -> Result<u64, String> {
        match self.breaks.get_or_init(|| self.judged(&Variant::default())) {
            Ok((_, 0)) => return Err("the recorded transactions alone do not show the failure".to_owned()),
            Ok(_) => {}
            Err(words) => return Err(words.clone()),
        }
        match self.judged(variant)? {
            (runs, 0) => Ok(runs),
            (runs, broken) => Err(format!("{broken} of {runs} interleavings break")),
        }
    }

    /// How many interleavings there are, and how many of them break.
    fn judged(&self, variant: &Variant) -> Result<(u64, usize), String> {
        let explored = self.explored(variant).map_err(|words| format!("it cannot be explored: {words}"))?;
        if let Some(limit) = explored.limit {
            return Err(format!("not every interleaving was explored within {limit}"));
        }
        // Transactions that the database never lets through are no fix.
        let is_through = explored.all.iter().all(|history| {
            history.txn_ids().any(|id| history.txn(id).status == Status::Committed && !history.ops(id).is_empty())
        });
        if !is_through {
            return Err("there are interleavings in which no transaction commits".to_owned());
        }
        let broken = explored.all.iter().filter(|history| !self.is_serializable(history)).count();
        Ok((explored.runs, broken))
    }

    fn is_serializable(&self, history: &History) -> bool {
        let is_cleared = |at: OpId| self.scene.cleared.contains(&family(&history.key_name(history.op(at).key())));
        let history = history.select_ops(|at| !is_cleared(at));
        let assumptions = Assumptions { sessions: true, real_time: false };
        let checker = Checker::new(&history, CheckOptions { assumptions, ..CheckOptions::default() });
        matches!(checker.check(Scope::Level(Level::Ser)).outcome, Outcome::Holds(_))
    }

    fn explored(&self, variant: &Variant) -> Result<Explored, String> {
        let isolation = self.isolation(variant).ok_or("the level has no name in SQL")?;
        let options = Options { recency: Recency::Commit, choice: ChoiceKind::Postgres, ..Options::default() };
        let database = Database::new(options);
        self.set_up(&database, variant).map_err(|error| error.fields().message.clone())?;
        let app = App::of(&database.catalog()).map_err(|error| error.fields().message.clone())?;
        let calls = (0..self.scene.programs.len()).map(|at| (format!("s{at}"), vec![format!("{}()", name_of(at))]));
        let client = Client { sessions: calls.collect() };
        let explored = explore_interleaved(&database, &app, &client, isolation, LIMITS);
        let explored = explored.map_err(|error| error.fields().message.clone())?;
        // A call that fails for another reason than a refusal was not the application's.
        let is_expected =
            |failure: &&String| ["40001", "40P01", "23505", "23514"].iter().any(|code| failure.contains(code));
        match explored.behaviours.iter().flat_map(|one| &one.failed).find(|failure| !is_expected(failure)) {
            Some(failure) => Err(failure.clone()),
            None => Ok(explored),
        }
    }

    fn isolation(&self, variant: &Variant) -> Option<Isolation> {
        let recorded = self.scene.programs.iter().map(|program| program.level).min().flatten();
        match variant.level.or(recorded)? {
            Level::Mvrc => Some(Isolation::ReadCommitted),
            Level::Si => Some(Isolation::RepeatableRead),
            Level::Ser => Some(Isolation::Serializable),
            _ => None,
        }
    }

    /// What was there when the first of the transactions began, and the transactions as procedures.
    fn set_up(&self, database: &Database, variant: &Variant) -> Result<(), SqlError> {
        let mut connection = database.connect(Connected::new("postgres", "explore"));
        for script in &self.settings.load {
            script.run(&mut connection).map_err(|failed| failed.error)?;
        }
        for (sql, parameters) in self.before() {
            let text = with_parameters(&sql, |number| {
                parameters.get(number.checked_sub(1)? as usize).map(|value| super::scene::value_of(value))
            });
            // What failed in the run fails here, too.
            let _ = run(&mut connection, &text);
        }
        for sql in &variant.schema {
            run(&mut connection, sql)?;
        }
        for (at, program) in self.scene.programs.iter().enumerate() {
            run(&mut connection, &procedure(at, program, variant, |step| self.scene.is_beside(step)))?;
        }
        run(&mut connection, "SELECT skew.checkpoint()")
    }

    /// The statements of the run that were executed before the first of the transactions began, of transactions that
    /// committed.
    fn before(&self) -> Vec<(String, Vec<String>)> {
        let seen = self.scene.seen;
        let trace = Trace::new(seen);
        let texts: Vec<&str> = self
            .scene
            .programs
            .iter()
            .flat_map(|program| &program.steps)
            .map(|step| step.shape.text.as_str())
            .collect();
        let overlapping = trace.pairs();
        let places = overlapping.iter().flat_map(|pair| [pair.first, pair.second]);
        let began = places.filter_map(|place| trace.txns.get(&place)).map(|txn| txn.began).min();
        let history = &seen.recording.history;
        let is_committed =
            |txn: Option<skew_model::TxnId>| txn.is_none_or(|txn| history.txn(txn).status == Status::Committed);
        let is_one_of_them =
            |text: &str| parse::shape::Shape::of(text).is_some_and(|shape| texts.contains(&shape.text.as_str()));
        let mut found = Vec::new();
        for at in trace.effect_order() {
            let (statement, placed) = (&seen.recording.statements[at], &trace.statements[at]);
            match began {
                Some(began) if placed.effect >= began => break,
                None if is_one_of_them(&statement.text) => break,
                _ => {}
            }
            let is_change = matches!(
                parse::statement(&statement.text),
                Ok(Some(
                    parse::Statement::Sql(_)
                        | parse::Statement::Schema(_)
                        | parse::Statement::Set(_)
                        | parse::Statement::Do { .. }
                        | parse::Statement::Call(_)
                ))
            );
            if is_change && is_committed(statement.txn) {
                found.push((statement.text.to_string(), statement.parameters.clone()));
            }
        }
        found
    }
}

fn name_of(program: usize) -> String {
    format!("skew_recorded_{program}")
}

fn run(connection: &mut Connection, sql: &str) -> Result<(), SqlError> {
    let done = connection.prepare(sql, &[]).and_then(|statement| connection.execute(&statement, &[]));
    let ended = connection.sync();
    done.and(ended)
}

/// A recorded transaction as a procedure, with what a variant changes.
///
/// Steps beside the cause are left out: no fix is to rest on a conflict that does no harm.
fn procedure(at: usize, program: &Program, variant: &Variant, is_beside: impl Fn(&Step) -> bool) -> String {
    let (mut declared, mut body) = (String::new(), String::new());
    for (number, step) in program.steps.iter().enumerate() {
        let place = StepPlace { program: at, step: number };
        match variant.steps.iter().find(|(changed, _)| *changed == place).map(|(_, change)| change) {
            Some(StepChange::Dropped) => {}
            Some(StepChange::Locked) => {
                declared.push_str(&format!("r{number} record;\n"));
                body.push_str(&format!("{} FOR UPDATE;\n", in_body(step, number)));
            }
            Some(StepChange::Guarded { text, otherwise }) => {
                let otherwise = match otherwise {
                    Otherwise::Ends => "RETURN",
                    Otherwise::RollsBack => "RAISE EXCEPTION 'changed meanwhile' USING ERRCODE = '40001'",
                };
                body.push_str(&format!("{};\nIF NOT FOUND THEN {otherwise}; END IF;\n", step.concrete(text)));
            }
            None if is_beside(step) => {}
            None => {
                if step.is_query() {
                    declared.push_str(&format!("r{number} record;\n"));
                }
                body.push_str(&format!("{};\n", in_body(step, number)));
            }
        }
    }
    let begin = if declared.is_empty() { String::new() } else { format!("DECLARE\n{declared}") };
    format!("CREATE PROCEDURE {}() LANGUAGE plpgsql AS $skew$\n{begin}BEGIN\n{body}END $skew$", name_of(at))
}

/// A step as a statement of a body: a query into a variable, a change without what it returns.
fn in_body(step: &Step, number: usize) -> String {
    let tree = match step.tree.clone() {
        Some(Tree::Query(mut query)) => {
            if let SetExpr::Select(select) = &mut *query.body {
                let name = trees::object(&format!("r{number}"));
                select.into = Some(SelectInto { temporary: false, unlogged: false, name });
            }
            Tree::Query(query)
        }
        Some(Tree::Insert(mut insert)) => {
            insert.returning = None;
            Tree::Insert(insert)
        }
        Some(Tree::Update(mut update)) => {
            update.returning = None;
            Tree::Update(update)
        }
        Some(Tree::Delete(mut delete)) => {
            delete.returning = None;
            Tree::Delete(delete)
        }
        Some(other) => other,
        None => return step.concrete(&step.shape.text),
    };
    step.concrete(&tree.to_string())
}
