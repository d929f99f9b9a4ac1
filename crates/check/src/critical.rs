//! Critical cycles: which dependencies of a recorded execution a level allows to go in a circle (Bernardi and Gotsman,
//! Robustness against consistency models with atomic visibility, CONCUR 2016, section 3), and whether the same
//! transactions could go in one in another order (section 4, with what each of them has read and written).

use skew_model::robust::DependencyKind;
use skew_model::{History, Justification, Key, Level, Limit, Outcome, Scope, TxnId};

use crate::checker::Checker;
use crate::facts::{Facts, INIT, Node};
use crate::potential::{ByConstraints, possible_cycle};

/// The levels that the criterion is about: transactions see each other as a whole or not at all.
pub const ROBUSTNESS_LEVELS: [Level; 4] = [Level::Cc, Level::Pc, Level::Psi, Level::Si];

/// A dependency between two transactions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dependency {
    /// Who comes first.
    pub from: TxnId,
    /// Who comes later.
    pub to: TxnId,
    /// Why.
    pub kind: DependencyKind,
    /// What it is about; the order of a session is about nothing.
    pub key: Option<Key>,
}

/// What a level has to do with a recorded execution.
#[derive(Clone, Debug)]
pub enum Robustness {
    /// It is serializable, and so is every other execution of these transactions at the level.
    Robust,
    /// It is serializable, but its transactions may go in this circle in another execution at the level.
    Possible(Vec<Dependency>),
    /// It goes in a circle that the level allows. The transactions are those of the part that is enough for it.
    Critical(Box<History>, Vec<Dependency>),
    /// It is not an execution of the level.
    Outside,
    /// It could not be decided.
    Unknown(Limit),
    /// It is an execution of the level, and its reads and writes alone go in no circle that the level allows; with the order
    /// that constraints give to commits they go in one, or may go in one in another execution.
    OrderedByConstraints,
    /// There are too many transactions to look at all their orders; the execution itself is serializable.
    TooMany(usize),
}

/// `t1 -rw(x)-> t2 -rw(y)-> t1`
pub fn cycle_text(history: &History, cycle: &[Dependency]) -> String {
    let mut text = String::new();
    for edge in cycle {
        let about = edge.key.map_or_else(String::new, |key| format!("({})", history.key_name(key)));
        text.push_str(&format!("{} -{}{about}-> ", history.txn_name(edge.from), edge.kind.letters()));
    }
    text + &cycle.first().map_or_else(String::new, |edge| history.txn_name(edge.from))
}

impl Checker<'_> {
    /// Whether the execution, or another one of its transactions, goes in a circle that a level allows. The order of versions
    /// is that of the commit order that is found for the level, which keeps to what was recorded of it.
    pub fn robustness(&self, level: Level) -> Robustness {
        let order = match self.check(Scope::Level(level)).outcome {
            Outcome::Violated(_) => return Robustness::Outside,
            Outcome::Unknown(limit) => return Robustness::Unknown(limit),
            Outcome::Holds(Justification::CommitOrder { order, .. }) => order,
            Outcome::Holds(Justification::ReadsOnly) => Vec::new(),
        };
        let has_constraints = !self.facts().constraint_orders.is_empty();
        // Without a circle it is serializable (Lemma 3); with one, another order of versions may have none.
        if has_constraints || !is_acyclic(self.facts(), &order) {
            match self.check(Scope::Level(Level::Ser)).outcome {
                Outcome::Holds(_) => {}
                Outcome::Unknown(limit) => return Robustness::Unknown(limit),
                Outcome::Violated(violation) => {
                    return match self.critical(level, violation.history) {
                        // A circle that only the order of constraints closes.
                        Robustness::Outside if has_constraints => Robustness::OrderedByConstraints,
                        other => other,
                    };
                }
            }
        }
        match possible_cycle(self.facts(), level, ByConstraints::LeftOut) {
            Robustness::Robust if has_constraints => match possible_cycle(self.facts(), level, ByConstraints::Any) {
                Robustness::Possible(_) => Robustness::OrderedByConstraints,
                other => other,
            },
            other => other,
        }
    }

    /// The critical cycle of a smallest part that is not serializable: a part of an execution of a level is one, too.
    fn critical(&self, level: Level, part: History) -> Robustness {
        let cycle = {
            let checker = Checker::new(&part, self.options());
            match checker.check(Scope::Level(level)).outcome {
                Outcome::Holds(Justification::CommitOrder { order, .. }) => {
                    shortest_cycle(checker.facts(), &order).filter(|cycle| is_critical(level, cycle))
                }
                _ => None,
            }
        };
        match cycle {
            Some(cycle) => Robustness::Critical(Box::new(part), cycle),
            // A single operation that no order explains is no circle.
            None => Robustness::Outside,
        }
    }
}

/// Whether a circle is one that a level allows (Definition 4). It has to be without chords, and to have an anti-dependency
/// only where there is no other dependency.
pub fn is_critical(level: Level, cycle: &[Dependency]) -> bool {
    let anti: Vec<&Dependency> = cycle.iter().filter(|edge| edge.kind == DependencyKind::ReadWrite).collect();
    let overwrites = |edge: &Dependency| matches!(edge.kind, DependencyKind::ReadWrite | DependencyKind::WriteWrite);
    let next = |at: usize| &cycle[(at + 1) % cycle.len()];
    let adjacent = |counts: &dyn Fn(&Dependency) -> bool| {
        cycle.len() > 1 && (0..cycle.len()).any(|at| counts(&cycle[at]) && counts(next(at)))
    };
    let different = anti.iter().enumerate().all(|(at, one)| anti[..at].iter().all(|other| other.key != one.key));
    match level {
        Level::Cc => !anti.is_empty() && cycle.iter().filter(|edge| overwrites(edge)).count() >= 2,
        Level::Pc => !anti.is_empty() && adjacent(&overwrites),
        Level::Psi => anti.len() >= 2 && different,
        Level::Si => different && adjacent(&|edge: &Dependency| edge.kind == DependencyKind::ReadWrite),
        _ => false,
    }
}

