//! What every commit order must respect whatever the level: session order, real time and reads; and the chains that
//! it makes, along which reachability is a number.

use skew_model::Scope;

use crate::facts::{Facts, INIT, Node};
use crate::graph::{Graph, Predecessors};

/// `so ∪ rt ∪ wr` under a scope, and known version order.
pub(crate) struct Base<'f> {
    pub facts: &'f Facts<'f>,
    pub scope: Scope,
    /// Session order and real time, reduced: enough edges for the transitive closure.
    pub order: Predecessors,
    /// Known version order, as edges between consecutive writers.
    pub versions: Predecessors,
    /// Who had ended before one of a node's statements began, reduced, where that is looked at.
    pub statement_times: Predecessors,
    /// Whom constraints put before a node. It orders commits and shows nothing.
    pub constraints: Predecessors,
    /// Commit times.
    pub ended: EndedBy,
    /// Whether a node's reads bind (they do not at read uncommitted).
    binding: Vec<bool>,
}

impl<'f> Base<'f> {
    pub(crate) fn new(facts: &'f Facts<'f>, scope: Scope) -> Self {
        Base::with_order(facts, scope, &[])
    }

    /// The same where each of these nodes comes after the one before it as if they were of one session.
    pub(crate) fn with_order(facts: &'f Facts<'f>, scope: Scope, chain: &[Node]) -> Self {
        let n = facts.len();
        let mut order = session_edges(facts, scope);
        order.extend(chain.windows(2).map(|pair| (pair[0], pair[1])));
        let ended = EndedBy::new(facts, scope);
        order.extend(real_time_edges(facts, scope, &ended));
        let binding =
            (0..n as Node).map(|node| node != INIT && facts.level(node, scope).definition().committed_reads).collect();
        Base {
            facts,
            scope,
            order: Predecessors::from_edges(n, &order),
            versions: Predecessors::from_edges(n, &version_edges(facts)),
            statement_times: Predecessors::from_edges(n, &statement_time_edges(facts, scope, &ended)),
            constraints: Predecessors::from_edges(n, &constraint_edges(facts)),
            ended,
            binding,
        }
    }

    /// The reads of a node that bind.
    #[inline]
    pub(crate) fn reads(&self, node: Node) -> &'f [crate::facts::Read] {
        if self.binding[node as usize] { self.facts.reads(node) } else { &[] }
    }

    /// Whom a node commits after for reasons that show it nothing: the times of its statements, and constraints.
    pub(crate) fn commits_after(&self, node: Node) -> impl Iterator<Item = &Node> + '_ {
        self.statement_times.of(node).iter().chain(self.constraints.of(node))
    }

    /// Session order, real time and reads, without version order.
    pub(crate) fn causes(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        self.order.of(node).iter().copied().chain(self.reads(node).iter().map(|read| read.source))
    }
}

/// `so ∪ rt ∪ wr ∪` known `ww ∪` constraints `∪` more edges.
pub(crate) struct Extended<'a, 'f> {
    pub base: &'a Base<'f>,
    pub more: &'a Predecessors,
}

impl Graph for Extended<'_, '_> {
    fn len(&self) -> usize {
        self.base.facts.len()
    }

    fn preds(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        let more = self.more.of(node).iter().copied();
        let known = self.base.versions.of(node).iter().chain(self.base.commits_after(node)).copied();
        self.base.causes(node).chain(known).chain(more)
    }
}

/// `so ∪ rt ∪ wr` alone, as the causal levels see it.
impl Graph for Base<'_> {
    fn len(&self) -> usize {
        self.facts.len()
    }

    fn preds(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        self.causes(node)
    }
}

/// Each node that session order binds comes after those before it in its session; everything after the initial one.
fn session_edges(facts: &Facts, scope: Scope) -> Vec<(Node, Node)> {
    let mut edges = Vec::with_capacity(facts.len());
    for session in &facts.sessions {
        // The last bound node and the unbound ones since: together they stand for the whole session so far.
        let mut frontier: Vec<Node> = Vec::new();
        for &node in session {
            if facts.in_session(node, scope) && !frontier.is_empty() {
                edges.extend(frontier.drain(..).map(|before| (before, node)));
            } else {
                edges.push((INIT, node));
            }
            frontier.push(node);
        }
    }
    edges
}

