//! Who is asked about a level, in order of cost: the graph, runs of what it suspects, the solver, runs of what that one
//! suspects.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use skew_model::Level;
use skew_sql::app::App;
use skew_sql::error::Result;
use skew_sql::session::Database;

use super::answer::{Answer, Argument, Effort, Engine, Verdict, is_known};
use super::{Dependencies, Question, Robustness};
use crate::confirm::{Confirmation, Found, confirm_all};
use crate::graph::rules::beside_serializable;
use crate::smt::axioms::Axioms;
use crate::smt::encode::Isolation;
use crate::smt::recorded::run_is_within;
use crate::smt::solver::NoSolver;
use crate::smt::{Bounds, Solved, solve};
use crate::suspect::Suspect;

/// What the graph says.
pub(super) enum Asked {
    /// There is no cycle.
    Robust(Argument),
    /// There may be these, or more: a limit was hit.
    Suspects(Vec<Suspect>, Option<String>),
}

/// An answer that is being worked on.
pub(super) struct Trial<'a> {
    pub(super) database: &'a Database,
    pub(super) app: &'a App,
    pub(super) effort: Effort,
    pub(super) answer: Answer,
    pub(super) started: Instant,
}

impl Trial<'_> {
    /// How much time is left for the level.
    pub(super) fn left(&self) -> Duration {
        self.effort.level.saturating_sub(self.started.elapsed())
    }
}

impl Robustness {
    /// What the graph says, if it is to be asked.
    pub(super) fn ask_graph(&self, level: Level, question: &Question, engine: Engine) -> Asked {
        if engine == Engine::Solver || question.axioms.is_some() {
            return Asked::Suspects(Vec::new(), None);
        }
        let searched = self.cycles(level, question);
        let limit = searched.limit;
        // It does not know about pairs: without a cycle there is none with them, but what it suspects may be none.
        match (searched.suspects.is_empty(), limit) {
            (true, None) => Asked::Robust(Argument::Graph { pairs: searched.pairs }),
            (_, limit) if !question.pairs.is_empty() => Asked::Suspects(Vec::new(), limit),
            (_, limit) => Asked::Suspects(searched.suspects, limit),
        }
    }

    /// Looks for runs of suspects, for so long.
    pub(super) fn try_all(
        &self,
        trial: &mut Trial<'_>,
        suspects: Vec<Suspect>,
        time: Duration,
        all: bool,
        is_allowed: impl Fn(&Found) -> bool,
    ) -> Result<()> {
        let (effort, answer) = (trial.effort, &mut trial.answer);
        let is_known_already = !answer.found.is_empty() && !effort.all;
        let tried = match is_known_already {
            true => vec![None; suspects.len()],
            false => {
                let (summary, each) = (self.summary(answer.level), effort.each);
                confirm_all(trial.database, trial.app, summary, &suspects, each, time, all)?
            }
        };
        for (suspect, confirmation) in suspects.into_iter().zip(tried) {
            match confirmation {
                Some(Confirmation::Found(found)) if !is_allowed(&found) => {
                    answer.possible.push((suspect, "the run that was found is not within the level".to_owned()));
                }
                // Where not all calls are needed, another cycle may have come to the same run.
                Some(Confirmation::Found(found)) if !is_known(&answer.found, &found) => {
                    answer.found.push((suspect, *found));
                }
                Some(Confirmation::Found(_)) => {}
                Some(Confirmation::NotFound { reason, .. }) => answer.possible.push((suspect, reason)),
                None => answer.possible.push((suspect, String::new())),
            }
        }
        Ok(())
    }

    /// Whether the solver can be asked about a level.
    pub(super) fn can_ask_solver(&self, level: Level, question: &Question, engine: Engine) -> bool {
        engine != Engine::Graph
            && self.is_beyond(level, question).is_none()
            && self.isolation(level, question).is_some()
    }

    /// What the solver says about a level, within the time for it.
    pub fn solve(
        &self,
        level: Level,
        question: &Question,
        effort: Effort,
    ) -> Option<std::result::Result<Solved, NoSolver>> {
        if self.is_beyond(level, question).is_some() {
            return None;
        }
        let isolation = self.isolation(level, question)?;
        let by_rows = (question.dependencies == Dependencies::Rows).then(|| self.summary(level).by_rows());
        let summary = by_rows.as_ref().unwrap_or(self.summary(level));
        let programs = question.asks_about(summary);
        let solver = effort.solver.within(effort.level);
        Some(solve(&solver, summary, &programs, &isolation, level, Bounds::default()))
    }

