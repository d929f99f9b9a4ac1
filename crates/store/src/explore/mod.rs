//! Exploration by histories: every history of a program once, and one run for each.
//!
//! The algorithm is dynamic partial order reduction for isolation levels (Bouajjani, Enea and Román-Calvo, PLDI 2023),
//! with the deleted reads' rule of [`reorder`]. Transactions run one after another. A run walks from a partial history
//! (its plan) to a complete one, by the latest valid source of each new read; the driver then adds plans for what the
//! walk passed by: the other candidates of the new reads, and the reorderings that each commit opens.
//!
//! Why each history comes once. A history determines its order of execution: transactions take their turns by task, and
//! a read whose source has not run when its turn comes pulls the source and what it depends on forward. Such reads are
//! *pinned*. The last event of a partial history then determines its parent: without that event, or, for a pinned read,
//! the state in which everything deleted is put back by the fixed rule. Why no run is in vain: at `rc`, `ra` and `cc` a
//! read always has a valid source in what its transaction depends on, in every mixture of them, because that choice
//! makes nothing new visible to anybody.
//!
//! The levels that look at the commit order lack this property. They run at the strongest weaker level that has it, and
//! complete histories are filtered by the checker. `ru`, where operations of running transactions are seen, and real
//! time, where interleavings are the point, are explored by counting through all choices instead.

mod guide;
mod plan;
mod reorder;

use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashSet;
use skew_check::{Assumptions, Checker, Options as CheckOptions};
use skew_model::{Level, Scope, Status};

use crate::choice::Place;
use crate::db::Db;
use crate::engine::Recency;
use crate::panics::{self, Panics};
use crate::picks::Exhaustive;
use crate::record::{Footprint, FootprintStep};
use crate::run::{Config, Interleaving, Run, run, run_at};
use crate::sight::explorable;
use crate::store::Strength;
use guide::Guide;
use plan::{Plan, Step, Trace, TraceRead, TraceTxn};
use reorder::Execution;

/// How much an exploration may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExploreLimits {
    /// How many runs it may make.
    pub max_runs: u64,
}

impl Default for ExploreLimits {
    fn default() -> Self {
        ExploreLimits { max_runs: 1_000_000 }
    }
}

/// What an exploration did.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Explored {
    /// The complete runs that were made.
    pub runs: u64,
    /// The histories within their levels, each visited once.
    pub histories: u64,
    /// The runs whose history was not within the level and was left out; always 0 at `rc`, `ra` and `cc`.
    pub filtered: u64,
    /// The runs whose history had been visited; always 0 except at `ru` and with recency.
    pub repeated: u64,
    /// Whether everything was visited.
    pub end: End,
}

/// How an exploration ended.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum End {
    /// There is nothing more.
    #[default]
    Complete,
    /// The visitor stopped it.
    Stopped,
    /// It reached its limit of runs: what was not visited is unknown.
    MaxRuns,
}

/// The program did something else when it was run again with the same answers, so it cannot be explored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotRepeatable {
    /// What was different, in words.
    pub what: String,
}

impl fmt::Display for NotRepeatable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the program cannot be explored: {}. ", self.what)?;
        write!(f, "Its sessions may depend on nothing but what they read from the database, spawn and join")
    }
}

impl std::error::Error for NotRepeatable {}

/// Visits every history of a program once. The visitor sees each as a [`Run`], and may stop.
///
/// ```
/// use skew_model::Level;
/// use skew_store::{Config, ExploreLimits, explore};
///
/// let increments = |db: skew_store::Db| {
///     db.init("x", 0);
///     for name in ["alice", "bob", "carol"] {
///         db.spawn(name, |session| {
///             session.transaction(|t| {
///                 let x: i64 = t.read("x")?;
///                 t.write("x", x + 1)
///             })
///         });
///     }
/// };
/// let at = |level| {
///     let every = |_: &_| std::ops::ControlFlow::Continue(());
///     explore(&Config::new(level), ExploreLimits::default(), increments, every).expect("it is repeatable")
/// };
/// // Each increment reads the initial value or another one's: the labelled trees on four nodes.
/// assert_eq!((at(Level::Cc).runs, at(Level::Cc).histories), (16, 16));
/// // Serializable ones come one after another.
/// assert_eq!(at(Level::Ser).histories, 6);
/// ```
pub fn explore(
    config: &Config,
    limits: ExploreLimits,
    body: impl Fn(Db) + Clone + 'static,
    mut visit: impl FnMut(&Run) -> ControlFlow<()>,
) -> Result<Explored, NotRepeatable> {
    let operations = config.level == Level::Ru || config.interleaving == Some(Interleaving::Operations);
    if operations || config.recency == Recency::Commit {
        return count_through(config, limits, body, &mut visit);
    }
    let config = Config { interleaving: Some(Interleaving::Transactions), ..*config };
    let mut explored = Explored::default();
    let mut waiting = vec![Plan::default()];
    while let Some(plan) = waiting.pop() {
        if explored.runs == limits.max_runs {
            explored.end = End::MaxRuns;
            break;
        }
        let guide = Arc::new(Mutex::new(Guide::new(plan)));
        let choice = Box::new(guide.clone());
        let made = panics::with(Panics::Kept, || run_at(&config, Strength::Explorable, choice, body.clone()));
        let guide = guide.lock().unwrap_or_else(PoisonError::into_inner);
        explored.runs += 1;
        let trace = trace(&made, &guide);
        if !trace.follows(&guide.plan) {
            let what = format!("a run did not follow a plan of {} transactions", guide.plan.steps.len());
            return Err(NotRepeatable { what });
        }
        if is_within_its_levels(&made, &config) {
            explored.histories += 1;
            if visit(&made).is_break() {
                explored.end = End::Stopped;
                break;
            }
        } else {
            explored.filtered += 1;
        }
        push_siblings(&guide.plan, &trace, &mut waiting);
    }
    Ok(explored)
}

