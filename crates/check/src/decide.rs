//! Does some commit order satisfy the definition? Picks the cheapest engine that is exact for the scope.
//!
//! | levels | engine |
//! | --- | --- |
//! | `ru rc ec ra` | forced edges, one topological sort |
//! | `cc` | clocks, forced edges, one topological sort |
//! | `mvrc pc psi si ser sser`, mixtures | saturation; then a guess; then a SAT solver |

use skew_model::level::Sees;
use skew_model::{Finding, Limit, Scope};

use crate::base::{Base, Chains, Extended};
use crate::causal::causal_edges;
use crate::choose::{Chosen, choose};
use crate::core;
use crate::estimate::estimates;
use crate::facts::{Facts, Node};
use crate::graph::{Graph, Predecessors};
use crate::reach::TooLarge;
use crate::refine::refined_guess;
use crate::saturate::Saturated;
use crate::schedule::guess;
use crate::static_edges::{is_static, static_edges};
use crate::verify::order_is_valid;
use crate::writers::Writers;

/// How much work a check may do. Hitting a limit is *unknown*, never a guess.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How many objections the search over write orders may meet.
    pub max_conflicts: u64,
    /// How many bytes reachability may take.
    pub max_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_conflicts: 200_000, max_bytes: 8 << 30 }
    }
}

/// The conflicts that the search may meet before a better guess is tried.
const IMPATIENT: u64 = 4096;

/// What an engine found.
pub(crate) enum Decision {
    /// This commit order, the initial transaction first. `verified` where it came from a guess or a search, and was
    /// therefore checked against the definition.
    Holds { order: Vec<Node>, verified: bool },
    /// An operation that no order explains.
    Finding(Finding),
    /// These transactions alone have no commit order.
    Violated(Vec<Node>),
    /// A limit was hit.
    Unknown(Limit),
}

/// Decides a scope.
pub(crate) fn decide(facts: &Facts, scope: Scope, limits: &Limits) -> Decision {
    if let Some(finding) = breaking_finding(facts, scope) {
        return Decision::Finding(finding.clone());
    }
    let base = Base::new(facts, scope);
    let nodes = 1..facts.len() as Node;
    let definition = |node: Node| facts.level(node, scope).definition();
    let mut forced = static_edges(&base);
    if nodes.clone().any(|node| definition(node).sees.contains(&Sees::Causes)) {
        let order = match base.topological_order() {
            Ok(order) => order,
            Err(cycle) => return Decision::Violated(core::of_static_cycle(&base, &forced, &cycle)),
        };
        let chains = Chains::new(&base, &order);
        let needed = facts.len() as u64 * chains.members.len() as u64 * 4;
        if needed > limits.max_bytes {
            return Decision::Unknown(Limit::Memory { needed, allowed: limits.max_bytes });
        }
        let writers = Writers::new(facts, &chains, Some);
        forced.extend(causal_edges(&base, &chains, &writers, &order));
    }
    let pairs: Vec<_> = forced.iter().map(|edge| (edge.from, edge.to)).collect();
    let more = Predecessors::from_edges(facts.len(), &pairs);
    drop(pairs);
    let order = match (Extended { base: &base, more: &more }).topological_order() {
        Ok(order) => order,
        Err(cycle) => return Decision::Violated(core::of_static_cycle(&base, &forced, &cycle)),
    };
    let settled = |node: Node| is_static(facts.level(node, scope)) || definition(node).sees == [Sees::Causes];
    if nodes.clone().all(settled) {
        Decision::Holds { order, verified: false }
    } else {
        decide_by_events(&base, &forced, limits)
    }
}

fn breaking_finding<'a>(facts: &'a Facts, scope: Scope) -> Option<&'a Finding> {
    facts.findings.iter().find(|finding| {
        let level = match (scope, finding.op) {
            (Scope::Declared, Some(op)) => facts.history.txn(facts.history.txn_of(op)).level,
            (Scope::Level(level), _) => Some(level),
            _ => None,
        };
        level.is_none_or(|level| finding.kind.breaks(level))
    })
}

fn decide_by_events(base: &Base, forced: &[crate::static_edges::Forced], limits: &Limits) -> Decision {
    let mut saturated = match Saturated::new(base, forced, limits.max_bytes) {
        Ok(saturated) => saturated,
        Err(TooLarge(needed)) => return Decision::Unknown(Limit::Memory { needed, allowed: limits.max_bytes }),
    };
    if let Err((side, cycle)) = saturated.run() {
        return Decision::Violated(core::of_cycle(&saturated, side, &cycle));
    }
    let estimates = estimates(&saturated.time);
    if let Some(order) = guess(&saturated, &estimates).filter(|order| order_is_valid(base.facts, base.scope, order)) {
        return Decision::Holds { order, verified: true };
    }
    // A solver with little patience decides nearly everything; a better guess helps where many writers are open.
    let mut chosen = choose(&saturated, &estimates, limits.max_conflicts.min(IMPATIENT));
    if matches!(chosen, Chosen::GaveUp) && limits.max_conflicts > IMPATIENT {
        if let Some(order) = refined_guess(&saturated).filter(|order| order_is_valid(base.facts, base.scope, order)) {
            return Decision::Holds { order, verified: true };
        }
        chosen = choose(&saturated, &estimates, limits.max_conflicts);
    }
    match chosen {
        Chosen::Order(order) => {
            assert!(
                order_is_valid(base.facts, base.scope, &order),
                "a choice without objections is a valid commit order"
            );
            Decision::Holds { order, verified: true }
        }
        Chosen::Impossible(involved) => Decision::Violated(core::of_objections(&saturated, &involved)),
        Chosen::GaveUp => Decision::Unknown(Limit::Conflicts(limits.max_conflicts)),
    }
}
