//! The answer at one level: what the graph says, and what runs show of it.

use std::time::{Duration, Instant};

use skew_model::Level;
use skew_sql::app::App;
use skew_sql::error::Result;
use skew_sql::session::Database;

use crate::confirm::{Found, Limits};
use crate::robust::engines::{Asked, Trial};
use crate::robust::{Question, Robustness};
use crate::smt::proof::Proof;
use crate::smt::solver::{Script, Solver};
use crate::suspect::Suspect;

/// How hard it is tried.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// How much for one suspect.
    pub each: Limits,
    /// How long for one level: for runs and for the solver together.
    pub level: Duration,
    /// All of them, not only until one is found.
    pub all: bool,
    /// Who is asked.
    pub engine: Engine,
    /// The solver, if it is asked.
    pub solver: Solver,
}

/// Who is asked about cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Engine {
    /// The graph, and the solver about what the graph cannot exclude and no run shows.
    #[default]
    Both,
    /// The graph.
    Graph,
    /// The solver.
    Solver,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort {
            each: Limits::default(),
            level: Duration::from_secs(30),
            all: false,
            engine: Engine::default(),
            solver: Solver::default(),
        }
    }
}

/// What is known about a level.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The level.
    pub level: Level,
    /// Whether every run is serializable.
    pub verdict: Verdict,
    /// Runs that are not, of this level or a stronger one.
    pub found: Vec<(Suspect, Found)>,
    /// Cycles that no run has shown, with the reason; an empty one: it was not tried.
    pub possible: Vec<(Suspect, String)>,
    /// Why there was no solver to ask.
    pub no_solver: Option<String>,
    /// What the solver was asked.
    pub scripts: Vec<Script>,
}

/// Whether every run at a level is serializable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Yes, by definition.
    Serializable,
    /// Yes, however many transactions there are: no cycle is allowed.
    Robust {
        /// Why not.
        by: Argument,
    },
    /// No, and a run shows it.
    NotRobust,
    /// There may be a run that is not, but none was found.
    Possible,
    /// A limit was hit.
    Unknown(String),
}

/// Why there is no cycle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// The graph has none.
    Graph {
        /// How many pairs of transactions were followed.
        pairs: usize,
    },
    /// The solver has proved it.
    Solver(Proof),
}

impl Robustness {
    /// What is known about a level. Runs that were found at stronger levels are runs of this one, too; other than at `mvrc`,
    /// where who has waited for a lock sees in its next statement what it has waited for.
    pub fn answer(
        &self,
        database: &Database,
        app: &App,
        level: Level,
        question: &Question,
        stronger: &[(Suspect, Found)],
        effort: Effort,
    ) -> Result<Answer> {
        let (verdict, started) = (Verdict::Serializable, Instant::now());
        let mut answer =
            Answer { level, verdict, found: Vec::new(), possible: Vec::new(), no_solver: None, scripts: Vec::new() };
        let summary = self.summary(level);
        let is_serializable = |at: &usize| question.is_serializable(&summary.programs[*at], level);
        if question.axioms.is_none() && question.asks_about(summary).iter().all(is_serializable) {
            return Ok(answer);
        }
        let is_of_this =
            |found: &Found| found.level == level || (found.level.implies(level) && !level.looks_at_statements());
        answer.found = stronger.iter().filter(|(_, found)| is_of_this(found)).cloned().collect();
        let app = with_levels(app, question);
        let mut trial = Trial { database, app: &app, effort, answer, started };
        let limit = match self.ask_graph(level, question, effort.engine) {
            Asked::Robust(by) => {
                trial.answer.verdict = match trial.answer.found.is_empty() {
                    true => Verdict::Robust { by },
                    // One of the two is wrong; nobody should rely on either.
                    false => Verdict::Unknown("a run and the graph, which contradict each other".to_owned()),
                };
                return Ok(trial.answer);
            }
            Asked::Suspects(suspects, limit) => {
                // The solver and what it suspects have to come to their turn, too.
                let left = trial.left();
                let time = if self.can_ask_solver(level, question, effort.engine) { left / 2 } else { left };
                self.try_all(&mut trial, suspects, time, effort.all, |_| true)?;
                limit
            }
        };
        let asks_solver = effort.engine != Engine::Graph && (trial.answer.found.is_empty() || effort.all);
        let limit = if asks_solver { self.ask_solver(&mut trial, question, limit)? } else { limit };
        let mut answer = trial.answer;
        answer.verdict = match (&answer.verdict, limit) {
            (Verdict::Robust { .. } | Verdict::Unknown(_), _) => answer.verdict,
            _ if !answer.found.is_empty() => Verdict::NotRobust,
            (_, limit) if answer.possible.is_empty() => {
                Verdict::Unknown(limit.unwrap_or_else(|| "what no engine has looked at".to_owned()))
            }
            _ => Verdict::Possible,
        };
        Ok(answer)
    }
}

pub(super) fn is_known(known: &[(Suspect, Found)], found: &Found) -> bool {
    known.iter().any(|(_, known)| known.level == found.level && known.client_text() == found.client_text())
}

/// The application with the programs that are marked running serializably.
fn with_levels(app: &App, question: &Question) -> App {
    let mut app = app.clone();
    for program in &mut app.programs {
        if question.serializable.contains(&program.name) {
            program.level = Some(Level::Ser);
        }
    }
    app
}
