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
//! complete histories are filtered: small ones in outline, others by the checker. At `psi`, `si` and `ser` a transaction
//! may also be refused when it commits: that is one more branch, kept if it meets a transaction at a key that neither
//! knows of the other; at most twice in a row, so that retries end. (Deadlocks at `mvrc` are not explored.) `ru`, where
//! operations of running transactions are seen, and real time, where interleavings are the point, are explored by
//! counting through all choices instead.

mod count;
mod guide;
mod plan;
mod reorder;

use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashSet;
use skew_model::{Level, Scope, Status};

use crate::db::Db;
use crate::engine::Recency;
use crate::panics::{self, Panics};
use crate::record::{Footprint, FootprintStep};
use crate::run::{Config, Interleaving, Run, run_at};
use crate::sight::explorable;
use crate::store::{Reads, Strength};
use crate::strategies::Random;
use count::count_through;
use guide::{Asked, Guide};
use plan::{Plan, Step, Trace, TraceRead, TraceTxn};
use reorder::Execution;

/// How much an exploration may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExploreLimits {
    /// How many runs it may make.
    pub max_runs: u64,
    /// Whether transactions are also refused.
    pub refused: RefusedRuns,
}

/// Whether exploration also makes the runs in which transactions are refused because of a conflict.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum RefusedRuns {
    /// It does, so that what programs do about it is explored too.
    #[default]
    Made,
    /// Only histories in which everybody who wants to commit does so. What hangs off a run in which somebody is refused
    /// has that refusal too, so that none of these histories is lost.
    LeftOut,
}

impl Default for ExploreLimits {
    fn default() -> Self {
        ExploreLimits { max_runs: 1_000_000, refused: RefusedRuns::Made }
    }
}

/// What an exploration did.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Explored {
    /// The complete runs that were made.
    pub runs: u64,
    /// The histories within their levels, each visited once.
    pub histories: u64,
    /// How many of them have transactions that were refused because of a conflict.
    pub refused: u64,
    /// The runs whose history was not within the level and was left out, or whose final check did not find what is left;
    /// always 0 at `rc`, `ra` and `cc` without a final check.
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
    /// The checker could not decide whether some history is within its level.
    Undecided,
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
/// // Serializable ones come one after another; or somebody is refused.
/// assert_eq!(at(Level::Ser).histories - at(Level::Ser).refused, 6);
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
    let mut explorer = Explorer { config, limits, body, keys: Vec::new() };
    let first = explorer.make(Plan::default()).run;
    if needs_counting(&first) {
        return count_through(&config, limits, explorer.body, &mut visit);
    }
    if first.scans() {
        explorer.find_keys()?;
    }
    match explorer.explore(&mut visit)? {
        Ended::So(explored) => Ok(explored),
        Ended::NewKey(_) => {
            Err(NotRepeatable { what: "only some runs scan, and find keys that others do not".to_owned() })
        }
    }
}

/// The keys that an exploration of the program knows from the start.
pub(crate) fn known_keys(config: &Config, body: impl Fn(Db) + Clone + 'static) -> Vec<String> {
    let mut explorer = Explorer { config: *config, limits: ExploreLimits::default(), body, keys: Vec::new() };
    if explorer.make(Plan::default()).run.scans() {
        // A program that cannot be explored has no explored runs to be made again.
        let _ = explorer.find_keys();
    }
    explorer.keys
}

/// How many random runs look for keys.
const RANDOM_RUNS: u64 = 200;

/// Whether transactions of the run have to be told apart by more than whom they read from: where they overlap within
/// one task, see what is not committed, or bring real time along.
fn needs_counting(run: &Run) -> bool {
    run.overlaps() || run.has_level(|level| level == Level::Ru || level.is_strict())
}

/// A program that is explored.
struct Explorer<F> {
    config: Config,
    limits: ExploreLimits,
    body: F,
    /// Keys that are there from the start, so that scans see that they hold nothing.
    keys: Vec<String>,
}

/// A run, with what its guide saw.
struct Guided {
    run: Run,
    guide: Guide,
}

/// How a pass through all plans ended.
enum Ended {
    So(Explored),
    /// A run that scans has used keys that were not known.
    NewKey(Vec<String>),
}

impl<F: Fn(Db) + Clone + 'static> Explorer<F> {
    fn make(&self, plan: Plan) -> Guided {
        let guide = Arc::new(Mutex::new(Guide::new(plan)));
        let choice = Box::new(guide.clone());
        let body = self.body.clone();
        let run = panics::with(Panics::Kept, || run_at(&self.config, Strength::Explorable, &self.keys, choice, body));
        let guide = std::mem::take(&mut *guide.lock().unwrap_or_else(PoisonError::into_inner));
        Guided { run, guide }
    }

    /// Explores without telling, until all keys are known that scans may see. Most of them show in a few random runs.
    fn find_keys(&mut self) -> Result<(), NotRepeatable> {
        for seed in 0..RANDOM_RUNS {
            let (choice, body) = (Box::new(Random::new(seed)), self.body.clone());
            let run =
                panics::with(Panics::Kept, || run_at(&self.config, Strength::Explorable, &self.keys, choice, body));
            self.keys = run.key_names();
        }
        while let Ended::NewKey(keys) = self.explore(&mut |_| ControlFlow::Continue(()))? {
            self.keys = keys;
        }
        Ok(())
    }

    fn explore(&self, visit: &mut dyn FnMut(&Run) -> ControlFlow<()>) -> Result<Ended, NotRepeatable> {
        let mut explored = Explored::default();
        let mut waiting = vec![Plan::default()];
        let mut refusals = FxHashSet::default();
        while let Some(plan) = waiting.pop() {
            if explored.runs == self.limits.max_runs {
                explored.end = End::MaxRuns;
                break;
            }
            let Guided { run, mut guide } = self.make(plan);
            explored.runs += 1;
            let trace = trace(&run, &mut guide);
            is_explorable(&run, &trace, &guide.plan)?;
            if run.scans() && run.key_names().len() > self.keys.len() {
                return Ok(Ended::NewKey(run.key_names()));
            }
            let execution = Execution::new(&guide.plan, &trace);
            match judge(&run, &trace, &execution) {
                Some(true) => {
                    explored.histories += 1;
                    explored.refused += u64::from(trace.txns.iter().any(|txn| txn.refused));
                    if visit(&run).is_break() {
                        explored.end = End::Stopped;
                        break;
                    }
                }
                Some(false) => explored.filtered += 1,
                None => explored.end = End::Undecided,
            }
            push_siblings(&guide.plan, &trace, &execution, &mut waiting);
            if self.limits.refused == RefusedRuns::Made {
                push_refusals(&guide.plan, &trace, &execution, &mut refusals, &mut waiting);
            }
        }
        Ok(Ended::So(explored))
    }
}

