//! The search for a cycle that a level allows, over any number of transactions.
//!
//! T1 reads what T2 overwrites. From T2 the search goes along dependencies, and keeps what the values of the transaction
//! that it has come to are equal to among the values of T1 and T2: nothing else of the way behind matters. There are
//! finitely many such states, so the search ends. Of two ways to the same place the one with fewer equalities is kept,
//! since equalities only ever exclude.
//!
//! Only shortest cycles are looked for: two transactions that surely write one cell depend on each other, so unless they
//! are neighbours in the cycle there is a shorter one.

use std::collections::{BTreeMap, VecDeque};

use crate::graph::Graph;
use crate::graph::classes::Classes;
use crate::graph::edges::Dependency;
use crate::graph::exclusion::{Apart, hit, meet};
use crate::graph::rules::{Back, Conflicts, Exclusion, Leading, Rules};
use crate::summary::{AccessKind, Cell};
use crate::suspect::{Edge, EdgeKind, Place, Suspect, SuspectCall};

/// The places of T1, T2 and the transaction that the search has come to among the classes.
pub(super) const FIRST: usize = 0;
pub(super) const SECOND: usize = 1;
pub(super) const HERE: usize = 2;

/// So many states are visited for one pair of T1 and T2.
const MOST_STATES: usize = 4_000;

/// Where there are more states, what differs between values is not kept any more: fewer states are told apart.
const FEW_STATES: usize = 1_000;

/// So many states are visited in all.
const MOST_STATES_IN_ALL: usize = 1_000_000;

/// Where there are more nodes, not all cycles are listed: one for each pair of T1 and T2, and so many in all.
const MANY_NODES: usize = 120;
const MOST_SUSPECTS: usize = 100;

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Searched {
    /// The cycles, the shortest of each kind, fewest transactions first.
    pub suspects: Vec<Suspect>,
    /// How many pairs of T1 and T2 were looked at.
    pub pairs: usize,
    /// How many states were visited.
    pub states: usize,
    /// Something was left out.
    pub limit: Option<String>,
}

/// Looks for all cycles that the rules of each program allow. Programs that are protected are serializable among
/// themselves.
pub fn search(graph: &Graph<'_>, all_rules: &BTreeMap<usize, Rules>, is_protected: &dyn Fn(usize) -> bool) -> Searched {
    let rules_of = |node: usize| &all_rules[&graph.nodes[node].program];
    let mut searched = Searched { limit: graph.limit.clone(), ..Searched::default() };
    let mut found: BTreeMap<String, Suspect> = BTreeMap::new();
    let is_enough = |found: &BTreeMap<String, Suspect>| graph.nodes.len() > MANY_NODES && found.len() >= MOST_SUSPECTS;
    'all: for first in 0..graph.nodes.len() {
        for out in graph.edges[first].iter().filter(|edge| edge.kind == EdgeKind::ReadWrite) {
            let protected = is_protected(graph.nodes[first].program) && is_protected(graph.nodes[out.to].program);
            let (rules, read) = (rules_of(first), &graph.path(first).accesses[out.accesses.0]);
            if protected || !rules.is_vulnerable(read, rules_of(out.to)) {
                continue;
            }
            let mut chain = Chain { graph, rules, is_protected, first, out, states: Vec::new() };
            let Some(start) = chain.start() else { continue };
            if let Some(limit) = graph.exhausted() {
                searched.limit = Some(limit);
                break 'all;
            }
            searched.pairs += 1;
            let suspects = chain.run(start);
            searched.states += chain.states.len();
            searched.limit = graph.exhausted().or(searched.limit);
            if chain.states.len() >= MOST_STATES {
                searched.limit = Some(format!("{MOST_STATES} states for one pair of transactions"));
            }
            if searched.states >= MOST_STATES_IN_ALL {
                searched.limit = Some(format!("{MOST_STATES_IN_ALL} states for all pairs of transactions"));
                break 'all;
            }
            for suspect in suspects {
                let kept = found.entry(signature(graph, &suspect)).or_insert_with(|| suspect.clone());
                if suspect.calls.len() < kept.calls.len() {
                    *kept = suspect;
                }
            }
            if is_enough(&found) {
                break 'all;
            }
        }
    }
    searched.suspects = found.into_values().collect();
    searched.suspects.sort_by_key(|suspect| suspect.calls.len());
    searched
}

