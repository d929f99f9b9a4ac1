//! Why a small history has no commit order, as edges with reasons.
//!
//! Runs the same engines again on a part that [`crate::shrink`] made, and turns what they inferred into an
//! [`Explanation`]: an *ignored* read becomes the path by which its transaction had to see a writer and the `rw` edge
//! that says it did not; other inferred edges carry the paths they follow from. Where saturation alone finds no
//! contradiction, two writers of a key are tried in both orders.

use skew_model::{Cycle, Edge, EdgeKind, Explanation, Key, OpId, OpKind, Reason, Scope, TxnId};

use crate::base::{Base, Chains, Extended};
use crate::causal::causal_edges;
use crate::events::View;
use crate::facts::{Facts, INIT, Node};
use crate::graph::{Graph, Predecessors};
use crate::saturate::{Inferred, Rule, Saturated, Side};
use crate::static_edges::{Forced, static_edges};
use crate::writers::Writers;

/// The most case distinctions in one explanation.
pub(crate) const MAX_CASES: u32 = 1024;

/// Explains a violated part; `None` if it is not violated or takes more cases than a person would read.
pub(crate) fn explain(facts: &Facts, scope: Scope) -> Option<Explanation> {
    let base = Base::new(facts, scope);
    let mut forced = static_edges(&base);
    let mut words = Words { base: &base, forced: &[], saturated: None };
    let order = match base.topological_order() {
        Ok(order) => order,
        Err(cycle) => return Some(words.static_cycle(&cycle)),
    };
    let chains = Chains::new(&base, &order);
    let writers = Writers::new(facts, &chains, Some);
    forced.extend(causal_edges(&base, &chains, &writers, &order));
    words.forced = &forced;
    let pairs: Vec<_> = forced.iter().map(|edge| (edge.from, edge.to)).collect();
    let more = Predecessors::from_edges(facts.len(), &pairs);
    if let Err(cycle) = (Extended { base: &base, more: &more }).topological_order() {
        return Some(words.static_cycle(&cycle));
    }
    let mut saturated = Saturated::new(&base, &forced, u64::MAX).ok()?;
    let start = saturated.run();
    let mut budget = MAX_CASES;
    settle(&saturated, start, &mut budget)
}

/// A cycle if there is one, otherwise both orders of two writers.
fn settle(saturated: &Saturated, so_far: Result<(), (Side, Vec<u32>)>, budget: &mut u32) -> Option<Explanation> {
    if let Err((side, cycle)) = so_far {
        let words = Words { base: saturated.base, forced: saturated.forced, saturated: Some(saturated) };
        return Some(words.cycle(side, &cycle));
    }
    *budget = budget.checked_sub(1)?;
    let facts = saturated.base.facts;
    let commit = |node: Node| saturated.events.commit[node as usize];
    let open = |&(a, b): &(Node, Node)| {
        !saturated.time.reaches(commit(a), commit(b)) && !saturated.time.reaches(commit(b), commit(a))
    };
    let shared = |a: Node, b: Node| facts.writes(a).iter().copied().find(|&key| facts.writes_key(b, key));
    let nodes = 1..facts.len() as Node;
    let pairs: Vec<(Node, Node)> = nodes
        .clone()
        .flat_map(|a| (a + 1..nodes.end).map(move |b| (a, b)))
        .filter(|&(a, b)| shared(a, b).is_some())
        .filter(open)
        .collect();
    let tried = |first: Node, second: Node| {
        let mut branch = saturated.clone();
        let result = branch.suppose(&[(first, second)]);
        (branch, result)
    };
    // Two writers for whom one order fails at once make the shortest explanation.
    let best = pairs
        .iter()
        .copied()
        .max_by_key(|&(a, b)| u32::from(tried(a, b).1.is_err()) + u32::from(tried(b, a).1.is_err()));
    let (a, b) = best?;
    let (forwards, backwards) = (tried(a, b), tried(b, a));
    Some(Explanation::Cases {
        first: facts.txns[a as usize],
        second: facts.txns[b as usize],
        key: Key(shared(a, b)?),
        first_before_second: Box::new(settle(&forwards.0, forwards.1, budget)?),
        second_before_first: Box::new(settle(&backwards.0, backwards.1, budget)?),
    })
}

struct Words<'a, 'b, 'f> {
    base: &'a Base<'f>,
    forced: &'a [Forced],
    saturated: Option<&'a Saturated<'b, 'f>>,
}

/// An edge on the way to an [`Edge`]: between transactions, the initial one included.
struct Step {
    from: Node,
    to: Node,
    edge: Option<Edge>,
    /// For an *ignored* read: the read, and the path by which it had to see `from`.
    ignored: Option<(u32, Vec<Edge>)>,
}

