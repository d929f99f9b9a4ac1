//! Whether recorded transactions could go in a circle in another execution: every one of them reads and writes the same
//! keys again, in any order that its session allows (Bernardi and Gotsman, section 4: what may be read and written is
//! what was, and what must be written, too).

use std::collections::{BTreeSet, VecDeque};

use skew_model::robust::DependencyKind;
use skew_model::{Key, Level};

use crate::critical::{Dependency, Robustness};
use crate::facts::{Facts, Node};

/// So many transactions are put in every order.
const MOST_TRANSACTIONS: usize = 600;

/// Whether what constraints look at counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ByConstraints {
    LeftOut,
    /// Transactions whose constraints have met at a key come one after the other in any order. A constraint's look puts
    /// commits in order (`a` commits before `b`), which is less than seeing and more than an anti-dependency (`a` begins
    /// before `b` commits). So it stands for an anti-dependency on the way; but a circle needs a real one, because all
    /// else is commit order.
    Any,
}

/// Which transactions may depend on which, whatever the order.
struct Possible<'f, 'h> {
    facts: &'f Facts<'h>,
    /// Where its constraints have met others, for each transaction, sorted.
    looks: Vec<Vec<u32>>,
    /// The keys that each transaction reads from others, sorted.
    reads: Vec<Vec<u32>>,
    /// For each transaction, who may depend on it: the kinds, each with a key.
    edges: Vec<Vec<(Node, DependencyKind, Option<u32>)>>,
}

/// A circle that a level may allow.
pub(crate) fn possible_cycle(facts: &Facts<'_>, level: Level, constraints: ByConstraints) -> Robustness {
    if facts.len() > MOST_TRANSACTIONS + 1 {
        return Robustness::TooMany(MOST_TRANSACTIONS);
    }
    let possible = Possible::of(facts, constraints);
    let nodes = 1..facts.len() as Node;
    let cycles = nodes.filter_map(|first| possible.cycle_from(first, level));
    match cycles.min_by_key(Vec::len) {
        Some(cycle) => Robustness::Possible(cycle),
        None => Robustness::Robust,
    }
}

impl<'f, 'h> Possible<'f, 'h> {
    fn of(facts: &'f Facts<'h>, constraints: ByConstraints) -> Possible<'f, 'h> {
        let mut reads: Vec<Vec<u32>> = vec![Vec::new()];
        for node in 1..facts.len() as Node {
            let mut keys: Vec<u32> = facts.reads(node).iter().map(|read| read.key).collect();
            keys.sort_unstable();
            keys.dedup();
            reads.push(keys);
        }
        let looks = match constraints {
            ByConstraints::LeftOut => vec![Vec::new(); facts.len()],
            ByConstraints::Any => looks(facts),
        };
        let mut possible = Possible { facts, looks, reads, edges: vec![Vec::new(); facts.len()] };
        for from in 1..facts.len() as Node {
            for to in (1..facts.len() as Node).filter(|to| *to != from) {
                let edges = possible.between(from, to);
                possible.edges[from as usize].extend(edges);
            }
        }
        possible
    }

    fn between(&self, from: Node, to: Node) -> Vec<(Node, DependencyKind, Option<u32>)> {
        // Nobody comes before an earlier transaction of its session, which it sees.
        if self.in_session(to, from) {
            return Vec::new();
        }
        let follows = self.in_session(from, to);
        let (reads, writes) = (&self.reads, |node: Node| self.facts.writes(node));
        let met = common(&self.looks[from as usize], &self.looks[to as usize]);
        let found = [
            (DependencyKind::WriteRead, common(writes(from), &reads[to as usize])),
            (DependencyKind::WriteWrite, common(writes(from), writes(to))),
            (DependencyKind::ReadWrite, common(&reads[from as usize], writes(to)).or(met)),
        ];
        let session = follows.then_some((to, DependencyKind::Session, None));
        let others = found.into_iter().filter_map(|(kind, key)| key.map(|key| (to, kind, Some(key))));
        session.into_iter().chain(others).collect()
    }

    fn in_session(&self, first: Node, second: Node) -> bool {
        let session = |node: Node| self.facts.history.txn(self.facts.txns[node as usize]).session;
        self.facts.assumptions.sessions && first < second && session(first) == session(second)
    }

