//! What saturation leaves open: which of two writers of a key commits first. A SAT solver chooses, the graph objects,
//! and every objection is a clause that it will never violate again.
//!
//! A choice `a before b` brings the same edges as when it is known: `a` commits before `b`, whoever looks at `a`'s
//! version looks before `b` commits, and a `b` that checks conflicts looks after `a` commits. A cycle objects to the
//! choices on it. Without cycles (and, at `psi`, without a read that ignores one of its causes) any topological order
//! is a commit order. The solver's first preference is the order of the estimated times, which is right nearly
//! everywhere.

use std::collections::VecDeque;

use batsat::{BasicSolver, Lit, SolverInterface, lbool};
use rustc_hash::FxHashMap;

use crate::events::View;
use crate::facts::{INIT, Node};
use crate::graph::{Graph, strong_components};
use crate::reach::Reach;
use crate::saturate::{Saturated, Side};

/// How the choice ended.
pub(crate) enum Chosen {
    /// A commit order.
    Order(Vec<Node>),
    /// No choice works, because of cycles through these known edges and these choices.
    Impossible(Vec<Involved>),
    /// It took too many objections.
    GaveUp,
}

/// What an objection rests on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Involved {
    /// A known edge of a graph.
    Edge { causes: bool, from: u32, to: u32 },
    /// A transaction whose place among the writers of a key was a choice, or whose read objects.
    Txn(Node),
}

/// The most choices that are handed to the solver.
const MAX_PAIRS: usize = 4_000_000;

/// The most objections to one proposal.
const MAX_OBJECTIONS: usize = 64;

/// Decides what saturation left open, with at most this many objections.
pub(crate) fn choose(saturated: &Saturated, estimates: &[u32], max_conflicts: u64) -> Chosen {
    let Some(pairs) = open_pairs(saturated) else { return Chosen::GaveUp };
    let mut chooser = Chooser::new(saturated, pairs, estimates);
    let mut objections = 0;
    loop {
        if chooser.solver.solve_limited(&[]) == lbool::FALSE {
            chooser.involved.sort_unstable();
            chooser.involved.dedup();
            return Chosen::Impossible(chooser.involved);
        }
        match chooser.propose() {
            Ok(order) => return Chosen::Order(order),
            Err(clauses) => {
                objections += clauses.len() as u64;
                if objections > max_conflicts {
                    return Chosen::GaveUp;
                }
                for mut clause in clauses {
                    chooser.solver.add_clause_reuse(&mut clause);
                }
            }
        }
    }
}

/// Two writers of common keys whose order is open.
pub(crate) struct Pair {
    pub a: Node,
    pub b: Node,
    keys: Vec<u32>,
}

/// Every pair whose order is open and matters to somebody; `None` if there are too many.
pub(crate) fn open_pairs(saturated: &Saturated) -> Option<Vec<Pair>> {
    let (facts, events, time) = (saturated.base.facts, &saturated.events, &saturated.time);
    let writers = &saturated.time_writers;
    let mut index: FxHashMap<(Node, Node), usize> = FxHashMap::default();
    let mut pairs: Vec<Pair> = Vec::new();
    let is_read = |node: Node, key: u32| !saturated.versions.readers(saturated.base, node, key).is_empty();
    for a in 1..facts.len() as Node {
        let commit = events.commit[a as usize];
        for &key in facts.writes(a) {
            for group in writers.groups(key) {
                let members = &time.chains.members[writers.chain(group) as usize];
                let places = writers.places(group);
                let before = time.clock(commit)[writers.chain(group) as usize];
                let from = places.partition_point(|&place| place <= before);
                let open = places[from..].iter().map(|&place| members[place as usize - 1]);
                for other in open.take_while(|&other| !time.reaches(commit, other)) {
                    let b = events.txn[other as usize];
                    let matters = saturated.causes.is_some()
                        || events.conflicts_at(a, key)
                        || events.conflicts_at(b, key)
                        || is_read(a, key)
                        || is_read(b, key);
                    if a >= b || !matters {
                        continue;
                    }
                    let at = *index.entry((a, b)).or_insert_with(|| {
                        pairs.push(Pair { a, b, keys: Vec::new() });
                        pairs.len() - 1
                    });
                    pairs[at].keys.push(key);
                }
            }
            if pairs.len() > MAX_PAIRS {
                return None;
            }
        }
    }
    Some(pairs)
}

struct Chooser<'s, 'b, 'f> {
    saturated: &'s Saturated<'b, 'f>,
    solver: BasicSolver,
    pairs: Vec<Pair>,
    /// For each pair, "a first".
    literals: Vec<Lit>,
    index: FxHashMap<(Node, Node), usize>,
    involved: Vec<Involved>,
}

