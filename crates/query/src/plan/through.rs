//! Lookups through a query: a query in FROM that stays one is asked for each tuple of the other side, if that leads to a key.

use crate::ir::{Access, Expr, KeyValue, Plan, Query};
use crate::plan::Planner;

impl Planner<'_> {
    /// The query with conditions on its slot 0 that may look at the tuple around (`up = 1`), if one of them leads to a key
    /// in it. The query itself was written where that tuple is not around.
    pub(super) fn through(&self, query: &Query, conditions: &[Expr]) -> Option<Plan> {
        let mut query = query.clone();
        query.plan.lift(1);
        let planned = self.query_in_from(query, conditions.to_vec());
        looks_up(&planned, 1).then_some(planned)
    }
}

/// Whether a scan in a plan is by a key that comes from the tuple so far up.
fn looks_up(plan: &Plan, up: usize) -> bool {
    match plan {
        Plan::Scan(scan) => key_from(&scan.access, up),
        Plan::Join(join) => looks_up(&join.left, up) || looks_up(&join.right, up + usize::from(join.lateral)),
        other => {
            let mut found = false;
            crate::ir::subplans(other, &mut |below| found = found || looks_up(below, up));
            found
        }
    }
}

fn key_from(access: &Access, wanted: usize) -> bool {
    let Access::Index { equal, .. } = access else { return false };
    equal.iter().any(|value| match value {
        KeyValue::One(value) => {
            let mut found = false;
            value.outward(&mut |up, _| found |= up == wanted);
            found
        }
        _ => false,
    })
}