/// Whether the run is one that plans can describe.
fn is_explorable(run: &Run, trace: &Trace, plan: &Plan) -> Result<(), NotRepeatable> {
    let what = if !trace.follows(plan) {
        format!("a run did not follow a plan of {} transactions", plan.steps.len())
    } else if needs_counting(run) {
        "only some runs have transactions at `ru` or `sser`, or two at a time in one session's code".to_owned()
    } else if trace.shares_sessions() {
        "two sessions' code uses one and the same session".to_owned()
    } else {
        return Ok(());
    };
    Err(NotRepeatable { what })
}

/// Adds the plans of the partial histories that hang off the path from the plan to the complete run.
fn push_siblings(plan: &Plan, trace: &Trace, execution: &Execution<'_>, waiting: &mut Vec<Plan>) {
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

/// Who has been refused so often, one transaction after the other, gets through: retries end.
const REFUSALS_IN_A_ROW: usize = 2;

/// Adds a plan for each transaction that could be refused when it commits, because it meets somebody else at a key in
/// this run. Whether it does may show only in later runs that begin in the same way, so all transactions are looked at,
/// and what was planned before is remembered.
fn push_refusals(
    plan: &Plan,
    trace: &Trace,
    execution: &Execution<'_>,
    planned: &mut FxHashSet<Plan>,
    waiting: &mut Vec<Plan>,
) {
    for position in (0..trace.txns.len()).filter(|&position| trace.txns[position].refusable) {
        let mut steps: Vec<Step> = (0..=position).map(|earlier| trace.step(plan, earlier)).collect();
        // Who was pulled forward was refused, or not, where it had its turn.
        let often = trace.refused_before(position) >= REFUSALS_IN_A_ROW;
        if often || steps[position].pulled || !execution.may_be_refused(position) {
            continue;
        }
        steps[position].refused = true;
        let refusal = Plan { steps };
        if planned.insert(refusal.clone()) {
            waiting.push(refusal);
        }
    }
}

fn trace(run: &Run, guide: &mut Guide) -> Trace {
    let mut asked = std::mem::take(&mut guide.candidates).into_iter().peekable();
    let txns = run.footprints().into_iter().zip(run.lineage()).map(|(print, lineage)| {
        let mut number = 0;
        let mut reads = Vec::new();
        let mut attempted: Vec<u32> = Vec::new();
        for step in &print.steps {
            match *step {
                FootprintStep::Read { key, source, .. } => {
                    let is_earlier = |asked: &Asked| asked.reader == print.place && asked.number < number;
                    while asked.next_if(is_earlier).is_some() {}
                    let is_it = |asked: &Asked| asked.reader == print.place && asked.number == number;
                    let candidates = asked.next_if(is_it).map(|asked| asked.sources).unwrap_or_default();
                    reads.push(TraceRead { key, source, candidates });
                    number += 1;
                }
                FootprintStep::Write { key } if !attempted.contains(&key) => attempted.push(key),
                FootprintStep::Write { .. } => {}
            }
        }
        while asked.next_if(|asked| asked.reader == print.place).is_some() {}
        let Footprint { place, level, status, reads: mode, .. } = print;
        let (task, after) = (lineage.task.0, lineage.after.clone());
        let (refused, refusable) = (guide.refused.contains(&place), guide.refusable.contains(&place));
        let (asked, level) = (level, explorable(level));
        let writes = if status == Status::Committed { attempted.clone() } else { Vec::new() };
        TraceTxn { task, place, asked, level, status, refused, refusable, mode, after, reads, writes, attempted }
    });
    Trace { txns: txns.collect() }
}

/// Whether a store could have made the run at the levels that were asked for: what was committed, with what rolled-back
/// transactions have read, is within them; and whoever was refused had met somebody. `None` is unknown.
fn judge(run: &Run, trace: &Trace, execution: &Execution<'_>) -> Option<bool> {
    // A final check has to find what is left, which its level alone does not ask for.
    let is_check = |txn: &TraceTxn| matches!(txn.mode, Reads::Settled | Reads::Latest);
    if trace.txns.iter().all(|txn| txn.asked == txn.level && !is_check(txn)) {
        return Some(true);
    }
    let mut refused = (0..trace.txns.len()).filter(|&position| trace.txns[position].refused);
    if !refused.all(|position| execution.may_be_refused(position)) {
        return Some(false);
    }
    run.is_within(Scope::Declared)
}
