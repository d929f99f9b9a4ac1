//! Graphs as flat arrays: predecessors, topological order, shortest cycles and paths.

use std::collections::VecDeque;

/// The predecessors of each node, packed.
#[derive(Default, Clone)]
pub(crate) struct Predecessors {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Predecessors {
    /// From `(from, to)` edges over `n` nodes.
    pub(crate) fn from_edges(n: usize, edges: &[(u32, u32)]) -> Self {
        let mut starts = vec![0u32; n + 1];
        for &(_, to) in edges {
            starts[to as usize + 1] += 1;
        }
        for at in 1..=n {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut items = vec![0u32; edges.len()];
        for &(from, to) in edges {
            items[next[to as usize] as usize] = from;
            next[to as usize] += 1;
        }
        Predecessors { starts, items }
    }

    #[inline]
    pub(crate) fn of(&self, node: u32) -> &[u32] {
        match self.starts.get(node as usize..node as usize + 2) {
            Some(&[start, end]) => &self.items[start as usize..end as usize],
            _ => &[],
        }
    }
}

/// A graph that can list the predecessors of a node.
pub(crate) trait Graph {
    /// How many nodes.
    fn len(&self) -> usize;
    /// The predecessors of a node; the same one may come twice.
    fn preds(&self, node: u32) -> impl Iterator<Item = u32> + '_;

    /// All nodes, each after its predecessors; or a cycle, each node a predecessor of the next one and the last of
    /// the first.
    fn topological_order(&self) -> Result<Vec<u32>, Vec<u32>> {
        const NEW: u8 = 0;
        const OPEN: u8 = 1;
        const DONE: u8 = 2;
        let mut state = vec![NEW; self.len()];
        let mut order = Vec::with_capacity(self.len());
        let mut stack = Vec::new();
        for root in 0..self.len() as u32 {
            if state[root as usize] != NEW {
                continue;
            }
            state[root as usize] = OPEN;
            stack.push((root, self.preds(root)));
            while let Some((node, preds)) = stack.last_mut() {
                let node = *node;
                match preds.next() {
                    Some(pred) => match state[pred as usize] {
                        NEW => {
                            state[pred as usize] = OPEN;
                            stack.push((pred, self.preds(pred)));
                        }
                        OPEN => return Err(self.short_cycle(pred)),
                        _ => {}
                    },
                    None => {
                        state[node as usize] = DONE;
                        order.push(node);
                        stack.pop();
                    }
                }
            }
        }
        Ok(order)
    }

    /// A shortest path from one node to another, both included; `None` if there is none. The path has at least one
    /// edge, so from a node to itself it is a cycle.
    fn shortest_path(&self, from: u32, to: u32) -> Option<Vec<u32>> {
        let mut after = vec![u32::MAX; self.len()];
        let mut queue = VecDeque::from([to]);
        while let Some(node) = queue.pop_front() {
            for pred in self.preds(node) {
                if pred == from {
                    let mut path = vec![from, node];
                    let mut at = node;
                    while at != to {
                        at = after[at as usize];
                        path.push(at);
                    }
                    return Some(path);
                }
                if pred != to && after[pred as usize] == u32::MAX {
                    after[pred as usize] = node;
                    queue.push_back(pred);
                }
            }
        }
        None
    }

    /// A shortest cycle through a node that is on one.
    fn short_cycle(&self, node: u32) -> Vec<u32> {
        let mut cycle = self.shortest_path(node, node).expect("the node is on a cycle");
        cycle.pop();
        cycle
    }
}

/// The strong component of each node, by number (Tarjan).
pub(crate) fn strong_components(graph: &impl Graph) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let n = graph.len();
    let (mut index, mut low, mut component) = (vec![NONE; n], vec![0u32; n], vec![NONE; n]);
    let (mut next, mut components) = (0, 0);
    let mut open: Vec<u32> = Vec::new();
    let mut stack = Vec::new();
    for root in 0..n as u32 {
        if index[root as usize] != NONE {
            continue;
        }
        stack.push((root, graph.preds(root)));
        (index[root as usize], low[root as usize]) = (next, next);
        next += 1;
        open.push(root);
        while let Some((node, preds)) = stack.last_mut() {
            let node = *node as usize;
            if let Some(pred) = preds.next() {
                if index[pred as usize] == NONE {
                    (index[pred as usize], low[pred as usize]) = (next, next);
                    next += 1;
                    open.push(pred);
                    stack.push((pred, graph.preds(pred)));
                } else if component[pred as usize] == NONE {
                    low[node] = low[node].min(index[pred as usize]);
                }
                continue;
            }
            stack.pop();
            if let Some((parent, _)) = stack.last() {
                low[*parent as usize] = low[*parent as usize].min(low[node]);
            }
            if low[node] == index[node] {
                while let Some(member) = open.pop() {
                    component[member as usize] = components;
                    if member as usize == node {
                        break;
                    }
                }
                components += 1;
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plain(Predecessors, usize);

    impl Graph for Plain {
        fn len(&self) -> usize {
            self.1
        }
        fn preds(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
            self.0.of(node).iter().copied()
        }
    }

    fn graph(n: usize, edges: &[(u32, u32)]) -> Plain {
        Plain(Predecessors::from_edges(n, edges), n)
    }

    #[test]
    fn order_puts_predecessors_first() {
        let order = graph(4, &[(2, 0), (0, 1), (3, 2)]).topological_order();
        assert_eq!(order, Ok(vec![3, 2, 0, 1]));
    }

    #[test]
    fn a_cycle_is_reported_and_short() {
        let cycle = graph(4, &[(0, 1), (1, 2), (2, 3), (3, 0), (2, 0)]).topological_order().unwrap_err();
        assert_eq!(cycle.len(), 3);
    }

    #[test]
    fn paths_are_shortest() {
        let graph = graph(4, &[(0, 1), (1, 2), (2, 3), (0, 2)]);
        assert_eq!(graph.shortest_path(0, 3), Some(vec![0, 2, 3]));
        assert_eq!(graph.shortest_path(3, 0), None);
    }
}
