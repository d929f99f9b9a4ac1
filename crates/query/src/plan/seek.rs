//! Which scans look for rows that get locked: those rows are looked at again, in their newest version.

use crate::ir::Plan;

/// The rows of this slot get locked if they qualify. Where something else is made of them before (a first one of a few,
/// say) that is not done again, and what the scan has seen stands.
pub(super) fn mark(plan: &mut Plan, slot: usize) {
    match plan {
        Plan::Scan(scan) => scan.seeks = true,
        Plan::Filter { input, .. } | Plan::Sort { input, .. } | Plan::Lock { input, .. } | Plan::With { input, .. } => {
            mark(input, slot);
        }
        Plan::Join(join) => match slot.checked_sub(join.slots.0) {
            None => mark(&mut join.left, slot),
            Some(slot) => mark(&mut join.right, slot),
        },
        Plan::Arrange { input, slots } => {
            if let Some(slot) = slots.get(slot) {
                mark(input, *slot);
            }
        }
        _ => {}
    }
}