/// What makes two cycles the same anomaly: their programs and the kinds of their dependencies, wherever one begins.
fn signature(graph: &Graph<'_>, suspect: &Suspect) -> String {
    let mut parts: Vec<String> = suspect
        .edges
        .iter()
        .map(|edge| {
            let table = edge.accesses.and_then(|(from, _)| {
                let call = &suspect.calls[edge.from];
                let path = &graph.summary.programs[call.program].paths[call.path];
                graph.summary.facts.table(path.accesses[from].table)
            });
            let table = table.map_or("", |table| &table.name);
            format!("{} {} {table}", suspect.calls[edge.from].program, edge.kind.name())
        })
        .collect();
    let smallest = (0..parts.len()).min_by_key(|at| [&parts[*at..], &parts[..*at]].concat()).unwrap_or(0);
    parts.rotate_left(smallest);
    parts.join(", ")
}

/// The search from one pair of T1 and T2.
pub(super) struct Chain<'g, 's> {
    pub(super) graph: &'g Graph<'s>,
    /// Of the program of T1.
    pub(super) rules: &'g Rules,
    is_protected: &'g dyn Fn(usize) -> bool,
    pub(super) first: usize,
    pub(super) out: &'g Dependency,
    states: Vec<State>,
}

/// How far a chain has come.
struct State {
    /// The values of T1, T2 and the transaction that it has come to.
    classes: Classes,
    read_writes: bool,
    overwrites: bool,
    /// Where on the way serializable transactions are.
    marks: Marks,
    length: usize,
    /// The transaction surely writes what T1 writes: they are neighbours, or the cycle is not a shortest one.
    must_close: bool,
    /// The access with which it was entered, if that hits a row.
    entered: Vec<usize>,
    /// What is not the same, because somebody on the way would be excluded.
    apart: Vec<Apart>,
    parent: Option<usize>,
    via: Option<Dependency>,
}

/// Serializable transactions between the anti-dependencies of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Marks {
    /// There is one since the last anti-dependency.
    here: bool,
    /// There is none between two anti-dependencies further behind.
    missing: bool,
}

impl State {
    /// Whether every cycle that another state of the same node leads to is one that this one leads to, too.
    fn leads_to_as_much_as(&self, next: &State) -> bool {
        self.read_writes == next.read_writes
            && self.overwrites == next.overwrites
            && self.must_close == next.must_close
            && self.marks == next.marks
            && self.length.min(3) == next.length.min(3)
            // What is known to be hit excludes more.
            && self.entered.iter().all(|access| next.entered.contains(access))
            && self.classes.is_within(&next.classes)
            && self.apart.iter().all(|one| next.apart.iter().any(|other| other.implies(one, &next.classes)))
    }
}

impl Marks {
    /// After another step: whether that is an anti-dependency, and whether it leads to a serializable transaction.
    fn then(self, reads_old: bool, is_serializable: bool) -> Marks {
        match reads_old {
            true => Marks { here: is_serializable, missing: self.missing || !self.here },
            false => Marks { here: self.here || is_serializable, missing: self.missing },
        }
    }
}

impl Chain<'_, '_> {
    fn start(&self) -> Option<State> {
        let graph = self.graph;
        let mut classes = Classes::new(graph, &[self.first, self.out.to]);
        for (one, other) in &self.out.equal {
            classes.unite((FIRST, *one), (SECOND, *other));
        }
        classes.double(graph);
        classes.close(graph).ok()?;
        let excluded = self.rules.exclusion != Exclusion::None
            && self.surely_conflict(&classes, (FIRST, &self.evidence_out()), (SECOND, &self.evidence_in()));
        if excluded || self.would_be_seen(&classes, SECOND, false) {
            return None;
        }
        let apart = self.apart(&classes, SECOND, &self.evidence_in());
        Some(State {
            classes,
            read_writes: false,
            overwrites: false,
            marks: Marks { here: self.splits() && self.protects(self.out.to), missing: false },
            length: 2,
            must_close: false,
            entered: self.evidence_in(),
            apart,
            parent: None,
            via: None,
        })
    }

    fn run(&mut self, start: State) -> Vec<Suspect> {
        let mut at_node: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        self.states.push(start);
        if let Some(back) = self.back(0) {
            return vec![self.suspect(0, &back)];
        }
        let mut found = Vec::new();
        let mut queue = VecDeque::from([0]);
        while let Some(at) = queue.pop_front() {
            if self.states[at].must_close || self.states.len() >= MOST_STATES {
                continue;
            }
            // Whoever called sees that the budget is used up, and says so.
            if self.graph.exhausted().is_some() {
                break;
            }
            for next in self.steps(at) {
                let known = at_node.entry(next.classes.node(HERE)).or_default();
                if known.iter().any(|known| self.states[*known].leads_to_as_much_as(&next)) {
                    continue;
                }
                let new = self.states.len();
                known.push(new);
                self.states.push(next);
                match self.back(new) {
                    None => queue.push_back(new),
                    Some(back) => found.push(self.suspect(new, &back)),
                }
                if self.graph.nodes.len() > MANY_NODES && !found.is_empty() {
                    return found;
                }
            }
        }
        found
    }

