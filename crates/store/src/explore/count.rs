//! Exploration by counting through all answers, for what plans of transactions cannot describe: dirty reads, real time,
//! transactions that overlap within one task. Histories that were seen are not told again.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashSet;
use skew_model::Status;

use super::{End, ExploreLimits, Explored, NotRepeatable};
use crate::choice::Place;
use crate::db::Db;
use crate::picks::Exhaustive;
use crate::record::FootprintStep;
use crate::run::{Config, Interleaving, Run, run};

/// Every answer to every question, depth first.
pub(super) fn count_through(
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
