//! Whether every run of an application is serializable at a level.

pub mod answer;
mod engines;
mod models;
mod telling;
mod words;

use skew_model::Level;
use skew_sql::app::App;
use skew_sql::error::Result;
use skew_sql::session::Database;

use crate::graph::rules::Rules;
use crate::graph::search::{Searched, search};
use crate::graph::{Budget, Graph};
use crate::smt::axioms::Axioms;
use crate::summary::build::Reading;
use crate::summary::{Program, Summary};

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
    /// Pairs of programs that are serializable with each other, by name.
    pub pairs: Vec<(String, String)>,
    /// A level in the user's own words: nothing else is asked of transactions.
    pub axioms: Option<Axioms>,
    /// What transactions conflict about.
    pub dependencies: Dependencies,
    /// How much work a graph may take.
    pub budget: Budget,
}

/// What transactions conflict about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Dependencies {
    /// Columns of rows: who reads one is not in the way of who changes another one.
    #[default]
    Columns,
    /// Whole rows.
    Rows,
}

impl Default for Question {
    fn default() -> Question {
        Question {
            sessions: true,
            programs: Vec::new(),
            serializable: Vec::new(),
            pairs: Vec::new(),
            axioms: None,
            dependencies: Dependencies::Columns,
            budget: Budget::default(),
        }
    }
}

impl Question {
    /// The programs that are looked at, by their numbers.
    pub(crate) fn asks_about(&self, summary: &Summary) -> Vec<usize> {
        let is_asked = |name: &String| self.programs.is_empty() || self.programs.contains(name);
        (0..summary.programs.len()).filter(|at| is_asked(&summary.programs[*at].name)).collect()
    }

    /// Whether a program is serializable with all others that are, if those that ask for no level run at this one.
    pub(crate) fn is_serializable(&self, program: &Program, level: Level) -> bool {
        program.level.unwrap_or(level).is_serializable() || self.serializable.contains(&program.name)
    }
}

/// Sets of programs that are robust.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RobustSets {
    /// The largest ones, by the names of the programs.
    pub sets: Vec<Vec<String>>,
    /// The limit that was hit, if one was.
    pub limit: Option<String>,
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
        match Reading::at(level) {
            Reading::Once => &self.once,
            Reading::EachStatement => &self.each_statement,
        }
    }

    /// The largest sets of programs without a cycle, by name.
    pub fn largest_robust_sets(&self, level: Level, question: &Question) -> RobustSets {
        let names: Vec<String> = self.summary(level).programs.iter().map(|program| program.name.clone()).collect();
        let mut sets: Vec<Vec<String>> = Vec::new();
        // A part of a robust set is robust, so a set is looked at only if all sets with one program fewer are.
        let mut last: Vec<Vec<usize>> = vec![Vec::new()];
        let mut limit = None;
        while !last.is_empty() {
            let mut next: Vec<Vec<usize>> = Vec::new();
            for set in &last {
                for program in set.last().map_or(0, |last| last + 1)..names.len() {
                    let larger = [&set[..], &[program]].concat();
                    let parts_are_robust = (0..larger.len()).all(|left_out| {
                        let part: Vec<usize> = [&larger[..left_out], &larger[left_out + 1..]].concat();
                        last.contains(&part)
                    });
                    if !parts_are_robust {
                        continue;
                    }
                    let programs = larger.iter().map(|at| names[*at].clone()).collect();
                    let searched = self.cycles(level, &Question { programs, ..question.clone() });
                    // Where not all was looked at, it is not known to be robust.
                    if searched.suspects.is_empty() && searched.limit.is_none() {
                        next.push(larger);
                    }
                    limit = limit.or(searched.limit);
                }
            }
            let is_part = |set: &Vec<usize>| next.iter().any(|larger| set.iter().all(|one| larger.contains(one)));
            let largest = last.iter().filter(|set| !set.is_empty() && !is_part(set));
            sets.extend(largest.map(|set| set.iter().map(|at| names[*at].clone()).collect()));
            last = next;
        }
        sets.sort_by_key(|set| std::cmp::Reverse(set.len()));
        RobustSets { sets, limit }
    }

    /// The cycles that a level allows; none means that every run is serializable. Programs that ask for another level run at
    /// that one.
    pub fn cycles(&self, level: Level, question: &Question) -> Searched {
        let by_rows;
        let summary = match question.dependencies {
            Dependencies::Columns => self.summary(level),
            Dependencies::Rows => {
                by_rows = self.summary(level).by_rows();
                &by_rows
            }
        };
        let programs = question.asks_about(summary);
        let asked: Vec<(usize, Option<Level>)> =
            programs.iter().map(|program| (*program, summary.programs[*program].level)).collect();
        let rules = match Rules::of_each(level, &asked, question.sessions) {
            Ok(rules) => rules,
            Err(program) => {
                let Program { name, level: own, .. } = &summary.programs[program];
                let beside = if own.is_some_and(|own| own != level) { " beside others" } else { "" };
                let limit = format!("{name} at {}, which the graph does not know{beside}", own.unwrap_or(level));
                return Searched { limit: Some(limit), ..Searched::default() };
            }
        };
        let graph = Graph::within(summary, &programs, Rules::writers(rules.values()), question.budget);
        // PostgreSQL's serializable transactions are so among themselves; others do not see them in one order.
        let is_marked = |program: usize| question.is_serializable(&summary.programs[program], level);
        let by_database = |level: Level| level.definition().target.is_some();
        let passes_on = !rules.values().any(|rules| by_database(rules.level))
            && !asked.iter().any(|(_, own)| own.is_some_and(by_database));
        let marks_count = passes_on || programs.iter().all(|program| is_marked(*program));
        let is_protected = |program: usize| marks_count && is_marked(program);
        let mut searched = search(&graph, &rules, &is_protected);
        searched.suspects.iter_mut().for_each(|suspect| suspect.level = level);
        searched.limit = searched.limit.or_else(|| self.is_beyond(level, question));
        searched
    }

    /// A program that is asked about whose runs are not what a level says of transactions: what holds of one transaction does
    /// not hold of its parts.
    pub(super) fn is_beyond(&self, level: Level, question: &Question) -> Option<String> {
        let summary = self.summary(level);
        let programs: Vec<&Program> = question.asks_about(summary).iter().map(|at| &summary.programs[*at]).collect();
        programs.into_iter().find_map(Program::is_beyond)
    }
}