impl<'s, 'b, 'f> Chooser<'s, 'b, 'f> {
    fn new(saturated: &'s Saturated<'b, 'f>, pairs: Vec<Pair>, estimates: &[u32]) -> Self {
        let mut solver = BasicSolver::default();
        let time = |node: Node| {
            let commit = saturated.events.commit[node as usize];
            (estimates[commit as usize], saturated.time.rank[commit as usize])
        };
        let literals = pairs
            .iter()
            .map(|pair| Lit::new(solver.new_var(lbool::new(time(pair.a) < time(pair.b)), true), true))
            .collect();
        let index = pairs.iter().enumerate().map(|(at, pair)| ((pair.a, pair.b), at)).collect();
        Chooser { saturated, solver, pairs, literals, index, involved: Vec::new() }
    }

    /// The literal "a before b", if that is a choice.
    fn literal(&self, a: Node, b: Node) -> Option<Lit> {
        match self.index.get(&(a.min(b), a.max(b))) {
            Some(&at) if a < b => Some(self.literals[at]),
            Some(&at) => Some(!self.literals[at]),
            None => None,
        }
    }

    /// A commit order of the solver's choice, or clauses that object to it.
    fn propose(&mut self) -> Result<Vec<Node>, Vec<Vec<Lit>>> {
        let saturated = self.saturated;
        let events = &saturated.events;
        let mut time = Proposal::new(&saturated.time);
        let mut causes = saturated.causes.as_ref().map(|(reach, _)| Proposal::new(reach));
        for (pair, &literal) in self.pairs.iter().zip(&self.literals) {
            let a_first = self.solver.value_lit(literal) == lbool::TRUE;
            let (older, newer) = if a_first { (pair.a, pair.b) } else { (pair.b, pair.a) };
            let choice = if a_first { literal } else { !literal };
            let (old, new) = (events.commit[older as usize], events.commit[newer as usize]);
            time.push(old, new, choice);
            for &key in &pair.keys {
                for &(view, _) in saturated.versions.readers(saturated.base, older, key) {
                    if events.txn[view as usize] != newer {
                        time.push(view, new, choice);
                    }
                }
            }
            if pair.keys.iter().any(|&key| events.conflicts_at(newer, key)) {
                time.push(old, events.first[newer as usize], choice);
            }
            if let Some(causes) = &mut causes {
                causes.push(older, newer, choice);
            }
        }
        time.finish();
        let order = match time.topological_order() {
            Ok(order) => order,
            Err(_) => return Err(self.object_to_cycles(&time, Side::Events)),
        };
        if let Some(causes) = &mut causes {
            causes.finish();
            if causes.topological_order().is_err() {
                return Err(self.object_to_cycles(causes, Side::Causes));
            }
            let clauses = self.object_to_ignored_causes(causes, &order);
            if !clauses.is_empty() {
                return Err(clauses);
            }
        }
        let commits = order.into_iter().filter(|&event| events.commit[events.txn[event as usize] as usize] == event);
        Ok(commits.map(|event| events.txn[event as usize]).collect())
    }

    /// Clauses against cycles, no two that start from the same choice.
    fn object_to_cycles(&mut self, proposal: &Proposal, side: Side) -> Vec<Vec<Lit>> {
        let component = strong_components(proposal);
        let mut clauses = Vec::new();
        let mut used: Vec<Lit> = Vec::new();
        for &(from, to, choice) in &proposal.edges {
            if component[from as usize] != component[to as usize] || used.contains(&choice) {
                continue;
            }
            let path = proposal
                .path(to, from, |node| component[node as usize] == component[from as usize])
                .expect("the ends of an edge inside a strong component are on a cycle");
            let mut literals = self.note_path(&path, side);
            literals.push(choice);
            self.note_choice(from, to, side);
            used.extend_from_slice(&literals);
            clauses.push(clause(literals));
            if clauses.len() >= MAX_OBJECTIONS {
                break;
            }
        }
        clauses
    }