    /// A dependency that leads from here back to T1.
    fn back(&self, at: usize) -> Option<Dependency> {
        let state = &self.states[at];
        let here = state.classes.node(HERE);
        let session = self.rules.sessions.then(|| session_to(self.first));
        let back = self.graph.between(here, self.first).iter().chain(session.iter());
        back.filter(|edge| self.closes(state, edge)).min_by_key(|edge| std::cmp::Reverse(edge.kind)).cloned()
    }

    fn closes(&self, state: &State, edge: &Dependency) -> bool {
        let graph = self.graph;
        let here = state.classes.node(HERE);
        let (path, first) = (graph.path(here), graph.path(self.first));
        let back = (edge.kind != EdgeKind::Session).then(|| &first.accesses[edge.accesses.1]);
        // Of two that are serializable with each other the later one sees the earlier one, as if it had read from it.
        let kind = match edge.kind {
            EdgeKind::Session => EdgeKind::Session,
            _ if self.protects(here) && self.protects(self.first) => EdgeKind::WriteRead,
            kind => kind,
        };
        let leading = Leading {
            length: state.length,
            kind,
            out: &first.accesses[self.out.accesses.0],
            back,
            read_writes: state.read_writes,
            overwrites: state.overwrites,
        };
        if !self.rules.leads_back(&leading) || self.is_split(state, kind) {
            return false;
        }
        let mut classes = state.classes.clone();
        for (one, other) in &edge.equal {
            // In loops the other accesses were those of other iterations.
            if !path.terms[*one].looped && !first.terms[*other].looped {
                classes.unite((HERE, *one), (FIRST, *other));
            }
        }
        if classes.close(graph).is_err() || self.is_excluded_after_all(&classes, state) {
            return false;
        }
        let is_chord = self.rules.exclusion != Exclusion::Locks
            && state.length > 3
            && self.surely_depend(&classes, (SECOND, &self.evidence_in()), (HERE, &state.entered));
        if is_chord {
            return false;
        }
        if matches!(self.rules.exclusion, Exclusion::Neighbours | Exclusion::Everybody)
            && edge.kind == EdgeKind::ReadWrite
        {
            // What T1 overwrites it writes for sure in this cycle; in a loop, perhaps in another iteration.
            let mut evidence = self.evidence_out();
            evidence.extend(self.is_one_in_loops(edge.accesses.1).then_some(edge.accesses.1));
            let with_second = self.surely_conflict(&classes, (FIRST, &evidence), (SECOND, &self.evidence_in()));
            let with_last = self.surely_conflict(&classes, (FIRST, &evidence), (HERE, &state.entered));
            if with_second || with_last || self.would_have_come_back(state, &classes, edge) {
                return false;
            }
        }
        true
    }

    /// Whether later equalities exclude the transaction that the chain has come to, or one on the way.
    fn is_excluded_after_all(&self, classes: &Classes, state: &State) -> bool {
        if !matches!(self.rules.exclusion, Exclusion::Everybody | Exclusion::Locks) {
            return false;
        }
        self.surely_conflict(classes, (FIRST, &self.evidence_out()), (HERE, &state.entered))
            || state.apart.iter().any(|apart| apart.is_broken(classes))
    }

    /// Whether Tm has read a column of a row that T2, which it sees, has deleted, and that T1 changes: somebody must have
    /// inserted the row again, and with it what T1 writes, without being seen by T1. (Where one transaction that is delayed
    /// is enough, the others come one after the other and see T2.)
    fn would_have_come_back(&self, state: &State, classes: &Classes, edge: &Dependency) -> bool {
        let deleted = &self.graph.path(self.out.to).accesses[self.out.accesses.1];
        let changed = &self.graph.path(self.first).accesses[edge.accesses.1];
        deleted.kind == AccessKind::Delete
            && changed.kind == AccessKind::Update
            && self.rules.conflicts == Conflicts::Cells
            && !self.rules.mixed
            && (self.rules.exclusion == Exclusion::Everybody || !state.read_writes)
            && !edge.cells.contains(&Cell::Existence)
            && self.is_one_in_loops(edge.accesses.1)
            && classes.are_one_row(self.graph, (SECOND, deleted), (FIRST, changed))
    }

