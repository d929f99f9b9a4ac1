//! Who comes before whom, in a graph that only grows.
//!
//! The graph's nodes lie in chains; a node's *clock* says, for each chain, how far into it the node's predecessors go.
//! Adding edges only raises clocks, and only those of nodes after the new edges, so a round of inference costs what it
//! changes.

use crate::base::Chains;
use crate::clock::raise;
use crate::graph::{Graph, Predecessors};

/// A growing acyclic graph with constant-time reachability.
#[derive(Clone)]
pub(crate) struct Reach {
    n: usize,
    first: Predecessors,
    added: Vec<(u32, u32)>,
    more: Predecessors,
    pub chains: Chains,
    width: usize,
    clocks: Vec<u32>,
    /// Each node's place in a topological order.
    pub rank: Vec<u32>,
    order: Vec<u32>,
}

struct Edges<'a> {
    n: usize,
    first: &'a Predecessors,
    more: &'a Predecessors,
}

impl Graph for Edges<'_> {
    fn len(&self) -> usize {
        self.n
    }

    fn preds(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        self.first.of(node).iter().chain(self.more.of(node)).copied()
    }
}

/// The clocks would take this many bytes, more than allowed.
#[derive(Debug)]
pub(crate) struct TooLarge(pub u64);

impl Reach {
    /// From edges that make no cycle.
    pub(crate) fn new(n: usize, edges: &[(u32, u32)], max_bytes: u64) -> Result<Reach, TooLarge> {
        let first = Predecessors::from_edges(n, edges);
        let graph = Edges { n, first: &first, more: &Predecessors::default() };
        let order = graph.topological_order().expect("what is known from the start has been checked for cycles");
        let chains = Chains::new(&graph, &order);
        let width = chains.members.len();
        let bytes = n as u64 * width as u64 * 4;
        if bytes > max_bytes {
            return Err(TooLarge(bytes));
        }
        let mut reach = Reach {
            n,
            first,
            added: Vec::new(),
            more: Predecessors::default(),
            chains,
            width,
            clocks: vec![0; n * width],
            rank: vec![0; n],
            order,
        };
        reach.set_ranks();
        for at in 0..reach.order.len() {
            let node = reach.order[at];
            let first = std::mem::take(&mut reach.first);
            for &pred in first.of(node) {
                // A later member of the same chain has brought all that this one could.
                if !reach.reaches(pred, node) {
                    reach.join(node, pred);
                }
            }
            reach.first = first;
            if node != 0 {
                let (chain, place) = (reach.chains.chain[node as usize], reach.chains.place[node as usize]);
                reach.clocks[node as usize * width + chain as usize] = place;
            }
        }
        Ok(reach)
    }

    fn set_ranks(&mut self) {
        for (at, &node) in self.order.iter().enumerate() {
            self.rank[node as usize] = at as u32;
        }
    }

    /// Raises a node's clock to a predecessor's; says whether it changed.
    #[inline]
    fn join(&mut self, node: u32, pred: u32) -> bool {
        if pred == 0 {
            return false;
        }
        raise(&mut self.clocks, node as usize * self.width, pred as usize * self.width, self.width)
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.n
    }

    /// The places that a node's predecessors reach to, chain by chain; the node itself included.
    #[inline]
    pub(crate) fn clock(&self, node: u32) -> &[u32] {
        &self.clocks[node as usize * self.width..][..self.width]
    }

    /// Whether `a` comes before `b`.
    #[inline]
    pub(crate) fn reaches(&self, a: u32, b: u32) -> bool {
        if a == 0 || a == b {
            return a != b;
        }
        let chain = self.chains.chain[a as usize] as usize;
        self.clocks[b as usize * self.width + chain] >= self.chains.place[a as usize]
    }

    /// The edges, for those who walk the graph themselves.
    pub(crate) fn preds(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        self.first.of(node).iter().chain(self.more.of(node)).copied()
    }

    /// The predecessors that a node had from the beginning.
    pub(crate) fn first_preds(&self, node: u32) -> &[u32] {
        self.first.of(node)
    }

    /// Whether an edge was there from the beginning.
    pub(crate) fn starts_with(&self, from: u32, to: u32) -> bool {
        self.first.of(to).contains(&from)
    }

    /// A path from one node to a later one.
    pub(crate) fn path(&self, from: u32, to: u32) -> Vec<u32> {
        let graph = Edges { n: self.n, first: &self.first, more: &self.more };
        graph.shortest_path(from, to).expect("a path is asked for only where the clocks say that there is one")
    }

    /// Adds edges. Marks the nodes whose clocks changed, or gives back a cycle.
    pub(crate) fn add(&mut self, edges: &[(u32, u32)], changed: &mut [bool]) -> Result<(), Vec<u32>> {
        changed.fill(false);
        if edges.is_empty() {
            return Ok(());
        }
        self.added.extend_from_slice(edges);
        self.more = Predecessors::from_edges(self.n, &self.added);
        let graph = Edges { n: self.n, first: &self.first, more: &self.more };
        self.order = graph.topological_order()?;
        self.set_ranks();
        let news = Predecessors::from_edges(self.n, edges);
        let (first, more) = (std::mem::take(&mut self.first), std::mem::take(&mut self.more));
        for at in 0..self.order.len() {
            let node = self.order[at];
            let mut grew = false;
            for &pred in news.of(node) {
                grew |= self.join(node, pred);
            }
            for &pred in first.of(node).iter().chain(more.of(node)) {
                if changed[pred as usize] {
                    grew |= self.join(node, pred);
                }
            }
            changed[node as usize] = grew;
        }
        (self.first, self.more) = (first, more);
        Ok(())
    }
}