/// "Ended before the other began".
fn real_time_edges(facts: &Facts, scope: Scope, ended: &EndedBy) -> Vec<(Node, Node)> {
    let mut edges = Vec::new();
    for node in 1..facts.len() as Node {
        let span = facts.history.span(facts.txns[node as usize]);
        if let Some(span) = span.filter(|_| facts.timed(node, scope)) {
            edges.extend(ended.newest(span.begin).map(|before| (before, node)));
        }
    }
    edges
}

/// "Ended before one of its statements began", for the levels that look statement by statement.
fn statement_time_edges(facts: &Facts, scope: Scope, ended: &EndedBy) -> Vec<(Node, Node)> {
    let mut edges = Vec::new();
    for node in 1..facts.len() as Node {
        if facts.timed(node, scope) && facts.level(node, scope).looks_at_statements() {
            let begins = facts.statement_begins(node);
            edges.extend(begins.flat_map(|(_, begin)| ended.newest(begin)).map(|before| (before, node)));
        }
    }
    edges
}

/// Commit times, to say who had ended by a moment.
pub(crate) struct EndedBy {
    /// End, begin and node; the begin is the latest so far. Sorted by end.
    ended: Vec<(i64, i64, Node)>,
}

impl EndedBy {
    fn new(facts: &Facts, scope: Scope) -> Self {
        if !facts.any_timed(scope) {
            return EndedBy { ended: Vec::new() };
        }
        let span = |node: Node| facts.history.span(facts.txns[node as usize]);
        let mut ended: Vec<_> =
            (1..facts.len() as Node).filter_map(|node| span(node).map(|span| (span.end, span.begin, node))).collect();
        ended.sort_unstable();
        let mut latest = i64::MIN;
        for (_, begin, node) in &mut ended {
            let bound = facts.timed(*node, scope);
            latest = if bound { latest.max(*begin) } else { latest };
            *begin = latest;
        }
        EndedBy { ended }
    }

    /// Of those that had ended by a time, the ones after which no other one both began and ended: they stand for all.
    pub(crate) fn newest(&self, time: i64) -> impl Iterator<Item = Node> + '_ {
        let ended = &self.ended[..self.ended.partition_point(|&(end, _, _)| end < time)];
        let latest = ended.last().map_or(i64::MAX, |&(_, begin, _)| begin);
        ended.iter().rev().take_while(move |&&(end, _, _)| end >= latest).map(|&(_, _, node)| node)
    }
}

/// Consecutive known versions, and the last known one before every writer that comes later.
fn version_edges(facts: &Facts) -> Vec<(Node, Node)> {
    let mut edges = Vec::new();
    for order in &facts.version_orders {
        edges.extend(order.known.windows(2).map(|pair| (pair[0], pair[1])));
        if let Some(&last) = order.known.last() {
            edges.extend(order.later.iter().map(|&later| (last, later)));
        }
    }
    edges
}

fn constraint_edges(facts: &Facts) -> Vec<(Node, Node)> {
    facts.constraint_orders.iter().map(|&(first, second, _)| (first, second)).collect()
}

/// Nodes in chains: along a chain each comes after the one before. Sessions are chains; where session order is off,
/// reads make them.
#[derive(Clone)]
pub(crate) struct Chains {
    pub chain: Vec<u32>,
    /// From 1, so that 0 means "nobody in this chain".
    pub place: Vec<u32>,
    pub members: Vec<Vec<u32>>,
}

impl Chains {
    /// From a topological order of the graph. Node 0, which comes before all, is in no chain.
    pub(crate) fn new(graph: &impl Graph, order: &[u32]) -> Self {
        let n = graph.len();
        let mut chains = Chains { chain: vec![0; n], place: vec![0; n], members: Vec::new() };
        let mut is_tail = vec![false; n];
        for &node in order.iter().filter(|&&node| node != INIT) {
            let chain = match graph.preds(node).find(|&pred| is_tail[pred as usize]) {
                Some(tail) => {
                    is_tail[tail as usize] = false;
                    chains.chain[tail as usize]
                }
                None => {
                    chains.members.push(Vec::new());
                    chains.members.len() as u32 - 1
                }
            };
            let members = &mut chains.members[chain as usize];
            members.push(node);
            chains.chain[node as usize] = chain;
            chains.place[node as usize] = members.len() as u32;
            is_tail[node as usize] = true;
        }
        chains
    }
}