    /// Whether an access of T1 is to the same row in all iterations of loops.
    fn is_one_in_loops(&self, access: usize) -> bool {
        let path = self.graph.path(self.first);
        path.accesses[access].row.iter().all(|(_, value)| !path.terms[*value].looped)
    }

    /// The transactions that depend on the one that the chain has come to.
    fn steps(&self, at: usize) -> Vec<State> {
        let here = self.states[at].classes.node(HERE);
        // Those without equalities first: they make others superfluous.
        let sessions: Vec<Dependency> = match self.leads_on(at) {
            false => Vec::new(),
            true => (0..self.graph.nodes.len()).filter(|node| self.can_lead_back(*node)).map(session_to).collect(),
        };
        let state = &self.states[at];
        // Where sessions lead everywhere, other dependencies are only needed if the level asks for them.
        let is_needed = |edge: &&Dependency| {
            let (read_writes, overwrites) = self.rules.asks_for();
            !self.rules.sessions
                || (read_writes && !state.read_writes && hides(edge.kind))
                || (overwrites && !state.overwrites && edge.kind == EdgeKind::WriteWrite)
        };
        let edges = sessions.iter().chain(self.graph.followed[here].iter().filter(is_needed));
        edges.filter_map(|edge| self.step(at, edge)).collect()
    }

    /// Whether a session leads on from here: after another step in a session it comes to nothing new.
    fn leads_on(&self, at: usize) -> bool {
        let came_by = self.states[at].via.as_ref().map(|edge| edge.kind);
        self.rules.sessions && came_by != Some(EdgeKind::Session)
    }

    /// Whether a dependency may lead from a node back to T1, if sessions lead everywhere and no other steps are needed.
    fn can_lead_back(&self, node: usize) -> bool {
        let depends = !self.graph.between(node, self.first).is_empty();
        depends || self.rules.asks_for() != (false, false) || self.rules.a_session_leads_back()
    }

    fn step(&self, at: usize, edge: &Dependency) -> Option<State> {
        let graph = self.graph;
        graph.takes(1);
        let state = &self.states[at];
        let here = state.classes.node(HERE);
        let mut classes = state.classes.clone();
        let next = classes.add(graph, edge.to);
        for (one, other) in &edge.equal {
            if !graph.path(here).terms[*one].looped {
                classes.unite((HERE, *one), (next, *other));
            }
        }
        classes.close(graph).ok()?;
        if self.is_excluded_after_all(&classes, state) {
            return None;
        }
        let is_ordered = edge.kind == EdgeKind::ReadWrite && self.also_overwrites(&classes, next, edge);
        let mut apart: Vec<Apart> =
            state.apart.iter().filter_map(|apart| apart.carried(&classes, graph, next)).collect();
        let classes = classes.only(graph, &[FIRST, SECOND, next]);
        let entered = match edge.kind {
            EdgeKind::Session => Vec::new(),
            _ => hit(graph.path(edge.to), edge.accesses.1, edge, edge.kind != EdgeKind::WriteRead),
        };
        if self.would_be_seen(&classes, HERE, true) {
            return None;
        }
        let with_first = self.surely_conflict(&classes, (FIRST, &self.evidence_out()), (HERE, &entered));
        let with_second = self.surely_depend(&classes, (SECOND, &self.evidence_in()), (HERE, &entered));
        let is_third = state.parent.is_none();
        match self.rules.exclusion {
            Exclusion::Everybody | Exclusion::Locks if with_first => return None,
            Exclusion::Locks => {}
            _ if with_second && !is_third => return None,
            Exclusion::Neighbours | Exclusion::Everybody if with_second && edge.kind == EdgeKind::ReadWrite => {
                return None;
            }
            _ => {}
        }
        for new in self.apart(&classes, HERE, &entered) {
            if !apart.contains(&new) {
                apart.push(new);
            }
        }
        if self.states.len() > FEW_STATES {
            apart.clear();
        }
        // Of two that are serializable with each other the later one sees the earlier one, and whoever sees the later one sees
        // both (SERTOTAL; lemma 7 of Bernardi and Gotsman 2016): their dependency counts as a read.
        let is_seen = self.protects(here) && self.protects(edge.to);
        let (read_writes, overwrites) = self.rules.asks_for();
        let reads_old = hides(edge.kind) && !is_ordered && !is_seen;
        let marks = match self.splits() {
            true => state.marks.then(reads_old, self.protects(edge.to)),
            false => Marks::default(),
        };
        Some(State {
            classes,
            marks,
            read_writes: state.read_writes || (read_writes && reads_old),
            overwrites: state.overwrites || (overwrites && edge.kind == EdgeKind::WriteWrite && !is_seen),
            length: state.length + 1,
            must_close: with_first && self.rules.exclusion != Exclusion::Locks,
            entered,
            apart,
            parent: Some(at),
            via: Some(edge.clone()),
        })
    }

