//! Proofs about any number of transactions.
//!
//! *Shortest paths*: in a shortest cycle nobody depends on anybody but the next one. If there is no path of so many
//! transactions in which nobody does, there is no longer shortest cycle either, and the shorter ones have been looked at.
//! One transaction of a cycle takes effect before all others, so that paths to such a one are enough.
//!
//! *Induction*: let no two dependencies in a row lead to a transaction that takes effect before both of the others. Then a
//! transaction whose dependencies all lead forward in that order is in no cycle of three or more: what is reached from it
//! takes effect after it, by its last two dependencies. If it is in none of two either, the ways for which that is so are
//! left out, and the same is asked of the rest. The same holds the other way round.

use super::axioms::{Meaning, Relation};
use super::encode::{Encoding, Isolation};
use super::formula::Formula;
use super::solver::{NoSolver, Said, Script, Solver};
use crate::graph::Graph;

/// Why a level is robust, whatever the number of transactions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proof {
    /// The argument in words.
    pub argument: String,
    /// What the solver has refuted.
    pub scripts: Vec<Script>,
}

/// Which paths are asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Paths {
    /// All of them.
    All,
    /// Those in cycles of at least as many transactions, to the one that takes effect first.
    ToTheFirst,
}

/// Asks whether there is a path of so many transactions in which nobody depends on anybody but the next one.
pub fn no_long_path(
    solver: &Solver,
    graph: &Graph<'_>,
    isolation: &Isolation,
    length: usize,
    paths: Paths,
) -> Result<Script, NoSolver> {
    let nodes: Vec<usize> = (0..graph.nodes.len()).collect();
    let encoding = Encoding::new(graph, &nodes, isolation, length);
    let mut conversation = solver.start()?;
    encoding.tell(&mut conversation);
    for one in 0..length {
        for other in one + 1..length {
            let depends = encoding.depends(one, other);
            conversation.assert(&if other == one + 1 { depends } else { !depends });
        }
    }
    let last = length - 1;
    if paths == Paths::ToTheFirst {
        for one in 0..last {
            conversation.assert(&encoding.related(Relation::Ar, last, one));
            // Who depends on one before it closes a shorter cycle, unless that is the whole one.
            let back = (one + 1..length).filter(|other| (one, *other) != (0, last));
            back.for_each(|other| conversation.assert(&!encoding.depends(other, one)));
        }
    }
    conversation.ask();
    let claim = match paths {
        Paths::All => format!("every path of {length} transactions has a shorter one"),
        Paths::ToTheFirst => {
            format!("every path of {length} transactions to one that takes effect before the others has a shorter one")
        }
    };
    Ok(conversation.script(claim))
}

/// A proof by induction, if there is one.
pub fn by_induction(solver: &Solver, graph: &Graph<'_>, isolation: &Isolation) -> Result<Option<Proof>, NoSolver> {
    let mut left: Vec<usize> = (0..graph.nodes.len()).collect();
    let mut scripts = Vec::new();
    let mut rounds = Vec::new();
    while !left.is_empty() {
        let mut out = Vec::new();
        for direction in [Direction::Forward, Direction::Backward] {
            let (ordered, said) = ordered(solver, graph, &left, isolation, direction)?;
            // Where all dependencies lead forward there is no cycle.
            let is_needed = ordered.len() < left.len();
            if ordered.is_empty() {
                continue;
            }
            if is_needed {
                let Some(triple) = no_two_against(solver, graph, &left, isolation, direction)? else { continue };
                let Some(pair) = not_each_other(solver, graph, &left, isolation, &ordered)? else { continue };
                scripts.extend([triple, pair]);
            }
            scripts.extend(said);
            out = ordered;
            break;
        }
        if out.is_empty() {
            return Ok(None);
        }
        rounds.push(words(graph, &out, &left));
        left.retain(|node| !out.contains(node));
    }
    let argument = format!("by induction over the order in which transactions take effect: {}", rounds.join("; then "));
    Ok(Some(Proof { argument, scripts }))
}

