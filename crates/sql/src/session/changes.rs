//! How many parts of a statement change data.

use crate::ir::Plan;

/// Whether more than one part does: a change with WITH whose expressions change data, too.
pub(crate) fn several(plan: &Plan) -> bool {
    let Plan::With { ctes, input } = plan else { return false };
    let changing = ctes.iter().filter(|cte| is_change(&cte.query.plan)).count();
    changing + usize::from(is_change(input)) > 1 || changing > 0
}

fn is_change(plan: &Plan) -> bool {
    match plan {
        Plan::Change(_) => true,
        Plan::With { input, .. } => is_change(input),
        _ => false,
    }
}