/// Adds the plans of the partial histories that hang off the path from the plan to the complete run.
fn push_siblings(plan: &Plan, trace: &Trace, waiting: &mut Vec<Plan>) {
    let execution = Execution::new(plan, trace);
    let first_new_commit = plan.steps.len().saturating_sub(1);
    for position in first_new_commit..trace.txns.len() {
        push_other_candidates(plan, trace, position, waiting);
        execution.push_reorderings(position, waiting);
    }
}

/// Adds a plan for each candidate that a new read did not take.
fn push_other_candidates(plan: &Plan, trace: &Trace, position: usize, waiting: &mut Vec<Plan>) {
    let given = plan.steps.get(position).map_or(0, |step| step.sources.len());
    for (index, read) in trace.txns[position].reads.iter().enumerate().skip(given) {
        for &candidate in read.candidates.iter().filter(|&&candidate| candidate != read.source) {
            let mut steps: Vec<Step> = (0..=position).map(|earlier| trace.step(plan, earlier)).collect();
            let sources = &mut steps[position].sources;
            sources.truncate(index);
            sources.push(candidate);
            waiting.push(Plan { steps });
        }
    }
}

fn trace(run: &Run, guide: &Guide) -> Trace {
    let txns = run.footprints().into_iter().zip(run.lineage()).map(|(print, lineage)| {
        let mut number = 0;
        let mut reads = Vec::new();
        let mut writes: Vec<u32> = Vec::new();
        for step in &print.steps {
            match *step {
                FootprintStep::Read { key, source, .. } => {
                    let candidates = guide.candidates.get(&(print.place, number)).cloned().unwrap_or_default();
                    reads.push(TraceRead { key, source, candidates });
                    number += 1;
                }
                FootprintStep::Write { key } if print.status == Status::Committed && !writes.contains(&key) => {
                    writes.push(key);
                }
                FootprintStep::Write { .. } => {}
            }
        }
        let Footprint { place, level, status, reads: mode, .. } = print;
        let (task, after) = (lineage.task.0, lineage.after.clone());
        TraceTxn { task, place, level: explorable(level), status, mode, after, reads, writes }
    });
    Trace { txns: txns.collect() }
}

fn is_within_its_levels(run: &Run, config: &Config) -> bool {
    let weak = |print: &Footprint| explorable(print.level) == print.level;
    if run.footprints().iter().all(weak) {
        return true;
    }
    let history = run.history();
    let assumptions = Assumptions { sessions: true, real_time: config.recency == Recency::Commit };
    let checker = Checker::new(&history, CheckOptions { assumptions, ..CheckOptions::default() });
    checker.holds(Scope::Declared) == Some(true)
}

/// Every answer to every question, depth first.
fn count_through(
    config: &Config,
    limits: ExploreLimits,
    body: impl Fn(Db) + Clone + 'static,
    visit: &mut dyn FnMut(&Run) -> ControlFlow<()>,
) -> Result<Explored, NotRepeatable> {
    let config = Config { interleaving: Some(Interleaving::Operations), ..*config };
    let choice = Arc::new(Mutex::new(Exhaustive::default()));
    let mut explored = Explored::default();
    let mut seen: FxHashSet<Vec<Seen>> = FxHashSet::default();
    loop {
        if explored.runs == limits.max_runs {
            explored.end = End::MaxRuns;
            return Ok(explored);
        }
        let made = run(&config, Box::new(choice.clone()), body.clone());
        explored.runs += 1;
        let mut counter = choice.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(divergence) = counter.divergence() {
            return Err(NotRepeatable { what: divergence.to_string() });
        }
        if seen.insert(identity(&made)) {
            explored.histories += 1;
            if visit(&made).is_break() {
                explored.end = End::Stopped;
                return Ok(explored);
            }
        } else {
            explored.repeated += 1;
        }
        if !counter.next_run() {
            return Ok(explored);
        }
    }
}

/// What tells histories apart: for each transaction how it ended and what its reads returned.
type Seen = (Place, bool, Vec<(Option<Place>, u32)>);

fn identity(run: &Run) -> Vec<Seen> {
    let mut seen: Vec<Seen> = run
        .footprints()
        .into_iter()
        .map(|print| {
            let reads = print.steps.iter().filter_map(|step| match *step {
                FootprintStep::Read { source, write, .. } => Some((source, write)),
                FootprintStep::Write { .. } => None,
            });
            (print.place, print.status == Status::Committed, reads.collect())
        })
        .collect();
    seen.sort();
    seen
}
