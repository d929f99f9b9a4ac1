//! The answer at one level: what the graph says, and what runs show of it.

use std::time::Duration;

use skew_model::Level;
use skew_sql::app::App;
use skew_sql::error::Result;
use skew_sql::session::Database;

use crate::confirm::{Confirmation, Found, Limits, confirm_all};
use crate::robust::{Question, Robustness};
use crate::suspect::Suspect;

/// How suspects are tried.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// How much for one suspect.
    pub each: Limits,
    /// How long for one level.
    pub level: Duration,
    /// All of them, not only until one is found.
    pub all: bool,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { each: Limits::default(), level: Duration::from_secs(10), all: false }
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
}

/// Whether every run at a level is serializable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Yes, by definition.
    Serializable,
    /// Yes, however many transactions there are: no cycle is allowed.
    Robust {
        /// How many pairs of transactions were followed.
        pairs: usize,
    },
    /// No, and a run shows it.
    NotRobust,
    /// There may be a run that is not, but none was found.
    Possible,
    /// A limit was hit.
    Unknown(String),
}

impl Robustness {
    /// What is known about a level. Runs that were found at stronger levels are runs of this one, too.
    pub fn answer(
        &self,
        database: &Database,
        app: &App,
        level: Level,
        question: &Question,
        stronger: &[(Suspect, Found)],
        effort: Effort,
    ) -> Result<Answer> {
        let mut answer = Answer { level, verdict: Verdict::Serializable, found: Vec::new(), possible: Vec::new() };
        if matches!(level, Level::Ser | Level::Sser) {
            return Ok(answer);
        }
        let searched = self.cycles(level, question);
        if searched.suspects.is_empty() {
            answer.verdict = match searched.limit.or_else(|| self.weaker_program(level)) {
                None => Verdict::Robust { pairs: searched.pairs },
                Some(limit) => Verdict::Unknown(limit),
            };
            return Ok(answer);
        }
        answer.found = stronger.iter().filter(|(_, found)| found.level.implies(level)).cloned().collect();
        let app = with_levels(app, question);
        let is_known_already = !answer.found.is_empty() && !effort.all;
        let tried = match is_known_already {
            true => vec![None; searched.suspects.len()],
            false => {
                let (summary, suspects) = (self.summary(level), &searched.suspects);
                confirm_all(database, &app, summary, suspects, effort.each, effort.level, effort.all)?
            }
        };
        for (suspect, confirmation) in searched.suspects.into_iter().zip(tried) {
            match confirmation {
                // Where not all calls are needed, another cycle may have come to the same run.
                Some(Confirmation::Found(found)) if !is_known(&answer.found, &found) => {
                    answer.found.push((suspect, *found));
                }
                Some(Confirmation::Found(_)) => {}
                Some(Confirmation::NotFound { reason, .. }) => answer.possible.push((suspect, reason)),
                None => answer.possible.push((suspect, String::new())),
            }
        }
        answer.verdict = if answer.found.is_empty() { Verdict::Possible } else { Verdict::NotRobust };
        Ok(answer)
    }

    /// A program that asks for a weaker level, so that what holds at this one says nothing about it.
    fn weaker_program(&self, level: Level) -> Option<String> {
        self.summary(level).programs.iter().find_map(|program| {
            let asked = program.level.filter(|asked| !asked.implies(level))?;
            Some(format!("{} which runs at {asked}: different levels together are not analysed", program.name))
        })
    }
}

fn is_known(known: &[(Suspect, Found)], found: &Found) -> bool {
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
