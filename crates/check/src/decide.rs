//! Does some commit order satisfy the definition? Picks the cheapest engine that is exact for the scope.
//!
//! | levels | engine |
//! | --- | --- |
//! | `ru rc ec ra` | forced edges, one topological sort |
//! | `cc` | clocks, forced edges, one topological sort |
//! | `mvrc pc psi si ser sser`, mixtures | saturation; then a guess; then a SAT solver |

use rustc_hash::FxHashMap;
use skew_model::level::{Sees, Serializable};
use skew_model::{Finding, Level, Limit, Scope};

use crate::base::{Base, Chains, Extended};
use crate::causal::causal_edges;
use crate::choose::{Chosen, choose};
use crate::core;
use crate::estimate::estimates;
use crate::facts::{Facts, Node};
use crate::graph::{Graph, Predecessors};
use crate::oracle;
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

/// So many transactions at most are decided by trying all orders, where the engines do not know all that a level asks.
const MAX_TRIED: usize = 7;

/// Decides a scope.
///
/// The engines ask everything of an order that they know how to ask. Where the definition asks more ([`beyond`]), their
/// *violated* stands; an order that they propose is held against the definition.
pub(crate) fn decide(facts: &Facts, scope: Scope, limits: &Limits) -> Decision {
    let decision = decide_by_engines(facts, scope, limits);
    let Some(reason) = beyond(facts, scope) else { return decision };
    let mut marked: Vec<Node> = facts.serializable(scope, Serializable::InHappensBefore).collect();
    let mut guesses = Vec::new();
    match decision {
        Decision::Violated(_) | Decision::Finding(_) => return decision,
        Decision::Holds { order, .. } if order_is_valid(facts, scope, &order) => {
            return Decision::Holds { order, verified: true };
        }
        Decision::Holds { order, .. } => {
            let place: FxHashMap<Node, usize> = order.into_iter().zip(0..).collect();
            marked.sort_by_key(|node| place[node]);
            guesses.push(marked.clone());
        }
        Decision::Unknown(_) => {}
    }
    if facts.history.has_times() {
        marked.sort_by_key(|&node| facts.history.span(facts.txns[node as usize]).map(|span| span.end));
        guesses.push(marked);
    }
    // An order of the serializable transactions says what is seen of them; and a serial order is one of every level.
    let ordered = guesses.iter().map(|chain| decide_from(&Base::with_order(facts, scope, chain), limits));
    for decision in ordered.chain([decide_by_engines(facts, Scope::Level(Level::Ser), limits)]) {
        if let Decision::Holds { order, .. } = decision
            && order_is_valid(facts, scope, &order)
        {
            return Decision::Holds { order, verified: true };
        }
    }
    if facts.len() > MAX_TRIED + 1 {
        return Decision::Unknown(Limit::NoEngine(reason));
    }
    match oracle::satisfying_order(facts, scope) {
        Some(order) => Decision::Holds { order, verified: true },
        None => Decision::Violated((1..facts.len() as Node).collect()),
    }
}

/// What a definition asks of this history that no engine knows.
pub(crate) fn beyond(facts: &Facts, scope: Scope) -> Option<&'static str> {
    let any = |wanted: &dyn Fn(Level) -> bool| (1..facts.len() as Node).any(|node| wanted(facts.level(node, scope)));
    if facts.serializable_apart(scope).next().is_some() {
        return Some("which transactions are serializable among themselves, beside others that are not");
    }
    if !facts.deleted_keys().is_empty() && any(&|level| level.sees(Sees::RowConflicts)) {
        return Some("which writers of a row conflict, where rows are deleted and inserted again");
    }
    let marked = || facts.serializable(scope, Serializable::InHappensBefore);
    let passes_on = |level: Level| level.sees(Sees::Causes) || level.sees(Sees::CausesAndVersions);
    if marked().nth(1).is_some() && any(&passes_on) {
        return Some("what is seen of serializable transactions at causal levels");
    }
    None
}

fn decide_by_engines(facts: &Facts, scope: Scope, limits: &Limits) -> Decision {
    match breaking_finding(facts, scope) {
        Some(finding) => Decision::Finding(finding.clone()),
        None => decide_from(&Base::new(facts, scope), limits),
    }
}

fn decide_from(base: &Base, limits: &Limits) -> Decision {
    let (facts, scope) = (base.facts, base.scope);
    let nodes = 1..facts.len() as Node;
    let definition = |node: Node| facts.level(node, scope).definition();
    let mut forced = static_edges(base);
    if nodes.clone().any(|node| definition(node).sees.contains(&Sees::Causes)) {
        let order = match base.topological_order() {
            Ok(order) => order,
            Err(cycle) => return Decision::Violated(core::of_static_cycle(base, &forced, &cycle)),
        };
        let chains = Chains::new(base, &order);
        let needed = facts.len() as u64 * chains.members.len() as u64 * 4;
        if needed > limits.max_bytes {
            return Decision::Unknown(Limit::Memory { needed, allowed: limits.max_bytes });
        }
        let writers = Writers::new(facts, &chains, Some);
        forced.extend(causal_edges(base, &chains, &writers, &order));
    }
    let pairs: Vec<_> = forced.iter().map(|edge| (edge.from, edge.to)).collect();
    let more = Predecessors::from_edges(facts.len(), &pairs);
    drop(pairs);
    let order = match (Extended { base, more: &more }).topological_order() {
        Ok(order) => order,
        Err(cycle) => return Decision::Violated(core::of_static_cycle(base, &forced, &cycle)),
    };
    let settled = |node: Node| is_static(facts.level(node, scope)) || definition(node).sees == [Sees::Causes];
    if nodes.clone().all(settled) {
        Decision::Holds { order, verified: false }
    } else {
        decide_by_events(base, &forced, limits)
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
            let verified = order_is_valid(base.facts, base.scope, &order);
            let asks_more = beyond(base.facts, base.scope).is_some();
            assert!(verified || asks_more, "a choice without objections is a valid commit order");
            Decision::Holds { order, verified }
        }
        Chosen::Impossible(involved) => Decision::Violated(core::of_objections(&saturated, &involved)),
        Chosen::GaveUp => Decision::Unknown(Limit::Conflicts(limits.max_conflicts)),
    }
}