impl Words<'_, '_, '_> {
    fn txn(&self, node: Node) -> TxnId {
        self.base.facts.txns[node as usize]
    }

    fn static_cycle(&self, cycle: &[Node]) -> Explanation {
        let steps = ring(cycle).map(|(from, to)| self.static_step(from, to)).collect();
        self.finish(steps)
    }

    fn cycle(&self, side: Side, cycle: &[u32]) -> Explanation {
        let steps = ring(cycle).filter_map(|(from, to)| self.step(side, from, to, u32::MAX)).collect();
        self.finish(steps)
    }

    /// Where a step is an ignored read, the cycle is better told as: the reader had to see a writer, and did not. Of
    /// several, the telling with the most antidependencies names the anomaly best.
    fn finish(&self, steps: Vec<Step>) -> Explanation {
        let to_init = steps.iter().position(|step| step.to == INIT);
        let ignored =
            (0..steps.len()).filter(|&at| steps[at].ignored.is_some() && to_init.is_none_or(|init| init == at));
        let plain: Option<Vec<Edge>> = steps.iter().map(|step| step.edge.clone()).collect();
        let tellings = plain.into_iter().chain(ignored.map(|at| self.told_by(&steps, at)));
        let antidependencies =
            |edges: &Vec<Edge>| edges.iter().filter(|edge| matches!(edge.kind, EdgeKind::Rw(_))).count();
        let best = tellings.min_by_key(|edges| (std::cmp::Reverse(antidependencies(edges)), edges.len()));
        let mut edges = best.expect("a cycle through the initial transaction has an ignored read");
        let first = edges.iter().position(|edge| matches!(edge.kind, EdgeKind::Rw(_))).unwrap_or(0);
        edges.rotate_left(first);
        Explanation::Cycle(Cycle { edges })
    }

    /// The cycle as the reader of an ignored step tells it: it read a version that a writer overwrote, whom it had to
    /// see.
    fn told_by(&self, steps: &[Step], at: usize) -> Vec<Edge> {
        let (number, seen) = steps[at].ignored.as_ref().expect("the step is an ignored read");
        let read = self.base.facts.all_reads()[*number as usize];
        let (reader, writer) = (self.txn(self.base.facts.reader(*number)), steps[at].from);
        let rest = steps.iter().cycle().skip(at + 1).take(steps.len() - 1);
        let older = rest.filter_map(|step| step.edge.clone()).collect();
        let reason = Reason::Overwrote { read: OpId(read.op), write: self.last_write(writer, read.key), older };
        let overwrote = Edge { from: reader, to: self.txn(writer), kind: EdgeKind::Rw(Key(read.key)), reason };
        [overwrote].into_iter().chain(seen.iter().cloned()).collect()
    }

    /// An edge that was known before any inference over events.
    fn static_step(&self, from: Node, to: Node) -> Step {
        if from == INIT {
            return Step { from, to, edge: None, ignored: None };
        }
        if to != INIT
            && let Some((kind, reason)) = self.given(from, to)
        {
            let edge = Edge { from: self.txn(from), to: self.txn(to), kind, reason };
            return Step { from, to, edge: Some(edge), ignored: None };
        }
        let forced = self.forced.iter().find(|edge| edge.from == from && edge.to == to);
        let read = forced.expect("an edge that the history does not give is forced by a read").read;
        let reader = self.base.facts.reader(read);
        let path = self.base.shortest_path(from, reader).expect("a forced edge comes from what its reader must see");
        let seen = pairs(&path).filter_map(|(from, to)| self.static_step(from, to).edge).collect();
        self.ignored_step(from, to, read, seen)
    }

    fn ignored_step(&self, from: Node, to: Node, read: u32, seen: Vec<Edge>) -> Step {
        let key = self.base.facts.all_reads()[read as usize].key;
        let op = OpId(self.base.facts.all_reads()[read as usize].op);
        let edge = (to != INIT).then(|| Edge {
            from: self.txn(from),
            to: self.txn(to),
            kind: EdgeKind::Ww(Key(key)),
            reason: Reason::Ignored { read: op, write: self.last_write(from, key), seen: seen.clone() },
        });
        Step { from, to, edge, ignored: Some((read, seen)) }
    }

    /// Session order, reads, known versions, constraints, real time.
    fn given(&self, from: Node, to: Node) -> Option<(EdgeKind, Reason)> {
        let (facts, base) = (self.base.facts, self.base);
        let session = |node: Node| facts.history.txn(self.txn(node)).session;
        // What shrinking left is needed, so a read that is still there is the better reason.
        if let Some(read) = base.reads(to).iter().find(|read| read.source == from) {
            let reason = Reason::Read { read: OpId(read.op), write: self.last_write(from, read.key) };
            return Some((EdgeKind::Wr(Key(read.key)), reason));
        }
        if session(from) == session(to) && from < to && facts.in_session(to, base.scope) {
            return Some((EdgeKind::So, Reason::Recorded));
        }
        if base.versions.of(to).contains(&from) {
            let key = facts.version_orders.iter().find(|order| order.has(from, to))?.key;
            return Some((EdgeKind::Ww(Key(key)), Reason::Recorded));
        }
        if let Some(&(_, _, key)) = facts.constraint_orders.iter().find(|order| (order.0, order.1) == (from, to)) {
            return Some((EdgeKind::Constraint(Key(key)), Reason::Recorded));
        }
        let by_time = base.order.of(to).contains(&from) || base.statement_times.of(to).contains(&from);
        by_time.then_some((EdgeKind::Rt, Reason::Recorded))
    }

    /// An edge of one of the graphs of a saturation; `None` inside one transaction. Only what was inferred before a
    /// round may be its reason.
    fn step(&self, side: Side, from: u32, to: u32, before: u32) -> Option<Step> {
        let saturated = self.saturated.expect("steps between events come from a saturation");
        let txn = |at: u32| if side == Side::Causes { at } else { saturated.events.txn[at as usize] };
        let (a, b) = (txn(from), txn(to));
        if a == b {
            return None;
        }
        let (list, starts) = match (side, &saturated.causes) {
            (Side::Causes, Some((reach, _))) => (&saturated.inferred_causes, reach.starts_with(from, to)),
            _ => (&saturated.inferred, saturated.time.starts_with(from, to)),
        };
        let inferred = list.iter().find(|edge| edge.from == from && edge.to == to && edge.round < before);
        let Some(inferred) = inferred.filter(|_| !starts) else { return Some(self.static_step(a, b)) };
        Some(self.inferred_step(saturated, a, b, inferred))
    }

    fn inferred_step(&self, saturated: &Saturated, a: Node, b: Node, inferred: &Inferred) -> Step {
        let facts = self.base.facts;
        let commit = |node: Node| saturated.events.commit[node as usize];
        let shared = facts.writes(a).iter().copied().find(|&key| b != INIT && facts.writes_key(b, key));
        let older = |from: Node, to: Node| match from {
            INIT => Vec::new(),
            _ => self.path(Side::Events, commit(from), commit(to), inferred.round),
        };
        let (kind, reason) = match inferred.rule {
            Rule::Ignored { read } => {
                let reader = facts.reader(read);
                let seen = match saturated.events.views[read as usize] {
                    View::At(view) => self.path(Side::Events, commit(a), view, inferred.round),
                    _ => self.path(Side::Causes, a, reader, inferred.round),
                };
                return self.ignored_step(a, b, read, seen);
            }
            Rule::Overwrote { read } => {
                let read = facts.all_reads()[read as usize];
                let write = self.last_write(b, read.key);
                let reason = Reason::Overwrote { read: OpId(read.op), write, older: older(read.source, b) };
                (EdgeKind::Rw(Key(read.key)), reason)
            }
            Rule::Conflict | Rule::Version => {
                (EdgeKind::Ww(Key(shared.unwrap_or(0))), Reason::Older { path: older(a, b) })
            }
            Rule::Supposed => (EdgeKind::Ww(Key(shared.unwrap_or(0))), Reason::Supposed),
        };
        let edge = Edge { from: self.txn(a), to: self.txn(b), kind, reason };
        Step { from: a, to: b, edge: Some(edge), ignored: None }
    }

    /// A shortest path through what was known before a round.
    fn path(&self, side: Side, from: u32, to: u32, before: u32) -> Vec<Edge> {
        let saturated = self.saturated.expect("paths between events come from a saturation");
        let (list, reach) = match (side, &saturated.causes) {
            (Side::Causes, Some((reach, _))) => (&saturated.inferred_causes, reach),
            _ => (&saturated.inferred, &saturated.time),
        };
        let known = Known { reach, list, before };
        let path = known.shortest_path(from, to).unwrap_or_default();
        pairs(&path).filter_map(|(from, to)| self.step(side, from, to, before)?.edge).collect()
    }

    /// The write of a key that a transaction leaves behind.
    fn last_write(&self, node: Node, key: u32) -> OpId {
        let history = self.base.facts.history;
        let is_it = |op: &OpId| history.op(*op).kind() == OpKind::Write && history.op(*op).key().0 == key;
        history.op_ids(self.txn(node)).rev().map(OpId).find(is_it).expect("a writer of a key has a write of it")
    }
}

