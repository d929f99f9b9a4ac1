//! The transactions that a contradiction rests on: a cycle, and for each inferred edge on it what it was inferred from,
//! down to the reads and writes of the history. Far fewer than the history has, and still contradictory by themselves.

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::Base;
use crate::choose::Involved;
use crate::facts::{INIT, Node};
use crate::graph::{Graph, Predecessors};
use crate::saturate::{Inferred, Rule, Saturated, Side};
use crate::static_edges::Forced;

/// The core of a cycle of `so ∪ wr ∪ ww ∪` forced edges.
pub(crate) fn of_static_cycle(base: &Base, forced: &[Forced], cycle: &[Node]) -> Vec<Node> {
    let mut core = BTreeSet::new();
    for (at, &from) in cycle.iter().enumerate() {
        add_static_edge(base, forced, from, cycle[(at + 1) % cycle.len()], &mut core);
    }
    core.into_iter().filter(|&node| node != INIT).collect()
}

/// An edge between transactions that was known before any inference over events.
fn add_static_edge(base: &Base, forced: &[Forced], from: Node, to: Node, core: &mut BTreeSet<Node>) {
    core.extend([from, to]);
    if base.causes(to).any(|pred| pred == from)
        || base.versions.of(to).contains(&from)
        || base.commits_after(to).any(|&before| before == from)
    {
        return;
    }
    let Some(edge) = forced.iter().find(|edge| edge.from == from && edge.to == to) else { return };
    let reader = base.facts.reader(edge.read);
    core.insert(reader);
    core.extend(base.shortest_path(from, reader).unwrap_or_default());
}

/// The core of a cycle in one of the graphs of a saturation.
pub(crate) fn of_cycle(saturated: &Saturated, side: Side, cycle: &[u32]) -> Vec<Node> {
    let edges = cycle.iter().enumerate().map(|(at, &from)| (side, from, cycle[(at + 1) % cycle.len()]));
    Search::new(saturated).run(edges.collect(), BTreeSet::new())
}

/// The core of the objections that left no choice.
pub(crate) fn of_objections(saturated: &Saturated, involved: &[Involved]) -> Vec<Node> {
    let mut nodes = BTreeSet::new();
    let mut edges = Vec::new();
    for &part in involved {
        match part {
            Involved::Txn(node) => drop(nodes.insert(node)),
            Involved::Edge { causes, from, to } => {
                edges.push((if causes { Side::Causes } else { Side::Events }, from, to));
            }
        }
    }
    Search::new(saturated).run(edges, nodes)
}

struct Search<'s, 'b, 'f> {
    saturated: &'s Saturated<'b, 'f>,
    time: Layer<'s>,
    causes: Layer<'s>,
    core: BTreeSet<Node>,
    todo: Vec<(Side, u32, u32, u32)>,
    done: FxHashSet<(bool, u32, u32)>,
}

/// The inferred edges of one graph.
struct Layer<'s> {
    inferred: &'s [Inferred],
    index: FxHashMap<(u32, u32), usize>,
    into: Predecessors,
}

impl<'s> Layer<'s> {
    fn new(n: usize, inferred: &'s [Inferred]) -> Self {
        let mut index = FxHashMap::default();
        for (at, edge) in inferred.iter().enumerate() {
            index.entry((edge.from, edge.to)).or_insert(at);
        }
        let pairs: Vec<_> = inferred.iter().enumerate().map(|(at, edge)| (at as u32, edge.to)).collect();
        Layer { inferred, index, into: Predecessors::from_edges(n, &pairs) }
    }
}

impl<'s, 'b, 'f> Search<'s, 'b, 'f> {
    fn new(saturated: &'s Saturated<'b, 'f>) -> Self {
        let cause_count = saturated.causes.as_ref().map_or(0, |(reach, _)| reach.len());
        Search {
            saturated,
            time: Layer::new(saturated.time.len(), &saturated.inferred),
            causes: Layer::new(cause_count, &saturated.inferred_causes),
            core: BTreeSet::new(),
            todo: Vec::new(),
            done: FxHashSet::default(),
        }
    }

