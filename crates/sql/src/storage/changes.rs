//! What the parts of a statement that changes data in WITH keep from each other.

use crate::catalog::Oid;
use crate::ir::Plan;
use crate::storage::world::LooksAt;

/// Where several parts of a statement change data or look at it, each sees what was there before all of them: the tables
/// that a part looks at and another one may change. A table that only the part uses which changes it is none of them.
pub(crate) fn seen_across(plan: &Plan) -> LooksAt {
    let Plan::With { ctes, input } = plan else { return LooksAt::default() };
    let in_with =
        ctes.iter().flat_map(|cte| [Some(&cte.query.plan), cte.recursive.as_ref().map(|(query, _)| &query.plan)]);
    let parts: Vec<&Plan> = in_with.flatten().chain([&**input]).collect();
    if !ctes.iter().any(|cte| is_change(&cte.query.plan)) {
        return LooksAt::default();
    }
    let uses: Vec<(bool, Vec<Oid>)> = parts.iter().map(|part| (is_change(part), part.tables())).collect();
    let is_seen = |at: usize, table: &Oid| {
        !uses[at].0 || uses.iter().enumerate().any(|(other, (_, tables))| other != at && tables.contains(table))
    };
    let seen =
        uses.iter().enumerate().flat_map(|(at, (_, tables))| tables.iter().filter(move |table| is_seen(at, table)));
    LooksAt { tables: seen.copied().collect(), everything: plan.calls_on_its_behalf() }
}

fn is_change(plan: &Plan) -> bool {
    match plan {
        Plan::Change(_) => true,
        Plan::With { input, .. } => is_change(input),
        _ => false,
    }
}
