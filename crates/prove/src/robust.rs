//! Whether every run of an application is serializable at a level.

use skew_model::Level;
use skew_sql::app::App;
use skew_sql::error::Result;
use skew_sql::session::Database;

use crate::graph::Graph;
use crate::graph::rules::Rules;
use crate::graph::search::{Searched, search};
use crate::summary::Summary;
use crate::summary::build::Reading;

/// The levels that an application is looked at, weakest first.
pub const LEVELS: [Level; 8] =
    [Level::Rc, Level::Ra, Level::Cc, Level::Mvrc, Level::Pc, Level::Psi, Level::Si, Level::Ser];

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// Session order counts.
    pub sessions: bool,
    /// The programs that are looked at, by name; all if empty.
    pub programs: Vec<String>,
    /// Programs that run serializably, by name, besides those that ask for it.
    pub serializable: Vec<String>,
}

impl Default for Question {
    fn default() -> Question {
        Question { sessions: true, programs: Vec::new(), serializable: Vec::new() }
    }
}

/// An application that is being asked about.
pub struct Robustness {
    /// Read once: what a transaction finds it finds again.
    pub once: Summary,
    /// Each statement may look at another state.
    pub each_statement: Summary,
}

impl Robustness {
    /// Reads an application.
    pub fn of(database: &Database, app: &App) -> Result<Robustness> {
        Ok(Robustness {
            once: Summary::of(database, app, Reading::Once)?,
            each_statement: Summary::of(database, app, Reading::EachStatement)?,
        })
    }

    /// The summary that holds at a level.
    pub fn summary(&self, level: Level) -> &Summary {
        match Rules::reading(level) {
            Reading::Once => &self.once,
            Reading::EachStatement => &self.each_statement,
        }
    }

    /// The cycles that a level allows; none means that every run is serializable.
    pub fn cycles(&self, level: Level, question: &Question) -> Searched {
        let Some(rules) = Rules::of(level, question.sessions) else { return Searched::default() };
        let summary = self.summary(level);
        let is_asked = |name: &String| question.programs.is_empty() || question.programs.contains(name);
        let programs: Vec<usize> =
            (0..summary.programs.len()).filter(|at| is_asked(&summary.programs[*at].name)).collect();
        let graph = Graph::of(summary, &programs);
        let is_protected = |program: usize| {
            let program = &summary.programs[program];
            program.level == Some(Level::Ser) || question.serializable.contains(&program.name)
        };
        search(&graph, &rules, &is_protected)
    }
}