    /// Clauses against reads at `psi` whose source is older, in the proposed order, than a cause that wrote the key.
    fn object_to_ignored_causes(&mut self, proposal: &Proposal, order: &[u32]) -> Vec<Vec<Lit>> {
        let saturated = self.saturated;
        let (facts, events) = (saturated.base.facts, &saturated.events);
        let mut rank = vec![0u32; order.len()];
        for (at, &event) in order.iter().enumerate() {
            rank[event as usize] = at as u32;
        }
        let rank = |node: Node| rank[events.commit[node as usize] as usize];
        let Some((_, writers)) = &saturated.causes else { return Vec::new() };
        let mut reach = proposal.known.clone();
        let edges: Vec<(u32, u32)> = proposal.edges.iter().map(|&(from, to, _)| (from, to)).collect();
        let mut changed = vec![false; reach.len()];
        reach.add(&edges, &mut changed).expect("the proposal has no cycle");
        let mut clauses = Vec::new();
        for node in 1..facts.len() as Node {
            for (read, number) in saturated.base.reads(node).iter().zip(facts.first_read(node)..) {
                if saturated.events.views[number as usize] != View::Causes {
                    continue;
                }
                for group in writers.groups(read.key) {
                    let chain = writers.chain(group) as usize;
                    let own = reach.chains.chain[node as usize] as usize == chain;
                    let newest = writers.last_up_to(group, reach.clock(node)[chain] - u32::from(own));
                    if newest == 0 {
                        continue;
                    }
                    let cause = reach.chains.members[chain][newest as usize - 1];
                    if cause == read.source || rank(cause) < rank(read.source) {
                        continue;
                    }
                    let path = proposal.path(cause, node, |_| true).expect("the clock says that there is a path");
                    let mut literals = self.note_path(&path, Side::Causes);
                    literals.extend(self.literal(read.source, cause));
                    self.note_choice(read.source, cause, Side::Causes);
                    self.involved.push(Involved::Txn(node));
                    if read.source != INIT && self.literal(read.source, cause).is_none() {
                        let (from, to) = (events.commit[read.source as usize], events.commit[cause as usize]);
                        let path = saturated.time.path(from, to);
                        let steps =
                            path.windows(2).map(|step| Involved::Edge { causes: false, from: step[0], to: step[1] });
                        self.involved.extend(steps);
                    }
                    clauses.push(clause(literals));
                    if clauses.len() >= MAX_OBJECTIONS {
                        return clauses;
                    }
                }
            }
        }
        clauses
    }

    /// Remembers what a path rests on; gives its choices.
    fn note_path(&mut self, path: &[(u32, u32, Option<Lit>)], side: Side) -> Vec<Lit> {
        let mut literals = Vec::new();
        for &(from, to, choice) in path {
            match choice {
                Some(choice) => {
                    literals.push(choice);
                    self.note_choice(from, to, side);
                }
                None => self.involved.push(Involved::Edge { causes: side == Side::Causes, from, to }),
            }
        }
        literals
    }

    fn note_choice(&mut self, from: u32, to: u32, side: Side) {
        let txn = |at: u32| if side == Side::Causes { at } else { self.saturated.events.txn[at as usize] };
        let (from, to) = (txn(from), txn(to));
        self.involved.extend([Involved::Txn(from), Involved::Txn(to)]);
    }
}

/// Not all of these.
fn clause(mut literals: Vec<Lit>) -> Vec<Lit> {
    literals.sort_unstable_by_key(|literal| literal.idx());
    literals.dedup();
    literals.into_iter().map(|literal| !literal).collect()
}

/// A graph of known edges and chosen ones.
struct Proposal<'r> {
    known: &'r Reach,
    edges: Vec<(u32, u32, Lit)>,
    starts: Vec<u32>,
}

impl<'r> Proposal<'r> {
    fn new(known: &'r Reach) -> Self {
        Proposal { known, edges: Vec::new(), starts: Vec::new() }
    }

    fn push(&mut self, from: u32, to: u32, choice: Lit) {
        self.edges.push((from, to, choice));
    }

    fn finish(&mut self) {
        self.edges.sort_unstable_by_key(|&(from, to, choice)| (to, from, choice.idx()));
        let mut at = 0;
        self.starts = (0..=self.known.len() as u32)
            .map(|node| {
                while at < self.edges.len() && self.edges[at].1 < node {
                    at += 1;
                }
                at as u32
            })
            .collect();
    }

    fn chosen(&self, node: u32) -> &[(u32, u32, Lit)] {
        &self.edges[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }

    /// A path with as few choices as can be, through nodes that `within` allows.
    fn path(&self, from: u32, to: u32, within: impl Fn(u32) -> bool) -> Option<Vec<(u32, u32, Option<Lit>)>> {
        let mut after: FxHashMap<u32, (u32, Option<Lit>, u32)> = FxHashMap::default();
        after.insert(to, (to, None, 0));
        let mut queue = VecDeque::from([(to, 0)]);
        while let Some((node, cost)) = queue.pop_front() {
            if node == from {
                let mut path = Vec::new();
                let mut at = from;
                while at != to {
                    let (next, choice, _) = after[&at];
                    path.push((at, next, choice));
                    at = next;
                }
                return Some(path);
            }
            if after[&node].2 < cost {
                continue;
            }
            let known = self.known.preds(node).map(|pred| (pred, None, cost));
            let chosen = self.chosen(node).iter().map(|&(pred, _, choice)| (pred, Some(choice), cost + 1));
            for (pred, choice, cost) in known.chain(chosen) {
                if within(pred) && after.get(&pred).is_none_or(|&(_, _, there)| there > cost) {
                    after.insert(pred, (node, choice, cost));
                    if choice.is_some() {
                        queue.push_back((pred, cost));
                    } else {
                        queue.push_front((pred, cost));
                    }
                }
            }
        }
        None
    }
}

impl Graph for Proposal<'_> {
    fn len(&self) -> usize {
        self.known.len()
    }

    fn preds(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        self.known.preds(node).chain(self.chosen(node).iter().map(|&(from, _, _)| from))
    }
}