/// A graph as it was before a round of inference.
struct Known<'a> {
    reach: &'a crate::reach::Reach,
    list: &'a [Inferred],
    before: u32,
}

impl Graph for Known<'_> {
    fn len(&self) -> usize {
        self.reach.len()
    }

    fn preds(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let earlier = self.list.iter().filter(move |edge| edge.to == node && edge.round < self.before);
        self.reach.first_preds(node).iter().copied().chain(earlier.map(|edge| edge.from))
    }
}

fn pairs(path: &[u32]) -> impl Iterator<Item = (u32, u32)> + '_ {
    path.windows(2).map(|pair| (pair[0], pair[1]))
}

fn ring(cycle: &[u32]) -> impl Iterator<Item = (u32, u32)> + '_ {
    cycle.iter().enumerate().map(|(at, &from)| (from, cycle[(at + 1) % cycle.len()]))
}

/// Walks an explanation and says whether every edge in it is there: the second route to the same facts.
pub(crate) fn is_sound(facts: &Facts, scope: Scope, explanation: &Explanation) -> bool {
    let check = Sound { facts, scope };
    match explanation {
        Explanation::Finding(_) => true,
        Explanation::Cycle(cycle) => {
            let closed =
                cycle.edges.iter().zip(cycle.edges.iter().cycle().skip(1)).all(|(edge, next)| edge.to == next.from);
            !cycle.edges.is_empty() && closed && cycle.edges.iter().all(|edge| check.edge(edge))
        }
        Explanation::Cases { first, second, key, first_before_second, second_before_first } => {
            let both = [*first, *second].into_iter().all(|txn| facts.writes_key(facts.nodes[txn.0 as usize], key.0));
            both && is_sound(facts, scope, first_before_second) && is_sound(facts, scope, second_before_first)
        }
    }
}