    /// Whether two transactions of which one overwrites what the other one reads also write one cell. At `psi` the same cycle
    /// then has one anti-dependency less: it is counted with the order of the writes.
    fn also_overwrites(&self, classes: &Classes, next: usize, edge: &Dependency) -> bool {
        let (here, there) = (self.graph.path(classes.node(HERE)), self.graph.path(edge.to));
        let (read, written) = (&here.accesses[edge.accesses.0], &there.accesses[edge.accesses.1]);
        // Who changes the rows that it picks has changed this one.
        let changes_it =
            edge.picked && !read.conditional && meet(read, written) && !edge.cells.contains(&Cell::Existence);
        let evidence = hit(here, edge.accesses.0, edge, false);
        self.rules.exclusion == Exclusion::Neighbours
            && (changes_it || self.surely_conflict(classes, (HERE, &evidence), (next, &[edge.accesses.1])))
    }

    /// Whether serializable transactions can split cycles: at `psi`, where all run at that level.
    fn splits(&self) -> bool {
        self.rules.back == Back::SecondReadWrite && !self.rules.mixed
    }

    /// Lemma `split-by-serializable`: of a cycle with a serializable transaction between any two anti-dependencies, each of
    /// these would see the next one.
    fn is_split(&self, state: &State, back: EdgeKind) -> bool {
        let own = self.protects(self.first);
        let last = match back {
            back if hides(back) => state.marks.here && own,
            _ => state.marks.here || own,
        };
        self.splits() && !state.marks.missing && last
    }

    fn protects(&self, node: usize) -> bool {
        (self.is_protected)(self.graph.nodes[node].program)
    }

    /// The accesses of T1 that hit a row for sure, because T2 overwrites what they read there.
    pub(super) fn evidence_out(&self) -> Vec<usize> {
        hit(self.graph.path(self.first), self.out.accesses.0, self.out, false)
    }

    /// The access of T2 that overwrites what T1 has read.
    fn evidence_in(&self) -> Vec<usize> {
        vec![self.out.accesses.1]
    }

    fn suspect(&self, at: usize, back: &Dependency) -> Suspect {
        let mut steps = Vec::new();
        let mut state = at;
        while let Some(parent) = self.states[state].parent {
            steps.push(self.states[state].via.clone().expect("who has a parent was stepped to"));
            state = parent;
        }
        steps.reverse();
        let nodes = [self.first, self.out.to].into_iter().chain(steps.iter().map(|step| step.to));
        let calls: Vec<SuspectCall> = nodes
            .map(|node| SuspectCall { program: self.graph.nodes[node].program, path: self.graph.nodes[node].path })
            .collect();
        let all: Vec<&Dependency> = [self.out].into_iter().chain(&steps).chain([back]).collect();
        let mut edges = Vec::new();
        let mut equal = Vec::new();
        for (from, edge) in all.iter().enumerate() {
            let to = (from + 1) % calls.len();
            let accesses = (edge.kind != EdgeKind::Session).then_some(edge.accesses);
            edges.push(Edge { from, to, kind: edge.kind, accesses });
            equal.extend(
                edge.equal
                    .iter()
                    .map(|(one, other)| (Place { call: from, term: *one }, Place { call: to, term: *other })),
            );
        }
        Suspect { level: self.rules.level, calls, edges, equal }
    }
}

/// Whether the later transaction of a dependency need not see the first one: the first one read what the later one
/// overwrites, or a constraint of the later one looked at the newest state.
fn hides(kind: EdgeKind) -> bool {
    matches!(kind, EdgeKind::ReadWrite | EdgeKind::Constraint)
}

fn session_to(to: usize) -> Dependency {
    let (cells, equal) = (Vec::new(), Vec::new());
    Dependency { to, kind: EdgeKind::Session, accesses: (0, 0), cells, picked: true, equal, lookup: None }
}
