//! The graph of an application: what ways through its programs can depend on each other, and the cycles that a level
//! allows.
//!
//! A node is a [way](crate::summary::Path) through a program and stands for any number of transactions that take it. An
//! edge says that one of them can depend on another one, *if* values of the two are equal. A level allows only cycles of
//! a certain form (Bernardi and Gotsman 2016, Cerone, Gotsman and Yang 2017; for the levels that databases lock at,
//! Beillahi, Bouajjani and Enea 2019 and Vandevoort, Ketsman, Koch and Neven 2021): one transaction reads what a second
//! one overwrites, although a chain of dependencies leads from the second one back to the first. [`search`] looks for such
//! a chain with all equalities that its edges imply, over any number of transactions; if there is none, every run is
//! serializable.

pub mod classes;
pub mod edges;
mod exclusion;
pub mod rules;
pub mod search;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::summary::{Path, Summary};

/// How much work a graph and the search in it take at most. What is said of a level depends on the steps alone; a time only
/// ends the work, and the answer names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Steps: dependencies that are made, and steps of chains that are tried.
    pub steps: u64,
    /// A time, if the user gave one.
    pub time: Option<Duration>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { steps: 20_000_000, time: None }
    }
}

/// So many dependencies are kept; more need gigabytes.
const MOST_EDGES: usize = 2_000_000;

/// A way through a program, by numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Node {
    /// The program.
    pub program: usize,
    /// The way through it.
    pub path: usize,
}

/// All nodes and the dependencies between them.
#[derive(Clone, Debug)]
pub struct Graph<'s> {
    /// What it is made of.
    pub summary: &'s Summary,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The dependencies that leave each node, in the order of whom they lead to.
    pub edges: Vec<Vec<edges::Dependency>>,
    /// The same, without those that lead to the same row in the same way.
    followed: Vec<Vec<edges::Dependency>>,
    /// What equalities have to do with, of each node.
    parts: Vec<classes::Parts>,
    /// Whether two can write one row without seeing each other.
    writers: Writers,
    /// The limit that was hit: dependencies are missing.
    pub limit: Option<String>,
    started: Instant,
    budget: Budget,
    /// How many steps have been made.
    steps: Cell<u64>,
}

/// Whether two transactions can write one row without one of them seeing the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writers {
    /// They can.
    Together,
    /// They cannot: `psi`, `si`, and with locks `mvrc`.
    Apart,
}

impl<'s> Graph<'s> {
    /// The graph of some of the programs, by their numbers.
    pub fn of(summary: &'s Summary, programs: &[usize]) -> Graph<'s> {
        Graph::with(summary, programs, Writers::Together)
    }

    /// The graph of some of the programs at a level.
    pub fn with(summary: &'s Summary, programs: &[usize], writers: Writers) -> Graph<'s> {
        Graph::within(summary, programs, writers, Budget::default())
    }

    /// The same, made and searched within a budget.
    pub fn within(summary: &'s Summary, programs: &[usize], writers: Writers, budget: Budget) -> Graph<'s> {
        let nodes: Vec<Node> = programs
            .iter()
            .flat_map(|&program| (0..summary.programs[program].paths.len()).map(move |path| Node { program, path }))
            .collect();
        let (edges, steps, parts) = (Vec::new(), Vec::new(), Vec::new());
        let (started, made) = (Instant::now(), Cell::new(0));
        let mut graph =
            Graph { summary, nodes, edges, followed: steps, parts, writers, limit: None, started, budget, steps: made };
        let mut texts = BTreeMap::new();
        let parts = (0..graph.nodes.len()).map(|node| classes::Parts::of(graph.path(node), &summary.facts, &mut texts));
        graph.parts = parts.collect();
        let (accesses, later) = (edges::by_table(&graph), edges::by_lookup(&graph));
        let mut count = 0;
        for node in 0..graph.nodes.len() {
            graph.limit = graph.limit.take().or_else(|| graph.limit_at(count));
            // What is not known any more leaves cycles out, and the limit says so.
            let leaving =
                if graph.limit.is_none() { edges::leaving(&graph, node, &accesses, &later) } else { Vec::new() };
            count += leaving.len();
            graph.takes(leaving.len() as u64);
            graph.edges.push(leaving);
            graph.followed.push(edges::different(&graph, node));
        }
        graph
    }

    /// The limit that so many dependencies hit, or all steps together.
    fn limit_at(&self, edges: usize) -> Option<String> {
        if edges > MOST_EDGES {
            return Some(format!("{MOST_EDGES} dependencies between ways through programs"));
        }
        self.exhausted()
    }

    /// So many steps more have been made.
    fn takes(&self, steps: u64) {
        self.steps.set(self.steps.get() + steps);
    }

    /// The limit that was hit, if the budget is used up.
    fn exhausted(&self) -> Option<String> {
        let Budget { steps, time } = self.budget;
        if self.steps.get() > steps {
            return Some(format!("--max-steps: {steps} steps in the graph"));
        }
        let time = time.filter(|time| self.started.elapsed() > *time)?;
        Some(format!("--max-time: {} s were over before the graph was searched", time.as_secs()))
    }

    /// The dependencies of one node on another one.
    pub fn between(&self, from: usize, to: usize) -> &[edges::Dependency] {
        let edges = &self.edges[from];
        let (begin, end) = (edges.partition_point(|edge| edge.to < to), edges.partition_point(|edge| edge.to <= to));
        &edges[begin..end]
    }

    /// The way that a node stands for.
    pub fn path(&self, node: usize) -> &'s Path {
        let Node { program, path } = self.nodes[node];
        &self.summary.programs[program].paths[path]
    }
}
