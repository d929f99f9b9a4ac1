//! The commit order that causal consistency forces.
//!
//! Happens-before is a number for each chain: how far into the chain a transaction sees. Clocks are computed in
//! topological order and dropped once every direct successor has used them. For a read of `k` from `t1` in `t3`, only
//! the writers of `k` between `t1`'s clock and `t3`'s are news: O(n · chains) in all, one edge for each surprise.

use skew_model::level::Sees;

use crate::base::{Base, Chains};
use crate::clock::raise;
use crate::facts::{INIT, Node};
use crate::static_edges::{Edges, Forced};
use crate::writers::Writers;

/// The edges that [`Sees::Causes`] forces for the nodes of this scope that have it. `order` is a topological order of
/// the base.
pub(crate) fn causal_edges(base: &Base, chains: &Chains, writers: &Writers, order: &[Node]) -> Edges {
    let facts = base.facts;
    let mut edges = Edges::new();
    let mut clocks = Clocks::new(base, chains.members.len());
    for &node in order {
        if node == INIT {
            continue;
        }
        let row = clocks.join(base, chains, node);
        if facts.level(node, base.scope).definition().sees.contains(&Sees::Causes) {
            for (read, number) in base.reads(node).iter().zip(facts.first_read(node)..) {
                let news = |group: usize| {
                    let chain = writers.chain(group) as usize;
                    let (known, seen) = (clocks.at(read.source, chain), clocks.rows[row + chain]);
                    if seen <= known {
                        return None;
                    }
                    let place = writers.last_up_to(group, seen);
                    (place > known).then(|| chains.members[chain][place as usize - 1])
                };
                let newer = writers.groups(read.key).filter_map(news);
                edges.extend(newer.map(|from| Forced { from, to: read.source, read: number }));
            }
        }
        clocks.publish(chains, node);
        clocks.release_causes(base, node);
    }
    edges
}

/// The clocks of the nodes that somebody still needs.
struct Clocks {
    width: usize,
    rows: Vec<u32>,
    free: Vec<usize>,
    row_of: Vec<usize>,
    /// How many uses are left.
    uses: Vec<u32>,
}

const NO_ROW: usize = usize::MAX;

impl Clocks {
    fn new(base: &Base, width: usize) -> Self {
        let mut uses = vec![0u32; base.facts.len()];
        for node in 1..base.facts.len() as Node {
            for cause in base.causes(node) {
                uses[cause as usize] += 1;
            }
        }
        Clocks { width, rows: Vec::new(), free: Vec::new(), row_of: vec![NO_ROW; base.facts.len()], uses }
    }

    /// Computes a node's clock, itself not counted; returns where it is.
    fn join(&mut self, base: &Base, chains: &Chains, node: Node) -> usize {
        let width = self.width;
        let row = self.free.pop().unwrap_or_else(|| {
            let row = self.rows.len();
            self.rows.resize(row + width, 0);
            row
        });
        self.rows[row..row + width].fill(0);
        self.row_of[node as usize] = row;
        let mut before = INIT;
        for cause in base.causes(node) {
            if cause == INIT || cause == before {
                continue;
            }
            before = cause;
            // What the chain already tells: a later member of the same chain has been joined.
            let place = self.rows[row + chains.chain[cause as usize] as usize];
            if place >= chains.place[cause as usize] {
                continue;
            }
            let from = self.row_of[cause as usize];
            raise(&mut self.rows, row, from, width);
        }
        row
    }

    /// From now on the node itself counts.
    fn publish(&mut self, chains: &Chains, node: Node) {
        let row = self.row_of[node as usize];
        self.rows[row + chains.chain[node as usize] as usize] = chains.place[node as usize];
        self.release_if_unused(node);
    }

    fn at(&self, node: Node, chain: usize) -> u32 {
        if node == INIT { 0 } else { self.rows[self.row_of[node as usize] + chain] }
    }

    fn release_causes(&mut self, base: &Base, node: Node) {
        for cause in base.causes(node) {
            self.uses[cause as usize] -= 1;
            self.release_if_unused(cause);
        }
    }

    fn release_if_unused(&mut self, node: Node) {
        let row = &mut self.row_of[node as usize];
        if self.uses[node as usize] == 0 && *row != NO_ROW {
            self.free.push(std::mem::replace(row, NO_ROW));
        }
    }
}
