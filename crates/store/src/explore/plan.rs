//! The language between the driver and a run: plans go in, traces come out.

use skew_model::{Level, Status};

use crate::candidates::Reads;
use crate::choice::Place;

/// One transaction that a run must execute, and what it must read.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Step {
    /// The task whose next transaction is executed, by the number of its session.
    pub(crate) task: u32,
    /// Whom each read of other transactions' writes reads from, in order; `None` is the initial transaction.
    pub(crate) sources: Vec<Option<Place>>,
    /// Whether it is refused when it commits.
    pub(crate) refused: bool,
    /// Whether a reordering has pulled it forward, out of turn.
    pub(crate) pulled: bool,
    /// How many of the leading reads no later reordering may touch: all up to the last one that a reordering has set.
    pub(crate) pinned: usize,
}

/// What a run must do before it may decide by itself. The sources of the last step may end before its reads do; all
/// other transactions are given in full.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
}

/// A read of an executed transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TraceRead {
    pub(crate) key: u32,
    pub(crate) source: Option<Place>,
    /// Whom it could have read from; empty where there was no choice.
    pub(crate) candidates: Vec<Option<Place>>,
}

/// An executed transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TraceTxn {
    pub(crate) task: u32,
    pub(crate) place: Place,
    /// The level that it asked for.
    pub(crate) asked: Level,
    /// The level at which it was executed.
    pub(crate) level: Level,
    pub(crate) status: Status,
    /// Whether the plan had it refused.
    pub(crate) refused: bool,
    /// Whether a plan could have had it refused.
    pub(crate) refusable: bool,
    pub(crate) mode: Reads,
    /// For each task, how many of its transactions the program had finished before this one could begin: its own
    /// earlier ones, and those of sessions that it was spawned by or joined.
    pub(crate) after: Vec<u32>,
    pub(crate) reads: Vec<TraceRead>,
    /// The keys that it made visible; empty if it was rolled back.
    pub(crate) writes: Vec<u32>,
    /// The keys that it wrote, whatever became of it.
    pub(crate) attempted: Vec<u32>,
}

/// A complete run: its transactions in the order executed, none interleaved with another.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Trace {
    pub(crate) txns: Vec<TraceTxn>,
}

impl Trace {
    /// Where the transaction was executed.
    pub(crate) fn position(&self, place: Place) -> usize {
        let position = self.txns.iter().position(|txn| txn.place == place);
        position.expect("a trace reads only from its own transactions")
    }

    /// The step that makes a run repeat the transaction at this position.
    pub(crate) fn step(&self, plan: &Plan, position: usize) -> Step {
        let txn = &self.txns[position];
        let sources = txn.reads.iter().map(|read| read.source).collect();
        let planned = plan.steps.get(position);
        let (pinned, pulled) = planned.map_or((0, false), |step| (step.pinned, step.pulled));
        Step { task: txn.task, sources, refused: txn.refused, pulled, pinned }
    }

    /// How many transactions of its task were refused right before the one at this position.
    pub(crate) fn refused_before(&self, position: usize) -> usize {
        let task = self.txns[position].task;
        let earlier = self.txns[..position].iter().rev().filter(|txn| txn.task == task);
        earlier.take_while(|txn| txn.refused).count()
    }

    /// Whether two tasks use one session.
    pub(crate) fn shares_sessions(&self) -> bool {
        let shared = |txn: &TraceTxn| {
            self.txns.iter().any(|other| other.place.session == txn.place.session && other.task != txn.task)
        };
        self.txns.iter().any(shared)
    }

    /// Whether the run began with what the plan demands.
    pub(crate) fn follows(&self, plan: &Plan) -> bool {
        let last = plan.steps.len().wrapping_sub(1);
        self.txns.len() >= plan.steps.len()
            && plan.steps.iter().zip(&self.txns).enumerate().all(|(position, (step, txn))| {
                let (given, made) = (step.sources.len(), txn.reads.len());
                step.task == txn.task
                    && step.refused == txn.refused
                    && (made == given || position == last && made > given)
                    && step.sources.iter().zip(&txn.reads).all(|(source, read)| *source == read.source)
            })
    }
}
