//! The choice that follows a plan, then the fixed policy, and remembers what it passed by.

use rustc_hash::FxHashSet;
use skew_model::SessionId;

use super::plan::Plan;
use crate::choice::{Choice, Place, Point};

/// Follows a plan. Beyond it, the lowest session that can run goes next, and reads take the latest valid write.
#[derive(Default, Debug)]
pub(crate) struct Guide {
    pub(crate) plan: Plan,
    /// How many transactions have begun.
    begun: usize,
    /// Who committed, and could have been refused.
    pub(crate) refusable: FxHashSet<Place>,
    /// Who was refused.
    pub(crate) refused: FxHashSet<Place>,
    /// The reads that had alternatives, in the order in which they were made.
    pub(crate) candidates: Vec<Asked>,
}

/// A read that had alternatives.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) reader: Place,
    /// How many reads of other transactions' writes its transaction had made before.
    pub(crate) number: u32,
    pub(crate) sources: Vec<Option<Place>>,
}

impl Guide {
    pub(crate) fn new(plan: Plan) -> Guide {
        Guide { plan, ..Guide::default() }
    }
}

impl Choice for Guide {
    fn pick(&mut self, point: Point<'_>) -> usize {
        match point {
            Point::Turn(sessions) => {
                let planned = self.plan.steps.get(self.begun).map(|step| SessionId(step.task));
                planned.and_then(|session| sessions.iter().position(|&other| other == session)).unwrap_or(0)
            }
            Point::Source(read) => {
                let (reader, number, sources) = (read.reader, read.number, read.sources.to_vec());
                self.candidates.push(Asked { reader, number, sources });
                let step = self.begun.checked_sub(1).and_then(|at| self.plan.steps.get(at));
                let planned = step.and_then(|step| step.sources.get(read.number as usize));
                let at = planned.and_then(|planned| read.sources.iter().position(|source| source == planned));
                at.unwrap_or(read.count - 1)
            }
        }
    }

    fn sees_sources(&self) -> bool {
        true
    }

    fn refuses(&mut self, txn: Place) -> bool {
        let step = self.begun.checked_sub(1).and_then(|at| self.plan.steps.get(at));
        let refused = step.is_some_and(|step| step.refused);
        if refused { &mut self.refused } else { &mut self.refusable }.insert(txn);
        refused
    }

    fn began(&mut self, _: Place) {
        self.begun += 1;
    }
}