/// Which way the induction goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// What depends on a transaction takes effect after it.
    Forward,
    /// What a transaction depends on takes effect before it.
    Backward,
}

/// The programs of some ways; those that are not left out wholly are marked.
fn words(graph: &Graph<'_>, out: &[usize], left: &[usize]) -> String {
    let mut names: Vec<String> = Vec::new();
    for node in out {
        let program = graph.nodes[*node].program;
        let is_whole = left.iter().all(|other| graph.nodes[*other].program != program || out.contains(other));
        let name = &graph.summary.programs[program].name;
        let name = if is_whole { name.clone() } else { format!("some ways through {name}") };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// The ways whose dependencies all lead one way, with the scripts that say so.
fn ordered(
    solver: &Solver,
    graph: &Graph<'_>,
    nodes: &[usize],
    isolation: &Isolation,
    direction: Direction,
) -> Result<(Vec<usize>, Vec<Script>), NoSolver> {
    let encoding = Encoding::new(graph, nodes, isolation, 2);
    let mut conversation = solver.start()?;
    encoding.tell(&mut conversation);
    conversation.assert(&encoding.depends(0, 1));
    conversation.assert(&encoding.related(Relation::Ar, 1, 0));
    let (place, claim) = match direction {
        Direction::Forward => (0, "what depends on it takes effect after it"),
        Direction::Backward => (1, "what it depends on takes effect before it"),
    };
    let (mut ordered, mut scripts) = (Vec::new(), Vec::new());
    for &node in nodes {
        conversation.remember();
        conversation.assert(&encoding.takes(place, node));
        if conversation.ask() == Said::Unsat {
            let crate::graph::Node { program, path } = graph.nodes[node];
            let name = &graph.summary.programs[program].name;
            scripts.push(conversation.script(format!("way {} through {name}: {claim}", path + 1)));
            ordered.push(node);
        }
        conversation.forget();
    }
    Ok((ordered, scripts))
}

/// No two dependencies in a row lead against the order, from or to one transaction.
fn no_two_against(
    solver: &Solver,
    graph: &Graph<'_>,
    nodes: &[usize],
    isolation: &Isolation,
    direction: Direction,
) -> Result<Option<Script>, NoSolver> {
    let encoding = Encoding::new(graph, nodes, isolation, 3);
    let mut conversation = solver.start()?;
    encoding.tell(&mut conversation);
    let ((one, other), claim) = match direction {
        Direction::Forward => {
            (((2, 0), (2, 1)), "no two dependencies in a row lead to one that takes effect before both")
        }
        Direction::Backward => {
            (((1, 0), (2, 0)), "no two dependencies in a row lead from one that takes effect after both")
        }
    };
    conversation.assert(&Formula::all([
        encoding.depends(0, 1),
        encoding.depends(1, 2),
        encoding.related(Relation::Ar, one.0, one.1),
        encoding.related(Relation::Ar, other.0, other.1),
    ]));
    Ok((conversation.ask() == Said::Unsat).then(|| conversation.script(claim)))
}

/// Nobody depends on one that takes some of the ways and that depends on it.
fn not_each_other(
    solver: &Solver,
    graph: &Graph<'_>,
    nodes: &[usize],
    isolation: &Isolation,
    some: &[usize],
) -> Result<Option<Script>, NoSolver> {
    let encoding = Encoding::new(graph, nodes, isolation, 2);
    let mut conversation = solver.start()?;
    encoding.tell(&mut conversation);
    conversation.assert(&Formula::any(some.iter().map(|node| encoding.takes(0, *node))));
    conversation.assert(&Formula::all([encoding.depends(0, 1), encoding.depends(1, 0)]));
    Ok((conversation.ask() == Said::Unsat).then(|| conversation.script("no two depend on each other")))
}
