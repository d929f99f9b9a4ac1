//! Runs of what the solver has in mind: for what it suspects, and for what no run has shown before.

use std::collections::BTreeMap;
use std::time::Instant;

use skew_sql::error::Result;

use super::answer::is_known;
use super::engines::{Trial, signature};
use super::{Dependencies, Question, Robustness};
use crate::confirm::{Found, Limits, confirm_model, told};
use crate::graph::Graph;
use crate::smt::model::model;
use crate::suspect::Suspect;

/// The solver is asked for values of so many suspects.
const MOST_MODELS: usize = 16;

/// What came of it, by the signatures of suspects.
#[derive(Default)]
pub(super) struct Models {
    /// What the solver has in mind, in words.
    pub(super) told: BTreeMap<String, String>,
    /// The suspects that a run has shown.
    pub(super) found: Vec<String>,
}

impl Robustness {
    /// Asks for values and runs them, within half of the time that is left for the level.
    pub(super) fn try_models(
        &self,
        trial: &mut Trial<'_>,
        question: &Question,
        suspects: &[Suspect],
        is_allowed: impl Fn(&Found) -> bool,
    ) -> Result<Models> {
        let time = trial.left() / 2;
        let (effort, answer) = (trial.effort, &mut trial.answer);
        let mut models = Models::default();
        let Some(isolation) = self.isolation(answer.level, question) else { return Ok(models) };
        let summary = self.summary(answer.level);
        let by_rows = (question.dependencies == Dependencies::Rows).then(|| summary.by_rows());
        let asked = by_rows.as_ref().unwrap_or(summary);
        let graph = Graph::within(asked, &question.asks_about(asked), isolation.writers(), question.budget);
        let started = Instant::now();
        let each = Limits { time: effort.each.time.min(time), ..effort.each };
        let solver = effort.solver.within(time);
        let mut open: Vec<(String, Suspect)> = Vec::new();
        for suspect in suspects.iter().chain(answer.possible.iter().map(|(suspect, _)| suspect)) {
            let name = signature(suspect);
            if open.len() < MOST_MODELS && !open.iter().any(|(known, _)| *known == name) {
                open.push((name, suspect.clone()));
            }
        }
        for (name, suspect) in open {
            let is_enough = !answer.found.is_empty() && !effort.all;
            if is_enough || started.elapsed() > time {
                break;
            }
            // Without a solver there is nothing to run.
            let Ok(found) = model(&solver, &graph, &isolation, &suspect) else { break };
            let Some(model) = found else { continue };
            models.told.insert(name.clone(), told(trial.database, summary, &suspect, &model));
            let ran = confirm_model(trial.database, trial.app, summary, (&suspect, &model), each)?;
            let Some(found) = ran.filter(|found| is_allowed(found)) else { continue };
            models.found.push(name);
            if !is_known(&answer.found, &found) {
                answer.found.push((suspect, found));
            }
        }
        answer.possible.retain(|(suspect, _)| !models.found.contains(&signature(suspect)));
        Ok(models)
    }
}