/// Who writes each key, in commit order.
fn versions(facts: &Facts<'_>, order: &[TxnId]) -> Vec<Vec<Node>> {
    let mut versions = vec![Vec::new(); facts.key_count()];
    for node in order.iter().filter_map(|txn| facts.node(*txn)) {
        facts.writes(node).iter().for_each(|key| versions[*key as usize].push(node));
    }
    versions
}

/// Whether the dependencies have no circle. The next version of each key is enough: others follow from it.
fn is_acyclic(facts: &Facts<'_>, order: &[TxnId]) -> bool {
    let versions = versions(facts, order);
    let mut next: Vec<Vec<Node>> = vec![Vec::new(); facts.len()];
    for writers in &versions {
        writers.windows(2).for_each(|pair| next[pair[0] as usize].push(pair[1]));
    }
    for reader in 1..facts.len() as Node {
        for read in facts.reads(reader) {
            if read.source != INIT {
                next[read.source as usize].push(reader);
            }
            let writers = &versions[read.key as usize];
            let seen = writers.iter().position(|writer| *writer == read.source).map_or(0, |at| at + 1);
            let later = writers[seen..].iter().find(|writer| **writer != reader);
            next[reader as usize].extend(later);
        }
    }
    if facts.assumptions.sessions {
        for session in &facts.sessions {
            session.windows(2).for_each(|pair| next[pair[0] as usize].push(pair[1]));
        }
    }
    let mut waiting = vec![0_usize; facts.len()];
    next.iter().flatten().for_each(|to| waiting[*to as usize] += 1);
    let mut ready: Vec<usize> = (0..facts.len()).filter(|node| waiting[*node] == 0).collect();
    let mut done = 0;
    while let Some(node) = ready.pop() {
        done += 1;
        for to in &next[node] {
            waiting[*to as usize] -= 1;
            if waiting[*to as usize] == 0 {
                ready.push(*to as usize);
            }
        }
    }
    done == facts.len()
}

/// All dependencies (Definition 2), for a few transactions: for each pair the first of a session's order, what is read, what
/// is overwritten, what overwrites what was read.
fn dependencies(facts: &Facts<'_>, order: &[TxnId]) -> Vec<Dependency> {
    let versions = versions(facts, order);
    let mut edges: Vec<Dependency> = Vec::new();
    let mut add = |from: Node, to: Node, kind: DependencyKind, key: Option<u32>| {
        let (from, to) = (facts.txns[from as usize], facts.txns[to as usize]);
        edges.push(Dependency { from, to, kind, key: key.map(Key) });
    };
    if facts.assumptions.sessions {
        for session in &facts.sessions {
            for (at, from) in session.iter().enumerate() {
                session[at + 1..].iter().for_each(|to| add(*from, *to, DependencyKind::Session, None));
            }
        }
    }
    for (key, writers) in versions.iter().enumerate() {
        for (at, from) in writers.iter().enumerate() {
            writers[at + 1..].iter().for_each(|to| add(*from, *to, DependencyKind::WriteWrite, Some(key as u32)));
        }
    }
    for reader in 1..facts.len() as Node {
        for read in facts.reads(reader) {
            if read.source != INIT {
                add(read.source, reader, DependencyKind::WriteRead, Some(read.key));
            }
            let writers = &versions[read.key as usize];
            let seen = writers.iter().position(|writer| *writer == read.source).map_or(0, |at| at + 1);
            let later = writers[seen..].iter().filter(|writer| **writer != reader);
            later.for_each(|writer| add(reader, *writer, DependencyKind::ReadWrite, Some(read.key)));
        }
    }
    edges.sort_by_key(|edge| (edge.from, edge.to, edge.kind));
    edges.dedup_by_key(|edge| (edge.from, edge.to));
    edges
}

/// A shortest circle: it has no chords, and between two transactions anything goes before an anti-dependency.
fn shortest_cycle(facts: &Facts<'_>, order: &[TxnId]) -> Option<Vec<Dependency>> {
    let edges = dependencies(facts, order);
    let mut best: Option<Vec<Dependency>> = None;
    for start in order {
        let mut ways: Vec<Vec<Dependency>> = vec![Vec::new()];
        let mut reached = vec![*start];
        while let Some(way) = (!ways.is_empty()).then(|| ways.remove(0)) {
            if best.as_ref().is_some_and(|best| best.len() <= way.len() + 1) {
                break;
            }
            let here = way.last().map_or(*start, |edge| edge.to);
            for edge in edges.iter().filter(|edge| edge.from == here) {
                let longer = [&way[..], &[*edge]].concat();
                if edge.to == *start {
                    if best.as_ref().is_none_or(|best| longer.len() < best.len()) {
                        best = Some(longer);
                    }
                } else if !reached.contains(&edge.to) {
                    reached.push(edge.to);
                    ways.push(longer);
                }
            }
        }
    }
    best
}
