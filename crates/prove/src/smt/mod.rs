//! Executions as formulas, and a solver that is asked about them (Nagar and Jagannathan 2018).
//!
//! Where the [graph](crate::graph) knows equalities, the solver also knows numbers, orders and any level that is written as
//! [axioms](axioms). It finds the shortest cycles with values for everything, and proves that there is none for any number
//! of transactions.

pub mod axioms;
pub mod encode;
pub mod formula;
mod limits;
mod meetings;
pub mod model;
mod process;
pub mod proof;
pub mod recorded;
pub mod search;
pub mod solver;

use skew_model::Level;

use crate::graph::{Budget, Graph};
use crate::summary::Summary;
use encode::Isolation;
use proof::{Paths, Proof};
use search::Cycles;
use solver::{NoSolver, Said, Script, Solver};

/// How far the solver goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Cycles of so many transactions are looked for.
    pub cycle: usize,
    /// Paths of so many transactions, if no cycle was found.
    pub path: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { cycle: 4, path: 8 }
    }
}

/// What the solver says about a level.
#[derive(Clone, Debug, Default)]
pub struct Solved {
    /// There is no cycle, for any number of transactions.
    pub proof: Option<Proof>,
    /// Otherwise, what was found, the shortest first.
    pub cycles: Vec<Cycles>,
    /// What kept it from going on.
    pub limit: Option<String>,
    /// What was asked, the last question of each search.
    pub scripts: Vec<Script>,
}

/// Formulas are about all pairs of ways.
const MOST_WAYS: usize = 60;

/// Asks the solver about some of the programs.
pub fn solve(
    solver: &Solver,
    summary: &Summary,
    programs: &[usize],
    isolation: &Isolation,
    level: Level,
    bounds: Bounds,
) -> Result<Solved, NoSolver> {
    let ways: usize = programs.iter().map(|program| summary.programs[*program].paths.len()).sum();
    if ways > MOST_WAYS {
        let limit = Some(format!("{ways} ways through the programs, where the solver is asked about {MOST_WAYS}"));
        return Ok(Solved { limit, ..Solved::default() });
    }
    let budget = Budget { time: Some(solver.time), ..Budget::default() };
    let graph = Graph::within(summary, programs, isolation.writers(), budget);
    if graph.limit.is_some() {
        return Ok(Solved { limit: graph.limit, ..Solved::default() });
    }
    let mut solved = Solved { proof: proof::by_induction(solver, &graph, isolation)?, ..Solved::default() };
    if let Some(proof) = &solved.proof {
        solved.scripts = proof.scripts.clone();
        return Ok(solved);
    }
    let mut is_found = false;
    for length in 2..bounds.path.max(bounds.cycle + 1) {
        if solver.is_over() {
            solved.limit = Some(solver::TIME.to_owned());
            break;
        }
        let found = search::cycles(solver, &graph, isolation, length, level)?;
        is_found |= !found.suspects.is_empty();
        solved.scripts.push(found.script.clone());
        solved.limit = found.limit.clone();
        solved.cycles.push(found);
        if solved.limit.is_some() || (is_found && length >= bounds.cycle) {
            break;
        }
        if is_found {
            continue;
        }
        let script = proof::no_long_path(solver, &graph, isolation, length + 1, Paths::ToTheFirst)?;
        let said = script.answer.clone();
        solved.scripts.push(script);
        match said {
            Said::Unsat => {
                let argument = format!(
                    "by shortest paths: to one that takes effect before the others, every one has fewer than {} \
                     transactions, and no cycle has",
                    length + 1
                );
                // Longer paths that were found say nothing.
                let refuted = solved.scripts.iter().filter(|script| script.answer == Said::Unsat).cloned().collect();
                solved.proof = Some(Proof { argument, scripts: refuted });
                return Ok(solved);
            }
            Said::Sat => {}
            Said::Unknown(why) => {
                solved.limit = Some(why);
                break;
            }
        }
    }
    Ok(solved)
}