    /// Whether two transactions can run without one seeing the other: at `psi` and `si` not if they write a common key,
    /// nowhere if they belong to one session.
    fn concurrent(&self, one: Node, other: Node, level: Level) -> bool {
        let conflict = common(self.facts.writes(one), self.facts.writes(other)).is_some();
        !(self.in_session(one, other) || self.in_session(other, one))
            && !(conflict && matches!(level, Level::Psi | Level::Si))
    }

    /// T1 -rw-> T2 → … → Tm → T1, where T1 does not see T2: the shortest one that the level allows.
    fn cycle_from(&self, first: Node, level: Level) -> Option<Vec<Dependency>> {
        let asks_on_the_way = matches!(level, Level::Cc | Level::Psi);
        // Where the search has come to, whether it has come over what the level asks for, and from where.
        let mut states: Vec<(Node, bool, usize, Dependency)> = Vec::new();
        let mut known = vec![[false; 2]; self.facts.len()];
        let mut queue = VecDeque::new();
        let is_real = |to: Node| common(&self.reads[first as usize], self.facts.writes(to)).is_some();
        for edge in
            self.edges[first as usize].iter().filter(|edge| edge.1 == DependencyKind::ReadWrite && is_real(edge.0))
        {
            if self.concurrent(first, edge.0, level) && !std::mem::replace(&mut known[edge.0 as usize][0], true) {
                queue.push_back(states.len());
                states.push((edge.0, false, usize::MAX, self.dependency(first, edge)));
            }
        }
        while let Some(at) = queue.pop_front() {
            let (here, over, ..) = states[at];
            for edge in &self.edges[here as usize] {
                let counts = self.counts(here, edge, level);
                if edge.0 == first {
                    if counts || (over && asks_on_the_way) {
                        return Some(way(&states, at, self.dependency(here, edge)));
                    }
                    continue;
                }
                let over = over || (asks_on_the_way && counts);
                if !std::mem::replace(&mut known[edge.0 as usize][usize::from(over)], true) {
                    queue.push_back(states.len());
                    states.push((edge.0, over, at, self.dependency(here, edge)));
                }
            }
        }
        None
    }

    /// Whether a dependency is a second one that the level asks for: one over which nobody sees anybody.
    fn counts(&self, from: Node, edge: &(Node, DependencyKind, Option<u32>), level: Level) -> bool {
        let kinds: &[DependencyKind] = match level {
            Level::Cc | Level::Pc => &[DependencyKind::ReadWrite, DependencyKind::WriteWrite],
            _ => &[DependencyKind::ReadWrite],
        };
        kinds.contains(&edge.1) && self.concurrent(from, edge.0, level)
    }

    fn dependency(&self, from: Node, edge: &(Node, DependencyKind, Option<u32>)) -> Dependency {
        let (from, to) = (self.facts.txns[from as usize], self.facts.txns[edge.0 as usize]);
        Dependency { from, to, kind: edge.1, key: edge.2.map(Key) }
    }
}

fn way(states: &[(Node, bool, usize, Dependency)], last: usize, back: Dependency) -> Vec<Dependency> {
    let mut cycle = vec![back];
    let mut at = last;
    while at != usize::MAX {
        cycle.push(states[at].3);
        at = states[at].2;
    }
    cycle.reverse();
    cycle
}

/// For each transaction, the keys at which constraints may order it: those of its orders, and those that it writes.
fn looks(facts: &Facts<'_>) -> Vec<Vec<u32>> {
    let mut looks: Vec<Vec<u32>> = vec![Vec::new(); facts.len()];
    let keys: BTreeSet<u32> = facts.constraint_orders.iter().map(|&(.., key)| key).collect();
    for &(first, second, key) in &facts.constraint_orders {
        looks[first as usize].push(key);
        looks[second as usize].push(key);
    }
    for node in 1..facts.len() as Node {
        looks[node as usize].extend(facts.writes(node).iter().filter(|key| keys.contains(key)));
        looks[node as usize].sort_unstable();
        looks[node as usize].dedup();
    }
    looks
}

/// The first key that two sorted lists have.
fn common(one: &[u32], other: &[u32]) -> Option<u32> {
    let (mut at, mut other_at) = (0, 0);
    while at < one.len() && other_at < other.len() {
        match one[at].cmp(&other[other_at]) {
            std::cmp::Ordering::Less => at += 1,
            std::cmp::Ordering::Greater => other_at += 1,
            std::cmp::Ordering::Equal => return Some(one[at]),
        }
    }
    None
}