struct Sound<'a> {
    facts: &'a Facts<'a>,
    scope: Scope,
}

impl Sound<'_> {
    fn edge(&self, edge: &Edge) -> bool {
        let (facts, history) = (self.facts, self.facts.history);
        let node = |txn: TxnId| facts.nodes[txn.0 as usize];
        let source = |read: OpId| facts.all_reads().iter().find(|other| other.op == read.0).map(|read| read.source);
        let writes = |op: OpId, txn: TxnId, key: Key| {
            let write = history.op(op);
            write.kind() == OpKind::Write && write.key() == key && history.txn_of(op) == txn
        };
        match (&edge.kind, &edge.reason) {
            (EdgeKind::So, Reason::Recorded) => {
                let (from, to) = (history.txn(edge.from), history.txn(edge.to));
                from.session == to.session && edge.from < edge.to && facts.in_session(node(edge.to), self.scope)
            }
            (EdgeKind::Rt, Reason::Recorded) => facts.timed(node(edge.to), self.scope),
            (EdgeKind::Ww(key), Reason::Recorded) => {
                let mut orders = facts.version_orders.iter();
                orders.any(|order| order.key == key.0 && order.has(node(edge.from), node(edge.to)))
            }
            (EdgeKind::Constraint(key), Reason::Recorded) => {
                facts.constraint_orders.contains(&(node(edge.from), node(edge.to), key.0))
            }
            (EdgeKind::Ww(key), Reason::Supposed) => {
                [edge.from, edge.to].into_iter().all(|txn| facts.writes_key(node(txn), key.0))
            }
            (EdgeKind::Wr(key), Reason::Read { read, write }) => {
                source(*read) == Some(node(edge.from))
                    && history.txn_of(*read) == edge.to
                    && writes(*write, edge.from, *key)
            }
            (EdgeKind::Rw(key), Reason::Overwrote { read, write, older }) => {
                let from = source(*read);
                history.txn_of(*read) == edge.from
                    && writes(*write, edge.to, *key)
                    && from.is_some_and(|from| from != node(edge.to))
                    && (from == Some(INIT) || self.path(older, from.map(|from| facts.txns[from as usize]), edge.to))
            }
            (EdgeKind::Ww(key), Reason::Ignored { read, write, seen }) => {
                source(*read) == Some(node(edge.to))
                    && writes(*write, edge.from, *key)
                    && self.path(seen, Some(edge.from), history.txn_of(*read))
            }
            (EdgeKind::Ww(_), Reason::Older { path }) => self.path(path, Some(edge.from), edge.to),
            _ => false,
        }
    }

    fn path(&self, edges: &[Edge], from: Option<TxnId>, to: TxnId) -> bool {
        let joined = edges.windows(2).all(|pair| pair[0].to == pair[1].from);
        let ends = edges.first().map(|edge| edge.from) == from && edges.last().map(|edge| edge.to) == Some(to);
        joined && ends && edges.iter().all(|edge| self.edge(edge))
    }
}