    /// What the solver says, and runs of what it suspects; the limit that was hit.
    pub(super) fn ask_solver(
        &self,
        trial: &mut Trial<'_>,
        question: &Question,
        limit: Option<String>,
    ) -> Result<Option<String>> {
        let level = trial.answer.level;
        // What it suspects is executed in the rest of the time.
        let effort = Effort { level: trial.left() * 2 / 3, ..trial.effort };
        let Some(solved) = self.solve(level, question, effort) else {
            // Nobody else knows about pairs.
            let is_about_pairs = !question.pairs.is_empty() && self.is_beyond(level, question).is_none();
            let unknown =
                || format!("pairs of programs at {level}: they are for the solver, which knows ec ra cc pc psi si");
            let alone = trial.effort.engine == Engine::Solver && self.is_beyond(level, question).is_none();
            let cannot = || format!("{level}: the solver knows ec ra cc pc psi si, and not all of them together");
            return Ok(limit.or_else(|| is_about_pairs.then(unknown)).or_else(|| alone.then(cannot)));
        };
        let solved = match solved {
            Ok(solved) => solved,
            Err(NoSolver(why)) => {
                trial.answer.no_solver = Some(why.clone());
                return Ok(limit.or(Some(why)));
            }
        };
        trial.answer.scripts = solved.scripts;
        if let Some(proof) = solved.proof {
            trial.answer.verdict = match trial.answer.found.is_empty() {
                true => Verdict::Robust { by: Argument::Solver(proof) },
                // One of the two is wrong; nobody should rely on either.
                false => Verdict::Unknown("a run and the solver, which contradict each other".to_owned()),
            };
            trial.answer.possible.clear();
            return Ok(None);
        }
        let known: Vec<String> = {
            let suspects = trial.answer.found.iter().map(|(suspect, _)| suspect);
            suspects.chain(trial.answer.possible.iter().map(|(suspect, _)| suspect)).map(signature).collect()
        };
        // What the graph suspects and the solver, which has listed all cycles up to a length, does not is none.
        let listed: Vec<String> = solved.cycles.iter().flat_map(|cycles| &cycles.suspects).map(signature).collect();
        let complete = solved.cycles.iter().take_while(|cycles| cycles.limit.is_none()).map(|cycles| cycles.length);
        let complete = complete.max().unwrap_or(0);
        let may_be = |suspect: &Suspect| suspect.calls.len() > complete || listed.contains(&signature(suspect));
        trial.answer.possible.retain(|(suspect, _)| may_be(suspect));
        let longest = solved.cycles.last().map_or(0, |cycles| cycles.length);
        let mut suspects: Vec<Suspect> = solved.cycles.into_iter().flat_map(|cycles| cycles.suspects).collect();
        let (isolation, solver) = (self.isolation(level, question), trial.effort.solver);
        let is_allowed = |found: &Found| match &isolation {
            Some(isolation) if question.is_written_out() => {
                run_is_within(&solver, self.summary(level), isolation, &found.client, &found.history) == Ok(true)
            }
            _ => true,
        };
        let models = self.try_models(trial, question, &suspects, is_allowed)?;
        suspects.retain(|suspect| {
            let name = signature(suspect);
            !known.contains(&name) && !models.found.contains(&name)
        });
        // A run that is not within the level is not the last one to try.
        let all = trial.effort.all || question.is_written_out();
        let left = trial.left();
        self.try_all(trial, suspects, left, all, is_allowed)?;
        for (suspect, reason) in &mut trial.answer.possible {
            if let (Some(example), false) = (models.told.get(&signature(suspect)), reason.is_empty()) {
                reason.push_str(&format!("; the solver thinks of {example}"));
            }
        }
        let bound = format!("cycles of more than {longest} transactions, of which nothing is known");
        Ok(limit.or(solved.limit).or(Some(bound)))
    }

    /// What isolates transactions at a level; `None` if it cannot be said in axioms.
    pub(super) fn isolation(&self, level: Level, question: &Question) -> Option<Isolation> {
        let summary = self.summary(level);
        let sessions = question.sessions && level.definition().sessions;
        // Serializable programs are protected from each other; from the others as the level protects them, or as `si` does.
        let base = beside_serializable(level);
        let mut isolation = Isolation::uniform(base, summary.programs.len(), sessions);
        if let Some(axioms) = &question.axioms {
            isolation.levels.fill(None);
            isolation.axioms = axioms.clone();
            return Some(isolation);
        }
        let mut marked = Vec::new();
        for (program, asked) in summary.programs.iter().zip(&mut isolation.levels) {
            if question.is_serializable(program, level) {
                marked.push(program.name.as_str());
            }
            *asked = program.level.filter(|own| !own.is_serializable()).or(*asked);
        }
        let asked = question.asks_about(summary).into_iter().filter_map(|program| isolation.levels[program]);
        let levels: BTreeSet<Level> = asked.collect();
        if levels.iter().any(|level| Axioms::of(*level).is_none()) || see_more_together(&levels) {
            return None;
        }
        // What is seen is passed on, of serializable programs, too: SERTOTAL.
        for (at, one) in marked.iter().enumerate() {
            marked[at..].iter().for_each(|other| isolation.serialize(one, other));
        }
        question.pairs.iter().for_each(|(one, other)| isolation.serialize(one, other));
        Some(isolation)
    }
}

/// Whether axioms would let transactions of these levels see more than they have to: who sees what others have seen would
/// see what only their stronger levels show them. (And `ec` does not see its own session, where others do.)
fn see_more_together(levels: &BTreeSet<Level>) -> bool {
    let has = |level: Level| levels.contains(&level);
    let shows_all = has(Level::Pc) || has(Level::Si);
    has(Level::Cc) && (shows_all || has(Level::Psi))
        || has(Level::Psi) && shows_all
        || has(Level::Ec) && levels.len() > 1
}

impl Question {
    /// Whether the store does not know the level as it is asked about.
    pub fn is_written_out(&self) -> bool {
        self.axioms.is_some() || !self.pairs.is_empty()
    }
}

/// What makes two cycles the same: their programs and the kinds of their dependencies, wherever one begins.
pub(super) fn signature(suspect: &Suspect) -> String {
    let parts: Vec<String> =
        suspect.edges.iter().map(|edge| format!("{} {}", suspect.calls[edge.from].program, edge.kind.name())).collect();
    let turns = (0..parts.len()).map(|at| [&parts[at..], &parts[..at]].concat().join(", "));
    turns.min().unwrap_or_default()
}