    fn run(mut self, edges: Vec<(Side, u32, u32)>, nodes: BTreeSet<Node>) -> Vec<Node> {
        self.core = nodes;
        self.todo = edges.into_iter().map(|(side, from, to)| (side, from, to, u32::MAX)).collect();
        while let Some((side, from, to, before)) = self.todo.pop() {
            if self.done.insert((side == Side::Causes, from, to)) {
                self.visit(side, from, to, before);
            }
        }
        self.core.into_iter().filter(|&node| node != INIT).collect()
    }

    fn txn(&self, side: Side, at: u32) -> Node {
        if side == Side::Causes { at } else { self.saturated.events.txn[at as usize] }
    }

    /// Adds what an edge rests on. Only what was inferred before it may be its reason.
    fn visit(&mut self, side: Side, from: u32, to: u32, before: u32) {
        let saturated = self.saturated;
        let (a, b) = (self.txn(side, from), self.txn(side, to));
        self.core.extend([a, b]);
        let layer = if side == Side::Causes { &self.causes } else { &self.time };
        let inferred = match layer.index.get(&(from, to)) {
            Some(&at) if !self.is_first(side, from, to) && layer.inferred[at].round < before => layer.inferred[at],
            _ => {
                if a != b {
                    add_static_edge(saturated.base, saturated.forced, a, b, &mut self.core);
                }
                return;
            }
        };
        let commit = |node: Node| saturated.events.commit[node as usize];
        let facts = saturated.base.facts;
        match inferred.rule {
            Rule::Ignored { read } => {
                let reader = facts.reader(read);
                self.core.insert(reader);
                match saturated.events.views[read as usize] {
                    crate::events::View::At(view) => self.explain_path(Side::Events, commit(a), view, inferred.round),
                    _ => self.explain_path(Side::Causes, a, reader, inferred.round),
                }
            }
            Rule::Overwrote { read } => {
                let source = facts.all_reads()[read as usize].source;
                self.core.insert(source);
                self.explain_path(Side::Events, commit(source), commit(b), inferred.round);
            }
            Rule::Supposed => {}
            Rule::Conflict | Rule::Version => self.explain_path(Side::Events, commit(a), commit(b), inferred.round),
        }
    }

    fn is_first(&self, side: Side, from: u32, to: u32) -> bool {
        match side {
            Side::Events => self.saturated.time.starts_with(from, to),
            Side::Causes => self.saturated.causes.as_ref().is_some_and(|(reach, _)| reach.starts_with(from, to)),
        }
    }

    /// Queues the edges of a path that existed before a round.
    fn explain_path(&mut self, side: Side, from: u32, to: u32, before: u32) {
        if from == 0 || from == to {
            return;
        }
        let (reach, layer) = match (side, &self.saturated.causes) {
            (Side::Causes, Some((reach, _))) => (reach, &self.causes),
            _ => (&self.saturated.time, &self.time),
        };
        let mut after: FxHashMap<u32, u32> = FxHashMap::default();
        let mut queue = VecDeque::from([to]);
        while let Some(node) = queue.pop_front() {
            let inferred = layer.into.of(node).iter().map(|&at| &layer.inferred[at as usize]);
            let earlier = inferred.filter(|edge| edge.round < before).map(|edge| edge.from);
            for pred in reach.first_preds(node).iter().copied().chain(earlier) {
                if pred != to && !after.contains_key(&pred) {
                    after.insert(pred, node);
                    queue.push_back(pred);
                }
            }
            if after.contains_key(&from) {
                break;
            }
        }
        let mut at = from;
        while at != to {
            let Some(&next) = after.get(&at) else { return };
            self.todo.push((side, at, next, before));
            at = next;
        }
    }
}
